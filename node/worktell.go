package node

import (
	"fmt"
	"slices"
	"strings"

	"github.com/parley-mesh/parley/conflicts/overlap"
	"github.com/parley-mesh/parley/node/internal/hooks"
)

// toldMax is how many facts are remembered as told to a session, the newest.
const toldMax = 400

// told are the keys of the facts that a session was told, oldest first: each is told once for each change.
type told []string

// add notes that a fact is told now; false when it was before.
func (t *told) add(key string) bool {
	if slices.Contains(*t, key) {
		return false
	}
	*t = append(*t, key)
	if n := len(*t) - toldMax; n > 0 {
		*t = slices.Clone((*t)[n:])
	}
	return true
}

// tell notes that a fact is told now; false when it was before. The caller holds the lock.
func (s *session) tell(key string) bool {
	if !s.told.add(key) {
		return false
	}
	s.fresh = append(s.fresh, key)
	return true
}

// sure is what an agent was told for certain.
func (s *session) sure() told {
	return slices.DeleteFunc(slices.Clone(s.told), func(key string) bool { return s.unsure[key] != nil })
}

// receipt are facts on their way to an agent. They count as told, and are not kept until the agent has them: one that
// went on without the answer is told at its next moment.
type receipt struct {
	l    *live
	s    *session
	keys []string
}

// underway is the receipt of what the answer in the making tells; nil of nothing. The caller holds the lock.
func (l *live) underway(s *session) hooks.Told {
	if len(s.fresh) == 0 {
		return nil
	}
	r := &receipt{l, s, s.fresh}
	if s.fresh = nil; s.unsure == nil {
		s.unsure = map[string]*receipt{}
	}
	for _, key := range r.keys {
		s.unsure[key] = r
	}
	return r
}

// Seen says that the agent has it.
func (r *receipt) Seen() {
	r.l.mu.Lock()
	defer r.l.mu.Unlock()
	r.settle()
	r.l.keepSession(r.s)
}

// Lost says that the agent went on without it.
func (r *receipt) Lost() {
	r.l.mu.Lock()
	defer r.l.mu.Unlock()
	lost := r.settle()
	r.s.told = slices.DeleteFunc(r.s.told, func(key string) bool { return slices.Contains(lost, key) })
	ring(r.l.news) // somebody may have to be woken
}

// settle lists what of it is still underway, and ends that.
func (r *receipt) settle() (keys []string) {
	for _, key := range r.keys {
		if r.s.unsure[key] == r {
			delete(r.s.unsure, key)
			keys = append(keys, key)
		}
	}
	return keys
}

// brief tells a session what it does not know yet. At its start that begins with where it is.
func (l *live) brief(s *session, start bool) hooks.Decision {
	if start {
		s.told = slices.DeleteFunc(s.told, func(key string) bool { return !strings.HasPrefix(key, "message:") }) // its context is new
	}
	l.fold.Settle()
	texts := l.facts(s, lowestRank)
	if near := l.near(s); start && len(texts) == 0 && near != "" {
		texts = append(texts, near)
	}
	return l.say(s, overlap.Warn, texts)
}

// Ranks of facts as [overlap.Briefing] has them: up to which a fact is told between an agent's steps, and at its turn's
// end.
const (
	messageRank = 3
	warningRank = 5
	lowestRank  = 99
)

// facts are what a session was not told yet, of a rank up to the given one, as it was settled last: a step of an agent does
// not wait for what came this moment.
func (l *live) facts(s *session, rank int) (texts []string) {
	var quotes []string
	room := quoteFiles
	for _, o := range l.parts(s) {
		b := l.fold.SettledBriefing(o.id)
		for _, f := range b.Facts {
			if f.Rank <= rank && s.tell(f.Key) {
				texts = append(texts, quoted(f.Text))
			}
			if rank < warningRank || !slices.Contains(s.told, f.Key) || slices.Contains(s.told, linesFact(f)) {
				continue // lines alone put no turn's end off, and come once
			}
			more := l.quote(f.Conflict, b.Side.ID, &room)
			if quotes = append(quotes, more...); len(more) > 0 {
				s.tell(linesFact(f))
			}
		}
	}
	return append(texts, quotes...)
}

// linesFact is the key of the lines that a fact is about: they may come later than it, and are told once for each change
// of it too.
func linesFact(f overlap.Fact) string { return "lines:" + f.Key }

// parts are a session and its work in other checkouts.
func (l *live) parts(s *session) []*session {
	out := []*session{s}
	for _, key := range l.sessionKeys() {
		if o := l.sessions[key]; o.parent == s && !o.ended {
			out = append(out, o)
		}
	}
	return out
}

// quoted keeps what others wrote on one line each, so that nothing of it can look like a line of parley's own.
func quoted(text string) string {
	return strings.Join(strings.FieldsFunc(text, func(r rune) bool { return r == '\n' || r == '\r' || r == '\u2028' || r == '\u2029' }), " / ")
}

// between is what has come up since the session was told last, between two of its steps.
func (l *live) between(s *session) hooks.Decision {
	return l.say(s, overlap.Warn, l.facts(s, warningRank))
}

// atTurnEnd puts the end of a turn off once, where something waits that nobody else would tell the agent.
func (l *live) atTurnEnd(s *session, again bool) hooks.Decision {
	if again {
		return hooks.Allow()
	}
	l.fold.Settle()
	return l.say(s, overlap.Block, l.facts(s, messageRank))
}

// near says who else works on the repository.
func (l *live) near(s *session) string {
	var labels []string
	for _, o := range l.fold.Sides() {
		if o.Place != s.repo.Place || o.Session == s.id || o.ID == s.id || o.Phase != overlap.Working || o.Left {
			continue
		}
		label := o.Label
		if o.Task != "" {
			label += `: "` + quoted(clipText(o.Task, 200)) + `"`
		}
		labels = append(labels, label)
	}
	if len(labels) == 0 {
		return ""
	}
	more := ""
	if n := len(labels) - overlap.BriefingMax; n > 0 {
		labels, more = labels[:overlap.BriefingMax], fmt.Sprintf("; and %d more (parley sessions)", n)
	}
	return "Others work on " + s.repo.slug + " now: " + strings.Join(labels, "; ") + more + "."
}
