package simnet

import (
	"fmt"
	"slices"

	"github.com/parley-mesh/parley/conflicts/overlap"
	"github.com/parley-mesh/parley/ledger"
)

// bothEndsAgree: where two developers share live work, the one with all that the other wrote for the lane computes the same
// conflicts between them as the other: the same pair and name, as loud, and the same side waits.
func bothEndsAgree(w *World, s Step) error {
	if w.cfg.Teams == 0 {
		return nil
	}
	for _, c := range w.looked(s) {
		compared := map[ledger.TID]bool{c.fleet: true}
		for _, o := range w.computers {
			here, there := c.worksWith(o.fleet), o.worksWith(c.fleet)
			if compared[o.fleet] || here.out == (ledger.ID{}) || here.in == (ledger.ID{}) || here.out != there.in || here.in != there.out {
				continue
			}
			compared[o.fleet] = true
			if !w.allTold(c.fleet, o.fleet, here.out) || !w.allTold(o.fleet, c.fleet, here.in) {
				continue
			}
			if err := w.sameBetween(c, o, here); err != nil {
				return err
			}
		}
	}
	return nil
}

// ends are the statements under which live work goes out to another developer and comes in, zero for none.
type ends struct{ out, in ledger.ID }

func (c *computer) worksWith(peer ledger.TID) (e ends) {
	for _, l := range c.core.Lanes() {
		if w := l.OurWork(); l.Peer == peer && w.Has(repoID) {
			e.out = w.On
		}
		if w := l.TheirWork(); l.Peer == peer && l.Ours.On && w.Has(repoID) {
			e.in = w.On
		}
	}
	return e
}

// allTold reports whether every computer of a developer tells a lane what it writes: one that has heard of another press
// does not, and one that wrote nothing since this one has not begun to.
func (w *World) allTold(fleet, peer ledger.TID, on ledger.ID) bool {
	for _, f := range w.computers {
		if f.fleet != fleet {
			continue
		}
		if _, told := f.live.told[on]; f.worksWith(peer).out != on || !told && len(f.wrote(ledger.ID{})) > 0 {
			return false
		}
	}
	return true
}

// wrote is what a computer's disk holds of what it wrote at home, or for a lane.
func (c *computer) wrote(share ledger.ID) (all []*ledger.Record) {
	for _, b := range c.books {
		if b.family != ledger.Work || b.share() != share {
			continue
		}
		for _, r := range b.records {
			if r.Device == c.dev {
				all = append(all, r)
			}
		}
	}
	return all
}

// endOf is a fold of what all computers of one developer wrote at home and of another one for the lane, without when it
// came, and when the last of it was written.
func (w *World) endOf(fleet, peer ledger.TID, in ledger.ID) (f *overlap.Fold, last uint64) {
	f = w.newWorkFold()
	f.SetShares(map[ledger.ID]overlap.Share{in: {Fleet: peer}})
	for _, c := range w.computers {
		var records []*ledger.Record
		switch c.fleet {
		case fleet:
			records = c.wrote(ledger.ID{})
		case peer:
			records = c.wrote(in)
		}
		for _, r := range records {
			f.Add(r, r.At)
			last = max(last, r.At)
		}
	}
	return f, last
}

// sameBetween compares what two ends say of conflicts between their developers.
func (w *World) sameBetween(c, o *computer, e ends) error {
	one, last := w.endOf(c.fleet, o.fleet, e.in)
	other, lastThere := w.endOf(o.fleet, c.fleet, e.out)
	now := max(last, lastThere)
	one.Tick(now)
	other.Tick(now)
	a, b := c.between(one, o), o.between(other, c)
	for _, x := range a {
		y, ok := named(b, x.ID)
		switch {
		case !ok:
			return fmt.Errorf("%s finds %s between %s and %s (%s), and %s does not", c, x.Name, x.Sides[0].Ref, x.Sides[1].Ref, x.Kind, o)
		case x.Kind != y.Kind || x.Severity != y.Severity || pairName(x.Sides) != pairName(y.Sides):
			return fmt.Errorf("%s is %s, %s to %s, and %s, %s to %s", x.Name, x.Kind, x.Severity, c, y.Kind, y.Severity, o)
		case len(x.Acts) != len(y.Acts) || !x.Status.Live() || !y.Status.Live():
			continue // what was said of it before the switch is not told
		case x.Blocking != y.Blocking || x.Blocked != y.Blocked:
			return fmt.Errorf("in %s %s waits at %s, and %s at %s", x.Name, x.Blocked.Short(), c, y.Blocked.Short(), o)
		}
	}
	for _, y := range b {
		if _, ok := named(a, y.ID); !ok {
			return fmt.Errorf("%s finds %s between %s and %s (%s), and %s does not", o, y.Name, y.Sides[0].Ref, y.Sides[1].Ref, y.Kind, c)
		}
	}
	return nil
}

// named is the conflict of a name, which is made of its id.
func named(all []overlap.Conflict, id ledger.ID) (overlap.Conflict, bool) {
	i := slices.IndexFunc(all, func(c overlap.Conflict) bool { return c.ID == id })
	if i < 0 {
		return overlap.Conflict{}, false
	}
	return all[i], true
}

// between are the conflicts that a fold finds between two developers now.
func (c *computer) between(f *overlap.Fold, o *computer) (out []overlap.Conflict) {
	for _, one := range c.tampered(slices.Clone(f.Conflicts())) {
		if !one.Present || len(one.Sides) != 2 {
			continue
		}
		x, y := one.Sides[0].Developer, one.Sides[1].Developer
		if x == c.fleet && y == o.fleet || x == o.fleet && y == c.fleet {
			out = append(out, one)
		}
	}
	return out
}
