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

// writing is one transaction in the making: what memory will know once it is on disk.
type writing struct {
	s        *Store
	txn      *badger.Txn
	chains   map[line]chain
	families map[ledger.TID]ledger.Family
	graves   map[ledger.TID]grave
	dropped  map[ledger.TID]bool
	early    []*ledger.Record // to wait
	taken    []ledger.ID      // waited, and are stored now
}

func (w *writing) batch(b Batch) ([]Outcome, error) {
	out := make([]Outcome, len(b.Records))
	for i, r := range b.Records {
		var err error
		if out[i], err = w.record(r); err != nil {
			return nil, err
		}
	}
	for _, g := range b.Bury {
		if err := w.bury(g); err != nil {
			return nil, err
		}
	}
	for _, tid := range b.Drop {
		if err := w.prune(tid); err != nil {
			return nil, err
		}
		w.dropped[tid] = true
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

// record stores one record, and then whatever waited for it.
func (w *writing) record(r *ledger.Record) (Outcome, error) {
	if w.pruned(r.Ledger) {
		return Forgotten, nil
	}
	if known, err := w.stored(r.ID); err != nil || known {
		return Known, err
	}
	out, err := w.place(r)
	if err != nil {
		return 0, err
	}
	if out == Waiting {
		w.early = append(w.early, r)
		return Waiting, nil
	}
	for ready := []*ledger.Record{r}; len(ready) > 0; ready = ready[1:] {
		for _, next := range w.waitingFor(ready[0].ID) {
			if _, err := w.place(next); err != nil {
				return 0, err
			}
			w.taken = append(w.taken, next.ID)
			ready = append(ready, next)
		}
	}
	return out, nil
}

// waitingFor is what waits for a record, from memory and from this very group.
func (w *writing) waitingFor(id ledger.ID) []*ledger.Record {
	w.s.mu.RLock()
	out := w.s.waiting.after(id)
	w.s.mu.RUnlock()
	for _, r := range w.early {
		if r.Prev == id && !slices.ContainsFunc(out, func(o *ledger.Record) bool { return o.ID == r.ID }) {
			out = append(out, r)
		}
	}
	return slices.DeleteFunc(out, func(r *ledger.Record) bool { return slices.Contains(w.taken, r.ID) })
}

// place finds a record's place. It is stored if it continues its chain or contends for a place in it, and
// waits if nothing is known of what comes before it.
func (w *writing) place(r *ledger.Record) (Outcome, error) {
	l := lineOf(r)
	c := w.chain(l)
	if c.head.Extends(r) {
		if err := w.put(r); err != nil {
			return 0, err
		}
		c.head, c.top = c.head.After(r), max(c.top, r.Seq+1)
		return Stored, w.walk(l, c)
	}
	if r.Seq > c.head.Next {
		if known, err := w.stored(r.Prev); err != nil || !known {
			return Waiting, err
		}
	}
	if err := w.put(r); err != nil {
		return 0, err
	}
	c.top = max(c.top, r.Seq+1)
	if r.Seq < c.head.Next {
		var err error
		if c.head, err = w.headBefore(l, r.Seq); err != nil {
			return 0, err
		}
	}
	return Forked, w.walk(l, c)
}

// walk follows a chain from its head through what is stored already, at each place by the lowest id that
// extends it: [ledger.Follow] on disk.
func (w *writing) walk(l line, c chain) error {
	c.gap = false
	for c.head.Next < c.top {
		there, err := w.at(l, c.head.Next)
		if err != nil {
			return err
		}
		i := slices.IndexFunc(there, c.head.Extends)
		if i < 0 {
			c.gap = len(there) == 0
			break
		}
		c.head = c.head.After(there[i])
	}
	w.chains[l] = c
	return nil
}

// headBefore is the head that a chain had at a place below its head. Where only one record is stored at
// the place before, that one is followed; else it is looked for further back.
func (w *writing) headBefore(l line, seq uint64) (ledger.Head, error) {
	for ; seq > 0; seq-- {
		there, err := w.at(l, seq-1)
		if err != nil {
			return ledger.Head{}, err
		}
		if len(there) == 1 {
			return ledger.Head{Chain: l.Chain}.After(there[0]), nil
		}
	}
	return ledger.Head{Chain: l.Chain}, nil
}

// at is every record that is stored at one place, the lowest id first.
func (w *writing) at(l line, seq uint64) ([]*ledger.Record, error) {
	prefix := placeKey(l, seq)
	o := badger.DefaultIteratorOptions
	o.Prefix, o.PrefetchSize = prefix, 2
	it := w.txn.NewIterator(o)
	defer it.Close()
	var out []*ledger.Record
	for it.Seek(prefix); it.ValidForPrefix(prefix); it.Next() {
		wire, err := it.Item().ValueCopy(nil)
		if err != nil {
			return nil, err
		}
		r, err := ledger.Parse(wire)
		if err != nil {
			return nil, fmt.Errorf("record %x: %w", it.Item().Key(), err)
		}
		out = append(out, r)
	}
	return out, nil
}

func (w *writing) stored(id ledger.ID) (bool, error) {
	_, err := w.txn.Get(idKey(id))
	if errors.Is(err, badger.ErrKeyNotFound) {
		return false, nil
	}
	return err == nil, err
}

func (w *writing) chain(l line) chain {
	if c, ok := w.chains[l]; ok {
		return c
	}
	w.s.mu.RLock()
	defer w.s.mu.RUnlock()
	if b := w.s.books[l.tid]; b != nil && !w.dropped[l.tid] {
		if c, ok := b.chains[l.Chain]; ok {
			return c
		}
	}
	return chain{head: ledger.Head{Chain: l.Chain}}
}

func (w *writing) put(r *ledger.Record) error {
	key := recordKey(r)
	if err := w.txn.Set(key, r.Wire); err != nil {
		return err
	}
	if err := w.txn.Set(idKey(r.ID), key[1:placeBytes]); err != nil {
		return err
	}
	f := r.Family()
	if f == ledger.FamilyUnknown || w.families[r.Ledger] != ledger.FamilyUnknown {
		return nil
	}
	if known, _ := w.s.Family(r.Ledger); known != ledger.FamilyUnknown && !w.dropped[r.Ledger] {
		return nil
	}
	w.families[r.Ledger] = f
	return w.txn.Set(ledgerKey(prefixFamily, r.Ledger), []byte{byte(f)})
}

// putChains writes the heads in a fixed order.
func (w *writing) putChains() error {
	for _, l := range slices.SortedFunc(maps.Keys(w.chains), line.compare) {
		if err := w.txn.Set(lineKey(prefixHead, l), w.chains[l].value()); err != nil {
			return err
		}
	}
	return nil
}

// learn brings memory to what is now on disk.
func (s *Store) learn(w *writing) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for tid := range w.dropped {
		delete(s.books, tid)
		s.stale[tid], s.digest = true, nil
		s.waiting.forget(tid)
	}
	for l, c := range w.chains {
		b := s.book(l.tid)
		b.chains[l.Chain] = c
		s.stale[l.tid] = true
		s.digest = nil
	}
	for tid, f := range w.families {
		s.book(tid).family = f
		s.stale[tid] = true
	}
	for _, id := range w.taken {
		s.waiting.remove(id)
	}
	for _, r := range w.early {
		if !slices.Contains(w.taken, r.ID) {
			s.waiting.add(r, time.Now())
		}
	}
	for tid, g := range w.graves {
		s.graves[tid], s.stale[tid], s.digest = g, true, nil
		if !g.keep {
			delete(s.books, tid)
			s.waiting.forget(tid)
		}
	}
}
