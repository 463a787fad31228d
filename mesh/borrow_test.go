package mesh

import (
	"encoding/json"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/p2p/protocol/circuitv2/client"

	"github.com/parley-mesh/parley/ledger"
	"github.com/parley-mesh/parley/simnet/memnet"
	"github.com/parley-mesh/parley/simnet/virtual"
)

// newStrait is a border over which nothing leads but the relay of kim's fleet. maya's computers have another one.
func newStrait(t *testing.T) (*border, *Relay) {
	t.Helper()
	b := &border{town: &town{crew: &crew{t: t, ctx: t.Context()}, net: memnet.New(10 * time.Millisecond)}, heads: map[int]map[ledger.TID]ledger.Head{}}
	at := netip.MustParseAddr(relayAt)
	relay, err := StartRelay(b.ctx, RelayConfig{
		Identity: NewIdentity([32]byte{99}), Listen: []string{"/ip4/" + relayAt + "/tcp/4001"}, For: []ledger.Device{NewIdentity([32]byte{1}).Device()},
		HostOptions: func() []libp2p.Option { return b.net.Host(at) },
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := relay.Close(); err != nil {
			t.Error(err)
		}
	})
	for i := range 2 {
		for j := 2; j < 4; j++ {
			b.net.Part(b.host(i), b.host(j))
		}
	}
	mine := relay.View().Addrs[0]
	b.reach = [2]Reach{{Circuits: true, Relays: []string{mine}}, {Circuits: true, Relays: []string{"/ip4/10.0.3.1/tcp/1/p2p/" + NewIdentity([32]byte{98}).peerID(t).String()}}}
	b.over[0] = []string{mine + "/p2p-circuit"}
	b.open()
	<-time.After(time.Minute) // kim's two have places at the relay
	return b, relay
}

// may reports whether the relay knows a computer of another developer.
func (r *Relay) may(t *testing.T, id Identity) bool {
	t.Helper()
	return r.gate.member(id.peerID(t))
}

func TestTwoDevelopersMeetOverTheRelayOfOne(t *testing.T) { // P3, P4
	virtual.Test(t, func(t *testing.T) {
		b, relay := newStrait(t)
		b.put(0, b.opens(1, true), true)
		b.on()
		b.heard(2, 1, 5*time.Minute)
		b.heard(3, 1, 5*time.Minute)
		for i, m := range b.meshes[2:] {
			for _, s := range m.Peers() {
				if s.Lane == b.fleets[0] && s.Connected && s.Path != PathRelayed {
					t.Errorf("computer %d of maya reaches kim's by %q", i, s.Path)
				}
			}
			if got := m.Relays(); len(got) != 1 || got[0].Peer == relay.host.ID().String() {
				t.Errorf("computer %d of maya asks for a place at kim's relay: %+v", i, got)
			}
		}
	})
}

func TestARelayRefusesALaneThatIsOff(t *testing.T) { // L1, P4
	virtual.Test(t, func(t *testing.T) {
		b, relay := newStrait(t)
		b.say(1, true) // maya's end alone
		<-time.After(10 * time.Minute)
		if relay.may(t, b.ids[2]) || b.linked() {
			t.Fatal("kim's relay lets in whom nobody of kim's has switched on")
		}
		maya := b.host(2)
		if n := b.net.From(maya, netip.MustParseAddr(relayAt)).Dials; n == 0 || n > 12 {
			t.Errorf("she dialled the relay that turns her away %d times in ten minutes", n)
		}
		b.say(0, true)
		<-time.After(6 * time.Minute)
		if !b.linked() {
			t.Fatal("nobody met")
		}

		b.say(0, false)

		<-time.After(time.Minute)
		if relay.may(t, b.ids[2]) || relay.may(t, b.ids[3]) || b.linked() {
			t.Error("the relay lets in whose lane is off")
		}
		for i, m := range b.meshes[2:] {
			if m.host.Network().Connectedness(relay.host.ID()) == network.Connected {
				t.Errorf("computer %d of maya is connected to it", i)
			}
		}
	})
}

func TestWhoSwitchedALaneOffDialsNoRelayOfTheOther(t *testing.T) { // L1
	virtual.Test(t, func(t *testing.T) {
		b, relay := newStrait(t)
		b.on()
		<-time.After(5 * time.Minute)
		if !b.linked() {
			t.Fatal("nobody met")
		}

		b.say(1, false)

		<-time.After(time.Second)
		at := netip.MustParseAddr(relayAt)
		var before [2]memnet.Traffic
		for i := range before {
			before[i] = b.net.From(b.host(2+i), at)
			if m := b.meshes[2+i]; m.gate.InterceptPeerDial(relay.host.ID()) || m.host.Network().Connectedness(relay.host.ID()) == network.Connected {
				t.Errorf("computer %d of maya may use it", i)
			}
		}
		<-time.After(10 * time.Minute)
		for i := range before {
			if got := b.net.From(b.host(2+i), at); got != before[i] {
				t.Errorf("computer %d of maya did %+v towards the relay, and %+v before", i, got, before[i])
			}
		}
	})
}

func TestACallerAtARelayHasNoPlaceAndNoVoice(t *testing.T) { // L1
	virtual.Test(t, func(t *testing.T) {
		b, relay := newStrait(t)
		b.on()
		<-time.After(5 * time.Minute)
		maya, at := b.meshes[2], peer.AddrInfo{ID: relay.host.ID(), Addrs: relay.host.Addrs()}
		if !relay.may(t, b.ids[2]) {
			t.Fatal("nobody named her")
		}
		if err := maya.host.Connect(b.ctx, at); err != nil {
			t.Fatal(err)
		}

		if _, err := client.Reserve(b.ctx, maya.host, at); err == nil {
			t.Error("another developer's computer has a place")
		}
		if _, err := maya.askRelay(b.ctx, at.ID); err == nil {
			t.Error("the relay listens to another developer's computer")
		}
		here := func(i, j int) bool { return (circle{relay}).AllowConnect(b.ids[i].peerID(t), nil, b.ids[j].peerID(t)) }
		if !here(2, 0) || !here(3, 1) || here(0, 2) || here(2, 3) {
			t.Errorf("maya to kim %t, the other to the other %t, kim to maya %t, maya to her own %t", here(2, 0), here(3, 1), here(0, 2), here(2, 3))
		}
	})
}

func TestWhatIsSaidToARelayGrowsByNewKeysAlone(t *testing.T) {
	for name, c := range map[string]struct {
		said any
		want string
	}{
		"a fleet":       {relayAsk{Version: 1, May: []string{"aa"}}, `{"v":1,"may":["aa"]}`},
		"an invitation": {relayAsk{Version: 1, May: []string{"aa"}, Pass: "bb", PassMS: 5}, `{"v":1,"may":["aa"],"pass":"bb","pass_ms":5}`},
		"lanes":         {relayAsk{Version: 1, May: []string{"aa"}, Lanes: []string{"cc"}}, `{"v":1,"may":["aa"],"lanes":["cc"]}`},
		"an answer":     {relayWord{Version: 1, Now: 7, Seen: "x", Echo: []int{1}, Passes: true}, `{"v":1,"now":7,"seen":"x","echo":[1],"passes":true}`},
		"a pass":        {passAsk{Version: 1, To: "aa", Pass: "bb"}, `{"v":1,"to":"aa","pass":"bb"}`},
	} {
		if got, err := json.Marshal(c.said); err != nil || string(got) != c.want {
			t.Errorf("%s: %s, %v", name, got, err)
		}
	}
	var ask relayAsk
	if err := hearJSON(strings.NewReader(`{"v":1,"may":["aa"],"later":{"x":1}}`), &ask); err != nil || len(ask.May) != 1 {
		t.Errorf("a key of a later version: %+v, %v", ask, err)
	}
	full := relayAsk{Version: 1, Pass: strings.Repeat("f", 64), PassMS: 1 << 40}
	for range relayGuests {
		full.May = append(full.May, NewIdentity([32]byte{1}).Device().String())
	}
	for range relayCallers {
		full.Lanes = append(full.Lanes, NewIdentity([32]byte{1}).Device().String())
	}
	if text, err := json.Marshal(full); err != nil || len(text) > relayWordMax {
		t.Errorf("all that may be named takes %d bytes, %v", len(text), err)
	}
}
