package hooks

import (
	"context"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// PayloadBytesMax is what a payload may have. A longer one has no opinion.
const PayloadBytesMax = 2 << 20

// Call is one hook as it came from its agent.
type Call struct {
	Agent   Agent
	Payload []byte // what the agent wrote to the hook's standard input
	// Env are those variables of the hook's environment that [Variables] names.
	Env map[string]string
}

// Variables are the environment variables that a hook passes on. They say which session the agent runs, and how
// it can be spoken to; none is ever written down.
var Variables = []string{
	"CLAUDE_CODE_MESSAGING_SOCKET", "CLAUDE_CODE_MESSAGING_TOKEN", "CLAUDE_CODE_SESSION_ATTENDED", "PWD",
}

// dialect is how one kind of agent speaks.
type dialect struct {
	// silent is what having no opinion looks like.
	silent string
	// decode reads a payload; false: nothing that concerns parley. moment is the agent's own name for the event.
	decode func(c Call) (e Event, moment string, ok bool)
	// render says a decision at a moment; false: it cannot be said there.
	render func(e Event, moment string, d Decision) (out string, ok bool)
}

// dialectOf is how an agent speaks. The neutral dialect is for every name that could be an agent's.
func dialectOf(a Agent) (dialect, bool) {
	switch a {
	case Claude, Codex:
		return claudeDialect, true
	case Gemini:
		return geminiDialect, true
	case OpenCode:
		return openCodeDialect, true
	case Cursor:
		return cursorDialect, true
	}
	return neutralDialect, agentForm.MatchString(string(a))
}

var agentForm = regexp.MustCompile(`^[a-z][a-z0-9-]{0,31}$`)

// Silence is what an agent reads when there is no opinion, and when there is no node. Some take an empty
// answer for it, for others that is a fault.
func Silence(a Agent) string {
	d, ok := dialectOf(a)
	if !ok {
		return ""
	}
	return d.silent
}

// Decode reads one payload; false: it is spoiled, or tells of nothing that concerns parley.
func Decode(c Call) (Event, bool) {
	d, ok := dialectOf(c.Agent)
	if !ok {
		return Event{}, false
	}
	e, _, ok := d.read(c)
	return e, ok
}

// read is decode with what holds for every dialect.
func (d dialect) read(c Call) (Event, string, bool) {
	if len(c.Payload) > PayloadBytesMax {
		return Event{}, "", false
	}
	e, moment, ok := d.decode(c)
	if !ok || e.Session == "" || len(e.Session) > sessionBytesMax || strings.ContainsRune(e.Session, 0) {
		return Event{}, "", false
	}
	e.Agent = c.Agent
	return e.bounded(), moment, true
}

// Door stands between agents' hooks and a judge. It keeps what an agent could not be told yet.
type Door struct {
	judge Judge

	mu    sync.Mutex
	later []untold // oldest first
}

// untold is what waits for the next moment at which a session can be told something.
type untold struct {
	agent   Agent
	session string
	texts   []waiting
}

// waiting is one text with those who want to hear what becomes of it.
type waiting struct {
	text string
	told []Told
}

const (
	untoldMax   = 256 // sessions
	untoldTexts = 8   // for one session

)

// Reply is what a hook prints. Whoever sent it calls Seen or Lost.
type Reply struct {
	Text string
	told []Told
}

// Wanted reports whether anybody wants to hear what becomes of the reply.
func (r Reply) Wanted() bool { return len(r.told) > 0 }

// Seen says that the agent has the reply.
func (r Reply) Seen() {
	for _, t := range r.told {
		t.Seen()
	}
}

// Lost says that the agent went on without the reply.
func (r Reply) Lost() {
	for _, t := range r.told {
		t.Lost()
	}
}

// NewDoor lets agents ask a judge; without one nothing has an opinion.
func NewDoor(j Judge) *Door { return &Door{judge: j} }

// Answer is what a hook prints. It never fails: what is not understood has no opinion.
func (r *Door) Answer(ctx context.Context, c Call) Reply {
	d, ok := dialectOf(c.Agent)
	if !ok {
		return Reply{}
	}
	e, moment, ok := d.read(c)
	if !ok || r.judge == nil {
		return Reply{Text: d.silent}
	}
	decision := r.judge.Judge(ctx, e).normal(e)
	if e.Kind == End {
		forget(r.take(e)) // nobody is left to be told
		return Reply{Text: d.silent}
	}
	if ctx.Err() != nil { // the agent has gone on
		if decision.Verdict == VerdictWarn {
			r.keep(e, decision)
		} else {
			forget([]waiting{decision.waiting()})
		}
		return Reply{Text: d.silent}
	}
	return r.say(d, e, moment, decision)
}

func (d Decision) waiting() waiting {
	w := waiting{text: d.Text}
	if d.Told != nil {
		w.told = []Told{d.Told}
	}
	return w
}

// forget says of texts that nobody will be told them.
func forget(texts []waiting) {
	for _, w := range texts {
		Reply{told: w.told}.Lost()
	}
}

// say renders a decision together with what the session could not be told before, or keeps it for later.
func (r *Door) say(d dialect, e Event, moment string, decision Decision) Reply {
	if decision.Verdict == VerdictBlock {
		if out, ok := d.render(e, moment, decision.cut()); ok {
			return Reply{out, decision.waiting().told}
		}
		decision.Verdict = VerdictWarn
	}
	if _, can := d.render(e, moment, Warn("x")); !can {
		if decision.Verdict == VerdictWarn {
			r.keep(e, decision)
		}
		return Reply{Text: d.silent}
	}
	all := r.take(e)
	if decision.Verdict == VerdictWarn {
		all = join(all, decision)
	}
	if len(all) == 0 {
		return Reply{Text: d.silent}
	}
	var texts []string
	var told []Told
	for _, w := range all {
		texts, told = append(texts, w.text), append(told, w.told...)
	}
	out, ok := d.render(e, moment, Warn(strings.Join(texts, "\n\n")).cut())
	if !ok {
		forget(all)
		return Reply{Text: d.silent}
	}
	return Reply{out, told}
}

// join puts a text behind others, unless it is among them.
func join(texts []waiting, d Decision) []waiting {
	w := d.waiting()
	i := slices.IndexFunc(texts, func(o waiting) bool { return o.text == w.text })
	if i < 0 {
		return append(texts, w)
	}
	texts[i].told = append(texts[i].told, w.told...)
	return texts
}

// keep remembers what to tell a session. Of too many sessions the longest silent is forgotten.
func (r *Door) keep(e Event, d Decision) {
	var over []waiting
	defer func() { forget(over) }() // without the lock
	r.mu.Lock()
	defer r.mu.Unlock()
	i := slices.IndexFunc(r.later, e.isOf)
	if i < 0 {
		if len(r.later) == untoldMax {
			over = r.later[0].texts
			r.later = slices.Delete(r.later, 0, 1)
		}
		r.later = append(r.later, untold{agent: e.Agent, session: e.Session})
		i = len(r.later) - 1
	}
	u := &r.later[i]
	u.texts = join(u.texts, d)
	if n := len(u.texts) - untoldTexts; n > 0 {
		over = append(over, u.texts[:n]...)
		u.texts = slices.Clone(u.texts[n:])
	}
}

// take hands out what a session was not told.
func (r *Door) take(e Event) []waiting {
	r.mu.Lock()
	defer r.mu.Unlock()
	i := slices.IndexFunc(r.later, e.isOf)
	if i < 0 {
		return nil
	}
	texts := r.later[i].texts
	r.later = slices.Delete(r.later, i, i+1)
	return texts
}

func (e Event) isOf(u untold) bool { return u.agent == e.Agent && u.session == e.Session }
