package mesh

import (
	"testing"
	"testing/synctest"

	"github.com/libp2p/go-libp2p/core/peer"
	ma "github.com/multiformats/go-multiaddr"

	"github.com/parley-mesh/parley/ledger"
	"github.com/parley-mesh/parley/simnet/virtual"
)

func TestARemovedComputerIsNoRelayAnyMore(t *testing.T) { // case 51
	virtual.Test(t, func(t *testing.T) {
		b := newBorder(t)
		m, other, thief := b.meshes[0], b.ids[1], NewIdentity([32]byte{50})
		m.cancel() // nobody else looks at it from here on
		synctest.Wait()
		m.c.Reach.Circuits = true
		m.SetMembers([]ledger.Device{b.ids[0].Device(), other.Device(), thief.Device()})
		over := []ma.Multiaddr{ma.StringCast("/ip4/203.0.113.9/tcp/4001/p2p/" + thief.peerID(t).String() + "/p2p-circuit")}
		learn := func(from peer.ID) int {
			m.learnFrom(from, over)
			return len(m.Relays())
		}
		if n := learn(thief.peerID(t)); n != 1 {
			t.Fatalf("%d relays are learnt of a member that carries others", n)
		}

		m.SetMembers([]ledger.Device{b.ids[0].Device(), other.Device()})

		if len(m.Relays()) > 0 || m.gate.InterceptPeerDial(thief.peerID(t)) {
			t.Error("a removed computer is dialled still, and told who belongs to the fleet")
		}
		if n := learn(other.peerID(t)); n > 0 || m.gate.relay(thief.peerID(t)) {
			t.Error("it is learnt again of a member that has not heard of the removal")
		}
	})
}
