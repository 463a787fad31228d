package mesh

import (
	"context"
	"errors"
	"net"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/libp2p/go-libp2p/core/event"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/p2p/protocol/autonatv2"
	ma "github.com/multiformats/go-multiaddr"
	"github.com/multiformats/go-multistream"

	"github.com/parley-mesh/parley/ledger"
)

// agentPrefix stands before the version in what libp2p tells of this program.
const agentPrefix = "parley/"

const (
	settle    = 2 * time.Second  // addresses change in bursts
	parting   = 10 * time.Second // a relayed connection stays so long beside a direct one
	visitorIn = 15 * time.Second // how long somebody who dials back may stay
)

// reachOut starts what the configuration asks for beyond known addresses.
func (m *Mesh) reachOut() error {
	r := m.c.Reach
	if r.LAN {
		m.startLAN()
	}
	if !r.Circuits {
		return nil
	}
	m.gate.allowProbes(m.asksToBeDialled)
	var err error
	if m.emitter, err = m.host.EventBus().Emitter(new(event.EvtAutoRelayAddrsUpdated)); err != nil {
		return err
	}
	if r.Carry {
		if err := m.carry(); err != nil {
			return err
		}
	}
	sub, err := m.host.EventBus().Subscribe([]any{new(event.EvtLocalAddressesUpdated), new(event.EvtPeerIdentificationCompleted)})
	if err != nil {
		return err
	}
	m.work.Go(func() { m.watchAddrs(sub) })
	for _, text := range r.Relays {
		info, err := parseRelay(text)
		if err != nil {
			return err
		}
		m.learnRelay("", info)
	}
	m.work.Go(m.keepReserving)
	return nil
}

// withdraw ends what reachOut started, but for the goroutines.
func (m *Mesh) withdraw() error {
	var errs []error
	m.mu.Lock()
	lan := m.lan
	m.lan = nil
	m.mu.Unlock()
	if lan != nil {
		errs = append(errs, lan.Close())
	}
	if m.carrier != nil {
		errs = append(errs, m.carrier.Close())
	}
	if m.emitter != nil {
		errs = append(errs, m.emitter.Close())
	}
	return errors.Join(errs...)
}

// withCircuits are this computer's addresses with those over relays, which libp2p alone would leave out as
// soon as it has a public one.
func (m *Mesh) withCircuits(addrs []ma.Multiaddr) []ma.Multiaddr {
	return ma.Unique(append(slices.Clone(addrs), m.circuits()...))
}

// watchAddrs notes where others see this computer, and tells the members when it listens elsewhere. libp2p keeps what
// it knows of the interfaces for a minute, which is too long for somebody who has moved: they are looked at here as well.
func (m *Mesh) watchAddrs(sub event.Subscription) {
	defer sub.Close()
	timer := time.NewTimer(0)
	<-timer.C
	tick := time.NewTicker(settle)
	defer tick.Stop()
	at := m.interfaces()
	for {
		select {
		case e, ok := <-sub.Out():
			if !ok {
				return
			}
			switch e := e.(type) {
			case event.EvtPeerIdentificationCompleted:
				m.seenBy(e)
			case event.EvtLocalAddressesUpdated:
				timer.Reset(settle)
			}
		case <-tick.C:
			if now := m.interfaces(); now != at {
				at = now
				m.askRouterAnew()
				timer.Reset(settle)
			}
		case <-timer.C:
			m.moved()
		case <-m.ctx.Done():
			return
		}
	}
}

// interfaces are the addresses of this computer's interfaces, in one word; a network in memory has none.
func (m *Mesh) interfaces() string {
	if m.c.HostOptions != nil {
		return ""
	}
	addrs, err := net.InterfaceAddrs()
	if err != nil {
		return ""
	}
	var texts []string
	for _, a := range addrs {
		texts = append(texts, a.String())
	}
	slices.Sort(texts)
	return strings.Join(texts, " ")
}

// seenMax bounds the others whose sight of this computer is remembered.
const seenMax = 64

// sight is where a peer sees a connection of this computer come from.
type sight struct {
	addr ma.Multiaddr
	conn string // libp2p's name of the connection
}

// seenBy notes where a connection of ours comes from in the eyes of a peer.
func (m *Mesh) seenBy(e event.EvtPeerIdentificationCompleted) {
	if e.ObservedAddr == nil || circuit(e.Conn.RemoteMultiaddr()) || !m.gate.member(e.Peer) && !m.gate.relay(e.Peer) {
		return
	}
	m.mu.Lock()
	if _, known := m.seen[e.Peer]; known || len(m.seen) < seenMax {
		m.seen[e.Peer] = sight{e.ObservedAddr, e.Conn.ID()}
	}
	m.mu.Unlock()
	if d, ok := deviceOf(e.Peer); ok && m.gate.member(e.Peer) {
		m.tellMoved(d, e.ListenAddrs)
	}
}

// tellMoved remembers where a connected member listens now.
func (m *Mesh) tellMoved(d ledger.Device, addrs []ma.Multiaddr) {
	if len(addrs) == 0 {
		return
	}
	m.mu.Lock()
	up := m.up[d]
	m.addrs[d] = slices.Clone(addrs)
	m.mu.Unlock()
	if p, err := peerOf(d); err == nil {
		m.learnFrom(p, addrs)
	}
	if up {
		m.tell(Event{Kind: PeerMoved, Device: d, Addrs: textsOf(addrs)})
	}
}

// moved is called when this computer's own addresses have changed.
func (m *Mesh) moved() {
	if m.c.Reach.LAN {
		m.startLAN()
	}
	for _, s := range m.Peers() {
		if s.Connected {
			m.run(func() {
				m.prove(s.Device)
				m.askWhere(s.Device)
			})
		}
	}
	m.bendAnew()
	m.retellRelays() // what they answer shows whether they know where this computer is now
	m.dialNow()
}

// proofTime is how long a connection may take to show that it still works.
const proofTime = 3 * time.Second

// prove sends something over each connection to a member, and closes those by which nothing comes back. The
// transport itself would notice after half a minute, nobody would look for another way before that, and gossip
// would go on talking into the dead one.
func (m *Mesh) prove(d ledger.Device) {
	id, err := peerOf(d)
	if err != nil {
		return
	}
	var work sync.WaitGroup
	for _, c := range m.host.Network().ConnsToPeer(id) {
		work.Go(func() {
			if err := m.proveOne(c); err != nil && m.ctx.Err() == nil {
				_ = c.Close() // it is of no use
				m.dialNow()
			}
		})
	}
	work.Wait()
}

func (m *Mesh) proveOne(c network.Conn) error {
	ctx, cancel := context.WithTimeout(reachable(m.ctx), proofTime)
	defer cancel()
	s, err := c.NewStream(ctx)
	if err != nil {
		return err
	}
	stop := context.AfterFunc(ctx, func() { _ = s.Reset() })
	defer stop()
	ask, trip := pingProtocol, func() error { _, err := m.trip(s); return err }
	if _, lane := m.gate.lane(c.RemotePeer()); lane { // it may not be pinged
		ask, trip = whereProtocol, func() error { _, err := m.exchangePlaces(s); return err }
	}
	if err := s.SetProtocol(ask); err != nil {
		return errors.Join(err, s.Reset())
	}
	if err := multistream.SelectProtoOrFail(ask, s); err != nil {
		return errors.Join(err, s.Reset())
	}
	return errors.Join(trip(), s.CloseWrite(), s.CloseRead())
}

// proveAll does so with everybody: after a sleep, connections look open that the others gave up long ago.
func (m *Mesh) proveAll() {
	for _, s := range m.Peers() {
		if s.Connected {
			m.run(func() { m.prove(s.Device) })
		}
	}
	m.askRouterAnew() // another network may give the same address
	m.bendAnew()
	m.retellRelays()
}

// asksToBeDialled reports whether a member was asked to dial back, and has not answered yet.
func (m *Mesh) asksToBeDialled() bool {
	for _, c := range m.host.Network().Conns() {
		for _, s := range c.GetStreams() {
			if s.Protocol() == autonatv2.DialProtocol && s.Stat().Direction == network.DirOutbound {
				return true
			}
		}
	}
	return false
}

// visit lets somebody who dials back stay for a moment. Who is a member by then connects anew, as in [Mesh.promote].
func (m *Mesh) visit(conn network.Conn) {
	_ = m.pause(visitorIn)
	_ = conn.Close() // it may have gone
}

func textsOf(addrs []ma.Multiaddr) []string {
	var out []string
	for _, a := range addrs {
		out = append(out, a.String())
	}
	slices.Sort(out)
	return out
}
