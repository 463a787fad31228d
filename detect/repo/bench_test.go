package repo

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/parley-mesh/parley/detect"
)

// crowd is a repository of 10,000 files with as many branches as make 1,000 pairs, each with 12 changed files.
func crowd(s *shop) {
	s.Helper()
	const sides, files = 45, 10_000
	random := rand.New(rand.NewPCG(1, 1))
	var in strings.Builder
	path := func(i int) string { return fmt.Sprintf("src/p%d/f%d.ts", i%100, i) }
	write := func(i int, text string) {
		fmt.Fprintf(&in, "M 100644 inline %s\ndata %d\n%s\n", path(i), len(text), text)
	}
	in.WriteString("commit refs/heads/main\nmark :1\ncommitter a <a@b> 1700000000 +0000\ndata 1\nx\n")
	for i := range files {
		write(i, numbered(40, map[int]string{1: fmt.Sprint("file ", i)}))
	}
	for j := range sides {
		fmt.Fprintf(&in, "commit refs/heads/side%d\ncommitter a <a@b> %d +0000\ndata 1\nx\nfrom :1\n", j, 1_700_000_001+j)
		for range 12 {
			i := random.IntN(files)
			if random.IntN(4) == 0 {
				i = random.IntN(60) // where all work
			}
			write(i, numbered(40, map[int]string{1: fmt.Sprint("file ", i), 2 + random.IntN(38): fmt.Sprint("side ", j)}))
		}
	}
	s.importHistory(in.String())
	s.git("repack", "-q", "-a", "-d")
	s.git("reset", "-q", "--hard", "main")
	// As if the files had been written some time before: git reads again what is as new as its index.
	later := time.Now().Add(time.Minute)
	if err := os.Chtimes(filepath.Join(s.dir, ".git", "index"), later, later); err != nil {
		s.Fatal(err)
	}
}

// BenchmarkThousandPairs holds a whole check of 1,000 pairs against git's own merges of the pairs that are left
// after pruning, in the same run, by time and by what the processors did: go test ./detect/repo -run - -bench Thousand -benchtime 3x.
func BenchmarkThousandPairs(b *testing.B) {
	s := newShop(b)
	crowd(s)
	rules, err := detect.NewRules(detect.DefaultPolicy())
	if err != nil {
		b.Fatal(err)
	}
	var whole, git, naive cost
	var pairs, asked int
	for b.Loop() {
		r := s.open()
		var result *Result
		whole.add(func() {
			if result, err = r.Check(b.Context(), rules, Options{}); err != nil {
				b.Fatal(err)
			}
		})
		pairs, asked = len(result.Pairs), result.Asked
		all, left := heads(result)
		for list, sum := range map[*[][2]string]*cost{&left: &git, &all: &naive} {
			fresh := s.open()
			sum.add(func() {
				if _, err := fresh.mergeAll(b.Context(), *list); err != nil {
					b.Fatal(err)
				}
			})
		}
	}
	b.ReportMetric(float64(pairs), "pairs")
	b.ReportMetric(float64(asked), "asked")
	b.ReportMetric(whole.wall/git.wall, "of-git-pruned")
	b.ReportMetric(whole.wall/naive.wall, "of-git-all")
	b.ReportMetric(whole.cpu/git.cpu, "cpu-of-git-pruned")
	b.ReportMetric(whole.cpu/naive.cpu, "cpu-of-git-all")
	b.ReportMetric(whole.cpu/float64(b.N), "cpu-s/op")
}

// heads are the commits of all pairs, and of those that git was asked about.
func heads(result *Result) (all, left [][2]string) {
	commits := map[string]string{result.Base.Ref: result.Base.Commit}
	for _, side := range result.Sides {
		commits[side.Ref] = side.Commit
	}
	for _, p := range result.Pairs {
		all = append(all, [2]string{commits[p.A], commits[p.B]})
		if p.tried {
			left = append(left, all[len(all)-1])
		}
	}
	return all, left
}

// cost is what something took, in seconds.
type cost struct{ wall, cpu float64 }

func (c *cost) add(do func()) {
	before := cpuTime()
	c.wall += took(do)
	c.cpu += cpuTime() - before
}

// took is how long something takes, in seconds.
func took(do func()) float64 {
	start := time.Now()
	do()
	return time.Since(start).Seconds()
}
