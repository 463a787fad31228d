package ledger

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// writer writes one chain's records in memory.
type writer struct {
	t     testing.TB
	key   byte
	inc   Incarnation
	turns uint64 // makes records at one place differ
}

func (w *writer) after(prev *Record, lam uint64) *Record {
	w.t.Helper()
	h := leaf("open")
	h.Inc, h.Seq, h.Prev, h.Lam = w.inc, 0, ID{}, lam
	if prev != nil {
		h.Seq, h.Prev = prev.Seq+1, prev.ID
	}
	w.turns++
	h.Turns = w.turns
	r, err := Seal(testKey(w.key), h, &Ack{Classes: []Class{HasMaster}})
	if err != nil {
		w.t.Fatal(err)
	}
	return r
}

func (w *writer) chain(n int) []*Record {
	var out []*Record
	var last *Record
	for i := range n {
		last = w.after(last, uint64(i)+1)
		out = append(out, last)
	}
	return out
}

func idsOf(rs []*Record) []ID {
	out := make([]ID, len(rs))
	for i, r := range rs {
		out[i] = r.ID
	}
	return out
}

func TestAForkIsFollowedByTheLowestIDInWhateverOrder(t *testing.T) { // case 12
	w := &writer{t: t}
	first := w.after(nil, 1)
	left, right := w.after(first, 2), w.after(first, 2)
	if right.ID.Less(left.ID) {
		left, right = right, left
	}
	all := []*Record{first, left, right, w.after(left, 3), w.after(right, 3), w.after(right, 3)}
	want := idsOf([]*Record{first, left, all[3]})
	rapid.Check(t, func(rt *rapid.T) {
		some := rapid.Permutation(all).Draw(rt, "order")
		followed, forked := Follow(append(some, some[0]))
		if !slices.Equal(idsOf(followed), want) || !slices.Equal(forked, []Device{device(0)}) {
			rt.Fatalf("followed %v, forked %v", idsOf(followed), forked)
		}
	})
}

func TestWhatIsFollowedDependsOnTheSetAlone(t *testing.T) { // cases 7, 8
	var all []*Record
	for key := range byte(2) {
		for inc := range byte(2) {
			w := &writer{t: t, key: key, inc: Incarnation{inc}}
			all = append(all, w.chain(4)...)
		}
	}
	rapid.Check(t, func(rt *rapid.T) {
		held := rapid.SliceOfN(rapid.Bool(), len(all), len(all)).Draw(rt, "held")
		var some []*Record
		want := map[ID]bool{}
		for start := 0; start < len(all); start += 4 {
			whole := true
			for i := start; i < start+4; i++ {
				if whole = whole && held[i]; whole {
					want[all[i].ID] = true
				}
				if held[i] {
					some = append(some, all[i])
				}
			}
		}
		sorted, forked := Follow(some)
		if len(sorted) != len(want) || len(forked) > 0 {
			rt.Fatalf("followed %d, want %d; forked %v", len(sorted), len(want), forked)
		}
		for _, r := range sorted {
			if !want[r.ID] {
				rt.Fatalf("record %d of %s lies behind a gap", r.Seq, r.Device.Short())
			}
		}
		if len(some) > 0 {
			some = rapid.Permutation(some).Draw(rt, "order")
		}
		if again, _ := Follow(some); !slices.Equal(idsOf(again), idsOf(sorted)) {
			rt.Fatal("the order of arrival shows")
		}
	})
}

func TestALogicalTimeMovesForwardBySteps(t *testing.T) { // case 8
	w := &writer{t: t}
	first := w.after(nil, 5)
	for lam, want := range map[uint64]int{4: 1, 5: 1, 6: 2, 5 + LamportJumpMax: 2, 6 + LamportJumpMax: 1} {
		if followed, _ := Follow([]*Record{first, w.after(first, lam)}); len(followed) != want {
			t.Errorf("from 5 to %d: followed %d, want %d", lam, len(followed), want)
		}
	}
	good, bad := w.after(first, 6), w.after(first, 5)
	for !bad.ID.Less(good.ID) {
		bad = w.after(first, 5)
	}
	followed, _ := Follow([]*Record{first, good, bad})
	if len(followed) != 2 || followed[1].ID != good.ID {
		t.Error("a record that continues no chain stands in the way of one that does")
	}
}

func TestDigestsAreEqualForEqualSetsAlone(t *testing.T) { // D-6
	w := &writer{t: t}
	var heads []Head
	for i := range byte(3) {
		w.inc = Incarnation{i}
		heads = append(heads, Head{Chain: Chain{device(0), w.inc}}.After(w.after(nil, 1)))
	}
	all := []Listing{{Ledger: TID{1}, Digest: DigestOf(heads)}, {Ledger: TID{2}, Digest: DigestOf(heads[:2])}}
	rapid.Check(t, func(rt *rapid.T) {
		if DigestOf(rapid.Permutation(heads).Draw(rt, "heads")) != DigestOf(heads) || DigestAll(rapid.Permutation(all).Draw(rt, "ledgers")) != DigestAll(all) {
			rt.Fatal("the order shows")
		}
	})
	longer := slices.Clone(heads)
	longer[0].Next++
	if DigestOf(longer) == DigestOf(heads) || DigestOf(heads[:2]) == DigestOf(heads) || DigestAll(all[:1]) == DigestAll(all) {
		t.Error("different sets have one digest")
	}
}
