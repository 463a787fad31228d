package mesh

import (
	"context"
	"crypto/ed25519"
	"errors"
	"slices"
	"sync"
	"testing"

	"github.com/libp2p/go-libp2p/core/network"

	"github.com/parley-mesh/parley/lanes"
	"github.com/parley-mesh/parley/ledger"
)

// shelf is a book in memory: chains without gaps, like the store, and nothing else.
type shelf struct {
	mu     sync.Mutex
	chains map[ledger.TID]map[ledger.Chain][]*ledger.Record
	family map[ledger.TID]ledger.Family
	news   chan struct{}     // one signal; the reader looks again
	early  []*ledger.Record  // came before their predecessors
	bad    int               // how many ever did
	ask    func(func() bool) // told of a gap
	full   int               // refuse more than so many; 0 is any number
	again  int               // came though they were held
}

func newShelf() *shelf {
	return &shelf{
		chains: map[ledger.TID]map[ledger.Chain][]*ledger.Record{}, family: map[ledger.TID]ledger.Family{},
		news: make(chan struct{}, 1),
	}
}

// Receive appends what continues its chain.
func (s *shelf) Receive(_ context.Context, _ ledger.Device, f ledger.Family, records []*ledger.Record) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.full > 0 && s.size() >= s.full {
		return errors.New("the disk is full")
	}
	left := slices.Concat(records, s.early)
	for placed := true; placed; { // each may make way for another
		placed, s.early = false, nil
		for _, r := range left {
			if s.chains[r.Ledger] == nil {
				s.chains[r.Ledger] = map[ledger.Chain][]*ledger.Record{}
				s.family[r.Ledger] = f
			}
			switch have := s.chains[r.Ledger][r.Chain()]; {
			case r.Seq == uint64(len(have)):
				s.chains[r.Ledger][r.Chain()] = append(have, r)
				placed = true
			case r.Seq > uint64(len(have)):
				s.early = append(s.early, r)
			default:
				s.again++
			}
		}
		left = s.early
	}
	s.bad = max(s.bad, len(s.early))
	if len(s.early) > 0 && s.ask != nil {
		s.ask(func() bool { return s.gaps() > 0 })
	}
	select {
	case s.news <- struct{}{}:
	default:
	}
	return nil
}

func (s *shelf) heads(tid ledger.TID) []ledger.Head {
	var out []ledger.Head
	for c, records := range s.chains[tid] {
		last := records[len(records)-1]
		out = append(out, ledger.Head{Chain: c, Next: last.Seq + 1, ID: last.ID, Lam: last.Lam})
	}
	slices.SortFunc(out, func(a, b ledger.Head) int { return a.Compare(b.Chain) })
	return out
}

// Heads is how far each chain goes.
func (s *shelf) Heads(tid ledger.TID) ([]ledger.Head, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.heads(tid), nil
}

// Visible is everything.
func (s *shelf) Visible(ledger.Device) []ledger.Listing {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []ledger.Listing
	for tid := range s.chains {
		out = append(out, ledger.Listing{Ledger: tid, Digest: ledger.DigestOf(s.heads(tid))})
	}
	slices.SortFunc(out, func(a, b ledger.Listing) int { return slices.Compare(a.Ledger[:], b.Ledger[:]) })
	return out
}

// From is a piece of a chain.
func (s *shelf) From(tid ledger.TID, c ledger.Chain, next uint64, most int) ([][]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out [][]byte
	for _, r := range s.chains[tid][c][min(int(next), len(s.chains[tid][c])):] {
		if len(out) == most {
			break
		}
		out = append(out, r.Wire)
	}
	return out, nil
}

// Contended is nothing: a chain is kept as it first came.
func (s *shelf) Contended(ledger.TID) ([]ledger.Chain, error) { return nil, nil }

// Family is as first received.
func (s *shelf) Family(tid ledger.TID) (ledger.Family, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f, ok := s.family[tid]
	return f, ok
}

func (s *shelf) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.size()
}

func (s *shelf) size() int {
	n := 0
	for _, chains := range s.chains {
		for _, records := range chains {
			n += len(records)
		}
	}
	return n
}

// wait waits until the shelf holds n records.
func (s *shelf) wait(t testing.TB, ctx context.Context, n int) {
	t.Helper()
	for s.count() < n {
		select {
		case <-s.news:
		case <-ctx.Done():
			t.Fatalf("%d records came, want %d", s.count(), n)
		}
	}
}

// pen writes records of one chain.
type pen struct {
	key  ed25519.PrivateKey
	tid  ledger.TID
	head ledger.Head
}

func newPen(id Identity, tid ledger.TID) *pen {
	return &pen{key: id.Key(), tid: tid, head: ledger.Head{Chain: ledger.Chain{Device: id.Device(), Inc: ledger.Incarnation{1}}}}
}

// write makes the next record: about 500 bytes on the wire.
func (p *pen) write(t testing.TB) *ledger.Record {
	t.Helper()
	open := ledger.ID{1}
	files := make([]ledger.OwnLines, 25)
	for i := range files {
		files[i] = ledger.OwnLines{File: uint64(i), Lines: 1 << 40}
	}
	r, err := ledger.Seal(p.key, ledger.Header{
		Ledger: p.tid, Inc: p.head.Inc, Seq: p.head.Next, Prev: p.head.ID, Open: open, Re: []ledger.ID{open}, Lam: p.head.Lam + 1, At: 1764500000000,
	}, &ledger.Object{Why: ledger.ObjectUnpublished, Files: files})
	if err != nil {
		t.Fatal(err)
	}
	p.head = p.head.After(r)
	return r
}

// gaps is how many records wait for their predecessors.
func (s *shelf) gaps() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.early)
}

// disordered is how many records ever waited for their predecessors at once.
func (s *shelf) disordered() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.bad
}

// Loose is nothing: a shelf keeps no rosters apart.
func (s *shelf) Loose(ledger.TID) ([][]byte, bool) { return nil, false }

// Through is what passes a lane by its grant, as far as a shelf goes: the lane's own ledger, and the conversations
// that the grant lets see.
func (s *shelf) Through(g lanes.Grant) Book { return laneShelf{s, g} }

type laneShelf struct {
	*shelf
	g lanes.Grant
}

func (l laneShelf) passes(tid ledger.TID) bool {
	if !l.g.Given() {
		return false
	}
	if tid == l.g.Ledger() {
		return true
	}
	var all []*ledger.Record
	l.mu.Lock()
	for _, records := range l.chains[tid] {
		all = append(all, records...)
	}
	l.mu.Unlock()
	return l.g.MaySee(all)
}

// Visible is what passes.
func (l laneShelf) Visible(d ledger.Device) []ledger.Listing {
	return slices.DeleteFunc(l.shelf.Visible(d), func(e ledger.Listing) bool { return !l.passes(e.Ledger) })
}

// Heads is nothing of what does not pass.
func (l laneShelf) Heads(tid ledger.TID) ([]ledger.Head, error) {
	if !l.passes(tid) {
		return nil, nil
	}
	heads, err := l.shelf.Heads(tid)
	opens := func(h ledger.Head) int {
		if wires, _ := l.From(tid, h.Chain, 0, 1); len(wires) == 1 {
			if r, err := ledger.Parse(wires[0]); err == nil && r.Kind == ledger.KindOpen {
				return 0
			}
		}
		return 1
	}
	slices.SortStableFunc(heads, func(a, b ledger.Head) int { return opens(a) - opens(b) })
	return heads, err
}

// Family knows what passes.
func (l laneShelf) Family(tid ledger.TID) (ledger.Family, bool) {
	if !l.passes(tid) {
		return 0, false
	}
	return l.shelf.Family(tid)
}

// Receive takes what passes once it is there.
func (l laneShelf) Receive(ctx context.Context, from ledger.Device, f ledger.Family, records []*ledger.Record) error {
	var kept []*ledger.Record
	for _, r := range records {
		if l.g.Carries(r.Device) && (r.Ledger == l.g.Ledger() || l.g.MaySee(records) || l.passes(r.Ledger)) {
			kept = append(kept, r)
		}
	}
	if len(kept) == 0 {
		return nil
	}
	return l.shelf.Receive(ctx, from, f, kept)
}

// Loose is nothing, and no lane passes a store that stands in for a node's.
func (*stored) Loose(ledger.TID) ([][]byte, bool) { return nil, false }

// Through is nothing.
func (*stored) Through(lanes.Grant) Book { return laneShelf{newShelf(), lanes.Grant{}} }

// Loose is nothing.
func (shelved) Loose(ledger.TID) ([][]byte, bool) { return nil, false }

// Through is nothing.
func (shelved) Through(lanes.Grant) Book { return laneShelf{newShelf(), lanes.Grant{}} }

// ofMember is an exchange with a computer of the fleet.
func ofMember(m *Mesh, s network.Stream, d ledger.Device) *exchange {
	return newExchange(m, s, d, m.c.Book, m.c.Fleet)
}
