package disk

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/dgraph-io/badger/v4"

	"github.com/parley-mesh/parley/ledger"
)

// A group of batches is synced once: up to groupRecords records, or what came within groupWait. A batch
// that comes alone does not wait.
const (
	groupRecords = 128
	groupWait    = 5 * time.Millisecond
)

// Bounds of what may wait for its predecessor.
const (
	waitingPerChain = 64
	waitingInAll    = 4096
)

// Outcome is what became of one record of a batch.
type Outcome uint8

// The outcomes.
const (
	Stored  Outcome = iota // it is now part of its chain
	Known                  // it was stored before
	Waiting                // its predecessor is missing; it is appended once that comes
	Forked                 // another record has its place; it is kept as proof
)

// Pair is one of a node's own values.
type Pair struct{ Key, Value []byte }

// Batch is stored whole or not at all.
type Batch struct {
	Records []*ledger.Record // signatures verified by the caller
	Put     []Pair
	Delete  [][]byte
}

type job struct {
	batch Batch
	to    chan result
}

type result struct {
	outcomes []Outcome
	err      error
}

// Apply stores a batch and returns once it is synced. The outcomes are in the order of the batch's
// records. Callers at the same time share one sync. [ErrDiskLow] comes before anything is touched.
func (s *Store) Apply(b Batch) ([]Outcome, error) {
	j := job{b, make(chan result, 1)}
	select {
	case s.jobs <- j:
	case <-s.closing:
		return nil, ErrClosed
	}
	select {
	case r := <-j.to:
		return r.outcomes, r.err
	case <-s.done:
		select {
		case r := <-j.to:
			return r.outcomes, r.err
		default:
			return nil, ErrClosed
		}
	}
}

// write is the one writer. It ends when the store is closed and nothing waits to be written.
func (s *Store) write() {
	defer close(s.done)
	for {
		select {
		case j := <-s.jobs:
			s.commit(s.gather(j))
		case <-s.closing:
			for {
				select {
				case j := <-s.jobs:
					s.commit(s.gather(j))
				default:
					return
				}
			}
		}
	}
}

// gather takes what waits already, and what comes within a moment once somebody else has come too.
func (s *Store) gather(first job) []job {
	group := []job{first}
	size := len(first.batch.Records)
	var moment <-chan time.Time
	for size < groupRecords {
		select {
		case j := <-s.jobs:
			group, size = append(group, j), size+max(1, len(j.batch.Records))
			continue
		default:
		}
		if len(group) == 1 {
			return group
		}
		if moment == nil {
			timer := time.NewTimer(groupWait)
			defer timer.Stop()
			moment = timer.C
		}
		select {
		case j := <-s.jobs:
			group, size = append(group, j), size+max(1, len(j.batch.Records))
		case <-moment:
			return group
		}
	}
	return group
}

// commit writes a group in one transaction. Should that be too large for Badger, each batch gets its own.
func (s *Store) commit(group []job) {
	results, err := s.commitAll(group)
	if errors.Is(err, badger.ErrTxnTooBig) && len(group) > 1 {
		for _, j := range group {
			s.commit([]job{j})
		}
		return
	}
	for i, j := range group {
		if err != nil {
			j.to <- result{err: fmt.Errorf("store: %w", err)}
			continue
		}
		j.to <- result{outcomes: results[i]}
	}
}

func (s *Store) commitAll(group []job) ([][]Outcome, error) {
	if !s.o.InMemory {
		if err := s.room(); err != nil {
			return nil, err
		}
	}
	w := writing{s: s, heads: map[ledger.TID]map[ledger.Chain]ledger.Head{}, families: map[ledger.TID]ledger.Family{}}
	out := make([][]Outcome, len(group))
	err := s.db.Update(func(txn *badger.Txn) error {
		w.txn = txn
		for i, j := range group {
			var err error
			if out[i], err = w.batch(j.batch); err != nil {
				return err
			}
		}
		return w.putHeads()
	})
	if err != nil {
		return nil, err
	}
	s.learn(&w)
	return out, nil
}

// writing is one transaction in the making: what memory will know once it is on disk.
type writing struct {
	s        *Store
	txn      *badger.Txn
	heads    map[ledger.TID]map[ledger.Chain]ledger.Head
	families map[ledger.TID]ledger.Family
	early    []*ledger.Record // to wait
	closed   []*ledger.Record // waited, and are appended now
}

func (w *writing) batch(b Batch) ([]Outcome, error) {
	out := make([]Outcome, len(b.Records))
	for i, r := range b.Records {
		var err error
		if out[i], err = w.record(r); err != nil {
			return nil, err
		}
	}
	for _, p := range b.Put {
		if err := w.txn.Set(ownKey(p.Key), p.Value); err != nil {
			return nil, err
		}
	}
	for _, key := range b.Delete {
		if err := w.txn.Delete(ownKey(key)); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (w *writing) record(r *ledger.Record) (Outcome, error) {
	switch _, err := w.txn.Get(idKey(r.ID)); {
	case err == nil:
		return Known, nil
	case !errors.Is(err, badger.ErrKeyNotFound):
		return 0, err
	}
	head := w.head(r)
	switch {
	case head.Extends(r):
		if err := w.append(r); err != nil {
			return 0, err
		}
		return Stored, w.appendWaiting(r)
	case r.Seq > head.Next:
		w.early = append(w.early, r)
		return Waiting, nil
	case r.Seq == head.Next:
		// It continues another chain than the one held here: its predecessor lost its place to a fork.
		return Forked, w.keepProof(r)
	}
	return Forked, w.keepProof(r)
}

func (w *writing) keepProof(r *ledger.Record) error {
	key := forkKey(r)
	if err := w.txn.Set(key, r.Wire); err != nil {
		return err
	}
	return w.txn.Set(idKey(r.ID), key)
}

func (w *writing) head(r *ledger.Record) ledger.Head {
	if h, ok := w.heads[r.Ledger][r.Chain()]; ok {
		return h
	}
	h, _, _ := w.s.Head(r.Ledger, r.Chain()) // from memory: it cannot fail
	return h
}

func (w *writing) append(r *ledger.Record) error {
	key := recordKey(r.Ledger, r.Chain(), r.Seq)
	if err := w.txn.Set(key, r.Wire); err != nil {
		return err
	}
	if err := w.txn.Set(idKey(r.ID), key); err != nil {
		return err
	}
	if w.heads[r.Ledger] == nil {
		w.heads[r.Ledger] = map[ledger.Chain]ledger.Head{}
	}
	w.heads[r.Ledger][r.Chain()] = w.head(r).After(r)
	if f := r.Family(); f != ledger.FamilyUnknown && w.families[r.Ledger] == ledger.FamilyUnknown {
		if known, _ := w.s.Family(r.Ledger); known == ledger.FamilyUnknown {
			w.families[r.Ledger] = f
			return w.txn.Set(ledgerPrefix(prefixFamily, r.Ledger), []byte{byte(f)})
		}
	}
	return nil
}

// appendWaiting appends what waited for r, from memory and from this very group.
func (w *writing) appendWaiting(r *ledger.Record) error {
	for {
		next := w.next(r.Ledger, r.Chain())
		if next == nil {
			return nil
		}
		w.closed = append(w.closed, next)
		if err := w.append(next); err != nil {
			return err
		}
	}
}

func (w *writing) next(tid ledger.TID, c ledger.Chain) *ledger.Record {
	head := w.heads[tid][c]
	w.s.mu.RLock()
	candidates := slices.Concat(w.s.waiting[c][tid], w.early)
	w.s.mu.RUnlock()
	for _, r := range candidates {
		if r.Ledger == tid && head.Extends(r) {
			return r
		}
	}
	return nil
}

// putHeads writes the heads in a fixed order.
func (w *writing) putHeads() error {
	for tid, chains := range w.heads {
		for c, h := range chains {
			if err := w.txn.Set(chainPrefix(prefixHead, tid, c), headValue(h)); err != nil {
				return err
			}
		}
	}
	return nil
}

// learn brings memory to what is now on disk.
func (s *Store) learn(w *writing) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for tid, chains := range w.heads {
		b := s.ledgers[tid]
		if b == nil {
			b = &book{heads: map[ledger.Chain]ledger.Head{}}
			s.ledgers[tid] = b
		}
		maps.Copy(b.heads, chains)
		if f := w.families[tid]; f != ledger.FamilyUnknown {
			b.family = f
		}
		b.refresh()
	}
	for _, r := range w.closed {
		s.forget(r)
	}
	for _, r := range w.early {
		if !slices.Contains(w.closed, r) {
			s.wait(r)
		}
	}
}

func (b *book) refresh() {
	heads := make([]ledger.Head, 0, len(b.heads))
	for _, h := range b.heads {
		heads = append(heads, h)
	}
	b.digest = ledger.DigestOf(heads)
}

// wait keeps an early record, within bounds; one over them is dropped and comes again.
func (s *Store) wait(r *ledger.Record) {
	c := r.Chain()
	if s.waiting[c] == nil {
		s.waiting[c] = map[ledger.TID][]*ledger.Record{}
	}
	same := func(o *ledger.Record) bool { return o.ID == r.ID }
	if len(s.waiting[c][r.Ledger]) >= waitingPerChain || s.held >= waitingInAll || slices.ContainsFunc(s.waiting[c][r.Ledger], same) {
		return
	}
	s.waiting[c][r.Ledger] = append(s.waiting[c][r.Ledger], r)
	s.held++
}

func (s *Store) forget(r *ledger.Record) {
	c := r.Chain()
	before := len(s.waiting[c][r.Ledger])
	left := slices.DeleteFunc(s.waiting[c][r.Ledger], func(o *ledger.Record) bool { return o.ID == r.ID })
	s.held -= before - len(left)
	s.waiting[c][r.Ledger] = left
	if len(left) == 0 {
		delete(s.waiting[c], r.Ledger)
	}
	if len(s.waiting[c]) == 0 {
		delete(s.waiting, c)
	}
}
