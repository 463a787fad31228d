package node

import (
	"context"
	"slices"
	"sync"

	"github.com/parley-mesh/parley/lanes"
	"github.com/parley-mesh/parley/ledger"
	"github.com/parley-mesh/parley/mesh"
)

// laneView is the part of the ledgers that may pass through a lane, in either direction (rules L1, L5, L6): the
// lane's own ledger and what the two rosters show; once the lane is on at both ends, the conversations that the
// grant lets the other developer see, and of those what the two fleets said. Of everything else it knows nothing:
// neither an id nor a length.
type laneView struct {
	book
	g lanes.Grant
}

var _ mesh.Book = laneView{}

// Through is what may pass by a grant.
func (b book) Through(g lanes.Grant) mesh.Book { return laneView{b, g} }

// Tomb shows nothing: what was forgotten here is no matter of the other developer's.
func (v laneView) Tomb(ledger.TID) (*ledger.Tomb, bool, error) { return nil, false, nil }

// Bury takes nothing: no other developer says what may be forgotten here, or that a conversation has ended before
// it began.
func (v laneView) Bury(context.Context, ledger.Device, *ledger.Tomb, []*ledger.Record) error {
	return nil
}

// Loose is what is held of a roster that a lane shows; nothing between own computers but others' rosters.
func (b book) Loose(tid ledger.TID) ([][]byte, bool) {
	if tid == b.n.fleet || !b.n.lanes.peer(tid) {
		return nil, false
	}
	return wiresOf(b.n.loose(tid)), true
}

// Loose is what each of the two fleets shows of its roster.
func (v laneView) Loose(tid ledger.TID) ([][]byte, bool) {
	switch {
	case !v.g.Given():
		return nil, false
	case tid == v.g.Own():
		return wiresOf(v.ownRoster()), true
	case tid == v.g.Peer():
		return wiresOf(v.n.loose(tid)), true
	}
	return nil, false
}

func (v laneView) ownRoster() []*ledger.Record {
	records, err := v.n.store.Records(v.g.Own())
	if err != nil {
		return nil
	}
	return lanes.VisibleRoster(v.g.Own(), records)
}

func wiresOf(records []*ledger.Record) [][]byte {
	out := make([][]byte, 0, len(records))
	for _, r := range records {
		out = append(out, r.Wire)
	}
	return out
}

// passes reports whether a ledger that is held may pass.
func (v laneView) passes(tid ledger.TID) bool {
	if !v.g.Given() {
		return false
	}
	if tid == v.g.Ledger() {
		return true
	}
	f, ok := v.n.store.Family(tid)
	if ok && f == ledger.Work {
		return v.passesWork(tid)
	}
	return ok && f == ledger.Conversation && v.g.Mutual() && v.g.MaySee(v.n.opens.of(v.n, tid))
}

// passesWork reports whether live work that is held may pass in one direction at least.
func (v laneView) passesWork(tid ledger.TID) bool {
	scope, ok := v.n.workBook.scope(tid)
	return ok && scope.Host == v.n.cfg.GitHub.Host && v.g.SharesWork(scope.share, scope.Repo) && v.n.seenWork(tid)
}

// carries reports whether a ledger that passes does so with what one computer wrote. Of live work it is what the end that
// shares it wrote for this lane, and never a third developer's (D-26).
func (v laneView) carries(tid ledger.TID, d ledger.Device) bool {
	if scope, work := v.n.workBook.scope(tid); work {
		return v.g.CarriesWork(d, scope.share, scope.Repo)
	}
	return v.g.Carries(d)
}

// Visible lists what may pass, each ledger by what of it may.
func (v laneView) Visible(ledger.Device) []ledger.Listing {
	if !v.g.Given() {
		return nil
	}
	out := []ledger.Listing{
		{Ledger: v.g.Own(), Digest: lanes.SetDigest(v.ownRoster())},
		{Ledger: v.g.Peer(), Digest: lanes.SetDigest(v.n.loose(v.g.Peer()))},
	}
	entries, err := v.n.store.Ledgers()
	if err != nil {
		return nil
	}
	for _, e := range entries {
		if heads, err := v.Heads(e.Listing.Ledger); err == nil && len(heads) > 0 {
			slices.SortFunc(heads, func(a, b ledger.Head) int { return a.Compare(b.Chain) })
			out = append(out, ledger.Listing{Ledger: e.Listing.Ledger, Digest: ledger.DigestOf(heads)})
		}
	}
	slices.SortFunc(out, func(a, b ledger.Listing) int { return slices.Compare(a.Ledger[:], b.Ledger[:]) })
	return out
}

// Heads is how far what may pass is held, the chains with an open first: they say that the rest may follow.
func (v laneView) Heads(tid ledger.TID) ([]ledger.Head, error) {
	if !v.passes(tid) {
		return nil, nil
	}
	heads, err := v.n.store.Heads(tid)
	if err != nil {
		return nil, err
	}
	heads = slices.DeleteFunc(slices.Clone(heads), func(h ledger.Head) bool { return !v.carries(tid, h.Device) })
	if f, _ := v.n.store.Family(tid); f != ledger.Conversation {
		return heads, nil // nothing in it says who may see it, and a week of live work is long
	}
	opens := v.n.opens.of(v.n, tid)
	rank := func(h ledger.Head) int {
		if slices.ContainsFunc(opens, func(r *ledger.Record) bool { return r.Chain() == h.Chain }) {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(heads, func(a, b ledger.Head) int { return rank(a) - rank(b) })
	return heads, nil
}

// Contended lists the chains that fork, of those that may pass.
func (v laneView) Contended(tid ledger.TID) ([]ledger.Chain, error) {
	if !v.passes(tid) {
		return nil, nil
	}
	chains, err := v.n.store.Contended(tid)
	return slices.DeleteFunc(slices.Clone(chains), func(c ledger.Chain) bool { return !v.carries(tid, c.Device) }), err
}

// From is the next records of a chain that may pass.
func (v laneView) From(tid ledger.TID, c ledger.Chain, next uint64, most int) ([][]byte, error) {
	if !v.passes(tid) || !v.carries(tid, c.Device) {
		return nil, nil
	}
	return v.n.store.From(tid, c, next, most)
}

// Family is the family of what may pass.
func (v laneView) Family(tid ledger.TID) (ledger.Family, bool) {
	switch {
	case !v.g.Given():
		return ledger.FamilyUnknown, false
	case tid == v.g.Own() || tid == v.g.Peer():
		return ledger.Roster, true
	case tid == v.g.Ledger():
		return ledger.Lane, true
	case v.passes(tid):
		return v.n.store.Family(tid)
	}
	return ledger.FamilyUnknown, false
}

// Receive takes what the other developer brought and may bring: more of their own roster, the lane's ledger, and
// what belongs to a conversation that they may see, up to the limits of the lane (rule L9). The rest is dropped.
func (v laneView) Receive(_ context.Context, _ ledger.Device, f ledger.Family, records []*ledger.Record) error {
	if !v.g.Given() {
		return nil
	}
	if f == ledger.Roster {
		return v.n.receiveLoose(v.g.Peer(), records)
	}
	var kept []*ledger.Record
	for _, r := range records {
		switch {
		case !v.g.Carries(r.Device):
			continue
		case v.n.store.Pruned(r.Ledger): // their end keeps it for longer, and brings it each time
			v.n.mesh.Count(mesh.RefusedForgotten, 1)
			continue
		case f == ledger.Lane && r.Ledger == v.g.Ledger():
		case f == ledger.Conversation && v.g.Mutual() && v.admits(r.Ledger, records):
		case f == ledger.Work && v.admitsWork(r, records):
		default:
			continue
		}
		kept = append(kept, r)
	}
	return v.n.keep(v.n.withinQuota(v.g, kept))
}

// admitsWork reports whether a record of live work may come in: the end that wrote it for this lane shares it. What the ledger is
// about is known, or comes along, or is asked for.
func (v laneView) admitsWork(r *ledger.Record, coming []*ledger.Record) bool {
	scope, known := v.n.workBook.scope(r.Ledger)
	if f, held := v.n.store.Family(r.Ledger); held && f != ledger.Work {
		return false
	}
	if i := slices.IndexFunc(coming, func(o *ledger.Record) bool { return o.Ledger == r.Ledger && o.Seq == 0 }); !known && i >= 0 {
		scope, known = scopeOf(coming[i]), true
	}
	if known && (scope.Host != v.n.cfg.GitHub.Host || !v.g.CarriesWork(r.Device, scope.share, scope.Repo)) {
		v.n.mesh.Count(mesh.RefusedLane, 1)
		return false
	}
	if !known {
		v.n.mesh.Ask(func() bool { return v.n.lacks(r) })
	}
	return known
}

// admits reports whether a conversation may come in: it passes, or does so with what comes.
func (v laneView) admits(tid ledger.TID, coming []*ledger.Record) bool {
	if v.passes(tid) {
		return true
	}
	if f, held := v.n.store.Family(tid); held && f != ledger.Conversation {
		return false
	}
	return v.g.MaySee(slices.DeleteFunc(slices.Clone(coming), func(r *ledger.Record) bool { return r.Ledger != tid }))
}

// receiveLoose adds what came of another developer's roster, and judges by it what waited for that and what comes
// next.
func (n *Node) receiveLoose(fleet ledger.TID, records []*ledger.Record) error {
	own := slices.DeleteFunc(slices.Clone(records), func(r *ledger.Record) bool { return r.Ledger != fleet })
	changed, err := n.keepLoose(fleet, own)
	if err != nil || !changed {
		return err
	}
	n.refoldLanes()
	n.heard.add(fleet)
	return n.keep(n.strangers.known(n.heardOf))
}

// openBook remembers the opens of conversations, which say who may see them.
type openBook struct {
	mu   sync.Mutex
	seen map[ledger.TID]seenOpens
}

type seenOpens struct {
	digest ledger.Digest
	opens  []*ledger.Record
}

// of are the opens of a conversation, read again when it has changed.
func (b *openBook) of(n *Node, tid ledger.TID) []*ledger.Record {
	heads, err := n.store.Heads(tid)
	if err != nil {
		return nil
	}
	if len(heads) == 0 { // it was pruned, or never there
		b.forget(tid)
		return nil
	}
	digest := ledger.DigestOf(heads)
	b.mu.Lock()
	have, ok := b.seen[tid]
	b.mu.Unlock()
	if ok && have.digest == digest {
		return have.opens
	}
	records, err := n.store.Records(tid)
	if err != nil {
		return nil
	}
	opens := slices.DeleteFunc(records, func(r *ledger.Record) bool { return r.Kind != ledger.KindOpen })
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.seen == nil {
		b.seen = map[ledger.TID]seenOpens{}
	}
	b.seen[tid] = seenOpens{digest, opens}
	return opens
}

// forget lets go of a conversation that was pruned.
func (b *openBook) forget(tid ledger.TID) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.seen, tid)
}
