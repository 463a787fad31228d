package repo

import (
	"fmt"
	"math/rand/v2"
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
}

// BenchmarkThousandPairs holds a whole check of 1,000 pairs against git's own merges of the pairs that are left
// after pruning, in the same run: go test ./detect/repo -run - -bench Thousand -benchtime 3x.
func BenchmarkThousandPairs(b *testing.B) {
	s := newShop(b)
	crowd(s)
	rules, err := detect.NewRules(detect.DefaultPolicy())
	if err != nil {
		b.Fatal(err)
	}
	var whole, git, naive float64
	var pairs, asked int
	for b.Loop() {
		r := s.open()
		var result *Result
		whole += took(func() {
			if result, err = r.Check(b.Context(), rules, Options{}); err != nil {
				b.Fatal(err)
			}
		})
		pairs, asked = len(result.Pairs), result.Asked
		heads := map[string]string{result.Base.Ref: result.Base.Commit}
		for _, side := range result.Sides {
			heads[side.Ref] = side.Commit
		}
		var all, left [][2]string
		for _, p := range result.Pairs {
			all = append(all, [2]string{heads[p.A], heads[p.B]})
			if p.tried {
				left = append(left, all[len(all)-1])
			}
		}
		for list, sum := range map[*[][2]string]*float64{&left: &git, &all: &naive} {
			fresh := s.open()
			*sum += took(func() {
				if _, err := fresh.mergeAll(b.Context(), *list); err != nil {
					b.Fatal(err)
				}
			})
		}
	}
	b.ReportMetric(float64(pairs), "pairs")
	b.ReportMetric(float64(asked), "asked")
	b.ReportMetric(whole/git, "of-git-pruned")
	b.ReportMetric(whole/naive, "of-git-all")
}

// took is how long something takes, in seconds.
func took(do func()) float64 {
	start := time.Now()
	do()
	return time.Since(start).Seconds()
}
