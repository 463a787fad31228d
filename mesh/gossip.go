package mesh

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"

	pubsub "github.com/libp2p/go-libp2p-pubsub"
	pb "github.com/libp2p/go-libp2p-pubsub/pb"
	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/parley-mesh/parley/ledger"
)

// Bounds of gossip. The queues of the library hold 32 by default and lose most of a burst.
const (
	queueMax  = 1024
	bufferMax = 4096
	inboxMax  = 4096
	batchMax  = 128

	subscriptionsMax = 512 // topics that a peer may name at once: its fleet's, and its lanes'
)

// joinGossip subscribes to the fleet's topic. Records are signed themselves, so messages are not; a
// message's name is the hash of all its bytes, so that a copy with a bad signature cannot stand in the way
// of the true one (D-3).
func (m *Mesh) joinGossip() error {
	params := pubsub.DefaultGossipSubParams()
	params.HeartbeatInterval = m.c.Heartbeat
	topic := topicOf(m.c.Fleet)
	may := topics{m}
	ps, err := pubsub.NewGossipSub(m.ctx, m.host, append(m.gossipCalm(),
		pubsub.WithGossipSubParams(params),
		pubsub.WithMessageSignaturePolicy(pubsub.StrictNoSign), pubsub.WithNoAuthor(),
		pubsub.WithMessageIdFn(messageID),
		pubsub.WithBlacklist(unheard{m.gate, m.host.ID()}), pubsub.WithFloodPublish(true), pubsub.WithMaxMessageSize(ledger.RecordBytesMax+512),
		pubsub.WithPeerOutboundQueueSize(queueMax), pubsub.WithValidateQueueSize(queueMax),
		pubsub.WithValidateWorkers(1), // two would bring the records of one chain out of order
		pubsub.WithPeerFilter(may.may), pubsub.WithSubscriptionFilter(pubsub.WrapLimitSubscriptionFilter(may, subscriptionsMax)))...)
	if err != nil {
		return fmt.Errorf("gossip: %w", err)
	}
	m.pubsub = ps
	if err := ps.RegisterTopicValidator(topic, m.validate, pubsub.WithValidatorInline(true)); err != nil {
		return fmt.Errorf("gossip: %w", err)
	}
	if m.topic, err = ps.Join(topic); err != nil {
		return fmt.Errorf("gossip: %w", err)
	}
	if m.sub, err = m.topic.Subscribe(pubsub.WithBufferSize(bufferMax)); err != nil {
		return fmt.Errorf("gossip: %w", err)
	}
	return nil
}

// messageID is the hash of a message's bytes; on a lane's topic it covers the topic too, since one record goes to
// the fleet and through lanes.
func messageID(msg *pb.Message) string {
	data := msg.GetData()
	if topic := msg.GetTopic(); strings.HasPrefix(topic, laneTopics) {
		data = append([]byte(topic), data...)
	}
	s := sha256.Sum256(data)
	return string(s[:])
}

// validate judges a message before it is passed on: malformed bytes and bad signatures are refused, and
// what is held already is not spread again.
func (m *Mesh) validate(_ context.Context, from peer.ID, msg *pubsub.Message) pubsub.ValidationResult {
	if !m.gate.member(from) && from != m.host.ID() {
		return m.reject(RefusedStranger, from)
	}
	r, err := ledger.Parse(msg.GetData())
	if err != nil {
		return m.reject(RefusedMalformed, from)
	}
	f, ok := m.familyOf(r)
	if !ok {
		return pubsub.ValidationIgnore
	}
	if !ofFamily(m.c.Book, r.Ledger, f) {
		return m.reject(RefusedFamily, from)
	}
	if err := r.Verify(f); err != nil {
		return m.reject(RefusedSignature, from)
	}
	if from != m.host.ID() && m.holds(r) {
		return pubsub.ValidationIgnore
	}
	if !m.inRate(from, r) {
		m.refused.Count(RefusedRate)
		return pubsub.ValidationIgnore // catch-up brings it
	}
	msg.ValidatorData = r
	return pubsub.ValidationAccept
}

// reject counts why a message is refused.
func (m *Mesh) reject(why Refusal, from peer.ID) pubsub.ValidationResult {
	m.refused.countBy(why, from)
	return pubsub.ValidationReject
}

// familyOf is the family that a record belongs to: by its kind, or by its ledger where the kind is unknown.
func (m *Mesh) familyOf(r *ledger.Record) (ledger.Family, bool) {
	if f := r.Family(); f != ledger.FamilyUnknown {
		return f, true
	}
	return m.c.Book.Family(r.Ledger)
}

// ofFamily reports whether records of a family may come into a ledger. One of which nothing but kinds of
// another version is held takes the first family that is known.
func ofFamily(b Book, tid ledger.TID, f ledger.Family) bool {
	held, ok := b.Family(tid)
	return !ok || held == ledger.FamilyUnknown || held == f
}

// holds reports whether a record's place in its chain is taken here already. A fork comes by catch-up.
func (m *Mesh) holds(r *ledger.Record) bool {
	heads, err := m.c.Book.Heads(r.Ledger)
	if err != nil {
		return false
	}
	for _, h := range heads {
		if h.Chain == r.Chain() {
			return r.Seq < h.Next
		}
	}
	return false
}

// Publish tells the fleet of an own record. It does not wait for the network; who misses it catches up.
func (m *Mesh) Publish(r *ledger.Record) error { return m.topic.Publish(m.ctx, r.Wire) }

// readGossip hands records over and never waits for the disk. What does not fit is dropped; catch-up
// brings it.
func (m *Mesh) readGossip() { m.readTopic(m.sub, ledger.TID{}) }

func (m *Mesh) readTopic(sub *pubsub.Subscription, fleet ledger.TID) {
	for {
		msg, err := sub.Next(m.ctx)
		if err != nil {
			return
		}
		r, ok := msg.ValidatorData.(*ledger.Record)
		if !ok || msg.ReceivedFrom == m.host.ID() {
			continue
		}
		from, ok := deviceOf(msg.ReceivedFrom)
		if !ok {
			continue
		}
		select {
		case m.inbox <- gossiped{r, from, fleet}:
		default:
			m.Ask(func() bool { return !m.holds(r) })
		}
	}
}

// storeGossip gives what came to the book, as much at once as waits.
func (m *Mesh) storeGossip() {
	for {
		var batch []gossiped
		select {
		case r := <-m.inbox:
			batch = append(batch, r)
		case <-m.ctx.Done():
			return
		}
		for more := true; more && len(batch) < batchMax; {
			select {
			case r := <-m.inbox:
				batch = append(batch, r)
			default:
				more = false
			}
		}
		if err := m.deliver(batch); err != nil && !errors.Is(err, context.Canceled) {
			m.c.Logger.Debug("store gossip", "error", err)
		}
	}
}

// gossiped is a record, the peer that passed it on and the lane that it came by; zero is the fleet's own topic.
type gossiped struct {
	*ledger.Record
	from ledger.Device
	lane ledger.TID
}

// deliver hands a batch over in order, together what is of one family and came from one peer by one lane. What cannot be
// stored is left to catch-up, and holds nothing else up.
func (m *Mesh) deliver(batch []gossiped) (err error) {
	for len(batch) > 0 {
		first := batch[0]
		f, _ := m.familyOf(first.Record)
		var same []*ledger.Record
		for _, t := range batch {
			if g, _ := m.familyOf(t.Record); g != f || t.from != first.from || t.lane != first.lane {
				break
			}
			same = append(same, t.Record)
		}
		batch = batch[len(same):]
		book := m.c.Book
		if first.lane != (ledger.TID{}) {
			l := m.laneOf(first.lane)
			if l == nil { // it was switched off meanwhile
				continue
			}
			book = book.Through(l.now())
		}
		err = errors.Join(err, book.Receive(m.ctx, first.from, f, same))
	}
	return err
}
