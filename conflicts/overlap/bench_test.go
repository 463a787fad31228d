package overlap

import (
	"fmt"
	"testing"

	"github.com/parley-mesh/parley/detect"
	"github.com/parley-mesh/parley/ledger"
)

// crowd is 100 participants with 10,000 open claims, and 20 edited files each. shared is how many of the claims of each
// are on ground that others claim too.
func crowd(b testing.TB, shared int) (w *world, sessions []ledger.ID, pens []*pen) {
	p := detect.DefaultPolicy()
	p.ExclusiveByDefault = []string{"db/**"}
	w = newWorld(b, p)
	for n := range 100 {
		c := w.computer(fmt.Sprintf("dev%02d", n), byte(n))
		x := c.session("codex", fmt.Sprint("feat/", n))
		var claims []detect.Claim
		for i := range 100 {
			pattern := fmt.Sprintf("pkg/mod%02d/part%02d/**", n, i)
			switch {
			case i < shared:
				pattern = fmt.Sprintf("shared/part%02d/**", i)
			case i%2 == 0:
				pattern = fmt.Sprintf("pkg/mod%02d/part%02d/main.go", n, i)
			}
			claims = append(claims, detect.Claim{Kind: detect.PathClaim, Pattern: pattern, Exclusive: i%4 == 0 && i >= shared, Covers: 3})
		}
		c.claims(x, claims...)
		for i := range 20 {
			c.edits(x, fmt.Sprintf("pkg/mod%02d/part%02d/main.go", n, i))
		}
		sessions, pens = append(sessions, x), append(pens, c)
	}
	w.f.Settle()
	return w, sessions, pens
}

func BenchmarkDecide(b *testing.B) {
	for _, shared := range []int{0, 5} {
		w, sessions, _ := crowd(b, shared)
		b.Run(fmt.Sprintf("claims shared by all %d", shared), func(b *testing.B) {
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				n := (i*7 + 1) % 100
				d := w.f.Decide(sessions[i%100], about(fmt.Sprintf("pkg/mod%02d/part%02d/main.go", n, 44)))
				if i%100 != n && d.Verdict != Block {
					b.Fatalf("%s: %s", d.Verdict, d.Words)
				}
			}
		})
	}
}

func BenchmarkDecideOnGroundThatAllClaim(b *testing.B) {
	w, sessions, _ := crowd(b, 5)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		w.f.Decide(sessions[i%100], about("shared/part03/a.go"))
	}
}

func BenchmarkAddAndSettle(b *testing.B) {
	for _, shared := range []int{0, 5} {
		w, sessions, pens := crowd(b, shared)
		b.Run(fmt.Sprintf("claims shared by all %d", shared), func(b *testing.B) {
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				pens[i%100].edits(sessions[i%100], "pkg/new/a.go")
				w.f.Settle()
			}
		})
	}
}

func BenchmarkAdd(b *testing.B) {
	w, sessions, pens := crowd(b, 0)
	records := make([]*ledger.Record, 0, 10000)
	for i := range cap(records) {
		records = append(records, pens[i%100].sealed(shop, BackOf(sessions[i%100], fmt.Sprint("pkg/", i%1000))))
	}
	b.ReportAllocs()
	for i := 0; b.Loop() && i < len(records); i++ {
		w.f.Add(records[i], w.now)
	}
}
