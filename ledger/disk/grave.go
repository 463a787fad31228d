package disk

import (
	"fmt"

	"github.com/dgraph-io/badger/v4"

	"github.com/parley-mesh/parley/ledger"
)

// Grave marks a closed thread whose end is all that it is compared by.
type Grave struct {
	Tomb ledger.Tomb
	// Keep leaves the records here: other computers pruned theirs. Otherwise all of them go, and none is taken
	// any more.
	Keep bool
}

// grave is what memory knows of one.
type grave struct {
	digest ledger.Digest
	keep   bool
}

const graveHead = 1 + 16

// bury writes a grave, and takes the records away in the same transaction unless they are kept.
func (w *writing) bury(g Grave) error {
	frame, err := ledger.EncodeFrame(&g.Tomb)
	if err != nil {
		return err
	}
	tid, value := g.Tomb.Ledger, make([]byte, 1, graveHead+len(frame))
	if g.Keep {
		value[0] = 1
	}
	value = append(append(value, g.Tomb.Digest[:]...), frame...)
	if !g.Keep {
		if err := w.prune(tid); err != nil {
			return err
		}
	}
	w.graves[tid] = grave{g.Tomb.Digest, g.Keep}
	return w.txn.Set(ledgerKey(prefixGrave, tid), value)
}

func (w *writing) prune(tid ledger.TID) error {
	var keys [][]byte
	for _, prefix := range []byte{prefixRecord, prefixHead} {
		o := badger.DefaultIteratorOptions
		o.Prefix, o.PrefetchValues = ledgerKey(prefix, tid), false
		it := w.txn.NewIterator(o)
		for it.Rewind(); it.Valid(); it.Next() {
			key := it.Item().KeyCopy(nil)
			keys = append(keys, key)
			if _, _, id, ok := recordPlace(key); ok {
				keys = append(keys, idKey(id))
			}
		}
		it.Close()
	}
	for _, key := range append(keys, ledgerKey(prefixFamily, tid)) {
		if err := w.txn.Delete(key); err != nil {
			return err
		}
	}
	for l := range w.chains {
		if l.tid == tid {
			delete(w.chains, l)
		}
	}
	delete(w.families, tid)
	return nil
}

// pruned reports whether records of a ledger are taken no more.
func (w *writing) pruned(tid ledger.TID) bool {
	if g, ok := w.graves[tid]; ok {
		return !g.keep
	}
	return w.s.Pruned(tid)
}

// Pruned reports whether a ledger is a closed thread of which only the end is left.
func (s *Store) Pruned(tid ledger.TID) bool {
	s.mu.RLock()
	defer s.mu.RUnlock()
	g, ok := s.graves[tid]
	return ok && !g.keep
}

// Tomb is what is left of a closed thread that was pruned here or elsewhere, and whether there is any.
func (s *Store) Tomb(tid ledger.TID) (*ledger.Tomb, bool, error) {
	value, err := s.get(ledgerKey(prefixGrave, tid))
	if err != nil || value == nil {
		return nil, false, err
	}
	f, err := ledger.DecodeFrame(value[min(graveHead, len(value)):])
	tomb, ok := f.(*ledger.Tomb)
	if err != nil || !ok {
		return nil, false, fmt.Errorf("read ledger %s: %w: its tomb cannot be read", tid.Short(), errDamaged)
	}
	return tomb, true, nil
}

// loadGraves reads which ledgers have a grave.
func (s *Store) loadGraves(into map[ledger.TID]grave) error {
	var fault error
	for key, value := range s.each([]byte{prefixGrave}, &fault) {
		if len(key) == 33 && len(value) > graveHead {
			into[ledger.TID(key[1:])] = grave{digest: ledger.Digest(value[1:graveHead]), keep: value[0] == 1}
		}
	}
	return fault
}
