package mesh

import (
	"context"
	"slices"
	"time"

	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/p2p/protocol/holepunch"
	ma "github.com/multiformats/go-multiaddr"
	manet "github.com/multiformats/go-multiaddr/net"
	"github.com/quic-go/quic-go"

	"github.com/parley-mesh/parley/ledger"
)

// straightAfter is when a way past a relay is looked for as long as there is none; the last is repeated. libp2p
// tries once, when a relayed connection is made, and a moment too early if the other side does not know its own
// address yet.
var straightAfter = []time.Duration{
	time.Second, 2 * time.Second, 5 * time.Second, 15 * time.Second, 45 * time.Second, 2 * time.Minute, 5 * time.Minute,
}

// callerAfter is the first of these at which the side that dialled looks as well: it cannot ask for a hole, and both
// dialling at once leaves two connections.
const callerAfter = 2

// straightTime bounds each of the dials of one look.
const straightTime = 5 * time.Second

// bend looks for a way past a relay, and leaves the relay once there is one.
func (m *Mesh) bend(conn network.Conn, d ledger.Device) {
	switch {
	case !circuit(conn.RemoteMultiaddr()):
		if conns := m.host.Network().ConnsToPeer(conn.RemotePeer()); len(conns) > 1 {
			m.run(func() {
				m.prove(d)
				m.part(conn.RemotePeer())
			})
		}
	case conn.Stat().Direction == network.DirInbound:
		m.run(func() {
			m.prove(d) // who comes by a relay may have left the place to which a direct connection leads
			m.unbend(conn.RemotePeer())
		})
	default:
		m.unbend(conn.RemotePeer())
	}
}

// unbend looks for a way past the relay as long as one is all that leads to a peer. Where that runs already, it
// begins anew: something has changed.
func (m *Mesh) unbend(p peer.ID) {
	if !m.c.Reach.Circuits {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.ctx.Err() != nil {
		return
	}
	news, runs := m.bent[p]
	if runs {
		select {
		case news <- struct{}{}:
		default: // it is told already
		}
		return
	}
	news = make(chan struct{}, 1)
	m.bent[p] = news
	m.work.Go(func() { m.straighten(p, news) })
}

// bendAnew begins anew with every peer that is reached by a relay alone.
func (m *Mesh) bendAnew() {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, news := range m.bent {
		select {
		case news <- struct{}{}:
		default: // it is told already
		}
	}
}

// straighten tries again and again to get past the relay.
func (m *Mesh) straighten(p peer.ID, news chan struct{}) {
	for i := 0; ; i++ {
		timer := time.NewTimer(straightAfter[min(i, len(straightAfter)-1)])
		select {
		case <-timer.C:
		case <-news:
			i = 0
			if m.pause(straightAfter[0]) != nil { // whoever brings news without end is no reason to hurry
				return
			}
		case <-m.ctx.Done():
		}
		timer.Stop()
		if m.unbent(p, news) {
			return
		}
		m.lookPast(p, i)
	}
}

// unbent reports whether there is nothing to do any more with a peer. Whoever calls [Mesh.unbend] from then on starts
// anew; who called it meanwhile is heard.
func (m *Mesh) unbent(p peer.ID, news <-chan struct{}) bool {
	crooked := m.crooked(p)
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.ctx.Err() != nil {
		return true
	}
	if crooked || len(news) > 0 {
		return false
	}
	delete(m.bent, p)
	return true
}

// crooked reports whether relays alone lead to a peer.
func (m *Mesh) crooked(p peer.ID) bool {
	c := best(m.host.Network().ConnsToPeer(p))
	return c != nil && circuit(c.RemoteMultiaddr())
}

// straight reports whether a connection without a relay is there.
func (m *Mesh) straight(p peer.ID) bool {
	c := best(m.host.Network().ConnsToPeer(p))
	return c != nil && !circuit(c.RemoteMultiaddr())
}

// lookPast tries once: by a hole in both routers, as the side that was called, and where the peer says that it listens.
func (m *Mesh) lookPast(p peer.ID, i int) {
	called := slices.ContainsFunc(m.host.Network().ConnsToPeer(p), func(c network.Conn) bool {
		return circuit(c.RemoteMultiaddr()) && c.Stat().Direction == network.DirInbound
	})
	if called && m.punchReady() {
		err := m.hands.punch.DirectConnect(p)
		if err == nil {
			return
		}
		m.c.Logger.Debug("hole punching", "peer", p.String(), "error", err)
	}
	if !called && i < callerAfter {
		return
	}
	d, ok := deviceOf(p)
	if !ok {
		return
	}
	addrs := slices.DeleteFunc(m.addressesOf(Peer{Device: d}), circuit)
	defer m.gate.dial(p)()
	ctx, cancel := context.WithTimeout(network.WithForceDirectDial(m.ctx, "parley"), straightTime)
	defer cancel()
	if err := m.host.Connect(ctx, peer.AddrInfo{ID: p, Addrs: addrs}); err != nil {
		m.c.Logger.Debug("past the relay", "peer", p.String(), "error", err)
	}
}

// punchReady reports whether this computer knows an address of its own that others could try.
func (m *Mesh) punchReady() bool {
	return m.hands.punch != nil && slices.Contains(m.host.Mux().Protocols(), holepunch.Protocol)
}

// part closes relayed connections once a direct one is there, but none over which an exchange runs.
func (m *Mesh) part(p peer.ID) {
	for m.pause(parting) == nil && m.straight(p) {
		left := 0
		for _, c := range m.host.Network().ConnsToPeer(p) {
			if !circuit(c.RemoteMultiaddr()) {
				continue
			}
			if slices.ContainsFunc(c.GetStreams(), func(s network.Stream) bool { return s.Protocol() == syncProtocol }) {
				left++
				continue
			}
			_ = c.Close() // it may have gone
		}
		if left == 0 {
			return
		}
	}
}

// punchPatience is how long a dial over a relay waits for this computer to know its own address, so that the
// first try at hole punching can succeed.
const punchPatience = 4 * time.Second

// awaitPunch waits for that, soon after the start.
func (m *Mesh) awaitPunch(ctx context.Context, addrs []ma.Multiaddr) {
	if m.hands.punch == nil || !slices.ContainsFunc(addrs, circuit) {
		return
	}
	tick := time.NewTicker(250 * time.Millisecond)
	defer tick.Stop()
	for time.Since(m.began) < punchPatience && !m.punchReady() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// remoteOf is where a connection leads by now. One by QUIC goes on when the other end gets another address; libp2p
// tells the first one for as long as it lives.
func remoteOf(c network.Conn) ma.Multiaddr {
	a := c.RemoteMultiaddr()
	var q *quic.Conn
	if circuit(a) || !c.As(&q) {
		return a
	}
	now, err := manet.FromNetAddr(q.RemoteAddr())
	if err != nil || len(a) < len(now) {
		return a
	}
	return append(slices.Clone(now), a[len(now):]...)
}
