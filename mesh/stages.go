package mesh

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/parley-mesh/parley/ledger"
)

// How much the answering side says before it knows what differs: all that it holds where that is less than
// the digests of 256 groups, else its open threads and those digests.
const (
	wholeMax = 64
	openMax  = 64
	groups   = 256
)

// overview is what the answering side says first.
type overview struct {
	roster ledger.Digest
	listed []ledger.Listing // its open threads, or all that it holds
	all    bool
	groups []byte // 256 digests by first byte of the ledger, unless all is listed
}

// question is what the beginning side answers: how far it holds what differs, and what it holds in the
// groups that differ beside that.
type question struct {
	haves  haveList
	listed []ledger.Listing
	groups [groups]bool
}

// leadStages goes from the roster over the open threads to the groups that differ, so that a small
// difference between many ledgers costs little. The answering side speaks first.
func (x *exchange) leadStages() error {
	var theirs overview
	var haves []*ledger.Have
	told, asked := make(chan struct{}), make(chan struct{})
	return x.beside(func() error {
		var err error
		if theirs, err = x.readOverview(); err != nil {
			return err
		}
		close(told)
		if haves, err = x.readHaves(&haveList{}); err != nil {
			return err
		}
		close(asked)
		return x.readRecords()
	}, func(failed <-chan struct{}) error {
		if !known(told, failed) {
			return nil
		}
		named, whole, err := x.sendQuestion(&theirs)
		if err != nil || !known(asked, failed) {
			return err
		}
		for _, h := range haves {
			if !named[h.Ledger] {
				if err := x.sendHave(h.Ledger); err != nil {
					return err
				}
			}
		}
		if err := x.write(&ledger.Bye{}); err != nil {
			return err
		}
		if err := x.sendAll(append(haves, whole...)); err != nil {
			return err
		}
		return x.write(&ledger.Bye{})
	})
}

// answerStages is the other side's half: what the first question names is sent before the groups.
func (x *exchange) answerStages() error {
	if err := x.sendOverview(); err != nil {
		return err
	}
	var q question
	var first, second []*ledger.Have
	asked, again := make(chan struct{}), make(chan struct{})
	return x.beside(func() error {
		if err := x.readQuestion(&q); err != nil {
			return err
		}
		first = q.haves.all
		later := haveList{named: maps.Clone(q.haves.named), positions: q.haves.positions} // the writer reads on
		close(asked)
		var err error
		if second, err = x.readHaves(&later); err != nil {
			return err
		}
		close(again)
		return x.readRecords()
	}, func(failed <-chan struct{}) error {
		if !known(asked, failed) {
			return nil
		}
		whole, err := x.sendAnswer(first, &q)
		if err != nil {
			return err
		}
		if err := x.sendAll(first); err != nil || !known(again, failed) {
			return err
		}
		if err := x.sendAll(append(whole, second...)); err != nil {
			return err
		}
		return x.write(&ledger.Bye{})
	})
}

func (x *exchange) detail(open ledger.Digest) *ledger.Detail {
	roster, _ := x.digestOf(x.m.c.Fleet)
	return &ledger.Detail{Fleet: x.m.c.Fleet, Roster: roster, Open: open, Root: x.sum}
}

// digestOf is a visible ledger's digest, and whether it is held.
func (x *exchange) digestOf(tid ledger.TID) (ledger.Digest, bool) {
	i, found := slices.BinarySearchFunc(x.mine, tid, byLedger)
	if !found {
		return ledger.Digest{}, false
	}
	return x.mine[i].Digest, true
}

func byLedger(l ledger.Listing, tid ledger.TID) int { return slices.Compare(l.Ledger[:], tid[:]) }

// open lists the open threads that the peer may see.
func (x *exchange) open() []ledger.Listing {
	if x.m.c.Open == nil {
		return nil
	}
	var out []ledger.Listing
	for _, tid := range x.m.c.Open() {
		if d, ok := x.digestOf(tid); ok {
			out = append(out, ledger.Listing{Ledger: tid, Digest: d})
		}
	}
	slices.SortFunc(out, inOrder)
	return out
}

func (x *exchange) sendOverview() error {
	open := x.open()
	if err := x.write(x.detail(ledger.DigestAll(open))); err != nil {
		return err
	}
	if len(x.mine) <= wholeMax {
		return x.sendList(ledger.ListAll, x.mine)
	}
	if err := x.sendList(ledger.ListOpen, x.likely(open)); err != nil {
		return err
	}
	return x.write(&ledger.Buckets{Digests: groupDigests(x.mine)})
}

func (x *exchange) sendList(scope uint64, rest []ledger.Listing) error {
	for {
		n := min(len(rest), ledger.ListingsMax)
		if err := x.write(&ledger.List{Scope: scope, Entries: rest[:n], More: n < len(rest)}); err != nil {
			return err
		}
		if rest = rest[n:]; len(rest) == 0 {
			return nil
		}
	}
}

// groupDigests sums listings up by the first byte of the ledger. They are ascending.
func groupDigests(all []ledger.Listing) []byte {
	out := make([]byte, 0, groups*len(ledger.Digest{}))
	for g := range groups {
		d := ledger.DigestAll(groupOf(all, byte(g)))
		out = append(out, d[:]...)
	}
	return out
}

// groupOf is the part of ascending listings whose ledgers begin with a byte.
func groupOf(all []ledger.Listing, g byte) []ledger.Listing {
	first := func(l ledger.Listing, g int) int { return cmp.Compare(int(l.Ledger[0]), g) }
	from, _ := slices.BinarySearchFunc(all, int(g), first)
	to, _ := slices.BinarySearchFunc(all, int(g)+1, first)
	return all[from:to]
}

// readOverview reads what the answering side says first.
func (x *exchange) readOverview() (out overview, err error) {
	f, err := x.read()
	if err != nil {
		return out, err
	}
	detail, ok := f.(*ledger.Detail)
	if !ok || detail.Fleet != x.fleet {
		return out, fmt.Errorf("%w: want details of the fleet, got %T", errPeer, f)
	}
	out.roster = detail.Roster
	for {
		f, err := x.read()
		if err != nil {
			return out, err
		}
		switch f := f.(type) {
		case *ledger.List:
			all := f.Scope == ledger.ListAll
			if f.More && len(f.Entries) == 0 || len(out.listed) > 0 && all != out.all || !ascending(&out.listed, f.Entries) {
				return out, fmt.Errorf("%w: a list out of order, of two scopes, or without an end", errPeer)
			}
			if out.all = all; all && !f.More {
				return out, nil
			}
		case *ledger.Buckets:
			out.groups = f.Digests
			return out, nil
		default:
			return out, fmt.Errorf("%w: want a list or groups, got %T", errPeer, f)
		}
	}
}

// ascending appends listings that go on in ascending order, up to the bound, and reports whether they do.
func ascending(to *[]ledger.Listing, more []ledger.Listing) bool {
	for _, l := range more {
		if n := len(*to); n >= listingsMax || n > 0 && !(*to)[n-1].Ledger.Less(l.Ledger) {
			return false
		}
		*to = append(*to, l)
	}
	return true
}

// sendQuestion says how far this side holds what is listed and differs, the roster first, and lists its part
// of the groups that differ beside that. It returns what it named, and what the peer is known to lack whole.
func (x *exchange) sendQuestion(theirs *overview) (named map[ledger.TID]bool, whole []*ledger.Have, err error) {
	named = map[ledger.TID]bool{}
	if d, _ := x.digestOf(x.fleet); d != theirs.roster && theirs.roster != (ledger.Digest{}) {
		named[x.fleet], err = true, x.sendHave(x.fleet)
	}
	for _, l := range theirs.listed {
		if d, ok := x.digestOf(l.Ledger); err == nil && !named[l.Ledger] && (!ok || d != l.Digest) {
			named[l.Ledger], err = true, x.sendHave(l.Ledger)
		}
	}
	if err != nil {
		return nil, nil, err
	}
	if theirs.all {
		whole = x.beyond(theirs.listed, x.mine)
	} else if err := x.sendGroups(theirs, named); err != nil {
		return nil, nil, err
	}
	return named, whole, x.write(&ledger.Bye{})
}

// beyond is what this side holds and the peer, which has listed all of its own, does not.
func (x *exchange) beyond(theirs, mine []ledger.Listing) (out []*ledger.Have) {
	for _, l := range mine {
		if _, found := slices.BinarySearchFunc(theirs, l.Ledger, byLedger); !found {
			out = append(out, &ledger.Have{Ledger: l.Ledger})
		}
	}
	return out
}

// sendGroups lists this side's part of each group that differs by more than what the peer has listed. How far it holds
// what was written to last in such a group it says at once, and names it: the peer need not ask first.
func (x *exchange) sendGroups(theirs *overview, named map[ledger.TID]bool) error {
	size, late := len(ledger.Digest{}), x.lately()
	for g := range groups {
		mine := groupOf(x.mine, byte(g))
		if ledger.DigestAll(replaced(mine, groupOf(theirs.listed, byte(g)))) == ledger.Digest(theirs.groups[g*size:]) {
			continue
		}
		for _, l := range groupOf(late, byte(g)) {
			if _, listed := slices.BinarySearchFunc(theirs.listed, l.Ledger, byLedger); listed || named[l.Ledger] {
				continue
			}
			named[l.Ledger] = true
			if err := x.sendHave(l.Ledger); err != nil {
				return err
			}
		}
		for first := true; first || len(mine) > 0; first = false {
			n := min(len(mine), ledger.ListingsMax)
			if err := x.write(&ledger.Bucket{Index: uint64(g), Entries: mine[:n], More: n < len(mine)}); err != nil {
				return err
			}
			mine = mine[n:]
		}
	}
	return nil
}

// replaced is one side's listings with the other's in their place where both have them, and beside them.
func replaced(mine, theirs []ledger.Listing) []ledger.Listing {
	if len(theirs) == 0 {
		return mine
	}
	out := slices.Clone(theirs)
	for _, l := range mine {
		if _, found := slices.BinarySearchFunc(theirs, l.Ledger, byLedger); !found {
			out = append(out, l)
		}
	}
	return out
}

// readQuestion reads what the beginning side asks, up to its mark.
func (x *exchange) readQuestion(q *question) error {
	for open := -1; ; { // the group that goes on
		f, err := x.read()
		if err != nil {
			return err
		}
		switch f := f.(type) {
		case *ledger.Detail: // allowed, and nothing new
		case *ledger.Have:
			if err := q.haves.add(f); err != nil {
				return err
			}
		case *ledger.Tomb:
			if err := x.buryOnce(&q.haves, f); err != nil {
				return err
			}
		case *ledger.Bucket:
			if q.groups[f.Index] && int(f.Index) != open || f.More && len(f.Entries) == 0 ||
				!ascending(&q.listed, f.Entries) || len(groupOf(f.Entries, byte(f.Index))) != len(f.Entries) {
				return fmt.Errorf("%w: a group again, out of order or without an end", errPeer)
			}
			q.groups[f.Index] = true
			if open = -1; f.More {
				open = int(f.Index)
			}
		case *ledger.Bye:
			return nil
		default:
			return fmt.Errorf("%w: want how far or a group, got %T", errPeer, f)
		}
	}
}

// sendAnswer says how far this side holds what the question names, and whatever else differs in its groups.
// It returns what the peer is known to lack whole.
func (x *exchange) sendAnswer(first []*ledger.Have, q *question) (whole []*ledger.Have, err error) {
	for _, h := range first {
		if err := x.sendHave(h.Ledger); err != nil {
			return nil, err
		}
	}
	for _, l := range q.listed {
		if d, ok := x.digestOf(l.Ledger); !q.haves.named[l.Ledger] && (!ok || d != l.Digest) {
			if err := x.sendHave(l.Ledger); err != nil {
				return nil, err
			}
		}
	}
	for g, listed := range q.groups {
		if listed {
			whole = append(whole, x.beyond(groupOf(q.listed, byte(g)), groupOf(x.mine, byte(g)))...)
		}
	}
	whole = slices.DeleteFunc(whole, func(h *ledger.Have) bool { return q.haves.named[h.Ledger] })
	return whole, x.write(&ledger.Bye{})
}

// sendAll sends what the peer lacks of several ledgers: the roster first, since it says whose records may be
// stored, then the open threads.
func (x *exchange) sendAll(haves []*ledger.Have) error {
	open := x.open()
	rank := func(h *ledger.Have) int {
		_, isOpen := slices.BinarySearchFunc(open, h.Ledger, byLedger)
		switch {
		case h.Ledger == x.m.c.Fleet:
			return 0
		case x.roster(h.Ledger):
			return 1
		case isOpen:
			return 2
		}
		return 3
	}
	sorted := slices.Clone(haves)
	slices.SortStableFunc(sorted, func(a, b *ledger.Have) int { return rank(a) - rank(b) })
	for _, h := range sorted {
		if err := x.sendRecords(h); err != nil {
			return err
		}
	}
	return nil
}

func (x *exchange) roster(tid ledger.TID) bool {
	f, _ := x.book.Family(tid)
	return f == ledger.Roster
}
