package mcp

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/parley-mesh/parley/node/api"
)

type listIn struct {
	Repository string `json:"repository,omitempty" jsonschema:"owner/name; without it every repository"`
	Side       string `json:"side,omitempty" jsonschema:"only conflicts of this side: INT-... or S-..."`
	All        bool   `json:"all,omitempty" jsonschema:"closed conflicts too"`
	From       int    `json:"from,omitempty" jsonschema:"where to go on: next of the page before"`
}

type refIn struct {
	Conflict string `json:"conflict" jsonschema:"CF- and digits, or as many of its first digits as only one has"`
}

type respondIn struct {
	Conflict string `json:"conflict" jsonschema:"CF- and digits, or as many of its first digits as only one has"`
	Action   string `json:"action" jsonschema:"what your side does about it"`
	Note     string `json:"note,omitempty" jsonschema:"a few words to the other side"`
	Session  string `json:"session,omitempty" jsonschema:"your session or intent; without it the one of this checkout"`
}

// shown is one conflict whole.
type shown struct {
	conflict
	Evidence   string       `json:"evidence"`
	Confidence float64      `json:"confidence"`
	Rule       string       `json:"rule"`
	Why        []string     `json:"why"`
	Policy     []policyLine `json:"policy"`
	Acts       []act        `json:"done_so_far"`
	Earlier    int          `json:"done_earlier,omitempty"` // acts before these; the command parley show lists all
	Lines      []lines      `json:"changed_lines,omitempty"`
	CannotTell bool         `json:"more_may_overlap,omitempty"`
	Note       string       `json:"note,omitempty"`
}

type policyLine struct {
	Key   string `json:"key"`
	Value string `json:"value"`
}

type act struct {
	At     time.Time `json:"at"`
	Who    string    `json:"who"`
	Action string    `json:"action"`
	Note   *quote    `json:"note,omitempty"`
}

// lines are what a side has changed in one file: what stands there, quoted.
type lines struct {
	Side string `json:"side"`
	Path string `json:"path"`
	*quote
}

// linesMax is how many characters of one file's lines are quoted.
const linesMax = 3000

// actsMax is how many of the last acts are shown.
const actsMax = 20

// conflictTools are about what overlaps.
func (s *Server) conflictTools() {
	ref := &jsonschema.Schema{Pattern: `^(CF-)?[0-9]{1,20}$`}
	add(s, spec{
		name: "conflicts_list", title: "List conflicts with others' work", reads: true,
		about: `List live conflicts between agents, sessions, branches and pull requests: who edits the same file, path, function
			or symbol, who breaks an API contract, merge conflicts before they happen, protected paths, duplicate work.
			The loudest come first. Use it to see what overlaps with your changes.`,
		limits: map[string]*jsonschema.Schema{"from": count(0, 1e6)},
	}, s.list)
	add(s, spec{
		name: "conflict_show", title: "Show and explain one conflict", reads: true,
		about: `Show one conflict (CF-...): both sides, the evidence, the confidence, the rule and the policy line behind it, why an
			edit was warned about or blocked, a suggestion to resolve it, and what was done about it so far.`,
		limits: map[string]*jsonschema.Schema{"conflict": ref},
	}, s.show)
	add(s, spec{
		name: "conflict_respond", title: "Respond to a conflict",
		about: `Respond to a conflict for your side: acknowledge it, promise to rebase (will_rebase), propose an order
			(propose_sequence), narrow your scope (narrow_scope), take the work over (take_over), ask a person to let both sides
			continue (request_override), mute a false positive for yourself (false_positive), or resolve it. Only people override.`,
		limits: map[string]*jsonschema.Schema{"conflict": ref, "action": oneOf(api.Actions...), "note": between(0, api.NoteMax)},
	}, s.respond)
}

func (s *Server) list(ctx context.Context, in listIn) (page[conflict], error) {
	all, err := s.o.Client.Conflicts(ctx, api.ConflictQuery{Repository: in.Repository, Side: in.Side, All: in.All})
	return paged(conflictsOf(all), in.From, ""), err
}

func (s *Server) show(ctx context.Context, in refIn) (shown, error) {
	c, err := s.o.Client.Conflict(ctx, in.Conflict)
	if err != nil {
		return shown{}, err
	}
	e, err := s.o.Client.ExplainConflict(ctx, c.ID)
	if err != nil {
		return shown{}, err
	}
	out := shown{
		conflict: conflictOf(c.Conflict), Evidence: c.Evidence, Confidence: c.Confidence, Rule: e.Rule, Why: append([]string{}, e.Why...),
		Policy: []policyLine{}, Acts: []act{}, CannotTell: !e.CanTell, Earlier: max(0, len(c.Acts)-actsMax),
	}
	for _, l := range e.Policy {
		out.Policy = append(out.Policy, policyLine{l.Key, l.Value})
	}
	for _, a := range c.Acts[max(0, len(c.Acts)-actsMax):] {
		note := said(a.Who, a.Note, 200)
		if note != nil {
			out.Note = quoted
		}
		out.Acts = append(out.Acts, act{a.At, a.Who, a.Action, note})
	}
	for _, q := range c.Lines {
		var b strings.Builder
		for _, line := range q.Lines {
			fmt.Fprintf(&b, "%d %s %s\n", line.Number, map[bool]string{true: "+", false: " "}[line.Changed], line.Text)
		}
		out.Lines, out.Note = append(out.Lines, lines{q.Side, q.Path, said(q.Side, b.String(), linesMax)}), quoted
	}
	return out, nil
}

func (s *Server) respond(ctx context.Context, in respondIn) (conflict, error) {
	r := api.Response{Conflict: in.Conflict, Action: in.Action, Note: in.Note, Caller: s.caller(in.Session)}
	c, err := s.o.Client.Respond(ctx, r)
	return conflictOf(c), err
}
