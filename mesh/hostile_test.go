package mesh

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/network"

	"github.com/parley-mesh/parley/ledger"
)

// script is a stream of a peer that says what it says, whatever it hears.
type script struct {
	network.Stream
	in    io.Reader
	heard int
}

func (s *script) Read(b []byte) (int, error) { return s.in.Read(b) }
func (s *script) Write(b []byte) (int, error) {
	s.heard += len(b)
	return len(b), nil
}
func (*script) SetReadDeadline(time.Time) error  { return nil }
func (*script) SetWriteDeadline(time.Time) error { return nil }
func (*script) Reset() error                     { return nil }
func (*script) Close() error                     { return nil }

// alone is a mesh without a host, enough for one exchange.
func alone(b Book) *Mesh {
	ctx, cancel := context.WithCancel(context.Background())
	return &Mesh{
		c:   Config{Identity: NewIdentity([32]byte{1}), Fleet: fleet, Inc: ledger.Incarnation{1}, Book: b, Wall: time.Now, Logger: slog.New(slog.DiscardHandler)},
		ctx: ctx, cancel: cancel, events: make(chan Event, eventsMax), answers: map[ledger.Device]int{},
	}
}

func said(t testing.TB, frames ...ledger.Frame) []byte {
	t.Helper()
	var b bytes.Buffer
	for _, f := range frames {
		if err := ledger.WriteFrame(&b, f); err != nil {
			t.Fatal(err)
		}
	}
	return b.Bytes()
}

// answered runs the answering side over what a peer says.
func answered(m *Mesh, in []byte) (*script, error) {
	s := &script{in: bytes.NewReader(in)}
	x := ofMember(m, s, NewIdentity([32]byte{2}).Device())
	err := x.answer()
	m.end(x, err)
	return s, err
}

func FuzzResponder(f *testing.F) {
	wire := newPen(NewIdentity([32]byte{2}), ledger.TID{7}).write(f).Wire
	hello := &ledger.Hello{Version: 1, Inc: ledger.Incarnation{9}, Now: 1, Digest: ledger.Digest{9}}
	list := &ledger.List{Scope: ledger.ListAll, Entries: []ledger.Listing{{Ledger: ledger.TID{5}, Digest: ledger.Digest{1}}}}
	have := &ledger.Have{Ledger: ledger.TID{5}}
	f.Add(said(f, hello))
	f.Add(said(f, hello, &ledger.Detail{Fleet: fleet}, list, have, &ledger.Bye{}, &ledger.Bye{}))
	f.Add(said(f, hello, list, &ledger.Bye{}, &ledger.Records{Ledger: ledger.TID{7}, Family: ledger.Conversation, Wires: [][]byte{wire}}, &ledger.Bye{}))
	f.Add([]byte{0xff, 0xff, 0xff, 0x01})
	f.Fuzz(func(t *testing.T, in []byte) {
		b := newShelf()
		own := newPen(NewIdentity([32]byte{1}), ledger.TID{5})
		if err := b.Receive(t.Context(), NewIdentity([32]byte{1}).Device(), ledger.Conversation, []*ledger.Record{own.write(t)}); err != nil {
			t.Fatal(err)
		}
		m := alone(b)
		defer m.cancel()

		_, _ = answered(m, in) // refusing is right, whatever it says

		for tid, chains := range b.chains {
			for _, records := range chains {
				for _, r := range records {
					if r.Ledger != tid || r.Verify(b.family[tid]) != nil {
						t.Errorf("a record of %s was taken that its author did not sign for it", r.Ledger.Short())
					}
				}
			}
		}
	})
}

func TestAPeerCannotNameChainsWithoutEnd(t *testing.T) {
	b := newShelf()
	own := newPen(NewIdentity([32]byte{1}), ledger.TID{5})
	if err := b.Receive(t.Context(), NewIdentity([32]byte{1}).Device(), ledger.Conversation, []*ledger.Record{own.write(t)}); err != nil {
		t.Fatal(err)
	}
	m := alone(b)
	defer m.cancel()
	in := said(t, &ledger.Hello{Version: 1, Now: 1, Digest: ledger.Digest{9}}, &ledger.List{Scope: ledger.ListAll})
	part := said(t, &ledger.Have{Ledger: ledger.TID{5}, Positions: make([]ledger.Position, ledger.HaveMax), More: true})
	in = append(in, bytes.Repeat(part, positionsMax/ledger.HaveMax+1)...)

	if _, err := answered(m, in); err == nil || !bytes.Contains([]byte(err.Error()), []byte("chains")) {
		t.Errorf("the exchange ends with %v", err)
	}
}

func TestALedgerWhoseFamilyNobodyKnowsIsNotSent(t *testing.T) {
	b := newShelf()
	own := newPen(NewIdentity([32]byte{1}), ledger.TID{5})
	if err := b.Receive(t.Context(), NewIdentity([32]byte{1}).Device(), ledger.FamilyUnknown, []*ledger.Record{own.write(t)}); err != nil {
		t.Fatal(err)
	}
	m := alone(b)
	defer m.cancel()

	_, err := answered(m, said(t, &ledger.Hello{Version: 1, Now: 1, Digest: ledger.Digest{9}}, &ledger.List{Scope: ledger.ListAll},
		&ledger.Have{Ledger: ledger.TID{5}}, &ledger.Bye{}, &ledger.Bye{}))
	if err != nil {
		t.Errorf("one ledger ends the whole exchange: %v", err)
	}
}

// counted counts what passes over a stream, both ways.
type counted struct {
	network.Stream
	mu    sync.Mutex
	bytes int
}

func (c *counted) Read(b []byte) (int, error) {
	n, err := c.Stream.Read(b)
	c.mu.Lock()
	c.bytes += n
	c.mu.Unlock()
	return n, err
}

func (c *counted) Write(b []byte) (int, error) {
	n, err := c.Stream.Write(b)
	c.mu.Lock()
	c.bytes += n
	c.mu.Unlock()
	return n, err
}

func TestEqualLedgersCost200BytesAtMostOnTheStream(t *testing.T) { // D-6
	c := newCrew(t, 2, loopback["quic"])
	p := newPen(c.ids[0], ledger.TID{7})
	for range 100 {
		r := p.write(t)
		for _, s := range c.shelves {
			if err := s.Receive(c.ctx, c.ids[0].Device(), ledger.Conversation, []*ledger.Record{r}); err != nil {
				t.Fatal(err)
			}
		}
	}
	c.join()
	id, err := peerOf(c.ids[0].Device())
	if err != nil {
		t.Fatal(err)
	}
	s, err := c.meshes[1].host.NewStream(c.ctx, id, syncProtocol)
	if err != nil {
		t.Fatal(err)
	}
	over := &counted{Stream: s}
	x := ofMember(c.meshes[1], over, c.ids[0].Device())

	err = x.lead()
	c.meshes[1].end(x, err)

	over.mu.Lock()
	defer over.mu.Unlock()
	if err != nil || over.bytes > 200 || over.bytes < 50 {
		t.Errorf("%d bytes passed, %v", over.bytes, err)
	}
}
