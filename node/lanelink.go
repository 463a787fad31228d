package node

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/parley-mesh/parley/lanes"
	"github.com/parley-mesh/parley/ledger"
	"github.com/parley-mesh/parley/mesh"
	"github.com/parley-mesh/parley/node/core"
	"github.com/parley-mesh/parley/node/internal/github"
)

// setLanes folds the lanes anew and lets the mesh do what they grant from now on, and nothing else.
func (n *Node) setLanes() {
	n.refoldLanes()
	n.live.setPeople()
	if err := n.mesh.SetLanes(n.lanes.grants()); err != nil {
		n.log.add(core.Note{Level: "warn", Kind: "lane", Who: n.cfg.Name, Text: "a lane could not be opened: " + err.Error()})
	}
}

// hearLoose folds another developer's roster as it is held now.
func (n *Node) hearLoose(fleet ledger.TID) []core.Effect {
	out := n.core.Handle(core.Heard{Ledger: fleet, Family: ledger.Roster, Records: n.loose(fleet)}, n.wall())
	n.setLanes()
	return out
}

// sendThrough tells other developers of an own record, each by their grant. What their lane does not carry is not
// sent; a change of this fleet's roster reaches them by catch-up.
func (n *Node) sendThrough(r *ledger.Record) {
	for _, g := range n.lanes.grants() {
		if r.Ledger == n.fleet {
			if len(lanes.VisibleKinds([]*ledger.Record{r})) > 0 {
				n.mesh.CatchUpLane(g.Peer())
			}
			continue
		}
		if err := n.mesh.Send(g, r); err != nil {
			n.slog.Debug("send through a lane", "record", r.ID.String(), "error", err)
		}
	}
}

// linked tells the core whether a computer of another developer is connected, after one came or went.
func (n *Node) linked(d ledger.Device) []core.Effect {
	fleet, ok := n.lanes.fleetOf(d)
	if !ok {
		return nil
	}
	on := slices.ContainsFunc(n.mesh.Peers(), func(p mesh.PeerStatus) bool {
		theirs, ok := n.lanes.fleetOf(p.Device)
		return ok && theirs == fleet && p.Connected
	})
	return n.core.Handle(core.Linked{Fleet: fleet, On: on}, n.wall())
}

// accountEvery is how often the account that gh is signed in as is looked at again, while somebody wants to know.
const accountEvery = 5 * time.Minute

// tendAccount asks this computer's own gh which account it is signed in as: only once a teammate has asked over a
// lane that is on at both ends, or the person here wants teammates' conflicts too (P13).
func (n *Node) tendAccount(ctx context.Context) {
	wanted := slices.ContainsFunc(n.lanes.get(), func(l lanes.Lane) bool {
		g, _ := l.Grant()
		return g.Mutual() && (l.Questioned() || n.core.Teammates())
	})
	if now := n.wall(); wanted && now.Sub(n.accountAt) >= accountEvery {
		n.accountAt = now
		n.beside(ctx, "sign-in of gh", n.slots, n.signedIn)
	}
}

// signedIn is the account of this computer's own gh; none when it is not signed in.
func (n *Node) signedIn(ctx context.Context) core.Input {
	me, err := n.gh.Whoami(ctx)
	switch {
	case errors.Is(err, github.ErrTemporary):
		return core.Tick{} // what is known stays
	case err != nil:
		return core.SignedIn{}
	}
	return core.SignedIn{Account: lanes.Account{Host: n.cfg.GitHub.Host, User: uint64(me.ID), Login: me.Login}}
}
