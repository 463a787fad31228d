package mesh

import (
	"maps"
	"slices"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/parley-mesh/parley/ledger"
)

// knows reports whether a peer is a member, or a computer of a developer whose lane is on. The caller holds the
// lock.
func (g *gate) knows(p peer.ID) bool {
	_, lane := g.lanes[p]
	return g.allowed[p] || lane
}

// known is [gate.knows] for who does not hold the lock.
func (g *gate) known(p peer.ID) bool {
	g.mu.RLock()
	defer g.mu.RUnlock()
	return g.knows(p)
}

// lane is the fleet of a peer that is here by a lane alone.
func (g *gate) lane(p peer.ID) (ledger.TID, bool) {
	g.mu.RLock()
	defer g.mu.RUnlock()
	if g.allowed[p] {
		return ledger.TID{}, false
	}
	fleet, ok := g.lanes[p]
	return fleet, ok
}

// ofLanes are those whom lanes alone let in, in the order of their names.
func (g *gate) ofLanes() []peer.ID {
	g.mu.RLock()
	defer g.mu.RUnlock()
	var out []peer.ID
	for p := range g.lanes {
		if !g.allowed[p] {
			out = append(out, p)
		}
	}
	slices.Sort(out)
	return out
}

// setLanes replaces whom the lanes let in, and reports who is let in no more, and whether anything changed.
func (g *gate) setLanes(peers map[peer.ID]ledger.TID) (removed []peer.ID, changed bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	was := g.lanes
	g.lanes = peers
	for p, fleet := range was {
		if now, ok := peers[p]; (!ok || now != fleet) && !g.allowed[p] {
			removed = append(removed, p)
		}
	}
	slices.Sort(removed)
	return removed, !maps.Equal(was, peers)
}
