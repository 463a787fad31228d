package node

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/parley-mesh/parley/conflicts/overlap"
	"github.com/parley-mesh/parley/detect"
	"github.com/parley-mesh/parley/ledger"
	"github.com/parley-mesh/parley/node/api"
	"github.com/parley-mesh/parley/node/internal/excerpt"
)

// How changed lines are asked for. A question is put again no sooner than after a while, and after longer where nothing is
// shown; what was shown is forgotten unless it is shown again.
const (
	seeWait    = 300 * time.Millisecond // that an answer to a person or an agent waits for them at most
	seeAgain   = 2 * time.Second
	seeRefused = time.Minute
	seenFor    = 5 * time.Minute
	seenMax    = 200 // files
	askedMax   = 200 // sessions
	sidePaths  = 4   // of one side of a conflict
	aheadMax   = 16  // conflicts whose lines are asked for before anybody wants them
)

// lines are changed lines of code that pass between computers of one developer. They stand in memory alone. The lock of
// [live] guards them.
type lines struct {
	on    map[string]bool // repositories, owner/name, lower case
	seen  map[linesOf]*shownLines
	asked map[ledger.ID]*asked // by session
}

type linesOf struct {
	session ledger.ID
	path    ledger.Path
}

// shownLines are what a computer showed of one file.
type shownLines struct {
	by   ledger.Device
	at   time.Time
	file ledger.LinesFile
}

// asked is the last question about a session's lines.
type asked struct {
	of      ledger.Device
	at      time.Time
	done    chan struct{} // closed once there is an answer, or none will come
	over    bool
	refused bool
}

func newLines() lines {
	return lines{on: map[string]bool{}, seen: map[linesOf]*shownLines{}, asked: map[ledger.ID]*asked{}}
}

// forget lets go of everything that others showed.
func (x *lines) forget() {
	clear(x.seen)
	clear(x.asked)
}

// forgetOf lets go of what one computer showed or refused.
func (x *lines) forgetOf(d ledger.Device) {
	for key, s := range x.seen {
		if s.by == d {
			delete(x.seen, key)
		}
	}
	for id, a := range x.asked {
		if a.of == d {
			delete(x.asked, id) // an answer that is on its way has no question any more
		}
	}
}

// wish is one file of which lines would be shown: what one side of a conflict has changed there, as its records say.
type wish struct {
	side overlap.Side
	path ledger.Path
	blob ledger.OID
	near uint64 // line of the base
}

// wishes are the files of a conflict that own sides have changed, but for those of one side, in repositories whose switch is
// on here. The caller holds the lock, and need not have settled the fold.
func (l *live) wishes(c *overlap.Conflict, mine ledger.ID) (out []wish) {
	own := l.n.roster.get()
	for _, s := range c.Sides {
		worked := s.Kind == detect.Session || s.Kind == detect.Intent
		if s.ID == mine || !worked || s.Session == (ledger.ID{}) || s.Developer != own.Fleet || !own.Member(s.Device) || !l.linesIn(l.placeOf(s.Place)) {
			continue
		}
		d, paths := l.fold.SettledDigest(s.ID), 0
		if d == nil {
			continue
		}
		for i := range d.Files {
			f := &d.Files[i]
			if paths == sidePaths || !slices.ContainsFunc(c.From, func(from detect.Source) bool { return from.Side == s.Ref && from.Path == f.Path }) {
				continue
			}
			blob, err := ledger.ParseOID(f.Blob)
			if err != nil || ledger.Path(f.Path).Validate() != nil {
				continue
			}
			paths++
			out = append(out, wish{s, ledger.Path(f.Path), blob, l.nearOf(c, s, f)})
		}
	}
	return out
}

// placeOf is a configured repository at a place; nil for another.
func (l *live) placeOf(p overlap.Place) *liveRepo {
	if r := l.repoOf(p.Repo); r != nil && r.Place == p {
		return r
	}
	return nil
}

// nearOf is the line of the base at which a side's changes of a file come nearest to another side's.
func (l *live) nearOf(c *overlap.Conflict, s overlap.Side, f *detect.File) uint64 {
	near, away := uint64(0), uint32(1<<31)
	for _, o := range c.Sides {
		d := l.fold.SettledDigest(o.ID)
		if o.ID == s.ID || o.Place != s.Place || d == nil {
			continue
		}
		for i := range d.Files {
			if d.Files[i].Path != f.Path {
				continue
			}
			for _, a := range f.Hunks {
				for _, b := range d.Files[i].Hunks {
					if gap := gapOf(a, b); gap < away {
						near, away = uint64(a.OldStart), gap
					}
				}
			}
		}
	}
	return near
}

// gapOf is how many lines of the base lie between two changes.
func gapOf(a, b detect.Hunk) uint32 {
	if a.OldStart > b.OldStart {
		a, b = b, a
	}
	return b.OldStart - min(a.OldStart+a.OldLen, b.OldStart)
}

// shown is what is known of the lines of a wish; nil where it is none, or of another content than its records name.
func (l *live) shown(w wish) *ledger.LinesFile {
	s := l.lines.seen[linesOf{w.side.Session, w.path}]
	if s == nil || s.file.Blob != w.blob || s.by != w.side.Device || l.n.wall().Sub(s.at).Abs() > seenFor {
		return nil
	}
	return &s.file
}

// see asks for what is wished and not known, and waits for that, so long at most. Of the questions that are not answered by
// then, what comes serves the next answer. The caller does not hold the lock.
func (l *live) see(ctx context.Context, wishes []wish, wait time.Duration) {
	if len(wishes) == 0 {
		return
	}
	t := time.NewTimer(wait)
	defer t.Stop()
	for _, done := range l.askFor(wishes, wait == 0) {
		if wait == 0 {
			continue
		}
		select {
		case <-done:
		case <-t.C:
			return
		case <-ctx.Done():
			return
		}
	}
}

// askFor puts the questions about what is wished, unless they were just put, and returns what is closed once each is
// answered. Ahead of need it asks a computer that refused less often.
func (l *live) askFor(wishes []wish, ahead bool) (all []<-chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ctx == nil || l.ctx.Err() != nil {
		return nil
	}
	now := l.n.wall()
	wishes = slices.DeleteFunc(slices.Clone(wishes), func(w wish) bool { return l.shown(w) != nil })
	slices.SortStableFunc(wishes, func(a, b wish) int {
		return cmp.Or(slices.Compare(a.side.Session[:], b.side.Session[:]), cmp.Compare(a.path, b.path))
	})
	for len(wishes) > 0 {
		id := wishes[0].side.Session
		n := slices.IndexFunc(wishes, func(w wish) bool { return w.side.Session != id })
		if n < 0 {
			n = len(wishes)
		}
		some := slices.CompactFunc(wishes[:n], func(a, b wish) bool { return a.path == b.path })
		wishes = wishes[n:]
		some = some[:min(len(some), ledger.LinesFilesMax)]
		if done := l.ask(id, some, now, ahead); done != nil {
			all = append(all, done)
		}
	}
	return all
}

// ask puts one question; nil where it was just put. The caller holds the lock.
func (l *live) ask(id ledger.ID, some []wish, now time.Time, ahead bool) <-chan struct{} {
	if a := l.lines.asked[id]; a != nil {
		again := seeAgain
		if ahead && a.refused {
			again = seeRefused
		}
		switch {
		case !a.over:
			return a.done
		case now.Sub(a.at).Abs() < again:
			return nil
		}
	}
	if len(l.lines.asked) >= askedMax {
		clear(l.lines.asked)
	}
	a := &asked{of: some[0].side.Device, at: now, done: make(chan struct{})}
	l.lines.asked[id] = a
	q := ledger.Lines{Holder: id}
	for _, w := range some {
		q.Files = append(q.Files, ledger.LinesOf{Path: w.path, Near: w.near})
	}
	ctx := l.ctx
	l.n.work.Go(func() {
		r, err := l.linesOf(ctx, a.of, q)
		l.locked(func() { l.takeLines(a, q, r, err) })
		close(a.done)
	})
	return a.done
}

// linesOf asks a computer for lines: another one over the mesh, this one itself.
func (l *live) linesOf(ctx context.Context, d ledger.Device, q ledger.Lines) (ledger.LinesReply, error) {
	if d == l.n.id.Device() {
		return l.showLines(ctx, d, q), nil
	}
	return l.n.mesh.AskLines(ctx, d, q)
}

// takeLines takes what a computer showed, as far as it was asked for. The caller holds the lock.
func (l *live) takeLines(a *asked, q ledger.Lines, r ledger.LinesReply, err error) {
	if a.over = true; l.lines.asked[q.Holder] != a {
		return // it counts no more
	}
	if a.refused = err != nil || r.Code != ledger.LinesHere; a.refused {
		if err != nil {
			l.n.slog.Debug("ask for lines", "device", a.of.String(), "error", err)
		}
		return
	}
	now := l.n.wall()
	for key, s := range l.lines.seen {
		if now.Sub(s.at).Abs() > seenFor {
			delete(l.lines.seen, key)
		}
	}
	for i := range r.Files {
		f := &r.Files[i]
		if len(l.lines.seen) >= seenMax || !slices.ContainsFunc(q.Files, func(one ledger.LinesOf) bool { return one.Path == f.Path }) {
			continue
		}
		for _, p := range f.Parts {
			for n, text := range p.Texts {
				p.Texts[n] = text[:1] + excerpt.Plain(text[1:])
			}
		}
		l.lines.seen[linesOf{q.Holder, f.Path}] = &shownLines{by: a.of, at: now, file: *f}
	}
}

// lookAhead asks for the lines of live conflicts of this computer's agents, so that they are here when an agent is told.
func (l *live) lookAhead(ctx context.Context) {
	var wishes []wish
	l.locked(func() {
		if len(l.lines.on) == 0 {
			return
		}
		n := 0
		for _, c := range l.fold.Conflicts() {
			if n == aheadMax || !c.Status.Live() {
				break
			}
			for _, s := range c.Sides {
				if s.Device == l.n.id.Device() && s.Agent != "" && s.Session != (ledger.ID{}) {
					wishes = append(wishes, l.wishes(&c, s.ID)...)
					n++
					break
				}
			}
		}
	})
	l.see(ctx, wishes, 0)
}

// seeConflict asks for the lines of a conflict that somebody looks at, and waits for them a moment.
func (l *live) seeConflict(ctx context.Context, ref string) {
	var wishes []wish
	l.locked(func() {
		if c, err := l.conflictNamed(ref); err == nil && len(l.lines.on) > 0 {
			wishes = l.wishes(&c, ledger.ID{})
		}
	})
	l.see(ctx, wishes, seeWait)
}

// seeSide asks for the lines of the conflicts of a session that wants a briefing, and waits for them a moment.
func (l *live) seeSide(ctx context.Context, who api.Caller) {
	var wishes []wish
	l.locked(func() {
		if len(l.lines.on) == 0 || l.settled() != nil {
			return
		}
		s, side, err := l.callerOf(who)
		if err != nil {
			return
		}
		for _, f := range l.fold.Briefing(s.id).Facts {
			if c, ok := l.fold.Conflict(f.Conflict); ok {
				wishes = append(wishes, l.wishes(&c, side)...)
			}
		}
	})
	l.see(ctx, wishes, seeWait)
}
