package node

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/parley-mesh/parley/ledger"
	"github.com/parley-mesh/parley/mesh"
	"github.com/parley-mesh/parley/node/api"
	"github.com/parley-mesh/parley/node/internal/trace"
)

// network is the running node as [api.Network].
type network struct{ n *Node }

var _ api.Network = network{}

// TraceBegin begins a trace.
func (w network) TraceBegin(context.Context) (api.Outcome, error) {
	w.n.trace.Start(api.TraceMax)
	return api.Outcome{Text: "recording what the node does"}, nil
}

// TraceTake ends it.
func (w network) TraceTake(context.Context) (api.Trace, error) {
	out, err := w.n.trace.Take(Version())
	if errors.Is(err, trace.ErrNone) {
		err = api.ErrNoTrace
	}
	return api.Trace(out), err
}

// Ping is one round trip.
func (w network) Ping(ctx context.Context, computer string) (api.Ping, error) {
	other, err := memberNamed(w.n.roster.get(), computer)
	if err == nil && other.Device == w.n.id.Device() {
		err = fmt.Errorf("%w: it is this one", api.ErrNoComputer)
	}
	if err != nil {
		return api.Ping{}, fmt.Errorf("ping: %w", err)
	}
	d, name := other.Device, other.Name
	t, err := w.n.mesh.Ping(ctx, d)
	if errors.Is(err, mesh.ErrAway) {
		err = api.ErrAway
	}
	if err != nil {
		return api.Ping{}, fmt.Errorf("ping %s: %w", name, err)
	}
	return api.Ping{
		Name: name, Device: d.String(), MS: millis(t.Took), Path: t.Peer.Path, Transport: t.Peer.Transport,
		Address: t.Peer.Addr, Version: t.Peer.Version, ClockMS: millis(t.Skew),
	}, nil
}

// Netcheck is what works from here.
func (w network) Netcheck(ctx context.Context) (api.Netcheck, error) {
	c := w.n.mesh.Check(ctx)
	out := api.Netcheck{
		IPv4: string(c.IPv4), IPv6: string(c.IPv6), UDP: string(c.UDP), TCP: string(c.TCP), WebSocket: string(c.WebSocket),
		Intercepted: c.Intercepted, NAT: c.NAT, HolePunch: string(c.Punch), PortMap: string(c.Router),
		Mapped: c.Mapped, Listen: c.Listen, Seen: c.Seen, Reachable: c.Reachable, ClockMS: millis(c.Clock), Clocks: c.Clocks,
	}
	for _, r := range c.Relays {
		out.Relays = append(out.Relays, api.Relay{ID: r.Peer, Address: r.Addr, Reserved: r.Reserved, Transport: r.Transport, Trouble: r.Trouble})
	}
	return out, ctx.Err()
}

func millis(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// RelayRun is what `parley relay` runs with.
type RelayRun struct {
	Key      string   // file of the relay's own key, made when there is none
	Listen   []string // multiaddresses
	For      []string // device keys, hexadecimal
	Announce []string
	// Ready is told the addresses to set on the computers.
	Ready func(addrs []string)
	// Report is told every hour how the relay is doing, in a sentence.
	Report func(string)
}

// RunRelay carries the connections of the computers that are named until ctx ends.
func RunRelay(ctx context.Context, r RelayRun) error {
	var stands []ledger.Device
	for _, text := range r.For {
		var d ledger.Device
		if err := d.UnmarshalText([]byte(strings.TrimSpace(text))); err != nil {
			return fmt.Errorf("relay for %q: %w: want a computer's key", text, api.ErrUsage)
		}
		stands = append(stands, d)
	}
	for _, l := range r.Listen {
		if _, err := parseListen(l); err != nil {
			return fmt.Errorf("relay listen %q: %w: %v", l, api.ErrUsage, err)
		}
	}
	id, err := mesh.LoadOrCreate(r.Key)
	if err != nil {
		return err
	}
	relay, err := mesh.StartRelay(ctx, mesh.RelayConfig{Identity: id, Listen: r.Listen, For: stands, Announce: r.Announce, Version: Version()})
	if err != nil {
		return translate(err)
	}
	r.Ready(relay.View().Addrs)
	tick := time.NewTicker(time.Hour)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			r.Report(relayWords(relay.View()))
		case <-ctx.Done():
			return relay.Close()
		}
	}
}

// relayWords tells how a relay is doing.
func relayWords(v mesh.RelayView) string {
	words := []string{fmt.Sprintf("%d of %d computers are connected", v.Connected, v.May)}
	for _, r := range v.Refused {
		if r.Times > 0 {
			words = append(words, fmt.Sprintf("refused for %s: %d", r.Why, r.Times))
		}
	}
	return strings.Join(words, "; ")
}
