package overlap

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/parley-mesh/parley/detect"
	"github.com/parley-mesh/parley/ledger"
)

func TestTimeIsSavedByWhatWasCaughtBeforeTheMergeAlone(t *testing.T) { // C15
	for _, one := range []struct {
		name string
		want int
		then func(w *world, a, b *pen, c Conflict)
	}{
		{"found", MinutesInfo, func(*world, *pen, *pen, Conflict) {}},
		{"resolved", MinutesInfo, func(w *world, a, b *pen, c Conflict) {
			w.settles(a, b)
			b.undoes(c.Sides[1].ID, "src/refund.ts")
		}},
		{"useful", MinutesInfo, func(_ *world, a, _ *pen, c Conflict) { a.person(c, ledger.ActUseful) }},
		{"overridden", 0, func(_ *world, a, _ *pen, c Conflict) { a.person(c, ledger.ActOverride) }},
		{"false", 0, func(_ *world, a, _ *pen, c Conflict) { a.person(c, ledger.ActFalsePositive) }},
		{"said to be false", 0, func(_ *world, a, _ *pen, c Conflict) { a.person(c, ledger.ActSaidFalse) }},
		{"too late", 0, func(_ *world, a, _ *pen, c Conflict) { a.person(c, ledger.ActTooLate) }},
	} {
		w, a, b, _, _ := overlapping(t)
		one.then(w, a, b, w.is(detect.PathOverlap, Open))
		if got, _ := w.f.Saved(); got != one.want {
			t.Errorf("%s: %d minutes, want %d", one.name, got, one.want)
		}
	}
}

func TestTimeSavedGrowsWithTheSeverity(t *testing.T) { // C15
	for severity, want := range map[detect.Severity]int{detect.Info: MinutesInfo, detect.Warn: MinutesWarn, detect.Block: MinutesBlock} {
		p := detect.DefaultPolicy()
		p.Severity[detect.PathOverlap] = severity
		w, _, _, _, _ := overlapping(t, p)
		if got, n := w.f.Saved(); got != want || n != 1 {
			t.Errorf("%s: %d minutes of %d conflicts, want %d", severity, got, n, want)
		}
	}
}

func TestTwoAgentsOfOneDeveloperSaveNoTime(t *testing.T) { // C15
	w := newWorld(t)
	a, b := w.computer("jordan", 1), w.computer("jordan", 2)
	x, y := a.session("claude_code", "one"), b.session("codex", "two")
	a.edits(x, "src/a.ts")
	b.edits(y, "src/a.ts")
	w.is(detect.PathOverlap, Open)
	if got, _ := w.f.Saved(); got != 0 {
		t.Errorf("%d minutes", got)
	}
}

func TestWhatIsFoundAfterTheMergeSavesNoTime(t *testing.T) { // C15
	for _, early := range []bool{true, false} {
		w, a, b, x, y := two(t)
		in := a.intent(x, "Partial refunds")
		breaks(a, b, in, y, detect.SignatureChanged)
		if early {
			w.settles(a, b)
		}
		a.closes(in, "Partial refunds", ledger.IntentMerged)
		w.settles(a, b)
		w.is(detect.ContractBreak, Open)
		if got, _ := w.f.Saved(); (got > 0) != early {
			t.Errorf("found before the merge %v: %d minutes", early, got)
		}
	}
}

// repeated makes n conflicts about one path each, between two developers.
func repeated(t *testing.T, n int, policy *detect.Policy) (w *world, a *pen, all []Conflict) {
	w = newWorld(t, policy)
	a = w.computer("jordan", 1)
	b := w.computer("maya", 1)
	for i := range n {
		x, y := a.session("claude_code", fmt.Sprint("a", i)), b.session("codex", fmt.Sprint("b", i))
		file := fmt.Sprintf("src/%d.ts", i)
		a.edits(x, file)
		b.edits(y, file)
	}
	return w, a, w.f.Conflicts()
}

func TestAKindThatIsOftenCalledFalseIsListedLaterAndNothingElse(t *testing.T) { // C12, D-25
	w, a, all := repeated(t, doubtfulFrom+1, detect.DefaultPolicy())
	for _, c := range all[:doubtfulFrom] {
		a.person(c, ledger.ActSaidFalse)
	}
	last, _ := w.f.Conflict(all[doubtfulFrom].ID)
	if want := "path_overlap was called a false positive 5 of 5 times"; last.Doubtful != want || last.Confidence != 90 || last.Severity != detect.Info {
		t.Errorf("%q, %+v", last.Doubtful, last)
	}
	w, a, all = repeated(t, doubtfulFrom+1, strict())
	for _, c := range all[:doubtfulFrom] {
		a.person(c, ledger.ActSaidFalse)
	}
	for _, c := range w.f.Conflicts() {
		if c.Doubtful != "" || !c.Blocking {
			t.Errorf("what blocks is doubted: %+v", c)
		}
	}
}

func TestDoubtfulConflictsStandBehindOthersOfTheirSeverity(t *testing.T) { // C12
	list := []Conflict{
		{ID: ledger.ID{1}, Status: Open, Severity: detect.Warn, Kind: detect.SymbolOverlap, Doubtful: "often"},
		{ID: ledger.ID{2}, Status: Resolved, Severity: detect.Block},
		{ID: ledger.ID{3}, Status: Open, Severity: detect.Info},
		{ID: ledger.ID{4}, Status: Resolving, Severity: detect.Warn, Kind: detect.DuplicateWork},
		{ID: ledger.ID{5}, Status: Acknowledged, Severity: detect.Block, Blocking: true},
	}
	slices.SortFunc(list, compareConflicts)
	var got []byte
	for _, c := range list {
		got = append(got, c.ID[0])
	}
	if want := []byte{5, 4, 1, 3, 2}; !slices.Equal(got, want) {
		t.Errorf("order %v, want %v", got, want)
	}
}

func TestBothSidesAreBriefedWeightiestFirstAndShortly(t *testing.T) { // C1, C17
	w, a, b, x, y := two(t, strict())
	for i := range 12 {
		other := b.session("codex", fmt.Sprint("more", i))
		file := fmt.Sprintf("lib/%d.ts", i)
		a.claims(x, path("lib/**"))
		b.claims(other, path(file))
	}
	a.edits(x, "src/refund.ts")
	b.edits(y, "src/refund.ts")
	b.say(shop, &ledger.Message{From: y, To: []ledger.ID{x}, Text: "I take the types."})
	for _, one := range []struct {
		side  ledger.ID
		first string
	}{{x, "blocks the other side"}, {y, "blocks you"}} {
		got := w.f.Briefing(one.side)
		if !strings.Contains(got.Facts[0].Text, one.first) || len(got.Facts) > BriefingMax {
			t.Errorf("briefing %+v", got.Facts)
		}
	}
	got := w.f.Briefing(x)
	if got.More == 0 || !slices.IsSortedFunc(got.Facts, func(a, b Fact) int { return a.Rank - b.Rank }) {
		t.Errorf("%d more, %+v", got.More, got.Facts)
	}
	if !slices.ContainsFunc(got.Facts, func(f Fact) bool { return strings.HasSuffix(f.Text, "writes: I take the types.") }) {
		t.Errorf("the message is not told: %+v", got.Facts)
	}
	if len(w.f.Briefing(ledger.ID{1}).Facts) != 0 {
		t.Error("somebody unknown is briefed")
	}
}

func TestAFactIsToldAnewOnlyWhenThereIsSomethingNew(t *testing.T) { // C17
	w, a, b, x, y := overlapping(t)
	key := func() string { return w.f.Briefing(y).Facts[0].Key }
	before := key()
	b.edits(y, "src/refund.ts")
	a.edits(x, "src/own.ts")
	w.settles(a, b)
	if key() != before {
		t.Error("a keystroke is told")
	}
	a.edits(x, "src/more.ts")
	b.edits(y, "src/more.ts")
	if key() == before {
		t.Error("another shared path is not told")
	}
}

func TestMessagesReachThoseTheyAreFor(t *testing.T) { // C17
	w, a, b, x, y := overlapping(t)
	third := w.computer("sam", 1).session("codex", "third")
	told := func(side ledger.ID, text string) bool {
		return slices.ContainsFunc(w.f.Briefing(side).Facts, func(f Fact) bool { return strings.Contains(f.Text, "writes: "+text) })
	}
	a.say(shop, &ledger.Message{From: x, Text: "to all near"})
	a.say(shop, &ledger.Message{From: x, To: []ledger.ID{third}, Text: "to the third"})
	b.say(shop, &ledger.Message{From: x, To: []ledger.ID{third}, Text: "a lie"})
	b.say(shop, &ledger.Message{Text: "from a person"})
	for _, one := range []struct {
		side ledger.ID
		text string
		want bool
	}{
		{y, "to all near", true},
		{third, "to all near", false},
		{x, "to all near", false},
		{third, "to the third", true},
		{y, "to the third", false},
		{third, "a lie", false},
		{x, "from a person", true},
	} {
		if got := told(one.side, one.text); got != one.want {
			s, _ := w.f.Side(one.side)
			t.Errorf("%s hears %q: %v", s.Ref, one.text, got)
		}
	}
	if n := len(w.f.Messages()); n != 3 {
		t.Errorf("%d messages", n)
	}
}

func TestNamesAreFoundByAnyClearPartAndAreNeverTakenForAnother(t *testing.T) { // C10
	w, _, _, x, _ := overlapping(t)
	c := w.is(detect.PathOverlap, Open)
	number := ledger.NameOf(c.ID)
	for _, name := range []string{c.Name, "CF-" + number, "cf-" + number[:5], "CF-" + number[:3], "CF-" + number[:1], number[:2]} {
		if got, err := w.f.ConflictNamed(name); err != nil || got.ID != c.ID {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, name := range []string{"", "CF-", "CF-" + number + "0", "INT-" + number, "CF-12a"} {
		if _, err := w.f.ConflictNamed(name); !errors.Is(err, ErrUnknown) {
			t.Errorf("%q: %v", name, err)
		}
	}
	if id, err := w.f.SideNamed("s-" + ledger.NameOf(x)[:6]); err != nil || id != x {
		t.Errorf("side: %v", err)
	}
	list := []numbered{{ledger.ID{1}, "123456789012345678"}, {ledger.ID{2}, "123456789099999999"}, {ledger.ID{3}, "900000000000000000"}}
	for _, name := range []string{"CF-1234", "CF-12", "CF-1", "1"} {
		_, err := find(name, "CF-", list)
		if !errors.Is(err, ErrAmbiguous) || !strings.HasSuffix(err.Error(), ": CF-12345678901, CF-12345678909") {
			t.Errorf("an ambiguous name: %v", err)
		}
	}
	many := list[:1:1]
	for n := range candidatesMax {
		many = append(many, numbered{ledger.ID{byte(n), 9}, fmt.Sprintf("1%d3456789012345678", n+2)})
	}
	if _, err := find("CF-1", "CF-", many); !strings.HasSuffix(err.Error(), " and 1 more") {
		t.Errorf("a name that many have: %v", err)
	}
	refs := map[ledger.ID]string{}
	shorten(refs, "CF-", list)
	if refs[ledger.ID{1}] != "CF-12345678901" || refs[ledger.ID{3}] != "CF-9000000" {
		t.Errorf("names %v", refs)
	}
}

func TestSidesWithOneBranchNameInTwoRepositoriesAreToldApart(t *testing.T) { // C6
	w := newWorld(t)
	a := w.computer("jordan", 1)
	for _, p := range []Place{shop, web} {
		a.say(p, &ledger.Branch{Name: "main", Head: testOID("h"), Base: testOID("b")})
	}
	var refs []string
	for _, s := range w.f.Sides() {
		refs = append(refs, s.Ref)
	}
	slices.Sort(refs)
	if !slices.Equal(refs, []string{"acme/shop:main", "acme/web:main"}) {
		t.Errorf("refs %v", refs)
	}
}
