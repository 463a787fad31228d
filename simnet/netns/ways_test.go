package netns_test

import (
	"testing"
	"time"

	"github.com/parley-mesh/parley/mesh"
	"github.com/parley-mesh/parley/simnet/netns"
)

func TestAVPNThatComesAndGoesLeavesADirectWay(t *testing.T) {
	t.Parallel()
	i := newInternet(t)
	_, a := i.Home("home-a", "11.22.0.1/24", 1, netns.Plain, "alice")
	_, b := i.Home("home-b", "11.22.0.2/24", 2, netns.Plain, "bob")
	server, _ := i.Home("vpn", "11.22.0.4/24", 4, netns.Plain)
	one, two := i.meet(a[0], b[0], mesh.PathDirect, i.address(quicRelay))

	began := time.Now()
	down := i.Tunnel(a[0], server, "192.168.4.2/24", "192.168.4.1")
	said := one.Say()
	t.Logf("on: the record arrived after %v", two.Has(soon, 3).Sub(said).Round(time.Millisecond))
	way, when := two.Moved(soon, alice, "11.22.0.4")
	row(t, way, when.Sub(began), spread(two, one, 4))

	began = time.Now()
	down()
	said = one.Say()
	t.Logf("off: the record arrived after %v", two.Has(soon, 5).Sub(said).Round(time.Millisecond))
	way, when = two.Moved(soon, alice, "11.22.0.1")
	row(t, way, when.Sub(began), spread(two, one, 6))
}

func TestASlowAndLossyLineLosesNoRecord(t *testing.T) {
	t.Parallel()
	w := netns.New(t)
	here, there, address := w.Far("alice", "bob", 150*time.Millisecond, 2)
	start := func(s *netns.Space, seed byte, knows map[byte][]string) *netns.Computer {
		return s.Start(netns.Setup{
			Seed: seed, Fleet: []byte{alice, bob}, Dir: t.TempDir(), Knows: knows, Listen: []string{"/ip4/0.0.0.0/udp/4001/quic-v1"},
		})
	}
	began := time.Now()
	two := start(there, bob, nil)
	one := start(here, alice, map[byte][]string{bob: {"/ip4/" + address + "/udp/4001/quic-v1"}})
	way, when := one.Connected(soon, bob, mesh.PathLAN)
	row(t, way, when.Sub(began), spread(one, two, 1))

	const n = 20
	var slowest, all time.Duration
	for k := range n {
		took := spread(one, two, k+2)
		slowest, all = max(slowest, took), all+took
	}
	t.Logf("a record took %v on average, %v at most", (all / n).Round(time.Millisecond), slowest.Round(time.Millisecond))
	if all/n < 150*time.Millisecond {
		t.Error("the line is not slow")
	}
}
