package mesh

import (
	"context"
	"fmt"
	"net/netip"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p"

	"github.com/parley-mesh/parley/ledger"
	"github.com/parley-mesh/parley/simnet/memnet"
	"github.com/parley-mesh/parley/simnet/virtual"
)

// town is a fleet on a network in memory, in virtual time. Everybody knows everybody's address.
type town struct {
	*crew
	net       *memnet.Net
	heartbeat time.Duration // 0 is the mesh's own
	syncEvery time.Duration
	wall      func() time.Time    // of who is opened next; nil is right
	knows     func(i, j int) bool // whether i knows j's address; nil: everybody does
}

// newTown starts n computers in the bubble of a test and lets them find each other.
func newTown(t *testing.T, n int) *town {
	t.Helper()
	return (&town{}).start(t, n)
}

func (c *town) start(t *testing.T, n int) *town {
	t.Helper()
	c.crew, c.net = &crew{t: t, ctx: t.Context()}, memnet.New(10*time.Millisecond)
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
	<-time.After(5 * time.Second) // connections and gossip form
	return c
}

func (c *town) host(i int) netip.Addr { return netip.AddrFrom4([4]byte{10, 0, 0, byte(i + 1)}) }

// peers are the others, as computer i knows them.
func (c *town) peers(i int) []Peer {
	var out []Peer
	for j, id := range c.ids {
		if j == i {
			continue
		}
		p := Peer{Device: id.Device()}
		if c.knows == nil || c.knows(i, j) {
			p.Addrs = []string{fmt.Sprintf("/ip4/%s/tcp/4001", c.host(j))}
		}
		out = append(out, p)
	}
	return out
}

// open starts computer i with what its shelf holds.
func (c *town) open(i int) {
	c.t.Helper()
	m, err := Start(c.ctx, Config{
		Identity: c.ids[i], Fleet: fleet, Inc: ledger.Incarnation{byte(i + 1)}, Listen: []string{fmt.Sprintf("/ip4/%s/tcp/4001", c.host(i))},
		Book: c.shelves[i], Peers: func() []Peer { return c.peers(i) },
		Heartbeat: c.heartbeat, SyncEvery: c.syncEvery, Wall: c.wall,
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
	virtual.Test(t, func(t *testing.T) {
		c := newTown(t, 5)

		c.say(2, newPen(c.ids[2], ledger.TID{7}), true)

		for i := range c.meshes {
			c.heard(i, 1, time.Second)
		}
	})
}

func TestWhatGossipLostACatchUpBringsWithinMinutes(t *testing.T) { // D-6
	virtual.Test(t, func(t *testing.T) {
		c := newTown(t, 3)

		c.say(0, newPen(c.ids[0], ledger.TID{7}), false)

		for i := range c.meshes {
			t.Logf("computer %d holds it after %v", i, c.heard(i, 1, 5*time.Minute))
		}
	})
}

func TestAGapIsAskedForAfterMoments(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
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
	virtual.Test(t, func(t *testing.T) {
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

func TestWhoWasRemovedHearsNothingMore(t *testing.T) { // case 51
	virtual.Test(t, func(t *testing.T) {
		c := newTown(t, 3)
		for _, m := range c.meshes[:2] {
			m.SetMembers(c.devices()[:2])
		}

		c.say(0, newPen(c.ids[0], ledger.TID{7}), true)
		c.heard(1, 1, time.Second)
		c.meshes[2].SyncNow()
		before := c.net.Carried()
		<-time.After(10 * time.Minute)

		if n := c.shelves[2].count(); n > 0 {
			t.Errorf("%d records reached it", n)
		}
		if n := c.net.Carried() - before; n > 1<<20 {
			t.Errorf("its vain attempts cost %d bytes in ten minutes", n)
		}
	})
}

func TestAnOpenInvitationLetsNobodyElseListen(t *testing.T) { // case 51
	virtual.Test(t, func(t *testing.T) {
		c := newTown(t, 3)
		in, err := c.meshes[0].Invite(InviteOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range c.meshes[:2] {
			m.SetMembers(c.devices()[:2])
		}
		<-time.After(5 * time.Minute) // the removed computer dials again, and is let in as a guest

		c.say(0, newPen(c.ids[0], ledger.TID{7}), true)
		c.heard(1, 1, time.Second)
		c.meshes[2].SyncNow()
		<-time.After(time.Minute)

		if n := c.shelves[2].count(); n > 0 {
			t.Errorf("%d records reached it", n)
		}
		in.Cancel()
	})
}

// invites lets the first, alone in its fleet, invite whoever dials.
func (c *town) invites(t *testing.T) *Invitation {
	t.Helper()
	c.meshes[0].SetMembers(c.devices()[:1])
	in, err := c.meshes[0].Invite(InviteOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return in
}

func TestAGuestWhoIsAddedHearsEverythingAfterTheInvitation(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		c := newTown(t, 2)
		in := c.invites(t)
		<-time.After(time.Minute) // the other dials meanwhile: it knows of its membership first

		c.meshes[0].SetMembers(c.devices())
		in.Cancel()
		<-time.After(time.Minute)
		c.say(0, newPen(c.ids[0], ledger.TID{7}), true)

		c.heard(1, 1, time.Second)
	})
}

func TestAGuestWhoIsAddedAfterTheInvitationHearsEverything(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		c := newTown(t, 2)
		in := c.invites(t)
		in.Cancel()
		<-time.After(time.Minute) // the other dials meanwhile, and is let in to be told that it is too late

		c.meshes[0].SetMembers(c.devices())
		<-time.After(time.Minute)
		c.say(0, newPen(c.ids[0], ledger.TID{7}), true)

		c.heard(1, 1, time.Second)
	})
}

func TestTheDoorClosesBehindLatecomers(t *testing.T) { // case 53
	virtual.Test(t, func(t *testing.T) {
		c := newTown(t, 2)
		in := c.invites(t)
		in.Cancel()
		<-time.After(time.Minute)
		if n := len(c.meshes[0].host.Network().Conns()); n != 1 {
			t.Errorf("%d connections while latecomers are told, want 1", n)
		}

		<-time.After(lingerFor)

		if n := len(c.meshes[0].host.Network().Conns()); n > 0 || c.meshes[0].gate.guest(c.meshes[1].host.ID()) {
			t.Errorf("%d strangers are still there", n)
		}
	})
}

func TestAComputerThatIsAddedIsConnectedAtOnce(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		c := newTown(t, 3)
		for _, m := range c.meshes[:2] {
			m.SetMembers(c.devices()[:2])
		}
		c.say(0, newPen(c.ids[0], ledger.TID{7}), true)
		<-time.After(time.Minute)

		for _, m := range c.meshes[:2] {
			m.SetMembers(c.devices())
		}

		c.heard(2, 1, 5*time.Second)
	})
}

// events are those that have come so far, of one kind.
func (c *town) events(i int, k EventKind) int {
	n := 0
	for {
		select {
		case e := <-c.meshes[i].Events():
			if e.Kind == k {
				n++
			}
		default:
			return n
		}
	}
}

func TestARemovedComputerDoesNotSeeThoseWhoRefuseIt(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		c := newTown(t, 2)
		c.meshes[0].SetMembers(c.devices()[:1])
		<-time.After(time.Second)
		if n := c.events(1, PeerDown); n != 1 {
			t.Fatalf("it was told %d times that the other is away", n)
		}

		<-time.After(10 * time.Minute)

		if n := c.events(1, PeerUp); n > 0 {
			t.Errorf("it was told %d times that the other is there", n)
		}
		if seen := c.meshes[1].Peers()[0].LastSeen; time.Since(seen) < 9*time.Minute {
			t.Errorf("the other was last seen %v ago", time.Since(seen))
		}
	})
}

func TestTwoProcessesWithOneKeyAreNoticed(t *testing.T) { // case 41
	virtual.Test(t, func(t *testing.T) {
		c := newTown(t, 2)
		copied := c.meshes[1]
		c.ids = append(c.ids, c.ids[1])
		c.shelves, c.meshes = append(c.shelves, newShelf()), append(c.meshes, nil)
		c.open(2)
		t.Cleanup(func() { c.close(2) })
		<-time.After(5 * time.Second)
		if n := c.events(0, TwoIncarnations); n > 0 {
			t.Fatal("a process that was started anew is taken for a second one")
		}

		copied.SyncNow()
		<-time.After(5 * time.Second)

		if n := c.events(0, TwoIncarnations); n == 0 {
			t.Error("nobody noticed")
		}
	})
}

func TestAClockThatIsOffIsTold(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		c := newTown(t, 2)
		if n := c.events(0, ClockOff); n > 0 {
			t.Fatal("a right clock is said to be off")
		}
		c.close(1)
		c.wall = func() time.Time { return time.Now().Add(-clockOffMax - time.Second) }
		c.open(1)
		<-time.After(5 * time.Second)

		if n := c.events(0, ClockOff); n == 0 {
			t.Error("nobody noticed")
		}
	})
}

func TestACatchUpThatBreaksOffGoesOnWhereItWas(t *testing.T) { // P24
	virtual.Test(t, func(t *testing.T) {
		c := newTown(t, 2)
		c.close(1)
		p := newPen(c.ids[0], ledger.TID{7})
		for range 2000 { // about a megabyte
			c.say(0, p, false)
		}
		c.shelves[1].full = 500
		c.open(1)
		<-time.After(time.Second)
		broken, first := c.shelves[1].count(), c.net.Carried()
		if broken < 100 || broken >= 2000 {
			t.Fatalf("it broke off after %d records", broken)
		}
		c.shelves[1].full = 0
		c.meshes[1].SyncNow()

		c.heard(1, 2000, time.Minute)
		if c.shelves[1].again > 0 {
			t.Errorf("%d records came twice; %d bytes after the break", c.shelves[1].again, c.net.Carried()-first)
		}
	})
}

func TestTheStatusSaysSinceWhenAndHowFar(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		c := newTown(t, 2)
		<-time.After(time.Hour)
		for _, m := range c.meshes {
			m.SyncNow()
		}
		<-time.After(time.Second)

		for i, m := range c.meshes {
			s := m.Peers()[0]
			if on := time.Since(s.Since); on < time.Hour || on > time.Hour+time.Minute || s.LatencyMS < 20 || s.LatencyMS > 60 {
				t.Errorf("computer %d: since %v, %d ms", i, on, s.LatencyMS)
			}
		}
	})
}
