package memnet

import (
	"context"
	"fmt"
	"math"
	"net"
	"net/netip"
	"sync"

	"github.com/libp2p/go-libp2p"
	"github.com/libp2p/go-libp2p/core/connmgr"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/transport"
	"github.com/libp2p/go-libp2p/p2p/muxer/yamux"
	"github.com/libp2p/go-libp2p/p2p/security/noise"
	ma "github.com/multiformats/go-multiaddr"
	manet "github.com/multiformats/go-multiaddr/net"
)

// Host is what a libp2p host at an address of this network is made with; it listens on TCP addresses of
// that host. What would only pass the time on an idle day is off: keep-alives, and measuring of round
// trips, of reachability and of resources.
func (n *Net) Host(at netip.Addr) []libp2p.Option {
	calm := *yamux.DefaultTransport.Config()
	calm.EnableKeepAlive = false
	calm.MeasureRTTInterval = math.MaxInt64 / 4
	return []libp2p.Option{
		libp2p.Transport(func(u transport.Upgrader, rm network.ResourceManager) (*wire, error) {
			return &wire{n: n, at: at, upgrader: u, resources: rm}, nil
		}),
		libp2p.Security(noise.ID, noise.New),
		libp2p.Muxer(yamux.ID, (*yamux.Transport)(&calm)),
		libp2p.ResourceManager(&network.NullResourceManager{}),
		libp2p.ConnectionManager(connmgr.NullConnMgr{}),
		libp2p.ForceReachabilityPublic(),
		libp2p.DisableIdentifyAddressDiscovery(),
		libp2p.Ping(false),
	}
}

// At is [Net.Host] for a package that hands it on and does not know libp2p.
func (n *Net) At(host netip.Addr) func() []libp2p.Option {
	return func() []libp2p.Option { return n.Host(host) }
}

// wire is one host's place in the network, as a libp2p transport.
type wire struct {
	n         *Net
	at        netip.Addr
	upgrader  transport.Upgrader
	resources network.ResourceManager
}

// Dial connects to a peer.
func (w *wire) Dial(ctx context.Context, to ma.Multiaddr, p peer.ID) (transport.CapableConn, error) {
	at, err := addrPort(to)
	if err != nil {
		return nil, err
	}
	scope, err := w.resources.OpenConnection(network.DirOutbound, false, to)
	if err != nil {
		return nil, err
	}
	up, err := w.upgrade(ctx, at, p, scope)
	if err != nil {
		scope.Done()
	}
	return up, err
}

func (w *wire) upgrade(ctx context.Context, to netip.AddrPort, p peer.ID, scope network.ConnManagementScope) (transport.CapableConn, error) {
	if err := scope.SetPeer(p); err != nil {
		return nil, err
	}
	c, err := w.n.dial(ctx, w.at, to)
	if err != nil {
		return nil, err
	}
	return w.upgrader.Upgrade(ctx, w, c, network.DirOutbound, p, scope)
}

// CanDial reports whether an address is one of this kind of network.
func (w *wire) CanDial(a ma.Multiaddr) bool {
	_, err := addrPort(a)
	return err == nil
}

// Listen takes an address.
func (w *wire) Listen(a ma.Multiaddr) (transport.Listener, error) {
	at, err := addrPort(a)
	if err != nil {
		return nil, err
	}
	l, err := w.n.listen(at)
	if err != nil {
		return nil, err
	}
	return w.upgrader.UpgradeGatedMaListener(w, w.upgrader.GateMaListener(l)), nil
}

// Protocols are those of a TCP address.
func (w *wire) Protocols() []int { return []int{ma.P_TCP} }

// Proxy says that this is no relay.
func (w *wire) Proxy() bool { return false }

// listener accepts connections at an address.
type listener struct {
	n       *Net
	at      netip.AddrPort
	waiting chan *conn
	closed  chan struct{}
	once    sync.Once
}

// Accept waits for a connection.
func (l *listener) Accept() (manet.Conn, error) {
	select {
	case c := <-l.waiting:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

// Close frees the address and refuses whoever waits.
func (l *listener) Close() error {
	l.once.Do(func() {
		close(l.closed)
		l.n.mu.Lock()
		defer l.n.mu.Unlock()
		delete(l.n.listeners, l.at)
		for {
			select {
			case c := <-l.waiting:
				c.abort(net.ErrClosed)
			default:
				return
			}
		}
	})
	return nil
}

// Addr is where it listens.
func (l *listener) Addr() net.Addr { return net.TCPAddrFromAddrPort(l.at) }

// Multiaddr is where it listens.
func (l *listener) Multiaddr() ma.Multiaddr { return multiaddr(l.at) }

// addrPort reads a multiaddress of an IP address and a TCP port, and of nothing more.
func addrPort(a ma.Multiaddr) (netip.AddrPort, error) {
	at, err := manet.ToNetAddr(a)
	if err != nil {
		return netip.AddrPort{}, fmt.Errorf("address %s: %w", a, err)
	}
	tcp, ok := at.(*net.TCPAddr)
	if !ok {
		return netip.AddrPort{}, fmt.Errorf("address %s: not of this network", a)
	}
	out := tcp.AddrPort()
	return netip.AddrPortFrom(out.Addr().Unmap(), out.Port()), nil
}

func multiaddr(at netip.AddrPort) ma.Multiaddr {
	family := "ip4"
	if at.Addr().Is6() {
		family = "ip6"
	}
	return ma.StringCast(fmt.Sprintf("/%s/%s/tcp/%d", family, at.Addr(), at.Port()))
}
