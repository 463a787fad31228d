package mesh

import (
	"context"
	"net"
	"net/netip"
	"slices"
	"sync"
	"time"

	ma "github.com/multiformats/go-multiaddr"
	manet "github.com/multiformats/go-multiaddr/net"

	"github.com/parley-mesh/parley/ledger"
)

// Verdict answers whether something works from here.
type Verdict string

// The answers. Unknown means that there was nobody to try it with.
const (
	Works   Verdict = "yes"
	Fails   Verdict = "no"
	Unknown Verdict = "unknown"
)

// What the router in front of this computer does with it.
const (
	NATNone      = "none"      // others see an address of this computer
	NATEasy      = "easy"      // one port in front for one port behind, whoever is talked to
	NATSymmetric = "symmetric" // another port for everybody; no hole can be punched
	NATUnknown   = "unknown"
)

// Netcheck is what works from here.
type Netcheck struct {
	IPv4, IPv6 Verdict // whether there is a way out
	UDP        Verdict // what follows is tried with relays, and with members that are connected
	TCP        Verdict
	WebSocket  Verdict
	// Intercepted says that something else answers in a relay's place: a captive portal, or a proxy.
	Intercepted bool
	NAT         string
	Punch       Verdict
	Router      Verdict  // the router takes orders (UPnP, NAT-PMP)
	Mapped      []string // addresses that it forwards
	Listen      []string
	Seen        []string // this computer's addresses as others see them
	Reachable   []string // those that a member reached from outside
	Relays      []RelayStatus
	Clock       time.Duration // how far this computer's clock is behind the others', the middle of what they say
	Clocks      int           // how many were asked
}

// checkTime is how long everything together may take.
const checkTime = 8 * time.Second

// Check finds out what works from here. It asks nobody but the fleet's relays and members.
func (m *Mesh) Check(ctx context.Context) Netcheck {
	ctx, cancel := context.WithTimeout(ctx, checkTime)
	defer cancel()
	m.reserveNow()
	m.awaitRelays(ctx)
	out := Netcheck{
		IPv4: wayOut("udp4", "192.0.2.1:9"), IPv6: wayOut("udp6", "[2001:db8::1]:9"),
		UDP: Unknown, TCP: Unknown, WebSocket: Unknown, NAT: NATUnknown, Punch: Unknown, Router: Unknown, Listen: m.Addrs(), Relays: m.Relays(),
	}
	var work sync.WaitGroup
	var found []tried
	work.Go(func() { found = m.tryRelays(ctx) })
	work.Go(func() { out.Clock, out.Clocks = m.clocks(ctx) })
	work.Wait()
	var echoes []netip.AddrPort
	for _, t := range found {
		out.note(t)
		echoes = append(echoes, t.echoes...)
	}
	m.noteConns(&out)
	out.NAT, out.Seen = m.natOf(echoes)
	out.Punch = punchable(out)
	if m.hands.router != nil {
		out.Router = Fails
		if m.hands.router.HasDiscoveredNAT() {
			out.Router = Works
		}
		for _, a := range m.host.Network().ListenAddresses() {
			if at := m.hands.router.GetMapping(a); at != nil {
				out.Mapped = append(out.Mapped, at.String())
			}
		}
	}
	if h, ok := m.host.(interface {
		ConfirmedAddrs() (reachable, unreachable, unknown []ma.Multiaddr)
	}); ok {
		reachable, _, _ := h.ConfirmedAddrs()
		out.Reachable = textsOf(reachable)
	}
	return out
}

// awaitRelays gives reservations that are being made a moment.
func (m *Mesh) awaitRelays(ctx context.Context) {
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for began := time.Now(); time.Since(began) < checkTime/4; {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
		if !slices.ContainsFunc(m.Relays(), func(r RelayStatus) bool { return !r.Reserved && r.Trouble == "" }) {
			return
		}
	}
}

// wayOut reports whether the system has a route. Nothing is sent.
func wayOut(network, to string) Verdict {
	c, err := net.Dial(network, to)
	if err != nil {
		return Fails
	}
	defer c.Close()
	if at, ok := c.LocalAddr().(*net.UDPAddr); !ok || at.IP.IsLoopback() || at.IP.IsLinkLocalUnicast() {
		return Fails
	}
	return Works
}

// note takes in what came of one try. One that worked says more than one that did not.
func (c *Netcheck) note(t tried) {
	c.Intercepted = c.Intercepted || t.intercepted
	for _, v := range []struct {
		to  *Verdict
		got Verdict
	}{{&c.UDP, t.udp}, {&c.TCP, t.tcp}, {&c.WebSocket, t.ws}} {
		if v.got == Works || v.got == Fails && *v.to == Unknown {
			*v.to = v.got
		}
	}
}

// noteConns takes in what works already.
func (m *Mesh) noteConns(c *Netcheck) {
	for _, conn := range m.host.Network().Conns() {
		a := conn.RemoteMultiaddr()
		if circuit(a) || pathOf(a) == PathLAN {
			continue
		}
		if ip, err := manet.ToIP(a); err == nil && ip.To4() != nil {
			c.IPv4 = Works
		} else if err == nil {
			c.IPv6 = Works
		}
		switch transportOf(a) {
		case "quic":
			c.UDP = Works
		case "tcp":
			c.TCP = Works
		case "websocket":
			c.WebSocket = Works
		}
	}
}

// clocks asks relays and a few members for the time.
func (m *Mesh) clocks(ctx context.Context) (time.Duration, int) {
	var all []time.Duration
	for _, r := range m.Relays() {
		if r.Reserved {
			all = append(all, r.Skew)
		}
	}
	for _, p := range m.Peers() {
		if p.Connected && p.Lane == (ledger.TID{}) && len(all) < 2*relaysMax && ctx.Err() == nil {
			if t, err := m.Ping(ctx, p.Device); err == nil {
				all = append(all, t.Skew)
			}
		}
	}
	if len(all) == 0 {
		return 0, 0
	}
	slices.Sort(all)
	return all[len(all)/2], len(all)
}

// natOf says what the router does, by what others see.
func (m *Mesh) natOf(echoes []netip.AddrPort) (string, []string) {
	own := map[netip.Addr]bool{}
	if addrs, err := manet.InterfaceMultiaddrs(); err == nil {
		for _, a := range addrs {
			if ip, err := manet.ToIP(a); err == nil {
				if at, ok := netip.AddrFromSlice(ip); ok {
					own[at.Unmap()] = true
				}
			}
		}
	}
	seen := slices.Clone(echoes)
	m.mu.Lock()
	var udp []netip.AddrPort
	for _, s := range m.seen {
		if at, ok := addrPortOf(s.addr); ok {
			if seen = append(seen, at); transportOf(s.addr) == "quic" {
				udp = append(udp, at)
			}
		}
	}
	m.mu.Unlock()
	var texts []string
	for _, at := range seen {
		texts = append(texts, at.Addr().String())
	}
	slices.Sort(texts)
	texts = slices.Compact(texts)
	switch {
	case slices.ContainsFunc(seen, func(at netip.AddrPort) bool {
		return own[at.Addr()] && !at.Addr().IsLoopback() && !at.Addr().IsPrivate()
	}):
		return NATNone, texts
	case len(echoes) >= 2:
		return sameFront(echoes), texts
	case len(udp) >= 2:
		return sameFront(udp), texts
	}
	return NATUnknown, texts
}

// sameFront judges by what two others see of one socket.
func sameFront(at []netip.AddrPort) string {
	for i, a := range at {
		for _, b := range at[i+1:] {
			if a.Addr() == b.Addr() && a.Port() != b.Port() {
				return NATSymmetric
			}
		}
	}
	return NATEasy
}

func addrPortOf(a ma.Multiaddr) (netip.AddrPort, bool) {
	at, err := manet.ToNetAddr(a)
	if err != nil {
		return netip.AddrPort{}, false
	}
	out, err := netip.ParseAddrPort(at.String())
	return netip.AddrPortFrom(out.Addr().Unmap(), out.Port()), err == nil
}

func punchable(c Netcheck) Verdict {
	switch {
	case c.NAT == NATSymmetric || c.UDP == Fails:
		return Fails
	case c.UDP == Works && (c.NAT == NATEasy || c.NAT == NATNone):
		return Works
	}
	return Unknown
}
