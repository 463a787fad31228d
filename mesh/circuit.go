package mesh

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/libp2p/go-libp2p/core/event"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/protocol"
	"github.com/libp2p/go-libp2p/p2p/net/swarm"
	"github.com/libp2p/go-libp2p/p2p/protocol/circuitv2/client"
	ma "github.com/multiformats/go-multiaddr"

	"github.com/parley-mesh/parley/ledger"
)

// On this protocol a computer tells a relay who else of its fleet may come, and hears what the relay knows:
// one JSON object each way.
const relayProtocol protocol.ID = "/parley/relay/1"

const (
	relayWordMax = 64 << 10 // bytes of one object
	relayTimeout = 10 * time.Second
	relayEvery   = 10 * time.Second // how often reservations are looked at
	relayGuests  = 512              // keys that one computer may name
	relayCallers = 256              // keys of other developers' computers that one may name

	// reservedFor is how long a reservation counts here. Relays give an hour; clocks may differ.
	reservedFor = 30 * time.Minute
)

// relayAsk is what a computer tells a relay.
type relayAsk struct {
	Version int      `json:"v"`
	May     []string `json:"may"` // device keys, hexadecimal
	// Lanes are keys of other developers' computers whose lane is on: they may call those whom May names and the
	// teller, and have no place of their own.
	Lanes []string `json:"lanes,omitempty"`
	// Pass is of the invitation that is open here, "" for none, and PassMS for how many milliseconds it serves.
	Pass   string `json:"pass,omitempty"`
	PassMS int64  `json:"pass_ms,omitempty"`
}

// relayWord is what a relay answers.
type relayWord struct {
	Version int    `json:"v"`
	Now     int64  `json:"now"`              // its clock, in milliseconds of Unix time
	Seen    string `json:"seen"`             // where it sees the connection come from
	Echo    []int  `json:"echo,omitempty"`   // UDP ports that answer with the sender's address
	Passes  bool   `json:"passes,omitempty"` // it lets in who shows the pass of an invitation
}

// station is a relay and what this computer has there.
type station struct {
	info    peer.AddrInfo
	until   time.Time // when the reservation ends; zero: there is none
	busy    bool
	stale   bool // what was told there is not true any more
	word    relayWord
	skew    time.Duration // the relay's clock against this one's
	trouble string

	set     bool             // by the configuration: it stays whatever happens
	by      map[peer.ID]bool // the members that are reached by it, where it was learnt
	failing time.Time        // since when nothing could be reserved; zero: it could
}

// RelayStatus is a relay as this computer has it.
type RelayStatus struct {
	Peer      string // libp2p's name of its key
	Addr      string
	Reserved  bool
	Transport string
	Trouble   string        // why nothing is reserved
	Skew      time.Duration // how far its clock is ahead of this one's
	LatencyMS int64
}

// retellRelays lets every relay hear anew who belongs to the fleet.
func (m *Mesh) retellRelays() {
	m.mu.Lock()
	for _, s := range m.stations {
		s.stale = true
	}
	m.mu.Unlock()
	m.reserveNow()
}

func (m *Mesh) reserveNow() {
	select {
	case m.reserve <- struct{}{}:
	default: // it is asked for already
	}
}

// keepReserving holds a place at every relay that is known, and leaves out those that carry nobody.
func (m *Mesh) keepReserving() {
	tick := time.NewTicker(relayEvery)
	defer tick.Stop()
	for {
		m.mu.Lock()
		m.unlearn()
		for _, s := range m.stations {
			here := m.host.Network().Connectedness(s.info.ID) == network.Connected
			if !here && !s.until.IsZero() {
				s.until, s.trouble = time.Time{}, "the connection was lost"
			}
			if s.busy || here && !s.stale && time.Until(s.until) > reservedFor/2 {
				continue
			}
			s.busy, s.stale = true, false
			m.work.Go(func() { m.reserveAt(s) })
		}
		m.mu.Unlock()
		m.tellAddrs()
		select {
		case <-tick.C:
		case <-m.reserve:
		case <-m.ctx.Done():
			return
		}
	}
}

// reserveAt connects to a relay, tells it who may come, and reserves.
func (m *Mesh) reserveAt(s *station) {
	m.mu.Lock()
	info := peer.AddrInfo{ID: s.info.ID, Addrs: slices.Clone(s.info.Addrs)}
	m.mu.Unlock()
	word, skew, until, err := m.reservation(info)
	m.mu.Lock()
	s.busy, s.until, s.trouble = false, until, ""
	if err != nil {
		s.trouble = err.Error()
		if s.failing.IsZero() {
			s.failing = time.Now()
		}
	} else {
		s.word, s.skew, s.failing = word, skew, time.Time{}
		delete(m.dropped, s.info.ID)
	}
	m.mu.Unlock()
	if err == nil {
		m.tellAddrs()
		m.dialNow()
	}
}

func (m *Mesh) reservation(info peer.AddrInfo) (word relayWord, skew time.Duration, until time.Time, err error) {
	ctx, cancel := context.WithTimeout(m.ctx, 2*relayTimeout)
	defer cancel()
	defer m.gate.dial(info.ID)()
	if s, ok := m.host.Network().(*swarm.Swarm); ok {
		s.Backoff().Clear(info.ID)
	}
	if m.outlived(ctx, info.ID) {
		_ = m.host.Network().ClosePeer(info.ID) // another takes its place
	}
	if err := m.host.Connect(network.WithForceDirectDial(ctx, "parley relay"), info); err != nil {
		return word, 0, until, fmt.Errorf("connect: %w", err)
	}
	asked := m.c.Wall()
	if word, err = m.askRelay(ctx, info.ID); err != nil {
		return word, 0, until, fmt.Errorf("ask: %w", err)
	}
	skew = time.UnixMilli(word.Now).Sub(asked.Add(m.c.Wall().Sub(asked) / 2))
	if _, err := client.Reserve(ctx, m.host, info); err != nil {
		return word, 0, until, fmt.Errorf("reserve: %w", err)
	}
	return word, skew, time.Now().Add(reservedFor), nil
}

// outlived reports whether the connection to a relay is of no use any more: nothing comes back by it, or it goes on
// from another address than the one that it was opened from. Others would be told the old one for as long as it lives,
// and no hole can be punched for that.
func (m *Mesh) outlived(ctx context.Context, id peer.ID) bool {
	c := best(m.host.Network().ConnsToPeer(id))
	if c == nil {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, proofTime)
	defer cancel()
	word, err := m.askRelay(ctx, id)
	if err != nil {
		return m.ctx.Err() == nil
	}
	m.mu.Lock()
	seen := m.seen[id]
	m.mu.Unlock()
	return seen.conn == c.ID() && word.Seen != seen.addr.String()
}

// askRelay tells a relay who else may come.
func (m *Mesh) askRelay(ctx context.Context, id peer.ID) (word relayWord, err error) {
	s, err := m.host.NewStream(reachable(ctx), id, relayProtocol)
	if err != nil {
		return word, err
	}
	ask := relayAsk{Version: 1}
	ask.Pass, ask.PassMS = m.pass()
	ask.May, ask.Lanes = keysOf(m.gate.members(), relayGuests), keysOf(m.gate.ofLanes(), relayCallers)
	stop := context.AfterFunc(ctx, func() { _ = s.Reset() })
	defer stop()
	if err := tradeJSON(s, ask, &word); err != nil {
		_ = s.Reset() // nothing more comes of it
		return word, err
	}
	return word, s.Close()
}

// keysOf are the device keys of so many peers at most.
func keysOf(peers []peer.ID, most int) (out []string) {
	for _, p := range peers {
		if d, ok := deviceOf(p); ok && len(out) < most {
			out = append(out, d.String())
		}
	}
	return out
}

// tradeJSON says one thing and hears another.
func tradeJSON[A, B any](s network.Stream, say A, hear *B) error {
	if err := s.SetDeadline(time.Now().Add(relayTimeout)); err != nil {
		return err
	}
	text, err := json.Marshal(say)
	if err != nil {
		return err
	}
	if _, err := s.Write(text); err != nil {
		return err
	}
	if err := s.CloseWrite(); err != nil {
		return err
	}
	return hearJSON(s, hear)
}

func hearJSON[B any](s io.Reader, hear *B) error { return hearMost(s, relayWordMax, hear) }

// hearMost is hearJSON for an object of so many bytes at most.
func hearMost[B any](s io.Reader, most int64, hear *B) error {
	text, err := io.ReadAll(io.LimitReader(s, most+1))
	if err == nil && int64(len(text)) > most {
		err = errPeer
	}
	if err != nil {
		return err
	}
	return json.Unmarshal(text, hear)
}

// answerRelay answers a member while this computer carries others. Whom it names changes nothing here: the
// roster says who belongs.
func (m *Mesh) answerRelay(s network.Stream, _ ledger.Device) {
	p := s.Conn().RemotePeer()
	err := errors.Join(s.SetDeadline(time.Now().Add(relayTimeout)), func() error {
		var ask relayAsk
		if err := hearJSON(s, &ask); err != nil {
			return err
		}
		m.porch.tellDoor(p, ask)
		return json.NewEncoder(s).Encode(relayWord{Version: 1, Passes: true, Now: m.c.Wall().UnixMilli(), Seen: remoteOf(s.Conn()).String()})
	}())
	if err != nil {
		_ = s.Reset() // nothing more comes of it
		return
	}
	_ = s.Close() // the answer is on its way
}

// circuits are the addresses of this computer over relays.
func (m *Mesh) circuits() []ma.Multiaddr {
	m.mu.Lock()
	defer m.mu.Unlock()
	var out []ma.Multiaddr
	for _, s := range m.stations {
		if time.Until(s.until) <= 0 {
			continue
		}
		out = append(out, s.addrs()...)
	}
	return out
}

// addrs are this computer's over a relay.
func (s *station) addrs() (out []ma.Multiaddr) {
	tail := ma.StringCast("/p2p/" + s.info.ID.String() + "/p2p-circuit")
	for _, a := range s.info.Addrs {
		out = append(out, a.Encapsulate(tail))
	}
	return out
}

// doorways are addresses of this computer over relays that let in who shows a pass, the one first by which most
// networks can be passed.
func (m *Mesh) doorways() []ma.Multiaddr {
	m.mu.Lock()
	defer m.mu.Unlock()
	var out []ma.Multiaddr
	for _, s := range m.stations {
		if time.Until(s.until) > 0 && s.word.Passes {
			out = append(out, s.addrs()...)
		}
	}
	rank := func(a ma.Multiaddr) int { return slices.Index([]string{"websocket", "tcp", "quic"}, transportOf(a)) }
	slices.SortStableFunc(out, func(a, b ma.Multiaddr) int { return rank(a) - rank(b) })
	return out
}

// tellAddrs lets libp2p look at this computer's addresses anew when those over relays have changed.
func (m *Mesh) tellAddrs() {
	now := m.circuits()
	m.mu.Lock()
	same := slices.EqualFunc(now, m.told, ma.Multiaddr.Equal)
	m.told = now
	m.mu.Unlock()
	if !same && m.emitter != nil {
		_ = m.emitter.Emit(event.EvtAutoRelayAddrsUpdated{RelayAddrs: now}) // a bus that is closed needs no news
	}
}

// Relays is how this computer can be reached by relays.
func (m *Mesh) Relays() []RelayStatus {
	m.mu.Lock()
	defer m.mu.Unlock()
	var out []RelayStatus
	for _, s := range m.stations {
		r := RelayStatus{Peer: s.info.ID.String(), Addr: s.info.Addrs[0].String(), Reserved: time.Until(s.until) > 0, Trouble: s.trouble, Skew: s.skew}
		if c := best(m.host.Network().ConnsToPeer(s.info.ID)); c != nil {
			r.Transport, r.Addr = transportOf(c.RemoteMultiaddr()), c.RemoteMultiaddr().String()
		}
		r.LatencyMS = m.host.Peerstore().LatencyEWMA(s.info.ID).Milliseconds()
		out = append(out, r)
	}
	return out
}
