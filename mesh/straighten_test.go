package mesh

import (
	"fmt"
	"net/netip"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p"

	"github.com/parley-mesh/parley/ledger"
	"github.com/parley-mesh/parley/simnet/memnet"
	"github.com/parley-mesh/parley/simnet/virtual"
)

// aside is a town of two with a relay, on a network in memory. The two know nothing of each other but that they are
// to be found at the relay.
type aside struct {
	*town
	relay *Relay
}

const relayAt = "10.0.0.99"

func newAside(t *testing.T, cut bool) *aside {
	t.Helper()
	c := &town{crew: &crew{t: t, ctx: t.Context()}, net: memnet.New(10 * time.Millisecond)}
	for i := range 2 {
		c.ids = append(c.ids, NewIdentity([32]byte{byte(i + 1)}))
		c.shelves = append(c.shelves, newShelf())
		c.meshes = append(c.meshes, nil)
	}
	if cut {
		c.net.Part(c.host(0), c.host(1))
	}
	relay, err := StartRelay(c.ctx, RelayConfig{
		Identity: NewIdentity([32]byte{99}), Listen: []string{"/ip4/" + relayAt + "/tcp/4001"}, For: c.devices()[:1], // the first names the second
		HostOptions: func() []libp2p.Option { return c.net.Host(netip.MustParseAddr(relayAt)) },
	})
	if err != nil {
		t.Fatal(err)
	}
	at := relay.View().Addrs[0]
	for i := range 2 {
		other := Peer{Device: c.ids[1-i].Device(), Addrs: []string{at + "/p2p-circuit"}}
		m, err := Start(c.ctx, Config{
			Identity: c.ids[i], Fleet: fleet, Inc: ledger.Incarnation{byte(i + 1)}, Listen: []string{fmt.Sprintf("/ip4/%s/tcp/4001", c.host(i))},
			Book: c.shelves[i], Peers: func() []Peer { return []Peer{other} }, Reach: Reach{Circuits: true, Relays: []string{at}},
			HostOptions: func() []libp2p.Option { return c.net.Host(c.host(i)) },
		})
		if err != nil {
			t.Fatal(err)
		}
		c.meshes[i], c.shelves[i].ask = m, m.Ask
		m.SetMembers(c.devices())
	}
	t.Cleanup(func() {
		c.close(0)
		c.close(1)
		if err := relay.Close(); err != nil {
			t.Error(err)
		}
	})
	return &aside{town: c, relay: relay}
}

// path is by which way the first reaches the second, "" for none.
func (a *aside) path() string {
	for _, p := range a.meshes[0].Peers() {
		if p.Connected {
			return p.Path
		}
	}
	return ""
}

// becomes waits for the first to reach the second by a path, and returns how long that took.
func (a *aside) becomes(path string, most time.Duration) time.Duration {
	a.t.Helper()
	began := time.Now()
	for a.path() != path {
		if time.Since(began) > most {
			a.t.Fatalf("the way is %q after %v, want %q", a.path(), most, path)
		}
		<-time.After(100 * time.Millisecond)
	}
	return time.Since(began)
}

func TestARelayedConnectionBecomesDirectOnceThatIsPossible(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		a := newAside(t, true)
		a.becomes(PathRelayed, time.Minute)
		<-time.After(time.Hour)
		if p := a.path(); p != PathRelayed {
			t.Fatalf("the way is %q although nothing passes", p)
		}
		before := a.net.Carried()
		<-time.After(time.Hour)
		t.Logf("an hour of vain tries: %d bytes", a.net.Carried()-before)

		a.net.Heal(a.host(0), a.host(1))

		t.Logf("direct after %v", a.becomes(PathLAN, straightAfter[len(straightAfter)-1]+time.Minute))
	})
}

func TestADirectWayThatEndsWhileTheRelayedOneLastsIsLookedForAgain(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		a := newAside(t, false)
		a.becomes(PathRelayed, time.Minute)
		a.becomes(PathLAN, time.Minute)

		<-time.After(4 * time.Second) // nobody looks any more, and the relayed connection stays for ten seconds
		a.net.Part(a.host(0), a.host(1))
		for i, m := range a.meshes {
			p, err := peerOf(a.ids[1-i].Device())
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range m.host.Network().ConnsToPeer(p) {
				if !circuit(c.RemoteMultiaddr()) {
					_ = c.Close() // as [Mesh.prove] does with one by which nothing comes back
				}
			}
		}
		if p := a.path(); p != PathRelayed {
			t.Fatalf("the way is %q, want the relayed one", p)
		}
		<-time.After(20 * time.Second)
		a.net.Heal(a.host(0), a.host(1))

		t.Logf("direct again after %v", a.becomes(PathLAN, 2*time.Minute))
	})
}

func TestNewsOfAnAddressHastenTheLookForADirectWay(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		a := newAside(t, true)
		a.becomes(PathRelayed, time.Minute)
		<-time.After(time.Hour) // looks are minutes apart by now
		a.net.Heal(a.host(0), a.host(1))
		for _, m := range a.meshes {
			m.bendAnew()
		}

		if took := a.becomes(PathLAN, 10*time.Second); took < straightAfter[0] {
			t.Errorf("it looked after %v: who brings news without end makes it hurry", took)
		}
	})
}
