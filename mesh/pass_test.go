package mesh

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p"
	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/p2p/net/swarm"

	"github.com/parley-mesh/parley/ledger"
	"github.com/parley-mesh/parley/simnet/virtual"
)

// doorstep is an aside whose second computer does not belong yet, and can reach nobody but the relay.
func doorstep(t *testing.T) (*aside, *inviter) {
	t.Helper()
	a := newAside(t, true)
	a.close(1)
	a.meshes[0].SetMembers(a.devices()[:1])
	return a, a.inviter(t)
}

// inviter lets the first computer invite.
func (a *aside) inviter(t *testing.T) *inviter {
	t.Helper()
	<-time.After(time.Minute) // a place at the relay
	nonce := [16]byte{1}
	own := ledger.FleetID(a.ids[0].Device(), nonce)
	a.meshes[0].c.Fleet = own
	r, err := ledger.Seal(a.ids[0].Key(), ledger.Header{Ledger: own, Lam: 1}, &ledger.Genesis{Nonce: nonce})
	if err != nil {
		t.Fatal(err)
	}
	return &inviter{crew: a.crew, spent: map[ledger.Invite]bool{}, yes: true, roster: []*ledger.Record{r}}
}

func (a *aside) over(i int) HostOptions {
	return func() []libp2p.Option { return a.net.Host(a.host(i)) }
}

// comes lets the second computer follow a code.
func (a *aside) comes(code string) (Joined, error) {
	ctx, cancel := context.WithTimeout(a.ctx, 10*time.Minute)
	defer cancel()
	return Join(ctx, JoinOptions{Identity: a.ids[1], Code: code, Name: "laptop", HostOptions: a.over(1)})
}

func TestTwoComputersPairWithNothingButARelay(t *testing.T) { // P3
	virtual.Test(t, func(t *testing.T) {
		a, in := doorstep(t)
		open := in.invite(nil)

		joined, err := a.comes(open.Code())
		if err != nil {
			t.Fatal(err)
		}
		if paired, err := open.Wait(a.ctx); err != nil || paired.Name != "laptop" || joined.InviterName != "desktop" || len(joined.Roster) != 1 {
			t.Errorf("paired %+v, %v; joined %+v", paired, err, joined)
		}
		<-time.After(time.Minute)
		if n := len(a.relay.porch.doors); n > 0 {
			t.Errorf("%d doors stand open after the pairing", n)
		}
	})
}

func TestAStrangerIsLetThroughForAnOpenInvitationAlone(t *testing.T) { // P3
	virtual.Test(t, func(t *testing.T) {
		a, in := doorstep(t)
		open := in.invite(nil)
		<-time.After(time.Minute)
		open.Cancel()
		<-time.After(time.Minute)

		if _, err := a.comes(open.Code()); !errors.Is(err, ErrUnreachable) {
			t.Errorf("after the end: %v", err)
		}
		if a.relay.View().Refused[RefusedStranger].Times == 0 {
			t.Error("nobody was refused")
		}
	})
}

// stranger is a host that nobody knows, connected to the relay of an open door.
func (a *aside) stranger(n byte) (host.Host, peer.AddrInfo) {
	a.t.Helper()
	g := newGate()
	g.all = true
	at := netip.AddrFrom4([4]byte{10, 0, 1, n})
	a.net.Part(at, a.host(0))
	a.net.Part(at, a.host(1))
	h, err := newHost(NewIdentity([32]byte{100 + n}), []string{fmt.Sprintf("/ip4/%s/tcp/1", at)}, g, append(a.net.Host(at), libp2p.EnableRelay())...)
	if err != nil {
		a.t.Fatal(err)
	}
	a.t.Cleanup(func() { _ = h.Close() })
	info, err := parseRelay(a.relay.View().Addrs[0])
	if err != nil {
		a.t.Fatal(err)
	}
	return h, info
}

// knocks shows the relay a code's pass once.
func (a *aside) knocks(h host.Host, relay peer.AddrInfo, code string) error {
	a.t.Helper()
	c, err := ledger.ParseInviteCode(code)
	if err != nil {
		a.t.Fatal(err)
	}
	return knocker{h: h, code: c}.knockOnce(a.ctx, relay)
}

// calls dials a member over the relay, and returns what came of it.
func (a *aside) calls(h host.Host, relay peer.AddrInfo, i int) error {
	a.t.Helper()
	p, err := peerOf(a.ids[i].Device())
	if err != nil {
		a.t.Fatal(err)
	}
	over := (&station{info: relay}).addrs()
	ctx, cancel := context.WithTimeout(a.ctx, 30*time.Second)
	defer cancel()
	defer func() { _ = h.Network().ClosePeer(p) }()
	if s, ok := h.Network().(*swarm.Swarm); ok {
		s.Backoff().Clear(p)
	}
	return h.Connect(ctx, peer.AddrInfo{ID: p, Addrs: over})
}

func TestAPassLeadsToItsInviterAndToNobodyElse(t *testing.T) { // P3
	virtual.Test(t, func(t *testing.T) {
		a := newAside(t, true)
		open := a.inviter(t).invite(nil)
		<-time.After(time.Minute)
		h, relay := a.stranger(1)

		other, err := ledger.ParseInviteCode(open.Code())
		if err != nil {
			t.Fatal(err)
		}
		other.Secret[0] ^= 1
		if err := a.knocks(h, relay, other.Encode()); !errors.Is(err, errNoDoor) {
			t.Errorf("another pass: %v", err)
		}
		if a.calls(h, relay, 0) == nil {
			t.Error("who showed no pass calls the inviter")
		}
		if err := a.knocks(h, relay, open.Code()); err != nil {
			t.Fatal(err)
		}
		if r := a.meshes[1].Relays(); len(r) != 1 || !r[0].Reserved {
			t.Fatalf("the other has no place at the relay: %+v", r)
		}
		if a.calls(h, relay, 1) == nil {
			t.Error("a pass leads to another computer of the fleet")
		}
		for k := range passCircuits {
			if err := a.calls(h, relay, 0); err != nil {
				t.Errorf("call %d: %v", k, err)
			}
		}
		if a.calls(h, relay, 0) == nil {
			t.Error("a stranger may call for ever")
		}
	})
}

func TestFewStrangersStayAtARelayAndNotForLong(t *testing.T) { // P3
	virtual.Test(t, func(t *testing.T) {
		a, in := doorstep(t)
		before, relay := a.stranger(99)
		if before.Connect(a.ctx, relay) == nil {
			<-time.After(time.Second)
			if before.Network().Connectedness(relay.ID) == network.Connected {
				t.Error("a stranger comes in while no invitation is open")
			}
		}
		open := in.invite(nil)
		<-time.After(time.Minute)

		var all []host.Host
		for n := range passEach + 1 {
			h, relay := a.stranger(byte(n))
			if err := a.knocks(h, relay, open.Code()); (err == nil) != (n < passEach) {
				t.Errorf("stranger %d: %v", n, err)
			}
			all = append(all, h)
		}
		for n := passEach + 1; n < passGuests+2; n++ {
			h, relay := a.stranger(byte(n))
			_ = h.Connect(a.ctx, relay) // the last are refused
			all = append(all, h)
		}
		there := func() (n int) {
			for _, h := range all {
				if h.Network().Connectedness(relay.ID) == network.Connected {
					n++
				}
			}
			return n
		}
		<-time.After(time.Second)
		if n := there(); n != passGuests {
			t.Errorf("%d strangers are there", n)
		}
		<-time.After(passKnock)
		if n := there(); n != passEach {
			t.Errorf("%d strangers are there after the time to show a pass", n)
		}
		<-time.After(passStay)
		if n := there(); n > 0 {
			t.Errorf("%d strangers stay for ever", n)
		}
	})
}

func TestLittleIsCarriedForAStranger(t *testing.T) { // P3
	virtual.Test(t, func(t *testing.T) {
		a, in := doorstep(t)
		open := in.invite(nil)
		<-time.After(time.Minute)
		h, relay := a.stranger(1)
		if err := a.knocks(h, relay, open.Code()); err != nil {
			t.Fatal(err)
		}
		p, err := peerOf(a.ids[0].Device())
		if err != nil {
			t.Fatal(err)
		}
		if err := h.Connect(a.ctx, peer.AddrInfo{ID: p, Addrs: (&station{info: relay}).addrs()}); err != nil {
			t.Fatal(err)
		}

		sent := 0
		for sent < 4*passBytes && h.Network().Connectedness(p) == network.Connected {
			s, err := h.NewStream(a.ctx, p, pairProtocol)
			if err != nil {
				break
			}
			n, err := s.Write(make([]byte, 64<<10))
			sent += n
			_ = s.Reset()
			if err != nil {
				break
			}
			<-time.After(time.Second)
		}
		if sent > 2*passBytes {
			t.Errorf("%d bytes were carried", sent)
		}
	})
}

func TestADoorThatNobodyShutsShutsItself(t *testing.T) { // P3
	virtual.Test(t, func(t *testing.T) {
		a, in := doorstep(t)
		in.invite(nil)
		<-time.After(time.Minute)
		if len(a.relay.porch.doors) != 1 {
			t.Fatal("no door is open")
		}

		a.net.Unplug(a.host(0)) // its word that the invitation has ended does not come

		<-time.After(passMost + time.Minute)
		a.relay.porch.mu.Lock()
		n := len(a.relay.porch.doors)
		a.relay.porch.mu.Unlock()
		if n > 0 {
			t.Error("the door stands open for ever")
		}
	})
}

func TestTwoDevelopersPairWithNothingButARelay(t *testing.T) { // P3, P4
	virtual.Test(t, func(t *testing.T) {
		a, _ := doorstep(t)
		theirs := NewIdentity([32]byte{40})
		at := netip.MustParseAddr("10.0.2.1")
		a.net.Part(a.host(0), at)
		m, err := Start(a.ctx, Config{
			Identity: theirs, Fleet: ledger.TID{0xb}, Inc: ledger.Incarnation{1}, Listen: []string{fmt.Sprintf("/ip4/%s/tcp/4001", at)},
			Book: newShelf(), Peers: func() []Peer { return nil }, HostOptions: func() []libp2p.Option { return a.net.Host(at) },
			Reach: Reach{Circuits: true, Relays: []string{"/ip4/10.0.3.1/tcp/1/p2p/" + NewIdentity([32]byte{98}).peerID(t).String()}},
		})
		if err != nil {
			t.Fatal(err)
		}
		defer m.Close()
		m.SetMembers([]ledger.Device{theirs.Device()})
		options := func(name string, to *LanePaired) LaneOptions {
			return LaneOptions{
				Name: name, Spend: func(ledger.Invite) error { return nil }, Roster: func() ([]*ledger.Record, error) { return nil, nil },
				Confirm: func(context.Context, string, [4]string) (bool, error) { return true, nil },
				Bind:    func(_ context.Context, l LanePaired) error { *to = l; return nil },
			}
		}
		var here, there LanePaired
		open, err := a.meshes[0].InviteLane(options("alice", &here))
		if err != nil {
			t.Fatal(err)
		}

		if _, err := m.AcceptLane(a.ctx, open.Code(), options("bob", &there)); err != nil {
			t.Fatal(err)
		}

		if id := a.relay.host.ID(); m.host.Network().Connectedness(id) == network.Connected || m.gate.InterceptPeerDial(id) {
			t.Error("another developer's relay may be dialled after the pairing")
		}
		if _, err := open.Wait(a.ctx); err != nil || here.Device != theirs.Device() || there.Device != a.ids[0].Device() {
			t.Errorf("%v: here %+v, there %+v", err, here, there)
		}
	})
}
