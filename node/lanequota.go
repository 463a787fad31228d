package node

import (
	"sync"
	"time"

	"github.com/parley-mesh/parley/lanes"
	"github.com/parley-mesh/parley/ledger"
	"github.com/parley-mesh/parley/node/core"
)

// quotas are what each lane has brought (rule L9), counted from what is stored.
type quotas struct {
	mu   sync.Mutex
	of   map[ledger.TID]*quota
	told map[ledger.TID]time.Time // when a lane was last refused something
}

type quota struct {
	lanes.Quota
	counted time.Time
}

// recountAfter is how long a count of what is stored counts: conversations close and are forgotten meanwhile.
// excessFor is how long a lane stays marked after it was refused something.
const (
	recountAfter = 10 * time.Minute
	excessFor    = 5 * time.Minute
)

// roomAgain tells of the lanes that were not refused anything for a while.
func (n *Node) roomAgain() (out []core.Effect) {
	n.quotas.mu.Lock()
	var over []ledger.TID
	for fleet, at := range n.quotas.told {
		if n.wall().Sub(at) > excessFor {
			over = append(over, fleet)
			delete(n.quotas.told, fleet)
		}
	}
	n.quotas.mu.Unlock()
	for _, fleet := range over {
		out = append(out, n.core.Handle(core.Exceeded{Fleet: fleet, Excess: lanes.Within}, n.wall())...)
	}
	return out
}

// withinQuota counts records in that a lane brings, and leaves out those beyond its limits. What is left out comes
// with a later catch-up, once there is room.
func (n *Node) withinQuota(g lanes.Grant, records []*ledger.Record) []*ledger.Record {
	n.quotas.mu.Lock()
	defer n.quotas.mu.Unlock()
	q := n.quotas.of[g.Peer()]
	if q == nil || n.wall().Sub(q.counted) > recountAfter {
		q = &quota{Quota: *n.countQuota(g), counted: n.wall()}
		if n.quotas.of == nil {
			n.quotas.of = map[ledger.TID]*quota{}
		}
		n.quotas.of[g.Peer()] = q
	}
	var out []*ledger.Record
	opened := map[ledger.TID]bool{}
	over := map[ledger.TID]bool{} // a record left out leaves out what follows it
	for _, r := range records {
		if !g.To(r.Device) {
			out = append(out, r) // what this fleet said itself
			continue
		}
		if over[r.Ledger] {
			continue
		}
		_, held := n.store.Family(r.Ledger)
		opens := r.Kind == ledger.KindOpen && !held && !opened[r.Ledger]
		if excess := q.Take(lanes.Arrival{Bytes: len(r.Wire), Opens: opens, Work: n.isWork(r)}, n.wall()); excess != lanes.Within {
			over[r.Ledger] = true
			n.mark(g.Peer())
			n.excess(g.Peer(), excess)
			continue
		}
		opened[r.Ledger] = opened[r.Ledger] || opens
		out = append(out, r)
	}
	return out
}

// countQuota counts what a lane has brought so far.
func (n *Node) countQuota(g lanes.Grant) *lanes.Quota {
	q := &lanes.Quota{}
	entries, err := n.store.Ledgers()
	if err != nil {
		return q
	}
	view := laneView{book{n}, g}
	for _, e := range entries {
		tid := e.Listing.Ledger
		if e.Family == ledger.Work {
			for _, d := range g.Computers() {
				q.Work += n.workBook.has(tid, d).bytes
			}
			continue
		}
		if !view.passes(tid) {
			continue
		}
		records, err := n.store.Records(tid)
		if err != nil {
			continue
		}
		theirs, closed := false, false
		for _, r := range records {
			if g.To(r.Device) {
				q.Bytes += len(r.Wire)
				theirs = theirs || r.Kind == ledger.KindOpen
			}
			closed = closed || r.Kind == ledger.KindClosed
		}
		if theirs && !closed {
			q.Threads++
		}
	}
	return q
}

// mark notes that a lane was refused something. The caller holds the lock.
func (n *Node) mark(fleet ledger.TID) {
	if n.quotas.told == nil {
		n.quotas.told = map[ledger.TID]time.Time{}
	}
	n.quotas.told[fleet] = n.wall()
}

// excess tells the loop that a lane has reached a limit.
func (n *Node) excess(fleet ledger.TID, e lanes.Excess) {
	select {
	case n.inputs <- core.Exceeded{Fleet: fleet, Excess: e}:
	default: // it is told at the next one
	}
}
