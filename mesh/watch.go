package mesh

import (
	"errors"
	"net"
	"sync"
	"time"

	pubsub "github.com/libp2p/go-libp2p-pubsub"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/protocol"
)

// watched is a stream whose failures are counted.
type watched struct {
	network.Stream
	r *Counters

	mu     sync.Mutex
	failed error // the first failure of reading or writing
}

func (r *Counters) watch(s network.Stream) network.Stream { return &watched{Stream: s, r: r} }

func (w *watched) note(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.failed == nil {
		w.failed = err
	}
}

// Read reads.
func (w *watched) Read(b []byte) (int, error) {
	n, err := w.Stream.Read(b)
	if err != nil {
		w.note(err)
	}
	return n, err
}

// Write writes.
func (w *watched) Write(b []byte) (int, error) {
	n, err := w.Stream.Write(b)
	if err != nil {
		w.note(err)
	}
	return n, err
}

// Reset ends the stream after an error. Where the stream itself had none, the other side broke a rule.
func (w *watched) Reset() error {
	w.mu.Lock()
	failed := w.failed
	w.failed = network.ErrReset // counted once
	w.mu.Unlock()
	switch p := w.Conn().RemotePeer(); {
	case failed == nil && w.Protocol() == syncProtocol:
		w.r.blame(RefusedProtocol, p) // the exchange counts the reason itself
	case failed == nil:
		w.r.countBy(RefusedProtocol, p)
	case late(failed):
		w.r.countBy(RefusedSlow, p)
	}
	return w.Stream.Reset()
}

// late reports whether an error says that a deadline has passed. Each transport has an error of its own for it.
func late(err error) bool {
	timeout, ok := errors.AsType[net.Error](err)
	return ok && timeout.Timeout()
}

// gossipEar counts what gossip refuses.
type gossipEar struct{ r *Counters }

var _ pubsub.RawTracer = gossipEar{}

// RejectMessage counts a message that went no further, but for those whose judge counted them.
func (l gossipEar) RejectMessage(msg *pubsub.Message, reason string) {
	switch reason {
	case pubsub.RejectMissingSignature, pubsub.RejectUnexpectedSignature, pubsub.RejectUnexpectedAuthInfo, pubsub.RejectInvalidSignature:
		l.r.countBy(RefusedMalformed, msg.ReceivedFrom)
	case pubsub.RejectValidationIgnored:
		l.r.countBy(RefusedReplay, msg.ReceivedFrom)
	case pubsub.RejectValidationQueueFull, pubsub.RejectValidationThrottled:
		l.r.countBy(RefusedFlood, msg.ReceivedFrom)
	case pubsub.RejectBlacklstedPeer, pubsub.RejectBlacklistedSource:
		l.r.Count(RefusedStranger)
	}
}

// UndeliverableMessage counts a message that nobody could take in time.
func (l gossipEar) UndeliverableMessage(msg *pubsub.Message) {
	l.r.countBy(RefusedFlood, msg.ReceivedFrom)
}

// The rest of what the library tells is not counted.

// OnNewOutboundStream is not counted.
func (gossipEar) OnNewOutboundStream(peer.ID, protocol.ID) {}

// OnClosedOutboundStream is not counted.
func (gossipEar) OnClosedOutboundStream(peer.ID) {}

// Join is not counted.
func (gossipEar) Join(string) {}

// Leave is not counted.
func (gossipEar) Leave(string) {}

// Graft is counted where it comes in, see [calm].
func (gossipEar) Graft(peer.ID, string) {}

// Prune is counted where it comes in, see [calm].
func (gossipEar) Prune(peer.ID, string) {}

// ValidateMessage is not counted.
func (gossipEar) ValidateMessage(*pubsub.Message) {}

// DeliverMessage is not counted.
func (gossipEar) DeliverMessage(*pubsub.Message) {}

// DuplicateMessage is not counted: every record comes from several sides.
func (gossipEar) DuplicateMessage(*pubsub.Message) {}

// ThrottlePeer is not counted: no gater of the library is on.
func (gossipEar) ThrottlePeer(peer.ID) {}

// RecvRPC is not counted.
func (gossipEar) RecvRPC(*pubsub.RPC) {}

// SendRPC is not counted.
func (gossipEar) SendRPC(*pubsub.RPC, peer.ID) {}

// SendRPCCompleted is not counted.
func (gossipEar) SendRPCCompleted(*pubsub.RPC, peer.ID, time.Duration) {}

// DropRPC is not counted: it is this side that had too much to say.
func (gossipEar) DropRPC(*pubsub.RPC, peer.ID) {}

// changesMax is how many grafts and prunes a peer may send in changesIn. Gossip itself sends a few after each
// start, and waits a minute after each prune.
const (
	changesMax = 60
	changesIn  = time.Minute
)

// calm drops what a peer says to gossip while it changes the mesh without end.
type calm struct {
	r    *Counters
	wall func() time.Time

	mu     sync.Mutex
	counts map[peer.ID]int
	since  time.Time
}

var errStorm = errors.New("too many grafts and prunes")

// inspect judges one message of gossip's own before it is looked at.
func (c *calm) inspect(from peer.ID, rpc *pubsub.RPC) error {
	n := len(rpc.GetControl().GetGraft()) + len(rpc.GetControl().GetPrune())
	if n == 0 {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if now := c.wall(); now.Sub(c.since) >= changesIn || now.Before(c.since) {
		c.counts, c.since = map[peer.ID]int{}, now
	}
	if c.counts[from] += n; c.counts[from] > changesMax {
		c.r.countBy(RefusedGrafts, from)
		return errStorm
	}
	return nil
}
