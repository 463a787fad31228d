package disk

import (
	"bytes"
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/dgraph-io/badger/v4"

	"github.com/parley-mesh/parley/ledger"
)

// each iterates over copies of the pairs under a prefix, in key order. What stopped it before the end is
// left in fault, which may be nil where a shortened answer does no harm.
func (s *Store) each(prefix []byte, fault *error) iter.Seq2[[]byte, []byte] {
	return s.eachFrom(prefix, prefix, fault)
}

func (s *Store) eachFrom(prefix, from []byte, fault *error) iter.Seq2[[]byte, []byte] {
	if fault == nil {
		fault = new(error)
	}
	return func(yield func([]byte, []byte) bool) {
		if *fault = s.enter(); *fault != nil {
			return
		}
		defer s.readers.Done()
		txn := s.db.NewTransaction(false)
		defer txn.Discard()
		o := badger.DefaultIteratorOptions
		o.Prefix = prefix
		it := txn.NewIterator(o)
		defer it.Close()
		for it.Seek(from); it.ValidForPrefix(prefix); it.Next() {
			value, err := it.Item().ValueCopy(nil)
			if err != nil {
				*fault = fmt.Errorf("read ledger: %w", err)
				return
			}
			if !yield(it.Item().KeyCopy(nil), value) {
				return
			}
		}
	}
}

// get is a copy of one value; nil when there is none.
func (s *Store) get(key []byte) ([]byte, error) {
	if err := s.enter(); err != nil {
		return nil, err
	}
	defer s.readers.Done()
	txn := s.db.NewTransaction(false)
	defer txn.Discard()
	item, err := txn.Get(key)
	if errors.Is(err, badger.ErrKeyNotFound) {
		return nil, nil
	}
	out := []byte{} // an empty value is not an absent one
	if err == nil {
		out, err = item.ValueCopy(out)
	}
	if err != nil {
		return nil, fmt.Errorf("read ledger: %w", err)
	}
	return out, nil
}

// Get is one of the node's own values; nil when there is none.
func (s *Store) Get(key []byte) ([]byte, error) { return s.get(ownKey(key)) }

// Scan iterates over the node's own values under a prefix, in key order, as they were when it began. It
// ends early when the store is closed.
func (s *Store) Scan(prefix []byte) iter.Seq2[[]byte, []byte] {
	return func(yield func([]byte, []byte) bool) {
		for key, value := range s.each(ownKey(prefix), nil) {
			if !yield(key[1:], value) {
				return
			}
		}
	}
}

// Records is every stored record of a ledger, ordered by chain and sequence, and by id where several
// contend for a place. Records that cannot be read are an error: a ledger without them says something else.
func (s *Store) Records(tid ledger.TID) ([]*ledger.Record, error) {
	heads, err := s.Heads(tid)
	if err != nil {
		return nil, err
	}
	var out []*ledger.Record
	run := map[ledger.Chain]uint64{}
	for key, wire := range s.each(ledgerKey(prefixRecord, tid), &err) {
		r, err := ledger.Parse(wire)
		if err != nil {
			return nil, fmt.Errorf("read ledger: record %x: %w", key, err)
		}
		if c := r.Chain(); r.Seq == run[c] {
			run[c]++
		}
		out = append(out, r)
	}
	if err != nil {
		return nil, err
	}
	for _, h := range heads {
		if run[h.Chain] < h.Next {
			return nil, fmt.Errorf("read ledger %s: %w: a chain of %d records ends after %d", tid.Short(), errDamaged, h.Next, run[h.Chain])
		}
	}
	return out, nil
}

// Record is one record by its id; nil when it is not stored.
func (s *Store) Record(id ledger.ID) (*ledger.Record, error) {
	place, err := s.get(idKey(id))
	if err != nil || place == nil {
		return nil, err
	}
	wire, err := s.get(slices.Concat([]byte{prefixRecord}, place, id[:]))
	if err != nil || wire == nil {
		return nil, err
	}
	return ledger.Parse(wire)
}

// From is about most wires of one chain as far as it is held without a gap, from a sequence number on, in
// order. Where several records contend for a place all of them are given, over most if need be, so that
// the proof spreads: the sequence number of the last wire says where to go on.
func (s *Store) From(tid ledger.TID, c ledger.Chain, next uint64, most int) ([][]byte, error) {
	l := line{tid, c}
	head, _, err := s.Head(tid, c)
	if err != nil {
		return nil, err
	}
	var out [][]byte
	end, last := placeKey(l, head.Next), uint64(0)
	for key, wire := range s.eachFrom(lineKey(prefixRecord, l), placeKey(l, next), &err) {
		_, seq, _, _ := recordPlace(key)
		if bytes.Compare(key, end) >= 0 || len(out) >= most && seq != last {
			break
		}
		out, last = append(out, wire), seq
	}
	return out, err
}

// Contended lists the chains of a ledger in which records contend for a place, or one is stored that does
// not continue what is held: two computers that hold such a chain differently cannot tell from its length
// what the other lacks.
func (s *Store) Contended(tid ledger.TID) ([]ledger.Chain, error) {
	if err := s.enter(); err != nil {
		return nil, err
	}
	defer s.readers.Done()
	var out []ledger.Chain
	var at line
	next, found := uint64(0), false
	for key := range s.keys(ledgerKey(prefixRecord, tid)) {
		l, seq, _, ok := recordPlace(key)
		if !ok {
			continue
		}
		if l != at {
			at, next, found = l, 0, false
		}
		head, _, err := s.Head(tid, l.Chain)
		if err != nil {
			return nil, err
		}
		if !found && (seq < next || seq == head.Next) {
			found, out = true, append(out, l.Chain)
		}
		next = seq + 1
	}
	return out, nil
}
