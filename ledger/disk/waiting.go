package disk

import (
	"slices"

	"github.com/parley-mesh/parley/ledger"
)

// Bounds of what may wait for its predecessor, in records.
const (
	waitingPerLedger = 64
	waitingInAll     = 1024
)

// room holds the records that came before their predecessors, the oldest first.
type room struct{ records []*ledger.Record }

// after lists the records whose predecessor is the one named.
func (q *room) after(id ledger.ID) (out []*ledger.Record) {
	for _, r := range q.records {
		if r.Prev == id {
			out = append(out, r)
		}
	}
	return out
}

// add lets a record wait. Over the bound of its ledger the one furthest from its gap leaves, over the
// bound of all the oldest does.
func (q *room) add(r *ledger.Record) {
	count, furthest := 0, r
	for _, o := range q.records {
		if o.ID == r.ID {
			return
		}
		if o.Ledger == r.Ledger {
			count++
			if o.Seq > furthest.Seq {
				furthest = o
			}
		}
	}
	if count >= waitingPerLedger {
		if furthest == r {
			return
		}
		q.remove(furthest.ID)
	}
	if len(q.records) >= waitingInAll {
		q.records = slices.Delete(q.records, 0, 1)
	}
	q.records = append(q.records, r)
}

func (q *room) remove(id ledger.ID) {
	q.records = slices.DeleteFunc(q.records, func(r *ledger.Record) bool { return r.ID == id })
}
