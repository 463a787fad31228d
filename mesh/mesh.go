package mesh

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/libp2p/go-libp2p"
	pubsub "github.com/libp2p/go-libp2p-pubsub"
	"github.com/libp2p/go-libp2p/core/event"
	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	ma "github.com/multiformats/go-multiaddr"

	"github.com/parley-mesh/parley/lanes"
	"github.com/parley-mesh/parley/ledger"
)

// ErrPortTaken says that another program listens where this computer wants to.
var ErrPortTaken = errors.New("the port is taken")

// Book is what the mesh needs of the ledgers. Its methods are called from many goroutines.
type Book interface {
	// Receive stores records of one ledger family, parsed and with verified signatures, durably. An
	// error ends the exchange that brought them.
	Receive(ctx context.Context, from ledger.Device, f ledger.Family, records []*ledger.Record) error
	// Visible lists the ledgers that a peer may see, ascending.
	Visible(peer ledger.Device) []ledger.Listing
	// Heads is how far a ledger is held, read at that moment.
	Heads(tid ledger.TID) ([]ledger.Head, error)
	// Contended lists the chains of a ledger whose length does not say what is held of them: they fork.
	Contended(tid ledger.TID) ([]ledger.Chain, error)
	// From is about max wires of a chain, in order, with every branch at the places that it touches.
	From(tid ledger.TID, c ledger.Chain, next uint64, max int) ([][]byte, error)
	// Family is the family of a ledger that is held.
	Family(tid ledger.TID) (ledger.Family, bool)
	// Loose is what is held of another developer's roster, or what a lane may see of this one's: single records
	// beside the ledgers, whose chains have gaps. Its digest is over the set. False for any other ledger.
	Loose(tid ledger.TID) ([][]byte, bool)
	// Through is the part of the ledgers that may pass through a lane in either direction, by its grant; of all
	// others the part knows nothing. Without a grant it is nothing. It is listed heads first whose chains begin
	// with an open, and what it may not take it drops, without an error.
	Through(g lanes.Grant) Book
}

// Peer is a member and where it was last reached.
type Peer struct {
	Device ledger.Device
	Addrs  []string
}

// HostOptions replaces the transports; it is the simulator's seam. nil is QUIC and TCP.
type HostOptions func() []libp2p.Option

// Config is what a mesh is started with.
type Config struct {
	Identity Identity
	Fleet    ledger.TID
	Inc      ledger.Incarnation
	Listen   []string // multiaddresses
	Book     Book
	Peers    func() []Peer // the other members, and the computers of lanes
	// Open lists the threads that are not closed: catch-up brings them first. It is called from several
	// goroutines; nil is none.
	Open func() []ledger.TID
	Made func(ctx context.Context, repo, pull uint64, head ledger.OID) bool
	// Pressed takes what a person pressed on another member of the fleet; the words of an error are shown
	// to that person. It is called from several goroutines; nil refuses.
	Pressed func(ctx context.Context, from ledger.Device, p ledger.Press) error
	// Lines are what a session here has changed, as text, for another member; it says what may be shown. It is called
	// from several goroutines; nil shows nothing.
	Lines       func(ctx context.Context, from ledger.Device, q ledger.Lines) ledger.LinesReply
	Wall        func() time.Time
	Logger      *slog.Logger
	Heartbeat   time.Duration // of gossip; 0 is a second
	SyncEvery   time.Duration // mean time between two catch-ups without news; 0 is a minute
	HostOptions HostOptions
	// GossipRate is how many records of one author gossip brings in a minute; 0 is 600, below 0 any number.
	GossipRate int
	Reach      Reach  // beyond the addresses that are known; HostOptions leaves out all but relays that are set
	Version    string // of the program, as other computers see it
}

// EventKind says what happened.
type EventKind int

// The kinds of events.
const (
	PeerUp EventKind = iota + 1
	PeerDown
	Synced   // a catch-up ended; Clean if both sides now hold the same
	ClockOff // the peer's clock is more than ten minutes off
	// TwoIncarnations says that two processes run with the peer's key at once.
	TwoIncarnations
	PeerMoved // it listens elsewhere now
	// LaneExcess says that another developer brought more than their lane may.
	LaneExcess
)

// clockOffMax is how far a peer's clock may be off before it is told.
const clockOffMax = 10 * time.Minute

// Event is something that happened on the mesh.
type Event struct {
	Kind     EventKind
	Device   ledger.Device
	Addrs    []string // PeerUp and PeerMoved: where it listens
	Clean    bool
	Received int          // Synced: records that it brought
	Lane     ledger.TID   // the other developer's fleet, if the computer is one of theirs
	Excess   lanes.Excess // LaneExcess: of what
}

// eventsMax bounds what waits for the reader of events; the oldest is dropped, since each only says "look".
const eventsMax = 256

// Mesh is one computer's connections.
type Mesh struct {
	c       Config
	host    host.Host
	gate    *gate
	topic   *pubsub.Topic
	sub     *pubsub.Subscription
	events  chan Event
	ctx     context.Context
	cancel  context.CancelFunc
	work    sync.WaitGroup
	inbox   chan gossiped
	pubsub  *pubsub.PubSub
	redial  chan struct{}
	presses chan struct{} // one for each that is looked at
	showing chan struct{} // one for each question for lines that is answered
	reserve chan struct{}
	refused Counters
	rates   rates
	linesBy rates // questions for lines
	recent  recent
	hands   hands
	emitter event.Emitter // of addresses over relays; nil without them
	carrier io.Closer     // the relay for other members; nil without
	porch   *porch        // of the relay; nil without
	began   time.Time

	laneWork sync.Mutex // one change of the lanes at a time

	mu        sync.Mutex
	status    map[ledger.Device]*PeerStatus
	up        map[ledger.Device]bool                 // whose PeerUp was told
	former    map[ledger.Device][]ledger.Incarnation // that others followed
	addrs     map[ledger.Device][]ma.Multiaddr
	near      map[ledger.Device][]ma.Multiaddr // as told on the local network
	places    map[ledger.Device]place
	sessions  map[ledger.Device]*session
	answers   map[ledger.Device]int  // exchanges that each peer began and that run
	soon      map[ledger.Device]bool // whom a catch-up is due with
	asked     []func() bool          // whether what was asked for is missing still
	lanes     map[ledger.TID]*lane   // by the other developer's fleet
	askTimer  *time.Timer
	invite    *Invitation
	shown     *Invitation // whose pass relays are told: until its last word was read
	last      *Invitation // ended, and latecomers may still come in
	past      []ended     // what became of the last codes, the oldest first
	stations  []*station
	dropped   map[peer.ID]bool          // relays that failed for so long that they were forgotten
	spurns    map[peer.ID]spurn         // computers of lanes that let this one in no more, and borrowed relays
	borrowed  map[peer.ID]ledger.TID    // relays of other developers whose lane is on, with their fleet
	shut      map[peer.ID]bool          // computers that were removed: they are no relays
	bent      map[peer.ID]chan struct{} // whom a relay alone leads to, with what tells of news
	told      []ma.Multiaddr            // addresses over relays as libp2p last heard of them
	seen      map[peer.ID]sight         // where others see this computer's connections come from
	lan       io.Closer                 // nil: not on the local network
	farewells int                       // invitations that have ended and whose last words are being read
}

// PeerStatus is what is known of a connection.
type PeerStatus struct {
	Device    ledger.Device
	Lane      ledger.TID // the other developer's fleet, if it is one of their computers
	Connected bool
	Transport string // "quic", "tcp", "websocket" or "memory"
	Path      string // one of the Path constants
	Addr      string
	Version   string    // of its program, "" before it was told
	Since     time.Time // when it was connected or lost
	LastSeen  time.Time
	LatencyMS int64              // milliseconds that its last greeting took, there and back
	Inc       ledger.Incarnation // of its process, from its last greeting
}

// Start listens and begins to connect to the members.
func Start(ctx context.Context, c Config) (*Mesh, error) {
	if c.Heartbeat == 0 {
		c.Heartbeat = time.Second
	}
	if c.SyncEvery == 0 {
		c.SyncEvery = time.Minute
	}
	if c.Wall == nil {
		c.Wall = time.Now
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	m := &Mesh{
		c: c, gate: newGate(), events: make(chan Event, eventsMax), inbox: make(chan gossiped, inboxMax),
		redial: make(chan struct{}, 1), presses: make(chan struct{}, pressesMax), showing: make(chan struct{}, linesMax), linesBy: rates{burst: linesMinute}, status: map[ledger.Device]*PeerStatus{}, up: map[ledger.Device]bool{},
		former: map[ledger.Device][]ledger.Incarnation{}, addrs: map[ledger.Device][]ma.Multiaddr{}, places: map[ledger.Device]place{},
		sessions: map[ledger.Device]*session{}, answers: map[ledger.Device]int{}, soon: map[ledger.Device]bool{}, lanes: map[ledger.TID]*lane{},
		reserve: make(chan struct{}, 1), seen: map[peer.ID]sight{}, near: map[ledger.Device][]ma.Multiaddr{}, shut: map[peer.ID]bool{}, dropped: map[peer.ID]bool{}, spurns: map[peer.ID]spurn{}, bent: map[peer.ID]chan struct{}{}, began: time.Now(),
	}
	m.ctx, m.cancel = context.WithCancel(context.WithoutCancel(ctx))
	m.gate.refused = &m.refused
	if c.Reach.Carry {
		m.porch = &porch{gate: m.gate, refused: &m.refused, ctx: m.ctx, run: m.run, doors: map[peer.ID]*door{}}
	}
	var err error
	if m.host, err = m.newHost(); err != nil {
		m.cancel()
		return nil, err
	}
	if err := m.joinGossip(); err != nil {
		return nil, errors.Join(err, m.Close())
	}
	m.host.SetStreamHandler(syncProtocol, m.orLanes(m.answerSync))
	m.host.SetStreamHandler(madeProtocol, m.members(m.answerMade))
	m.host.SetStreamHandler(pressProtocol, m.members(m.answerPress))
	m.host.SetStreamHandler(linesProtocol, m.members(m.answerLines))
	m.host.SetStreamHandler(whereProtocol, m.orLanes(m.answerWhere))
	m.host.SetStreamHandler(pairProtocol, m.answerPair)
	m.host.SetStreamHandler(pingProtocol, m.members(m.answerPing))
	m.host.Network().Notify(&network.NotifyBundle{
		ConnectedF:    func(_ network.Network, conn network.Conn) { m.connected(conn) },
		DisconnectedF: func(_ network.Network, conn network.Conn) { m.disconnected(conn) },
	})
	m.work.Go(m.readGossip)
	m.work.Go(m.storeGossip)
	m.work.Go(m.keepDialling)
	m.work.Go(m.keepSyncing)
	if err := m.reachOut(); err != nil {
		return nil, errors.Join(err, m.Close())
	}
	return m, nil
}

// newHost is a libp2p host with the traps of closed laptops defused: the detector of UDP black holes is
// off, since dialling the absent would make a healthy computer refuse to dial at all.
func newHost(id Identity, listen []string, g *gate, more ...libp2p.Option) (host.Host, error) {
	key, err := id.libp2p()
	if err != nil {
		return nil, err
	}
	h, err := libp2p.New(append([]libp2p.Option{
		libp2p.Identity(key), libp2p.ListenAddrStrings(listen...), libp2p.ConnectionGater(g),
		libp2p.UDPBlackHoleSuccessCounter(nil), libp2p.IPv6BlackHoleSuccessCounter(nil),
		libp2p.DisableMetrics(), libp2p.Ping(false),
	}, more...)...)
	if err != nil && strings.Contains(err.Error(), "address already in use") {
		return nil, fmt.Errorf("listen on %s: %w", strings.Join(listen, ", "), ErrPortTaken)
	}
	if err != nil {
		return nil, fmt.Errorf("listen on %s: %w", strings.Join(listen, ", "), err)
	}
	return h, nil
}

// newHost makes this mesh's host, with the simulator's transports or the real ones.
func (m *Mesh) newHost() (host.Host, error) {
	agent := libp2p.UserAgent(agentPrefix + m.c.Version)
	if m.c.HostOptions != nil {
		m.c.Reach = m.c.Reach.inMemory()
		more := append(m.c.Reach.circuitOptions(&m.hands), agent, libp2p.AddrsFactory(m.withCircuits))
		return newHost(m.c.Identity, m.c.Listen, m.gate, append(more, m.c.HostOptions()...)...)
	}
	limits, err := bounded(&m.refused)
	if err != nil {
		return nil, fmt.Errorf("limits: %w", err)
	}
	more := append(m.c.Reach.options(&m.hands), agent, libp2p.ResourceManager(limits), libp2p.AddrsFactory(m.withCircuits))
	return newHost(m.c.Identity, m.c.Listen, m.gate, more...)
}

// Close ends every connection and goroutine.
func (m *Mesh) Close() error {
	m.cancel()
	if m.sub != nil {
		m.sub.Cancel()
	}
	m.mu.Lock()
	if m.askTimer != nil {
		m.askTimer.Stop()
	}
	invite := m.invite
	m.mu.Unlock()
	if invite != nil {
		invite.Cancel()
	}
	errs := []error{m.withdraw(), m.host.Close()}
	m.work.Wait()
	return errors.Join(errs...)
}

// run begins a goroutine that Close waits for, unless the mesh ends already.
func (m *Mesh) run(f func()) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.ctx.Err() != nil {
		return false
	}
	m.work.Go(f)
	return true
}

// Events tells what happens.
func (m *Mesh) Events() <-chan Event { return m.events }

func (m *Mesh) tell(e Event) {
	for {
		select {
		case m.events <- e:
			return
		default:
		}
		select {
		case <-m.events: // the oldest makes room
		default:
		}
	}
}

// SetMembers says who belongs to the fleet now. Connections to anybody else are closed.
func (m *Mesh) SetMembers(devices []ledger.Device) {
	peers := map[peer.ID]bool{}
	for _, d := range devices {
		if p, err := peerOf(d); err == nil {
			peers[p] = true
		}
	}
	removed, changed := m.gate.set(peers)
	if !changed {
		return
	}
	m.rates.keep(m.gate.member)
	m.linesBy.keep(m.gate.member)
	m.leaveRelays(removed, peers)
	for _, p := range removed {
		if m.porch != nil {
			m.porch.shutDoor(p, nil)
		}
		_ = m.host.Network().ClosePeer(p) // it is refused from now on anyway
	}
	m.mu.Lock()
	inviting := m.invite != nil || m.farewells > 0
	m.mu.Unlock()
	if !inviting { // the invitation does it at its end, when the last word was read
		m.promote()
	}
	m.retellRelays()
	m.dialNow()
}

// Addrs is where this computer listens.
func (m *Mesh) Addrs() []string {
	var out []string
	for _, a := range m.host.Addrs() {
		out = append(out, a.String())
	}
	return out
}

// Peers is what is known of each connection, in the order in which the peers were first seen.
func (m *Mesh) Peers() []PeerStatus {
	m.ways()
	m.mu.Lock()
	defer m.mu.Unlock()
	out := make([]PeerStatus, 0, len(m.status))
	for _, s := range m.status {
		out = append(out, *s)
	}
	return sorted(out)
}

// members lets a stream through if it comes from a member.
func (m *Mesh) members(handle func(network.Stream, ledger.Device)) network.StreamHandler {
	return func(s network.Stream) {
		d, ok := deviceOf(s.Conn().RemotePeer())
		if !ok || !m.gate.member(s.Conn().RemotePeer()) {
			if m.refuseLane(s) {
				return
			}
			m.refused.Count(RefusedStranger)
			_ = s.Reset()
			return
		}
		s = m.refused.watch(s)
		if !m.run(func() { handle(s, d) }) {
			_ = s.Reset() // nobody is here any more
		}
	}
}

func topicOf(fleet ledger.TID) string { return "/parley/1/f/" + hex.EncodeToString(fleet[:16]) }
