package mesh

import (
	"context"
	"fmt"
	"net/netip"
	"testing"
	"testing/synctest"
	"time"

	"github.com/libp2p/go-libp2p"

	"github.com/parley-mesh/parley/ledger"
	"github.com/parley-mesh/parley/simnet/memnet"
)

// town is a fleet on a network in memory, in virtual time. Everybody knows everybody's address.
type town struct {
	*crew
	net *memnet.Net
}

// newTown starts n computers in the bubble of a test and lets them find each other.
func newTown(t *testing.T, n int) *town {
	t.Helper()
	c := &town{crew: &crew{t: t, ctx: t.Context()}, net: memnet.New(10 * time.Millisecond)}
	for i := range n {
		c.ids = append(c.ids, NewIdentity([32]byte{byte(i + 1)}))
		c.shelves = append(c.shelves, newShelf())
		c.meshes = append(c.meshes, nil)
	}
	for i := range n {
		c.open(i)
	}
	t.Cleanup(func() {
		for i := range n {
			c.close(i)
		}
	})
	c.settle()
	return c
}

// settle lets connections and gossip form.
func (c *town) settle() { <-time.After(5 * time.Second) }

func (c *town) host(i int) netip.Addr { return netip.AddrFrom4([4]byte{10, 0, 0, byte(i + 1)}) }

// peers are the others, as computer i knows them.
func (c *town) peers(i int) []Peer {
	var out []Peer
	for j, id := range c.ids {
		if j != i {
			out = append(out, Peer{id.Device(), []string{fmt.Sprintf("/ip4/%s/tcp/4001", c.host(j))}})
		}
	}
	return out
}

// open starts computer i with what its shelf holds.
func (c *town) open(i int) {
	c.t.Helper()
	m, err := Start(c.ctx, Config{
		Identity: c.ids[i], Fleet: fleet, Inc: ledger.Incarnation{byte(i + 1)}, Listen: []string{fmt.Sprintf("/ip4/%s/tcp/4001", c.host(i))},
		Book: c.shelves[i], Peers: func() []Peer { return c.peers(i) },
		HostOptions: func() []libp2p.Option { return c.net.Host(c.host(i)) },
	})
	if err != nil {
		c.t.Fatal(err)
	}
	c.meshes[i] = m
	c.shelves[i].ask = m.Ask
	m.SetMembers(c.devices())
}

func (c *town) close(i int) {
	c.t.Helper()
	if c.meshes[i] == nil {
		return
	}
	if err := c.meshes[i].Close(); err != nil {
		c.t.Error(err)
	}
	c.meshes[i] = nil
}

// say writes the pen's next record on computer i's shelf, and tells the others if aloud.
func (c *town) say(i int, p *pen, aloud bool) {
	c.t.Helper()
	r := p.write(c.t)
	if err := c.shelves[i].Receive(c.ctx, c.ids[i].Device(), ledger.Conversation, []*ledger.Record{r}); err != nil {
		c.t.Fatal(err)
	}
	if !aloud {
		return
	}
	if err := c.meshes[i].Publish(r); err != nil {
		c.t.Fatal(err)
	}
}

// heard waits at most d for computer i to hold n records, and returns how long it took.
func (c *town) heard(i, n int, d time.Duration) time.Duration {
	c.t.Helper()
	began := time.Now()
	ctx, cancel := context.WithTimeout(c.ctx, d)
	defer cancel()
	c.shelves[i].wait(c.t, ctx, n)
	return time.Since(began)
}

func TestARecordReachesEveryComputerWithinASecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newTown(t, 5)

		c.say(2, newPen(c.ids[2], ledger.TID{7}), true)

		for i := range c.meshes {
			c.heard(i, 1, time.Second)
		}
	})
}

func TestWhatGossipLostACatchUpBringsWithinMinutes(t *testing.T) { // D-6
	synctest.Test(t, func(t *testing.T) {
		c := newTown(t, 3)

		c.say(0, newPen(c.ids[0], ledger.TID{7}), false)

		for i := range c.meshes {
			t.Logf("computer %d holds it after %v", i, c.heard(i, 1, 5*time.Minute))
		}
	})
}

func TestAGapIsAskedForAfterMoments(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newTown(t, 2)
		p := newPen(c.ids[0], ledger.TID{7})

		c.say(0, p, false)
		c.say(0, p, true) // it cannot be placed without the one before

		if took := c.heard(1, 2, 10*time.Second); took < askedAfter {
			t.Errorf("asked after %v, before the gap had time to close", took)
		}
	})
}

func TestTwoHalvesThatWereApartHoldTheSameAfterwards(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newTown(t, 4)
		split := func(by func(a, b netip.Addr)) {
			for _, a := range []int{0, 1} {
				for _, b := range []int{2, 3} {
					by(c.host(a), c.host(b))
				}
			}
		}

		split(c.net.Part)
		<-time.After(10 * time.Minute)
		left, right := newPen(c.ids[0], ledger.TID{7}), newPen(c.ids[2], ledger.TID{7})
		for range 5 {
			c.say(0, left, true)
			c.say(2, right, true)
		}
		c.heard(1, 5, time.Second)
		c.heard(3, 5, time.Second)
		split(c.net.Heal)

		for i := range c.meshes {
			c.heard(i, 10, time.Minute)
		}
	})
}
