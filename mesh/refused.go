package mesh

import (
	"bytes"
	"errors"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	pubsub "github.com/libp2p/go-libp2p-pubsub"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/protocol"

	"github.com/parley-mesh/parley/ledger"
)

// What is refused, and counted.
const (
	RefusedStranger = "stranger"  // a key that does not belong here
	RefusedForged   = "forged"    // gossip that is no record, or not signed by whom it names
	RefusedReplayed = "replayed"  // gossip of a place in a chain that is taken already
	RefusedFlood    = "flood"     // gossip that came faster than it could be looked at
	RefusedGrafts   = "grafts"    // more changes of the gossip mesh than the protocol has reason for
	RefusedProtocol = "protocol"  // an exchange that broke the rules, such as a frame that is too large
	RefusedSlow     = "slow"      // an exchange that stood still for too long
	RefusedResource = "resources" // connections and streams beyond the limits
)

// refusedMax bounds the pairs of kind and peer that are counted apart; more are counted under nobody.
const refusedMax = 512

// Refusal is how often something was refused to somebody since the mesh began.
type Refusal struct {
	Kind   string
	Device ledger.Device // zero: nobody in particular
	Count  uint64
}

type refusalKey struct {
	kind string
	who  ledger.Device
}

// refusals counts.
type refusals struct {
	mu     sync.Mutex
	counts map[refusalKey]uint64
}

func newRefusals() *refusals { return &refusals{counts: map[refusalKey]uint64{}} }

// add counts one refusal. Keys are free, so strangers are counted together.
func (r *refusals) add(kind string, p peer.ID) {
	d, ok := deviceOf(p)
	if !ok || kind == RefusedStranger {
		d = ledger.Device{}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	k := refusalKey{kind, d}
	if _, known := r.counts[k]; !known && len(r.counts) >= refusedMax {
		k.who = ledger.Device{}
	}
	r.counts[k]++
}

func (r *refusals) list() []Refusal {
	r.mu.Lock()
	defer r.mu.Unlock()
	var out []Refusal
	for k, n := range r.counts {
		out = append(out, Refusal{Kind: k.kind, Device: k.who, Count: n})
	}
	slices.SortFunc(out, func(a, b Refusal) int {
		if c := strings.Compare(a.Kind, b.Kind); c != 0 {
			return c
		}
		return bytes.Compare(a.Device[:], b.Device[:])
	})
	return out
}

// Refused is what was refused to whom since the mesh began, ordered by kind.
func (m *Mesh) Refused() []Refusal { return m.refused.list() }

// watched is a stream whose failures are counted.
type watched struct {
	network.Stream
	r *refusals

	mu     sync.Mutex
	failed error // the first failure of reading or writing
}

func (r *refusals) watch(s network.Stream) network.Stream { return &watched{Stream: s, r: r} }

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
	switch {
	case failed == nil:
		w.r.add(RefusedProtocol, w.Conn().RemotePeer())
	case errors.Is(failed, os.ErrDeadlineExceeded):
		w.r.add(RefusedSlow, w.Conn().RemotePeer())
	}
	return w.Stream.Reset()
}

// gossipEar counts what gossip refuses.
type gossipEar struct{ r *refusals }

var _ pubsub.RawTracer = gossipEar{}

// RejectMessage counts a message that went no further.
func (l gossipEar) RejectMessage(msg *pubsub.Message, reason string) {
	switch reason {
	case pubsub.RejectValidationFailed, pubsub.RejectUnexpectedSignature, pubsub.RejectUnexpectedAuthInfo, pubsub.RejectInvalidSignature:
		l.r.add(RefusedForged, msg.ReceivedFrom)
	case pubsub.RejectValidationIgnored:
		l.r.add(RefusedReplayed, msg.ReceivedFrom)
	case pubsub.RejectValidationQueueFull, pubsub.RejectValidationThrottled:
		l.r.add(RefusedFlood, msg.ReceivedFrom)
	case pubsub.RejectBlacklstedPeer, pubsub.RejectBlacklistedSource:
		l.r.add(RefusedStranger, msg.ReceivedFrom)
	}
}

// UndeliverableMessage counts a message that nobody could take in time.
func (l gossipEar) UndeliverableMessage(msg *pubsub.Message) { l.r.add(RefusedFlood, msg.ReceivedFrom) }

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
	r    *refusals
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
		c.r.add(RefusedGrafts, from)
		return errStorm
	}
	return nil
}
