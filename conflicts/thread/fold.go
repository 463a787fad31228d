package thread

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/parley-mesh/parley/lanes"
	"github.com/parley-mesh/parley/ledger"
)

// Fold computes a thread's state from a set of its records and the rosters of the fleets involved. The
// order of records is irrelevant. A thread that this computer's fleet has no part in folds like any
// other; what it means for the computer is [Step]'s business.
func Fold(records []*ledger.Record, rosters lanes.Rosters) State {
	followed, forked := ledger.Follow(records)
	return foldFollowed(followed, forked, rosters)
}

func foldFollowed(followed []*ledger.Record, forked []ledger.Device, rosters lanes.Rosters) State {
	f := folding{rosters: rosters, terms: map[ledger.ID]uint64{}}
	f.s.Forked = forked
	if len(followed) > 0 {
		f.s.Ledger = followed[0].Ledger
	}
	for _, r := range followed {
		f.sort(r)
	}
	if f.takeRoot() {
		f.walkSpine()
		f.hearLeaves()
	}
	return f.s
}

// folding is the work in progress of one fold.
type folding struct {
	rosters lanes.Rosters
	s       State
	opens   []*ledger.Record
	spine   []*ledger.Record
	leaves  []*ledger.Record
	terms   map[ledger.ID]uint64 // of the spine records made under a valid claim
}

func (f *folding) refuse(r *ledger.Record, rule string) {
	f.s.Refused = append(f.s.Refused, Refusal{r, rule})
}

// sort puts a followed record where it belongs.
func (f *folding) sort(r *ledger.Record) {
	if r.Opaque {
		f.s.Opaque = true
	}
	fleet, known := f.rosters.Of(r.Device)
	switch {
	case r.Content == nil:
		f.refuse(r, "this parley does not know the kind "+string(r.Kind))
	case !known:
		f.refuse(r, "its author belongs to no fleet known here")
	case !fleet.Counts(r):
		f.refuse(r, "its author was removed before it was written")
	case !r.Kind.Spine():
		f.leaves = append(f.leaves, r)
	default:
		term, ok := fleet.Term(r.Claim, r.Device)
		if !ok {
			f.refuse(r, "its author had no claim to the main-computer role")
			return
		}
		f.terms[r.ID] = term
		if open, ok := r.Content.(*ledger.Open); ok {
			f.sortOpen(r, open, fleet)
			return
		}
		f.spine = append(f.spine, r)
	}
}

func (f *folding) sortOpen(r *ledger.Record, open *ledger.Open, fleet lanes.Roster) {
	if open.Fleet != fleet.Fleet {
		f.refuse(r, "it speaks for another fleet")
		return
	}
	for _, p := range open.Parties {
		if d, ok := p.Device(); ok && !fleet.Ever(d) {
			f.refuse(r, "a party is not of the opener's fleet")
			return
		}
	}
	f.opens = append(f.opens, r)
}

// takeRoot picks the one open that counts: the pull request author's own fleet before a teammate's,
// then by fleet, the higher term, the lower id.
func (f *folding) takeRoot() bool {
	if len(f.opens) == 0 {
		for _, r := range append(f.spine, f.leaves...) {
			f.refuse(r, "its open is unknown here")
		}
		return false
	}
	slices.SortFunc(f.opens, func(a, b *ledger.Record) int {
		x, y := a.Content.(*ledger.Open), b.Content.(*ledger.Open)
		return cmp.Or(
			cmp.Compare(foreign(x), foreign(y)),
			bytes.Compare(x.Fleet[:], y.Fleet[:]),
			cmp.Compare(f.terms[b.ID], f.terms[a.ID]),
			bytes.Compare(a.ID[:], b.ID[:]))
	})
	root := f.opens[0]
	for _, r := range f.opens[1:] {
		f.refuse(r, "another open of the same conflict precedes it")
	}
	open := root.Content.(*ledger.Open)
	f.s.Phase, f.s.Root, f.s.Open = Opened, root, open
	f.s.Spine = []ledger.ID{root.ID}
	f.s.Term = f.terms[root.ID]
	f.s.Responsible, f.s.Assign, f.s.AssignAt = int(open.Resp), root.ID, root.At
	f.s.AssignFrom, f.s.Renewed = int(open.Resp), root.ID
	fleet, _ := f.rosters.Of(root.Device)
	for _, p := range open.Parties {
		d, own := p.Device()
		f.s.Gone = append(f.s.Gone, own && !fleet.Member(d))
	}
	f.s.Statements = make([]Statement, len(open.Parties))
	f.s.Adopted = make([]ledger.ID, len(open.Parties))
	f.s.Results = make([][]ledger.Result, len(open.Parties))
	return true
}

// foreign is 0 for an open whose responsible side is a computer of the opener's own fleet, else 1.
func foreign(o *ledger.Open) int {
	if _, own := o.Parties[o.Resp].Device(); own {
		return 0
	}
	return 1
}

// walkSpine follows the main computer's records from the open on. Where two want the same place, the
// higher term goes first, then the lower id.
func (f *folding) walkSpine() {
	rest := f.spine
	for {
		next := f.successors(rest)
		if len(next) == 0 {
			break
		}
		slices.SortFunc(next, func(a, b *ledger.Record) int {
			return cmp.Or(cmp.Compare(f.terms[b.ID], f.terms[a.ID]), bytes.Compare(a.ID[:], b.ID[:]))
		})
		if len(next) > 1 && f.terms[next[0].ID] == f.terms[next[1].ID] {
			f.s.ContestedSpine = true
		}
		f.s.apply(next[0], f.terms[next[0].ID])
	}
	for _, r := range rest {
		if slices.Contains(f.s.Spine, r.ID) {
			continue
		}
		f.refuse(r, f.offSpine(r))
	}
}

func (f *folding) successors(rest []*ledger.Record) []*ledger.Record {
	var out []*ledger.Record
	for _, r := range rest {
		fleet, _ := f.rosters.Of(r.Device)
		if r.Spine == f.s.Head() && r.Open == f.s.Root.ID && fleet.Fleet == f.s.Open.Fleet &&
			f.terms[r.ID] >= f.s.Term && f.s.spineRule(r) == "" {
			out = append(out, r)
		}
	}
	return out
}

// offSpine says why a spine record was not followed.
func (f *folding) offSpine(r *ledger.Record) string {
	fleet, _ := f.rosters.Of(r.Device)
	switch {
	case r.Open != f.s.Root.ID:
		return "it belongs to another open"
	case fleet.Fleet != f.s.Open.Fleet:
		return "its author is not of the opener's fleet"
	case r.Spine == f.s.Head():
		if rule := f.s.spineRule(r); rule != "" {
			return rule
		}
		return "its term is over"
	case slices.Contains(f.s.Spine, r.Spine):
		return "another record took its place on the spine"
	}
	return "it follows a record that is not on the spine"
}

// apply is what a spine record means. Its permission has been judged.
func (s *State) apply(r *ledger.Record, term uint64) {
	s.Spine = append(s.Spine, r.ID)
	s.Term = term
	switch c := r.Content.(type) {
	case *ledger.Interim:
		s.Phase, s.Pick = Interim, c.Pick
		s.Decided = s.Decided || c.Why == ledger.InterimDecided
	case *ledger.Reassign:
		s.Reassigns++
		s.Round, s.Renewed = c.Round, r.ID
		if c.Why == ledger.ReassignRefill {
			return
		}
		s.AssignFrom, s.AssignWhy = s.Responsible, c.Why
		s.Responsible, s.Assign, s.AssignAt = int(c.To), r.ID, r.At
		if !slices.Contains(s.Successors, int(c.To)) && c.To != s.Open.Resp {
			s.Successors = append(s.Successors, int(c.To))
		}
	case *ledger.Final:
		s.Phase, s.Final = Final, &Outcome{r.ID, r.At, c}
	case *ledger.Closed:
		s.Phase, s.ClosedWhy, s.ClosedAt, s.Skipped = Closed, c.Why, r.At, c.Skipped
	case *ledger.Open, *ledger.Ack, *ledger.Object, *ledger.FinalReady, *ledger.Adopted:
		panic("thread: a leaf or a second open was followed as spine: " + string(r.Kind))
	}
}

// hearLeaves takes each party's last counted statement, final-ready and confirmation, by logical time,
// then id.
func (f *folding) hearLeaves() {
	slices.SortFunc(f.leaves, func(a, b *ledger.Record) int {
		return cmp.Or(cmp.Compare(a.Lam, b.Lam), bytes.Compare(a.ID[:], b.ID[:]))
	})
	for _, r := range f.leaves {
		if rule := f.s.leafRule(r, f.rosters); rule != "" {
			f.refuse(r, rule)
			continue
		}
		party, _ := f.s.Party(r.Device, f.rosters)
		switch c := r.Content.(type) {
		case *ledger.Ack:
			f.s.Statements[party] = Statement{ID: r.ID, Device: r.Device, Re: r.Re[0], At: r.At, Ack: c}
		case *ledger.Object:
			f.s.Statements[party] = Statement{ID: r.ID, Device: r.Device, Re: r.Re[0], At: r.At, Object: c}
		case *ledger.FinalReady:
			f.s.Ready = &Ready{r.ID, r.At, c}
		case *ledger.Adopted:
			if f.s.Adopted[party] == (ledger.ID{}) {
				f.s.Adopted[party] = r.ID
				f.s.Results[party] = c.Results
			}
		}
	}
}
