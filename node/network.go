package node

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/parley-mesh/parley/mesh"
	"github.com/parley-mesh/parley/node/api"
)

// NetworkConfig is how other computers are found and reached.
type NetworkConfig struct {
	// LAN finds them on the same local network (mDNS). This computer's key is visible there, its name is not.
	LAN bool `toml:"lan" comment:"Find your computers on the local network."`
	// PortMap asks the router to forward a port.
	PortMap bool `toml:"port_map" comment:"Ask the router for a port (UPnP, NAT-PMP)."`
	// Relay lets this computer carry the connections of the others, if they can reach it.
	Relay bool `toml:"relay" comment:"Carry the connections of your other computers; for one with a public address."`
	// Relays are the addresses that parley relay prints. The other computers learn them from this one.
	Relays []string `toml:"relays,omitempty" comment:"Relays to be reached by, as parley relay prints them."`
}

// networkRelaysMax is how many addresses of relays the settings may hold.
const networkRelaysMax = 16

func (c NetworkConfig) validate(bad badFunc) error {
	if len(c.Relays) > networkRelaysMax {
		return bad("network.relays", "want at most %s", strconv.Itoa(networkRelaysMax))
	}
	for _, r := range c.Relays {
		if err := mesh.CheckRelay(r); err != nil {
			return bad("network.relays", "%s", err.Error())
		}
	}
	return nil
}

// reach is what the mesh makes of it. Who listens on this machine alone is neither shouted out nor forwarded.
func (c Config) reach() mesh.Reach {
	n := c.Network
	out := slices.ContainsFunc(c.Listen, func(s string) bool {
		l, err := parseListen(s)
		return err == nil && !l.addr.Addr().IsLoopback()
	})
	return mesh.Reach{LAN: n.LAN && out, PortMap: n.PortMap && out, Circuits: true, Carry: n.Relay, Relays: n.Relays}
}

// listening is one parsed address to listen on.
type listening struct {
	network string // as package net calls it: udp4, tcp6, …
	addr    netip.AddrPort
}

var errListenForm = errors.New("want /ip4/ADDRESS/udp/PORT/quic-v1 or /ip4/ADDRESS/tcp/PORT, or ip6")

// webTails are what may follow a TCP port: WebSocket, for networks that let only the web pass.
var webTails = [][]string{nil, {"ws"}, {"tls", "ws"}}

func parseListen(s string) (listening, error) {
	part := strings.Split(s, "/")
	if len(part) < 5 || part[0] != "" {
		return listening{}, errListenForm
	}
	quic := part[3] == "udp" && slices.Equal(part[5:], []string{"quic-v1"})
	tcp := part[3] == "tcp" && slices.ContainsFunc(webTails, func(t []string) bool { return slices.Equal(part[5:], t) })
	if !quic && !tcp {
		return listening{}, errListenForm
	}
	ip, err := netip.ParseAddr(part[2])
	if err != nil || part[1] == "ip4" && !ip.Is4() || part[1] == "ip6" && !ip.Is6() || part[1] != "ip4" && part[1] != "ip6" {
		return listening{}, errListenForm
	}
	port, err := strconv.ParseUint(part[4], 10, 16)
	if err != nil {
		return listening{}, errListenForm
	}
	return listening{network: part[3] + part[1][2:], addr: netip.AddrPortFrom(ip, uint16(port))}, nil
}

// CheckPorts tries every address of Listen with a port of its own and lets it go again. An error is an
// [api.ErrPortTaken] or says what the system has against it.
func (c Config) CheckPorts() error {
	for _, s := range c.Listen {
		l, err := parseListen(s)
		if err != nil || l.addr.Port() == 0 {
			continue
		}
		if err := l.try(); err != nil && !noFamily(err) {
			return fmt.Errorf("listen %s: %w: %v", s, api.ErrPortTaken, err)
		}
	}
	return nil
}

// noFamily reports whether the system does without IPv4 or IPv6: then nothing listens there, and no harm is done.
func noFamily(err error) bool {
	return errors.Is(err, syscall.EAFNOSUPPORT) || errors.Is(err, syscall.EADDRNOTAVAIL)
}

func (l listening) try() error {
	if strings.HasPrefix(l.network, "udp") {
		c, err := net.ListenUDP(l.network, net.UDPAddrFromAddrPort(l.addr))
		if err != nil {
			return err
		}
		return c.Close()
	}
	c, err := net.ListenTCP(l.network, net.TCPAddrFromAddrPort(l.addr))
	if err != nil {
		return err
	}
	return c.Close()
}
