package node

import (
	"slices"
	"sync"
	"time"

	"github.com/parley-mesh/parley/ledger"
)

// Bounds of the records that wait for the roster to name their author (S18).
const (
	strangersPerPeer = 64
	strangersInAll   = 1024
	strangersFor     = 10 * time.Minute
)

// strangers are records whose author nobody has heard of here yet: the roster that names it may be on its way. What
// a peer sends beyond its share is refused, so that it takes nobody else's.
type strangers struct {
	mu  sync.Mutex
	all []stranger // the oldest first
}

type stranger struct {
	*ledger.Record
	from  ledger.Device
	since time.Time
}

// put sets records aside and reports how many were refused for want of room.
func (s *strangers) put(from ledger.Device, records []*ledger.Record, now time.Time) (refused int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	share := 0
	for _, o := range s.all {
		if o.from == from {
			share++
		}
	}
	for _, r := range records {
		switch {
		case slices.ContainsFunc(s.all, func(o stranger) bool { return o.ID == r.ID }):
		case share >= strangersPerPeer || len(s.all) >= strangersInAll:
			refused++
		default:
			s.all, share = append(s.all, stranger{r, from, now}), share+1
		}
	}
	return refused
}

// known takes out the records whose author is known by now, in the order in which they came.
func (s *strangers) known(author func(ledger.Device) bool) (out []*ledger.Record) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all = slices.DeleteFunc(s.all, func(o stranger) bool {
		ok := author(o.Device)
		if ok {
			out = append(out, o.Record)
		}
		return ok
	})
	return out
}

// expire drops what has waited too long, and reports how many.
func (s *strangers) expire(now time.Time) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	before := len(s.all)
	s.all = slices.DeleteFunc(s.all, func(o stranger) bool { return now.Sub(o.since) > strangersFor })
	return before - len(s.all)
}
