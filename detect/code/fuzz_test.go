package code

import (
	"bytes"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/parley-mesh/parley/detect"
)

// seeds are small files of every language that use what is read.
var seeds = map[string]string{
	"a.ts": "import d, { a as b } from './m';\nexport * from './n';\nexport function f<T>(x: T, y?: number): T[] { return b(x) }\n" +
		"export class A extends d { private m = (z) => this.m; get v() { return 1 } }\nexport const S = z.object({ a: z.string() }).partial();\n" +
		"app.get(`/v1/${x}`, f);\nfetch('/a' + b, { method: 'POST' });\n",
	"a.tsx":  "export const C = ({ a }: P) => <div a={a}>{f(`x`)}</div>;\n",
	"a.js":   "const r = require('express').Router();\nr.get('/x', (q, s) => {});\nmodule.exports = { r, f() {} };\n",
	"a.py":   "from .m import a as b\n__all__ = ['f']\n@app.get(f'/x/{y}')\nasync def f(a, /, b=1, *, c: int): return self.x\nclass A(B):\n  x: int = 1\n",
	"a.go":   "package p\nimport \"net/http\"\ntype T[P any] struct{ A, B int }\nfunc (t *T[P]) M(a int) { http.HandleFunc(\"GET /x\", h); t.M(1) }\n",
	"a.rs":   "use crate::a::{self, b as c};\npub struct S<T>(pub T);\nimpl<T> S<T> { pub fn m(&self) -> T { a::f() } }\n",
	"A.java": "import a.b.C;\npublic class A<T> extends B { int x; void m(String... s) { C.f(); m(); } enum E { X } }\n",
}

// check holds what every reading of every input must keep.
func check(t *testing.T, path string, src []byte) {
	t.Helper()
	r := New(Project{})
	first := r.read(path, bytes.Clone(src))
	second := r.read(path, src)
	if !reflect.DeepEqual(first, second) {
		t.Fatalf("%s: two readings differ", path)
	}
	lines := uint32(bytes.Count(src, []byte("\n")) + 1)
	seen := map[string]bool{}
	for _, s := range first.Symbols {
		if s.Line == 0 || s.Line+max(s.Lines, 1)-1 > lines || s.Lines == 0 {
			t.Fatalf("%s: %s stands at %d, %d lines, of %d", path, s.ID, s.Line, s.Lines, lines)
		}
		if seen[s.ID] {
			t.Fatalf("%s: two symbols are called %q", path, s.ID)
		}
		seen[s.ID] = true
		if !strings.HasPrefix(s.ID, "sym:"+first.Language+":"+path+"#") {
			t.Fatalf("%s: id %q", path, s.ID)
		}
	}
	for _, ref := range first.References {
		if ref.Line == 0 || ref.Line > lines {
			t.Fatalf("%s: a use at line %d of %d", path, ref.Line, lines)
		}
	}
	broken := r.read(path, append(bytes.Clone(src), " ((( {{{ \"\"\""...))
	d := r.Compare([]detect.Unit{first}, []detect.Unit{broken})
	for _, c := range d.Symbols {
		if broken.Quality != detect.Clean && (c.Change == detect.Removed || c.Verdict == detect.Breaking) {
			t.Fatalf("%s: %s is %v, %v by a broken file", path, c.Symbol.ID, c.Change, c.Verdict)
		}
	}
	if d = r.Compare([]detect.Unit{first}, []detect.Unit{second}); len(d.Symbols)+len(d.Contracts)+len(d.References) > 0 {
		t.Fatalf("%s: differs from itself: %+v", path, d)
	}
}

func fuzz(f *testing.F, paths ...string) {
	for _, path := range paths {
		f.Add([]byte(seeds[path]))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		if len(src) < 1<<16 {
			for _, path := range paths {
				check(t, path, src)
			}
		}
	})
}

func FuzzScript(f *testing.F) { fuzz(f, "a.ts", "a.tsx", "a.js") }
func FuzzPython(f *testing.F) { addLoops(f); fuzz(f, "a.py") }
func FuzzGo(f *testing.F)     { fuzz(f, "a.go") }
func FuzzRust(f *testing.F)   { fuzz(f, "a.rs") }
func FuzzJava(f *testing.F)   { fuzz(f, "A.java") }

func FuzzMaskKeepsOffsets(f *testing.F) {
	for _, s := range sorted(seeds) {
		f.Add([]byte(s))
	}
	f.Add([]byte("interface S<in out T, out U> {}\nexport type * as x from 'y' with { a: 'b' }\nlazy import x\nclass A[T = int]: t'x'"))
	f.Fuzz(func(t *testing.T, src []byte) {
		for _, d := range []dialect{dialectTS, dialectJS, dialectPy} {
			if out := mask(d, src); out != nil && len(out) != len(src) {
				t.Fatalf("%d octets became %d", len(src), len(out))
			} else if out != nil && bytes.Count(out, []byte("\n")) != bytes.Count(src, []byte("\n")) {
				t.Fatal("lines moved")
			}
		}
	})
}

func TestHostileFilesCostLittle(t *testing.T) { // C5
	var wide strings.Builder
	wide.WriteString("import { z } from 'zod';\nconst app = express();\n")
	for i := range 30 {
		wide.WriteString(fmt.Sprintf("const v%d = `${v%d}${v%d}${v%d}`;\nexport const s%d = z.object({ a: s%d, b: s%d, c: s%d });\n", i, i+1, i+1, i+1, i, i+1, i+1, i+1))
	}
	cases := []struct {
		name, path string
		src        []byte
		want       detect.Quality
	}{
		{"wide constants", "a.ts", []byte(wide.String() + "fetch(v0);"), detect.Clean},
		{"circles", "a.js", []byte("const a = a.create();\na.get('/x');\nconst b = c, c = b;\nfetch(b, c);\nb.use(c);\nb.get('/y', { schema: c }, h);"), detect.Clean},
		{"100 MB generated", "a.ts", bytes.Repeat([]byte("export const x = 1;\n"), 5<<20), detect.TimedOut},
		{"100 MB of Go", "a.go", bytes.Repeat([]byte("var x = 1\n"), 10<<20), detect.TimedOut},
		{"binary", "a.py", append([]byte("x = 1\n"), 0, 1, 2), detect.Failed},
		{"deep brackets", "a.js", bytes.Repeat([]byte("["), 50_000), detect.Failed},
		{"deep brackets of Go", "a.go", append([]byte("package p\nvar x = "), bytes.Repeat([]byte("("), 400_000)...), detect.Failed},
		{"endless loop of a grammar", "a.tsx", []byte("<a {{b:>c:d(e f)"), detect.TimedOut},
	}
	for _, c := range cases {
		u := New(Project{}).Read(c.path, c.src)
		if u.Quality != c.want && u.Quality != detect.TimedOut {
			t.Errorf("%s: quality %v", c.name, u.Quality)
		}
	}
}

func TestMinifiedAndOddFilesAreRead(t *testing.T) { // C5
	minified := strings.Repeat("function a(e,t){for(var n=0;n<e.length;n++)t(e[n],function(e){return a(e,t)})};var b=a;", 1500)
	u := New(Project{}).Read("dist/app.min.js", []byte(minified))
	for end := time.Now().Add(time.Minute); u.Quality == detect.TimedOut && time.Now().Before(end); { // the machine is busy
		u = New(Project{}).Read("dist/app.min.js", []byte(minified))
	}
	if u.Quality != detect.Clean || len(u.Symbols) != 3000 {
		t.Errorf("minified: quality %v, %d symbols", u.Quality, len(u.Symbols))
	}
	for name, text := range sorted(seeds) {
		want := len(New(Project{}).Read(name, []byte(text)).Symbols)
		odd := "\ufeff" + strings.ReplaceAll(text, "\n", "\r\n")
		if u := New(Project{}).Read(name, []byte(odd)); u.Quality != detect.Clean || len(u.Symbols) != want {
			t.Errorf("%s with a mark and CRLF: quality %v, %d symbols, want %d", name, u.Quality, len(u.Symbols), want)
		}
		invalid := text + "\n// \xff\xfe\n"
		if strings.HasSuffix(name, ".py") {
			invalid = text + "\n# \xff\xfe\n"
		}
		if utf8.ValidString(invalid) {
			t.Fatal("the input must not be valid")
		}
		if u := New(Project{}).Read(name, []byte(invalid)); len(u.Symbols) != want {
			t.Errorf("%s with invalid UTF-8: quality %v, %d symbols, want %d", name, u.Quality, len(u.Symbols), want)
		}
	}
}

func TestConflictMarkersHideNothingAround(t *testing.T) { // C3
	cases := map[string]string{
		"a.ts": "export function before() {}\n<<<<<<< HEAD\nconst a = 1;\n=======\nconst a = 2;\n>>>>>>> other\nexport function keep() {}\n",
		"a.py": "def before(): pass\n<<<<<<< HEAD\na = 1\n=======\na = 2\n>>>>>>> other\ndef keep(): pass\n",
		"a.go": "package p\nfunc before() {}\n<<<<<<< HEAD\nvar a = 1\n=======\nvar a = 2\n>>>>>>> other\nfunc keep() {}\n",
		"a.rs": "fn before() {}\n<<<<<<< HEAD\nconst A: i32 = 1;\n=======\nconst A: i32 = 2;\n>>>>>>> other\nfn keep() {}\n",
	}
	for name, text := range sorted(cases) {
		u := New(Project{}).Read(name, []byte(text))
		found := map[string]bool{}
		for _, s := range u.Symbols {
			found[nameOf(s.ID)] = true
		}
		if u.Quality == detect.Clean || !found["before"] || !found["keep"] {
			t.Errorf("%s: quality %v, %v", name, u.Quality, found)
		}
	}
}
