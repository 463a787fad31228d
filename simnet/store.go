package simnet

import (
	"encoding/binary"
	"maps"
	"slices"

	"github.com/parley-mesh/parley/ledger"
	"github.com/parley-mesh/parley/node/core"
)

// pendingMax is how many records of one ledger wait for their predecessors.
const pendingMax = 64

// book is one ledger as one computer stores it.
type book struct {
	tid     ledger.TID
	family  ledger.Family
	records []*ledger.Record // in the order of their arrival
	have    map[ledger.ID]bool
	heads   []ledger.Head
	pending []*ledger.Record
	sum     uint64           // of the stored records, whatever their order
	told    []*ledger.Record // what the core was last told
	toldSum uint64
	loose   bool // another fleet's roster: single records, whose chains have gaps
	checked int  // records that the last check has seen
}

// tell is what a core is told of the ledger.
func (b *book) tell() core.Heard {
	b.told, b.toldSum = slices.Clone(b.records), b.sum
	return core.Heard{Ledger: b.tid, Family: b.family, Records: b.told}
}

func newBook(tid ledger.TID, family ledger.Family) *book {
	return &book{tid: tid, family: family, have: map[ledger.ID]bool{}}
}

func (b *book) head(c ledger.Chain) ledger.Head {
	for _, h := range b.heads {
		if h.Chain == c {
			return h
		}
	}
	return ledger.Head{Chain: c}
}

func (b *book) setHead(h ledger.Head) {
	for i := range b.heads {
		if b.heads[i].Chain == h.Chain {
			b.heads[i] = h
			return
		}
	}
	b.heads = append(b.heads, h)
}

// add stores a record whose predecessors are here, and whatever waited for it; others wait within bounds.
// It reports whether anything was stored.
func (b *book) add(r *ledger.Record, bounded bool) bool {
	if b.have[r.ID] {
		return false
	}
	if b.loose {
		b.store(r)
		return true
	}
	h := b.head(r.Chain())
	switch {
	case h.Extends(r):
		b.setHead(h.After(r))
		b.store(r)
		b.drain()
		return true
	case r.Seq < h.Next: // a second record at one place: both are kept as proof
		b.store(r)
		return true
	}
	waits := slices.ContainsFunc(b.pending, func(p *ledger.Record) bool { return p.ID == r.ID })
	switch {
	case !bounded:
		b.pending = append(b.pending, slices.Repeat([]*ledger.Record{r}, pendingMax/2)...)
	case !waits && len(b.pending) < pendingMax:
		b.pending = append(b.pending, r)
	}
	return false
}

func (b *book) store(r *ledger.Record) {
	b.records = append(b.records, r)
	b.have[r.ID] = true
	b.sum ^= idSum(r.ID)
}

func idSum(id ledger.ID) uint64 { return binary.BigEndian.Uint64(id[:8]) }

func (b *book) drain() {
	for again := true; again; {
		again = false
		for i, r := range b.pending {
			if h := b.head(r.Chain()); h.Extends(r) || b.have[r.ID] {
				b.pending = slices.Delete(b.pending, i, i+1)
				if !b.have[r.ID] {
					b.setHead(h.After(r))
					b.store(r)
				}
				again = true
				break
			}
		}
	}
}

// cut forgets all but the first n records, as a disk does that lost its tail.
func (b *book) cut(n int) {
	records := b.records[:n]
	*b = book{tid: b.tid, family: b.family, have: map[ledger.ID]bool{}, checked: min(b.checked, n), told: b.told, toldSum: b.toldSum, loose: b.loose}
	for _, r := range records {
		if h := b.head(r.Chain()); h.Extends(r) {
			b.setHead(h.After(r))
		}
		b.store(r)
	}
}

func (b *book) clone() *book {
	c := *b
	c.records, c.pending = slices.Clone(b.records), slices.Clone(b.pending)
	c.heads = slices.Clone(b.heads)
	c.have = map[ledger.ID]bool{}
	for _, r := range c.records {
		c.have[r.ID] = true
	}
	return &c
}

// shelf is all that a computer's node keeps durably: ledgers and saved values.
type shelf struct {
	books  []*book // in the order of their arrival
	values map[string][]byte
}

func (s *shelf) book(tid ledger.TID) *book {
	for _, b := range s.books {
		if b.tid == tid {
			return b
		}
	}
	return nil
}

func (s *shelf) open(tid ledger.TID, family ledger.Family) *book {
	if b := s.book(tid); b != nil {
		return b
	}
	b := newBook(tid, family)
	s.books = append(s.books, b)
	return b
}

func (s *shelf) clone() shelf {
	c := shelf{values: map[string][]byte{}}
	for _, b := range s.books {
		c.books = append(c.books, b.clone())
	}
	maps.Copy(c.values, s.values)
	return c
}
