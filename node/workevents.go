package node

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/parley-mesh/parley/conflicts/overlap"
	"github.com/parley-mesh/parley/ledger"
	"github.com/parley-mesh/parley/node/api"
)

// Bounds of what those who watch can look back at, and of what waits to be told to them.
const (
	eventsMax = 1000
	freshMax  = 2000
	turnsKept = 50 // of one conflict
)

// turn is one word on whether a conflict is there.
type turn struct {
	*ledger.Found
	id  ledger.ID
	lam uint64
	at  uint64
}

func (t turn) compare(o turn) int {
	return cmp.Or(cmp.Compare(t.lam, o.lam), slices.Compare(t.id[:], o.id[:]))
}

// noteRecord remembers a record that was folded, for those who watch. The caller holds the lock.
func (l *live) noteRecord(r *ledger.Record) {
	l.noteTurn(r)
	if len(l.fresh) < freshMax {
		l.fresh = append(l.fresh, r)
	}
}

func (l *live) noteTurn(r *ledger.Record) {
	found, ok := r.Content.(*ledger.Found)
	if !ok {
		return
	}
	t := turn{found, r.ID, r.Lam, r.At}
	list := l.turns[found.Conflict]
	at, there := slices.BinarySearchFunc(list, t, turn.compare)
	if there {
		return
	}
	list = slices.Insert(list, at, t)
	l.turns[found.Conflict] = list[max(0, len(list)-turnsKept):]
}

// settle brings what was heard to its consequences: what is due is written down, and those who watch or wait are told.
func (l *live) settle(ctx context.Context, now time.Time) {
	l.mu.Lock()
	l.fold.Tick(uint64(now.UnixMilli()))
	for _, body := range l.fold.Due(l.n.id.Device()) {
		c, _ := l.fold.Conflict(body.Conflict)
		if r := l.repoOf(c.Place.Repo); r != nil && l.activeIn(r) {
			if _, err := l.write(r, body); err != nil {
				l.failed("finding", err)
			}
		}
	}
	l.fold.Settle()
	before := l.seq
	l.tellRecords()
	l.tellConflicts(now)
	l.ladder(ctx, now)
	told := l.seq != before
	l.mu.Unlock()
	if told {
		l.bell.Ring()
		l.n.changed.Ring()
	}
}

// tellRecords makes events of what was folded.
func (l *live) tellRecords() {
	fresh := l.fresh
	l.fresh = nil
	for _, r := range fresh {
		if e, ok := l.eventOf(r); ok {
			l.event(e)
		}
	}
}

func (l *live) event(e api.LiveEvent) {
	l.seq++
	e.Seq = l.seq
	l.events = append(l.events, e)
	if n := len(l.events) - eventsMax; n > 0 {
		l.events = slices.Clone(l.events[n:])
	}
}

// eventOf tells of one record; false where there is nothing to tell.
func (l *live) eventOf(r *ledger.Record) (e api.LiveEvent, ok bool) {
	e.At = moment(r.At)
	side := func(id ledger.ID) {
		s, known := l.fold.Side(id)
		e.Ref, e.Who, e.Repository, ok = s.Ref, s.Label, l.slugOf(s.Place), known
	}
	switch c := r.Content.(type) {
	case *ledger.Session:
		side(orFirst(c.First, r.Place().ID))
		e.Kind, e.Text = "session", "is at work"
		if c.State == ledger.SessionEnded {
			e.Text = "has ended"
		} else if c.First != (ledger.ID{}) {
			return e, false // it only goes on
		}
	case *ledger.Intent:
		side(orFirst(c.First, r.Place().ID))
		e.Kind, e.Text = "intent", [...]string{ledger.IntentLive: "", ledger.IntentMerged: "merged: ", ledger.IntentAbandoned: "abandoned: "}[c.State]+quoted(c.Task)
	case *ledger.Edit:
		side(c.Holder)
		e.Kind, e.Text = "edit", opWords[c.Op]+" "+l.shownPath(r, c.Path)
	case *ledger.Attempt:
		side(c.Session)
		if ok = ok && len(c.Paths) > 0; ok {
			e.Kind, e.Text = "edit", "waits to edit "+l.shownPath(r, c.Paths[0].Path)
		}
	case *ledger.Message:
		if side(c.From); !ok {
			e.Who, ok = "a person", true
		}
		e.Kind, e.Text = "message", quoted(c.Text)
	case *ledger.Branch:
		e.Kind, e.Ref, ok, e.Text = "branch", c.Name, true, "was pushed"
		if c.Gone {
			e.Text = "is gone"
		}
	case *ledger.Act:
		conflict, known := l.fold.Conflict(c.Conflict)
		e.Kind, e.Ref, e.Repository, e.Text, ok = "act", conflict.Name, l.slugOf(conflict.Place), overlap.WordOf(c.Action), known
		if s, known := l.fold.Side(c.Side); known {
			e.Who = s.Label
		}
	}
	return e, ok
}

// shownPath is the path in a record, as far as its name is shown here.
func (l *live) shownPath(r *ledger.Record, path ledger.Path) string {
	scope, _ := l.n.workBook.scope(r.Ledger)
	return l.fold.Shown(scope.share, string(path))
}

var opWords = [...]string{
	ledger.EditModify: "changed", ledger.EditAdd: "added", ledger.EditDelete: "deleted", ledger.EditRename: "renamed", ledger.EditBack: "put back",
}

func orFirst(first, id ledger.ID) ledger.ID {
	if first == (ledger.ID{}) {
		return id
	}
	return first
}

// tellConflicts tells of conflicts that came, changed or went since it was told last.
func (l *live) tellConflicts(now time.Time) {
	next := map[ledger.ID]overlap.Conflict{}
	for _, c := range l.fold.Conflicts() {
		was, stood := l.stood[c.ID]
		if c.Status.Live() {
			next[c.ID] = c
		}
		e := api.LiveEvent{At: now, Kind: "conflict", Ref: c.Name, Repository: l.slugOf(c.Place), Severity: c.Severity.String()}
		switch {
		case c.Status.Live() && (!stood || was.Evidence != c.Evidence || was.Severity != c.Severity || was.Status != c.Status):
			e.Text = fmt.Sprintf("%s: %s", c.Status, c.Sentence)
		case stood && !c.Status.Live():
			e.Text = fmt.Sprintf("%s: %s", c.Status, was.Sentence)
		default:
			continue
		}
		l.event(e)
	}
	l.stood = next
}

// Watch returns what happened after a number as soon as something did.
func (l *live) Watch(ctx context.Context, after uint64, most int) ([]api.LiveEvent, error) {
	for {
		changed := l.bell.Changed()
		l.mu.Lock()
		if !l.activeNow() {
			l.mu.Unlock()
			return nil, api.ErrAgentsOff
		}
		out := l.since(after, most)
		l.mu.Unlock()
		if len(out) > 0 || after == 0 {
			return out, nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return []api.LiveEvent{}, nil
		case <-l.n.stopped:
			return nil, errStopping
		}
	}
}

func (l *live) since(after uint64, most int) []api.LiveEvent {
	i, _ := slices.BinarySearchFunc(l.events, after+1, func(e api.LiveEvent, seq uint64) int { return cmp.Compare(e.Seq, seq) })
	if after == 0 {
		i = max(0, len(l.events)-most)
	}
	some := l.events[i:]
	return slices.Clone(some[:min(len(some), max(most, 0))])
}
