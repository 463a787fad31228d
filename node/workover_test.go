package node

import (
	"slices"
	"strings"
	"testing"

	"github.com/parley-mesh/parley/conflicts/overlap"
	"github.com/parley-mesh/parley/ledger"
	"github.com/parley-mesh/parley/mesh"
	"github.com/parley-mesh/parley/node/api"
)

func TestAConflictThatIsOverSaysWhatItWas(t *testing.T) { // C10
	c := lone(t, map[string]string{"billing/refund.go": changed("errOne")})
	g := &guest{c: c, id: mesh.NewIdentity([32]byte{200})}
	g.session = g.say(t, &ledger.Session{State: ledger.SessionLive, Agent: "codex", Checkout: [16]byte{1}}).ID
	g.edits(t, "billing/refund.go", "")
	found := named(t, c, "the two conflict", func(x api.Conflict) bool { return x.Kind == "path_overlap" })
	ring(c.live.news)
	eventually(t, "it is written down", func() bool {
		due := 0
		c.live.locked(func() { due = len(c.live.fold.Due(c.id.Device())) })
		return due == 0
	})
	g.say(t, overlap.BackOf(g.session, "billing/refund.go"))
	ring(c.live.news)
	var e api.Explanation
	eventually(t, "it is over", func() bool {
		var err error
		e, err = c.live.ExplainConflict(t.Context(), found.Ref)
		return err == nil && e.Status == "resolved"
	})
	if !strings.HasSuffix(e.Sentence, ": path_overlap about billing/refund.go. It is over.") || !slices.Equal(e.Why, []string{"it is over, and what it rested on is not kept"}) {
		t.Errorf("it says %q, because %q", e.Sentence, e.Why)
	}
	c.live.mu.Lock()
	defer c.live.mu.Unlock()
	if text := wasAbout(&api.Conflict{Kind: "dependency_order", Sides: []api.ConflictSide{{Ref: "INT-1"}}}); text != "INT-1: dependency_order. It is over." {
		t.Error(text)
	}
}

func TestWhatSeveralComputersFoundIsToldOnce(t *testing.T) { // C12
	id := ledger.ID{1}
	at := func(lam uint64, state uint64, severity uint64) turn {
		return turn{&ledger.Found{Conflict: id, State: state, Severity: severity}, ledger.ID{byte(lam)}, lam, lam}
	}
	here, gone := uint64(ledger.FoundHere), uint64(ledger.FoundGone)
	l := &live{turns: map[ledger.ID][]turn{id: {at(1, here, 2), at(2, here, 2), at(3, here, 3), at(4, gone, 3), at(5, gone, 3), at(6, here, 3)}}}
	var got []uint64
	for _, t := range l.turnsOf(id) {
		got = append(got, t.lam)
	}
	if want := []uint64{1, 3, 4, 6}; !slices.Equal(got, want) || len(l.turns[id]) != 6 {
		t.Errorf("%v, want %v", got, want)
	}
}
