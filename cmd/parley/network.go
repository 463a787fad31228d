package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/parley-mesh/parley/node"
	"github.com/parley-mesh/parley/node/api"
)

// fillNetwork is [app.fill] for what looks at the network.
func (a *app) fillNetwork(v api.Verb, c *cobra.Command) {
	switch v.Name {
	case "computers":
		c.RunE = a.computers
	case "ping":
		a.pingCommand(c)
	case "netcheck":
		c.RunE = a.netcheck
	case "trace":
		a.traceCommand(c)
	case "relay":
		a.relayCommand(c)
	}
}

// computerLine is one computer as `parley computers` shows it.
type computerLine struct {
	api.Peer
	Here bool `json:"here"` // this computer
	Main bool `json:"main"`
}

func (a *app) computers(*cobra.Command, []string) error {
	return a.reading(func(r api.Reader) error {
		s, err := r.Status()
		if err != nil {
			return err
		}
		lines := computersOf(s)
		if a.json {
			return a.printJSON(api.List[computerLine](lines))
		}
		rows := [][]string{{"COMPUTER", "ROLE", "SEEN", "PATH", "LATENCY", "VERSION"}}
		for _, l := range lines {
			rows = append(rows, l.row(time.Now()))
		}
		table(a.out, "", rows)
		return nil
	})
}

// computersOf is this computer and then the others.
func computersOf(s api.Status) []computerLine {
	here := computerLine{Peer: api.Peer{Name: s.Computer.Name, Device: s.Computer.Device, Version: s.Version}, Here: true}
	out := []computerLine{here}
	for _, p := range s.Peers {
		out = append(out, computerLine{Peer: p})
	}
	for i := range out {
		out[i].Main = s.Main.State == "live" && s.Main.Device == out[i].Device
	}
	return out
}

func (l computerLine) row(now time.Time) []string {
	var roles []string
	if l.Here {
		roles = append(roles, "this one")
	}
	if l.Main {
		roles = append(roles, "main")
	}
	out := []string{l.Name, orDash(strings.Join(roles, ", ")), "now", "-", "-", orDash(l.Version)}
	if l.Connected {
		out[3], out[4] = orDash(l.Path)+", "+l.Transport, fmt.Sprintf("%d ms", l.LatencyMS)
	} else if !l.Here {
		out[2] = ago(l.LastSeen, now)
	}
	return out
}

// pings is what `parley ping --json` prints.
type pings struct {
	Name  string             `json:"name"`
	Trips api.List[api.Ping] `json:"trips"`
	Lost  int                `json:"lost"`
	MinMS float64            `json:"min_ms"`
	AvgMS float64            `json:"avg_ms"`
	MaxMS float64            `json:"max_ms"`
}

const pingsMax = 10_000

func (a *app) pingCommand(c *cobra.Command) {
	count := c.Flags().IntP("count", "c", 4, "how many round trips")
	every := c.Flags().DurationP("interval", "i", time.Second, "time between two")
	c.Use, c.Args = "ping NAME", arguments("NAME")
	c.RunE = func(c *cobra.Command, args []string) error {
		if *count < 1 || *count > pingsMax {
			return usage(c, "--count: want 1 to "+strconv.Itoa(pingsMax))
		}
		_, client, err := a.running()
		if err != nil {
			return err
		}
		return errors.Join(a.ping(c.Context(), client, args[0], *count, max(*every, 10*time.Millisecond)), client.Close())
	}
}

func (a *app) ping(ctx context.Context, client *api.Client, name string, count int, every time.Duration) error {
	all := pings{Name: name}
	var last error
	for i := range count {
		if i > 0 {
			select {
			case <-time.After(every):
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		p, err := client.Ping(ctx, name)
		if err != nil {
			if api.Explain(err).Code != "away" {
				return err
			}
			last = err
			all.Lost++
			if !a.json {
				fmt.Fprintln(a.out, name+": nothing came back")
			}
			continue
		}
		all.Trips = append(all.Trips, p)
		if !a.json {
			fmt.Fprintf(a.out, "%s: %.1f ms  %s, %s  %s\n", oneLine(p.Name), p.MS, p.Path, p.Transport, oneLine(p.Address))
		}
	}
	all.sum()
	if a.json {
		if err := a.printJSON(all); err != nil {
			return err
		}
	} else if len(all.Trips) > 0 {
		fmt.Fprintf(a.out, "%d of %d came back; %.1f / %.1f / %.1f ms (least, average, most)\n", len(all.Trips), count, all.MinMS, all.AvgMS, all.MaxMS)
	}
	if len(all.Trips) == 0 {
		return last
	}
	return nil
}

func (p *pings) sum() {
	if len(p.Trips) == 0 {
		return
	}
	p.Name, p.MinMS = p.Trips[0].Name, p.Trips[0].MS
	for _, t := range p.Trips {
		p.MinMS, p.MaxMS, p.AvgMS = min(p.MinMS, t.MS), max(p.MaxMS, t.MS), p.AvgMS+t.MS/float64(len(p.Trips))
	}
}

func (a *app) netcheck(c *cobra.Command, _ []string) error {
	_, client, err := a.running()
	if err != nil {
		return err
	}
	defer client.Close()
	n, err := client.Netcheck(c.Context())
	if err != nil {
		return err
	}
	if a.json {
		return a.printJSON(n)
	}
	a.printNetcheck(n)
	return nil
}

// natWords says what a router does.
var natWords = map[string]string{
	"none":      "none: others see an address of this computer",
	"easy":      "translates, and keeps one port for everybody",
	"symmetric": "translates to another port for everybody: only a relay leads through it",
	"unknown":   "unknown",
}

func (a *app) printNetcheck(n api.Netcheck) {
	rows := [][]string{
		{"IPv4", n.IPv4},
		{"IPv6", n.IPv6},
		{"UDP", n.UDP},
		{"TCP", n.TCP},
		{"WebSocket", n.WebSocket},
		{"Router", natWords[n.NAT]},
		{"Hole punching", n.HolePunch},
		{"Port mapping", withList(n.PortMap, n.Mapped)},
		{"Seen as", orDash(strings.Join(n.Seen, ", "))},
		{"Reached from outside", orDash(strings.Join(n.Reachable, ", "))},
		{"Clock", clockWords(n)},
	}
	for _, r := range n.Relays {
		state := "this computer can be reached by it, over " + r.Transport
		if !r.Reserved {
			state = "not reached: " + r.Trouble
		}
		rows = append(rows, []string{"Relay", r.Address + ": " + state})
	}
	if len(n.Relays) == 0 {
		rows = append(rows, []string{"Relay", "none is known; parley relay makes one of any machine that your computers can reach"})
	}
	table(a.out, "", rows)
	if n.Intercepted {
		fmt.Fprintln(a.out, "Something else answers in the relay's place: sign in to this network in a browser first.")
	}
}

func withList(verdict string, all []string) string {
	if len(all) == 0 {
		return verdict
	}
	return verdict + ": " + strings.Join(all, ", ")
}

// clockOff is from when on a difference of clocks is worth a word.
const clockOff = 2 * time.Second

func clockWords(n api.Netcheck) string {
	off := time.Duration(n.ClockMS * float64(time.Millisecond))
	switch {
	case n.Clocks == 0:
		return "unknown: nobody was there to compare it with"
	case off.Abs() < clockOff:
		return "right, compared with " + many(n.Clocks, "other")
	case off > 0:
		return span(off) + " behind the others; set this computer's clock"
	}
	return span(-off) + " ahead of the others; set this computer's clock"
}

func (a *app) relayCommand(c *cobra.Command) {
	stands := c.Flags().StringArray("for", nil, "key of a computer to carry for; may be given several times")
	listen := c.Flags().StringArray("listen", nil, "address to listen on, in place of the usual ones")
	announce := c.Flags().StringArray("announce", nil, "address under which it is reached from elsewhere")
	port := c.Flags().Uint16("port", 4001, "port of the usual addresses")
	web := c.Flags().Uint16("web", 443, "port for networks that let only the web pass; 0: none")
	key := c.Flags().String("key", "", "file of the relay's own key (default "+dataFolder("parley-relay.key")+")")
	c.RunE = func(c *cobra.Command, _ []string) error {
		if len(*stands) == 0 {
			return usage(c, "want --for KEY: the relay carries nobody else")
		}
		at := *listen
		if len(at) == 0 {
			at = relayListen(*port, *web)
		}
		return node.RunRelay(c.Context(), node.RelayRun{
			Key: cmp.Or(*key, node.RelayKeyPath()), Listen: at, For: *stands, Announce: *announce,
			Ready:  a.relayReady,
			Report: func(text string) { a.note("%s", text) },
		})
	}
}

// relayListen are the usual addresses of a relay.
func relayListen(port, web uint16) []string {
	var out []string
	for _, ip := range []string{"/ip4/0.0.0.0", "/ip6/::"} {
		p := strconv.Itoa(int(port))
		out = append(out, ip+"/udp/"+p+"/quic-v1", ip+"/tcp/"+p)
		if web > 0 {
			out = append(out, ip+"/tcp/"+strconv.Itoa(int(web))+"/ws")
		}
	}
	return out
}

func (a *app) relayReady(addrs []string) {
	addrs = slices.DeleteFunc(addrs, func(s string) bool { return strings.HasPrefix(s, "/ip4/127.") || strings.HasPrefix(s, "/ip6/::1/") })
	for _, at := range addrs {
		fmt.Fprintln(a.out, at)
	}
	a.note("put the addresses that your computers can reach into network.relays of one computer's config.toml; the others learn them")
}
