package mesh

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	ma "github.com/multiformats/go-multiaddr"

	"github.com/parley-mesh/parley/ledger"
	"github.com/parley-mesh/parley/simnet/memnet"
	"github.com/parley-mesh/parley/simnet/virtual"
)

// newCarried is an aside whose relay is a computer of the fleet that carries; the second does not belong yet.
func newCarried(t *testing.T) (*aside, *Mesh) {
	t.Helper()
	c := &town{crew: &crew{t: t, ctx: t.Context()}, net: memnet.New(10 * time.Millisecond)}
	carrier := NewIdentity([32]byte{97})
	at := netip.MustParseAddr(relayAt)
	relay := fmt.Sprintf("/ip4/%s/tcp/4001/p2p/%s", at, carrier.peerID(t))
	start := func(id Identity, at netip.Addr, r Reach, other ledger.Device) *Mesh {
		m, err := Start(c.ctx, Config{
			Identity: id, Fleet: fleet, Inc: ledger.Incarnation{1}, Listen: []string{fmt.Sprintf("/ip4/%s/tcp/4001", at)}, Reach: r,
			Book: newShelf(), Peers: func() []Peer { return []Peer{{Device: other}} }, HostOptions: func() []libp2p.Option { return c.net.Host(at) },
		})
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	c.ids = []Identity{NewIdentity([32]byte{1}), NewIdentity([32]byte{2})}
	c.meshes = []*Mesh{start(c.ids[0], c.host(0), Reach{Circuits: true, Relays: []string{relay}}, carrier.Device()), nil}
	m := start(carrier, at, Reach{Circuits: true, Carry: true}, c.ids[0].Device())
	for _, x := range []*Mesh{m, c.meshes[0]} {
		x.SetMembers([]ledger.Device{carrier.Device(), c.ids[0].Device()})
	}
	c.net.Part(c.host(0), c.host(1))
	t.Cleanup(func() {
		c.close(0)
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	})
	return &aside{town: c}, m
}

func TestAComputerThatCarriesLetsAnInvitedStrangerThrough(t *testing.T) { // P3
	virtual.Test(t, func(t *testing.T) {
		a, carrier := newCarried(t)
		in := a.inviter(t)
		if carrier.gate.InterceptSecured(network.DirInbound, a.ids[1].peerID(t), nil) {
			t.Error("a stranger comes in while nobody invites")
		}
		open := in.invite(nil)

		joined, err := a.comes(open.Code())
		if err != nil {
			t.Fatal(err)
		}
		if paired, err := open.Wait(a.ctx); err != nil || paired.Name != "laptop" || joined.InviterName != "desktop" {
			t.Errorf("paired %+v, %v; joined %+v", paired, err, joined)
		}
		<-time.After(time.Minute)
		if n := len(carrier.porch.doors); n > 0 || carrier.gate.InterceptSecured(network.DirInbound, a.ids[1].peerID(t), nil) {
			t.Errorf("%d doors stand open after the pairing", n)
		}
		again := in.invite(nil)
		again.Cancel()
		<-time.After(time.Minute)
		if _, err := a.comes(again.Code()); !errors.Is(err, ErrUnreachable) {
			t.Errorf("after the end: %v", err)
		}
	})
}

func TestWhoPassesACarrierIsHeardByNoProtocolOfIt(t *testing.T) { // P3
	virtual.Test(t, func(t *testing.T) {
		a, carrier := newCarried(t)
		open := a.inviter(t).invite(nil)
		<-time.After(time.Minute)
		g := newGate()
		g.all = true
		at := netip.MustParseAddr("10.0.1.5")
		a.net.Part(at, a.host(0))
		h, err := newHost(NewIdentity([32]byte{105}), nil, g, append(a.net.Host(at), libp2p.EnableRelay())...)
		if err != nil {
			t.Fatal(err)
		}
		defer h.Close()
		info := peer.AddrInfo{ID: carrier.host.ID(), Addrs: carrier.host.Addrs()}
		if a.calls(h, info, 0) == nil {
			t.Error("who showed no pass calls the inviter")
		}
		if err := a.knocks(h, info, open.Code()); err != nil {
			t.Fatal(err)
		}
		for _, p := range slices.Sorted(slices.Values(carrier.host.Mux().Protocols())) {
			if p == passProtocol || p[:min(8, len(p))] != "/parley/" {
				continue
			}
			s, err := h.NewStream(a.ctx, info.ID, p)
			if err != nil {
				continue
			}
			if _, err := s.Write([]byte("hello")); err == nil {
				if _, err = s.Read(make([]byte, 1)); err == nil {
					t.Errorf("%s answers a stranger", p)
				}
			}
		}
		for k := range passCircuits {
			if err := a.calls(h, info, 0); err != nil {
				t.Errorf("call %d: %v", k, err)
			}
		}
		_ = h.Network().ClosePeer(info.ID) // what it had is counted to it, whatever connection it comes by
		<-time.After(time.Second)
		if err := a.knocks(h, info, open.Code()); err != nil {
			t.Fatal(err)
		}
		if a.calls(h, info, 0) == nil {
			t.Error("a stranger that comes again may call for ever")
		}
	})
}

func TestGuestsThatNeverQuiteCameLeaveRoom(t *testing.T) {
	book := newGuestbook(8)
	now := time.Unix(1_800_000_000, 0)
	from := func(n byte) ma.Multiaddr { return ma.StringCast(fmt.Sprintf("/ip4/203.0.113.%d/udp/1/quic-v1", n)) }
	guest := func(n byte) peer.ID { return NewIdentity([32]byte{n}).peerID(t) }
	if book.admit(guest(1), from(1), now) {
		t.Fatal("it is not open")
	}
	book.open = true
	for n := range byte(3) {
		if got := book.admit(guest(n), from(9), now); got != (n < 2) {
			t.Errorf("guest %d of one address: %t", n, got)
		}
	}
	for n := byte(10); n < 16; n++ {
		if !book.admit(guest(n), from(n), now) {
			t.Errorf("guest %d finds no room", n)
		}
	}
	book.arrived(guest(10))
	if book.admit(guest(20), from(20), now) {
		t.Error("there is room for more than eight")
	}
	later := now.Add(handshakeTime + time.Second)
	for n := byte(20); n < 27; n++ {
		if !book.admit(guest(n), from(n), later) {
			t.Errorf("guest %d finds no room beside those who never came", n)
		}
	}
	if book.admit(guest(30), from(30), later) || !book.has(guest(10)) {
		t.Error("who is here has lost its place")
	}
	a, b := ma.StringCast("/ip6/2a00:1:2:300::1/udp/1/quic-v1"), ma.StringCast("/ip6/2a00:1:2:3ff::1/udp/1/quic-v1")
	if household(a) != household(b) || household(a) == household(ma.StringCast("/ip6/2a00:1:2:400::1/udp/1/quic-v1")) {
		t.Error("a household of IPv6 is not one place")
	}
}
