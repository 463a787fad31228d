package mesh

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/record"
	ma "github.com/multiformats/go-multiaddr"

	"github.com/parley-mesh/parley/simnet/virtual"
)

func TestAnotherDevelopersRelayIsNotToldWhoBelongsHere(t *testing.T) { // L1, S12
	virtual.Test(t, func(t *testing.T) {
		b := newBorder(t)
		b.on()
		kim, maya := b.met()
		here, hers := b.meshes[kim], b.meshes[maya].host.ID()
		here.cancel() // nobody else looks at it from here on
		synctest.Wait()
		here.c.Reach.Circuits = true
		over := ma.StringCast("/ip4/203.0.113.9/tcp/4001/p2p/" + NewIdentity([32]byte{50}).peerID(t).String() + "/p2p-circuit")

		here.host.Peerstore().AddAddr(hers, over, time.Hour)
		here.mu.Lock()
		delete(here.up, b.ids[maya].Device())
		here.mu.Unlock()
		here.tellUp(b.ids[maya].Device())
		key, err := b.ids[maya].libp2p()
		if err != nil {
			t.Fatal(err)
		}
		sealed, err := record.Seal(&peer.PeerRecord{PeerID: hers, Seq: 1 << 62, Addrs: []ma.Multiaddr{over}}, key)
		if err != nil {
			t.Fatal(err)
		}
		signed, err := sealed.Marshal()
		if err != nil {
			t.Fatal(err)
		}
		here.takePlace(b.ids[maya].Device(), signed)
		if got := here.Relays(); len(got) > 0 {
			t.Errorf("it would tell %v who belongs to the fleet", got)
		}

		here.learnFrom(b.meshes[1-kim].host.ID(), []ma.Multiaddr{over})
		if got := here.Relays(); len(got) != 1 {
			t.Errorf("a member's relay is not learnt: %v", got)
		}
	})
}

func (i Identity) peerID(t *testing.T) peer.ID {
	t.Helper()
	id, err := peerOf(i.Device())
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func TestAConnectionOfALaneProvesItselfAndIsKept(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		b := newBorder(t)
		b.on()
		kim, maya := b.met()
		conns := b.meshes[kim].host.Network().ConnsToPeer(b.meshes[maya].host.ID())

		b.meshes[kim].prove(b.ids[maya].Device())

		for _, c := range conns {
			if c.IsClosed() {
				t.Error("a connection that works was closed")
			}
		}
		if n := b.meshes[maya].refused.n[RefusedLane].Load(); n > 0 {
			t.Errorf("it was asked what only the fleet is asked, %d times", n)
		}
	})
}

func TestNoComputerOfALaneIsAskedForTheTime(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		b := newBorder(t)
		b.on()
		kim, maya := b.met()
		if _, n := b.meshes[kim].clocks(t.Context()); n != 1 {
			t.Errorf("%d clocks are compared, want the other member's", n)
		}
		if n := b.meshes[maya].refused.n[RefusedLane].Load(); n > 0 {
			t.Errorf("another developer's computer was asked for the time, %d times", n)
		}
	})
}

func TestWhoIsAwayIsAMemberHoweverManyComputersOfLanesAreThere(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		b := newBorder(t)
		b.on()
		kim, _ := b.met()
		b.close(1 - kim)
		<-time.After(time.Minute)

		there := 0
		for _, s := range b.meshes[kim].Peers() {
			if s.Connected && s.Lane == b.fleets[1] {
				there++
			}
		}
		if there == 0 || !b.meshes[kim].someAway() {
			t.Errorf("with %d computers of a lane connected, nobody looks for the member that is away", there)
		}
	})
}
