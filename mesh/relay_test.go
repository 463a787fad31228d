package mesh

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/protocol"
	"github.com/libp2p/go-libp2p/p2p/protocol/circuitv2/client"
	ma "github.com/multiformats/go-multiaddr"

	"github.com/parley-mesh/parley/ledger"
)

// startRelay starts a relay on loopback that stands for some computers.
func startRelay(t *testing.T, stands ...ledger.Device) *Relay {
	t.Helper()
	r, err := StartRelay(t.Context(), RelayConfig{
		Identity: NewIdentity([32]byte{99}), For: stands,
		Listen: []string{"/ip4/127.0.0.1/udp/0/quic-v1", "/ip4/127.0.0.1/tcp/0", "/ip4/127.0.0.1/tcp/0/ws", "/ip4/127.0.0.1/tcp/0/tls/ws"},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	return r
}

// by is the relay's address of one transport.
func (r *Relay) by(t *testing.T, transport string) string {
	t.Helper()
	for _, a := range r.View().Addrs {
		if strings.Contains(a, transport) && (transport != "/tcp/" || !strings.Contains(a, "/ws")) {
			return a
		}
	}
	t.Fatalf("the relay listens on no %s: %v", transport, r.View().Addrs)
	return ""
}

// apart starts two computers that can meet at a relay alone, and waits until they have.
func apart(t *testing.T, r *Relay, transport string) *crew {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	c := &crew{t: t, ctx: ctx, ids: []Identity{NewIdentity([32]byte{1}), NewIdentity([32]byte{2})}}
	at := r.by(t, transport)
	for i, id := range c.ids {
		c.shelves = append(c.shelves, newShelf())
		other := Peer{Device: c.ids[1-i].Device(), Addrs: []string{at + "/p2p-circuit"}}
		m, err := Start(ctx, Config{
			Identity: id, Fleet: fleet, Inc: ledger.Incarnation{byte(i + 1)}, Book: c.shelves[i], Peers: func() []Peer { return []Peer{other} },
			Listen: []string{"/ip4/127.0.0.1/tcp/0"}, Reach: Reach{Circuits: true, Relays: []string{at}}, SyncEvery: 2 * time.Second, Version: "v1.2.3",
		})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := m.Close(); err != nil {
				t.Error(err)
			}
		})
		m.gate.cutOff(func(a ma.Multiaddr) bool { return !circuit(a) }) // on one machine everybody could be dialled
		c.shelves[i].ask = m.Ask
		c.meshes = append(c.meshes, m)
		m.SetMembers(c.devices())
	}
	for _, m := range c.meshes {
		c.await(m, PeerUp)
	}
	return c
}

func TestTwoComputersMeetAtARelayByEveryTransport(t *testing.T) {
	for _, transport := range []string{"quic-v1", "/tls/ws", "/tcp/"} {
		t.Run(strings.Trim(transport, "/"), func(t *testing.T) {
			t.Parallel()
			r := startRelay(t, NewIdentity([32]byte{1}).Device()) // the first names the second
			c := apart(t, r, transport)

			p := newPen(c.ids[0], ledger.TID{7})
			rec := p.write(t)
			if err := c.shelves[0].Receive(c.ctx, c.ids[0].Device(), ledger.Conversation, []*ledger.Record{rec}); err != nil {
				t.Fatal(err)
			}
			if err := c.meshes[0].Publish(rec); err != nil {
				t.Fatal(err)
			}
			c.shelves[1].wait(t, c.ctx, 1)

			for i, m := range c.meshes {
				trip, err := m.Ping(c.ctx, c.ids[1-i].Device())
				if err != nil || trip.Peer.Path != PathRelayed || trip.Took <= 0 || trip.Skew > time.Second || trip.Skew < -time.Second || trip.Peer.Version != "v1.2.3" {
					t.Errorf("computer %d: %+v, %v", i, trip, err)
				}
			}
		})
	}
}

func TestARelayCarriesNobodyForWhomNoneStands(t *testing.T) {
	r := startRelay(t, NewIdentity([32]byte{1}).Device())
	g := newGate()
	g.all = true
	stranger, err := newHost(NewIdentity([32]byte{66}), []string{"/ip4/127.0.0.1/tcp/0"}, g)
	if err != nil {
		t.Fatal(err)
	}
	defer stranger.Close()
	at, err := parseRelay(r.by(t, "/tcp/"))
	if err != nil {
		t.Fatal(err)
	}

	_ = stranger.Connect(t.Context(), at) // it may look as if it had worked for a moment
	if _, err := client.Reserve(t.Context(), stranger, peer.AddrInfo{ID: at.ID}); err == nil {
		t.Error("a stranger has a place")
	}
	within(t, func() bool { return r.host.Network().Connectedness(stranger.ID()) != network.Connected })
	within(t, func() bool { return r.View().Refused[RefusedStranger].Times > 0 })
}

func TestWhoIsNoLongerNamedIsCutOffTheRelay(t *testing.T) { // case 51
	r := startRelay(t, NewIdentity([32]byte{1}).Device())
	c := apart(t, r, "quic-v1")
	id, err := peerOf(c.ids[1].Device())
	if err != nil {
		t.Fatal(err)
	}
	if !r.gate.member(id) || r.host.Network().Connectedness(id) != network.Connected {
		t.Fatal("it was never there")
	}

	c.meshes[0].SetMembers(c.devices()[:1])

	c.await(c.meshes[1], PeerDown)
	within(t, func() bool { return !r.gate.member(id) && r.host.Network().Connectedness(id) != network.Connected })
}

func TestTwoFleetsAtOneRelayDoNotMeet(t *testing.T) {
	a, b, ofA := NewIdentity([32]byte{1}).Device(), NewIdentity([32]byte{2}).Device(), NewIdentity([32]byte{3}).Device()
	r := startRelay(t, a, b)
	var ids []peer.ID
	for _, d := range []ledger.Device{a, b, ofA} {
		p, err := peerOf(d)
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, p)
	}
	r.name(ids[0], []string{ofA.String(), "nonsense"}, nil)
	r.name(ids[2], []string{b.String()}, []string{b.String()}) // nobody stands on its word
	r.regroup()

	if !(circle{r}).AllowConnect(ids[0], nil, ids[2]) || !(circle{r}).AllowReserve(ids[2], nil) {
		t.Error("a fleet's own computers do not meet")
	}
	if (circle{r}).AllowConnect(ids[0], nil, ids[1]) || (circle{r}).AllowConnect(ids[2], nil, ids[1]) {
		t.Error("two fleets meet")
	}
}

func TestAComputerThatCarriesDoesSoForMembersAlone(t *testing.T) {
	c := newCrew(t, 2, loopback["tcp"])
	carrier, err := Start(c.ctx, Config{
		Identity: NewIdentity([32]byte{7}), Fleet: fleet, Listen: []string{loopback["tcp"]}, Book: newShelf(), Peers: func() []Peer { return nil },
		Reach: Reach{Circuits: true, Carry: true},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer carrier.Close()
	in, err := carrier.Invite(InviteOptions{}) // strangers may connect, to speak of pairing
	if err != nil {
		t.Fatal(err)
	}
	defer in.Cancel()
	carrier.SetMembers(c.devices()[:1])
	at := peer.AddrInfo{ID: carrier.host.ID(), Addrs: carrier.host.Addrs()}
	for i, m := range c.meshes {
		m.gate.setRelays([]peer.ID{at.ID})
		if err := m.host.Connect(c.ctx, at); err != nil {
			t.Fatal(err)
		}
		if _, err := client.Reserve(c.ctx, m.host, at); (err == nil) != (i == 0) {
			t.Errorf("computer %d: %v", i, err)
		}
	}
}

func TestACarrierIsAWayInForALaneThatIsOn(t *testing.T) { // L1, P3
	own, other, theirs := NewIdentity([32]byte{1}).peerID(t), NewIdentity([32]byte{2}).peerID(t), NewIdentity([32]byte{3}).peerID(t)
	g := newGate()
	g.set(map[peer.ID]bool{own: true, other: true})
	acl := membersOnly{g, &porch{gate: g}}
	if acl.AllowConnect(theirs, nil, own) {
		t.Error("it carries a stranger")
	}
	g.setLanes(map[peer.ID]ledger.TID{theirs: {0xb}})
	if !acl.AllowConnect(theirs, nil, own) || !acl.AllowConnect(own, nil, other) {
		t.Error("it carries none of those who may meet")
	}
	if acl.AllowReserve(theirs, nil) || acl.AllowConnect(own, nil, theirs) {
		t.Error("another developer's computer is reached by it")
	}
}

func TestWhoDialsBackComesInWhileItWasAskedAndIsHeardByNobody(t *testing.T) {
	c := newCrew(t, 1, loopback["tcp"])
	m := c.meshes[0]
	g := newGate()
	g.all = true
	stranger, err := newHost(NewIdentity([32]byte{66}), nil, g)
	if err != nil {
		t.Fatal(err)
	}
	defer stranger.Close()
	at := peer.AddrInfo{ID: m.host.ID(), Addrs: m.host.Addrs()}
	var asked atomic.Bool
	m.gate.allowProbes(asked.Load)

	_ = stranger.Connect(c.ctx, at) // it may look as if it had worked for a moment
	within(t, func() bool { return stranger.Network().Connectedness(at.ID) != network.Connected })
	asked.Store(true)
	if err := stranger.Connect(c.ctx, at); err != nil {
		t.Fatal(err)
	}
	for _, p := range []protocol.ID{syncProtocol, pingProtocol, whereProtocol, pressProtocol, linesProtocol} {
		s, err := stranger.NewStream(c.ctx, at.ID, p)
		if err != nil {
			continue
		}
		if _, err := s.Write([]byte("hello")); err == nil {
			if _, err = s.Read(make([]byte, 1)); err == nil {
				t.Errorf("%s answers a stranger", p)
			}
		}
	}
}

// within waits until something holds.
func within(t *testing.T, holds func() bool) {
	t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	end := time.After(patience)
	for !holds() {
		select {
		case <-tick.C:
		case <-end:
			t.Fatal("it does not come to hold")
		}
	}
}
