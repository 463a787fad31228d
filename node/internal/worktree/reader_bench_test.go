package worktree

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"
)

// largeMirror has a straight history of n commits over 2,000 files in one pack, and a commit graph as a fetch
// leaves it.
func largeMirror(b *testing.B, n int) *Mirror {
	b.Helper()
	var s strings.Builder
	for i := range n {
		fmt.Fprintf(&s, "commit refs/heads/x\ncommitter a <a@example.com> %d +0000\ndata 2\nc\n", 1_600_000_000+i*60)
		for j := range 1 + 1999*max(0, 1-i) {
			f := (i*7919 + j) % 2000
			text := strings.Repeat(fmt.Sprintf("line of file %d\n", f), 20) + fmt.Sprintln("version", i)
			fmt.Fprintf(&s, "M 100644 inline src/dir%d/sub/file%d.go\ndata %d\n%s\n", f%40, f, len(text), text)
		}
	}
	m := emptyMirror(b)
	m.bulk(b, s.String(), "-c", "fastimport.unpackLimit=1", "fast-import", "--quiet")
	m.bulk(b, "", "commit-graph", "write", "--reachable", "--split", "--changed-paths", "--no-progress")
	return m
}

type question struct {
	name string
	ask  func(ctx context.Context, m *Mirror) error
}

// BenchmarkReading asks each question of go-git and of the git program, in turns, and reports how many times
// longer git takes.
func BenchmarkReading(b *testing.B) {
	m := largeMirror(b, 20_000)
	var heap runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&heap)
	before := heap.HeapAlloc
	commits := strings.Fields(m.bulk(b, "", "rev-list", "refs/heads/x"))
	tip := OID(commits[0])
	var paths []string
	for f := range MaxFiles {
		paths = append(paths, fmt.Sprintf("src/dir%d/sub/file%d.go", f*7%40, f*7))
	}
	found, err := m.Entries(b.Context(), tip, paths)
	if err != nil || len(found) != MaxFiles {
		b.Fatal(found, err)
	}
	blob := found[paths[0]].OID
	asks := []question{
		{"Entries25", func(ctx context.Context, m *Mirror) error { _, err := m.Entries(ctx, tip, paths); return err }},
		{"Entries1", func(ctx context.Context, m *Mirror) error { _, err := m.Entries(ctx, tip, paths[:1]); return err }},
		{"EntriesOld", func(ctx context.Context, m *Mirror) error {
			_, err := m.Entries(ctx, OID(commits[15_000]), paths)
			return err
		}},
		{"CommitExists", func(ctx context.Context, m *Mirror) error { _, err := m.CommitExists(ctx, tip); return err }},
		{"Blob", func(ctx context.Context, m *Mirror) error { _, err := m.Blob(ctx, blob); return err }},
		{"Known", func(ctx context.Context, m *Mirror) error { _, err := m.Known(ctx, tip, 0, paths[0]); return err }},
	}
	for _, depth := range []int{1, 10, 100, 900, 5000, 19_999} {
		asks = append(asks, question{fmt.Sprint("IsAncestor", depth), func(ctx context.Context, m *Mirror) error {
			_, err := m.IsAncestor(ctx, OID(commits[depth]), tip)
			return err
		}})
	}
	theirs := m.byGit()
	for _, a := range asks {
		b.Run(a.name, func(b *testing.B) {
			var ours, git time.Duration
			for b.Loop() {
				start := time.Now()
				err := a.ask(b.Context(), m)
				half := time.Now()
				if err2 := a.ask(b.Context(), theirs); err != nil || err2 != nil {
					b.Fatal(err, err2)
				}
				ours, git = ours+half.Sub(start), git+time.Since(half)
			}
			b.ReportMetric(float64(ours.Microseconds())/float64(b.N), "µs/here")
			b.ReportMetric(float64(git.Microseconds())/float64(b.N), "µs/git")
			b.ReportMetric(float64(git)/float64(ours), "times")
		})
	}
	b.Run("Reopen", func(b *testing.B) {
		for b.Loop() {
			m.read.close()
			if _, err := m.byGoGit().Entries(b.Context(), tip, paths); err != nil {
				b.Fatal(err)
			}
		}
	})
	runtime.GC()
	runtime.ReadMemStats(&heap)
	b.Logf("memory held: %d KiB", (int64(heap.HeapAlloc)-int64(before))/1024)
}
