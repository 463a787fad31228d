package mesh

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/p2p/net/swarm"
	"github.com/libp2p/go-libp2p/p2p/protocol/identify"
	ma "github.com/multiformats/go-multiaddr"

	"github.com/parley-mesh/parley/ledger"
)

// How often absent members are dialled, and how long one try may take.
const (
	redialEvery = 30 * time.Second
	dialTimeout = 15 * time.Second
)

// connected notes a new connection and greets the peer.
func (m *Mesh) connected(conn network.Conn) {
	p := conn.RemotePeer()
	d, ok := deviceOf(p)
	if !ok || !m.gate.known(p) {
		m.gate.connected(p, true)
		if m.porch != nil && m.gate.passer(p) {
			m.run(func() { m.porch.attend(conn) })
			return
		}
		if m.gate.relay(p) || m.gate.guest(p) {
			return
		}
		if conn.Stat().Direction == network.DirInbound && m.gate.probed() {
			m.run(func() { m.visit(conn) })
			return
		}
		// It was removed, or the invitation ended, while it connected.
		m.run(func() { _ = conn.Close() }) // whatever is left of it ends with the host
		return
	}
	m.gate.connected(p, true)
	m.mu.Lock()
	s := m.status[d]
	if s == nil {
		s = &PeerStatus{Device: d}
		m.status[d] = s
	}
	first := !s.Connected
	if first {
		s.Since = m.c.Wall()
	}
	s.Connected = true
	s.Lane, _ = m.gate.lane(p)
	if conn.Stat().Direction == network.DirInbound {
		s.LastSeen = m.c.Wall()
	}
	m.mu.Unlock()
	m.wayTo(p, d)
	if m.c.Reach.Circuits {
		m.bend(conn, d)
	}
	if !first {
		return
	}
	m.run(func() { m.greet(conn, d) })
}

// wayTo notes by which way a member is reached now.
func (m *Mesh) wayTo(p peer.ID, d ledger.Device) {
	c := best(m.host.Network().ConnsToPeer(p))
	if c == nil {
		return
	}
	a := remoteOf(c)
	m.mu.Lock()
	defer m.mu.Unlock()
	if s := m.status[d]; s != nil {
		s.Transport, s.Path, s.Addr = transportOf(a), pathOf(a), a.String()
	}
}

// ways notes anew by which way everybody who is connected is reached: a connection may go on from another address.
func (m *Mesh) ways() {
	m.mu.Lock()
	var there []ledger.Device
	for d, s := range m.status {
		if s.Connected {
			there = append(there, d)
		}
	}
	m.mu.Unlock()
	for _, d := range there {
		if p, err := peerOf(d); err == nil {
			m.wayTo(p, d)
		}
	}
}

// greet waits for the peer to say where it listens. The side that dialled catches up with it: at once, and
// again when gossip has had time to form, since what was published in between may have reached nobody. Were
// both to begin, everything would come twice.
func (m *Mesh) greet(conn network.Conn, d ledger.Device) {
	if identified(m.ctx, m.host, conn) != nil {
		return
	}
	if conn.Stat().Direction == network.DirInbound {
		m.tellUp(d) // it wanted to come, and was let in
		m.askWhere(d)
		return
	}
	m.catchUp(d)
	m.askWhere(d)
	if m.pause(2*m.c.Heartbeat) == nil {
		m.catchUp(d)
	}
}

// identified waits for the other end to have said where it listens, or not to say it at all.
func identified(ctx context.Context, h host.Host, conn network.Conn) error {
	ids, ok := h.(interface{ IDService() identify.IDService })
	if !ok {
		return nil
	}
	select {
	case <-ids.IDService().IdentifyWait(conn):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// tellUp tells once for each time that a peer is there, and remembers where it listens. The side that dialled
// waits for a greeting: a peer that lets nobody in seems to be there for a moment.
func (m *Mesh) tellUp(d ledger.Device) {
	p, err := peerOf(d)
	if err != nil {
		return
	}
	addrs := m.host.Peerstore().Addrs(p)
	agent, _ := m.host.Peerstore().Get(p, "AgentVersion") // none: it has not told
	m.learnFrom(p, addrs)
	m.mu.Lock()
	s := m.status[d]
	if text, ok := agent.(string); ok && s != nil {
		s.Version = cleanVersion(text)
	}
	told := s == nil || !s.Connected || m.up[d]
	if !told {
		m.up[d] = true
		delete(m.spurns, p)
	}
	if len(addrs) > 0 {
		m.addrs[d] = addrs
	}
	m.mu.Unlock()
	if told {
		return
	}
	m.tell(Event{Kind: PeerUp, Device: d, Addrs: textsOf(addrs)})
}

func (m *Mesh) disconnected(conn network.Conn) {
	d, ok := deviceOf(conn.RemotePeer())
	if !ok {
		m.gone(conn.RemotePeer())
		return
	}
	if m.host.Network().Connectedness(conn.RemotePeer()) == network.Connected {
		m.wayTo(conn.RemotePeer(), d)
		if m.gate.known(conn.RemotePeer()) && m.crooked(conn.RemotePeer()) {
			m.unbend(conn.RemotePeer())
		}
		m.catchUpSoon(d)
		return
	}
	m.gone(conn.RemotePeer())
	m.mu.Lock()
	s := m.status[d]
	up := m.up[d]
	delete(m.up, d)
	if s != nil {
		s.Connected, s.Since = false, m.c.Wall()
	}
	if up {
		s.LastSeen = m.c.Wall()
	}
	m.mu.Unlock()
	if up {
		m.tell(Event{Kind: PeerDown, Device: d})
	} else if conn.Stat().Direction == network.DirOutbound {
		m.spurn(conn.RemotePeer())
		m.turnedAway(conn)
	}
}

// catchUpSoon compares with a peer in a moment: what gossip said on a way that has ended may have reached nobody. Of many
// ways that end together it is done once.
func (m *Mesh) catchUpSoon(d ledger.Device) {
	m.mu.Lock()
	due := m.soon[d]
	m.soon[d] = true
	m.mu.Unlock()
	if due {
		return
	}
	m.run(func() {
		err := m.pause(2 * m.c.Heartbeat)
		m.mu.Lock()
		delete(m.soon, d)
		m.mu.Unlock()
		if err == nil {
			m.catchUp(d)
		}
	})
}

// gone makes room for others in the place of a peer, unless it is still there by another connection.
func (m *Mesh) gone(p peer.ID) {
	if m.host.Network().Connectedness(p) == network.Connected {
		return
	}
	m.gate.connected(p, false)
	if m.porch != nil {
		m.porch.forget(p)
	}
}

// formerMax bounds the incarnations of a peer that are remembered.
const formerMax = 16

// heard notes a greeting, and tells if an incarnation speaks that another had followed: then two processes
// run with one key, and both write.
func (m *Mesh) heard(d ledger.Device, inc ledger.Incarnation) {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := m.status[d]
	if s == nil {
		return
	}
	if s.Inc != inc && s.Inc != (ledger.Incarnation{}) {
		if slices.Contains(m.former[d], inc) {
			m.tell(Event{Kind: TwoIncarnations, Device: d})
		} else {
			m.former[d] = append(m.former[d], s.Inc)
			m.former[d] = m.former[d][max(0, len(m.former[d])-formerMax):]
		}
	}
	s.Inc, s.LastSeen = inc, m.c.Wall()
}

// took notes how long a greeting took, there and back.
func (m *Mesh) took(d ledger.Device, t time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if s := m.status[d]; s != nil {
		s.LatencyMS = t.Milliseconds()
	}
}

// versionMax bounds what is kept of a program's name for its version.
const versionMax = 64

// cleanVersion is the version that a peer tells, fit to be shown.
func cleanVersion(agent string) string {
	v := strings.TrimPrefix(agent, agentPrefix)
	v = strings.Map(func(r rune) rune {
		if r <= ' ' || r > '~' {
			return -1
		}
		return r
	}, v)
	return v[:min(len(v), versionMax)]
}

// dialNow lets absent members be dialled at once.
func (m *Mesh) dialNow() {
	select {
	case m.redial <- struct{}{}:
	default: // it is asked for already
	}
}

// keepDialling dials every absent member again and again. A wall clock that went on while this process stood
// still is a sleep.
func (m *Mesh) keepDialling() {
	timer := time.NewTimer(0)
	defer timer.Stop()
	last, wall := time.Now(), m.c.Wall()
	for {
		select {
		case <-timer.C:
		case <-m.redial:
		case <-m.ctx.Done():
			return
		}
		slept := m.c.Wall().Sub(wall) - time.Since(last)
		if last, wall = time.Now(), m.c.Wall(); slept > redialEvery {
			m.proveAll()
		}
		m.dialAll()
		timer.Reset(redialEvery)
	}
}

func (m *Mesh) dialAll() {
	if m.c.Reach.Circuits {
		m.borrow()
	}
	for _, p := range m.c.Peers() {
		id, err := peerOf(p.Device)
		if err != nil || !m.gate.known(id) || m.host.Network().Connectedness(id) == network.Connected {
			continue
		}
		addrs := m.addressesOf(p)
		if len(addrs) == 0 || m.spurned(id) {
			continue
		}
		m.learnAgain(id, addrs)
		m.run(func() { m.dial(id, addrs) })
	}
}

// dial clears libp2p's memory of failures first: a laptop that was closed is not a broken one.
func (m *Mesh) dial(id peer.ID, addrs []ma.Multiaddr) {
	defer m.gate.dial(id)()
	if s, ok := m.host.Network().(*swarm.Swarm); ok {
		s.Backoff().Clear(id)
	}
	ctx, cancel := context.WithTimeout(m.ctx, dialTimeout)
	defer cancel()
	m.awaitPunch(ctx, addrs)
	if err := m.host.Connect(ctx, peer.AddrInfo{ID: id, Addrs: addrs}); err != nil {
		m.c.Logger.Debug("dial", "peer", id.String(), "error", err)
	}
}

// addressesOf is where a member may be: as the node remembers it, and as it said itself since.
func (m *Mesh) addressesOf(p Peer) []ma.Multiaddr {
	m.mu.Lock()
	out := slices.Concat(m.near[p.Device], m.addrs[p.Device])
	m.mu.Unlock()
	for _, text := range p.Addrs {
		a, err := ma.NewMultiaddr(text)
		if err == nil && !slices.ContainsFunc(out, a.Equal) {
			out = append(out, a)
		}
	}
	return out
}

// pause waits, or reports that the mesh ends.
func (m *Mesh) pause(d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-m.ctx.Done():
		return m.ctx.Err()
	}
}

// reachable lets a stream use what connections there are, and make none: only the redial loop dials. Were a
// stream to dial, who was removed would connect, be refused and connect again without end.
func reachable(ctx context.Context) context.Context {
	return network.WithNoDial(network.WithAllowLimitedConn(ctx, "parley"), "parley")
}
