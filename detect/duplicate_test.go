package detect

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// tokens are hashes of a made-up text.
func tokens(seed uint64, n int) (all []uint64) {
	for i := range n {
		all = append(all, mix(seed<<32+uint64(i)))
	}
	return all
}

// twins are two sides that do the same work in files of their own.
func twins() (a, b *Digest) {
	a, b = jordan(), maya()
	a.Side.Task = "Support partial refunds of an order with several currencies"
	b.Side.Task = "Partial refunds for orders, also with more than one currency"
	a.Files, b.Files = []File{edited("a/refund.ts", "1")}, []File{edited("b/refund.ts", "2")}
	a.Symbols = []SymbolChange{{Symbol: Symbol{ID: "sym:ts:a/refund.ts#splitRefund"}, Change: Added}}
	b.Symbols = []SymbolChange{{Symbol: Symbol{ID: "sym:ts:b/refund.ts#splitRefund"}, Change: Added}}
	a.Prints, b.Prints = Winnow(tokens(1, 200)), Winnow(append(tokens(1, 180), tokens(2, 20)...))
	return a, b
}

// others are sides that do something else, so that words have a rarity.
func others() (all []*Digest) {
	for i, task := range []string{"Speed up the search of products", "Show the invoice as a page", "Log in with a passkey", "Ship orders from two stores"} {
		d := jordan()
		d.Side.Ref, d.Side.Task = fmt.Sprint("INT-", 20+i), task
		all = append(all, d)
	}
	return all
}

func TestWorkThatIsDoneTwiceIsFound(t *testing.T) { // C16
	a, b := twins()
	f := the(t, find(t, DefaultPolicy(), append(others(), a, b)...), DuplicateWork)
	if f.Severity != Warn || f.Blocking || f.Evidence != Inferred || !slices.Equal(f.Sides, []string{"INT-12", "INT-14"}) {
		t.Errorf("%+v", f)
	}
	for _, part := range []string{"their tasks are described alike", "both add 1 symbol(s): splitRefund", "their new code is alike"} {
		if !strings.Contains(f.Sentence, part) {
			t.Errorf("%s does not say %q", f.Sentence, part)
		}
	}
}

func TestOneFamilyOfEvidenceIsNoDuplicate(t *testing.T) { // C16
	only := map[string]func(a, b *Digest){
		"words":   func(a, b *Digest) { a.Symbols, a.Prints = nil, nil },
		"symbols": func(a, b *Digest) { a.Side.Task, a.Prints = "", nil },
		"code":    func(a, b *Digest) { a.Side.Task, a.Symbols = "", nil },
		"issues": func(a, b *Digest) {
			*a, *b = *jordan(), *maya()
			a.Side.Issues, b.Side.Issues = []string{"#7"}, []string{"#7"}
		},
		"files": func(a, b *Digest) {
			*a, *b = *jordan(), *maya()
			a.Files, b.Files = []File{edited("x", "1")}, []File{edited("x", "2")}
		},
	}
	for name, leave := range only {
		a, b := twins()
		leave(a, b)
		t.Run(name, func(t *testing.T) { none(t, find(t, DefaultPolicy(), append(others(), a, b)...), DuplicateWork) })
	}
}

func TestOneIssueAndOneNewSymbolAreADuplicate(t *testing.T) { // C16
	a, b := twins()
	a.Side.Task, b.Side.Task, a.Prints = "", "", nil
	a.Side.Issues, b.Side.Issues = []string{"#7", "#9"}, []string{"#9"}
	f := the(t, find(t, DefaultPolicy(), a, b), DuplicateWork)
	if !strings.Contains(f.Sentence, "both name #9;") {
		t.Error(f.Sentence)
	}
}

func TestOneIssueInTheSameFilesIsADuplicate(t *testing.T) { // C16
	a, b := jordan(), maya()
	a.Side.Issues, b.Side.Issues = []string{"#7"}, []string{"#7"}
	a.Files = []File{edited("x", "1"), edited("y", "1")}
	b.Files = []File{edited("x", "2")}
	f := the(t, find(t, DefaultPolicy(), a, b), DuplicateWork)
	if !strings.Contains(f.Sentence, "both name #7; they change the same files (50 %)") {
		t.Error(f.Sentence)
	}
	b.Files = []File{edited("x", "2"), edited("p", "2"), edited("q", "2")}
	none(t, find(t, DefaultPolicy(), a, b), DuplicateWork)
}

func TestPrintsOfOtherGrammarsAreNotCompared(t *testing.T) {
	a, b := twins()
	b.Grammars = "other"
	a.Side.Task = ""
	none(t, find(t, DefaultPolicy(), a, b), DuplicateWork)
}

func TestAnySharedRunOfEightTokensLeavesAPrint(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		token := rapid.Uint64Range(0, 5)
		before, after := rapid.SliceOfN(token, 0, 20), rapid.SliceOfN(token, 0, 20)
		run := rapid.SliceOfN(token, gram+window-1, 30).Draw(t, "run")
		a := slices.Concat(before.Draw(t, "a"), run, after.Draw(t, "a2"))
		b := slices.Concat(before.Draw(t, "b"), run, after.Draw(t, "b2"))
		if countCommon(Winnow(a), Winnow(b)) == 0 {
			t.Fatalf("%v and %v have no print in common", a, b)
		}
	})
}

func TestWordsAreCountedAsTheyAreMeant(t *testing.T) {
	got := wordCounts("Refunded orders: refunding an order_line in refundOrder(), fixes the tests")
	for word, n := range map[string]uint64{"refund": 3, "order": 3, "lin": 1} {
		if got[word] != n {
			t.Errorf("%q %d times, want %d: %v", word, got[word], n, got)
		}
	}
}

func TestWholeNumbersAreAsGoodAsFloats(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.Uint64Range(1, 1<<40).Draw(t, "n")
		if r := root(n); r*r > n || (r+1)*(r+1) <= n {
			t.Fatalf("root of %d: %d", n, r)
		}
		if d := math.Abs(float64(log2x16(n)) - 16*math.Log2(float64(n))); d > 2.5 {
			t.Fatalf("16 log2 of %d: %d", n, log2x16(n))
		}
	})
}

func TestWhoSharesAWorkingCopyNeitherMergesNorRepeats(t *testing.T) { // C16
	a, b := twins()
	a.Files, b.Files = []File{edited("refund.ts", "1")}, []File{edited("refund.ts", "2")}
	for _, d := range []*Digest{a, b} {
		d.Base, d.Files[0].Hunks = "base", []Hunk{{OldStart: 3, OldLen: 1, NewLen: 1, Hash: uint64(len(d.Side.Ref) + int(d.Side.Ref[5]))}}
	}
	kinds := func() (all []Kind) {
		for _, f := range find(t, DefaultPolicy(), append(others(), a, b)...).Findings {
			all = append(all, f.Kind)
		}
		return all
	}
	if got := kinds(); !slices.Contains(got, TextualMerge) || !slices.Contains(got, DuplicateWork) {
		t.Fatalf("in two working copies: %v", got)
	}

	a.Side.Checkout, b.Side.Checkout = "one", "one"

	if got := kinds(); slices.Contains(got, TextualMerge) || slices.Contains(got, DuplicateWork) || !slices.Contains(got, PathOverlap) {
		t.Errorf("in one working copy: %v", got)
	}
}

func TestTheSameLinesInTheSameFilesAreADuplicate(t *testing.T) { // C16
	a, b := jordan(), maya()
	lines := func(from uint64, n int) (hunks []Hunk) {
		for i := range n {
			hunks = append(hunks, Hunk{OldStart: uint32(5 * i), OldLen: 1, NewLen: 1, Hash: from + uint64(i)})
		}
		return hunks
	}
	write := func(d *Digest, hunks []Hunk) {
		d.Files = []File{edited("guide.md", d.Side.Ref)}
		d.Files[0].Hunks = hunks
	}
	write(a, lines(1, 4))
	write(b, lines(2, 4))
	f := the(t, find(t, DefaultPolicy(), a, b), DuplicateWork)
	if !strings.Contains(f.Sentence, "they write the same lines there (60 %)") || !slices.Equal(f.About, []string{"guide.md"}) {
		t.Errorf("%+v", f)
	}
	write(b, lines(4, 4))
	none(t, find(t, DefaultPolicy(), a, b), DuplicateWork)
	write(a, lines(1, 1)) // one line, as of an import, and no word of why
	write(b, lines(1, 1))
	none(t, find(t, DefaultPolicy(), a, b), DuplicateWork)
}

func TestWhoStandsOnTheSameCommitsRepeatsNothing(t *testing.T) { // C16
	a, b := twins()
	for _, path := range []string{"x", "y", "z"} {
		a.Files, b.Files = append(a.Files, edited(path, "same")), append(b.Files, edited(path, "same"))
	}
	none(t, find(t, DefaultPolicy(), append(others(), a, b)...), DuplicateWork)
	b.Files[2].Blob = "other"
	the(t, find(t, DefaultPolicy(), append(others(), a, b)...), DuplicateWork)
}

func TestNewNamesInOtherWordsAreOne(t *testing.T) { // C16
	rules, err := NewRules(DefaultPolicy())
	if err != nil {
		t.Fatal(err)
	}
	names := func(all ...string) []newName {
		d := jordan()
		for _, name := range all {
			d.Symbols = append(d.Symbols, SymbolChange{Symbol: Symbol{ID: "sym:ts:a.ts#" + name}, Change: Added})
		}
		return rules.Party(d).newNames
	}
	got := alike(names("rateCache", "deleteIdleAccounts", "run", "total"), names("CachedRates", "purgeIdleAccount", "runs", "total"))
	if want := []string{"deleteIdleAccounts", "rateCache", "total"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestNamesInOtherWordsAreComparedUpToABound(t *testing.T) {
	list := func(first string) (all []newName) {
		for i := range 5000 {
			all = append(all, newName{fmt.Sprintf("n%s%05d", first, i), []string{"page", "sum"}})
		}
		return append(all, newName{"same", []string{"same"}})
	}
	got := alike(list("a"), list("b"))
	if len(got) != namesMax+1 || got[namesMax] != "same" {
		t.Errorf("%d names alike, the last %q, want %d and \"same\"", len(got), got[len(got)-1], namesMax+1)
	}
}

func TestOneMendInOtherWordsAndCodeIsADuplicate(t *testing.T) { // C16
	const refund = "sym:ts:refund.ts#issueRefund"
	mend := func() (a, b *Digest) {
		a, b = jordan(), maya()
		a.Side.Task, b.Side.Task = "Reject negative amounts when issuing a refund", "Refund of negative amount is refused with an error"
		a.Files, b.Files = []File{edited("refund.ts", "1")}, []File{edited("refund.ts", "2")}
		a.Symbols, b.Symbols = []SymbolChange{changed(Body, refund)}, []SymbolChange{changed(Body, refund)}
		a.Prints, b.Prints = Winnow(tokens(1, 200)), Winnow(tokens(2, 200))
		return a, b
	}
	a, b := mend()
	f := the(t, find(t, DefaultPolicy(), append(others(), a, b)...), DuplicateWork)
	if !strings.Contains(f.Sentence, "both change 1 symbol(s): "+refund) {
		t.Error(f.Sentence)
	}
	a, b = mend()
	b.Side.Task = "Refunds in several currencies"
	none(t, find(t, DefaultPolicy(), append(others(), a, b)...), DuplicateWork)
	a, b = mend()
	for _, other := range []string{"v", "w", "x", "y", "z"} {
		b.Symbols = append(b.Symbols, changed(Body, "sym:ts:refund.ts#"+other))
	}
	none(t, find(t, DefaultPolicy(), append(others(), a, b)...), DuplicateWork)
}
