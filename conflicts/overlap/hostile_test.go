package overlap

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/parley-mesh/parley/detect"
	"github.com/parley-mesh/parley/ledger"
)

// Two computers of another developer write whatever they like, in the place of whatever they like.
func TestNothingThatALaneSaysIsADangerToTheFold(t *testing.T) { // L5, C1
	rapid.Check(t, func(rt *rapid.T) {
		w, a, b, x, _ := two(t)
		a.say(shop, &ledger.Branch{Name: "feat/x", Base: testOID("b"), Head: testOID("h")})
		a.intent(x, "refund in parts")
		sams := []*pen{w.computer("sam", 1), w.computer("sam", 2)}
		s := newShared(w, w.f.repos[shop].Rules, "sam", ledger.NamesKey{})
		w.f.SetShares(s.shares(w, sams[0]))
		s.f = w.f
		ids := []ledger.ID{x, ledger.BranchSide(shop.Host, shop.Repo, "feat/x"), {1}, {2}, {3}}
		id := func(what string) ledger.ID { return ids[rapid.IntRange(0, len(ids)-1).Draw(rt, what)] }
		maybe := func(what string) (none ledger.ID) {
			if rapid.Bool().Draw(rt, what+" none") {
				return none
			}
			return id(what)
		}
		for range rapid.IntRange(1, 12).Draw(rt, "records") {
			var body ledger.Body
			switch rapid.IntRange(0, 5).Draw(rt, "kind") {
			case 0:
				body = &ledger.Session{First: maybe("first"), State: ledger.SessionLive, Agent: "codex", Checkout: [16]byte{1}}
			case 1:
				body = &ledger.Intent{First: maybe("first"), Session: maybe("session"), State: ledger.IntentLive, Task: "a task"}
			case 2:
				body = &ledger.Branch{Name: "feat/x", Base: testOID("b"), Head: testOID("h")}
			case 3:
				body = ClaimOf(id("holder"), []detect.Claim{exclusive("src/a.ts", 1)})
			case 4:
				body = BackOf(id("holder"), "src/a.ts")
			default:
				body = &ledger.Attempt{Session: id("session"), Paths: []ledger.Trying{{Path: "src/a.ts", Op: ledger.EditModify}}}
			}
			p := sams[rapid.IntRange(0, 1).Draw(rt, "computer")]
			s.writes(p, ledger.Place{Lam: rapid.Uint64Range(1, 9).Draw(rt, "lam"), ID: id("for")}, w.now, body)
			if rapid.Bool().Draw(rt, "settle") {
				w.f.Settle()
			}
		}
		if got, want := everything(s.again(rt, w, sams[0])), everything(w.f); got != want {
			rt.Fatalf("in another order\n%s\nand\n%s", want, got)
		}
		w.f.Due(b.device)
		w.f.Decide(x, about("src/a.ts"))
	})
}

// The beginning that counts is the one that is lower, not the one that came first.
func TestAnIntentThatTurnsOutToBeOfNoSessionLeavesIt(t *testing.T) { // L5, C10
	for _, session := range []ledger.ID{{2}, {7}} { // one that is known, one that is not
		w, _, b, _, y := two(t)
		sam := w.computer("sam", 1)
		s := newShared(w, w.f.repos[shop].Rules, "sam", ledger.NamesKey{})
		s.f = w.f
		w.f.SetShares(s.shares(w, sam))
		b.edits(y, "src/a.ts")
		say := func(lam uint64, id byte, body ledger.Body) {
			s.writes(sam, ledger.Place{Lam: lam, ID: ledger.ID{id}}, w.now, body)
		}
		say(5, 2, &ledger.Session{State: ledger.SessionLive, Agent: "codex", Checkout: [16]byte{1}})
		for _, intent := range []byte{3, 4} {
			say(7, intent, &ledger.Intent{Session: session, State: ledger.IntentLive, Task: "a task"})
			say(8, intent, ClaimOf(ledger.ID{intent}, []detect.Claim{exclusive("src/a.ts", 1)}))
		}
		before := everything(w.f)
		say(1, 3, &ledger.Intent{State: ledger.IntentLive, Task: "a task"})
		got := everything(w.f)
		if want := everything(s.again(t, w, sam)); got == before || got != want {
			t.Errorf("first\n%s\nin steps\n%s\nand at once\n%s", before, got, want)
		}
	}
}

func (s *shared) shares(w *world, of *pen) map[ledger.ID]Share {
	return map[ledger.ID]Share{s.on: {Fleet: w.people[of.device].Fleet}}
}

// again is a fold that gets everything in the opposite order, what was said at home last.
func (s *shared) again(t interface{ Fatal(...any) }, w *world, from *pen) *Fold {
	again := New(Repo{shop, "acme/shop", w.f.repos[shop].Rules}, Repo{web, "acme/web", w.f.repos[web].Rules})
	again.SetPeople(w.people)
	again.SetShares(s.shares(w, from))
	for _, wire := range slices.Backward(s.wires) {
		r, err := ledger.Parse(wire)
		if err != nil {
			t.Fatal(err)
		}
		again.Add(r, w.now)
	}
	for _, r := range slices.Backward(w.records) {
		again.Add(r, w.now)
	}
	again.Tick(w.now)
	return again
}

func TestARenameThatEmptiesAFolderIsToldWithHiddenNames(t *testing.T) { // D-26
	w, a, _, x, _ := two(t)
	s := newShared(w, w.f.repos[shop].Rules, "jordan", ledger.NamesKey{5})
	body := &ledger.Edit{Holder: x, Path: "d/x", Op: ledger.EditRename, From: "a/b/x", Emptied: 2}
	s.writes(a, ledger.Place{Lam: 3, ID: ledger.ID{3}}, w.now, body) // it fails where it cannot be sealed
	if len(s.wires) != 1 || body.Emptied != 2 {
		t.Errorf("%d records; at home it says %d folders", len(s.wires), body.Emptied)
	}
}

// One hides names and holds a glob; both edit one file, the other one also one that only the glob would show.
func TestTwoEndsThatSeeDifferentThingsDoNotAnswerEachOtherForEver(t *testing.T) { // C10, D-26
	w, a, b, x, y := two(t)
	s := newShared(w, w.f.repos[shop].Rules, "jordan", ledger.NamesKey{5})
	done := 0
	mirror := func() {
		for ; done < len(w.records); done++ {
			if r := w.records[done]; r.Device == a.device {
				s.writes(a, r.Place(), r.At, r.Content, r.Re...)
			} else {
				s.f.Add(r, w.now)
			}
		}
	}
	a.claims(x, path("src/**"))
	a.edits(x, "src/refund.ts")
	b.edits(y, "src/refund.ts", "src/other.ts")
	mirror()
	if here, there := w.only(detect.PathOverlap), s.f.Conflicts(); len(there) == 0 || slices.Equal(here.About, there[0].About) {
		t.Fatalf("both see %v: the story does not differ", here.About)
	}
	for round := 0; ; round++ {
		said := 0
		for _, body := range s.f.Due(b.device) {
			b.say(shop, body)
			said++
		}
		for _, body := range w.f.Due(a.device) {
			a.say(shop, body)
			said++
		}
		mirror()
		if said == 0 {
			return
		}
		if round > 5 {
			t.Fatal("they go on and on")
		}
	}
}

func TestAnEditThatWouldBringAConflictBackIsSeenBefore(t *testing.T) { // C9, C10
	p := detect.DefaultPolicy()
	p.Severity[detect.PathOverlap] = detect.Block
	w, a, b, x, y := two(t, p)
	a.edits(x, "src/a.ts")
	b.edits(y, "src/a.ts")
	w.is(detect.PathOverlap, Open)
	w.settles(a, b)
	b.undoes(y, "src/a.ts")
	w.settles(a, b)
	w.is(detect.PathOverlap, Resolved)
	w.decides(y, Block, "src/a.ts")
}
