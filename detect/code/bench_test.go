//go:build unix

package code

import (
	"bytes"
	"context"
	"fmt"
	"go/parser"
	"go/token"
	"strings"
	"syscall"
	"testing"
	"time"

	sitter "github.com/smacker/go-tree-sitter"

	"github.com/parley-mesh/parley/detect"
)

// sized is about 64 kB of a language.
func sized(name string) []byte {
	var b bytes.Buffer
	if name == "a.go" {
		b.WriteString("package p\n\nimport (\n\t\"fmt\"\n\t\"strings\"\n)\n")
	}
	for n := 0; b.Len() < 64<<10; n++ {
		b.WriteString(strings.ReplaceAll(samples[name], "QQ", fmt.Sprint(n)))
	}
	return b.Bytes()
}

var benchmarked = map[string]string{"ts": "a.ts", "tsx": "a.tsx", "js": "a.js", "py": "a.py", "go": "a.go", "rs": "a.rs", "java": "A.java"}

func init() {
	samples["a.tsx"] = samples["a.ts"]
	samples["a.js"] = "function issueQQ(record, { strict } = {}) {\n  const total = record.tags.map((t) => t.length).reduce((a, b) => a + b, 0);\n" +
		"  if (total > 10 && strict) throw new Error(`too many: ${total}`);\n  return record.amount ? record.id + ':' + record.amount : record.id;\n}\nmodule.exports.issueQQ = issueQQ;\n"
}

// spent is the time that this process has had of a processor, which a busy machine changes less than time on
// the wall.
func spent() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// measure runs a benchmark and reports what it takes of a processor.
func measure(b *testing.B, size int, run func()) {
	b.SetBytes(int64(size))
	start := spent()
	for b.Loop() {
		run()
	}
	if used := spent() - start; used > 0 {
		b.ReportMetric(float64(size)*float64(b.N)/1e6/used.Seconds(), "cpu-MB/s")
	}
}

// BenchmarkBare is what the parsers take by themselves: tree-sitter, and for Go also its own parser.
func BenchmarkBare(b *testing.B) {
	for name, file := range sorted(benchmarked) {
		src := sized(file)
		g := grammars[dialectOf(file)]()
		b.Run(name, func(b *testing.B) {
			measure(b, len(src), func() {
				p := sitter.NewParser()
				p.SetLanguage(g.language)
				t, err := p.ParseCtx(context.Background(), nil, src)
				if err != nil {
					b.Fatal(err)
				}
				t.Close()
				p.Close()
			})
		})
	}
	src := sized("a.go")
	b.Run("go/parser", func(b *testing.B) {
		measure(b, len(src), func() {
			if _, err := parser.ParseFile(token.NewFileSet(), "", src, parser.SkipObjectResolution); err != nil {
				b.Fatal(err)
			}
		})
	})
}

// BenchmarkTree is parsing and flattening.
func BenchmarkTree(b *testing.B) {
	for name, file := range sorted(benchmarked) {
		src := sized(file)
		b.Run(name, func(b *testing.B) {
			measure(b, len(src), func() {
				if t, why := parse(dialectOf(file), src); t == nil || t.broken {
					b.Fatal(why)
				}
			})
		})
	}
}

// BenchmarkRead is all that a file is read for.
func BenchmarkRead(b *testing.B) {
	for name, file := range sorted(benchmarked) {
		src := sized(file)
		r := New(Project{})
		b.Run(name, func(b *testing.B) {
			measure(b, len(src), func() { r.Read(file, src) })
		})
	}
}

// BenchmarkCompare is one function of a 64 kB file that changed.
func BenchmarkCompare(b *testing.B) {
	src := sized("a.ts")
	r := New(Project{})
	before := r.Read("a.ts", src)
	after := r.Read("a.ts", bytes.Replace(src, []byte("total > 10"), []byte("total > 11"), 1))
	measure(b, len(src), func() {
		if d := r.Compare([]detect.Unit{before}, []detect.Unit{after}); len(d.Symbols) != 1 {
			b.Fatal(d.Symbols)
		}
	})
}
