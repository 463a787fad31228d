package mesh

import (
	"cmp"
	"sync"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/parley-mesh/parley/ledger"
)

// How many records of one author gossip may bring: so many at once, and so many a minute from then on. A fleet
// at work writes a few a minute. What is over comes by catch-up, which has no such limit (D-5).
const (
	rateBurst  = 1200
	rateMinute = 600
)

// rates are the buckets of those who write. Their number is bounded by that of the members.
type rates struct {
	burst   float64 // 0: rateBurst
	mu      sync.Mutex
	buckets map[writer]*bucket
}

// writer has one bucket for live work and one for everything else, so that neither crowds the other out (D-5).
type writer struct {
	peer.ID
	work bool
}

// bucket fills with time, up to the burst.
type bucket struct {
	left float64
	at   time.Time
}

// take takes one from a bucket and reports whether it was there.
func (r *rates) take(who writer, perMinute int, now time.Time) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.buckets == nil {
		r.buckets = map[writer]*bucket{}
	}
	burst := cmp.Or(r.burst, rateBurst)
	b := r.buckets[who]
	if b == nil {
		b = &bucket{left: burst}
		r.buckets[who] = b
	} else {
		b.left = min(burst, b.left+now.Sub(b.at).Minutes()*float64(perMinute))
	}
	b.at = now
	if b.left < 1 {
		return false
	}
	b.left--
	return true
}

// keep forgets the buckets of whoever is no member.
func (r *rates) keep(member func(peer.ID) bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for who := range r.buckets {
		if !member(who.ID) {
			delete(r.buckets, who)
		}
	}
}

// inRate reports whether gossip may bring one more record. A member's records count for that member, whoever
// passes them on; those of anybody else for who brings them.
func (m *Mesh) inRate(from peer.ID, r *ledger.Record) bool {
	if m.c.GossipRate < 0 || from == m.host.ID() {
		return true
	}
	who := writer{from, r.Family() == ledger.Work}
	if author, err := peerOf(r.Device); err == nil && m.gate.member(author) {
		who.ID = author
	}
	perMinute := m.c.GossipRate
	if perMinute == 0 {
		perMinute = rateMinute
	}
	return m.rates.take(who, perMinute, time.Now())
}
