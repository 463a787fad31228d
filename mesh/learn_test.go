package mesh

import (
	"fmt"
	"testing"
	"time"

	ma "github.com/multiformats/go-multiaddr"

	"github.com/parley-mesh/parley/simnet/virtual"
)

// circuitBy is an address over a relay that does not exist.
func circuitBy(t *testing.T, n byte) ma.Multiaddr {
	t.Helper()
	return ma.StringCast(fmt.Sprintf("/ip4/203.0.113.%d/tcp/4001/p2p/%s/p2p-circuit", n, NewIdentity([32]byte{n}).peerID(t)))
}

// knowsRelay reports whether a computer keeps a place at a relay, or tries to.
func (m *Mesh) knowsRelay(t *testing.T, n byte) bool {
	t.Helper()
	for _, r := range m.Relays() {
		if r.Peer == NewIdentity([32]byte{n}).peerID(t).String() {
			return true
		}
	}
	return false
}

func TestARelayThatFailsForLongIsForgotten(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		a := newAside(t, false)
		m, other := a.meshes[0], a.ids[1].peerID(t)
		dead := circuitBy(t, 50)
		m.learnFrom(other, []ma.Multiaddr{dead})

		<-time.After(relayForget - time.Hour)
		if !m.knowsRelay(t, 50) {
			t.Fatal("it is forgotten too soon")
		}
		<-time.After(2 * time.Hour)
		if m.knowsRelay(t, 50) || m.gate.relay(NewIdentity([32]byte{50}).peerID(t)) {
			t.Error("a relay that fails is dialled for ever")
		}
		if !m.knowsRelay(t, 99) {
			t.Error("the relay that was set is forgotten")
		}
		m.learnAgain(other, []ma.Multiaddr{dead})
		if m.knowsRelay(t, 50) {
			t.Error("it is learnt again of a remembered address")
		}
		m.learnFrom(other, []ma.Multiaddr{dead})
		if !m.knowsRelay(t, 50) {
			t.Error("it is not learnt again of a member that is reached by it")
		}
	})
}

func TestARelayThatWasSetIsKeptHoweverLongItFails(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		a := newAside(t, false)
		<-time.After(time.Minute)
		a.net.Unplug(a.host(0))

		<-time.After(relayForget + time.Hour)

		if !a.meshes[0].knowsRelay(t, 99) {
			t.Error("what the person set is forgotten")
		}
	})
}

func TestARelayThatOnlyARemovedComputerWasReachedByIsLeft(t *testing.T) { // case 51
	virtual.Test(t, func(t *testing.T) {
		a := newAside(t, false)
		m, thief := a.meshes[0], NewIdentity([32]byte{60})
		<-time.After(time.Minute)
		m.SetMembers(append(a.devices(), thief.Device()))
		m.learnFrom(thief.peerID(t), []ma.Multiaddr{circuitBy(t, 50), circuitBy(t, 51), a.meshes[1].circuits()[0]})
		m.learnFrom(a.ids[1].peerID(t), []ma.Multiaddr{circuitBy(t, 51)})

		m.SetMembers(a.devices())

		if m.knowsRelay(t, 50) {
			t.Error("a relay that a removed computer named is told who belongs to the fleet")
		}
		if !m.knowsRelay(t, 51) || !m.knowsRelay(t, 99) {
			t.Error("a relay that others are reached by is left")
		}
	})
}

func TestARelayThatFailsMakesRoomForAnother(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		a := newAside(t, false)
		m, other := a.meshes[0], a.ids[1].peerID(t)
		for n := range byte(relaysMax) {
			m.learnFrom(other, []ma.Multiaddr{circuitBy(t, 50+n)})
		}
		if m.knowsRelay(t, 50+relaysMax-1) {
			t.Fatal("more relays are kept than there is room for")
		}
		<-time.After(relayYield + time.Minute)

		m.learnFrom(other, []ma.Multiaddr{circuitBy(t, 70)})

		if !m.knowsRelay(t, 70) || !m.knowsRelay(t, 99) || len(m.Relays()) != relaysMax {
			t.Errorf("it keeps %+v", m.Relays())
		}
	})
}

func TestAComputerThatJoinedFindsTheRelayInTheAddressesThatItRemembers(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		a := newAside(t, true)
		a.becomes(PathRelayed, time.Minute)
		m := a.meshes[1]
		m.mu.Lock()
		m.stations = nil // it was told of none
		m.allowRelays()
		m.mu.Unlock()
		for _, c := range m.host.Network().Conns() {
			_ = c.Close()
		}

		a.becomes("", time.Minute)
		a.becomes(PathRelayed, 2*time.Minute)
		<-time.After(time.Minute)

		if r := m.Relays(); len(r) != 1 || !r[0].Reserved {
			t.Errorf("it knows %+v", r)
		}
	})
}
