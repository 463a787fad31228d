// Package memnet is a network in memory for libp2p hosts in one process: connections that deliver after a
// latency, stay silent while a cable is unplugged, and time out as TCP does. Security and multiplexing on
// top are the real ones. Nothing in it touches a socket, so that it runs in a bubble of testing/synctest,
// where an idle day costs nothing.
//
// Invariants:
//  1. Bytes arrive whole, in order and once, or the connection ends with an error.
//  2. While a path is cut, nothing arrives by it, and neither end is told. What waits is delivered if the
//     path heals in time; else the end that waits gives up, and the other finds out when it writes.
//  3. A [Net] starts no goroutine. Its timers end with its connections.
package memnet

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"net/netip"
	"sync"
	"syscall"
	"time"
)

// patience is how long a connection waits for bytes to get through before it gives up. TCP takes minutes
// by default; libp2p's own keep-alives find out in about this time.
const patience = 30 * time.Second

// backlogMax is how many connections may wait to be accepted.
const backlogMax = 128

// firstPort is where the ports of dialling ends begin.
const firstPort = 20000

// Net is one network. The zero value is of no use; see [New].
type Net struct {
	latency time.Duration
	share   float64       // of writes that are lost at first
	again   time.Duration // after which they are sent again
	luck    *rand.Rand

	mu        sync.Mutex
	listeners map[netip.AddrPort]*listener
	conns     map[*conn]bool
	port      uint16
	unplugged map[netip.Addr]bool
	parted    map[[2]netip.Addr]bool
	carried   int64
	between   map[[2]netip.Addr]Traffic // from the first to the second
}

// Traffic is what one host did towards another.
type Traffic struct {
	Dials int   // connections that it began
	Bytes int64 // that it handed to the network, those of the handshakes included
}

// New is a network on which everything takes latency, one way.
func New(latency time.Duration) *Net {
	return &Net{
		latency: latency, listeners: map[netip.AddrPort]*listener{}, conns: map[*conn]bool{},
		unplugged: map[netip.Addr]bool{}, parted: map[[2]netip.Addr]bool{}, between: map[[2]netip.Addr]Traffic{},
	}
}

// From is what one host did towards another so far.
func (n *Net) From(a, b netip.Addr) Traffic {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.between[[2]netip.Addr{a, b}]
}

// count adds to what one host did towards another. The caller holds the lock.
func (n *Net) count(a, b netip.Addr, more Traffic) {
	t := n.between[[2]netip.Addr{a, b}]
	n.between[[2]netip.Addr{a, b}] = Traffic{Dials: t.Dials + more.Dials, Bytes: t.Bytes + more.Bytes}
}

// Lose lets a share of all writes be lost and sent again after so long, as a reliable stream shows it: they come later, and
// what follows them waits.
func (n *Net) Lose(share float64, again time.Duration) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.share, n.again, n.luck = share, again, rand.New(rand.NewPCG(1, 2))
}

// Unplug lets nothing through to or from a host: a closed lid, a lost radio.
func (n *Net) Unplug(host netip.Addr) { n.change(func() { n.unplugged[host] = true }) }

// Plug undoes [Net.Unplug].
func (n *Net) Plug(host netip.Addr) { n.change(func() { delete(n.unplugged, host) }) }

// Part lets nothing through between two hosts, in either direction.
func (n *Net) Part(a, b netip.Addr) { n.change(func() { n.parted[pair(a, b)] = true }) }

// Heal undoes [Net.Part].
func (n *Net) Heal(a, b netip.Addr) { n.change(func() { delete(n.parted, pair(a, b)) }) }

// Carried is how many bytes were handed to the network so far, those of the handshakes included.
func (n *Net) Carried() int64 {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.carried
}

// change changes what gets through, and lets every connection look again.
func (n *Net) change(by func()) {
	n.mu.Lock()
	defer n.mu.Unlock()
	by()
	for c := range n.conns {
		c.out.look()
	}
}

// cut reports whether nothing gets through between two hosts. The mutex is held.
func (n *Net) cut(a, b netip.Addr) bool {
	return n.unplugged[a] || n.unplugged[b] || n.parted[pair(a, b)]
}

func pair(a, b netip.Addr) [2]netip.Addr {
	if b.Less(a) {
		a, b = b, a
	}
	return [2]netip.Addr{a, b}
}

// listen takes an address; port 0 is any that is free.
func (n *Net) listen(at netip.AddrPort) (*listener, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for free := at.Port() == 0; free; free = n.listeners[at] != nil {
		at = netip.AddrPortFrom(at.Addr(), n.nextPort())
	}
	if n.listeners[at] != nil {
		return nil, &net.OpError{Op: "listen", Net: "memory", Addr: net.TCPAddrFromAddrPort(at), Err: syscall.EADDRINUSE}
	}
	l := &listener{n: n, at: at, waiting: make(chan *conn, backlogMax), closed: make(chan struct{})}
	n.listeners[at] = l
	return l, nil
}

// nextPort goes round the upper ports. The mutex is held.
func (n *Net) nextPort() uint16 {
	n.port = (n.port + 1) % (1<<16 - firstPort)
	return firstPort + n.port
}

// dial connects from a host to an address. While the path is cut, it waits for the context to end, as a
// lost first packet would.
func (n *Net) dial(ctx context.Context, from netip.Addr, to netip.AddrPort) (*conn, error) {
	shakes := time.NewTimer(2 * n.latency)
	defer shakes.Stop()
	select {
	case <-shakes.C:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	n.mu.Lock()
	n.count(from, to.Addr(), Traffic{Dials: 1})
	if n.cut(from, to.Addr()) {
		n.mu.Unlock()
		<-ctx.Done()
		return nil, fmt.Errorf("dial %s: %w", to, syscall.ETIMEDOUT)
	}
	defer n.mu.Unlock()
	l := n.listeners[to]
	if l == nil {
		return nil, fmt.Errorf("dial %s: %w", to, syscall.ECONNREFUSED)
	}
	here, there := n.join(netip.AddrPortFrom(from, n.nextPort()), to)
	select {
	case l.waiting <- there:
		return here, nil
	default:
		here.abort(syscall.ECONNREFUSED)
		there.abort(syscall.ECONNREFUSED)
		return nil, fmt.Errorf("dial %s: %w", to, syscall.ECONNREFUSED)
	}
}

// join makes the two ends of a connection. The mutex is held.
func (n *Net) join(a, b netip.AddrPort) (here, there *conn) {
	here, there = &conn{n: n, local: a, remote: b}, &conn{n: n, local: b, remote: a}
	for _, c := range []*conn{here, there} {
		c.out = &pipe{n: n, from: c, changed: make(chan struct{})}
	}
	here.in, there.in = there.out, here.out
	here.peer, there.peer = there, here
	n.conns[here], n.conns[there] = true, true
	return here, there
}
