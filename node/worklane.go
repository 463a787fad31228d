package node

import (
	"slices"

	"github.com/parley-mesh/parley/conflicts/overlap"
	"github.com/parley-mesh/parley/lanes"
	"github.com/parley-mesh/parley/ledger"
)

// sharing is what one lane gets of this computer's live work in one repository: records of their own, from the switch on.
type sharing struct {
	peer ledger.TID
	work lanes.LiveWork
	told overlap.Told
}

// shareKey names one by the statement that switched it on.
type shareKey struct {
	on   ledger.ID
	repo uint64
}

// setShares brings to the fold what others share by now, and begins to tell others what this end shares. The caller
// holds the lock.
func (l *live) setShares() {
	if !l.loaded {
		return
	}
	theirs, ours := map[ledger.ID]overlap.Share{}, map[shareKey]*sharing{}
	for _, lane := range l.n.lanes.get() {
		if w := lane.TheirWork(); lane.Ours.On && len(w.Repositories) > 0 {
			theirs[w.On] = overlap.Share{Fleet: lane.Peer, Names: w.Names}
		}
		w := lane.OurWork()
		for _, repo := range w.Repositories {
			key := shareKey{w.On, repo}
			if ours[key] = l.shares[key]; ours[key] == nil {
				ours[key] = &sharing{peer: lane.Peer, work: w, told: l.toldBefore(key)}
			}
		}
	}
	l.fold.SetShares(theirs)
	l.shares = ours
	for _, r := range l.repos {
		for _, s := range l.sharedWith(r) {
			for _, one := range s.told.Begin(l.fold, l.n.id.Device(), r.Place) {
				l.tell(s, r, one)
			}
		}
	}
}

// sharedWith are the lanes that get what is written about a repository.
func (l *live) sharedWith(r *liveRepo) (out []*sharing) {
	for key, s := range l.shares {
		if key.repo == r.Repo {
			out = append(out, s)
		}
	}
	slices.SortFunc(out, func(a, b *sharing) int { return slices.Compare(a.work.On[:], b.work.On[:]) })
	return out
}

// toldBefore is what earlier processes of this computer told a lane.
func (l *live) toldBefore(key shareKey) overlap.Told {
	told := overlap.Told{}
	for _, s := range l.n.workBook.all() {
		if s.share != key.on || s.Repo != key.repo {
			continue
		}
		records, err := l.n.store.Records(s.ledger())
		if err != nil {
			l.n.slog.Debug("read what a lane was told", "error", err)
		}
		for _, r := range records {
			if r.Device == l.n.id.Device() {
				told.Heard(r)
			}
		}
	}
	return told
}

// share writes for each lane what it gets of a record of this computer. The caller holds the lock.
func (l *live) share(r *liveRepo, record *ledger.Record) {
	for _, s := range l.sharedWith(r) {
		for _, one := range s.told.Before(l.fold, record) {
			l.tell(s, r, one)
		}
		if body := l.bodyFor(s, record.Content); body != nil {
			l.tell(s, r, overlap.Statement{For: record.Place(), At: record.At, Body: body}, l.answered(s, record)...)
		}
	}
}

// bodyFor is what a lane gets of what was said, nil for nothing: a message is for its receivers, and so is what is noted
// on a conflict. What is found of third developers' work is for them.
func (l *live) bodyFor(s *sharing, body ledger.Body) ledger.Body {
	hides := s.work.Names != ledger.NamesKey{}
	theirs := func(id ledger.ID) bool { return l.fold.DeveloperOf(id) == s.peer }
	switch c := body.(type) {
	case *ledger.Message:
		if hides && len(c.To) == 0 || len(c.To) > 0 && !slices.ContainsFunc(c.To, theirs) {
			return nil
		}
	case *ledger.Found:
		if hides && !slices.ContainsFunc(c.Sides, theirs) || l.third(s, c.Conflict, c.Sides...) {
			return nil
		}
	case *ledger.Act:
		part := slices.Contains(l.fold.DevelopersIn(c.Conflict), s.peer)
		if hides && !part {
			return nil
		}
		if !part && (c.Action != ledger.ActRequestOverride || l.third(s, c.Conflict)) {
			bare := *c
			bare.Note = ""
			return &bare
		}
	}
	return body
}

// third reports whether a conflict, or one of some sides, is of a developer at neither end of a lane. A branch that is
// nobody's is of none.
func (l *live) third(s *sharing, conflict ledger.ID, sides ...ledger.ID) bool {
	developers := l.fold.DevelopersIn(conflict)
	for _, id := range sides {
		developers = append(developers, l.fold.DeveloperOf(id))
	}
	return slices.ContainsFunc(developers, func(who ledger.TID) bool {
		return !l.atEnd(s, who) && l.fold.DeveloperOf(ledger.ID(who)) != who
	})
}

// atEnd reports whether a fleet is at an end of a lane; no fleet counts as one.
func (l *live) atEnd(s *sharing, fleet ledger.TID) bool {
	return fleet == ledger.TID{} || fleet == l.n.fleet || fleet == s.peer
}

// tell writes one record for a lane. It stands for what was said at home, which is folded already.
func (l *live) tell(s *sharing, r *liveRepo, one overlap.Statement, re ...ledger.ID) {
	one.Body = l.withoutThird(s, one.Body)
	if s.work.Names != (ledger.NamesKey{}) {
		if one.Body = overlap.Hide(one.Body, s.work.Names, editBytesMax); one.Body == nil {
			return
		}
	}
	h := ledger.Header{Re: re, At: one.At, For: one.For}
	if _, err := l.seal(r, s.work.On, h, one.Body); err != nil {
		l.failed("record for a lane", err)
	}
}

// withoutThird leaves out of a body which other developers there are than those of the lane, and what is theirs.
func (l *live) withoutThird(s *sharing, body ledger.Body) ledger.Body {
	strange := func(id ledger.ID) bool {
		who := l.fold.DeveloperOf(id)
		return who == ledger.TID{} || !l.atEnd(s, who)
	}
	switch c := body.(type) {
	case *ledger.Branch:
		if !l.atEnd(s, c.Of) {
			bare := *c
			bare.Of = ledger.TID{}
			return &bare
		}
	case *ledger.Message:
		bare := *c
		bare.To = slices.DeleteFunc(slices.Clone(c.To), strange)
		return &bare
	case *ledger.Intent:
		bare := *c
		bare.Depends = slices.DeleteFunc(slices.Clone(c.Depends), strange)
		return &bare
	}
	return body
}

// answered are those of the messages that one answers which the lane was told, or which its other end wrote.
func (l *live) answered(s *sharing, record *ledger.Record) []ledger.ID {
	if len(record.Re) == 0 {
		return nil
	}
	known := map[ledger.ID]bool{}
	for _, m := range l.fold.Messages() {
		known[m.ID] = m.Who.Fleet == s.peer || m.Who.Fleet == l.n.fleet && l.bodyFor(s, &ledger.Message{To: m.To}) != nil
	}
	return slices.DeleteFunc(slices.Clone(record.Re), func(id ledger.ID) bool { return !known[id] })
}

// heardThere reports whether a record that came is of somebody else's work, and folded: what this developer's computers
// wrote for lanes says nothing that is not said at home.
func (l *live) heardThere(r *ledger.Record) bool {
	return r.For == ledger.Place{} || !l.n.roster.get().Ever(r.Device)
}
