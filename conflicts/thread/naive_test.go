package thread

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/parley-mesh/parley/lanes"
	"github.com/parley-mesh/parley/ledger"
)

// naive is a second reading of what a thread's records say, written from the specification's numbered
// steps alone: no sorting into kinds, every question asked of all records anew. Slow, and meant to be.
type naive struct {
	all     []*ledger.Record
	rosters lanes.Rosters
}

// told is what it finds out, in words that can be compared.
func (n naive) told() string {
	followed, forked := n.chains()
	n.all = followed
	out := fmt.Sprintf("opaque %v forked %v", n.opaque(), forked)
	root := n.root()
	if root == nil {
		return out + " none"
	}
	open := root.Content.(*ledger.Open)
	spine := n.spine(root, open)
	v := n.read(root, open, spine)
	out += fmt.Sprintf(" root %v spine", root.ID)
	for _, r := range spine {
		out += " " + r.ID.String()
	}
	out += fmt.Sprintf(" phase %v term %d pick %v decided %v resp %d assign %v round %d n %d why %d",
		v.phase, n.term(spine[len(spine)-1]), v.pick, v.decided, v.resp, v.assign, v.round, v.reassigns, v.why)
	for i := range open.Parties {
		out += fmt.Sprintf(" [%s %s gone %v]", n.statement(root, open, spine, v, i), n.adopted(root, open, v, i), n.gone(root, open, i))
	}
	return out + " ready " + n.ready(root, open, spine, v)
}

func (n naive) opaque() bool {
	return slices.ContainsFunc(n.all, func(r *ledger.Record) bool { return r.Opaque })
}

// at is the record of the lowest id at a place of a chain that continues from before.
func (n naive) at(like, before *ledger.Record) (best *ledger.Record) {
	for _, r := range n.all {
		seq, prev, lam := uint64(0), ledger.ID{}, uint64(0)
		if before != nil {
			seq, prev, lam = before.Seq+1, before.ID, before.Lam
		}
		if r.Device != like.Device || r.Inc != like.Inc || r.Seq != seq {
			continue
		}
		fits := r.Prev == prev && (before == nil || r.Lam > lam && r.Lam-lam <= ledger.LamportJumpMax)
		if fits && (best == nil || bytes.Compare(r.ID[:], best.ID[:]) < 0) {
			best = r
		}
	}
	return best
}

// chains is step 1: every chain from its start to its first gap, by the lowest id at a fork.
func (n naive) chains() (out []*ledger.Record, forked []string) {
	for _, r := range n.all {
		if n.known(r) && !slices.ContainsFunc(out, func(o *ledger.Record) bool { return o.ID == r.ID }) {
			out = append(out, r)
		}
		for _, o := range n.all {
			if r.Device == o.Device && r.Inc == o.Inc && r.Seq == o.Seq && r.ID != o.ID && !slices.Contains(forked, r.Device.String()) {
				forked = append(forked, r.Device.String())
			}
		}
	}
	slices.Sort(forked)
	return out, forked
}

// known reports whether a chain, followed from its start, comes to a record.
func (n naive) known(r *ledger.Record) bool {
	for at := n.at(r, nil); at != nil; at = n.at(r, at) {
		if at.ID == r.ID {
			return true
		}
	}
	return false
}

// counts is the end of step 1 and step 0: the author belongs to a fleet, and was not cut off before.
func (n naive) counts(r *ledger.Record) (lanes.Roster, bool) {
	if r.Content == nil {
		return lanes.Roster{}, false
	}
	for _, f := range n.rosters {
		if f.Ever(r.Device) {
			return f, f.Counts(r)
		}
	}
	return lanes.Roster{}, false
}

// term is step 2; 0 is void.
func (n naive) term(r *ledger.Record) uint64 {
	fleet, ok := n.counts(r)
	if !ok {
		return 0
	}
	term, ok := fleet.Term(r.Claim, r.Device)
	if !ok {
		return 0
	}
	return term
}

// root is step 3.
func (n naive) root() (best *ledger.Record) {
	for _, r := range n.all {
		o, ok := r.Content.(*ledger.Open)
		if !ok || n.term(r) == 0 {
			continue
		}
		fleet, _ := n.counts(r)
		strange := slices.ContainsFunc(o.Parties, func(p ledger.Party) bool { d, dev := p.Device(); return dev && !fleet.Ever(d) })
		if fleet.Fleet != o.Fleet || strange {
			continue
		}
		if best == nil || n.precedes(r, best) {
			best = r
		}
	}
	return best
}

func (n naive) precedes(a, b *ledger.Record) bool {
	x, y := a.Content.(*ledger.Open), b.Content.(*ledger.Open)
	_, xOwn := x.Parties[x.Resp].Device()
	_, yOwn := y.Parties[y.Resp].Device()
	switch {
	case xOwn != yOwn:
		return xOwn
	case x.Fleet != y.Fleet:
		return bytes.Compare(x.Fleet[:], y.Fleet[:]) < 0
	case n.term(a) != n.term(b):
		return n.term(a) > n.term(b)
	}
	return bytes.Compare(a.ID[:], b.ID[:]) < 0
}

// spine is step 4.
func (n naive) spine(root *ledger.Record, open *ledger.Open) []*ledger.Record {
	spine := []*ledger.Record{root}
	for {
		cur, v := spine[len(spine)-1], n.read(root, open, spine)
		var best *ledger.Record
		for _, r := range n.all {
			fleet, _ := n.counts(r)
			if r.Spine != cur.ID || r.Open != root.ID || n.term(r) == 0 || fleet.Fleet != open.Fleet || n.term(r) < n.term(cur) || !v.allows(r, open) {
				continue
			}
			if best == nil || n.term(r) > n.term(best) || n.term(r) == n.term(best) && bytes.Compare(r.ID[:], best.ID[:]) < 0 {
				best = r
			}
		}
		if best == nil {
			return spine
		}
		spine = append(spine, best)
	}
}

// view is what a spine has come to.
type view struct {
	phase     Phase
	pick      []uint64
	decided   bool
	resp      uint64
	assign    ledger.ID
	round     uint64
	reassigns int
	final     *ledger.Record
	why       uint64
}

func (n naive) read(root *ledger.Record, open *ledger.Open, spine []*ledger.Record) view {
	v := view{phase: Opened, resp: open.Resp, assign: root.ID}
	for _, r := range spine[1:] {
		switch c := r.Content.(type) {
		case *ledger.Interim:
			v.phase, v.pick, v.decided = Interim, c.Pick, v.decided || c.Why == 3
		case *ledger.Reassign:
			v.reassigns++
			v.round = c.Round
			if c.Why != 4 {
				v.resp, v.assign = c.To, r.ID
			}
		case *ledger.Final:
			v.phase, v.final = Final, r
		case *ledger.Closed:
			v.phase, v.why = Closed, c.Why
		}
	}
	return v
}

// allows is the permission column of the table of kinds.
func (v view) allows(r *ledger.Record, open *ledger.Open) bool {
	unfinished := v.phase == Opened || v.phase == Interim
	switch c := r.Content.(type) {
	case *ledger.Interim:
		inRange := len(c.Pick) == 0 || c.Pick[len(c.Pick)-1] < uint64(len(open.Files))
		return inRange && (v.phase == Opened || v.phase == Interim && c.Why == 3 && !v.decided)
	case *ledger.Reassign:
		round := v.round
		if c.Why == 3 || c.Why == 4 {
			round++
		}
		return unfinished && c.To < uint64(len(open.Parties)) && v.reassigns < 16 && c.Round == round && (c.Why != 4 || c.To == v.resp)
	case *ledger.Final:
		return unfinished && len(c.Files) == len(open.Files)
	case *ledger.Closed:
		return v.phase != Closed
	}
	return false
}

func (n naive) gone(root *ledger.Record, open *ledger.Open, i int) bool {
	fleet, _ := n.counts(root)
	d, own := open.Parties[i].Device()
	return own && !fleet.Member(d)
}

// of reports whether a record of this thread speaks for a party.
func (n naive) of(r, root *ledger.Record, open *ledger.Open, i int) bool {
	fleet, ok := n.counts(r)
	if !ok || r.Open != root.ID {
		return false
	}
	if f, lane := open.Parties[i].Fleet(); lane {
		return f == fleet.Fleet && f != open.Fleet
	}
	d, _ := open.Parties[i].Device()
	return d == r.Device && fleet.Fleet == open.Fleet
}

// last is step 5: the last by logical time and id of what is wanted.
func (n naive) last(want func(*ledger.Record) bool) (best *ledger.Record) {
	for _, r := range n.all {
		if want(r) && (best == nil || r.Lam > best.Lam || r.Lam == best.Lam && bytes.Compare(r.ID[:], best.ID[:]) > 0) {
			best = r
		}
	}
	return best
}

func (n naive) statement(root *ledger.Record, open *ledger.Open, spine []*ledger.Record, v view, i int) string {
	r := n.last(func(r *ledger.Record) bool {
		if !n.of(r, root, open, i) {
			return false
		}
		switch c := r.Content.(type) {
		case *ledger.Ack:
			return len(c.Classes) == len(open.Files) && r.Re[0] == root.ID
		case *ledger.Object:
			ends := len(c.Files) == 0 || c.Files[len(c.Files)-1].File < uint64(len(open.Files))
			answers := slices.ContainsFunc(spine, func(s *ledger.Record) bool { return s.ID == r.Re[0] })
			return ends && answers && (c.Why != 3 || uint64(i) == v.resp)
		}
		return false
	})
	return name(r)
}

func (n naive) ready(root *ledger.Record, open *ledger.Open, _ []*ledger.Record, v view) string {
	return name(n.last(func(r *ledger.Record) bool {
		c, ok := r.Content.(*ledger.FinalReady)
		return ok && n.of(r, root, open, int(v.resp)) && r.Re[0] == v.assign && len(c.Files) == len(open.Files)
	}))
}

func (n naive) adopted(root *ledger.Record, open *ledger.Open, v view, i int) string {
	if v.final == nil {
		return "-"
	}
	var best *ledger.Record
	for _, r := range n.all {
		c, ok := r.Content.(*ledger.Adopted)
		if !ok || !n.of(r, root, open, i) || r.Re[0] != v.final.ID || len(c.Results) != len(open.Files) {
			continue
		}
		if best == nil || r.Lam < best.Lam || r.Lam == best.Lam && bytes.Compare(r.ID[:], best.ID[:]) < 0 {
			best = r
		}
	}
	return name(best)
}

func name(r *ledger.Record) string {
	if r == nil {
		return "-"
	}
	return r.ID.String()
}

// told is a folded state in the same words.
func told(s *State) string {
	var forked []string
	for _, d := range s.Forked {
		forked = append(forked, d.String())
	}
	slices.Sort(forked)
	out := fmt.Sprintf("opaque %v forked %v", s.Opaque, slices.Compact(forked))
	if s.Open == nil {
		return out + " none"
	}
	out += fmt.Sprintf(" root %v spine", s.Root.ID)
	for _, id := range s.Spine {
		out += " " + id.String()
	}
	out += fmt.Sprintf(" phase %v term %d pick %v decided %v resp %d assign %v round %d n %d why %d",
		s.Phase, s.Term, s.Pick, s.Decided, s.Responsible, s.Assign, s.Round, s.Reassigns, s.ClosedWhy)
	or := func(id ledger.ID) string {
		if id == (ledger.ID{}) {
			return "-"
		}
		return id.String()
	}
	for i := range s.Open.Parties {
		out += fmt.Sprintf(" [%s %s gone %v]", or(s.Statements[i].ID), or(s.Adopted[i]), s.Gone[i])
	}
	ready := "-"
	if s.Ready != nil {
		ready = s.Ready.ID.String()
	}
	return strings.TrimSpace(out + " ready " + ready)
}
