//go:build cgo

package repo

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/parley-mesh/parley/detect"
	"github.com/parley-mesh/parley/detect/code"
)

var watchers = flag.Int("participants", 100, "how many sides are at work while one edits")

// town is a repository of 10,000 files of TypeScript, of 2 to 60 kB, 4.5 kB on average, that import each other.
func town(s *shop) (paths []string) {
	s.Helper()
	var in strings.Builder
	in.WriteString("commit refs/heads/main\ncommitter a <a@b> 1700000000 +0000\ndata 1\nx\n")
	for i := range 10_000 {
		text := module(i, 0)
		paths = append(paths, fmt.Sprintf("src/p%d/f%d.ts", i%100, i))
		fmt.Fprintf(&in, "M 100644 inline %s\ndata %d\n%s\n", paths[i], len(text), text)
	}
	s.importHistory(in.String())
	s.git("repack", "-q", "-a", "-d")
	s.git("reset", "-q", "--hard", "main")
	return paths
}

// module is one file; edit changes the body of one of its functions.
func module(i, edit int) string {
	random := rand.New(rand.NewPCG(uint64(i), 2))
	var b strings.Builder
	other := random.IntN(10_000)
	fmt.Fprintf(&b, "import { f%d_0, T%d } from '../p%d/f%d';\n\nexport interface T%d { id: string; total: number; note?: string }\n\n", other, other, other%100, other, i)
	functions := 4 + random.IntN(8)
	if i%50 == 0 {
		functions = 130
	}
	for f := range functions {
		change := 0
		if f == edit%functions {
			change = edit
		}
		fmt.Fprintf(&b, `/** Handles case %d of %d. */
export async function f%d_%d(order: T%d, rate: number, options: { retries?: number } = {}): Promise<T%d> {
  const total = order.total * rate + %d;
  for (let n = 0; n < (options.retries ?? 3); n++) {
    if (total > n * %d && order.note !== "case %d") {
      return { ...(await f%d_0(order as T%d, rate)), id: order.id + n, total };
    }
  }
  throw new Error(`+"`no total for ${order.id} after ${options.retries} tries`"+`);
}

`, f, i, i, f, i, i, change, random.IntN(100), random.IntN(1000), other, other)
	}
	return b.String()
}

// reader reads code as check does.
func reader(l *Layout) detect.Reader {
	return code.New(code.Project{Has: l.Has, Folder: l.Folder, GoModules: l.GoModules, Packages: l.Packages, Aliases: l.Aliases})
}

// BenchmarkIndex reads all code of 10,000 files: cold, then again after a restart. The peak is what the process had in memory
// at most, without git's; a MB is 1,000,000 bytes.
//
//	go test ./detect/repo -run - -bench Index -benchtime 1x
func BenchmarkIndex(b *testing.B) {
	s := newShop(b)
	town(s)
	for b.Loop() {
		kept := folder(b, CacheMax)
		for _, when := range []string{"cold", "warm"} {
			d := s.desk(DeskOptions{Reader: reader, Cache: kept})
			forgetPeak()
			took := took(func() {
				if _, err := d.Warm(b.Context()); err != nil {
					b.Fatal(err)
				}
			})
			b.ReportMetric(took, when+"-s")
			b.ReportMetric(peakMemory(), when+"-peak-MB")
		}
		var size, files float64
		err := filepath.WalkDir(kept.root, func(name string, _ os.DirEntry, err error) error {
			if info, missing := os.Stat(name); missing == nil && info.Mode().IsRegular() {
				size, files = size+float64(info.Size()), files+1
			}
			return err
		})
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(size/1e6, "MB")
		b.ReportMetric(files, "files")
	}
}

// BenchmarkEdit is the way from an edit on the disk to all findings about it, in a repository of 10,000 files where 100
// others are at work, 20 files each.
//
//	go test ./detect/repo -run - -bench Edit -benchtime 500x
func BenchmarkEdit(b *testing.B) {
	s := newShop(b)
	paths := town(s)
	kept := folder(b, CacheMax)
	random := rand.New(rand.NewPCG(3, 3))
	rules, err := detect.NewRules(detect.DefaultPolicy())
	if err != nil {
		b.Fatal(err)
	}
	d := s.desk(DeskOptions{Reader: reader, Cache: kept})
	edit := func(i, n int) {
		if err := os.WriteFile(filepath.Join(s.dir, paths[i]), []byte(module(i, n)), 0o600); err != nil {
			b.Fatal(err)
		}
	}
	var others []*detect.Party
	for k := range *watchers {
		for range 20 {
			i := random.IntN(len(paths))
			if random.IntN(4) == 0 {
				i = random.IntN(60) // where all work
			}
			edit(i, k+1)
		}
		digest := s.digest(d)
		digest.Side.Ref, digest.Side.Kind, digest.Side.Arrived = fmt.Sprint("INT-", k+1), detect.Intent, uint64(k+1)
		digest.Side.Checkout, digest.Side.User = fmt.Sprint(k), fmt.Sprint("user", k)
		others = append(others, rules.Party(digest))
		s.git("checkout", "-q", ".")
	}
	for range 20 {
		edit(random.IntN(60), 12345)
	}
	mine := s.digest(d)
	var whole, looked []time.Duration
	found := 0
	forgetPeak()
	for b.Loop() {
		i := random.IntN(60)
		edit(i, random.IntN(1_000_000))
		start := time.Now()
		if mine, err = d.Digest(b.Context(), paths[i]); err != nil {
			b.Fatal(err)
		}
		looked = append(looked, time.Since(start))
		mine.Side.Ref, mine.Side.Kind, mine.Side.Arrived = "INT-9999", detect.Intent, 9999
		found = len(detect.Around(rules.Party(mine), others).Findings)
		whole = append(whole, time.Since(start))
	}
	for name, list := range map[string][]time.Duration{"all": whole, "digest": looked} {
		slices.Sort(list)
		b.ReportMetric(float64(list[len(list)/2])/1e6, name+"-p50-ms")
		b.ReportMetric(float64(list[len(list)*99/100])/1e6, name+"-p99-ms")
	}
	b.ReportMetric(peakMemory(), "peak-MB")
	b.ReportMetric(childrenMemory(), "gits-MB")
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	b.ReportMetric(float64(m.HeapAlloc)/1e6, "heap-MB")
	b.ReportMetric(float64(len(mine.Files)), "files")
	b.ReportMetric(float64(found), "findings")
}
