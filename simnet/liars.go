package simnet

import (
	"github.com/parley-mesh/parley/conflicts/thread"
	"github.com/parley-mesh/parley/lanes"
	"github.com/parley-mesh/parley/ledger"
	"github.com/parley-mesh/parley/node/core"
)

// lie lets one computer say something in a running conversation that its core did not ask for: a spine
// record under a claim that is not its own, or a final that GitHub does not hold. The record is well formed
// and signed. It is no misfortune of an honest fleet, so only worlds without an ending have it.
func (w *World) lie(c *computer) {
	if w.cfg.Ending != Never || w.off("liars") || !c.up() {
		return
	}
	s, claim := w.running()
	if s == nil {
		return
	}
	r := w.rng.fault
	a := core.Append{Ledger: s.Ledger, Open: s.Root.ID, Spine: s.Head(), Claim: claim.ID}
	kind := r.IntN(4)
	if kind == 2 && c.dev == claim.Device {
		kind = 0 // a main computer that raises the round without a press is believed
	}
	switch kind {
	case 0:
		a.Content = &ledger.Interim{Why: ledger.InterimDecided, Pick: []uint64{0}}
	case 1:
		a.Content = &ledger.Closed{Why: ledger.ClosedPerson}
	case 2:
		a.Content = &ledger.Reassign{To: uint64(r.IntN(len(s.Open.Parties))), Why: ledger.ReassignPerson, Round: s.Round + 1}
	default:
		a.Content = w.falseFinal(s)
		if main := w.main(); main != nil && main.dev == claim.Device {
			c = main // a faulty main computer, whose claim is good
		}
	}
	rec, err := c.seal(a)
	if err != nil {
		w.fault = err
		return
	}
	w.tracef("%s lies: %s %s in %s", c, rec.Kind, rec.ID.Short(), s.Ledger.Short())
	b := c.open(a.Ledger, rec.Family())
	b.add(rec, true)
	w.step.Sealed = append(w.step.Sealed, sealed{who: c, record: rec, lie: true})
	c.heard(a.Ledger)
	for _, to := range w.computers {
		if to != c && to.up() {
			w.after(w.jitter(2e9), to, func() { w.mesh.arrive(c, to, rec) })
		}
	}
}

// falseFinal names a commit that GitHub never had, or versions that its commit does not hold.
func (w *World) falseFinal(s *thread.State) *ledger.Final {
	g := w.git
	final := &ledger.Final{Via: ledger.FinalElsewhere, Base: s.Open.Base, Head: s.Open.Head, Commit: g.id(w.hub.master)}
	if oneIn(w.rng.fault, 2) {
		final.Commit = g.id(g.commit(*g.tree(w.hub.master), w.hub.master))
	}
	for i, f := range s.Open.Files {
		final.Files = append(final.Files, ledger.FileVersion{File: uint64(i), Blob: f.Pull})
	}
	return final
}

// running is a conversation that has no final yet, as somebody of the fleet sees it, with the claim that
// may move it.
func (w *World) running() (*thread.State, lanes.Claim) {
	for _, c := range w.computers {
		if !c.up() || c.lane {
			continue
		}
		roster := c.core.Roster()
		role, claim := roster.Main()
		for _, t := range c.core.Conversations() {
			if s := &t.State; role == lanes.RoleMain && s.Open != nil && s.Phase < thread.Final {
				return s, claim
			}
		}
	}
	return nil, lanes.Claim{}
}

// widen gives the other developer's lane a part in a conversation that opens while the lane is on.
func (w *World) widen(c *computer, a core.Append) core.Append {
	if o, ok := a.Content.(*ledger.Open); ok && w.laneOn && !c.lane && w.cfg.Teams == 0 {
		o.Parties = append(o.Parties, ledger.LaneParty(w.laneFleet))
	}
	return a
}
