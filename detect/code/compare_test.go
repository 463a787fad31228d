package code

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/parley-mesh/parley/detect"
)

func TestABrokenFileRemovesAndBreaksNothing(t *testing.T) { // C3, C4
	sources := map[string]string{
		"a.ts":   "export function f(a: string) { return a }\nexport function g() { return 1 }\n",
		"a.py":   "def f(a):\n    return a\n\ndef g():\n    return 1\n",
		"a.go":   "package p\n\nfunc F(a string) { }\n\nfunc G() { }\n",
		"a.js":   "export function f(a) { return a }\nexport function g() { return 1 }\n",
		"a.rs":   "pub fn f(a: i32) { g(a) }\npub fn g() { }\n",
		"A.java": "public class A { public void f(int a) { } public void g() { } }\n",
		"a.tsx":  "export function f(a: string) { return <a/> }\nexport function g() { return 1 }\n",
	}
	for name, text := range sorted(sources) {
		half := strings.TrimRight(text, "\n }")
		for cut := range len(half) {
			d := compare(t, Project{}, map[string]string{name: text}, map[string]string{name: text[:cut] + " ((( {"})
			for _, c := range d.Symbols {
				if c.Change == detect.Removed || c.Verdict == detect.Breaking {
					t.Fatalf("%s cut at %d: %v of %s", name, cut, c.Change, c.Symbol.ID)
				}
			}
		}
	}
}

func TestMovedAndRenamedDeclarationsAreTold(t *testing.T) { // C3
	const body = "export function issue(id: string) {\n  const a = id.trim();\n  const b = a + 1;\n  return b;\n}\n"
	cases := []struct {
		name          string
		before, after map[string]string
		from, to      string
		want          detect.Verdict
	}{
		{
			"to another file",
			map[string]string{"a.ts": body},
			map[string]string{"a.ts": "", "b.ts": body},
			"sym:ts:a.ts#issue", "sym:ts:b.ts#issue", detect.Breaking,
		},
		{
			"to another file, passed on",
			map[string]string{"a.ts": body},
			map[string]string{"a.ts": "export { issue } from './b'", "b.ts": body},
			"sym:ts:a.ts#issue", "sym:ts:b.ts#issue", detect.Compatible,
		},
		{
			"renamed",
			map[string]string{"a.ts": body},
			map[string]string{"a.ts": strings.ReplaceAll(body, "issue", "grant")},
			"sym:ts:a.ts#issue", "sym:ts:a.ts#grant", detect.Breaking,
		},
		{
			"with its file",
			map[string]string{"a.ts": "class A { m() { return 1 } }"},
			map[string]string{"b.ts": "class A { m() { return 1 } }"},
			"sym:ts:a.ts#A.m", "sym:ts:b.ts#A.m", detect.Compatible,
		},
		{
			"within a package",
			map[string]string{"p/a.go": "package p\nfunc F() { x() }"},
			map[string]string{"p/a.go": "package p", "p/b.go": "package p\nfunc F() { x() }"},
			"sym:go:p/a.go#F", "sym:go:p/b.go#F", detect.Compatible,
		},
		{
			"within a package, with another body",
			map[string]string{"p/a.go": "package p\ntype T int\nfunc (T) F() { x() }"},
			map[string]string{"p/a.go": "package p\ntype T int", "p/b.go": "package p\nfunc (T) F() { y(); z() }"},
			"sym:go:p/a.go#T.F", "sym:go:p/b.go#T.F", detect.Compatible,
		},
		{
			"within a package, with another result",
			map[string]string{"p/a.go": "package p\nfunc F() int { return 1 }"},
			map[string]string{"p/b.go": "package p\nfunc F() string { return y() }"},
			"sym:go:p/a.go#F", "sym:go:p/b.go#F", detect.Breaking,
		},
		{
			"within a package of Java",
			map[string]string{"p/A.java": "package p;\nclass B { int f() { return 1; } }"},
			map[string]string{"p/B.java": "package p;\nclass B { int f() { return 2; } }"},
			"sym:java:p/A.java#B.f", "sym:java:p/B.java#B.f", detect.Compatible,
		},
	}
	for _, c := range cases {
		d := compare(t, Project{}, c.before, c.after)
		at := slices.IndexFunc(d.Symbols, func(s detect.SymbolChange) bool { return s.Symbol.ID == c.to })
		if at < 0 || d.Symbols[at].Change != detect.Moved || d.Symbols[at].From != c.from || d.Symbols[at].Verdict != c.want {
			t.Errorf("%s: %+v", c.name, d.Symbols)
		}
	}
}

// refs are the references of a state of a repository, as "kind target".
func refs(t *testing.T, p Project, files map[string]string, in string) (all []string) {
	t.Helper()
	for _, r := range compare(t, p, nil, files).References {
		if r.Path == in {
			all = append(all, fmt.Sprintf("%d %s %v", r.Kind, r.Target, r.Sure))
		}
	}
	return slices.Compact(all)
}

func TestPathsThatARepositoryCannotHaveDoNoHarm(t *testing.T) { // C5
	for _, file := range []string{"/a/b.py", "/b.rs", "../x/y.py", "/", "", "a//b.ts"} {
		compare(t, Project{}, nil, map[string]string{
			file + ".py": "from ...x import y\nimport a.b", file + ".rs": "use super::super::super::a;\nuse crate::b;", file + ".ts": "import x from '../../../y'",
		})
	}
}

func TestReexportsInCirclesEnd(t *testing.T) { // C4
	files := map[string]string{"main.ts": "import { gone } from './m0';\ngone();"}
	for i := range 20 {
		var text strings.Builder
		for k := range 20 {
			text.WriteString(fmt.Sprintf("export * from './m%d';\n", k))
		}
		files[fmt.Sprintf("m%d.ts", i)] = text.String()
	}
	if got := refs(t, Project{}, files, "main.ts"); !slices.Equal(got, []string{"1 sym:ts:m0.ts#gone false", "2 sym:ts:m0.ts#gone false"}) {
		t.Error(got)
	}
}

// library are files that those of the cases use.
var library = map[string]string{
	"src/billing/refund.ts":           "export function issueRefund() {}\nexport default class Refund {}\nexport const rate = 1",
	"src/billing/index.ts":            "export * from './refund'\nexport { issueRefund as issue } from './refund'\nexport { default } from './refund'",
	"packages/billing/src/index.ts":   "export function pay() {}",
	"pkg/__init__.py":                 "from .core import run\n",
	"pkg/listed.py":                   "from .core import run, other\n__all__ = ['shown', '_shown', 'run']\ndef shown(): pass\ndef _shown(): pass\ndef kept(): pass\n",
	"pkg/core.py":                     "def _hidden(): pass\ndef run(): pass\ndef other(): pass\nclass Desk:\n    def a(self): pass\n    def b(self): pass\n    def c(self): pass\n    def d(self): pass\n    def e(self): pass\n",
	"lib/lib.go":                      "package lib\nfunc Do() {}\ntype T struct{ F *U }\nfunc (T) M() {}\ntype U struct{ G int }\n",
	"core/src/lib.rs":                 "pub mod billing;\npub use billing::Refund;\n",
	"core/src/billing.rs":             "pub struct Refund;\nimpl Refund { pub fn new() {} }\npub fn issue() {}\n",
	"j/src/main/java/acme/Money.java": "package acme;\npublic class Money { public int cents; public static void of() {} public int a() { return 1; } public int b() { return 1; } public int c() { return 1; } public int d() { return 1; } }\n",
	"lib/more.go":                     "package lib\nfunc more() { Do() }\n",
}

// uses are files and what they refer to, by the kind of reference.
var uses = []struct {
	file, text string
	want       []string
}{
	{"src/web/a.ts", "import { issueRefund as i } from '../billing/refund'\ni()", []string{
		"1 sym:ts:src/billing/refund.ts#issueRefund true", "2 sym:ts:src/billing/refund.ts#issueRefund true",
	}},
	{"src/web/a.ts", "import * as b from '@/billing'\nb.issue()", []string{
		"1 sym:ts:src/billing/index.ts#* true", "2 sym:ts:src/billing/index.ts#issue true", "2 sym:ts:src/billing/refund.ts#issueRefund true",
	}},
	{"src/web/a.ts", "import R from '../billing/index.js'\nclass S extends R {}", []string{
		"1 sym:ts:src/billing/index.ts#default true", "1 sym:ts:src/billing/refund.ts#Refund true", "4 sym:ts:src/billing/refund.ts#Refund true",
	}},
	{"src/web/a.ts", "import { rate } from '../billing'\nfunction f(rate) { return rate }", []string{
		"1 sym:ts:src/billing/refund.ts#rate true",
	}},
	{"src/web/a.ts", "import { pay } from '@acme/billing'\n", []string{"1 sym:ts:packages/billing/src/index.ts#pay true"}},
	{"src/web/a.ts", "import { z } from 'zod'\nz.object({})", []string{"1 pkg:npm:zod#z false", "2 pkg:npm:zod#z.object false"}},
	{"src/web/a.ts", "const { pay } = require('@acme/billing')\npay()", []string{
		"1 sym:ts:packages/billing/src/index.ts#pay true", "2 sym:ts:packages/billing/src/index.ts#pay true",
	}},
	{"app.py", "from pkg import run as r\nr()", []string{
		"1 sym:py:pkg/__init__.py#run true", "1 sym:py:pkg/core.py#run true", "2 sym:py:pkg/core.py#run true",
	}},
	{"app.py", "from pkg.core import Desk\ndef f(d: 'Desk', e: Desk | None = None):\n    d.a()\n    e.b()\n    d.gone()\ndef g(d):\n    d.e()\nclass C:\n    def __init__(self):\n        self.desk: Desk = Desk()\n    def h(self):\n        self.desk.c()\nd = Desk()\nd.d()\n", []string{
		"1 sym:py:pkg/core.py#Desk true", "2 sym:py:app.py#d true", "2 sym:py:pkg/core.py#Desk true", "2 sym:py:pkg/core.py#Desk true",
		"2 sym:py:pkg/core.py#Desk.a true", "2 sym:py:pkg/core.py#Desk.b true", "2 sym:py:pkg/core.py#Desk.c true",
		"2 sym:py:pkg/core.py#Desk.d true", "3 sym:py:app.py#C.desk true", "3 sym:py:pkg/core.py#Desk true",
		"3 sym:py:pkg/core.py#Desk true",
	}},
	{"main.go", "package main\nimport . \"example.com/m/lib\"\nfunc f() { Do(); own() }\n", []string{
		"1 pkg:go:example.com/m/lib#* false", "2 pkg:go:example.com/m#Do false", "2 pkg:go:example.com/m#own false", "2 sym:go:lib/lib.go#Do true",
	}},
	{"lib/out_test.go", "package lib_test\nimport \"example.com/m/lib\"\nfunc f() { more(); lib.Do() }\n", []string{
		"1 pkg:go:example.com/m/lib#* false", "2 pkg:go:example.com/m/lib_test#more false", "2 sym:go:lib/lib.go#Do true",
	}},
	{"lib/in_test.go", "package lib\nfunc f() { more() }\n", []string{"2 sym:go:lib/more.go#more true"}},
	{"src/web/a.ts", "import('../billing/refund').then((m) => m.issueRefund())\nimport('../billing/refund').then(({ rate }) => rate)\nimport('../billing/refund').then((m) => xs.map((m) => m.gone()))", []string{
		"1 sym:ts:src/billing/refund.ts#rate true", "2 sym:ts:src/billing/refund.ts#issueRefund true",
	}},
	{"src/web/a.ts", "type A = import('../billing/refund').Refund\nasync function f() { (await import('../billing/refund')).issueRefund() }\nimport('../billing/refund').catch(f)", []string{
		"2 sym:ts:src/billing/refund.ts#issueRefund true", "3 sym:ts:src/billing/refund.ts#Refund true", "3 sym:ts:src/web/a.ts#f true",
	}},
	{"src/web/a.js", "require('../billing/refund').issueRefund()\nconst r = require('../billing/refund').rate\nr()\nother('../billing/refund').rate", []string{
		"1 sym:ts:src/billing/refund.ts#rate true", "2 sym:ts:src/billing/refund.ts#issueRefund true", "2 sym:ts:src/billing/refund.ts#rate true", "3 sym:ts:src/billing/refund.ts#rate true",
	}},
	{"src/web/a.ts", "import * as ns from '../billing/refund'\nconst { issueRefund: i } = ns\ni()\nfunction f() { const { rate } = ns; return rate }\nfunction g(ns) { const { Refund } = ns; return Refund }", []string{
		"1 sym:ts:src/billing/refund.ts#* true", "1 sym:ts:src/billing/refund.ts#issueRefund true", "1 sym:ts:src/billing/refund.ts#rate true",
		"2 sym:ts:src/billing/refund.ts#issueRefund true", "3 sym:ts:src/billing/refund.ts#* true",
	}},
	{"app.py", "from pkg.core import *\nother()\nDesk.a()\n_hidden()\nprint(1)\ndef f(run): run()\n", []string{
		"1 sym:py:pkg/core.py#* true", "2 sym:py:pkg/core.py#Desk.a true", "2 sym:py:pkg/core.py#other true",
	}},
	{"app.py", "from pkg.listed import *\nshown()\n_shown()\nkept()\nrun()\nother()\n", []string{
		"1 sym:py:pkg/listed.py#* true", "2 sym:py:pkg/core.py#run true", "2 sym:py:pkg/listed.py#_shown true",
		"2 sym:py:pkg/listed.py#run true", "2 sym:py:pkg/listed.py#shown true",
	}},
	{"app.py", "import pkg.core\npkg.core.other()", []string{"1 sym:py:pkg/core.py#* true", "2 sym:py:pkg/core.py#other true"}},
	{"pkg/more.py", "from . import core\nfrom .core import other\ndef f(other): other()\ncore.run()", []string{
		"1 sym:py:pkg/core.py#* true", "1 sym:py:pkg/core.py#other true", "2 sym:py:pkg/core.py#run true",
	}},
	{"main.go", "package main\nimport l \"example.com/m/lib\"\nfunc f() { l.Do(); l := 1; _ = l }", []string{
		"1 pkg:go:example.com/m/lib#* false", "2 sym:go:lib/lib.go#Do true",
	}},
	{"main.go", "package main\nimport l \"example.com/m/lib\"\nfunc f(t *l.T) {\n\tt.M()\n\tu := l.T{}\n\t_ = u.F\n\tfunc(t other) { t.M() }(nil)\n}\ntype s struct{ t l.T }\nfunc (x s) g() {\n\tx.t.M()\n\tx.h()\n}\nfunc g[T any](x T) { x.M() }\n", []string{
		"1 pkg:go:example.com/m/lib#* false", "2 pkg:go:example.com/m#other.M false", "2 sym:go:lib/lib.go#T.M true",
		"3 pkg:go:example.com/m#other false", "3 sym:go:lib/lib.go#T true", "3 sym:go:lib/lib.go#T.F true", "3 sym:go:main.go#s true",
		"3 sym:go:main.go#s.t true",
	}},
	{"src/web/a.ts", "import R, { issueRefund } from '../billing'\nconst r: R | null = null\nr.none()\nfunction f(r: string) { r.none() }\n", []string{
		"1 sym:ts:src/billing/index.ts#default true", "1 sym:ts:src/billing/refund.ts#Refund true", "1 sym:ts:src/billing/refund.ts#issueRefund true",
		"2 sym:ts:src/web/a.ts#r true", "3 sym:ts:src/billing/refund.ts#Refund true",
	}},
	{"core/src/web.rs", "use crate::billing::{self, issue as i};\nuse crate::Refund;\nfn f() { i(); billing::issue(); Refund::new(); }", []string{
		"1 sym:rs:core/src/billing.rs#* true", "1 sym:rs:core/src/billing.rs#Refund true", "1 sym:rs:core/src/billing.rs#issue true",
		"1 sym:rs:core/src/lib.rs#Refund true", "1 sym:rs:core/src/lib.rs#billing true",
		"2 sym:rs:core/src/billing.rs#Refund.new true", "2 sym:rs:core/src/billing.rs#issue true",
	}},
	{"j/src/main/java/web/A.java", "import acme.Money;\nclass A { void f(String s) { Money.of(); Money m; int Money = 1; } }", []string{
		"1 sym:java:j/src/main/java/acme/Money.java#Money true", "2 sym:java:j/src/main/java/acme/Money.java#Money.of true",
		"3 sym:java:j/src/main/java/acme/Money.java#Money true",
	}},
	{"j/src/main/java/web/A.java", "import acme.Money;\nclass A {\n private Money m;\n int f(Money x) { var y = new Money(); return x.a() + y.b() + this.m.c() + m.d() + x.gone() + x.cents; }\n int g(String m) { return m.length(); }\n}\n", []string{
		"1 sym:java:j/src/main/java/acme/Money.java#Money true", "2 sym:java:j/src/main/java/acme/Money.java#Money true",
		"2 sym:java:j/src/main/java/acme/Money.java#Money.a true", "2 sym:java:j/src/main/java/acme/Money.java#Money.b true",
		"2 sym:java:j/src/main/java/acme/Money.java#Money.c true", "2 sym:java:j/src/main/java/acme/Money.java#Money.d true",
		"3 sym:java:j/src/main/java/acme/Money.java#Money true", "3 sym:java:j/src/main/java/acme/Money.java#Money true",
		"3 sym:java:j/src/main/java/acme/Money.java#Money.cents true",
	}},
	{"j/src/main/java/acme/C.java", "package acme;\nclass C { int f(Money x, String s) { return x.a() + s.length(); } }", []string{
		"2 sym:java:j/src/main/java/acme/Money.java#Money.a true", "3 sym:java:j/src/main/java/acme/Money.java#Money true",
	}},
	{"j/src/main/java/acme/B.java", "package acme;\nclass B extends Money { String s; }", []string{
		"4 sym:java:j/src/main/java/acme/Money.java#Money true",
	}},
	{"lib/x.go", "package lib\nfunc x() { Do(); var t T; _ = t }", []string{
		"2 sym:go:lib/lib.go#Do true", "3 sym:go:lib/lib.go#T true",
	}},
}

func TestUsesLeadToTheirDeclarations(t *testing.T) { // C4
	project := Project{
		GoModules: map[string]string{"": "example.com/m"},
		Packages:  map[string]string{"@acme/billing": "packages/billing"},
		Aliases:   map[string]string{"@/": "src/"},
	}
	for _, c := range uses {
		all := map[string]string{c.file: c.text}
		maps.Copy(all, library)
		got := refs(t, project, all, c.file)
		slices.Sort(got)
		if !slices.Equal(got, c.want) {
			t.Errorf("%s\n%s\n got %q\nwant %q", c.file, c.text, got, c.want)
		}
	}
}

func TestAVersionThatWasNotReadShowsNothingNew(t *testing.T) { // C4
	r := New(Project{})
	const routes = "import express from 'express'\nexport const router = express.Router()\nrouter.get('/x', list)\n"
	const app = "import express from 'express'\nimport { router } from './routes'\nconst app = express()\napp.use('/api', router)\nfetch('/y')\n"
	before := []detect.Unit{r.Read("routes.ts", []byte(routes)), r.Read("app.ts", []byte(app))}
	if d := r.Compare(before[:1], before); len(d.References) == 0 || len(d.Contracts) == 0 {
		t.Fatalf("the example mounts and uses nothing: %+v", d)
	}
	after := slices.Clone(before)
	for _, q := range []detect.Quality{detect.TimedOut, detect.Failed} {
		after[1] = detect.Unit{Path: "app.ts", Language: "ts", Quality: q}
		for _, d := range []detect.Delta{r.Compare(before, after), r.Compare(after, before)} {
			if len(d.References) > 0 {
				t.Errorf("new references: %+v", d.References)
			}
			for _, c := range d.Contracts {
				if c.Change != detect.Added {
					t.Errorf("%s: change %d, verdict %d", c.Contract.ID, c.Change, c.Verdict)
				}
			}
		}
	}
}
