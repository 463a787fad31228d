package node

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/parley-mesh/parley/ledger"
	"github.com/parley-mesh/parley/ledger/disk"
	"github.com/parley-mesh/parley/mesh"
)

// How long live work is kept, in periods before the present one, and how far a clock may be ahead. What one computer
// may bring into one ledger: an agent at work writes a few hundred records of some 500 bytes in an hour.
const (
	workKept       = 4
	workAhead      = 1
	workRecordsMax = 20_000
	workBytesMax   = 16 << 20
)

// workBook is what is known of the ledgers of live work that are held: what each is about, and how much of it each
// computer wrote.
type workBook struct {
	mu      sync.Mutex
	ledgers map[ledger.TID]*workLedger
}

// workScope is what a ledger of live work is about, and under which statement of a lane it is written; none: at home.
type workScope struct {
	ledger.Scope
	share ledger.ID
}

// scopeOf is the scope that the first record of a chain says.
func scopeOf(r *ledger.Record) workScope { return workScope{r.Scope, r.Share} }

func (s workScope) ledger() ledger.TID {
	if s.share == (ledger.ID{}) {
		return s.Scope.Ledger()
	}
	return s.Scope.Shared(s.share)
}

type workLedger struct {
	scope   workScope
	by      map[ledger.Device]*brought
	pending map[ledger.ID]bool // counted, and not known to be stored
}

// brought is how much one computer wrote into one ledger.
type brought struct{ records, bytes int }

// scope is what a ledger of live work is about; false for one that is not held.
func (b *workBook) scope(tid ledger.TID) (workScope, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	l := b.ledgers[tid]
	if l == nil {
		return workScope{}, false
	}
	return l.scope, true
}

// all lists what is held, by period, then repository.
func (b *workBook) all() (out []workScope) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, l := range b.ledgers {
		out = append(out, l.scope)
	}
	slices.SortFunc(out, compareScopes)
	return out
}

func compareScopes(a, b workScope) int {
	switch {
	case a.Period != b.Period:
		return int(a.Period) - int(b.Period)
	case a.Repo < b.Repo:
		return -1
	case a.Repo > b.Repo:
		return 1
	}
	return cmp.Or(strings.Compare(a.Host, b.Host), slices.Compare(a.share[:], b.share[:]))
}

// count counts a record in; false when its author has brought too much.
func (b *workBook) count(s workScope, r *ledger.Record) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.ledgers == nil {
		b.ledgers = map[ledger.TID]*workLedger{}
	}
	l := b.ledgers[r.Ledger]
	if l == nil {
		l = &workLedger{scope: s, by: map[ledger.Device]*brought{}, pending: map[ledger.ID]bool{}}
		b.ledgers[r.Ledger] = l
	}
	n := l.by[r.Device]
	if n == nil {
		n = &brought{}
		l.by[r.Device] = n
	}
	if n.records >= workRecordsMax || n.bytes+len(r.Wire) > workBytesMax {
		return false
	}
	n.records, n.bytes = n.records+1, n.bytes+len(r.Wire)
	return true
}

// admit counts a record in that is on its way to the disk, once however often it comes before it is there: a disk that is
// full and a gap in a chain bring the same one again and again.
func (b *workBook) admit(s workScope, r *ledger.Record) bool {
	b.mu.Lock()
	l := b.ledgers[r.Ledger]
	again := l != nil && l.pending[r.ID]
	b.mu.Unlock()
	if again {
		return true
	}
	if !b.count(s, r) {
		return false
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if l := b.ledgers[r.Ledger]; l != nil {
		l.pending[r.ID] = true
	}
	return true
}

// settled says that a record is stored.
func (b *workBook) settled(r *ledger.Record) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if l := b.ledgers[r.Ledger]; l != nil {
		delete(l.pending, r.ID)
	}
}

// has is how much one computer wrote into a ledger.
func (b *workBook) has(tid ledger.TID, d ledger.Device) brought {
	b.mu.Lock()
	defer b.mu.Unlock()
	if l := b.ledgers[tid]; l != nil && l.by[d] != nil {
		return *l.by[d]
	}
	return brought{}
}

func (b *workBook) forget(tid ledger.TID) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.ledgers, tid)
}

// inWindow reports whether a period is one whose live work is kept at a time.
func inWindow(period uint64, now time.Time) bool {
	present := ledger.PeriodOf(uint64(max(0, now.UnixMilli())))
	return period+workKept >= present && period <= present+workAhead
}

// readWorkBook learns what is held, and calls each with the records of every ledger that is kept.
func (n *Node) readWorkBook(each func(workScope, []*ledger.Record)) error {
	entries, err := n.store.Ledgers()
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.Family != ledger.Work {
			continue
		}
		records, err := n.store.Records(e.Listing.Ledger)
		if err != nil {
			return err
		}
		i := slices.IndexFunc(records, func(r *ledger.Record) bool { return r.Seq == 0 })
		if i < 0 {
			continue
		}
		scope := scopeOf(records[i])
		for _, r := range records {
			n.workBook.count(scope, r)
		}
		each(scope, records)
	}
	return nil
}

// isWork reports whether a record is of live work: by its kind, or by its ledger where the kind is not known.
func (n *Node) isWork(r *ledger.Record) bool {
	f := r.Family()
	if f == ledger.FamilyUnknown {
		f, _ = n.store.Family(r.Ledger)
	}
	return f == ledger.Work
}

// keepWork stores live work of computers that are known: that of the weeks that are kept, and of each computer up to
// its limit. It wakes nobody but those who look after live work.
func (n *Node) keepWork(records []*ledger.Record) error {
	now := n.wall()
	var kept []*ledger.Record
	full := map[ledger.Chain]bool{} // a record left out leaves out what follows it
	for _, r := range records {
		scope, known := n.workBook.scope(r.Ledger)
		if !known {
			scope, known = scopeOf(r), r.Seq == 0
		}
		switch {
		case !known: // nothing of that ledger is here, so catch-up brings it from the beginning
			n.mesh.Ask(func() bool { return n.lacks(r) })
		case !inWindow(scope.Period, now):
			n.mesh.Count(mesh.RefusedPeriod, 1)
		case full[r.Chain()]:
			n.mesh.Count(mesh.RefusedWork, 1)
		default:
			if stored, err := n.store.Record(r.ID); err != nil {
				continue
			} else if stored != nil {
				n.workBook.settled(r)
				continue
			}
			if full[r.Chain()] = !n.workBook.admit(scope, r); full[r.Chain()] {
				n.mesh.Count(mesh.RefusedWork, 1)
				continue
			}
			kept = append(kept, r)
		}
	}
	if len(kept) == 0 {
		return nil
	}
	outcomes, err := n.store.Apply(disk.Batch{Records: kept})
	if err != nil {
		return fmt.Errorf("receive %d records of live work: %w", len(kept), err)
	}
	for i, r := range kept {
		if outcomes[i] == disk.Waiting {
			n.mesh.Ask(func() bool { return n.lacks(r) })
		} else {
			n.workBook.settled(r)
			n.live.hear(r.Ledger, outcomes[i] == disk.Forked)
		}
	}
	return nil
}

// retainWork drops the live work of weeks that are over.
func (n *Node) retainWork(now time.Time) error {
	var drop []ledger.TID
	for _, s := range n.workBook.all() {
		if s.Period+workKept < ledger.PeriodOf(uint64(now.UnixMilli())) {
			drop = append(drop, s.ledger())
		}
	}
	if len(drop) == 0 {
		return nil
	}
	if _, err := n.store.Apply(disk.Batch{Drop: drop}); err != nil {
		return err
	}
	for _, tid := range drop {
		scope, _ := n.workBook.scope(tid)
		n.live.forget(scope.Period, tid)
		n.workBook.forget(tid)
	}
	return nil
}

// seenWork reports whether a ledger of live work is shown to others: one whose week is over is on its way out.
func (n *Node) seenWork(tid ledger.TID) bool {
	scope, ok := n.workBook.scope(tid)
	return ok && inWindow(scope.Period, n.wall())
}
