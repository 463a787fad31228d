package main

import (
	"testing"
	"time"

	"github.com/parley-mesh/parley/node/api"
)

func TestComputersAreListedWithTheirPath(t *testing.T) {
	now := time.Now()
	lines := computersOf(api.Status{
		Version: "v1.2.3", Computer: api.Computer{Name: "desk", Device: "aa"}, Main: api.MainComputer{State: "live", Device: "bb"},
		Peers: api.List[api.Peer]{
			{Name: "laptop", Device: "bb", Connected: true, Path: "relayed", Transport: "websocket", LatencyMS: 41, Version: "v1.2.2", LastSeen: now},
			{Name: "tower", Device: "cc", LastSeen: now.Add(-time.Hour)},
		},
	})
	var got [][]string
	for _, l := range lines {
		got = append(got, l.row(now))
	}
	text, _ := printed(t, func(a *app) { table(a.out, "", got) })
	want := "desk    this one  now      -                   -      v1.2.3\n" +
		"laptop  main      now      relayed, websocket  41 ms  v1.2.2\n" +
		"tower   -         1 h ago  -                   -      -\n"
	if text != want {
		t.Errorf("got\n%s\nwant\n%s", text, want)
	}
}

func TestNetcheckSaysWhatToDo(t *testing.T) {
	text, _ := printed(t, func(a *app) {
		a.printNetcheck(api.Netcheck{
			IPv4: "yes", IPv6: "no", UDP: "no", TCP: "no", WebSocket: "yes", Intercepted: true, NAT: "symmetric", HolePunch: "no", PortMap: "unknown",
			ClockMS: -5000, Clocks: 2,
			Relays: api.List[api.Relay]{{Address: "/ip4/203.0.113.5/tcp/443/ws", Trouble: "connect: timeout"}},
		})
	})
	want := `IPv4                  yes
IPv6                  no
UDP                   no
TCP                   no
WebSocket             yes
Router                translates to another port for everybody: only a relay leads through it
Hole punching         no
Port mapping          unknown
Seen as               -
Reached from outside  -
Clock                 5 s ahead of the others; set this computer's clock
Relay                 /ip4/203.0.113.5/tcp/443/ws: not reached: connect: timeout
Something else answers in the relay's place: sign in to this network in a browser first.
`
	if text != want {
		t.Errorf("got\n%s\nwant\n%s", text, want)
	}
}
