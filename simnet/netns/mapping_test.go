package netns_test

import (
	"strings"
	"testing"
	"time"

	"github.com/parley-mesh/parley/mesh"
	"github.com/parley-mesh/parley/simnet/netns"
)

// mapped starts a computer that asks its router for ports, and returns the addresses that the router forwards.
func mapped(t *testing.T, s *netns.Space, listen ...string) (*netns.Computer, []string) {
	t.Helper()
	c := s.Start(netns.Setup{
		Seed: alice, Fleet: []byte{alice, bob}, Dir: t.TempDir(), Listen: listen, Reach: mesh.Reach{Circuits: true, PortMap: true},
	})
	var at []string
	c.Finds(soon, "a router that forwards its ports", func(n mesh.Netcheck) bool {
		at = n.Mapped
		return n.Router == mesh.Works && len(at) == len(listen)
	})
	return c, at
}

func TestAPortThatTheRouterForwardsIsDialledFromOutside(t *testing.T) {
	t.Parallel()
	w := netns.New(t)
	home, a := w.Home("home-a", "11.22.0.1/24", 1, netns.Symmetric, "alice")
	_, b := w.Home("home-b", "11.22.0.2/24", 2, netns.Symmetric, "bob")
	w.Maps(home, 1)
	began := time.Now()
	one, at := mapped(t, a[0], "/ip4/0.0.0.0/udp/4001/quic-v1", "/ip4/0.0.0.0/tcp/4001")
	t.Logf("mapped after %v: %v", time.Since(began).Round(100*time.Millisecond), at)

	began = time.Now()
	two := b[0].Start(netns.Setup{
		Seed: bob, Fleet: []byte{alice, bob}, Dir: t.TempDir(), Listen: []string{"/ip4/0.0.0.0/udp/4001/quic-v1"},
		Knows: map[byte][]string{alice: at},
	})

	way, when := two.Connected(soon, alice, mesh.PathDirect)
	row(t, way, when.Sub(began), spread(one, two, 1))
}

func TestACodeLeadsThroughThePortThatTheRouterForwards(t *testing.T) { // P3
	t.Parallel()
	w := netns.New(t)
	home, a := w.Home("home-a", "11.22.0.1/24", 1, netns.Symmetric, "alice")
	_, b := w.Home("home-b", "11.22.0.2/24", 2, netns.Symmetric, "bob")
	w.Maps(home, 1)
	one, at := mapped(t, a[0], "/ip4/0.0.0.0/udp/4001/quic-v1", "/ip4/0.0.0.0/tcp/4001")
	one.Listens(soon, at[0])

	code := one.Invite()
	began := time.Now()
	two := b[0].Start(netns.Setup{Seed: 7, Code: code, Listen: []string{"/ip4/0.0.0.0/udp/4001/quic-v1"}})

	there, when := two.Paired(soon)
	here, _ := one.Paired(soon)
	if there != "inviter" || here != "joiner" {
		t.Errorf("%q paired with %q", here, there)
	}
	t.Logf("paired %.1f s after the code was typed", when.Sub(began).Seconds())
}

func TestALaptopThatIsCarriedElsewhereAsksTheRouterThere(t *testing.T) {
	t.Parallel()
	w := netns.New(t)
	office, a := w.Home("office", "11.22.0.3/24", 3, netns.Symmetric, "alice")
	home, _ := w.Home("home", "11.22.0.1/24", 1, netns.Symmetric)
	b := w.Public("bob", "11.22.0.2/24")
	w.Maps(office, 3)
	w.Maps(home, 1)
	one, _ := mapped(t, a[0], "/ip4/0.0.0.0/udp/4001/quic-v1")

	w.Move(a[0], home, "192.168.1.2/24", "192.168.1.1")

	began := time.Now()
	var at []string
	one.Finds(soon, "that the new router forwards its port", func(n mesh.Netcheck) bool {
		at = n.Mapped
		return len(at) == 1 && strings.Contains(at[0], "11.22.0.1/")
	})
	t.Logf("mapped %v after the move: %v", time.Since(began).Round(100*time.Millisecond), at)
	two := b.Start(netns.Setup{
		Seed: bob, Fleet: []byte{alice, bob}, Dir: t.TempDir(), Listen: []string{"/ip4/0.0.0.0/udp/4001/quic-v1"}, Knows: map[byte][]string{alice: at},
	})
	two.Connected(soon, alice, mesh.PathDirect)
	spread(two, one, 1)
}
