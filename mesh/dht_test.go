package mesh

import (
	"context"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p"
	dht "github.com/libp2p/go-libp2p-kad-dht"
	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/peer"
	ma "github.com/multiformats/go-multiaddr"

	"github.com/parley-mesh/parley/ledger"
)

// dhtNode is one stranger who keeps a private DHT.
func dhtNode(t *testing.T, doors ...peer.AddrInfo) (host.Host, *dht.IpfsDHT) {
	t.Helper()
	h, err := libp2p.New(libp2p.ListenAddrStrings(loopback["quic"]), libp2p.DisableRelay())
	if err != nil {
		t.Fatal(err)
	}
	kad, err := dht.New(h, dht.Mode(dht.ModeServer), dht.BootstrapPeers(doors...))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := kad.Close(); err != nil {
			t.Error(err)
		}
		if err := h.Close(); err != nil {
			t.Error(err)
		}
	})
	if err := kad.Bootstrap(t.Context()); err != nil {
		t.Fatal(err)
	}
	return h, kad
}

func TestComputersThatKnowNoAddressFindEachOtherInADHT(t *testing.T) {
	first, _ := dhtNode(t)
	door := peer.AddrInfo{ID: first.ID(), Addrs: first.Addrs()}
	second, _ := dhtNode(t, door)
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	t.Cleanup(cancel)
	c := &crew{t: t, ctx: ctx, ids: []Identity{NewIdentity([32]byte{1}), NewIdentity([32]byte{2})}}
	for i, id := range c.ids {
		other := c.ids[1-i].Device()
		m, err := Start(ctx, Config{
			Identity: id, Fleet: fleet, Inc: ledger.Incarnation{byte(i + 1)}, Listen: []string{loopback["quic"]}, Book: newShelf(),
			Peers: func() []Peer { return []Peer{{Device: other}} },
			Reach: Reach{DHT: true, DHTPeers: []string{door.Addrs[0].String() + "/p2p/" + door.ID.String()}},
		})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := m.Close(); err != nil {
				t.Error(err)
			}
		})
		m.SetMembers(c.devices())
		c.meshes = append(c.meshes, m)
	}

	for _, m := range c.meshes {
		c.await(m, PeerUp)
	}

	for _, stranger := range []host.Host{first, second} {
		for _, m := range c.meshes {
			if len(stranger.Network().ConnsToPeer(m.host.ID())) > 0 || len(stranger.Peerstore().Addrs(m.host.ID())) > 0 {
				t.Error("a stranger in the DHT met a computer under its own key")
			}
		}
	}
}

func TestADHTNameTellsNothingToWhoDoesNotKnowTheFleet(t *testing.T) {
	d := ledger.Device{7}
	seen := map[string]bool{}
	for _, f := range []ledger.TID{{1}, {2}} {
		for day := int64(20_000); day < 20_002; day++ {
			key, err := dhtKey(f, d, day)
			if err != nil {
				t.Fatal(err)
			}
			seen[key.String()] = true
		}
	}
	if len(seen) != 4 {
		t.Errorf("%d names for two fleets and two days", len(seen))
	}
}

func TestAPublicDHTIsToldNoPrivateAddress(t *testing.T) {
	addrs := []ma.Multiaddr{ma.StringCast("/ip4/192.168.1.2/udp/4001/quic-v1"), ma.StringCast("/ip4/127.0.0.1/tcp/1"), ma.StringCast("/ip4/8.8.8.8/udp/4001/quic-v1")}
	public, private := &wide{m: &Mesh{}}, &wide{m: &Mesh{c: Config{Reach: Reach{DHTPeers: []string{"a node"}}}}}
	if got := public.useful(addrs); len(got) != 1 || got[0].String() != "/ip4/8.8.8.8/udp/4001/quic-v1" {
		t.Errorf("told: %v", got)
	}
	if got := private.useful(addrs); len(got) != 3 {
		t.Errorf("told in a private one: %v", got)
	}
	if err := CheckDHTPeer("/ip4/127.0.0.1/tcp/1"); err == nil {
		t.Error("a node without a key is taken")
	}
}
