package simnet

import (
	"fmt"
	"slices"
	"time"

	"github.com/parley-mesh/parley/conflicts/overlap"
	"github.com/parley-mesh/parley/ledger"
	"github.com/parley-mesh/parley/node/core"
)

// shared is a press by which a person shares live work over a lane.
type shared struct {
	from, to ledger.TID
	at       time.Duration
}

// over is when a content that an edit told was another one, and what told that.
type over struct {
	at time.Duration
	by *ledger.Record
}

// knownTo reports whether a computer holds what told it: a disk that went back does not, nor does a copied one.
func (o over) knownTo(c *computer) bool {
	return o.by != nil && c.book(o.by.Ledger) != nil && c.book(o.by.Ledger).have[o.by.ID]
}

// share is the statement that a ledger of live work is written under; zero: at home.
func (b *book) share() ledger.ID {
	for _, r := range b.records {
		if r.Seq == 0 {
			return r.Share
		}
	}
	return ledger.ID{}
}

// noteShare remembers for the checks who shares what.
func (ts *teams) noteShare(c *computer, r *ledger.Record) {
	on, ok := r.Content.(*ledger.LaneOn)
	if !ok || len(on.Live) == 0 {
		return
	}
	for _, t := range ts.all {
		if ledger.LaneID(c.fleet, t.fleet) == r.Ledger {
			ts.live[r.ID] = shared{c.fleet, t.fleet, c.w.now}
		}
	}
}

// shareWork is a person's press: live work is shared over a lane that is on, or no more.
func (c *computer) shareWork(peer ledger.TID) {
	for _, l := range c.core.Lanes() {
		if l.Peer != peer || !l.Ours.On {
			continue
		}
		var live []uint64
		if len(l.Ours.Live) == 0 || oneIn(c.w.rng.people, 2) {
			live = []uint64{repoID}
		}
		c.w.tracef("%s: a person shares live work %v", c, live)
		c.acts([]core.Effect{core.Append{Ledger: l.Ledger, Content: l.ShareWork(live, ledger.NamesKey{}), After: l.After()}})
	}
}

// shares are the statements of others that count on a computer now.
func (c *computer) shares() map[ledger.ID]overlap.Share {
	out := map[ledger.ID]overlap.Share{}
	if c.w.cfg.Teams == 0 {
		return out
	}
	for _, l := range c.core.Lanes() {
		if w := l.TheirWork(); l.Ours.On && w.Has(repoID) {
			out[w.On] = overlap.Share{Fleet: l.Peer}
		}
	}
	return out
}

// forOthers writes what lanes get of a record at home, and first what stands where a lane gets something for the first
// time.
func (c *computer) forOthers(r *ledger.Record) {
	if c.w.cfg.Teams == 0 {
		return
	}
	for _, l := range c.core.Lanes() {
		w := l.OurWork()
		if !w.Has(repoID) {
			continue
		}
		told, ok := c.live.told[w.On]
		if !ok {
			told = c.toldBefore(w.On)
			c.live.told[w.On] = told
			for _, one := range c.beginning(told) {
				c.tells(w.On, one)
			}
		}
		for _, one := range told.Before(c.live.fold, r) {
			c.tells(w.On, one)
		}
		c.tells(w.On, overlap.Statement{For: r.Place(), At: r.At, Body: r.Content})
	}
}

// beginning is what a lane is told first: how things stand.
func (c *computer) beginning(told overlap.Told) (out []overlap.Statement) {
	if !c.w.is(wholeStory) {
		return told.Begin(c.live.fold, c.dev, workPlace)
	}
	for _, r := range c.workRecords() {
		if r.Device == c.dev && r.For == (ledger.Place{}) {
			told.Heard(r)
			out = append(out, overlap.Statement{For: r.Place(), At: r.At, Body: r.Content})
		}
	}
	return out
}

// toldBefore is what this computer's disk says that a lane was told.
func (c *computer) toldBefore(on ledger.ID) overlap.Told {
	told := overlap.Told{}
	for _, b := range c.books {
		if b.family == ledger.Work && b.share() == on {
			for _, r := range b.records {
				if r.Device == c.dev {
					told.Heard(r)
				}
			}
		}
	}
	return told
}

func (c *computer) tells(on ledger.ID, one overlap.Statement) {
	scope := ledger.Scope{Host: host, Repo: repoID, Period: ledger.PeriodOf(c.millis())}
	b := c.open(scope.Shared(on), ledger.Work)
	c.adds(b, ledger.Header{Share: on, Scope: scope, At: one.At, For: one.For}, one.Body)
}

// adds seals the next record of this computer's chain in a ledger of live work, and gossips it.
func (c *computer) adds(b *book, h ledger.Header, body ledger.Body) *ledger.Record {
	head := b.head(ledger.Chain{Device: c.dev, Inc: c.inc})
	h.Ledger, h.Inc, h.Seq, h.Prev, h.Lam = b.tid, c.inc, head.Next, head.ID, max(head.Lam, c.live.fold.Lam())+1
	if h.Seq > 0 {
		h.Scope, h.Share = ledger.Scope{}, ledger.ID{}
	}
	r, err := ledger.Seal(c.key, h, body)
	if err != nil {
		c.w.fault = fmt.Errorf("live work: %w", err)
		return nil
	}
	b.add(r, true)
	c.w.tracef("%s works: %s %s", c, r.Kind, r.ID.Short())
	c.w.mesh.gossip(c, b, r)
	return r
}

// counts reports whether a record of live work counts on this computer: its developer's as it is at home, others' as they
// share it now.
func (c *computer) counts(b *book, r *ledger.Record) bool {
	share := b.share()
	if share == (ledger.ID{}) {
		return true
	}
	_, ok := c.shares()[share]
	return ok && !c.mate(r.Device)
}

// noteEdit remembers for the checks when what an edit says was over.
func (ts *teams) noteEdit(c *computer, r *ledger.Record) {
	e, ok := r.Content.(*ledger.Edit)
	if !ok || ts.over == nil {
		return
	}
	key := e.Holder.String() + string(e.Path)
	if old := ts.stands[key]; old != "" {
		ts.over[old] = over{c.w.now, r}
	}
	ts.stands[key] = e.Blob
}

// onlyWhatIsShared: live work crosses a lane as its developer wrote it for that lane, under a statement of a person there,
// and nothing that was over before (D-26).
func onlyWhatIsShared(w *World, s Step) error {
	for _, m := range s.Sent {
		if m.from.fleet == m.to.fleet || m.record.Family() != ledger.Work {
			continue
		}
		b := m.from.book(m.record.Ledger)
		said, ok := w.teams.live[b.share()]
		ends := []ledger.TID{m.from.fleet, m.to.fleet}
		author := w.fleetOf(m.record.Device)
		switch e, edit := m.record.Content.(*ledger.Edit); {
		case !ok:
			return fmt.Errorf("%s sends a %s to %s that nobody shares", m.from, m.record.Kind, m.to)
		case !slices.Contains(ends, said.from) || !slices.Contains(ends, said.to) || author != said.from:
			return fmt.Errorf("%s sends a %s to %s that was written for another lane", m.from, m.record.Kind, m.to)
		case edit && e.Op != ledger.EditBack && m.from.dev == m.record.Device && w.teams.over[e.Blob].knownTo(m.from) && w.teams.over[e.Blob].at < said.at:
			return fmt.Errorf("%s sends an edit of %s to %s that was over before it was shared", m.from, e.Path, m.to)
		}
	}
	return nil
}

func (w *World) fleetOf(d ledger.Device) (fleet ledger.TID) {
	for _, c := range w.computers {
		if c.dev == d {
			fleet = c.fleet
		}
	}
	return fleet
}
