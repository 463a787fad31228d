package lanes

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"slices"

	"github.com/parley-mesh/parley/ledger"
)

// visible reports whether a lane may see a roster's records of a kind: who belongs to the fleet and which
// computer is the main one. Names, lanes and kinds that are not known stay at home.
func visible(k ledger.Kind) bool {
	switch k {
	case ledger.KindGenesis, ledger.KindAdd, ledger.KindRevoke, ledger.KindRekey, ledger.KindMainClaim, ledger.KindMainRelease:
		return true
	}
	return false
}

// VisibleRoster is the part of a fleet's own roster that a lane may see, parents before children. Each record
// is signed by itself, so it needs no other to be verified; [FoldVisible] reads the whole at the other end.
func VisibleRoster(fleet ledger.TID, records []*ledger.Record) []*ledger.Record {
	followed, _ := ledger.Follow(records)
	return newFolding(new(Memory), fleet, followed).visible()
}

func (f *folding) visible() (out []*ledger.Record) {
	for _, r := range f.records {
		if visible(r.Kind) {
			out = append(out, r)
		}
	}
	return out
}

// VisibleKinds are the records of another developer's roster that are kept: those of kinds that a lane may see.
func VisibleKinds(records []*ledger.Record) []*ledger.Record {
	return slices.DeleteFunc(slices.Clone(records), func(r *ledger.Record) bool { return !visible(r.Kind) })
}

// SetDigest sums up a set of records by their ids: equal digests mean equal sets.
func SetDigest(records []*ledger.Record) ledger.Digest {
	ids := make([]ledger.ID, 0, len(records))
	for _, r := range records {
		ids = append(ids, r.ID)
	}
	slices.SortFunc(ids, func(a, b ledger.ID) int { return bytes.Compare(a[:], b[:]) })
	h := sha256.New()
	for _, id := range slices.Compact(ids) {
		h.Write(id[:])
	}
	return ledger.Digest(h.Sum(nil)[:16])
}

// FoldVisible computes another fleet's roster from the records that it shows through a lane: the same
// computers, removals and claims as at home, without their names. A parent that is not shown is passed over;
// every honest author names those that are shown itself ([Roster.Heads]).
func FoldVisible(fleet ledger.TID, records []*ledger.Record) Roster {
	return new(Memory).FoldVisible(fleet, records)
}

// FoldVisible is [FoldVisible] with what is remembered.
func (m *Memory) FoldVisible(fleet ledger.TID, records []*ledger.Record) Roster {
	f := m.loose(fleet, records)
	f.settle()
	return f.roster()
}

// loose places records whose chains have gaps where something is not shown.
func (m *Memory) loose(fleet ledger.TID, records []*ledger.Record) *folding {
	f := &folding{memory: m, fleet: fleet, before: map[ledger.ID]map[ledger.ID]bool{}, chained: map[ledger.ID]ledger.ID{}, shown: map[ledger.ID]bool{}}
	rest := f.follow(records)
	f.recovery = recoveryOf(rest)
	for _, r := range rest {
		f.shown[r.ID] = true
	}
	f.placeAll(rest)
	return f
}

// follow is what [ledger.Follow] is for whole chains: one record at each place, the one with the lower id, that
// names its predecessor where that is shown.
func (f *folding) follow(records []*ledger.Record) (out []*ledger.Record) {
	all := slices.DeleteFunc(slices.Clone(records), func(r *ledger.Record) bool { return !visible(r.Kind) || r.Ledger != f.fleet })
	slices.SortFunc(all, func(a, b *ledger.Record) int {
		return cmp.Or(a.Chain().Compare(b.Chain()), cmp.Compare(a.Seq, b.Seq), bytes.Compare(a.ID[:], b.ID[:]))
	})
	for _, r := range all {
		if len(out) > 0 {
			last := out[len(out)-1]
			if last.Chain() == r.Chain() {
				if last.Seq == r.Seq || last.Lam >= r.Lam || last.Seq+1 == r.Seq && last.ID != r.Prev {
					continue
				}
				f.chained[r.ID] = last.ID
			}
		}
		out = append(out, r)
	}
	return out
}

// frontier is what a new record of the fleet names as its parents: every record that nothing follows yet, and
// every shown one that no shown one follows, so that what a lane sees holds together without the rest. The shown
// ones and the latest come first.
func (f *folding) frontier() []ledger.ID {
	followed, shown := map[ledger.ID]bool{}, map[ledger.ID]bool{}
	for _, r := range f.records {
		for _, p := range f.parents(r) {
			followed[p] = true
			shown[p] = shown[p] || visible(r.Kind)
		}
	}
	f.skip(shown)
	tips := slices.DeleteFunc(slices.Clone(f.records), func(r *ledger.Record) bool {
		return followed[r.ID] && (shown[r.ID] || !visible(r.Kind))
	})
	slices.SortFunc(tips, func(a, b *ledger.Record) int {
		return cmp.Or(-cmp.Compare(rank(a), rank(b)), cmp.Compare(b.Lam, a.Lam), bytes.Compare(a.ID[:], b.ID[:]))
	})
	var out []ledger.ID
	for _, r := range tips {
		out = append(out, r.ID)
	}
	return out
}

func rank(r *ledger.Record) int {
	if visible(r.Kind) {
		return 1
	}
	return 0
}

// skip marks what a shown record follows in its own chain over the hidden ones between.
func (f *folding) skip(shown map[ledger.ID]bool) {
	last := map[ledger.Chain]*ledger.Record{}
	for _, r := range f.records { // parents first, so each chain in its order
		if !visible(r.Kind) {
			continue
		}
		if before := last[r.Chain()]; before != nil {
			shown[before.ID] = true
		}
		last[r.Chain()] = r
	}
}
