package detect

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// drawn is a digest out of few names, so that sides meet.
func drawn(t *rapid.T, n int) *Digest {
	paths := rapid.SampledFrom([]string{"a.ts", "A.ts", "src/b.ts", "src/c.ts", "db/x.sql"})
	ids := rapid.SampledFrom([]string{"sym:ts:a.ts#f", "sym:ts:a.ts#C", "sym:ts:a.ts#C.m", "sym:ts:src/b.ts#g"})
	blob := rapid.SampledFrom([]string{"1", "2", "3"})
	d := &Digest{Base: "b", Grammars: "g", Side: Side{
		Ref: fmt.Sprint("INT-", n), Kind: Intent, Name: "p", User: "p@acme.com", Repo: "acme/shop",
		Arrived: rapid.Uint64Range(0, 3).Draw(t, "arrived"), Folds: rapid.Bool().Draw(t, "folds"),
		State: State(rapid.IntRange(0, 3).Draw(t, "state")), Task: rapid.SampledFrom([]string{"", "refund orders partially", "refund partial orders"}).Draw(t, "task"),
	}}
	seen := map[string]bool{}
	for range rapid.IntRange(0, 3).Draw(t, "files") {
		f := edited(paths.Draw(t, "path"), blob.Draw(t, "blob"), hunk(uint32(rapid.IntRange(0, 4).Draw(t, "start")), 1, 1, 1))
		f.Quality = Quality(rapid.IntRange(1, 2).Draw(t, "quality"))
		if !seen[f.Path] {
			d.Files = append(d.Files, f)
		}
		seen[f.Path] = true
	}
	for range rapid.IntRange(0, 3).Draw(t, "symbols") {
		c := changed(Change(rapid.IntRange(1, 5).Draw(t, "change")), ids.Draw(t, "id"))
		c.Symbol.Exported, c.Verdict = true, Verdict(rapid.IntRange(0, 2).Draw(t, "verdict"))
		d.Symbols = append(d.Symbols, c)
	}
	for range rapid.IntRange(0, 2).Draw(t, "references") {
		d.References = append(d.References, Reference{Kind: Import, Target: ids.Draw(t, "target"), Sure: rapid.Bool().Draw(t, "sure"), Path: paths.Draw(t, "in")})
	}
	for range rapid.IntRange(0, 2).Draw(t, "claims") {
		d.Claims = append(d.Claims, Claim{
			Kind: PathClaim, Pattern: rapid.SampledFrom([]string{"a.ts", "src/**", "**/*.ts", "db/"}).Draw(t, "glob"),
			Exclusive: rapid.Bool().Draw(t, "exclusive"), Covers: rapid.IntRange(-1, 30).Draw(t, "covers"),
		})
	}
	if rapid.Bool().Draw(t, "upcoming") {
		d.Upcoming = []Upcoming{{paths.Draw(t, "about"), Modify}}
	}
	for range rapid.IntRange(0, 2).Draw(t, "depends") {
		d.DependsOn = append(d.DependsOn, fmt.Sprint("INT-", rapid.IntRange(1, 5).Draw(t, "on")))
	}
	d.Normalize()
	return d
}

func drawnParties(t *rapid.T) []*Party {
	p := guarded()
	p.ExclusiveByDefault = []string{"src/c.ts"}
	rules, err := NewRules(p)
	if err != nil {
		t.Fatal(err)
	}
	var all []*Party
	for n := range rapid.IntRange(2, 5).Draw(t, "sides") {
		all = append(all, rules.Party(drawn(t, n+1)))
	}
	return all
}

func TestTheSameDigestsGiveTheSameReportOnEveryComputer(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all := drawnParties(t)
		want := All(all)
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		random.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		if got := All(all); !reflect.DeepEqual(got, want) {
			t.Fatalf("%+v\nwant\n%+v", got, want)
		}
	})
}

func TestAroundOneSideIsWhatAllFindsAboutIt(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all := drawnParties(t)
		var want []string
		for _, f := range All(all).Findings {
			if slices.Contains(f.Sides, all[0].Side.Ref) {
				want = append(want, f.Sentence)
			}
		}
		var got []string
		for _, f := range Around(all[0], all[1:]).Findings {
			got = append(got, f.Sentence)
		}
		if !slices.Equal(got, want) {
			t.Fatalf("%q\nwant\n%q", got, want)
		}
	})
}

func TestEveryFindingIsWithinItsBounds(t *testing.T) { // C9
	rapid.Check(t, func(t *rapid.T) {
		all := drawnParties(t)
		keys := map[string]string{}
		for _, f := range All(all).Findings {
			switch {
			case f.Blocking != (f.Severity == Block), f.Blocking != (f.Blocked != ""):
				t.Fatalf("blocking and severity differ: %+v", f)
			case f.Blocking && (f.Evidence == Inferred || f.Confidence < 85):
				t.Fatalf("blocks on a guess: %+v", f)
			case f.Blocking && !slices.Contains(f.Sides, f.Blocked):
				t.Fatalf("blocks a bystander: %+v", f)
			case f.Confidence > surest[f.Kind]:
				t.Fatalf("surer than any of its kind: %+v", f)
			case f.Confidence == 0 || f.Confidence > 100, f.Sentence == "", len(f.About) == 0, !slices.IsSorted(f.About) && f.Kind != DependencyOrder:
				t.Fatalf("%+v", f)
			case keys[f.Key()] != "":
				t.Fatalf("one key for two:\n%s\n%s", keys[f.Key()], f.Sentence)
			}
			keys[f.Key()] = f.Sentence
		}
	})
}

func TestSidesThatShareNothingFindNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := drawn(t, 1)
		b := jordan()
		b.Side.Ref = "INT-9"
		b.Files = []File{edited("elsewhere/x.py", "1")}
		b.Symbols = []SymbolChange{changed(Removed, "sym:py:elsewhere/x.py#f")}
		rules, err := NewRules(DefaultPolicy())
		if err != nil {
			t.Fatal(err)
		}
		a.Claims = nil
		if r := Meet(rules.Party(a), rules.Party(b), Meeting{Base: "b"}); len(r.Findings) > 0 {
			t.Fatalf("%+v", r.Findings)
		}
	})
}
