package mesh

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"net"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/network"

	"github.com/parley-mesh/parley/ledger"
)

// patience is how long a test waits for what comes at once when it works.
const patience = 2 * time.Minute

var fleet = ledger.TID{0xf1}

// crew is a few meshes of one fleet on loopback.
type crew struct {
	t       testing.TB
	ctx     context.Context
	ids     []Identity
	shelves []*shelf
	meshes  []*Mesh
	mu      sync.Mutex
	known   map[int][]Peer // by computer: whom it may dial
	made    ledger.OID     // the head that the second computer's clone made
}

func (c *crew) knows(i int, peers ...Peer) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.known == nil {
		c.known = map[int][]Peer{}
	}
	c.known[i] = peers
}

func (c *crew) peersOf(i int) func() []Peer {
	return func() []Peer {
		c.mu.Lock()
		defer c.mu.Unlock()
		return c.known[i]
	}
}

func (c *crew) madeBy(i int) func(context.Context, uint64, uint64, ledger.OID) bool {
	return func(_ context.Context, repo, pull uint64, head ledger.OID) bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		return i == 1 && repo == 7 && pull == 42 && head == c.made
	}
}

// loopback are the two ways of listening.
var loopback = map[string]string{"quic": "/ip4/127.0.0.1/udp/0/quic-v1", "tcp": "/ip4/127.0.0.1/tcp/0"}

func newCrew(t testing.TB, n int, listen string) *crew {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	c := &crew{t: t, ctx: ctx}
	for i := range n {
		c.ids = append(c.ids, NewIdentity([32]byte{byte(i + 1)}))
		c.shelves = append(c.shelves, newShelf())
	}
	for i := range n {
		c.meshes = append(c.meshes, c.start(i, c.shelves[i], listen))
		c.shelves[i].ask = c.meshes[i].Ask
	}
	return c
}

func (c *crew) devices() []ledger.Device {
	var out []ledger.Device
	for _, id := range c.ids {
		out = append(out, id.Device())
	}
	return out
}

func (c *crew) start(i int, b Book, listen string) *Mesh {
	c.t.Helper()
	m, err := Start(c.ctx, Config{Identity: c.ids[i], Fleet: fleet, Inc: ledger.Incarnation{byte(i + 1)}, Listen: []string{listen}, Book: b, Peers: c.peersOf(i), Made: c.madeBy(i), SyncEvery: 2 * time.Second})
	if err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(func() {
		if err := m.Close(); err != nil {
			c.t.Error(err)
		}
	})
	return m
}

// join makes all of them members and connects each to the first.
func (c *crew) join() {
	c.t.Helper()
	first := Peer{Device: c.ids[0].Device(), Addrs: c.meshes[0].Addrs()}
	for _, m := range c.meshes {
		m.gate.set(nil)
	}
	for i := range c.meshes[1:] {
		c.knows(i+1, first)
	}
	for _, m := range c.meshes {
		m.SetMembers(c.devices())
	}
	for _, m := range c.meshes[1:] {
		m.dialNow()
		c.await(m, PeerUp)
	}
}

// await waits for an event.
func (c *crew) await(m *Mesh, k EventKind) Event {
	c.t.Helper()
	for {
		select {
		case e := <-m.Events():
			if e.Kind == k {
				return e
			}
		case <-c.ctx.Done():
			c.t.Fatalf("event %d never comes", k)
		}
	}
}

func TestWhatOnePublishesTheOthersHear(t *testing.T) {
	for name, listen := range loopback {
		t.Run(name, func(t *testing.T) {
			c := newCrew(t, 3, listen)
			c.join()
			p := newPen(c.ids[1], ledger.TID{7})
			for range 20 {
				r := p.write(t)
				if err := c.shelves[1].Receive(c.ctx, c.ids[1].Device(), ledger.Conversation, []*ledger.Record{r}); err != nil {
					t.Fatal(err)
				}
				if err := c.meshes[1].Publish(r); err != nil {
					t.Fatal(err)
				}
			}

			for i, s := range c.shelves {
				s.wait(t, c.ctx, 20)
				if i != 1 && c.meshes[i].Peers()[0].Transport != name {
					t.Errorf("connected by %s", c.meshes[i].Peers()[0].Transport)
				}
			}
		})
	}
}

func TestWhoWasAwayCatchesUp(t *testing.T) { // P24
	c := newCrew(t, 2, loopback["tcp"])
	for _, tid := range []ledger.TID{{7}, {8}, {9}} {
		p := newPen(c.ids[0], tid)
		for range 300 {
			if err := c.shelves[0].Receive(c.ctx, c.ids[0].Device(), ledger.Conversation, []*ledger.Record{p.write(t)}); err != nil {
				t.Fatal(err)
			}
		}
	}

	c.join()

	c.shelves[1].wait(t, c.ctx, 900)
	if bad := c.shelves[1].disordered(); bad > 0 {
		t.Errorf("%d records came before their predecessors", bad)
	}
}

func TestBothSidesOfACatchUpGetWhatTheyLack(t *testing.T) {
	c := newCrew(t, 2, loopback["quic"])
	for i := range 2 {
		p := newPen(c.ids[i], ledger.TID{7})
		for range 50 {
			if err := c.shelves[i].Receive(c.ctx, c.ids[i].Device(), ledger.Conversation, []*ledger.Record{p.write(t)}); err != nil {
				t.Fatal(err)
			}
		}
	}

	c.join()

	for _, s := range c.shelves {
		s.wait(t, c.ctx, 100)
	}
}

func TestAStrangerIsRefused(t *testing.T) {
	c := newCrew(t, 3, loopback["quic"])
	stranger := c.meshes[2]
	c.meshes[0].SetMembers(c.devices()[:2])
	c.knows(2, Peer{c.ids[0].Device(), c.meshes[0].Addrs()})
	stranger.SetMembers(c.devices())

	id, err := peerOf(c.ids[0].Device())
	if err != nil {
		t.Fatal(err)
	}
	stranger.dial(id, stranger.addressesOf(stranger.c.Peers()[0]))
	_, err = stranger.host.NewStream(c.ctx, id, syncProtocol)

	if err == nil {
		t.Error("a stranger can begin a catch-up")
	}
	if got := c.meshes[0].Peers(); len(got) > 0 {
		t.Errorf("the stranger is known: %+v", got)
	}
}

func TestBothSidesOfAConnectionLearnWhereTheOtherListens(t *testing.T) {
	for name, listen := range loopback {
		t.Run(name, func(t *testing.T) {
			c := newCrew(t, 2, listen)
			first := Peer{Device: c.ids[0].Device(), Addrs: c.meshes[0].Addrs()}
			c.knows(1, first)
			for _, m := range c.meshes {
				m.SetMembers(c.devices())
			}

			for i, m := range c.meshes {
				if e := c.await(m, PeerUp); !slices.Equal(e.Addrs, c.meshes[1-i].Addrs()) {
					t.Errorf("computer %d learns %q, want %q", i, e.Addrs, c.meshes[1-i].Addrs())
				}
			}
		})
	}
}

func TestARemovedComputerIsCutOff(t *testing.T) { // case 51
	c := newCrew(t, 2, loopback["quic"])
	c.join()

	c.meshes[0].SetMembers(c.devices()[:1])

	c.await(c.meshes[1], PeerDown)
}

func TestEqualLedgersCostNextToNothing(t *testing.T) { // D-6
	c := newCrew(t, 2, loopback["tcp"])
	p := newPen(c.ids[0], ledger.TID{7})
	for range 100 {
		r := p.write(t)
		for _, s := range c.shelves {
			if err := s.Receive(c.ctx, c.ids[0].Device(), ledger.Conversation, []*ledger.Record{r}); err != nil {
				t.Fatal(err)
			}
		}
	}
	a := ofMember(c.meshes[0], nil, c.ids[1].Device())
	var said bytes.Buffer
	for range 2 {
		if err := ledger.WriteFrame(&said, a.hello()); err != nil {
			t.Fatal(err)
		}
	}
	if err := ledger.WriteFrame(&said, &ledger.Bye{}); err != nil {
		t.Fatal(err)
	}
	if b := ofMember(c.meshes[1], nil, c.ids[0].Device()); b.hello().Digest != a.hello().Digest {
		t.Fatal("equal ledgers have different digests")
	}

	if said.Len() > 200 {
		t.Errorf("a round over equal ledgers costs %d bytes", said.Len())
	}
}

// attack lets one member send raw frames into another's catch-up.
func attack(t *testing.T, send func(network.Stream) error) *crew {
	t.Helper()
	c := newCrew(t, 2, loopback["tcp"])
	c.join()
	id, err := peerOf(c.ids[0].Device())
	if err != nil {
		t.Fatal(err)
	}
	s, err := c.meshes[1].host.NewStream(c.ctx, id, syncProtocol)
	if err != nil {
		t.Fatal(err)
	}
	if err := send(s); err != nil {
		t.Logf("sending: %v", err) // it may be refused in the middle
	}
	if err := s.SetReadDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	r := bufio.NewReader(s)
	for err == nil {
		_, err = ledger.ReadFrame(r) // until the other side gives up
	}
	return c
}

func TestHostileFramesAreRefusedAndHarmNobody(t *testing.T) { // cases 1, 4, 9
	hello := &ledger.Hello{Version: 1, Inc: ledger.Incarnation{9}, Now: 1, Digest: ledger.Digest{9}}
	detail := &ledger.Detail{Fleet: fleet}
	records := func(change func(*ledger.Records)) []ledger.Frame {
		f := &ledger.Records{Ledger: ledger.TID{7}, Family: ledger.Conversation, Wires: [][]byte{newPen(NewIdentity([32]byte{2}), ledger.TID{7}).write(t).Wire}}
		change(f)
		return []ledger.Frame{hello, detail, &ledger.List{Scope: ledger.ListAll}, &ledger.Bye{}, f, &ledger.Bye{}}
	}
	for name, frames := range map[string][]ledger.Frame{
		"another version":   {&ledger.Hello{Version: 2}},
		"no greeting":       {&ledger.Bye{}},
		"another fleet":     {hello, &ledger.Detail{Fleet: ledger.TID{1}}},
		"a frame of place":  {hello, &ledger.Have{Ledger: ledger.TID{7}}},
		"another's ledger":  records(func(f *ledger.Records) { f.Ledger = ledger.TID{8} }),
		"another family":    records(func(f *ledger.Records) { f.Family = ledger.Roster }),
		"a bad signature":   records(func(f *ledger.Records) { f.Wires[0][len(f.Wires[0])-1] ^= 1 }),
		"no record at all":  records(func(f *ledger.Records) { f.Wires[0] = []byte{1, 2, 3} }),
		"a record cut off":  records(func(f *ledger.Records) { f.Wires[0] = f.Wires[0][:100] }),
		"a later record":    records(func(f *ledger.Records) { f.Wires[0][20] ^= 1 }),
		"nothing but noise": nil,
	} {
		t.Run(name, func(t *testing.T) {
			c := attack(t, func(s network.Stream) error {
				if frames == nil {
					_, err := s.Write(bytes.Repeat([]byte{0xff}, 100))
					return err
				}
				for _, f := range frames {
					if err := ledger.WriteFrame(s, f); err != nil {
						return err
					}
				}
				return nil
			})

			if n := c.shelves[0].count(); n > 0 {
				t.Errorf("%d records were taken", n)
			}
			p := newPen(c.ids[1], ledger.TID{5})
			r := p.write(t)
			if err := c.shelves[1].Receive(c.ctx, c.ids[1].Device(), ledger.Conversation, []*ledger.Record{r}); err != nil {
				t.Fatal(err)
			}
			c.meshes[1].SyncNow()
			c.shelves[0].wait(t, c.ctx, 1) // it still talks
		})
	}
}

func TestTheOthersSayWhoMadeACommit(t *testing.T) { // D-11
	c := newCrew(t, 3, loopback["quic"])
	head := ledger.OID(bytes.Repeat([]byte{5}, 20))
	c.mu.Lock()
	c.made = head
	c.mu.Unlock()
	c.join()

	made := c.meshes[0].AskMade(c.ctx, 7, 42, head)

	if len(made) != 1 || made[0] != c.ids[1].Device() {
		t.Errorf("made by %v", made)
	}
	if other := c.meshes[0].AskMade(c.ctx, 7, 43, head); len(other) > 0 {
		t.Errorf("another pull request was made by %v", other)
	}
}

func TestATakenPortIsSaid(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, port, err := net.SplitHostPort(l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}

	_, err = Start(t.Context(), Config{Identity: NewIdentity([32]byte{9}), Listen: []string{"/ip4/127.0.0.1/tcp/" + port}, Book: newShelf(), Peers: func() []Peer { return nil }})

	if !errors.Is(err, ErrPortTaken) {
		t.Errorf("%v", err)
	}
}
