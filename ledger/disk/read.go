package disk

import (
	"errors"
	"fmt"
	"iter"

	"github.com/dgraph-io/badger/v4"

	"github.com/parley-mesh/parley/ledger"
)

// load reads the heads and families into memory.
func (s *Store) load() error {
	for key, value := range s.each([]byte{prefixHead}) {
		tid, h, ok := headOf(key, value)
		if !ok {
			continue
		}
		if s.ledgers[tid] == nil {
			s.ledgers[tid] = &book{heads: map[ledger.Chain]ledger.Head{}}
		}
		s.ledgers[tid].heads[h.Chain] = h
	}
	for key, value := range s.each([]byte{prefixFamily}) {
		if len(key) == 33 && len(value) == 1 && s.ledgers[ledger.TID(key[1:])] != nil {
			s.ledgers[ledger.TID(key[1:])].family = ledger.Family(value[0])
		}
	}
	for _, b := range s.ledgers {
		b.refresh()
	}
	return nil
}

// each iterates over copies of the pairs under a prefix, in key order.
func (s *Store) each(prefix []byte) iter.Seq2[[]byte, []byte] {
	return s.eachFrom(prefix, prefix)
}

func (s *Store) eachFrom(prefix, from []byte) iter.Seq2[[]byte, []byte] {
	return func(yield func([]byte, []byte) bool) {
		txn := s.db.NewTransaction(false)
		defer txn.Discard()
		o := badger.DefaultIteratorOptions
		o.Prefix = prefix
		it := txn.NewIterator(o)
		defer it.Close()
		for it.Seek(from); it.ValidForPrefix(prefix); it.Next() {
			value, err := it.Item().ValueCopy(nil)
			if err != nil {
				continue // a damaged value: Check reports it
			}
			if !yield(it.Item().KeyCopy(nil), value) {
				return
			}
		}
	}
}

// get is a copy of one value; nil when there is none.
func (s *Store) get(key []byte) ([]byte, error) {
	var out []byte
	err := s.db.View(func(txn *badger.Txn) error {
		item, err := txn.Get(key)
		if err != nil {
			return err
		}
		out, err = item.ValueCopy(nil)
		return err
	})
	if errors.Is(err, badger.ErrKeyNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read ledger: %w", err)
	}
	return out, nil
}

// Get is one of the node's own values; nil when there is none.
func (s *Store) Get(key []byte) ([]byte, error) { return s.get(ownKey(key)) }

// Scan iterates over the node's own values under a prefix, in key order.
func (s *Store) Scan(prefix []byte) iter.Seq2[[]byte, []byte] {
	return func(yield func([]byte, []byte) bool) {
		for key, value := range s.each(ownKey(prefix)) {
			if !yield(key[1:], value) {
				return
			}
		}
	}
}

// Records is every stored record of a ledger, by chain and sequence, the proofs of forks after them.
func (s *Store) Records(tid ledger.TID) ([]*ledger.Record, error) {
	var out []*ledger.Record
	for _, prefix := range []byte{prefixRecord, prefixFork} {
		for key, wire := range s.each(ledgerPrefix(prefix, tid)) {
			r, err := ledger.Parse(wire)
			if err != nil {
				return nil, fmt.Errorf("read ledger: record %x: %w", key, err)
			}
			out = append(out, r)
		}
	}
	return out, nil
}

// Record is one record by its id; nil when it is not stored.
func (s *Store) Record(id ledger.ID) (*ledger.Record, error) {
	key, err := s.get(idKey(id))
	if err != nil || key == nil {
		return nil, err
	}
	wire, err := s.get(key)
	if err != nil || wire == nil {
		return nil, err
	}
	return ledger.Parse(wire)
}

// From is up to most wires of one chain, from a sequence number on, in order.
func (s *Store) From(tid ledger.TID, c ledger.Chain, next uint64, most int) ([][]byte, error) {
	var out [][]byte
	for _, wire := range s.eachFrom(chainPrefix(prefixRecord, tid, c), recordKey(tid, c, next)) {
		if len(out) == most {
			break
		}
		out = append(out, wire)
	}
	return out, nil
}
