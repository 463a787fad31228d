package detect

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestClaimsThatOverlapBeginAlike(t *testing.T) { // C2
	rules, err := NewRules(DefaultPolicy())
	if err != nil {
		t.Fatal(err)
	}
	patterns := []string{"a", "A/b", "a/b", "a/b/**", "a/*", "a/b/c", "a/[bc]", "**", "*.go", "a/b*", "a-b/**", "B/**", "{a,b}/c", "a/b/"}
	rapid.Check(t, func(rt *rapid.T) {
		party := func(ref string) *Party {
			d := &Digest{Side: Side{Ref: ref, Repo: "r", Folds: rapid.Bool().Draw(rt, "folds")}}
			for _, p := range rapid.SliceOfN(rapid.SampledFrom(patterns), 0, 12).Draw(rt, "claims") {
				d.Claims = append(d.Claims, Claim{Kind: PathClaim, Pattern: p})
			}
			return rules.Party(d)
		}
		a, b := party("a"), party("b")
		m := &meeting{rules: rules, a: a, b: b, folds: a.Side.Folds || b.Side.Folds}
		var want, got []string
		for i := range a.claims {
			for j := range b.claims {
				if a.claims[i].overlaps(b.claims[j].pattern, m.folds) {
					want = append(want, fmt.Sprint(i, " ", j))
				}
			}
		}
		place := func(p *Party, c *claim) (at int) {
			for at < len(p.claims) && &p.claims[at] != c {
				at++
			}
			return at
		}
		m.claimsAlike(func(x, y *claim) {
			if x.overlaps(y.pattern, m.folds) {
				got = append(got, fmt.Sprint(place(a, x), " ", place(b, y)))
			}
		})
		slices.Sort(want)
		slices.Sort(got)
		if !slices.Equal(got, want) {
			rt.Fatalf("%v and %v overlap at %v, found %v", a.Claims, b.Claims, want, got)
		}
	})
}
