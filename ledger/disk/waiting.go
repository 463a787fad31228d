package disk

import (
	"slices"
	"time"

	"github.com/parley-mesh/parley/ledger"
)

// Bounds of what may wait for its predecessor, in records, and for how long.
const (
	waitingPerLedger = 64
	waitingPerAuthor = 256
	waitingInAll     = 1024
	waitingFor       = 7 * 24 * time.Hour
)

// early is a record that came before its predecessor.
type early struct {
	*ledger.Record
	since time.Time
}

// room holds the records that came before their predecessors, the oldest first.
type room struct{ records []early }

// after lists the records whose predecessor is the one named.
func (q *room) after(id ledger.ID) (out []*ledger.Record) {
	for _, r := range q.records {
		if r.Prev == id {
			out = append(out, r.Record)
		}
	}
	return out
}

// add lets a record wait. Over the bound of its ledger the one furthest from its gap leaves, over the
// bound of its author or of all the oldest does; what has waited too long leaves anyway.
func (q *room) add(r *ledger.Record, now time.Time) {
	q.records = slices.DeleteFunc(q.records, func(o early) bool { return o.late(now) })
	count, authored, furthest := 0, 0, r
	for _, o := range q.records {
		if o.ID == r.ID {
			return
		}
		if o.Device == r.Device {
			authored++
		}
		if o.Ledger == r.Ledger {
			count++
			if o.Seq > furthest.Seq {
				furthest = o.Record
			}
		}
	}
	switch {
	case count >= waitingPerLedger && furthest == r:
		return
	case count >= waitingPerLedger:
		q.remove(furthest.ID)
	case authored >= waitingPerAuthor: // nobody fills the room alone
		q.drop(func(o early) bool { return o.Device == r.Device })
	case len(q.records) >= waitingInAll:
		q.records = slices.Delete(q.records, 0, 1)
	}
	q.records = append(q.records, early{r, now})
}

// drop lets the oldest record leave that is meant.
func (q *room) drop(meant func(early) bool) {
	if i := slices.IndexFunc(q.records, meant); i >= 0 {
		q.records = slices.Delete(q.records, i, i+1)
	}
}

func (q *room) remove(id ledger.ID) { q.drop(func(o early) bool { return o.ID == id }) }

// forget lets go of what waits in one ledger.
func (q *room) forget(tid ledger.TID) {
	q.records = slices.DeleteFunc(q.records, func(o early) bool { return o.Ledger == tid })
}

// late reports whether a record has waited too long: nobody has its predecessor any more.
func (o early) late(now time.Time) bool { return now.Sub(o.since) > waitingFor }
