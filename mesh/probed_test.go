package mesh

import (
	"net/netip"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/parley-mesh/parley/ledger"
	"github.com/parley-mesh/parley/simnet/virtual"
)

func TestWhoIsInvitedMayStayWhileAnotherIsAskedToDialBack(t *testing.T) { // P3
	virtual.Test(t, func(t *testing.T) {
		c := newTown(t, 1)
		in, err := c.meshes[0].Invite(InviteOptions{})
		if err != nil {
			t.Fatal(err)
		}
		defer in.Cancel()
		c.meshes[0].gate.allowProbes(func() bool { return true })
		g := newGate()
		g.all = true
		guest, err := newHost(NewIdentity([32]byte{66}), nil, g, c.net.Host(netip.MustParseAddr("10.0.9.9"))...)
		if err != nil {
			t.Fatal(err)
		}
		defer guest.Close()
		at := peer.AddrInfo{ID: c.meshes[0].host.ID(), Addrs: c.meshes[0].host.Addrs()}
		if err := guest.Connect(c.ctx, at); err != nil {
			t.Fatal(err)
		}

		<-time.After(2 * visitorIn) // the two persons compare words

		if guest.Network().Connectedness(at.ID) != network.Connected {
			t.Error("the connection was cut as one that dials back")
		}
	})
}

func TestWhoCameAsAStrangerAndIsAddedConnectsAnew(t *testing.T) { // decision 8
	virtual.Test(t, func(t *testing.T) {
		c := newTown(t, 2)
		c.meshes[0].SetMembers(c.devices()[:1])
		asked := true
		c.meshes[0].gate.allowProbes(func() bool { return asked })
		<-time.After(time.Minute) // the other dials, and is taken for one that dials back
		asked = false

		c.meshes[0].SetMembers(c.devices())
		<-time.After(time.Minute)
		c.say(0, newPen(c.ids[0], ledger.TID{7}), true)

		c.heard(1, 1, time.Second)
	})
}
