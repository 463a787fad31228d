package thread

import (
	"slices"
	"testing"

	"github.com/parley-mesh/parley/ledger"
)

// spineOf is the records of a thread's spine.
func (w *world) spineOf(s *State) (out []*ledger.Record) {
	for _, id := range s.Spine {
		i := slices.IndexFunc(w.records, func(r *ledger.Record) bool { return r.ID == id })
		out = append(out, w.records[i])
	}
	return out
}

func TestATombIsTheWholeSpineOfAClosedThread(t *testing.T) { // P24
	w := newWorld(t)
	s := w.published()
	tomb := w.spineOf(&s)
	if s.Phase != Closed || len(tomb) < 3 {
		t.Fatalf("phase %v, spine of %d", s.Phase, len(tomb))
	}
	alone := FoldGrave(tomb, w.rosters())
	if alone.Phase != Closed || alone.ClosedWhy != s.ClosedWhy || !slices.Equal(alone.Spine, s.Spine) || alone.Final == nil {
		t.Errorf("without leaves it says %v, %v", alone.Phase, alone.Spine)
	}
	for name, held := range map[string][]*ledger.Record{
		"by who has nothing": nil, "by who has all": w.records, "by who was away": w.records[:2], "by who has it alone": tomb,
	} {
		if !Buries(tomb, held, w.rosters()) {
			t.Errorf("it is not taken %s", name)
		}
	}

	middle := slices.Delete(slices.Clone(tomb), 1, 2)
	for name, false_ := range map[string][]*ledger.Record{
		"without its end": tomb[:len(tomb)-1], "without its open": tomb[1:], "with a gap": middle, "of nothing": nil,
		"with a leaf": append(slices.Clone(tomb), w.records[slices.IndexFunc(w.records, func(r *ledger.Record) bool { return !r.Kind.Spine() })]),
	} {
		if Buries(false_, nil, w.rosters()) {
			t.Errorf("one %s is taken", name)
		}
	}
}

func TestATombIsNotTakenWhereAnotherSpineIsKnown(t *testing.T) { // P24
	w := newWorld(t)
	s := w.published()
	tomb := w.spineOf(&s)
	third := w.people[2]
	forged := w.say(third, ledger.Header{Ledger: s.Ledger, Open: s.Root.ID, Spine: s.Root.ID, Claim: w.main.claim}, &ledger.Closed{Why: ledger.ClosedPerson})
	if Buries([]*ledger.Record{s.Root, forged}, nil, w.rosters()) {
		t.Error("who has no claim buries a thread")
	}
	w.claims(third)
	w.say(third, ledger.Header{Ledger: s.Ledger, Open: s.Root.ID, Spine: s.Root.ID, Claim: third.claim}, &ledger.Interim{Why: ledger.InterimDecided})

	if Buries(tomb, w.records, w.rosters()) {
		t.Error("a spine of a later term is forgotten")
	}
}
