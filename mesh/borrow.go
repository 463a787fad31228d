package mesh

import (
	"time"

	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/parley-mesh/parley/ledger"
)

const (
	// borrowEach bounds the relays by which the computers of one other developer are called.
	borrowEach = relaysMax
	// borrowedIdle is how long a connection to such a relay stays while nothing goes over it.
	borrowedIdle = time.Minute
	// refusedWithin is how soon a relay ends the connection of a computer that nobody names there.
	refusedWithin = 5 * time.Second
)

// borrow lets the relays be dialled by which computers of other developers are reached, as their addresses say, while
// their lane is on here. Nothing is told to such a relay and no place is kept there: it is a way to its own people.
func (m *Mesh) borrow() {
	want, each := map[peer.ID]ledger.TID{}, map[ledger.TID]int{}
	for _, p := range m.c.Peers() {
		id, err := peerOf(p.Device)
		if err != nil {
			continue
		}
		fleet, ok := m.gate.lane(id)
		if !ok {
			continue
		}
		for _, a := range m.addressesOf(p) {
			relay, over := relayIn(a)
			if _, proven := deviceOf(relay.ID); !over || !proven || m.gate.known(relay.ID) || relay.ID == m.host.ID() {
				continue
			}
			if _, known := want[relay.ID]; !known && each[fleet] < borrowEach {
				want[relay.ID] = fleet
				each[fleet]++
			}
		}
	}
	m.borrowNo(func(relay peer.ID, _ ledger.TID) bool { _, ok := want[relay]; return ok })
	m.mu.Lock()
	m.borrowed = want
	m.allowRelays()
	m.mu.Unlock()
	m.leaveIdle(want)
}

// borrowNo gives back the relays that are not kept, at once.
func (m *Mesh) borrowNo(keep func(relay peer.ID, of ledger.TID) bool) {
	var gone []peer.ID
	m.mu.Lock()
	for relay, of := range m.borrowed {
		if !keep(relay, of) {
			gone = append(gone, relay)
			delete(m.borrowed, relay)
		}
	}
	m.allowRelays()
	m.mu.Unlock()
	for _, p := range gone {
		if !m.gate.relay(p) && !m.gate.known(p) && !m.gate.guest(p) {
			_ = m.host.Network().ClosePeer(p) // it may have gone
		}
	}
}

// leaveIdle ends connections to borrowed relays over which nobody is reached.
func (m *Mesh) leaveIdle(borrowed map[peer.ID]ledger.TID) {
	used := map[peer.ID]bool{}
	for _, c := range m.host.Network().Conns() {
		if relay, over := relayIn(c.RemoteMultiaddr()); over {
			used[relay.ID] = true
		}
	}
	m.mu.Lock()
	for relay := range used {
		delete(m.spurns, relay)
	}
	own := map[peer.ID]bool{}
	for _, s := range m.stations {
		own[s.info.ID] = true
	}
	m.mu.Unlock()
	for relay := range borrowed {
		for _, c := range m.host.Network().ConnsToPeer(relay) {
			if !used[relay] && !own[relay] && time.Since(c.Stat().Opened) > borrowedIdle {
				_ = c.Close() // it may have gone
			}
		}
	}
}

// lends reports whether a peer is a relay of another developer by which their computers are called.
func (m *Mesh) lends(p peer.ID) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	_, ok := m.borrowed[p]
	return ok
}

// turnedAway notes that a relay ended the connection of this computer as one does where nobody names it: the other
// end of the lane is off, or has not said so there yet. It is asked ever more seldom.
func (m *Mesh) turnedAway(conn network.Conn) {
	if m.lends(conn.RemotePeer()) && time.Since(conn.Stat().Opened) < refusedWithin {
		m.waitFor(conn.RemotePeer())
		m.mu.Lock()
		m.allowRelays()
		m.mu.Unlock()
	}
}
