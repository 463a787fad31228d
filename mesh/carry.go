package mesh

import (
	"fmt"

	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/peer"
	relayv2 "github.com/libp2p/go-libp2p/p2p/protocol/circuitv2/relay"
	ma "github.com/multiformats/go-multiaddr"
)

// What a relay carries. There is no limit of time and bytes on a circuit, since gossip does not run on one
// that has it; members alone are carried instead, and each only so often.
const (
	reservationsMax = 256
	carryBuffer     = 16 << 10 // bytes for each direction of a circuit
)

// relayService is libp2p's relay with these bounds.
func relayService(h host.Host, acl relayv2.ACLFilter) (*relayv2.Relay, error) {
	rc := relayv2.DefaultResources()
	rc.Limit = nil
	rc.MaxReservations, rc.MaxCircuits, rc.BufferSize = reservationsMax, circuitsMax, carryBuffer
	rc.MaxReservationsPerIP, rc.MaxReservationsPerASN = connsPerIP, reservationsMax
	r, err := relayv2.New(h, relayv2.WithResources(rc), relayv2.WithACL(acl), relayv2.WithReservationAddressFilter(func(ma.Multiaddr) bool { return true }))
	if err != nil {
		return nil, fmt.Errorf("relay: %w", err)
	}
	return r, nil
}

// carry relays for the other members.
func (m *Mesh) carry() error {
	m.porch.serve(m.host)
	r, err := relayService(metered{m.host, m.porch}, membersOnly{m.gate, m.porch})
	if err != nil {
		return err
	}
	m.carrier = r
	m.host.SetStreamHandler(relayProtocol, m.members(m.answerRelay))
	return nil
}

// membersOnly lets members meet members, and computers of other developers whose lane is on call them,
// and who shows the pass of an invitation call who invited.
type membersOnly struct {
	g     *gate
	porch *porch
}

// AllowReserve reports whether a peer may be reached here.
func (o membersOnly) AllowReserve(p peer.ID, _ ma.Multiaddr) bool { return o.g.member(p) }

// AllowConnect reports whether one peer may reach another.
func (o membersOnly) AllowConnect(from peer.ID, _ ma.Multiaddr, to peer.ID) bool {
	if !o.g.known(from) {
		return o.g.member(to) && o.porch.mayCall(from, to)
	}
	return o.g.member(to)
}
