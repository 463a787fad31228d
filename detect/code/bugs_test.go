package code

import (
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/parley-mesh/parley/detect"
)

// reports are inputs that public reports say other readers of code got wrong, each with its right value.
var reports = []struct {
	report, path, text string
	quality            detect.Quality // Unread stands for any but Clean
	has                string         // names of symbols that must be found
	refs               string         // targets that must be found
}{
	{"tree-sitter-typescript#323", "a.tsx", "<a {{b:>c:d(e f)", detect.Unread, "", ""},
	{"tree-sitter-typescript#317", "a.tsx", "export const L = () => <a href=\"/x?a=1&b=2\">Q &amp; A</a>;\nexport const K = 1;", detect.Clean, "L K", ""},
	{"tree-sitter-typescript#370", "a.ts", "export interface S<in out T, out U> { a: T }\nexport const x = 1", detect.Clean, "S S.a x", ""},
	{"variance behind a comment", "a.ts", "export interface S<\n  /** @ts-ignore */\n  out T extends A<B> & C = D,\n> { a: T }\nexport type U = A<B> & C;", detect.Clean, "S S.a U", ""},
	{"call signatures of many lines", "a.ts", "export interface I {\n  <\n    P,\n  >(a: P): P\n\n  // more\n  <\n    Q,\n  >(b: Q): Q\n  m(): void\n}", detect.Clean, "I I.m", ""},
	{"tree-sitter-typescript#348", "a.ts", "export type * as N from './m';\nexport type * from './n';\nexport const x = 1", detect.Clean, "x", "mod:./m#* mod:./n#*"},
	{"tree-sitter-typescript#369", "a.ts", "export class A { static accessor y = 1; accessor = 2; m() {} }", detect.Clean, "A.y A.accessor A.m", ""},
	{"tree-sitter-typescript#260", "a.ts", "export const x = <const>{ a: 1 };\nexport const y = 2;", detect.Clean, "x y", ""},
	{"tree-sitter-typescript#335", "a.ts", "export interface I {\n  <T>(a: T): T\n  <U>(b: U): U\n  m(): void\n}\nexport const k = 1", detect.Clean, "I I.m k", ""},
	{"tree-sitter-typescript#329", "a.ts", "const a = tag<string>`x`;\nexport const b = `y${a}`;\nexport function c() {}", detect.Clean, "a b c", ""},
	{"tree-sitter-typescript#97", "a.ts", "import { foo } from './f';\nfoo<bar[]>();\nexport function keep() {}", detect.Clean, "keep", "mod:./f#foo"},
	{"grep-ast#21", "a.tsx", "export function C() { return <div>{x < y ? <A<B> c={1}/> : null}</div> }", detect.Clean, "C", ""},
	{"import defer", "a.ts", "import defer * as ns from './m';\nns.f();", detect.Clean, "", "mod:./m#* mod:./m#f"},
	{"export default as with", "a.ts", "export { default as d } from \"./x\" with { type: \"json\" };\nexport const k = 1;", detect.Clean, "k", "mod:./x#default"},
	{"using in JavaScript", "a.js", "export function f() {\n  using x = g();\n  return x;\n}", detect.Clean, "f", ""},
	{"tree-sitter-go#193", "a.go", "package p\nfunc f() { x := new(f()); y := new(42); _, _ = x, y }", detect.Clean, "f", ""},
	{"tree-sitter-go#160", "a.go", "package p\nfunc f(a []int, i int) int { return a[a[i]] }", detect.Clean, "f", ""},
	{"tree-sitter-go#186", "a.go", "package p\nfunc F[T any](x T) {}\nfunc g() { F[int](1); some(123) }", detect.Clean, "F g", "sym:go:a.go#F mod:#some"},
	{"tree-sitter-go#167", "a.go", "package p\nfunc f() (int, error { return 0, nil }\nfunc g() {}", detect.Unread, "", ""},
	{"tree-sitter-go#194", "a.go", "package p\ntype A[P any] = []P\ntype B struct{}\nfunc (B) M() {}", detect.Clean, "A B B.M", ""},
	{"semgrep#6502", "a.go", "package p\ntype I interface{ *J | ~int }\nfunc g() {}", detect.Clean, "I g", ""},
	{"go-tree-sitter#87", "a.go", "package p\nfunc f[T any]() []T { return nil }\nfunc g() {}", detect.Clean, "f g", ""},
	{"tree-sitter-python#194", "a.py", "def f(x):\n    match x:\n        case {'a': [1, *r], **k} if r: return k\n        case A(b=c) | None: pass\ndef g(): pass", detect.Clean, "f g", ""},
	{"nvim-treesitter#4537", "a.py", "def f(a):\n    return f\"\"\"{\n        'x' if a else 'y'\n    }\"\"\"\ndef g(): pass", detect.Clean, "f g", ""},
	{"tree-sitter-python#108", "a.py", "def f():\n\ndef g(): pass\n", detect.Unread, "f g", ""},
	{"tree-sitter-python#346", "a.py", "class A[T = int]:\n    x: T\ndef g(): pass\n", detect.Clean, "A A.x g", ""},
	{"template strings", "a.py", "def f(x):\n    return t\"a{x}\"\ndef g(): pass\n", detect.Clean, "f g", ""},
	{"lazy imports", "a.py", "lazy import a.b\nlazy from .m import c\ndef g(): c()\n", detect.Clean, "g", "mod:.m#c"},
	{"tree-sitter-python#313", "a.pyx", "cdef int f(): pass", detect.Unread, "", ""},
	{"weave#107", "a.ts", "function computeKey() { return 1 }\nfunction other() {}\nfunction computeKey() { return 2 }", detect.Clean, "computeKey computeKey~2 other", ""},
	{"computed names", "a.ts", "export class A { [k]() {} ['x'] = 1; [`t`]() {} m() {} }\nexport const o = { [k]() {}, m() {} }", detect.Clean, "A A.m o o.m", ""},
}

func TestPublicReportsHaveTheirRightValues(t *testing.T) { // C5
	for _, c := range reports {
		u := New(Project{}).Read(c.path, []byte(c.text))
		if c.quality == detect.Clean && u.Quality != detect.Clean || c.quality != detect.Clean && u.Quality == detect.Clean {
			t.Errorf("%s: quality %v", c.report, u.Quality)
		}
		var names, targets []string
		for _, s := range u.Symbols {
			names = append(names, nameOf(s.ID))
		}
		for _, r := range u.References {
			targets = append(targets, r.Target)
		}
		for want := range strings.FieldsSeq(c.has) {
			if !slices.Contains(names, want) {
				t.Errorf("%s: %s is not in %q", c.report, want, names)
			}
		}
		for want := range strings.FieldsSeq(c.refs) {
			if !slices.Contains(targets, want) {
				t.Errorf("%s: %s is not in %q", c.report, want, targets)
			}
		}
	}
}

func TestPublicReportsOfComparisons(t *testing.T) { // C4
	cases := []struct {
		report, path, old, now, name string
		change                       detect.Change
		want                         detect.Verdict
	}{
		{"go#37138", "a.go", "package p\ntype A = int", "package p\ntype A = string", "A", detect.SignatureChanged, breaks},
		{"go#65112", "a.go", "package p\nfunc F[T interface{ ~int }](T) {}", "package p\nfunc F[T interface{ ~int | ~string }](T) {}", "F", detect.SignatureChanged, fine},
		{"griffe#145", "pkg/__init__.py", "from .a import f", "from .b import f", "f", 0, 0},
		{"griffe#146", "m.py", "import a\nfrom b import c\nx = 1", "x = 1", "c", 0, 0},
		{"iceberg-python#394", "m.py", "X = 1", "X = 2", "X", detect.Body, fine},
		{"difftastic#267", "a.ts", "export function f() { return 1 }", "export function f() { return 1 ) + }", "f", detect.Body, fine},
		{"formatting", "a.ts", "export const o = { a: 'x', b: [1, 2] };", "export const o = {\n  a: \"x\",\n  b: [\n    1,\n    2,\n  ],\n}", "o", 0, 0},
		{"indentation", "a.py", "def f(a):\n    if a:\n        g()\n        h()", "def f(a):\n    if a:\n        g()\n    h()", "f", detect.Body, fine},
		{"comments", "a.go", "package p\nfunc F() { x() }", "package p\n\n// F.\nfunc F() {\n\tx() // y\n}", "F", 0, 0},
	}
	for _, c := range cases {
		d := compare(t, Project{}, map[string]string{c.path: c.old}, map[string]string{c.path: c.now})
		got := change(d, c.name)
		if got.Change != c.change || c.change != 0 && got.Verdict != c.want {
			t.Errorf("%s: %v, %v %v, want %v, %v", c.report, got.Change, got.Verdict, got.Why, c.change, c.want)
		}
	}
}

func TestReadersShareNothing(t *testing.T) { // C5
	var all sync.WaitGroup
	r := New(Project{})
	for range 4 {
		all.Go(func() {
			for path, text := range sorted(seeds) {
				r.Read(path, []byte(text))
			}
		})
	}
	all.Wait()
}

// A pattern that looks on to the end of the file from each of its matches takes time by the square of the file.
func TestCoveringBlindSpotsTakesNoSquareOfTime(t *testing.T) {
	for d, piece := range map[dialect]string{dialectTS: "</*<in A,", dialectPy: "def a[=b["} {
		if mask(d, []byte(strings.Repeat(piece, sourceMax/4/len(piece)))) == nil {
			t.Errorf("nothing was covered in %q", piece)
		}
	}
}
