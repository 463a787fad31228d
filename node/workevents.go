package node

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"slices"
	"time"

	"github.com/parley-mesh/parley/conflicts/overlap"
	"github.com/parley-mesh/parley/detect"
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

// turnsOf are the turns of a conflict in order. That several computers found the same counts once.
func (l *live) turnsOf(id ledger.ID) []turn {
	return slices.CompactFunc(slices.Clone(l.turns[id]), func(a, b turn) bool {
		return a.State == b.State && a.Severity == b.Severity && a.Evidence == b.Evidence
	})
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
// It lets go of the lock between its steps, so that a hook waits for one of them at most; the one after a change of people, rules or lanes is long.
func (l *live) settle(ctx context.Context, now time.Time) {
	l.locked(func() { l.fold.Tick(uint64(now.UnixMilli())) })
	l.settleFold()
	l.locked(l.writeDue)
	l.settleFold()
	told := false
	l.locked(func() {
		before := l.seq
		l.tellRecords()
		l.tellConflicts(now)
		l.ladder(ctx, now)
		told = l.seq != before
	})
	if told {
		l.bell.Ring()
		l.n.changed.Ring()
	}
	l.lookAhead(ctx)
}

// stepsMax bounds the steps of one settling: what comes meanwhile must not keep those waiting who are to be told.
const stepsMax = 2000

// settleFold brings the fold up to date, and lets those go first after each part who wait for a decision.
func (l *live) settleFold() {
	more := true
	for n := 0; more && n < stepsMax; n++ {
		l.locked(func() { more = l.fold.Step() })
		runtime.Gosched()
	}
}

func (l *live) locked(do func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	do()
}

// writeDue writes down what became of the conflicts of this computer's sides. All of it is asked for before anything is
// written, since each record would let everything be settled again.
func (l *live) writeDue() {
	if !l.activeNow() {
		return
	}
	due := l.fold.Due(l.n.id.Device())
	repos := make([]*liveRepo, len(due))
	for i, body := range due {
		c, _ := l.fold.Conflict(body.Conflict)
		repos[i] = l.repoOf(c.Place.Repo)
	}
	for i, body := range due {
		if repos[i] == nil || !l.activeIn(repos[i]) {
			continue
		}
		if _, err := l.write(repos[i], body); err != nil {
			l.failed("finding", err)
		}
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

// stood is a live conflict as it was told last.
type stood struct {
	evidence [16]byte
	severity detect.Severity
	status   overlap.Status // "" of one that was not told
	sentence string
}

func (s stood) differs(c overlap.Conflict) bool {
	return s.evidence != c.Evidence || s.severity != c.Severity || s.status != c.Status
}

// tellConflicts tells of conflicts that came, changed or went since it was told last.
func (l *live) tellConflicts(now time.Time) {
	next := make(map[ledger.ID]stood, len(l.stood))
	for _, c := range l.fold.Conflicts() {
		was, known := l.stood[c.ID]
		if c.Status.Live() {
			next[c.ID] = stood{c.Evidence, c.Severity, c.Status, c.Sentence}
		}
		sentence := c.Sentence
		switch live := c.Status.Live(); {
		case live && was.differs(c):
		case !live && known:
			sentence = was.sentence
		default:
			continue
		}
		l.event(api.LiveEvent{
			At: now, Kind: "conflict", Ref: c.Name, Repository: l.slugOf(c.Place), Severity: c.Severity.String(), Text: fmt.Sprintf("%s: %s", c.Status, sentence),
		})
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
