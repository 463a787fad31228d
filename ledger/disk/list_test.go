package disk

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/parley-mesh/parley/ledger"
)

func TestTheListOfLedgersFollowsEveryWrite(t *testing.T) { // D-6
	s := open(t, Options{InMemory: true})
	defer closed(t, s)
	chance := rand.New(rand.NewPCG(1, 2))
	next := map[ledger.TID]int{}
	written := map[ledger.TID][]*ledger.Record{}
	for range 300 {
		tid := ledger.TID{byte(chance.UintN(40)), 7}
		if written[tid] == nil {
			written[tid] = writer(t, tid, 1, 8)
		}
		if next[tid] < 8 {
			apply(t, s, written[tid][next[tid]])
			next[tid]++
		}
		if chance.IntN(3) > 0 {
			continue // several writes between two looks
		}
		list, err := s.Ledgers()
		if err != nil || len(list) != len(next) || !slices.IsSortedFunc(list, func(a, b Entry) int { return compare(a.Listing.Ledger, b.Listing.Ledger) }) {
			t.Fatalf("%d of %d ledgers, or out of order: %v", len(list), len(next), err)
		}
		var all []ledger.Listing
		for _, e := range list {
			heads, err := s.Heads(e.Listing.Ledger)
			if err != nil || e.Listing.Digest != ledger.DigestOf(heads) || e.Family != ledger.Conversation {
				t.Fatalf("ledger %s: digest or family of before, %v", e.Listing.Ledger.Short(), err)
			}
			all = append(all, e.Listing)
		}
		if s.Digest() != ledger.DigestAll(all) {
			t.Fatal("the digest over all is of before")
		}
	}
}
