package mesh

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	pubsub "github.com/libp2p/go-libp2p-pubsub"
	pb "github.com/libp2p/go-libp2p-pubsub/pb"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/parley-mesh/parley/lanes"
	"github.com/parley-mesh/parley/ledger"
)

// ErrNotGranted means that something was not sent through a lane: it is off, or may not carry that.
var ErrNotGranted = errors.New("the lane does not grant this")

// lane is one lane that is on at this end.
type lane struct {
	topic *pubsub.Topic
	sub   *pubsub.Subscription
	name  string

	mu    sync.Mutex
	grant lanes.Grant
	rate  lanes.Quota // of what the other developer's computers newly write
}

func (l *lane) now() lanes.Grant {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.grant
}

// fresh counts a record that the other developer newly wrote, or says what refuses it. What is refused is not lost: a
// catch-up brings it.
func (l *lane) fresh(f ledger.Family, now time.Time) lanes.Excess {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.rate.Take(lanes.Arrival{Fresh: true, Work: f == ledger.Work}, now)
}

// laneTopic is the gossip topic of a lane, by the lane's ledger.
func laneTopic(ledger ledger.TID) string { return laneTopics + hex.EncodeToString(ledger[:16]) }

const laneTopics = "/parley/1/l/"

// SetLanes says which lanes are on here, by the grants of [lanes.Lane.Grant]. It is the one way in which
// another developer's computers get in, are dialled, or are sent anything (rule L1): what has no grant in here
// is as if it had never been paired. The connections of a lane that is not in here any more end at once.
func (m *Mesh) SetLanes(grants []lanes.Grant) error {
	m.laneWork.Lock()
	defer m.laneWork.Unlock()
	wanted, peers := map[ledger.TID]lanes.Grant{}, map[peer.ID]ledger.TID{}
	for _, g := range grants {
		if !g.Given() || g.Own() != m.c.Fleet {
			continue
		}
		wanted[g.Peer()] = g
		for _, d := range g.Computers() {
			if p, err := peerOf(d); err == nil {
				peers[p] = g.Peer()
			}
		}
	}
	removed, changed := m.gate.setLanes(peers)
	m.borrowNo(func(_ peer.ID, of ledger.TID) bool { _, on := wanted[of]; return on })
	err := errors.Join(m.leaveLanes(wanted), m.enterLanes(wanted))
	for _, p := range removed {
		_ = m.host.Network().ClosePeer(p) // it is refused from now on anyway
	}
	m.mu.Lock()
	inviting := m.invite != nil || m.farewells > 0
	clear(m.spurns)
	m.mu.Unlock()
	if !inviting {
		m.promote()
	}
	if changed {
		m.retellRelays()
	}
	if len(wanted) > 0 {
		m.dialNow()
	}
	return err
}

// leaveLanes ends the gossip of the lanes that are not wanted any more.
func (m *Mesh) leaveLanes(wanted map[ledger.TID]lanes.Grant) error {
	var errs []error
	for fleet, l := range m.allLanes() {
		if _, ok := wanted[fleet]; ok {
			continue
		}
		m.mu.Lock()
		delete(m.lanes, fleet)
		m.mu.Unlock()
		l.sub.Cancel()
		errs = append(errs, l.topic.Close(), m.pubsub.UnregisterTopicValidator(l.name))
	}
	return errors.Join(errs...)
}

// enterLanes begins the gossip of new ones, and renews the grants of those that go on.
func (m *Mesh) enterLanes(wanted map[ledger.TID]lanes.Grant) error {
	here := m.allLanes()
	for fleet, g := range wanted {
		if l := here[fleet]; l != nil {
			l.mu.Lock()
			l.grant = g
			l.mu.Unlock()
			continue
		}
		l := &lane{grant: g, name: laneTopic(g.Ledger())}
		m.mu.Lock()
		m.lanes[fleet] = l
		m.mu.Unlock()
		if err := m.enter(fleet, l); err != nil {
			m.mu.Lock()
			delete(m.lanes, fleet)
			m.mu.Unlock()
			return fmt.Errorf("lane: %w", err)
		}
	}
	return nil
}

func (m *Mesh) enter(fleet ledger.TID, l *lane) error {
	check := func(_ context.Context, from peer.ID, msg *pubsub.Message) pubsub.ValidationResult {
		return m.validateLane(fleet, l, from, msg)
	}
	if err := m.pubsub.RegisterTopicValidator(l.name, check, pubsub.WithValidatorInline(true)); err != nil {
		return err
	}
	var err error
	if l.topic, err = m.pubsub.Join(l.name); err != nil {
		return err
	}
	if l.sub, err = l.topic.Subscribe(pubsub.WithBufferSize(bufferMax)); err != nil {
		return err
	}
	m.run(func() { m.readTopic(l.sub, fleet) })
	return nil
}

func (m *Mesh) allLanes() map[ledger.TID]*lane {
	m.mu.Lock()
	defer m.mu.Unlock()
	out := make(map[ledger.TID]*lane, len(m.lanes))
	maps.Copy(out, m.lanes)
	return out
}

func (m *Mesh) laneOf(fleet ledger.TID) *lane {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.lanes[fleet]
}

// Send tells another developer's computers of a record, by the grant of their lane. Nothing is sent through a
// lane but by this and by catch-up, and both show what [Book.Through] shows. Who misses it catches up.
func (m *Mesh) Send(g lanes.Grant, r *ledger.Record) error {
	l := m.laneOf(g.Peer())
	if !g.Given() || l == nil {
		return fmt.Errorf("send to %s: %w", g.Peer().Short(), ErrNotGranted)
	}
	g = l.now()
	view := m.c.Book.Through(g)
	f, ok := view.Family(r.Ledger)
	if !ok || f == ledger.Roster || !g.Carries(r.Device) || f == ledger.Work && !shows(view, r) {
		return fmt.Errorf("send to %s: %w", g.Peer().Short(), ErrNotGranted)
	}
	m.recent.touch(r.Ledger)
	return l.topic.Publish(m.ctx, r.Wire)
}

// shows reports whether a record may pass: of live work the ledger alone does not say it.
func shows(view Book, r *ledger.Record) bool {
	wires, err := view.From(r.Ledger, r.Chain(), r.Seq, 1)
	return err == nil && slices.ContainsFunc(wires, func(w []byte) bool { return bytes.Equal(w, r.Wire) })
}

// CatchUpLane compares with every connected computer of another developer: after something that gossip does not
// carry, such as a change of this fleet's roster.
func (m *Mesh) CatchUpLane(fleet ledger.TID) {
	for _, s := range m.Peers() {
		if s.Connected && s.Lane == fleet {
			m.run(func() { m.catchUp(s.Device) })
		}
	}
}

// validateLane judges a message of a lane's topic. Both fleets' computers are in the topic, and nobody else.
func (m *Mesh) validateLane(fleet ledger.TID, l *lane, from peer.ID, msg *pubsub.Message) pubsub.ValidationResult {
	theirs, ofLane := m.gate.lane(from)
	if !(ofLane && theirs == fleet) && !m.gate.member(from) && from != m.host.ID() {
		return m.reject(RefusedStranger, from)
	}
	r, err := ledger.Parse(msg.GetData())
	if err != nil {
		return m.reject(RefusedMalformed, from)
	}
	g, f := l.now(), r.Family()
	if f != ledger.Lane && f != ledger.Conversation && f != ledger.Work || (f == ledger.Lane) != (r.Ledger == g.Ledger()) {
		return m.reject(RefusedFamily, from)
	}
	if f != ledger.Lane && !g.Mutual() {
		return m.reject(RefusedLane, from)
	}
	if !g.Carries(r.Device) {
		m.refused.countBy(RefusedUnknown, from)
		return pubsub.ValidationIgnore // its roster may be on its way
	}
	if f == ledger.Work && !g.CarriesAnyWork(r.Device) {
		m.refused.countBy(RefusedLane, from)
		return pubsub.ValidationIgnore // their switch may be on its way
	}
	if r.Verify(f) != nil {
		return m.reject(RefusedSignature, from)
	}
	if from != m.host.ID() && m.holds(r) {
		return pubsub.ValidationIgnore
	}
	if g.To(r.Device) {
		if excess := l.fresh(f, m.c.Wall()); excess != lanes.Within {
			m.refused.countBy(RefusedRate, from)
			m.tell(Event{Kind: LaneExcess, Device: r.Device, Lane: fleet, Excess: excess})
			return pubsub.ValidationIgnore
		}
	}
	msg.ValidatorData = r
	return pubsub.ValidationAccept
}

// topics says which topics a peer may be in: members in the fleet's and in every lane's, computers of another
// developer in their lane's alone. It holds for what they subscribe to and for what they join.
type topics struct{ m *Mesh }

// CanSubscribe is about this computer itself.
func (topics) CanSubscribe(string) bool { return true }

// FilterIncomingSubscriptions leaves out what a peer may not be in.
func (t topics) FilterIncomingSubscriptions(from peer.ID, subs []*pb.RPC_SubOpts) ([]*pb.RPC_SubOpts, error) {
	return slices.DeleteFunc(slices.Clone(subs), func(s *pb.RPC_SubOpts) bool { return !t.may(from, s.GetTopicid()) }), nil
}

func (t topics) may(p peer.ID, topic string) bool {
	if t.m.gate.member(p) {
		return topic == topicOf(t.m.c.Fleet) || strings.HasPrefix(topic, laneTopics)
	}
	fleet, ok := t.m.gate.lane(p)
	return ok && topic == laneTopic(ledger.LaneID(t.m.c.Fleet, fleet))
}

// orLanes is [Mesh.members] for the two protocols that another developer's computers may speak as well.
func (m *Mesh) orLanes(handle func(network.Stream, ledger.Device)) network.StreamHandler {
	inner := m.members(handle)
	return func(s network.Stream) {
		d, ok := deviceOf(s.Conn().RemotePeer())
		if _, lane := m.gate.lane(s.Conn().RemotePeer()); !ok || !lane {
			inner(s)
			return
		}
		s = m.refused.watch(s)
		if !m.run(func() { handle(s, d) }) {
			_ = s.Reset() // nobody is here any more
		}
	}
}

// refuseLane tells a computer of another developer that a protocol is for this fleet alone; false leaves any
// other peer to the caller.
func (m *Mesh) refuseLane(s network.Stream) bool {
	if _, lane := m.gate.lane(s.Conn().RemotePeer()); !lane {
		return false
	}
	m.refused.countBy(RefusedLane, s.Conn().RemotePeer())
	told := m.run(func() {
		err := errors.Join(s.SetDeadline(time.Now().Add(ioTimeout)), ledger.WriteFrame(s, &ledger.Bye{Code: ledger.ByeNotAllowed}), s.Close())
		if err != nil {
			_ = s.Reset() // it is not listening
		}
	})
	if !told {
		_ = s.Reset() // nobody is here any more
	}
	return true
}

// bookFor is what an exchange with a peer may touch, and the fleet that the peer belongs to.
func (m *Mesh) bookFor(d ledger.Device) (Book, ledger.TID) {
	if p, err := peerOf(d); err == nil && m.gate.member(p) {
		return m.c.Book, m.c.Fleet
	} else if err == nil {
		if fleet, ok := m.gate.lane(p); ok {
			if l := m.laneOf(fleet); l != nil {
				return m.c.Book.Through(l.now()), fleet
			}
		}
	}
	return m.c.Book.Through(lanes.Grant{}), ledger.TID{} // its lane was switched off a moment ago
}
