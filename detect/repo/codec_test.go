//go:build cgo

package repo

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/parley-mesh/parley/detect"
	"github.com/parley-mesh/parley/detect/code"
)

// sources are what the reader of code says of this repository's own files and of a little of each other language.
func sources(t testing.TB) (all []known) {
	t.Helper()
	r := code.New(code.Project{})
	names, err := filepath.Glob("../*.go")
	if err != nil || len(names) < 10 {
		t.Fatalf("%d files, %v", len(names), err)
	}
	for _, name := range names {
		content, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, known{Unit: r.Read(name, content), Made: detect.MadeBy(name, content)})
	}
	for name, text := range map[string]string{
		"a.ts": "export function f(a: string): void\nexport function f(a: number): void\nexport function f(a: any) {}\nimport x from './b'\napp.get('/v1/a', x)\n",
		"b.py": "@app.get('/x')\ndef f(a, *, b=1): requests.get('http://h/y')\n", "c.java": "class A { int f; }", "d.rs": "pub enum E { A, B }",
	} {
		all = append(all, known{Unit: r.Read(name, []byte(text))})
	}
	return append(all, known{})
}

func TestWhatIsKeptComesBackAsItWas(t *testing.T) {
	for _, k := range sources(t) {
		b := k.encode()
		var got known
		if err := got.decode(b); err != nil {
			t.Fatalf("%s: %v", k.Unit.Path, err)
		}
		if again := got.encode(); !bytes.Equal(b, again) || len(got.Unit.Symbols) != len(k.Unit.Symbols) {
			t.Errorf("%s: %d octets, then %d", k.Unit.Path, len(b), len(again))
		}
		if len(k.Unit.Symbols) > 0 && !reflect.DeepEqual(got.Unit.Symbols[0].ID, k.Unit.Symbols[0].ID) {
			t.Errorf("%s: %+v", k.Unit.Path, got.Unit.Symbols[0])
		}
	}
}

func TestADifferenceOfOneBitIsNotTakenForWhatWasKept(t *testing.T) {
	b := sources(t)[0].encode()
	for i := 0; i < len(b); i += 37 {
		spoiled := bytes.Clone(b)
		spoiled[i] ^= 4
		if (&known{}).decode(spoiled) == nil {
			t.Fatalf("octet %d was changed", i)
		}
	}
	if (&known{}).decode(b[:len(b)/2]) == nil || (&known{}).decode(nil) == nil {
		t.Error("a part was taken for the whole")
	}
}

func FuzzKept(f *testing.F) {
	for _, k := range sources(f)[:4] {
		b := k.encode()
		f.Add(b[:len(b)-4])
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		b = binary.LittleEndian.AppendUint32(bytes.Clone(b), crc32.Checksum(b, castagnoli)) // past the sum
		var k known
		if k.decode(b) == nil {
			var again known
			if err := again.decode(k.encode()); err != nil || !reflect.DeepEqual(k, again) {
				t.Errorf("%v: %+v, then %+v", err, k, again)
			}
		}
	})
}
