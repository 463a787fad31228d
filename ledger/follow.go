package ledger

import (
	"bytes"
	"slices"
)

// Follow picks the records of one ledger that count as said: every chain from its start, without a gap.
// At a fork (two records at one place, which only a copied key or a fault can make) the branch whose
// next record has the lowest id is followed, the same on every computer; its device is named in forked.
// The result is ordered by chain and sequence, whatever the order of all.
func Follow(all []*Record) (followed []*Record, forked []Device) {
	sorted := slices.Clone(all)
	slices.SortFunc(sorted, func(a, b *Record) int {
		if c := a.Chain().Compare(b.Chain()); c != 0 {
			return c
		}
		if a.Seq != b.Seq {
			if a.Seq < b.Seq {
				return -1
			}
			return 1
		}
		return bytes.Compare(a.ID[:], b.ID[:])
	})
	sorted = slices.CompactFunc(sorted, func(a, b *Record) bool { return a.ID == b.ID })
	var at Head
	for i, r := range sorted {
		if i == 0 || r.Chain() != at.Chain {
			at = Head{Chain: r.Chain()}
		}
		if i > 0 && sorted[i-1].Chain() == r.Chain() && sorted[i-1].Seq == r.Seq {
			if n := len(forked); n == 0 || forked[n-1] != r.Device {
				forked = append(forked, r.Device)
			}
		}
		if at.Extends(r) {
			followed = append(followed, r)
			at = at.After(r)
		}
	}
	return followed, forked
}
