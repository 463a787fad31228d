package detect

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// crowded is n sides at work in one repository of 10,000 files: 20 files and 60 symbols each, some of them where
// others work too.
func crowded(n int) (all []*Digest) {
	random := rand.New(rand.NewPCG(1, 1))
	path := func() string { return fmt.Sprintf("src/p%d/f%d.ts", random.IntN(100), random.IntN(100)) }
	for i := range n {
		d := jordan()
		d.Side.Ref, d.Side.Arrived = fmt.Sprint("INT-", i+1), uint64(i)
		d.Side.Task = fmt.Sprintf("Handle case %d of topic %d and of area %d in the shop", i, i%20, i%7)
		for range 20 {
			p := path()
			d.Files = append(d.Files, edited(p, fmt.Sprint(i), hunk(uint32(random.IntN(200)), 3, 3, uint64(i)), hunk(300+uint32(random.IntN(200)), 1, 4, uint64(i))))
			for s := range 3 {
				c := changed(Change(1+random.IntN(5)), fmt.Sprintf("sym:ts:%s#f%d", p, s))
				c.Symbol.Exported, c.Symbol.BodyHash, c.Verdict = true, uint64(i), Verdict(random.IntN(3))
				d.Symbols = append(d.Symbols, c)
			}
			for s := range 5 {
				d.References = append(d.References, Reference{Kind: Import, Target: fmt.Sprintf("sym:ts:%s#f%d", path(), s), Sure: true, Path: p})
			}
		}
		d.Claims = []Claim{{Kind: PathClaim, Pattern: fmt.Sprintf("src/p%d/**", i%100), Covers: 100}}
		d.Prints = Winnow(tokens(uint64(i), 1500))
		d.Normalize()
		all = append(all, d)
	}
	return all
}

// BenchmarkOneEdit is the way from a new digest to all findings about it, with 100 live sides (the reading of the
// code not counted).
func BenchmarkOneEdit(b *testing.B) {
	digests := crowded(100)
	rules := mustRules(b, guarded())
	var others []*Party
	for _, d := range digests[1:] {
		others = append(others, rules.Party(d))
	}
	var took []time.Duration
	found := 0
	for b.Loop() {
		start := time.Now()
		found = len(Around(rules.Party(digests[0]), others).Findings)
		took = append(took, time.Since(start))
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)*99/100])/1e6, "p99-ms")
	b.ReportMetric(float64(found), "findings")
}

// BenchmarkOverlaps is two globs of the usual kind.
func BenchmarkOverlaps(b *testing.B) {
	x, y := mustGlob(b, "src/{billing,api}/**/*.ts"), mustGlob(b, "**/refund*.ts")
	for b.Loop() {
		if !Overlaps(x, y) {
			b.Fatal("they overlap")
		}
	}
}
