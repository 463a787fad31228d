package mesh

import (
	"slices"
	"sync"

	"github.com/parley-mesh/parley/ledger"
)

// recentMax bounds the ledgers that are remembered as written to last. They are listed beside the open threads in
// each comparison of two computers that differ.
const recentMax = 24

// recent are the ledgers that something was written to last in this process, the latest at the end. What a peer lacks
// is mostly in there.
type recent struct {
	mu   sync.Mutex
	tids []ledger.TID
}

func (r *recent) touch(tid ledger.TID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.tids = append(slices.DeleteFunc(r.tids, func(t ledger.TID) bool { return t == tid }), tid)
	r.tids = r.tids[max(0, len(r.tids)-recentMax):]
}

func (r *recent) touchAll(records []*ledger.Record) {
	for i, rec := range records {
		if i == 0 || rec.Ledger != records[i-1].Ledger {
			r.touch(rec.Ledger)
		}
	}
}

func (r *recent) all() []ledger.TID {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.tids)
}

// lately lists the ledgers written to last that the peer may see, ascending, but for the roster, which is compared
// anyway.
func (x *exchange) lately() (out []ledger.Listing) {
	for _, tid := range x.m.recent.all() {
		if d, ok := x.digestOf(tid); ok && tid != x.fleet {
			out = append(out, ledger.Listing{Ledger: tid, Digest: d})
		}
	}
	slices.SortFunc(out, inOrder)
	return out
}

func inOrder(a, b ledger.Listing) int { return slices.Compare(a.Ledger[:], b.Ledger[:]) }

// likely is what most likely differs: the open threads, and what was written to last.
func (x *exchange) likely(open []ledger.Listing) []ledger.Listing {
	if len(open) > openMax {
		open = nil // they come with the groups
	}
	out := slices.Clone(open)
	for _, l := range x.lately() {
		if _, found := slices.BinarySearchFunc(open, l.Ledger, byLedger); !found && len(out) < openMax {
			out = append(out, l)
		}
	}
	slices.SortFunc(out, inOrder)
	return out
}
