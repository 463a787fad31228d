package netns_test

import (
	"flag"
	"os"
	"testing"
	"time"

	"github.com/parley-mesh/parley/mesh"
	"github.com/parley-mesh/parley/simnet/netns"
)

func TestMain(m *testing.M) {
	netns.Main()
	os.Exit(m.Run())
}

const (
	relay, alice, bob = byte(9), byte(1), byte(2)
	soon              = 2 * time.Minute
)

// internet is a world with a relay in it.
type internet struct {
	*netns.World
	t     *testing.T
	relay *netns.Computer
}

func newInternet(t *testing.T, addrs ...string) *internet {
	t.Helper()
	i := &internet{World: netns.New(t), t: t}
	if addrs == nil {
		addrs = []string{"11.22.0.9/24"}
	}
	i.relay = i.Public("relay", addrs...).Start(netns.Setup{
		Seed: relay, Relay: true, Fleet: []byte{alice},
		Listen: []string{
			"/ip4/0.0.0.0/udp/4001/quic-v1", "/ip4/0.0.0.0/tcp/4001", "/ip4/0.0.0.0/tcp/443/ws",
			"/ip6/::/udp/4001/quic-v1", "/ip6/::/tcp/4001",
		},
	})
	return i
}

// address is one of the relay's, such as "/ip4/11.22.0.9/udp/4001/quic-v1".
func (i *internet) address(of string) string {
	return of + "/p2p/" + netns.PeerName(relay)
}

// computer starts one of the fleet.
func (i *internet) computer(s *netns.Space, seed byte, relays ...string) *netns.Computer {
	i.t.Helper()
	other := alice + bob - seed
	var circuits []string
	for _, r := range relays {
		circuits = append(circuits, r+"/p2p-circuit")
	}
	return s.Start(netns.Setup{
		Seed: seed, Fleet: []byte{alice, bob}, Dir: i.t.TempDir(),
		Listen: []string{"/ip4/0.0.0.0/udp/4001/quic-v1", "/ip4/0.0.0.0/tcp/4001", "/ip6/::/udp/4001/quic-v1", "/ip6/::/tcp/4001"},
		Reach:  mesh.Reach{Circuits: true, Relays: relays}, Knows: map[byte][]string{other: circuits},
	})
}

// row prints one line of the table in DESIGN.md.
func row(t *testing.T, way netns.Way, connected, spread time.Duration) {
	t.Helper()
	t.Logf("| %s | %s | %s | %.1f s | %.0f ms |", t.Name(), way.Path, way.Transport, connected.Seconds(), float64(spread.Microseconds())/1000)
}

// spread is how long a record of one takes until the other holds it.
func spread(from, to *netns.Computer, n int) time.Duration {
	said := from.Say()
	return to.Has(soon, n).Sub(said)
}

// meet starts both computers in their homes, and returns how they are connected.
func (i *internet) meet(a, b *netns.Space, path string, relays ...string) (one, two *netns.Computer) {
	i.t.Helper()
	began := time.Now()
	one, two = i.computer(a, alice, relays...), i.computer(b, bob, relays...)
	way, when := one.Connected(soon, bob, path)
	two.Connected(soon, alice, path)
	row(i.t, way, when.Sub(began), spread(one, two, 1))
	spread(two, one, 2)
	return one, two
}

const (
	quicRelay = "/ip4/11.22.0.9/udp/4001/quic-v1"
	tcpRelay  = "/ip4/11.22.0.9/tcp/4001"
	webRelay  = "/ip4/11.22.0.9/tcp/443/ws"
)

func TestTwoHomesBehindPlainRoutersTalkDirectly(t *testing.T) {
	t.Parallel()
	i := newInternet(t)
	_, a := i.Home("home-a", "11.22.0.1/24", 1, netns.Plain, "alice")
	_, b := i.Home("home-b", "11.22.0.2/24", 2, netns.Plain, "bob")

	one, _ := i.meet(a[0], b[0], mesh.PathDirect, i.address(quicRelay))

	one.Finds(soon, "a router that keeps ports", func(c mesh.Netcheck) bool {
		return c.NAT == mesh.NATEasy && c.UDP == mesh.Works && c.TCP == mesh.Works && c.Punch == mesh.Works && c.Clocks != 0 && c.Clock <= time.Second && c.IPv6 == mesh.Fails
	})
}

func TestTwoHomesBehindSymmetricRoutersTalkByTheRelay(t *testing.T) {
	t.Parallel()
	i := newInternet(t)
	_, a := i.Home("home-a", "11.22.0.1/24", 1, netns.Symmetric, "alice")
	_, b := i.Home("home-b", "11.22.0.2/24", 2, netns.Symmetric, "bob")

	one, _ := i.meet(a[0], b[0], mesh.PathRelayed, i.address(quicRelay))

	one.Finds(soon, "a symmetric router", func(c mesh.Netcheck) bool {
		return c.NAT == mesh.NATSymmetric && c.UDP == mesh.Works && c.Punch == mesh.Fails
	})
}

func TestTwoHomesBehindSymmetricRoutersPairByTheRelay(t *testing.T) { // P3
	t.Parallel()
	i := newInternet(t)
	_, a := i.Home("home-a", "11.22.0.1/24", 1, netns.Symmetric, "alice")
	_, b := i.Home("home-b", "11.22.0.2/24", 2, netns.Symmetric, "bob")
	one := i.computer(a[0], alice, i.address(quicRelay), i.address(tcpRelay))
	one.Learns(soon, netns.PeerName(relay))

	code := one.Invite()
	began := time.Now()
	two := b[0].Start(netns.Setup{Seed: 7, Code: code, Listen: []string{"/ip4/0.0.0.0/udp/4001/quic-v1"}})

	there, when := two.Paired(soon)
	here, _ := one.Paired(soon)
	if there != "inviter" || here != "joiner" {
		t.Errorf("%q paired with %q", here, there)
	}
	t.Logf("paired %.1f s after the code was typed, %d letters", when.Sub(began).Seconds(), len(code))
}

// forbid adds a rule to what a router lets out.
func forbid(router *netns.Space, what string) {
	router.Rules("table ip cafe { chain through { type filter hook forward priority -10; iifname \"lan\" " + what + " drop; }; }")
}

func TestWhereUDPIsBlockedTCPTakesItsPlace(t *testing.T) {
	t.Parallel()
	i := newInternet(t)
	cafe, a := i.Home("cafe", "11.22.0.1/24", 1, netns.Symmetric, "alice")
	_, b := i.Home("home", "11.22.0.2/24", 2, netns.Plain, "bob")
	forbid(cafe, "ip protocol udp")

	one, _ := i.meet(a[0], b[0], mesh.PathRelayed, i.address(quicRelay), i.address(tcpRelay))

	one.Finds(soon, "no UDP", func(c mesh.Netcheck) bool {
		return c.UDP == mesh.Fails && c.TCP == mesh.Works && c.Punch == mesh.Fails
	})
}

func TestWhereOnlyTheWebPassesWebSocketTakesItsPlace(t *testing.T) {
	t.Parallel()
	i := newInternet(t)
	cafe, a := i.Home("cafe", "11.22.0.1/24", 1, netns.Symmetric, "alice")
	_, b := i.Home("home", "11.22.0.2/24", 2, netns.Plain, "bob")
	forbid(cafe, "tcp dport != 443")
	forbid(cafe, "ip protocol udp")

	one, _ := i.meet(a[0], b[0], mesh.PathRelayed, i.address(quicRelay), i.address(tcpRelay), i.address(webRelay))

	one.Finds(soon, "nothing but the web", func(c mesh.Netcheck) bool {
		return c.UDP == mesh.Fails && c.TCP == mesh.Fails && c.WebSocket == mesh.Works
	})
}

func TestIPv6AloneIsEnough(t *testing.T) {
	t.Parallel()
	i := newInternet(t, "2a00:1::9/64")
	a, b := i.Public("alice", "2a00:1::1/64"), i.Public("bob", "2a00:1::2/64")

	one, _ := i.meet(a, b, mesh.PathDirect, i.address("/ip6/2a00:1::9/udp/4001/quic-v1"))

	one.Finds(soon, "IPv6 alone", func(c mesh.Netcheck) bool {
		return c.IPv4 == mesh.Fails && c.IPv6 == mesh.Works && c.NAT == mesh.NATNone
	})
}

func TestNeighboursFindEachOtherWithoutAnyAddress(t *testing.T) {
	t.Parallel()
	w := netns.New(t)
	_, in := w.Home("home", "11.22.0.1/24", 1, netns.Plain, "alice", "bob", "carol")
	start := func(s *netns.Space, seed byte, fleet ...byte) *netns.Computer {
		return s.Start(netns.Setup{
			Seed: seed, Fleet: fleet, Dir: t.TempDir(), Reach: mesh.Reach{LAN: true},
			Listen: []string{"/ip4/0.0.0.0/udp/4001/quic-v1", "/ip4/0.0.0.0/tcp/4001"},
		})
	}
	began := time.Now()
	one, two := start(in[0], alice, alice, bob), start(in[1], bob, alice, bob)
	start(in[2], 3, alice, bob, 3) // believes to belong, and is let in by nobody

	way, when := one.Connected(soon, bob, mesh.PathLAN)

	row(t, way, when.Sub(began), spread(one, two, 1))
	if _, knows := one.Ways()[3]; knows {
		t.Error("a neighbour that does not belong is connected")
	}
}

func TestACaptivePortalIsNamedAndWaitedFor(t *testing.T) {
	t.Parallel()
	i := newInternet(t)
	cafe, a := i.Home("cafe", "11.22.0.1/24", 1, netns.Plain, "alice")
	b := i.Public("bob", "11.22.0.2/24")
	cafe.Start(netns.Setup{Seed: 8, Portal: true})
	cafe.Rules(`table ip portal {
	chain to { type nat hook prerouting priority dstnat; iifname "lan" meta l4proto tcp redirect to :8080; }
	chain through { type filter hook forward priority -10; iifname "lan" drop; }
}`)
	at := []string{i.address(quicRelay), i.address(tcpRelay)}
	one, two := i.computer(a[0], alice, at...), i.computer(b, bob, at...)
	one.Finds(soon, "a captive portal", func(c mesh.Netcheck) bool {
		return c.Intercepted && c.TCP == mesh.Fails
	})

	began := time.Now()
	cafe.Run("nft", "delete", "table", "ip", "portal") // somebody signed in

	way, when := one.Connected(soon, bob, mesh.PathDirect)
	row(t, way, when.Sub(began), spread(one, two, 1))
}

func TestTwoPacketsOfAHundredLostLoseNoRecord(t *testing.T) {
	t.Parallel()
	w := netns.New(t)
	_, in := w.Home("home", "11.22.0.1/24", 1, netns.Plain, "alice", "bob")
	var both []*netns.Computer
	for n, s := range in {
		s.Rules(`table inet loss { chain in { type filter hook input priority filter; iifname != "lo" numgen random mod 100 < 2 drop; }; }`)
		both = append(both, s.Start(netns.Setup{
			Seed: alice + byte(n), Fleet: []byte{alice, bob}, Dir: t.TempDir(), Reach: mesh.Reach{LAN: true},
			Listen: []string{"/ip4/0.0.0.0/udp/4001/quic-v1", "/ip4/0.0.0.0/tcp/4001"},
		}))
	}
	both[0].Connected(soon, bob, mesh.PathLAN)

	const n = 100
	var slowest, all time.Duration
	for k := range n {
		took := spread(both[0], both[1], k+1)
		slowest, all = max(slowest, took), all+took
	}
	t.Logf("a record took %v on average, %v at most", (all / n).Round(10*time.Microsecond), slowest.Round(time.Millisecond))
}

func TestALaptopThatIsCarriedToAnotherNetworkIsFoundThere(t *testing.T) {
	t.Parallel()
	i := newInternet(t)
	_, a := i.Home("home-a", "11.22.0.1/24", 1, netns.Plain, "alice")
	_, b := i.Home("home-b", "11.22.0.2/24", 2, netns.Plain, "bob")
	cafe, _ := i.Home("cafe", "11.22.0.3/24", 3, netns.Plain)
	one, two := i.meet(a[0], b[0], mesh.PathDirect, i.address(quicRelay))

	left := time.Now()
	i.Move(a[0], cafe, "192.168.3.2/24", "192.168.3.1")
	said := one.Say()

	t.Logf("the record arrived %v after the move", two.Has(soon, 3).Sub(said).Round(time.Millisecond))
	way, when := two.Moved(soon, alice, "11.22.0.3")
	row(t, way, when.Sub(left), spread(two, one, 4))
}

func TestARelayThatOneKnowsIsLearntByTheOther(t *testing.T) {
	t.Parallel()
	i := newInternet(t)
	_, in := i.Home("home", "11.22.0.1/24", 1, netns.Plain, "alice", "bob")
	away, _ := i.Home("away", "11.22.0.3/24", 3, netns.Symmetric)
	one := i.computer(in[0], alice, i.address(quicRelay))
	two := in[1].Start(netns.Setup{ // knows nothing but where the other was at home
		Seed: bob, Fleet: []byte{alice, bob}, Dir: t.TempDir(), Listen: []string{"/ip4/0.0.0.0/udp/4001/quic-v1"},
		Reach: mesh.Reach{Circuits: true}, Knows: map[byte][]string{alice: {"/ip4/192.168.1.2/udp/4001/quic-v1"}},
	})
	two.Connected(soon, alice, mesh.PathLAN)
	two.Learns(soon, netns.PeerName(relay))

	left := time.Now()
	i.Move(in[1], away, "192.168.3.2/24", "192.168.3.1")

	way, when := two.Connected(soon, alice, mesh.PathRelayed)
	row(t, way, when.Sub(left), spread(two, one, 1))
}

var long = flag.Bool("long", false, "measure what an idle connection carries, for two minutes")

func TestAnIdleConnectionCarriesLittle(t *testing.T) {
	if !*long {
		t.Skip("go test -v ./simnet/netns -run Idle -long")
	}
	for name, every := range map[string]time.Duration{"compared each minute": 0, "kept open alone": 24 * time.Hour} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if perHour := idle(t, every); perHour > 1<<20 {
				t.Error("that is more than a megabyte")
			}
		})
	}
}

// idle is what a connection that nobody uses carries in an hour.
func idle(t *testing.T, every time.Duration) float64 {
	w := netns.New(t)
	_, in := w.Home("home", "11.22.0.1/24", 1, netns.Plain, "alice", "bob")
	var both []*netns.Computer
	for n, s := range in {
		both = append(both, s.Start(netns.Setup{
			Seed: alice + byte(n), Fleet: []byte{alice, bob}, Dir: t.TempDir(), Reach: mesh.Reach{LAN: true}, SyncEvery: every,
			Listen: []string{"/ip4/0.0.0.0/udp/4001/quic-v1", "/ip4/0.0.0.0/tcp/4001"},
		}))
	}
	both[0].Connected(soon, bob, mesh.PathLAN)
	<-time.After(20 * time.Second) // what a new connection says
	const while = 2 * time.Minute
	before := in[0].Traffic()
	<-time.After(while)

	perHour := float64(in[0].Traffic()-before) * float64(time.Hour/while)
	t.Logf("%.0f kB an hour on the wire, both ways together, by one connection", perHour/1000)
	return perHour
}
