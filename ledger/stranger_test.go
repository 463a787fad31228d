package ledger

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fxamacker/cbor/v2"
)

// stranger asks a program in another language, which knows FORMAT.md alone, about one line each.
func stranger(t *testing.T, lines []string) []string {
	t.Helper()
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("python3 is not here: nothing else reads the bytes")
	}
	cmd := exec.CommandContext(t.Context(), python, filepath.Join("testdata", "reader.py"))
	cmd.Stdin = strings.NewReader(strings.Join(lines, "\n") + "\n")
	var said, wrong bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &wrong
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v\n%s", err, wrong.String())
	}
	out := strings.Split(strings.TrimSpace(said.String()), "\n")
	if len(out) != len(lines) {
		t.Fatalf("%d answers to %d lines", len(out), len(lines))
	}
	return out
}

func TestAStrangerReadsEveryVector(t *testing.T) { // P25
	files, err := fs.Glob(os.DirFS("testdata/v1"), "*.txt")
	if err != nil || len(files) < 60 {
		t.Fatal(len(files), err)
	}
	var lines, want []string
	for _, f := range files {
		text, err := os.ReadFile(filepath.Join("testdata", "v1", f))
		if err != nil {
			t.Fatal(err)
		}
		what, hexed := "record", strings.Join(strings.Fields(string(text)), "")
		if strings.HasPrefix(f, "frame-") {
			what = "frame"
		}
		line := what + " " + hexed
		lines, want = append(lines, line), append(want, ours(t, line))
		if what == "record" { // and not with another signature
			last := len(line) - 1
			lines, want = append(lines, line[:last]+map[bool]string{true: "1", false: "0"}[line[last] == '0']), append(want, "no")
		}
	}
	same(t, lines, want)
}

// ours is what this package says to such a line, without the reason of a no.
func ours(t *testing.T, line string) string {
	t.Helper()
	what, hexed, _ := strings.Cut(line, " ")
	b, err := hex.DecodeString(hexed)
	if err != nil {
		t.Fatal(err)
	}
	switch what {
	case "frame":
		f, err := DecodeFrame(b)
		if err != nil {
			return "no"
		}
		return fmt.Sprintf("yes %d", f.frame())
	case "body":
		b = sign(testKey(0), Conversation, b)
	}
	r, err := Parse(b)
	if err != nil || what == "record" && r.Verify(r.Family()) != nil {
		return "no"
	}
	said := fmt.Sprintf("yes %s %s", r.Kind, r.ID)
	if r.Opaque {
		said += " critical"
	}
	return said
}

// same compares the two readings.
func same(t *testing.T, lines, want []string) {
	t.Helper()
	differ := 0
	for i, got := range stranger(t, lines) {
		if got != want[i] && (want[i] != "no" || !strings.HasPrefix(got, "no ")) {
			if differ++; differ < 20 {
				t.Errorf("%s\nthe stranger says %q, we say %q", lines[i], got, want[i])
			}
		}
	}
	t.Logf("%d lines, %d read otherwise", len(lines), differ)
}

func TestAStrangerRefusesWhatWeRefuse(t *testing.T) { // P25, case 2
	if testing.Short() {
		t.Skip("a stranger reads slowly")
	}
	var lines, want []string
	for _, s := range append(samples(), frames()...) {
		what, whole := "frame", bytesOfSample(t, s)
		if s.content != nil {
			body, _, err := split(whole)
			if err != nil {
				t.Fatal(err)
			}
			what, whole = "body", body
		}
		var v any
		if err := cbor.Unmarshal(whole, &v); err != nil {
			t.Fatal(err)
		}
		for _, changed := range otherwise(v) {
			b, err := encode.Marshal(changed)
			if err != nil {
				t.Fatal(err)
			}
			line := what + " " + hex.EncodeToString(b)
			lines, want = append(lines, line), append(want, ours(t, line))
		}
	}
	same(t, lines, want)
}

// otherwise is a value with one thing changed in it, in every way that might matter.
func otherwise(v any) (out []any) {
	switch v := v.(type) {
	case uint64:
		for _, n := range []uint64{0, 1, 2, v + 1, v - 1, 1 << 18, 1 << 32, 1<<40 + 1, 1 << 63} {
			out = append(out, n)
		}
		return append(out, -1, "1", []byte{1})
	case bool:
		return []any{!v, 1}
	case string:
		return []any{"", "x", v + "x", strings.Repeat("é", 3000), []byte(v), 1, "A"}
	case []byte:
		out = []any{[]byte{}, make([]byte, len(v)), append(bytes.Clone(v), 0), bytes.Repeat([]byte{0xff}, len(v)), string(v), "x", 1}
		if len(v) > 0 {
			out = append(out, v[:len(v)-1], bytes.Repeat([]byte("/"), len(v)), append(bytes.Clone(v), bytes.Repeat([]byte("/x"), 600)...))
		}
	case []any:
		out = []any{[]any{}, 1, append(append([]any{}, v...), v...), repeated(v, 65), repeated(v, 1025)}
		for i := range v {
			out = append(out, append(append([]any{}, v[:i]...), v[i+1:]...))
			if i > 0 {
				swapped := append([]any{}, v...)
				swapped[i-1], swapped[i] = swapped[i], swapped[i-1]
				out = append(out, swapped)
			}
			for _, one := range otherwise(v[i]) {
				changed := append([]any{}, v...)
				changed[i] = one
				out = append(out, changed)
			}
		}
	case map[any]any:
		with := func(key, value any) {
			changed := map[any]any{}
			maps.Copy(changed, v)
			if changed[key] = value; value == nil {
				delete(changed, key)
			}
			out = append(out, changed)
		}
		for _, key := range []any{uint64(40), uint64(64), uint64(65), "x"} {
			with(key, uint64(1))
		}
		for key := uint64(1); key <= 20; key++ {
			if v[key] == nil {
				with(key, uint64(1))
				with(key, make([]byte, 32))
				with(key, bytes.Repeat([]byte{1}, 32))
				with(key, []any{bytes.Repeat([]byte{1}, 32)})
				with(key, true)
			}
		}
		for key, one := range v {
			with(key, nil)
			for _, value := range otherwise(one) {
				with(key, value)
			}
		}
	}
	return out
}

func repeated(v []any, n int) (out []any) {
	for len(v) > 0 && len(out) < n {
		out = append(out, v...)
	}
	return out
}
