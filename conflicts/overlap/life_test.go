package overlap

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/parley-mesh/parley/detect"
	"github.com/parley-mesh/parley/ledger"
)

var update = flag.Bool("update", false, "write testdata/actions.golden anew")

// overlapping is two sides with one path in common.
func overlapping(t *testing.T, policy ...*detect.Policy) (w *world, a, b *pen, x, y ledger.ID) {
	w, a, b, x, y = two(t, policy...)
	a.edits(x, "src/refund.ts")
	b.edits(y, "src/refund.ts")
	return w, a, b, x, y
}

// strict makes overlapping paths block.
func strict() *detect.Policy {
	p := detect.DefaultPolicy()
	p.Severity[detect.PathOverlap] = detect.Block
	return p
}

func TestAConflictIsFoundKeptAndClosedWhenTheOverlapGoes(t *testing.T) { // C1, C10
	w, a, b, x, y := two(t)
	a.edits(x, "src/refund.ts", "src/own.ts")
	w.none()
	b.edits(y, "src/refund.ts")
	c := w.is(detect.PathOverlap, Open)
	if c.Severity != detect.Info || c.Blocking || c.Confidence != 90 || len(c.About) != 1 || !strings.HasPrefix(c.Name, "CF-") {
		t.Errorf("found %+v", c)
	}
	if c.Sides[0].ID != x || c.Sides[1].ID != y {
		t.Errorf("sides %+v", c.Sides)
	}
	w.settles(a, b)
	b.undoes(y, "src/refund.ts")
	w.is(detect.PathOverlap, Resolved)
	w.settles(a, b)
	gone := w.is(detect.PathOverlap, Resolved)
	b.edits(y, "src/refund.ts")
	again := w.is(detect.PathOverlap, Open)
	if again.ID != c.ID || gone.Name != again.Name || again.Reopened != 1 {
		t.Errorf("it came back as %s, reopened %d times; it was %s", again.Name, again.Reopened, c.Name)
	}
}

func TestOnlyTheNewcomerIsBlocked(t *testing.T) { // C9
	w, _, _, x, y := overlapping(t, strict())
	c := w.is(detect.PathOverlap, Open)
	if !c.Blocking || c.Blocked != y {
		t.Fatalf("blocked %s", c.Blocked)
	}
	w.decides(y, Block, "src/refund.ts")
	w.decides(x, Warn, "src/refund.ts")
	w.decides(y, Allow, "src/else.ts")
	w.decides(y, Warn)
}

func TestNothingInferredBlocks(t *testing.T) { // C9
	p := detect.DefaultPolicy()
	p.Severity[detect.TextualMerge] = detect.Block
	w, a, b, x, y := two(t, p)
	a.changes(shop, x, "src/a.ts", detect.Delta{}, detect.Hunk{OldStart: 9, OldLen: 2, NewLen: 3, Hash: 1})
	b.changes(shop, y, "src/a.ts", detect.Delta{}, detect.Hunk{OldStart: 9, OldLen: 1, NewLen: 1, Hash: 2})
	if c := w.only(detect.TextualMerge); c.Blocking || c.Severity != detect.Warn {
		t.Errorf("%+v", c)
	}
	w.decides(y, Warn, "src/a.ts")
}

func TestAnEditThatWouldOverlapIsJudgedBeforeItHappens(t *testing.T) { // C9
	w, a, b, x, y := two(t, strict())
	a.edits(x, "src/refund.ts")
	d := w.decides(y, Block, "src/refund.ts")
	b.edits(y, "src/refund.ts")
	if c := w.is(detect.PathOverlap, Open); c.ID != d.Conflicts[0].ID || c.Name != d.Conflicts[0].Name {
		t.Errorf("%s became %s", d.Conflicts[0].Name, c.Name)
	}
}

func TestASideThatIsSilentIsIdleAndThenExpiresForAll(t *testing.T) { // C10
	w, a, b, x, y := overlapping(t)
	w.settles(a, b)
	w.wait(IdleAfter)
	for _, id := range []ledger.ID{x, y} {
		if s, _ := w.f.Side(id); s.Phase != Idle || s.Expires != start+ExpiresAfter {
			t.Errorf("%s is %s, expires %d", s.Ref, s.Phase, s.Expires)
		}
		if facts := w.f.Briefing(id).Facts; !slices.ContainsFunc(facts, func(f Fact) bool { return strings.Contains(f.Text, "is idle") }) {
			t.Errorf("it is not told: %+v", facts)
		}
	}
	a.edits(x, "src/own.ts")
	w.wait(ExpiresAfter - IdleAfter)
	w.is(detect.PathOverlap, Stale)
	w.settles(a, b)
	b.edits(y, "src/more.ts")
	w.is(detect.PathOverlap, Open)
}

func TestAnIntentWhoseSessionHasEndedBlocksNobodyAndExpiresSoon(t *testing.T) { // C2, C10
	w, a, b, x, y := two(t)
	in := a.intent(x, "Partial refunds")
	a.claims(in, exclusive("db/schema.prisma", 1))
	w.decides(y, Block, "db/schema.prisma")
	a.say(shop, &ledger.Session{First: x, State: ledger.SessionEnded, Checkout: [16]byte{1}})
	w.decides(y, Allow, "db/schema.prisma")
	if s, _ := w.f.Side(in); s.Phase != Working || s.Expires != w.now+IdleAfter {
		t.Errorf("it is %s and expires at %d, now is %d", s.Phase, s.Expires, w.now)
	}
	w.settles(a, b)
	w.wait(IdleAfter)
	if s, _ := w.f.Side(in); s.Phase != Expired {
		t.Errorf("later it is %s", s.Phase)
	}
	a.say(shop, &ledger.Session{First: x, State: ledger.SessionLive, Checkout: [16]byte{1}}) // it is resumed
	w.decides(y, Block, "db/schema.prisma")
	w.settles(a, b)
}

func TestNothingLivesLongerThanAWeek(t *testing.T) { // C10
	w, a, _, x, _ := two(t)
	for range 7*24/7 + 1 {
		w.wait(7 * 3600 * 1000)
		a.edits(x, "src/own.ts")
	}
	if s, _ := w.f.Side(x); s.Phase != Expired {
		t.Errorf("after a week and more it is %s", s.Phase)
	}
}

func TestAClockThatRunsAheadKeepsNothingAlive(t *testing.T) { // C10
	w, a, _, x, _ := two(t)
	w.now += 30 * 24 * 3600 * 1000
	r := a.sealed(shop, BackOf(x, "src/a.ts"))
	w.now = start
	w.f.Add(r, start)
	w.wait(ExpiresAfter)
	if s, _ := w.f.Side(x); s.Phase != Expired {
		t.Errorf("it is %s", s.Phase)
	}
}

func TestAClockThatIsSetBackBringsBackWhatHadExpired(t *testing.T) { // C10
	w, a, b, x, y := two(t)
	a.claims(x, exclusive("db/a.sql", 1))
	b.say(shop, &ledger.Attempt{Session: y, Paths: []ledger.Trying{{Path: "db/a.sql", Op: ledger.EditModify}}})
	w.is(detect.PathOverlap, Open)
	for _, ms := range []uint64{AttemptFor, ExpiresAfter} {
		w.f.Tick(start + ms)
		w.none()
		w.f.Tick(start)
		w.is(detect.PathOverlap, Open)
	}
}

func TestASessionsConflictsMoveToTheIntentAndKeepTheirNames(t *testing.T) { // C10
	w, _, b, _, y := overlapping(t)
	before := w.is(detect.PathOverlap, Open)
	b.acts(before, y, ledger.ActWillRebase, "Rebasing after it merges.")
	b.acts(before, y, ledger.ActFalsePositive, "")
	in := b.intent(y, "Refunds page")
	after := w.is(detect.PathOverlap, Resolving)
	if after.ID != before.ID || after.Name != before.Name || after.Sides[1].ID != in || len(after.Muted) != 1 || !after.MutedFor(after.Sides[1].Root) {
		t.Errorf("%+v", after)
	}
	second := b.intent(y, "Another task") // only the first takes the session's place
	b.edits(second, "src/refund.ts")
	if n := len(w.f.Conflicts()); n != 2 {
		t.Errorf("%d conflicts: %s", n, w.listing())
	}
	for _, c := range w.f.Conflicts() {
		if c.Sides[0].Session == y && c.Sides[1].Session == y {
			t.Error("an agent is in conflict with itself")
		}
	}
}

func TestWhatASessionDoesAfterItsIntentIsItsOwn(t *testing.T) { // C10
	w, a, b, x, y := two(t)
	in := b.intent(y, "Refunds page")
	b.edits(y, "src/refund.ts")
	b.closes(in, "Refunds page", ledger.IntentAbandoned)
	a.edits(x, "src/refund.ts", "src/later.ts")
	w.none()
	b.edits(y, "src/later.ts")
	if c := w.is(detect.PathOverlap, Open); c.Sides[1].ID != y {
		t.Errorf("sides %+v", c.Sides)
	}
}

func TestABrokenContractStaysOpenForTheDependentAfterTheMerge(t *testing.T) { // C10
	w, a, b, x, y := two(t)
	in := a.intent(x, "Partial refunds")
	breaks(a, b, in, y, detect.SignatureChanged)
	a.edits(in, "web/src/api/refunds.ts")
	before := w.is(detect.ContractBreak, Open)
	w.settles(a, b)
	a.closes(in, "Partial refunds", ledger.IntentMerged)
	w.settles(a, b)
	if c := w.is(detect.ContractBreak, Open); c.ID != before.ID {
		t.Error("it is another conflict")
	}
	w.is(detect.PathOverlap, Resolved)
	b.say(shop, &ledger.Session{First: y, State: ledger.SessionEnded, Checkout: [16]byte{1}})
	w.none()
}

func TestABrokenContractEndsWithTheMergeInOneCheckout(t *testing.T) { // C10
	w := newWorld(t)
	a := w.computer("jordan", 1)
	x, y := a.session("claude_code", "one"), a.session("codex", "one")
	in := a.say(shop, &ledger.Intent{Session: x, State: ledger.IntentLive, Task: "Partial refunds"})
	breaks(a, a, in, y, detect.SignatureChanged)
	w.is(detect.ContractBreak, Open)
	w.settles(a)
	a.say(shop, &ledger.Intent{First: in, Session: x, State: ledger.IntentMerged, Task: "Partial refunds"})
	w.is(detect.ContractBreak, Resolved)
}

func TestTheTableOfActionsAndStatuses(t *testing.T) { // C11, C12, C14
	var b strings.Builder
	b.WriteString("by      action             from           to\n")
	for _, by := range []string{"agent", "person"} {
		for action := ledger.ActAcknowledge; action <= ledger.ActTooLate; action++ {
			for _, from := range []Status{Open, Acknowledged, Resolving, Resolved, Stale, Overridden, FalsePositive} {
				w, pen, side := withStatus(t, from)
				c := w.only(detect.PathOverlap)
				act := &ledger.Act{Conflict: c.ID, Action: action, Evidence: c.Evidence, Person: by == "person"}
				if by == "agent" {
					act.Side = side
				}
				to := ""
				if err := w.f.Check(act, pen.device); err != nil {
					to = refusal(t, err)
				} else {
					pen.say(shop, act)
					to = string(w.only(detect.PathOverlap).Status)
				}
				word := WordOf(action)
				if rules[action].feedback {
					word += " (feedback)"
				}
				b.WriteString(pad(by, 8) + pad(word, 26) + pad(string(from), 15) + to + "\n")
			}
		}
	}
	golden := filepath.Join("testdata", "actions.golden")
	if *update {
		if err := os.WriteFile(golden, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if want, err := os.ReadFile(golden); err != nil || string(want) != b.String() {
		t.Errorf("%v, the table is now:\n%s", err, b.String())
	}
}

func pad(s string, n int) string { return s + strings.Repeat(" ", max(1, n-len(s))) }

func refusal(t *testing.T, err error) string {
	switch {
	case errors.Is(err, ErrClosed):
		return "409"
	case errors.Is(err, ErrPerson):
		return "a person's"
	}
	t.Fatal(err)
	return ""
}

// withStatus is a conflict of that status, and one of its sides.
func withStatus(t *testing.T, status Status) (*world, *pen, ledger.ID) {
	w, a, b, x, y := overlapping(t)
	w.settles(a, b)
	c := w.is(detect.PathOverlap, Open)
	switch status {
	case Acknowledged:
		a.acts(c, x, ledger.ActAcknowledge, "")
	case Resolving:
		a.acts(c, x, ledger.ActWillRebase, "")
	case Resolved:
		b.undoes(y, "src/refund.ts")
		w.settles(a, b)
	case Stale:
		w.wait(ExpiresAfter)
		w.settles(a, b)
	case Overridden:
		a.person(c, ledger.ActOverride)
	case FalsePositive:
		a.person(c, ledger.ActFalsePositive)
	}
	w.is(detect.PathOverlap, status)
	return w, a, x
}

func TestOnlyWhoTakesPartAndOwnersAndAdminsAct(t *testing.T) { // C11
	p := detect.DefaultPolicy()
	p.Members = []detect.Member{{User: "user:ada@acme.com", Role: "admin"}, {User: "user:jordan@acme.com", Role: "member"}, {User: "user:olga@acme.com", Role: "owner"}, {User: "user:sam@acme.com", Role: "member"}}
	w, a, b, x, y := overlapping(t, p)
	c := w.is(detect.PathOverlap, Open)
	agent := func(side ledger.ID) *ledger.Act {
		return &ledger.Act{Conflict: c.ID, Side: side, Action: ledger.ActAcknowledge}
	}
	person := func(action ledger.Action) *ledger.Act {
		return &ledger.Act{Conflict: c.ID, Action: action, Person: true, Evidence: c.Evidence}
	}
	sam := w.computer("sam", 1)
	other := sam.session("codex", "other")
	for _, one := range []struct {
		name string
		by   *pen
		act  *ledger.Act
		want error
	}{
		{"a side", a, agent(x), nil},
		{"the other side", b, agent(y), nil},
		{"for the other side", a, agent(y), ErrNoRight},
		{"a session that takes no part", sam, agent(other), ErrNoRight},
		{"a member", sam, person(ledger.ActAcknowledge), ErrNoRight},
		{"a side's developer", a, person(ledger.ActAcknowledge), nil},
		{"an admin", w.computer("ada", 1), person(ledger.ActAcknowledge), nil},
		{"an owner", w.computer("olga", 1), person(ledger.ActFalsePositive), nil},
		{"an admin overrides", w.computer("ada", 2), person(ledger.ActOverride), nil},
		{"a member overrides", a, person(ledger.ActOverride), ErrNoRight},
		{"a conflict that is none", a, &ledger.Act{Conflict: ledger.ID{1}, Side: x, Action: ledger.ActAcknowledge}, ErrUnknown},
	} {
		if err := w.f.Check(one.act, one.by.device); !errors.Is(err, one.want) {
			t.Errorf("%s: %v, want %v", one.name, err, one.want)
		}
		if one.want == ErrNoRight { // what is written all the same counts for nothing
			one.by.say(shop, one.act)
			w.is(detect.PathOverlap, Open)
		}
	}
}

func TestWhatIsSaidOfAClosedConflictAllTheSameCountsForNothing(t *testing.T) { // C11
	for _, status := range []Status{Overridden, FalsePositive} {
		w, p, side := withStatus(t, status)
		c := w.is(detect.PathOverlap, status)
		for _, action := range []ledger.Action{ledger.ActAcknowledge, ledger.ActWillRebase, ledger.ActResolve} {
			p.say(shop, &ledger.Act{Conflict: c.ID, Side: side, Action: action, Evidence: c.Evidence})
			w.is(detect.PathOverlap, status)
		}
	}
}

func TestAnAgentsFalsePositiveMutesItsOwnSideAlone(t *testing.T) { // C12
	w, a, b, x, y := overlapping(t, strict())
	c := w.is(detect.PathOverlap, Open)
	b.acts(c, y, ledger.ActFalsePositive, "generated")
	w.is(detect.PathOverlap, Open)
	w.decides(y, Allow, "src/refund.ts")
	w.decides(x, Warn, "src/refund.ts")
	if facts := w.f.Briefing(y).Facts; len(facts) != 0 {
		t.Errorf("the muted side is told %+v", facts)
	}
	if len(w.f.Briefing(x).Facts) == 0 {
		t.Error("the other side is not told")
	}
	a.acts(c, x, ledger.ActFalsePositive, "")
	w.is(detect.PathOverlap, FalsePositive)
	w.settles(a, b)
	b.undoes(y, "src/refund.ts")
	w.settles(a, b)
	b.edits(y, "src/refund.ts")
	w.is(detect.PathOverlap, FalsePositive)
}

func TestOneMuteIsEnoughBetweenTwoAgentsOfOneDeveloper(t *testing.T) { // C12
	w := newWorld(t)
	a, b := w.computer("jordan", 1), w.computer("jordan", 2)
	x, y := a.session("claude_code", "one"), b.session("codex", "two")
	a.edits(x, "src/a.ts")
	b.edits(y, "src/a.ts")
	a.acts(w.is(detect.PathOverlap, Open), x, ledger.ActFalsePositive, "")
	w.is(detect.PathOverlap, FalsePositive)
}

func TestNoAgentsWordOpensAProtectedPath(t *testing.T) { // C8, C12, D-25
	for _, action := range []ledger.Action{ledger.ActFalsePositive, ledger.ActResolve} {
		w, a, _, x, _ := two(t, protecting("user:diego@acme.com"))
		a.edits(x, "db/migrations/1.sql")
		a.acts(w.is(detect.ProtectedPath, Open), x, action, "")
		if c := w.only(detect.ProtectedPath); !c.Status.Live() || !c.Blocking {
			t.Errorf("after %s: %s", WordOf(action), c.Status)
		}
		w.decides(x, Block, "db/migrations/1.sql")
	}
}

func TestAnOverrideHoldsAsLongAsTheEvidence(t *testing.T) { // C14
	w, a, b, x, y := overlapping(t, strict())
	c := w.is(detect.PathOverlap, Open)
	b.acts(c, y, ledger.ActRequestOverride, "")
	if c := w.is(detect.PathOverlap, Open); !c.Asked {
		t.Error("nobody is asked")
	}
	facts := w.f.Briefing(x).Facts
	if !slices.ContainsFunc(facts, func(f Fact) bool { return strings.Contains(f.Text, OverrideMessage(c.Name)) }) {
		t.Errorf("the other side is told %+v", facts)
	}
	a.person(c, ledger.ActOverride)
	w.is(detect.PathOverlap, Overridden)
	w.decides(y, Allow, "src/refund.ts")
	b.edits(y, "src/refund.ts") // a keystroke
	w.is(detect.PathOverlap, Overridden)
	w.settles(a, b)
	w.decides(y, Allow, "src/refund.ts")
	a.edits(x, "src/more.ts")
	w.decides(y, Block, "src/more.ts")
	b.edits(y, "src/more.ts")
	if c := w.is(detect.PathOverlap, Open); c.Reopened != 1 || !c.Blocking {
		t.Errorf("%+v", c)
	}
	w.settles(a, b)
	a.person(w.only(detect.PathOverlap), ledger.ActOverride)
	w.is(detect.PathOverlap, Overridden)
}

func TestWhatWasDoneAboutABlockStandsOnceTheBlockIsGone(t *testing.T) { // C10, C14: the audit log
	w, a, b, x, _ := two(t, protecting("user:maya@acme.com"))
	a.say(shop, &ledger.Attempt{Session: x, Paths: []ledger.Trying{{Path: "db/migrations/1.sql", Op: ledger.EditModify}}})
	c := w.is(detect.ProtectedPath, Open)
	a.acts(c, x, ledger.ActResolve, "")
	w.settles(a, b)
	a.acts(c, x, ledger.ActRequestOverride, "")
	b.person(c, ledger.ActOverride)
	a.say(shop, &ledger.Attempt{Session: x})
	w.settles(a, b)
	if c := w.is(detect.ProtectedPath, Overridden); len(c.Acts) != 3 {
		t.Errorf("of three acts %d are told: %+v", len(c.Acts), c.Acts)
	}
}

func TestAnOverriddenProtectedPathStaysOpenForItsEdits(t *testing.T) { // C8, C14
	w, a, b, x, _ := two(t, protecting("user:maya@acme.com"))
	a.say(shop, &ledger.Attempt{Session: x, Paths: []ledger.Trying{{Path: "db/migrations/1.sql", Op: ledger.EditModify}}})
	c := w.is(detect.ProtectedPath, Open)
	if err := w.f.Check(&ledger.Act{Conflict: c.ID, Action: ledger.ActOverride, Person: true, Evidence: c.Evidence}, a.device); !errors.Is(err, ErrNoRight) {
		t.Errorf("who is no owner overrides: %v", err)
	}
	b.person(c, ledger.ActOverride)
	w.decides(x, Allow, "db/migrations/1.sql")
	a.edits(x, "db/migrations/1.sql")
	w.decides(x, Allow, "db/migrations/1.sql")
	w.decides(x, Block, "db/migrations/2.sql")
	a.say(shop, EditOf(x, &detect.File{Path: "db/migrations/1.sql", Op: detect.Delete, BaseBlob: testOID("b").String(), BaseMode: 0o100644}, &detect.Delta{}, nil, 7000))
	if c := w.only(detect.ProtectedPath); c.Status != Open {
		t.Errorf("it is deleted, and the conflict is %s", c.Status)
	}
}

func TestResolvingByWordClosesWhatDoesNotBlock(t *testing.T) { // C11
	w, a, b, x, y := overlapping(t)
	a.acts(w.is(detect.PathOverlap, Open), x, ledger.ActResolve, "agreed on an order")
	w.is(detect.PathOverlap, Resolved)
	w.settles(a, b)
	w.is(detect.PathOverlap, Resolved)
	a.edits(x, "src/more.ts")
	b.edits(y, "src/more.ts")
	w.is(detect.PathOverlap, Open)
	w, a, b, _, y = overlapping(t, strict())
	b.acts(w.is(detect.PathOverlap, Open), y, ledger.ActResolve, "")
	w.settles(a, b)
	w.is(detect.PathOverlap, Resolving)
	w.decides(y, Block, "src/refund.ts")
}
