package ledger

import (
	"bytes"
	"encoding/hex"
	"errors"
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the vectors that are missing; one that is there is never changed")

// bytesOfSample is a sample's wire or frame.
func bytesOfSample(t *testing.T, s sample) []byte {
	t.Helper()
	if s.frame != nil {
		b, err := EncodeFrame(s.frame)
		if err != nil {
			t.Fatalf("%s: %v", s.name, err)
		}
		return b
	}
	return sealed(t, s).Wire
}

// vector reads a committed vector; with -update a missing one is written first, and none is ever changed.
func vector(t *testing.T, s sample) []byte {
	t.Helper()
	path := filepath.Join("testdata", "v1", s.name+".txt")
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) && *update {
		text = []byte(wrap(hex.EncodeToString(bytesOfSample(t, s))))
		err = writeNew(path, text)
	}
	if err != nil {
		t.Fatal(err)
	}
	b, err := hex.DecodeString(strings.Join(strings.Fields(string(text)), ""))
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return b
}

func sealed(t testing.TB, s sample) *Record {
	t.Helper()
	r, err := Seal(testKey(0), s.header, s.content)
	if err != nil {
		t.Fatalf("%s: %v", s.name, err)
	}
	return r
}

// writeNew writes a file that must not be there.
func writeNew(path string, text []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	return errors.Join(err, f.Close())
}

func wrap(s string) string {
	var b strings.Builder
	for len(s) > 96 {
		b.WriteString(s[:96] + "\n")
		s = s[96:]
	}
	b.WriteString(s + "\n")
	return b.String()
}

func TestEveryVectorIsReadAndWrittenByteForByte(t *testing.T) { // P25
	for _, s := range samples() {
		t.Run(s.name, func(t *testing.T) {
			want := vector(t, s)
			if got := bytesOfSample(t, s); !bytes.Equal(got, want) {
				t.Fatalf("written  %x\nthe vector %x", got, want)
			}
			if s.frame != nil {
				f, err := DecodeFrame(want)
				if err != nil || !reflect.DeepEqual(f, s.frame) {
					t.Fatalf("read %+v, %v", f, err)
				}
				if again, err := EncodeFrame(f); err != nil || !bytes.Equal(again, want) {
					t.Errorf("written again %x, %v", again, err)
				}
				return
			}
			r, err := Parse(want)
			if err != nil {
				t.Fatal(err)
			}
			if err := r.Verify(r.Kind.Family()); err != nil || r.Opaque || !reflect.DeepEqual(r.Content, s.content) {
				t.Errorf("read %+v, opaque %v, %v", r.Content, r.Opaque, err)
			}
		})
	}
}

func TestEveryKindAndFrameHasAVector(t *testing.T) {
	have := map[string]bool{}
	for _, s := range samples() {
		if s.content != nil {
			have[string(s.content.Kind())] = true
		}
	}
	for _, f := range forms {
		if !have[string(f.kind)] {
			t.Errorf("the kind %s has no vector", f.kind)
		}
	}
	seen := map[FrameType]bool{}
	for _, s := range frames() {
		seen[s.frame.frame()] = true
	}
	for n := range FrameType(64) {
		if freshFrame(n) != nil && !seen[n] {
			t.Errorf("frame %d has no vector", n)
		}
	}
}

func TestNoVectorIsForgotten(t *testing.T) {
	files, err := os.ReadDir(filepath.Join("testdata", "v1"))
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{}
	for _, s := range samples() {
		known[s.name+".txt"] = true
	}
	for _, f := range files {
		if !known[f.Name()] {
			t.Errorf("%s is read by no test", f.Name())
		}
	}
	if len(files) != len(known) {
		t.Errorf("%d vectors, %d samples", len(files), len(known))
	}
}

func TestAVectorIsNeverOverwritten(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.txt")
	if err := writeNew(path, []byte("a")); err != nil {
		t.Fatal(err)
	}
	if err := writeNew(path, []byte("b")); !errors.Is(err, fs.ErrExist) {
		t.Errorf("written again: %v", err)
	}
}
