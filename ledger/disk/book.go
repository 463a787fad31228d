package disk

import (
	"slices"
	"time"

	"github.com/parley-mesh/parley/ledger"
)

// book is what memory knows of one ledger.
type book struct {
	family ledger.Family
	chains map[ledger.Chain]chain
}

// book is a ledger's, made if need be. The caller holds the lock.
func (s *Store) book(tid ledger.TID) *book {
	b := s.books[tid]
	if b == nil {
		b = &book{chains: map[ledger.Chain]chain{}}
		s.books[tid] = b
		s.stale[tid] = true
	}
	return b
}

// heads is every chain's, ascending, leaving out chains that miss their first record.
func (b *book) heads() []ledger.Head {
	out := make([]ledger.Head, 0, len(b.chains))
	for _, c := range b.chains {
		if c.head.Next > 0 {
			out = append(out, c.head)
		}
	}
	slices.SortFunc(out, func(a, b ledger.Head) int { return a.Compare(b.Chain) })
	return out
}

// Entry is one ledger that is held.
type Entry struct {
	Listing ledger.Listing
	Family  ledger.Family
	Pruned  bool // a closed thread of which the end alone is left
}

// entry sums one ledger up.
func (s *Store) entry(tid ledger.TID) Entry {
	e := Entry{Listing: ledger.Listing{Ledger: tid}, Family: ledger.Conversation}
	if b := s.books[tid]; b != nil {
		e.Family, e.Listing.Digest = b.family, ledger.DigestOf(b.heads())
	}
	if g, ok := s.graves[tid]; ok {
		e.Listing.Digest, e.Pruned = g.digest, !g.keep
	}
	return e
}

func (e Entry) compare(tid ledger.TID) int { return compare(e.Listing.Ledger, tid) }

// Ledgers lists every ledger in ascending order, from memory.
func (s *Store) Ledgers() ([]Entry, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.entries()), nil
}

// entries brings the list of all ledgers up to date: what a write touched is summed up anew, and a new
// ledger finds its place. The caller holds the lock for writing, and changes nothing in the list.
func (s *Store) entries() []Entry {
	var fresh []Entry
	for tid := range s.stale {
		e := s.entry(tid)
		if _, buried := s.graves[tid]; s.books[tid] == nil && !buried { // it was dropped
			s.list = slices.DeleteFunc(s.list, func(o Entry) bool { return o.Listing.Ledger == tid })
			continue
		}
		if i, found := slices.BinarySearchFunc(s.list, tid, Entry.compare); found {
			s.list[i] = e
		} else {
			fresh = append(fresh, e)
		}
	}
	s.list = append(s.list, fresh...)
	if len(fresh) > 0 {
		slices.SortFunc(s.list, func(a, b Entry) int { return a.compare(b.Listing.Ledger) })
	}
	clear(s.stale)
	return s.list
}

// Digest sums up every ledger.
func (s *Store) Digest() ledger.Digest {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.digest == nil {
		var all []ledger.Listing
		for _, e := range s.entries() {
			all = append(all, e.Listing)
		}
		d := ledger.DigestAll(all)
		s.digest = &d
	}
	return *s.digest
}

// Family is the family of a ledger, and whether the ledger is held here. A ledger's family is that of
// the first record of a known kind that was stored in it.
func (s *Store) Family(tid ledger.TID) (ledger.Family, bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	b := s.books[tid]
	if b == nil {
		return ledger.FamilyUnknown, false
	}
	return b.family, true
}

// Heads is how far each chain of a ledger is held, ascending by chain.
func (s *Store) Heads(tid ledger.TID) ([]ledger.Head, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	b := s.books[tid]
	if b == nil {
		return nil, nil
	}
	return b.heads(), nil
}

// Head is how far one chain is held, and whether anything of it is.
func (s *Store) Head(tid ledger.TID, c ledger.Chain) (ledger.Head, bool, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if b := s.books[tid]; b != nil {
		if held, ok := b.chains[c]; ok {
			return held.head, held.head.Next > 0, nil
		}
	}
	return ledger.Head{Chain: c}, false, nil
}

// Waiting lists the ledgers that miss something: a record came before its predecessor, or damage left a
// gap. Peers can be asked for them.
func (s *Store) Waiting() []ledger.TID {
	s.mu.RLock()
	defer s.mu.RUnlock()
	var out []ledger.TID
	now := time.Now()
	for _, r := range s.waiting.records {
		if !r.late(now) {
			out = append(out, r.Ledger)
		}
	}
	for tid, b := range s.books {
		for _, c := range b.chains {
			if c.gap {
				out = append(out, tid)
			}
		}
	}
	slices.SortFunc(out, compare)
	return slices.Compact(out)
}
