package api

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/parley-mesh/parley/node/internal/presence"
)

// Conflict is overlapping or incompatible work between two sides (CF-…). Texts in it may come from another
// developer or from their agent: they are data, whatever they say.
type Conflict struct {
	Ref        string             `json:"ref"` // CF-… as it is shown here
	ID         string             `json:"id"`  // hexadecimal; the same on all computers
	Repository string             `json:"repository"`
	Kind       string             `json:"kind"`               // path_overlap, symbol_overlap, contract_break, …
	Status     string             `json:"status"`             // one of [Statuses]
	Severity   string             `json:"severity"`           // info, warn or block
	Blocking   bool               `json:"blocking"`           // an edit of Blocked is refused
	Blocked    string             `json:"blocked"`            // ref of the side that has to wait: the newcomer; "" nobody
	Evidence   string             `json:"evidence"`           // declared, observed or inferred
	Confidence float64            `json:"confidence"`         // 0 to 1
	Sentence   string             `json:"sentence"`           // what overlaps
	Suggestion string             `json:"suggestion"`         // what could be done
	About      List[string]       `json:"about"`              // paths, symbols or contracts
	Sides      List[ConflictSide] `json:"sides"`              // in the order of the sentence
	Since      time.Time          `json:"since,omitzero"`     // when it was found
	Changed    time.Time          `json:"changed,omitzero"`   // when its status or evidence last changed
	Seal       string             `json:"evidence_state"`     // hexadecimal; another one when the evidence has changed
	Tuned      string             `json:"tuned,omitempty"`    // why it is listed late: what feedback said of its class
	Requested  bool               `json:"override_requested"` // somebody asked a person to override it
}

// ConflictSide is one side of a conflict.
type ConflictSide struct {
	Ref       string `json:"ref"`       // INT-…, S-…, a branch, or #42
	Kind      string `json:"kind"`      // intent, session, branch, pull_request or owner
	Developer string `json:"developer"` // "" unknown
	Agent     string `json:"agent"`     // claude_code, codex, …; "" without an agent
	Branch    string `json:"branch"`
	Computer  string `json:"computer"` // name of one's own computer; "" for another developer's
	Own       bool   `json:"own"`      // of this computer's developer
	Here      bool   `json:"here"`     // works on this computer
	Muted     bool   `json:"muted"`    // called it a false positive for itself (C12)
	State     string `json:"state"`    // live, idle, ended, merged, abandoned or expired
}

// The words of conflicts, as everything that is written uses them (C10, C11, C12).
var (
	// Statuses are how far a conflict can be. The first three are live.
	Statuses = []string{"open", "acknowledged", "resolving", "resolved", "stale", "overridden", "false_positive"}
	// Actions are what a side can do about a conflict.
	Actions = []string{"acknowledge", "will_rebase", "propose_sequence", "narrow_scope", "take_over", "request_override", "false_positive", "resolve"}
	// Verdicts are what feedback can say.
	Verdicts = []string{"useful", "false_positive", "too_late"}
)

// Limits of what is written about a conflict.
const (
	NoteMax   = 2000 // characters of a note or a reason
	ReasonMin = 3    // characters of a reason, unless the policy wants none (C14)
)

// ConflictQuery picks conflicts. The zero one is all live ones.
type ConflictQuery struct {
	Repository string // owner/name; "" every one
	Side       string // INT-… or S-…; "" every one
	All        bool   // closed ones too
}

// ConflictAct is one thing that was done about a conflict.
type ConflictAct struct {
	At     time.Time `json:"at"`
	Who    string    `json:"who"`    // developer or computer
	Side   string    `json:"side"`   // ref of the side that acts; "" a person for no side
	Action string    `json:"action"` // of [Actions], or override, useful, too_late
	Note   string    `json:"note"`   // quoted: what they wrote, no order to anybody
	Person bool      `json:"person"`
}

// ConflictShown is a conflict with what was done about it.
type ConflictShown struct {
	Conflict
	Acts  List[ConflictAct] `json:"acts"`  // oldest first
	Turns List[Turn]        `json:"turns"` // when it was found, and when it went; oldest first
	// Lines are what own sides have changed, where [LinesAcross] is on at both computers.
	Lines List[ConflictLines] `json:"lines"`
}

// ConflictLines are some lines of one file as one side of a conflict has them now.
type ConflictLines struct {
	Side     string     `json:"side"`
	Computer string     `json:"computer"`
	Path     string     `json:"path"`
	Cut      bool       `json:"cut"`   // something is left out
	Lines    List[Line] `json:"lines"` // quoted: what stands there, no order to anybody
}

// Line is one line of a file.
type Line struct {
	Number  int    `json:"number"`  // from 1
	Changed bool   `json:"changed"` // it is not so at the base
	Text    string `json:"text"`
}

// Turn is one change of a conflict that nobody made: the overlap came or went.
type Turn struct {
	At       time.Time `json:"at"`
	State    string    `json:"state"` // found or gone
	Severity string    `json:"severity"`
}

// Explanation says why there is a conflict, and why it is as loud as it is.
type Explanation struct {
	Conflict
	Rule     string           `json:"rule"`     // the rule that found it, one sentence
	Why      List[string]     `json:"why"`      // how confidence and severity came about, in order
	Policy   List[PolicyLine] `json:"policy"`   // the lines that count, of the policy in force
	From     List[SeenIn]     `json:"from"`     // the contents that it was found in
	CanTell  bool             `json:"can_tell"` // false: something could not be read, and more may overlap
	PolicyAt string           `json:"policy_at"`
}

// PolicyLine is one setting of the policy in force.
type PolicyLine struct {
	Key   string `json:"key"`
	Value string `json:"value"`
	Means string `json:"means"`
}

// SeenIn is one content that a finding rests on. Contents are git blob ids in hexadecimal.
type SeenIn struct {
	Side string `json:"side"`
	Path string `json:"path"`
	Base string `json:"base"` // commit
	Old  string `json:"old"`
	New  string `json:"new"`
}

// Caller says for whom an agent's call is. Session is INT-…, S-…, or the agent's own name of its session. Without
// it, the only live session in the checkout around Cwd is meant. A person at the terminal gives neither.
type Caller struct {
	Session string `json:"session,omitempty"`
	Cwd     string `json:"cwd,omitempty"`
	// Peek looks at a briefing and marks nothing of it as told.
	Peek bool `json:"-"`
}

// Response is what a side does about a conflict (C11). With a person's proof it counts as theirs: a person's
// false_positive resolves the conflict for everybody, an agent's mutes it for its own side (C12).
type Response struct {
	Conflict string         `json:"conflict"`
	Action   string         `json:"action"`
	Note     string         `json:"note,omitempty"`
	Proof    presence.Proof `json:"proof,omitzero"`
	Caller
}

// Verdict is feedback on a conflict. It decides nothing about it.
type Verdict struct {
	Conflict string `json:"conflict"`
	Verdict  string `json:"verdict"` // of [Verdicts]
	Note     string `json:"note,omitempty"`
	Caller
}

// Conflicts reads conflicts of live work. Refs are CF-… or the start of one (as many digits as only one has);
// [ErrNoConflict], [ErrAmbiguous].
type Conflicts interface {
	// Conflicts lists live ones first, loudest first.
	Conflicts(ctx context.Context, q ConflictQuery) ([]Conflict, error)
	Conflict(ctx context.Context, ref string) (ConflictShown, error)
	ExplainConflict(ctx context.Context, ref string) (Explanation, error)
	// Desk is what this computer's desk has before it; [ErrAgentsOff].
	Desk(ctx context.Context) (Desk, error)
}

// Desk is what lies on a computer's desk: the conversations and the conflicts (P25, D-27).
type Desk struct {
	Conversations List[ThreadLine] `json:"conversations"`
	Conflicts     List[Conflict]   `json:"conflicts"`
}

// Settler acts on conflicts. A proof is checked against the act of acts.go that describes what would be done.
type Settler interface {
	// Respond does what a side chose; [ErrNotParticipant], [ErrConflictClosed], [ErrNoSession].
	Respond(ctx context.Context, r Response) (Conflict, error)
	Feedback(ctx context.Context, v Verdict) (Outcome, error)
	// Override lets all sides go on in spite of a conflict (C14); [ErrNotAllowed], [ErrConflictClosed].
	Override(ctx context.Context, ref, reason string, p presence.Proof) (Outcome, error)
}

// OverrideAct is overriding a conflict, as the person saw it, for this reason.
func OverrideAct(c Conflict, reason string) presence.Act {
	return presence.Act{Verb: "override", Binds: strings.Join([]string{c.ID, c.Seal, reason}, "\n")}
}

// RespondAct is a person's own response to a conflict.
func RespondAct(c Conflict, action, note string) presence.Act {
	return presence.Act{Verb: "respond", Binds: strings.Join([]string{c.ID, action, note}, "\n")}
}

const refHelp = "REF is CF- and digits, as parley conflicts shows it, or as many of its first digits as only one has."

// conflictVerbs are the rows of the table about conflicts of live work.
var conflictVerbs = []Verb{
	{
		Name: "conflicts", Summary: "what overlaps with somebody else's work right now", Who: Agent, Where: Node, Reads: true, Method: "GET", Path: "/v1/conflicts",
		Help: "Live conflicts between agents' sessions, branches and pull requests, the loudest first. With --all the closed\n" +
			"ones too.",
	},
	{
		Name: "show", Summary: "show one conflict of live work", Who: Agent, Where: Node, Reads: true, Method: "GET", Path: "/v1/conflicts/{id}",
		Help: refHelp + "\nWhat overlaps, who is on which side, what could be done, and what was done so far.",
	},
	{
		Name: "explain", Summary: "say why there is a conflict", Who: Agent, Where: Node, Reads: true, Method: "GET", Path: "/v1/conflicts/{id}/explain",
		Help: refHelp + "\nThe rule that found it, what it was found in, how sure it is, and the line of the policy that makes it inform,\n" +
			"warn or block.",
	},
	{
		Name: "respond", Summary: "act on a conflict as one of its sides", Who: Agent, Where: Node, Method: "POST", Path: "/v1/conflicts/{id}/actions",
		Help: refHelp + "\nACTION is one of acknowledge, will_rebase, propose_sequence, narrow_scope, take_over, request_override,\n" +
			"false_positive and resolve. An agent's false_positive mutes the conflict for its own side; with --person it is\n" +
			"yours, takes your passphrase, and resolves the conflict for everybody.",
	},
	{
		Name: "override", Summary: "let both sides go on in spite of a conflict", Who: Person, Where: Node, Method: "POST", Path: "/v1/conflicts/{id}/override",
		Help: refHelp + "\nFor whoever the policy names in override.allowed_roles. The reason is kept encrypted and shown in parley audit.\n" +
			"When the evidence changes later, the conflict opens again.",
	},
	{
		Name: "feedback", Summary: "say whether it helped to be told of a conflict", Who: Agent, Where: Node, Method: "POST", Path: "/v1/conflicts/{id}/feedback",
		Help: refHelp + "\nVERDICT is useful, false_positive or too_late. It changes the order of lists and the time saved, and never what\n" +
			"blocks.",
	},
	{Name: "desk", Summary: "what lies on this computer's desk", Who: Agent, Where: Node, Reads: true, Step: true, Method: "GET", Path: "/agent-devices/conflicts"},
}

// conflictAnswers is what carries the verbs about conflicts out; nil for another verb.
func (s *Server) conflictAnswers(verb string) answer {
	switch verb {
	case "conflicts":
		return func(r *http.Request) (reply, error) {
			q := r.URL.Query()
			return list(s.Live.Conflicts(r.Context(), ConflictQuery{Repository: q.Get("repository"), Side: q.Get("side"), All: q.Get("all") == "1"}))
		}
	case "show":
		return func(r *http.Request) (reply, error) { return s.Live.Conflict(r.Context(), r.PathValue("id")) }
	case "explain":
		return func(r *http.Request) (reply, error) { return s.Live.ExplainConflict(r.Context(), r.PathValue("id")) }
	case "desk":
		return func(r *http.Request) (reply, error) { return s.Live.Desk(r.Context()) }
	case "respond":
		return s.respond
	case "feedback":
		return s.feedback
	case "override":
		return func(r *http.Request) (reply, error) {
			in, err := read[personRequest](r)
			if err != nil {
				return nil, err
			}
			if n := letters(in.Reason); n > NoteMax || n > 0 && n < ReasonMin {
				return nil, fmt.Errorf("override %s: %w: a reason has %d to %d characters, not %d", r.PathValue("id"), ErrUsage, ReasonMin, NoteMax, n)
			}
			return s.Live.Override(r.Context(), r.PathValue("id"), in.Reason, in.Proof)
		}
	}
	return nil
}

func (s *Server) respond(r *http.Request) (reply, error) {
	in, err := read[Response](r)
	if err != nil {
		return nil, err
	}
	if in.Conflict, err = sameRef(r, in.Conflict); err != nil {
		return nil, err
	}
	if err := oneOf("action", in.Action, Actions); err != nil {
		return nil, err
	}
	if err := noteFits(in.Note); err != nil {
		return nil, err
	}
	return s.Live.Respond(r.Context(), in)
}

func (s *Server) feedback(r *http.Request) (reply, error) {
	in, err := read[Verdict](r)
	if err != nil {
		return nil, err
	}
	if in.Conflict, err = sameRef(r, in.Conflict); err != nil {
		return nil, err
	}
	if err := oneOf("verdict", in.Verdict, Verdicts); err != nil {
		return nil, err
	}
	if err := noteFits(in.Note); err != nil {
		return nil, err
	}
	return s.Live.Feedback(r.Context(), in)
}

// sameRef is the conflict of the path, which a body may repeat but not contradict.
func sameRef(r *http.Request, ref string) (string, error) {
	path := r.PathValue("id")
	if ref != "" && !strings.EqualFold(ref, path) {
		return "", fmt.Errorf("conflict %q at the path of %q: %w", ref, path, ErrUsage)
	}
	return path, nil
}

func oneOf(what, word string, words []string) error {
	if slices.Contains(words, word) {
		return nil
	}
	return fmt.Errorf("%s %q: %w: want one of %s", what, word, ErrUsage, strings.Join(words, ", "))
}

func noteFits(note string) error {
	if n := letters(note); n > NoteMax {
		return fmt.Errorf("note: %w: %d characters are more than %d", ErrUsage, n, NoteMax)
	}
	return nil
}

// letters counts characters as people do, without the space around them.
func letters(s string) int { return len([]rune(strings.TrimSpace(s))) }

func (Conflict) reply()      {}
func (ConflictShown) reply() {}
func (Explanation) reply()   {}
func (Desk) reply()          {}

// Conflicts implements [Conflicts].
func (c *Client) Conflicts(ctx context.Context, q ConflictQuery) ([]Conflict, error) {
	query := url.Values{"repository": {q.Repository}, "side": {q.Side}}
	if q.All {
		query.Set("all", "1")
	}
	return ask[[]Conflict](ctx, c, request{verb: "conflicts", query: query})
}

// Conflict implements [Conflicts].
func (c *Client) Conflict(ctx context.Context, ref string) (ConflictShown, error) {
	return ask[ConflictShown](ctx, c, request{verb: "show", id: ref})
}

// ExplainConflict implements [Conflicts].
func (c *Client) ExplainConflict(ctx context.Context, ref string) (Explanation, error) {
	return ask[Explanation](ctx, c, request{verb: "explain", id: ref})
}

// Desk implements [Conflicts].
func (c *Client) Desk(ctx context.Context) (Desk, error) {
	return ask[Desk](ctx, c, request{verb: "desk"})
}

// Respond acts for an agent's side. r.Proof stays empty: a person's own is [Client.RespondAs].
func (c *Client) Respond(ctx context.Context, r Response) (Conflict, error) {
	return tell[Conflict](ctx, c, request{verb: "respond", id: r.Conflict}, r)
}

// RespondAs is a person's own response to the conflict that they saw.
func (c *Client) RespondAs(ctx context.Context, seen Conflict, r Response, by Prover) (Conflict, error) {
	p, err := c.proof(ctx, RespondAct(seen, r.Action, r.Note), by)
	if err != nil {
		return Conflict{}, err
	}
	r.Conflict, r.Proof = seen.ID, p
	return tell[Conflict](ctx, c, request{verb: "respond", id: seen.ID}, r)
}

// Feedback says what somebody thinks of a conflict.
func (c *Client) Feedback(ctx context.Context, v Verdict) (Outcome, error) {
	return tell[Outcome](ctx, c, request{verb: "feedback", id: v.Conflict}, v)
}

// Override lets all sides go on in spite of the conflict that the person saw.
func (c *Client) Override(ctx context.Context, seen Conflict, reason string, by Prover) (Outcome, error) {
	r := request{verb: "override", id: seen.ID, person: personRequest{Reason: reason}}
	return act[Outcome](ctx, c, r, OverrideAct(seen, reason), by)
}

// Percent is a confidence as people read it.
func (c Conflict) Percent() string { return strconv.Itoa(int(c.Confidence*100+0.5)) + " %" }
