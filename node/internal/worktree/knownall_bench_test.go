package worktree

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// BenchmarkKnown asks for 25 paths one by one and in one walk, in turns, and then for what is remembered of them.
func BenchmarkKnown(b *testing.B) {
	m := largeMirror(b, 20_000)
	older := OID(strings.TrimSpace(m.bulk(b, "", "rev-parse", "refs/heads/x~20")))
	tip := OID(strings.TrimSpace(m.bulk(b, "", "rev-parse", "refs/heads/x")))
	var paths []string
	for f := range MaxFiles {
		paths = append(paths, fmt.Sprintf("src/dir%d/sub/file%d.go", f*7%40, f*7))
	}
	all := func(b *testing.B, m *Mirror, at OID) time.Duration {
		start := time.Now()
		if got, err := m.KnownAll(b.Context(), at, 0, paths, nil); err != nil || len(got) != len(paths) {
			b.Fatal(got, err)
		}
		return time.Since(start)
	}
	fresh := func() *Mirror { return &Mirror{dir: m.dir, git: m.git, read: m.read, sets: new(knownSets)} }
	b.Run("AtOnce", func(b *testing.B) {
		var single, once time.Duration
		for b.Loop() {
			single += all(b, fresh(), tip)
			start := time.Now()
			if err := m.readPasts(b.Context(), map[string]past{}, nil, tip, paths, pathsPerCall); err != nil {
				b.Fatal(err)
			}
			once += time.Since(start)
		}
		report(b, single, once)
	})
	b.Run("Grown", func(b *testing.B) {
		var once, grown time.Duration
		for b.Loop() {
			other := fresh()
			once += all(b, other, older)
			grown += all(b, other, tip)
		}
		report(b, once, grown)
	})
	b.Run("Again", func(b *testing.B) {
		var once, again time.Duration
		for b.Loop() {
			other := fresh()
			once += all(b, other, tip)
			again += all(b, other, tip)
		}
		report(b, once, again)
	})
}

func report(b *testing.B, before, now time.Duration) {
	b.ReportMetric(float64(before.Microseconds())/float64(b.N), "µs/before")
	b.ReportMetric(float64(now.Microseconds())/float64(b.N), "µs/now")
	b.ReportMetric(float64(before)/float64(now), "times")
}
