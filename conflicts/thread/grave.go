package thread

import (
	"slices"

	"github.com/parley-mesh/parley/lanes"
	"github.com/parley-mesh/parley/ledger"
)

// FoldGrave is [Fold] for records whose chains may have holes: the open and the spine that are left of a
// closed thread, together with whatever else of it is at hand and counts as said. The spine needs no leaf, so its
// state up to the closing is the same with and without them.
func FoldGrave(records []*ledger.Record, rosters lanes.Rosters) State {
	sorted := slices.Clone(records)
	slices.SortFunc(sorted, func(a, b *ledger.Record) int { return slices.Compare(a.ID[:], b.ID[:]) })
	sorted = slices.CompactFunc(sorted, func(a, b *ledger.Record) bool { return a.ID == b.ID })
	return foldFollowed(sorted, nil, rosters)
}

// Buries reports whether a tomb's records are the whole spine of a closed thread, also in the light of the
// records that are held of it: then nothing can be said in it any more that would change its end.
func Buries(tomb, held []*ledger.Record, rosters lanes.Rosters) bool {
	followed, _ := ledger.Follow(held)
	s := FoldGrave(append(slices.Clone(tomb), followed...), rosters)
	var spine []ledger.ID
	for _, r := range tomb {
		spine = append(spine, r.ID)
	}
	return s.Phase == Closed && slices.Equal(s.Spine, spine)
}
