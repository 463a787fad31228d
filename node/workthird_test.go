package node

import (
	"bytes"
	"slices"
	"testing"

	"github.com/parley-mesh/parley/conflicts/overlap"
	"github.com/parley-mesh/parley/ledger"
)

// adds folds what another developer says under a statement.
func (p *paired) adds(by *pen, on ledger.ID, first byte, body ledger.Body) ledger.ID {
	p.t.Helper()
	scope := ledger.Scope{Host: "github.com", Repo: laneRepo, Period: thisWeek()}
	h := ledger.Header{Ledger: scope.Shared(on), For: ledger.Place{Lam: uint64(first), ID: ledger.ID{first}}}
	if by.heads[h.Ledger].Next == 0 {
		h.Scope, h.Share = scope, on
	}
	head, now := by.heads[h.Ledger], uint64(p.wall().UnixMilli())
	h.Inc, h.Seq, h.Prev, h.Lam, h.At = ledger.Incarnation{1}, head.Next, head.ID, head.Lam+1, now
	r, err := ledger.Seal(by.id.Key(), h, body)
	if err != nil {
		p.t.Fatal(err)
	}
	head.Chain = r.Chain()
	by.heads[h.Ledger] = head.After(r)
	p.live.fold.Add(r, now)
	p.live.fold.Tick(now)
	p.live.fold.Settle()
	return r.Place().ID
}

// conflictOn is the conflict about a path.
func (p *paired) conflictOn(path string) ledger.ID {
	p.t.Helper()
	p.live.fold.Settle()
	all := p.live.fold.Conflicts()
	for _, c := range all {
		if slices.Contains(c.About, "sym:go:"+path+"#Refund") || slices.Contains(c.About, path) {
			return c.ID
		}
	}
	p.t.Fatalf("no conflict about %s in %+v, of the sides %+v", path, all, p.live.fold.Sides())
	return ledger.ID{}
}

func TestALaneHearsNothingOfAThirdDeveloper(t *testing.T) { // D-26, L1
	p, r := working(t)
	ada := newPen(3)
	p.found(ada)
	third, adas := p.fleets[ada], ledger.ID{5}
	hers := p.switches(p.maya, &ledger.LaneOn{Repos: laneAt, Live: laneAt})
	p.switches(p.kim, &ledger.LaneOn{Repos: laneAt})
	head, base := mustOID(t, oidText("h")), mustOID(t, oidText("b"))
	p.saysWork(r, &ledger.Branch{Name: "feat/before", Head: head, Base: base, Of: third})
	p.switches(p.kim, &ledger.LaneOn{Repos: laneAt, Live: laneAt})
	p.saysWork(r, &ledger.Branch{Name: "feat/after", Head: head, Base: base, Of: third})
	nobody := p.saysWork(r, &ledger.Branch{Name: "feat/nobody", Head: head, Base: base})
	p.live.fold.SetPeople(map[ledger.Device]overlap.Person{
		p.kim.device(): {Fleet: p.fleet, Own: true}, p.maya.device(): {Fleet: p.hers}, ada.device(): {Fleet: third},
	})
	p.live.fold.SetShares(map[ledger.ID]overlap.Share{hers: {Fleet: p.hers}, adas: {Fleet: third}})
	s := p.saysWork(r, &ledger.Session{State: ledger.SessionLive, Agent: "codex", Checkout: [16]byte{1}})
	p.saysWork(r, editOf(s, "a/ada.go", "own"))
	p.saysWork(r, editOf(s, "b/maya.go", "own"))
	there := &ledger.Session{State: ledger.SessionLive, Agent: "claude", Checkout: [16]byte{1}}
	maya, her := p.adds(p.maya, hers, 11, there), p.adds(ada, adas, 12, there)
	p.adds(p.maya, hers, 13, editOf(maya, "b/maya.go", "hers"))
	p.adds(ada, adas, 14, editOf(her, "a/ada.go", "hers"))
	withAda, withMaya := p.conflictOn("a/ada.go"), p.conflictOn("b/maya.go")
	found := func(c ledger.ID, about string, sides ...ledger.ID) *ledger.Found {
		return &ledger.Found{Conflict: c, Sort: "path_overlap", State: ledger.FoundHere, Sides: sides, About: []string{about}, Severity: 1}
	}
	for _, body := range []ledger.Body{
		found(withAda, "found with ada", s, her), found(ledger.ID{8}, "found with ada by another name", s, her), found(withAda, "gone with ada", s, ledger.ID{9}),
		found(withMaya, "found with maya", s, maya), found(ledger.ID{7}, "found with nobody", s, nobody),
		&ledger.Act{Conflict: withAda, Side: s, Action: ledger.ActRequestOverride, Note: "asked because of ada"},
		&ledger.Act{Conflict: withMaya, Side: s, Action: ledger.ActRequestOverride, Note: "asked because of maya"},
	} {
		p.saysWork(r, body)
	}
	for text, want := range map[string]bool{
		"feat/before": true, "feat/after": true, string(third[:]): false, string(her[:]): false,
		"found with ada": false, "gone with ada": false, "found with maya": true, "found with nobody": true,
		"because of ada": false, "because of maya": true,
	} {
		if got := p.crossesText(text); got != want {
			t.Errorf("%q crosses: %v", text, got)
		}
	}
}

// ascending are ids as records list them.
func ascending(ids ...ledger.ID) []ledger.ID {
	slices.SortFunc(ids, func(a, b ledger.ID) int { return bytes.Compare(a[:], b[:]) })
	return ids
}

// One of them is told what is for both, and a task that depends on both: it names the sides of its own lane alone.
func TestALaneIsNotToldWhoElseIsMeant(t *testing.T) { // D-26, C17, L1
	p, r := working(t)
	ada := newPen(3)
	p.found(ada)
	third, adas := p.fleets[ada], ledger.ID{5}
	hers := p.switches(p.maya, &ledger.LaneOn{Repos: laneAt, Live: laneAt})
	p.switches(p.kim, &ledger.LaneOn{Repos: laneAt})
	s := p.saysWork(r, &ledger.Session{State: ledger.SessionLive, Agent: "codex", Checkout: [16]byte{1}})
	own := p.saysWork(r, &ledger.Intent{Session: s, State: ledger.IntentLive, Task: "what the other rests on"})
	p.live.fold.SetPeople(map[ledger.Device]overlap.Person{
		p.kim.device(): {Fleet: p.fleet, Own: true}, p.maya.device(): {Fleet: p.hers}, ada.device(): {Fleet: third},
	})
	p.live.fold.SetShares(map[ledger.ID]overlap.Share{hers: {Fleet: p.hers}, adas: {Fleet: third}})
	there := &ledger.Session{State: ledger.SessionLive, Agent: "claude", Checkout: [16]byte{1}}
	maya, her := p.adds(p.maya, hers, 11, there), p.adds(ada, adas, 12, there)
	from, fromHer := p.adds(p.maya, hers, 13, &ledger.Message{From: maya, Text: "hers"}), p.adds(ada, adas, 14, &ledger.Message{From: her, Text: "adas"})
	rests := func(task string) {
		p.saysWork(r, &ledger.Intent{Session: s, State: ledger.IntentLive, Task: task, Depends: ascending(maya, her, own)})
	}
	rests("depends, from before the switch")
	p.switches(p.kim, &ledger.LaneOn{Repos: laneAt, Live: laneAt})
	p.live.fold.SetPeople(map[ledger.Device]overlap.Person{
		p.kim.device(): {Fleet: p.fleet, Own: true}, p.maya.device(): {Fleet: p.hers}, ada.device(): {Fleet: third},
	})
	p.live.fold.SetShares(map[ledger.ID]overlap.Share{hers: {Fleet: p.hers}, adas: {Fleet: third}})
	p.live.fold.Settle()
	rests("depends, from after the switch")
	answer := func(text string, to []ledger.ID, re ...ledger.ID) ledger.ID {
		p.live.mu.Lock()
		record, err := p.live.write(r, &ledger.Message{From: s, To: to, Text: text}, re...)
		p.live.mu.Unlock()
		if err != nil {
			t.Fatal(err)
		}
		p.stores()
		return record.ID
	}
	secret := answer("for ada", []ledger.ID{her})
	both := answer("for both", ascending(maya, her), from, fromHer, secret)
	answer("once more for both", ascending(maya, her), both)
	for text, want := range map[string]bool{
		"depends, from before the switch": true, "depends, from after the switch": true, "for both": true, "once more for both": true, "for ada": false,
		string(maya[:]): true, string(own[:]): true, string(from[:]): true, string(both[:]): true,
		string(her[:]): false, string(fromHer[:]): false, string(secret[:]): false,
	} {
		if got := p.crossesText(text); got != want {
			t.Errorf("%q crosses: %v", text, got)
		}
	}
}
