package mesh

import (
	"bytes"
	"cmp"
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/parley-mesh/parley/ledger"
)

// Refusal is why something that a peer did or sent was refused.
type Refusal uint8

// The reasons, in the order in which they are shown. A new one has a word in words and comes before the end.
const (
	RefusedStranger  Refusal = iota // a connection or stream of a key that is no member
	RefusedMalformed                // bytes that are no record or no frame
	RefusedSignature                // a signature that does not verify
	RefusedFamily                   // a record of another family than its ledger's
	RefusedUnknown                  // a record whose author is not known, and that could not be set aside
	RefusedRate                     // gossip beyond a peer's rate
	RefusedBusy                     // an exchange beyond those that a peer may have begun
	RefusedProtocol                 // an exchange that broke another rule of its protocol
	RefusedForgotten                // a record of a closed thread that was pruned, which changes nothing
	RefusedReplay                   // gossip of a place in a chain that is taken; a few are ordinary, when catch-up was faster
	RefusedFlood                    // gossip that came faster than it could be looked at
	RefusedGrafts                   // more changes of gossip's mesh than it has reason for
	RefusedSlow                     // an exchange that stood still for too long
	RefusedLane                     // something of another developer that their lane does not grant
	RefusedResources                // a connection, stream or memory beyond the limits
	RefusedPeriod                   // live work of a week that is over or has not begun
	RefusedWork                     // live work beyond what one computer may bring
	refusals
)

var refusalWords = [refusals]string{
	RefusedStranger: "stranger", RefusedMalformed: "malformed", RefusedSignature: "signature", RefusedFamily: "family",
	RefusedUnknown: "unknown-author", RefusedRate: "rate", RefusedBusy: "busy", RefusedProtocol: "protocol",
	RefusedForgotten: "forgotten", RefusedReplay: "replayed", RefusedFlood: "flood", RefusedGrafts: "grafts",
	RefusedSlow: "slow", RefusedLane: "lane", RefusedResources: "resources", RefusedPeriod: "period", RefusedWork: "live-work",
}

// String is the word under which it is counted in the status and the metrics.
func (r Refusal) String() string { return refusalWords[r] }

// Counters counts refusals by reason since the process began. The zero value counts from zero; one that is
// nil counts nothing. Its methods may be called from many goroutines.
type Counters struct {
	n [refusals]atomic.Uint64

	mu sync.Mutex
	by map[Blame]uint64
}

// Blame is one reason and one computer.
type Blame struct {
	Device ledger.Device
	Why    string // the reason's word
}

// Blamed is how often something was refused to one computer for one reason.
type Blamed struct {
	Blame
	Times uint64
}

// blameMax bounds the pairs that are counted apart; what comes later is counted under nobody.
const blameMax = 512

// blame counts for whom something was refused. Strangers' keys are free, so they are nobody.
func (c *Counters) blame(r Refusal, p peer.ID) {
	d, ok := deviceOf(p)
	if c == nil || !ok || r == RefusedStranger {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	k := Blame{d, r.String()}
	if _, known := c.by[k]; !known && len(c.by) >= blameMax {
		return
	}
	if c.by == nil {
		c.by = map[Blame]uint64{}
	}
	c.by[k]++
}

// countBy counts one refusal, and for whom.
func (c *Counters) countBy(r Refusal, p peer.ID) {
	c.Count(r)
	c.blame(r, p)
}

// ByWhom is what was refused to members, ordered by reason.
func (c *Counters) ByWhom() []Blamed {
	c.mu.Lock()
	defer c.mu.Unlock()
	var out []Blamed
	for k, n := range c.by {
		out = append(out, Blamed{k, n})
	}
	slices.SortFunc(out, func(a, b Blamed) int {
		return cmp.Or(strings.Compare(a.Why, b.Why), bytes.Compare(a.Device[:], b.Device[:]))
	})
	return out
}

// Count counts one refusal.
func (c *Counters) Count(r Refusal) { c.Add(r, 1) }

// Add counts several.
func (c *Counters) Add(r Refusal, n int) {
	if c != nil && n > 0 {
		c.n[r].Add(uint64(n))
	}
}

// Refused is how often something was refused for one reason.
type Refused struct {
	Why   string // the reason's word
	Times uint64
}

// All is every reason's count, zeros included, in a fixed order.
func (c *Counters) All() []Refused {
	out := make([]Refused, refusals)
	for r := range refusals {
		out[r] = Refused{Why: r.String(), Times: c.n[r].Load()}
	}
	return out
}

var errFamily = errors.New("a record of another family than its ledger's")

// countFault counts what was wrong with an exchange, if the peer was.
func (m *Mesh) countFault(err error) {
	switch {
	case errors.Is(err, errFamily):
		m.refused.Count(RefusedFamily)
	case errors.Is(err, ledger.ErrSignature):
		m.refused.Count(RefusedSignature)
	case errors.Is(err, ledger.ErrMalformed), errors.Is(err, ledger.ErrFrame), errors.Is(err, ledger.ErrTooLarge):
		m.refused.Count(RefusedMalformed)
	case errors.Is(err, errPeer):
		m.refused.Count(RefusedProtocol)
	}
}

// Count counts what the node refused of what the mesh brought.
func (m *Mesh) Count(why Refusal, n int) { m.refused.Add(why, n) }

// Refused counts what was refused since the mesh started (S18).
func (m *Mesh) Refused() []Refused { return m.refused.All() }

// RefusedTo is to which members something was refused since the mesh started (S18).
func (m *Mesh) RefusedTo() []Blamed { return m.refused.ByWhom() }
