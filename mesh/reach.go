package mesh

import (
	"crypto/tls"
	"fmt"
	"slices"
	"strings"

	"github.com/libp2p/go-libp2p"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	basichost "github.com/libp2p/go-libp2p/p2p/host/basic"
	"github.com/libp2p/go-libp2p/p2p/protocol/holepunch"
	"github.com/libp2p/go-libp2p/p2p/transport/quic"
	"github.com/libp2p/go-libp2p/p2p/transport/tcp"
	"github.com/libp2p/go-libp2p/p2p/transport/websocket"
	ma "github.com/multiformats/go-multiaddr"
	manet "github.com/multiformats/go-multiaddr/net"
)

// Reach is how a mesh finds and reaches computers that no address leads to. The zero value dials the
// addresses that it knows and does nothing more, which is all that a network in memory can do.
type Reach struct {
	// LAN finds members on the same local network (mDNS).
	LAN bool
	// PortMap asks the router to forward a port (UPnP, NAT-PMP).
	PortMap bool
	// Circuits lets connections go over relays, straightens them by hole punching where both routers allow it,
	// and lets members test from outside which addresses of this computer work (AutoNAT v2).
	Circuits bool
	// Carry relays for the other members; it needs an address that they can reach.
	Carry bool
	// Relays are addresses of relays that this computer shall be reachable by, each with /p2p/ID at its end.
	Relays []string
}

// relaysMax bounds the relays that a computer keeps a reservation at.
const relaysMax = 4

// hands is what libp2p leaves to the package when a host is made.
type hands struct {
	punch  *holepunch.Service
	router *router
}

// transports are the only ones that a mesh needs: QUIC first, TCP where UDP is blocked, WebSocket where only the web's
// ports and words pass. The security of TLS is not used there: noise inside of it proves the keys, so any certificate
// will do.
func transports() []libp2p.Option {
	return []libp2p.Option{
		libp2p.Transport(libp2pquic.NewTransport), libp2p.Transport(tcp.NewTCPTransport),
		libp2p.Transport(websocket.New, websocket.WithTLSClientConfig(&tls.Config{InsecureSkipVerify: true})),
	}
}

// options are libp2p's for this reach.
func (r Reach) options(h *hands) []libp2p.Option {
	out := transports()
	if r.PortMap {
		out = append(out, libp2p.NATManager(func(n network.Network) basichost.NATManager {
			h.router = newRouter(n)
			return h.router
		}))
	}
	if r.Circuits {
		out = append(out, libp2p.EnableAutoNATv2())
	}
	return append(out, r.circuitOptions(h)...)
}

// circuitOptions are those for connections over relays.
func (r Reach) circuitOptions(h *hands) []libp2p.Option {
	if !r.Circuits {
		return []libp2p.Option{libp2p.DisableRelay()}
	}
	return []libp2p.Option{libp2p.EnableRelay(), libp2p.EnableHolePunching(h.keepPunch, holepunch.DirectDialTimeout(straightTime))}
}

// inMemory is what of it a network in memory can do: relays that are set, and nothing else.
func (r Reach) inMemory() Reach {
	return Reach{Circuits: len(r.Relays) > 0 || r.Carry, Carry: r.Carry, Relays: r.Relays}
}

// keepPunch keeps libp2p's own way past relays.
func (h *hands) keepPunch(s *holepunch.Service) error {
	h.punch = s
	return nil
}

// parseRelay reads the address of a relay: a multiaddress with /p2p/ID at its end.
func parseRelay(text string) (peer.AddrInfo, error) {
	a, err := ma.NewMultiaddr(text)
	if err != nil {
		return peer.AddrInfo{}, fmt.Errorf("relay %q: not an address such as /ip4/203.0.113.5/udp/4001/quic-v1/p2p/ID", text)
	}
	info, err := peer.AddrInfoFromP2pAddr(a)
	if err != nil || len(info.Addrs) == 0 || circuit(a) {
		return peer.AddrInfo{}, fmt.Errorf("relay %q: want an address with /p2p/ID at its end", text)
	}
	if _, ok := deviceOf(info.ID); !ok {
		return peer.AddrInfo{}, fmt.Errorf("relay %q: its key is of another kind", text)
	}
	return *info, nil
}

// CheckRelay reports what is wrong with the address of a relay.
func CheckRelay(text string) error {
	_, err := parseRelay(text)
	return err
}

// circuit reports whether an address goes over a relay.
func circuit(a ma.Multiaddr) bool {
	_, err := a.ValueForProtocol(ma.P_CIRCUIT)
	return err == nil
}

// relayIn is the relay that an address goes over, with that part of the address alone.
func relayIn(a ma.Multiaddr) (peer.AddrInfo, bool) {
	before, _ := ma.SplitFunc(a, func(c ma.Component) bool { return c.Protocol().Code == ma.P_CIRCUIT })
	if before == nil || !circuit(a) {
		return peer.AddrInfo{}, false
	}
	info, err := peer.AddrInfoFromP2pAddr(before)
	if err != nil || len(info.Addrs) == 0 {
		return peer.AddrInfo{}, false
	}
	return *info, true
}

// The ways in which a connection goes.
const (
	PathLAN     = "lan"     // an address of a local network, or of this machine
	PathDirect  = "direct"  // over the internet, nobody between
	PathRelayed = "relayed" // a relay carries it and can read nothing
)

func pathOf(a ma.Multiaddr) string {
	switch {
	case circuit(a):
		return PathRelayed
	case manet.IsPrivateAddr(a) || manet.IsIPLoopback(a) || linkLocal(a):
		return PathLAN
	}
	return PathDirect
}

func linkLocal(a ma.Multiaddr) bool {
	ip, err := manet.ToIP(a)
	return err == nil && ip.IsLinkLocalUnicast()
}

func transportOf(a ma.Multiaddr) string {
	text := a.String()
	if relay, ok := relayIn(a); ok {
		text = relay.Addrs[0].String()
	}
	switch {
	case strings.Contains(text, "/quic"):
		return "quic"
	case strings.Contains(text, "/ws"):
		return "websocket"
	case strings.Contains(text, "/tcp/"):
		return "tcp"
	}
	return "memory"
}

// best is the connection that counts of several: one without a relay before one with, the older one first.
func best(conns []network.Conn) network.Conn {
	open := slices.DeleteFunc(slices.Clone(conns), func(c network.Conn) bool { return c.IsClosed() })
	if len(open) == 0 {
		return nil
	}
	slices.SortStableFunc(open, func(a, b network.Conn) int {
		if x, y := circuit(a.RemoteMultiaddr()), circuit(b.RemoteMultiaddr()); x != y {
			if x {
				return 1
			}
			return -1
		}
		return a.Stat().Opened.Compare(b.Stat().Opened)
	})
	return open[0]
}
