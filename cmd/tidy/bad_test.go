package main

import "strings"

// A badTree is the good tree with files put over it, and the findings that it
// must lead to.
type badTree struct {
	name  string
	files map[string]string
	want  []string
}

var rootCases = []badTree{
	{
		name:  "a folder that the root does not show",
		files: map[string]string{"pkg/x.txt": "", "notes.md": "", ".ci/run": ""},
		want: []string{
			"notes.md:1: root: notes.md is not one of the root's names: node mesh ledger lanes conflicts detect cmd simnet go.mod go.sum README.md LICENSE",
			"pkg:1: root: pkg is not one of the root's names: node mesh ledger lanes conflicts detect cmd simnet go.mod go.sum README.md LICENSE",
		},
	},
	{
		name:  "a file that is not Go",
		files: map[string]string{"lanes/lane.go": "package"},
		want:  []string{"lanes/lane.go:1: parse: lanes/lane.go:1:8: expected 'IDENT', found 'EOF'"},
	},
}

// importing returns a documented package that imports paths.
func importing(pkg string, paths ...string) string {
	return "// Package " + pkg + " is there.\npackage " + pkg + "\n\nimport (\n\t_ \"" +
		strings.Join(paths, "\"\n\t_ \"") + "\"\n)\n"
}

var layerCases = []badTree{
	{
		name: "a lower layer that knows a higher one",
		files: map[string]string{
			"detect/d.go":    importing("detect", "example.org/m/ledger"),
			"lanes/l.go":     importing("lanes", "example.org/m/ledger", "example.org/m/conflicts"),
			"node/core/c.go": importing("core", "example.org/m/conflicts/thread", "example.org/m/mesh"),
		},
		want: []string{
			"detect/d.go:5: layers: detect may not import ledger",
			"lanes/l.go:6: layers: lanes may not import conflicts",
			"node/core/c.go:6: layers: node/core may not import mesh",
		},
	},
	{
		name: "adapters that know each other",
		files: map[string]string{
			"ledger/disk/more.go":       "package disk\n\nimport _ \"example.org/m/mesh\"\n",
			"mesh/m.go":                 importing("mesh", "example.org/m/ledger/disk", "github.com/libp2p/go-libp2p/core"),
			"node/internal/agents/a.go": importing("agents", "example.org/m/node/core", "example.org/m/node/internal/github"),
		},
		want: []string{
			"ledger/disk/more.go:3: layers: ledger/disk may not import mesh",
			"mesh/m.go:5: layers: mesh/... may not import ledger/disk",
			"node/internal/agents/a.go:6: layers: node/internal/agents may not import node/internal/github",
		},
	},
	{
		name: "a library outside its package",
		files: map[string]string{
			"lanes/l.go":      importing("lanes", "github.com/fxamacker/cbor/v2"),
			"mesh/m.go":       importing("mesh", "github.com/libp2p/go-libp2p-http", "github.com/multiformats/go-multiaddr"),
			"mesh/m_test.go":  "package mesh\n\nimport _ \"github.com/stretchr/testify/require\"\n",
			"node/api/api.go": importing("api", "github.com/spf13/cobra"),
		},
		want: []string{
			"lanes/l.go:5: layers: lanes may not import github.com/fxamacker/cbor/v2",
			"mesh/m.go:5: layers: mesh/... may not import github.com/libp2p/go-libp2p-http",
			"mesh/m_test.go:3: layers: mesh/... may not import github.com/stretchr/testify/require",
			"node/api/api.go:5: layers: node/api/... may not import github.com/spf13/cobra",
		},
	},
	{
		name: "a stand-in that knows the product",
		files: map[string]string{
			"simnet/github/g.go":      "package github\n\nimport (\n\t_ \"example.org/m/node\"\n\t_ \"testing\"\n)\n",
			"simnet/github/g_test.go": "package github\n\nimport (\n\t_ \"example.org/m/node\"\n\t_ \"github.com/cli/go-gh/v2\"\n)\n",
			"simnet/desk/d.go":        importing("desk", "example.org/m/simnet/github"),
		},
		want: []string{
			"simnet/desk/d.go:5: layers: simnet/desk may not import simnet/github",
			"simnet/github/g.go:4: layers: simnet/github may not import node",
			"simnet/github/g.go:5: layers: simnet/github may not import testing",
		},
	},
	{
		name: "programs that reach too far, and a package nobody planned",
		files: map[string]string{
			"cmd/parley/more.go":      "package main\n\nimport _ \"example.org/m/ledger/disk\"\n",
			"cmd/parley-hook/main.go": "// Command parley-hook asks.\npackage main\n\nimport _ \"example.org/m/node/api\"\n",
			"node/util/util.go":       importing("util", "os"),
		},
		want: []string{
			"cmd/parley-hook/main.go:4: layers: cmd/parley-hook may not import node/api",
			"cmd/parley/more.go:3: layers: cmd/parley may not import ledger/disk",
			"node/util/util.go:2: layers: package node/util has no line in the table of cmd/tidy/layers.go",
		},
	},
}

var purityCases = []badTree{
	{
		name: "a pure package that looks at the world",
		files: map[string]string{
			"lanes/l.go": importing("lanes", "os/exec", "net/http", "log/slog", "context", "sync", "math/rand/v2", "crypto/rand", "crypto/sha256"),
		},
		want: []string{
			"lanes/l.go:5: purity: a pure package may not import os/exec; its caller passes what it needs",
			"lanes/l.go:6: purity: a pure package may not import net/http; its caller passes what it needs",
			"lanes/l.go:7: purity: a pure package may not import log/slog; its caller passes what it needs",
			"lanes/l.go:8: purity: a pure package may not import context; its caller passes what it needs",
			"lanes/l.go:9: purity: a pure package may not import sync; its caller passes what it needs",
			"lanes/l.go:10: purity: a pure package may not import math/rand/v2; its caller passes what it needs",
			"lanes/l.go:11: purity: a pure package may not import crypto/rand; its caller passes what it needs",
		},
	},
	{
		name: "a pure package with a clock and a goroutine",
		files: map[string]string{
			"node/core/c.go": "// Package core composes.\npackage core\n\nimport clock \"time\"\n\n" +
				"var now = clock.Now\n\nvar day = 24 * clock.Hour\n\nfunc f() {\n\tgo f()\n\t<-clock.After(day)\n}\n",
			"node/core/time.go": "package core\n\ntype shop struct{ Now func() }\n\nfunc g(time shop) { time.Now() }\n",
		},
		want: []string{
			"node/core/c.go:6: purity: a pure package may not use time.Now; it is told the time",
			"node/core/c.go:11: purity: a pure package may not start a goroutine",
			"node/core/c.go:12: purity: a pure package may not use time.After; it is told the time",
		},
	},
	{
		name: "a test that sleeps",
		files: map[string]string{
			"mesh/m.go":      "// Package mesh talks.\npackage mesh\n\nimport \"time\"\n\nfunc nap() { time.Sleep(1) }\n",
			"mesh/m_test.go": "package mesh\n\nimport \"time\"\n\nfunc nap2() { time.Sleep(1) }\n",
		},
		want: []string{"mesh/m_test.go:5: sleep: a test may not call time.Sleep; wait for the event, with a deadline"},
	},
}

// bodied returns a package lanes of one function that is lines long.
func bodied(lines int) string {
	return "// Package lanes is long.\npackage lanes\n\n// F is long.\nfunc F() {\n" + strings.Repeat("\t_ = 0\n", lines-2) + "}\n"
}

var sizeCases = []badTree{
	{
		name:  "a function of 70 lines",
		files: map[string]string{"lanes/l.go": bodied(70)},
	},
	{
		name:  "a function of 71 lines",
		files: map[string]string{"lanes/l.go": bodied(71)},
		want:  []string{"lanes/l.go:5: sizes: F has 71 lines, more than 70"},
	},
	{
		name: "files of 500 and of 501 lines",
		files: map[string]string{
			"mesh/m_test.go":  "package mesh\n" + strings.Repeat("\n", 499),
			"lanes/l_test.go": "package lanes\n" + strings.Repeat("\n", 500),
		},
		want: []string{"lanes/l_test.go:1: sizes: 501 lines, more than 500"},
	},
}

var docCases = []badTree{
	{
		name: "no package comment, two of them, and wrong ones",
		files: map[string]string{
			"detect/d.go":         "package detect\n",
			"lanes/a.go":          "// Package lanes is one.\npackage lanes\n",
			"lanes/b.go":          "// Package lanes is two.\npackage lanes\n",
			"mesh/m.go":           "// This package talks.\npackage mesh\n",
			"cmd/parley-sim/s.go": "// Some program.\npackage main\n",
		},
		want: []string{
			`cmd/parley-sim/s.go:1: docs: package comment does not start with "Command parley-sim"`,
			"detect/d.go:1: docs: package detect has no package comment",
			"lanes/b.go:1: docs: package lanes has another package comment",
			`mesh/m.go:1: docs: package comment does not start with "Package mesh"`,
		},
	},
	{
		name: "exported names without a comment",
		files: map[string]string{
			"lanes/l.go": "// Package lanes is there.\npackage lanes\n\n" +
				"type A int\n\nfunc (a *A) B() {}\n\nfunc (a A) c() {}\n\ntype d[T any] struct{}\n\nfunc (d[T]) E() {}\n\n" +
				"const F = 1\n\n// Limits.\nconst (\n\tG = 1\n\tH = 2\n)\n\nvar (\n\tI int // units\n\tJ, k int\n)\n\n" +
				"// Types.\ntype (\n\tL int\n\t// M is.\n\tM int\n)\n\nfunc N() {}\n",
		},
		want: []string{
			"lanes/l.go:4: docs: exported A has no comment",
			"lanes/l.go:6: docs: exported B has no comment",
			"lanes/l.go:14: docs: exported F has no comment",
			"lanes/l.go:24: docs: exported J has no comment",
			"lanes/l.go:29: docs: exported L has no comment",
			"lanes/l.go:34: docs: exported N has no comment",
		},
	},
}

// Words that this file may not contain either.
const (
	later = "TO" + "DO"
	place = "/wo" + "rk/"
	aside = "../sha" + "red"
	trial = "spi" + "ke"
)

var wordCases = []badTree{
	{
		name: "work that was put off",
		files: map[string]string{
			"README.md":        "# m\n" + later + " more\n",
			"ledger/more.go":   "package ledger\n\n// " + later + ": more.\n",
			"ledger/a.txt":     later,
			"ledger/b_test.go": "package ledger\n\nconst dir = \"" + strings.Repeat("X", 6) + "\"\n",
		},
		want: []string{
			`README.md:2: words: "` + later + `": finish it or leave it out`,
			`ledger/more.go:3: words: "` + later + `": finish it or leave it out`,
		},
	},
	{
		name: "where it was made",
		files: map[string]string{
			".ci/run":           "cd " + place + "main\n",
			"README.md":         "\nsee " + aside + "/x\n",
			"ledger/DESIGN.md":  "A Spi" + "ke showed it, hand" + trial + "d.\n",
			"ledger/testdata/b": "\x00" + place,
			"ledger/wire.go":    "package ledger\n\nconst context = \"parley" + place + "1\"\n",
		},
		want: []string{
			`.ci/run:1: words: "` + place + `": the repository does not speak of the place where it was made`,
			`README.md:2: words: "` + aside + `": the repository does not speak of the place where it was made`,
			`ledger/DESIGN.md:1: words: "S` + trial[1:] + `": the repository does not speak of the place where it was made`,
		},
	},
}

var contractCases = []badTree{
	{
		name: "promises without a test",
		files: map[string]string{
			"lanes/CONTRACT.md": "| promise | Test |\n|---|---|\n| one | `conflicts/thread.TestSilence`, TestSound |\n| two | soon |\n" +
				"| three | TestSilence |\n| four | conflicts.TestSilence |\n\nText.\n\n" +
				"| no. | says |\n|:--|---|\n| **P4** | a lane is away |\n| main | the one |\n",
		},
		want: []string{
			"lanes/CONTRACT.md:3: contract: promise names TestSound, which does not exist in lanes",
			"lanes/CONTRACT.md:4: contract: promise names no test: | two | soon |",
			"lanes/CONTRACT.md:5: contract: promise names TestSilence, which does not exist in lanes",
			"lanes/CONTRACT.md:6: contract: promise names TestSilence, which does not exist in conflicts",
			"lanes/CONTRACT.md:12: contract: promise names no test: | **P4** | a lane is away |",
		},
	},
	{
		name:  "a contract that promises nothing",
		files: map[string]string{"mesh/CONTRACT.md": "# Contract\n\nWe do our best.\n"},
		want:  []string{"mesh/CONTRACT.md:1: contract: no table of promises with their tests"},
	},
}
