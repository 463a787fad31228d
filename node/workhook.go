package node

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/parley-mesh/parley/conflicts/overlap"
	"github.com/parley-mesh/parley/detect"
	"github.com/parley-mesh/parley/ledger"
	"github.com/parley-mesh/parley/node/internal/hooks"
	"github.com/parley-mesh/parley/node/internal/worktree"
)

var _ hooks.Judge = (*live)(nil)

// Judge answers one moment of an agent's session from memory. Where nothing is known, it has no opinion: an agent is never
// in the way of its own work.
func (l *live) Judge(ctx context.Context, e hooks.Event) hooks.Decision {
	if !l.active() {
		return hooks.Allow()
	}
	at := l.spotAt(ctx, e.Cwd)
	edits := l.editsOf(ctx, e)
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.sessionOf(e, at)
	if s == nil {
		return hooks.Allow()
	}
	s.seen, s.spot.used = l.n.wall(), l.n.wall()
	if e.Wake.Socket != "" {
		s.wake = e.Wake
	}
	switch e.Kind {
	case hooks.Start, hooks.Prompt:
		s.shell = 0 // a turn that was broken off does not say how its command ended
		l.turnOver(s, s.seen)
		l.begin(s)
		return l.brief(s, e.Kind == hooks.Start && e.Source != "resume")
	case hooks.BeforeEdit:
		return l.beforeEdit(s, e, edits)
	case hooks.BeforeShell:
		s.shell++
		return l.beforeEdit(s, e, edits)
	case hooks.AfterEdit:
		l.afterEdit(s, e.Call, edits, true)
		return l.between(s)
	case hooks.FailedEdit:
		l.afterEdit(s, e.Call, edits, false)
		return l.between(s)
	case hooks.AfterShell:
		s.shell, s.ran = max(0, s.shell-1), s.seen
		s.spot.kickSoon()
		l.afterEdit(s, e.Call, edits, true)
		return l.between(s)
	case hooks.TurnEnd:
		s.shell = 0
		l.turnOver(s, s.seen)
		return l.atTurnEnd(s, e.Again)
	case hooks.End:
		l.endSession(s)
	}
	return hooks.Allow()
}

// active reports whether live work is looked after: a switch of this computer is on, or a lane shares it (D-27).
func (l *live) active() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.activeNow()
}

// sessionOf is the session that an event is about, new at its first one. A session stays in the checkout in which it
// began, wherever its agent goes meanwhile; what starts anew elsewhere is another one. The caller holds the lock.
func (l *live) sessionOf(e hooks.Event, at *spot) *session {
	key := sessionKey{string(e.Agent), e.Session}
	s := l.sessions[key]
	if s != nil && s.spot == nil && at != nil && s.top == at.at.Top {
		l.session(key, at)
	}
	if s != nil && s.spot != nil && !s.spot.gone && !(e.Kind == hooks.Start && at != nil && at != s.spot) {
		if s.ended && e.Kind != hooks.End {
			l.sign(s) // it was resumed
		}
		return s
	}
	if at == nil {
		return nil
	}
	return l.session(key, at)
}

// begin writes a session down once it is known what its edits are counted from.
func (l *live) begin(s *session) {
	if s.spot.looks > 0 {
		l.sign(s)
		l.fold.Settle()
	}
}

// hookEdit is one path that an event names.
type hookEdit struct {
	spot *spot
	path string
	op   detect.Op
}

// editsOf finds the checkouts of the paths that an event names. It may run git for a checkout that was never seen, so the
// caller does not hold the lock.
func (l *live) editsOf(ctx context.Context, e hooks.Event) (out []hookEdit) {
	for _, p := range e.Paths {
		if !filepath.IsAbs(p) {
			p = filepath.Join(e.Cwd, p)
		}
		p = filepath.Join(worktree.Real(filepath.Dir(p)), filepath.Base(p))
		at := l.spotAt(ctx, nearest(filepath.Dir(p)))
		if at == nil {
			continue
		}
		if rel, ok := at.within(p); ok {
			op := detect.Modify
			if !exists(p) {
				op = detect.Add
			}
			out = append(out, hookEdit{at, rel, op})
		}
	}
	return out
}

// nearest is the nearest directory that is there.
func nearest(dir string) string {
	for !exists(dir) && filepath.Dir(dir) != dir {
		dir = filepath.Dir(dir)
	}
	return dir
}

// where is the session to which an edit belongs: one in another checkout than the session's own belongs to a part of it
// that works there.
func (l *live) where(s *session, e hookEdit) *session {
	if e.spot == s.spot || e.spot.gone {
		return s
	}
	o := l.session(sessionKey{s.key.agent, s.key.name + "@" + e.spot.at.Top}, e.spot)
	if o == nil {
		return s
	}
	o.parent = s
	l.begin(o)
	return o
}

// beforeEdit decides about edits, or about a command that names them.
func (l *live) beforeEdit(s *session, e hooks.Event, edits []hookEdit) hooks.Decision {
	l.signNow(s)
	by, order := map[*session][]detect.Upcoming{}, []*session{s}
	for _, e := range edits {
		o := l.where(s, e)
		if o != s && by[o] == nil {
			order = append(order, o)
			l.signNow(o)
		}
		by[o] = append(by[o], detect.Upcoming{Path: e.path, Op: e.op})
	}
	var texts []string
	worst := overlap.Allow
	for _, o := range order {
		if o.id == (ledger.ID{}) {
			continue
		}
		d := l.fold.Decide(o.id, by[o])
		worst = max(worst, d.Verdict)
		texts = append(texts, l.words(s, o, d)...)
		l.attempt(o, by[o], d.Verdict == overlap.Block)
	}
	texts = append(texts, l.elsewhere(s, order[1:])...)
	if e.Unread {
		texts = append(texts, fmt.Sprintf("Only the first %d of the files that this names were checked.", len(e.Paths)))
	}
	if worst != overlap.Block { // what is refused is not made
		for _, one := range edits {
			one.spot.trying(one.path, try{by: l.where(s, one), call: e.Call})
		}
	}
	return l.say(s, worst, texts)
}

// signNow writes a session down even before its checkout was looked at: a decision needs it.
func (l *live) signNow(s *session) {
	if s.id == (ledger.ID{}) || s.ended {
		l.sign(s)
		l.fold.Settle()
	}
}

// words are what a decision tells: what blocks each time, everything else once for each change.
func (l *live) words(s, o *session, d overlap.Decision) (out []string) {
	for i := range d.Conflicts {
		c := &d.Conflicts[i]
		blocks := d.Verdict == overlap.Block && c.Blocking
		if c.Severity < detect.Warn || !s.tell(c.Fact()) && !blocks {
			continue
		}
		out = append(out, c.Words(l.sideOf(o)))
	}
	return out
}

// sideOf is the side that a session works for, as it was settled last. The caller holds the lock.
func (l *live) sideOf(s *session) ledger.ID {
	if v, ok := l.fold.SettledSide(s.id); ok && v.Intent != (ledger.ID{}) {
		return v.Intent
	}
	return s.id
}

// attempt lets the other side know of an edit that was refused, and that it is over.
func (l *live) attempt(s *session, upcoming []detect.Upcoming, blocked bool) {
	var trying []ledger.Trying
	if blocked {
		for _, u := range upcoming {
			trying = append(trying, ledger.Trying{Path: ledger.Path(u.Path), Op: uint64(u.Op)})
		}
		slices.SortFunc(trying, func(a, b ledger.Trying) int { return strings.Compare(string(a.Path), string(b.Path)) })
		trying = slices.CompactFunc(trying, func(a, b ledger.Trying) bool { return a.Path == b.Path })
		trying = trying[:min(len(trying), ledger.AttemptsMax)]
	} else if len(upcoming) == 0 || len(s.trying) == 0 {
		return
	}
	now := l.n.wall()
	if slices.Equal(trying, s.trying) && now.Sub(s.tried) < attemptAgain {
		return
	}
	if _, err := l.write(s.repo, &ledger.Attempt{Session: s.id, Paths: trying}); err != nil {
		l.failed("attempt", err)
		return
	}
	s.trying, s.tried, s.wrote = trying, now, now
}

// attemptAgain is after how long an edit that goes on being refused is told anew.
const attemptAgain = 5 * time.Minute

// elsewhere tells that edits land in another checkout than the one that the session works in, once for each.
func (l *live) elsewhere(s *session, others []*session) (out []string) {
	for _, o := range others {
		if s.tell("elsewhere:" + o.top) {
			out = append(out, "This edit lands in another checkout than the one that this session works in: "+o.top+" (branch "+orNone(o.spot.branch)+"), not "+s.top+".")
		}
	}
	return out
}

func orNone(s string) string {
	if s == "" {
		return "none"
	}
	return s
}

// say answers with what there is to tell.
func (l *live) say(s *session, v overlap.Verdict, texts []string) hooks.Decision {
	if len(texts) == 0 {
		return hooks.Allow()
	}
	d := hooks.Warn(strings.Join(texts, "\n"))
	if v == overlap.Block {
		d.Verdict = hooks.VerdictBlock
	}
	d.Told = l.underway(s)
	return d
}

// afterEdit lets what was edited be looked at, also where the agent says that the edit failed.
func (l *live) afterEdit(s *session, call string, edits []hookEdit, made bool) {
	for _, e := range edits {
		t := try{by: l.where(s, e), call: call}
		if made {
			e.spot.touch(e.path, t)
		} else {
			e.spot.tried(e.path, t)
		}
		e.spot.kick(e.path)
	}
}

// kickSoon lets a spot be looked at after a command; where there is a doorbell, that says what to look at.
func (s *spot) kickSoon() {
	if s.partial {
		s.whole = true
	}
	ring(s.kicks)
}
