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
	texts   []string
}

const (
	untoldMax   = 256 // sessions
	untoldTexts = 8   // for one session

)

// NewDoor lets agents ask a judge; without one nothing has an opinion.
func NewDoor(j Judge) *Door { return &Door{judge: j} }

// Answer is what a hook prints. It never fails: what is not understood has no opinion.
func (r *Door) Answer(ctx context.Context, c Call) string {
	d, ok := dialectOf(c.Agent)
	if !ok {
		return ""
	}
	e, moment, ok := d.read(c)
	if !ok || r.judge == nil {
		return d.silent
	}
	decision := r.judge.Judge(ctx, e).normal(e)
	if e.Kind == End {
		r.take(e) // nobody is left to be told
		return d.silent
	}
	if ctx.Err() != nil { // the agent has gone on
		if decision.Verdict == VerdictWarn {
			r.keep(e, decision.Text)
		}
		return d.silent
	}
	return r.say(d, e, moment, decision)
}

// say renders a decision together with what the session could not be told before, or keeps it for later.
func (r *Door) say(d dialect, e Event, moment string, decision Decision) string {
	if decision.Verdict == VerdictBlock {
		if out, ok := d.render(e, moment, decision.cut()); ok {
			return out
		}
		decision.Verdict = VerdictWarn
	}
	if _, can := d.render(e, moment, Warn("x")); !can {
		if decision.Verdict == VerdictWarn {
			r.keep(e, decision.Text)
		}
		return d.silent
	}
	texts := r.take(e)
	if decision.Verdict == VerdictWarn && !slices.Contains(texts, decision.Text) {
		texts = append(texts, decision.Text)
	}
	if len(texts) == 0 {
		return d.silent
	}
	out, ok := d.render(e, moment, Warn(strings.Join(texts, "\n\n")).cut())
	if !ok {
		return d.silent
	}
	return out
}

// keep remembers what to tell a session. Of too many sessions the longest silent is forgotten.
func (r *Door) keep(e Event, text string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	i := slices.IndexFunc(r.later, e.isOf)
	if i < 0 {
		if len(r.later) == untoldMax {
			r.later = slices.Delete(r.later, 0, 1)
		}
		r.later = append(r.later, untold{agent: e.Agent, session: e.Session})
		i = len(r.later) - 1
	}
	u := &r.later[i]
	if slices.Contains(u.texts, text) {
		return
	}
	if len(u.texts) == untoldTexts {
		u.texts = slices.Delete(u.texts, 0, 1)
	}
	u.texts = append(u.texts, text)
}

// take hands out what a session was not told.
func (r *Door) take(e Event) []string {
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
