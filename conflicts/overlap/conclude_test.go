package overlap

import (
	"slices"
	"testing"

	"github.com/parley-mesh/parley/ledger"
)

func TestAConflictShowsItsSidesAsTheyAreNow(t *testing.T) {
	w := newWorld(t)
	a, b := w.computer("jordan", 1), w.computer("maya", 2)
	x, y := a.session("codex", "one"), b.session("codex", "two")
	a.edits(x, "src/a.ts")
	b.edits(y, "src/a.ts")
	last := func() (at uint64) {
		for _, s := range w.f.Conflicts()[0].Sides {
			if s.ID == x {
				at = s.Last
			}
		}
		return at
	}
	before := last()
	w.wait(minute)
	a.say(shop, &ledger.Attempt{Session: x}) // it waits for nothing: nothing changes but that it is alive
	if now := last(); now != before+minute {
		t.Errorf("its side was last heard %d ms after it was", int64(now)-int64(before))
	}
}

func TestWhatIsOverIsListedOnceItsSidesAreKnown(t *testing.T) { // C10
	w := newWorld(t)
	a, other, b := w.computer("jordan", 1), w.computer("jordan", 3), w.computer("maya", 2)
	first := a.sealed(shop, &ledger.Session{State: ledger.SessionLive, Agent: "codex", Branch: "one", Checkout: [16]byte{1}, Base: testOID("base"), Grammars: "g"})
	x, y := first.ID, b.session("codex", "two")
	sides := []ledger.ID{x, y}
	slices.SortFunc(sides, func(a, b ledger.ID) int { return slices.Compare(a[:], b[:]) })
	id := ledger.ConflictID(shop.Host, shop.Repo, "path_overlap", sides, nil)
	for _, state := range []uint64{ledger.FoundHere, ledger.FoundGone} {
		other.say(shop, &ledger.Found{Conflict: id, Sort: "path_overlap", State: state, Sides: sides, About: []string{"src/a.ts"}, Severity: 1})
	}
	if n := len(w.f.Conflicts()); n > 0 {
		t.Fatalf("%d conflicts before their side is known", n)
	}
	w.f.Add(first, w.now)
	if all := w.f.Conflicts(); len(all) != 1 || all[0].Status != Resolved {
		t.Errorf("what is over is told as %+v", all)
	}
}
