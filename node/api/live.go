package api

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/parley-mesh/parley/node/internal/presence"
)

// Live is what a node does for work that is not finished yet: sessions, intents, and what conflicts between them.
type Live interface {
	Conflicts
	Settler
	Worker
	Teller
	Sharer
}

// Teller brings news to those who work, and keeps the history.
type Teller interface {
	// Briefing is what a session should know; reading it marks its messages as told. [ErrNoSession].
	Briefing(ctx context.Context, who Caller) (Briefing, error)
	Messages(ctx context.Context, q MessageQuery) ([]Message, error)
	// Send tells sides something; [ErrNoSession], [ErrNoSide].
	Send(ctx context.Context, m NewMessage) (Message, error)
	// Watch returns up to max events with a Seq above after, oldest first, as soon as there is one, and none when
	// ctx ends before. With after 0 they are the last ones, at once.
	Watch(ctx context.Context, after uint64, max int) ([]LiveEvent, error)
	// History is what was decided and what it was worth.
	History(ctx context.Context, q HistoryQuery) (History, error)
}

// Sharer says with whom live work is shared. Proofs are as for [Settler].
type Sharer interface {
	// SetEmail says which user:<email> of a policy a developer is: the one of a lane's id, or with "" this one; [ErrNoLane].
	SetEmail(ctx context.Context, lane, email string, p presence.Proof) (Outcome, error)
	// SwitchWork shares live work on repositories with the developer of a lane, or stops that (D-26); [ErrNoLane],
	// [ErrNoRepository].
	SwitchWork(ctx context.Context, w WorkSwitch, p presence.Proof) (Outcome, error)
	// SetAgents is the switch [AgentsAcross] of this computer (D-27), or of one repository (owner/name) here in place of
	// that; without one it is of all, whatever was said of single ones. [ErrNoRepository].
	SetAgents(ctx context.Context, repository string, on bool, p presence.Proof) (Outcome, error)
	// SetLines is the switch [LinesAcross] of one repository (owner/name) here; [ErrNoRepository].
	SetLines(ctx context.Context, repository string, on bool, p presence.Proof) (Outcome, error)
	// Lines lists the repositories of this computer with that switch.
	Lines(ctx context.Context) ([]LinesIn, error)
}

// LinesAcross is the label of a repository's switch for changed lines of code.
const LinesAcross = "Changed lines across your computers"

// LinesIn is the switch [LinesAcross] of one repository.
type LinesIn struct {
	Repository string `json:"repository"`
	On         bool   `json:"on"`
}

// AgentsAcross is the label of a computer's switch for its agents (D-27).
const AgentsAcross = "Agents across your computers"

// Message is one thing that a side or a person said to others.
type Message struct {
	ID         string       `json:"id"` // hexadecimal
	At         time.Time    `json:"at"`
	Repository string       `json:"repository"`
	From       string       `json:"from"`   // INT-… or S-…; "" a person
	Who        string       `json:"who"`    // label of the side, or the person
	Person     bool         `json:"person"` // a person wrote it
	System     bool         `json:"system"` // parley wrote it: Override requested for CF-…
	To         List[string] `json:"to"`     // refs; [] everybody on the repository
	Text       string       `json:"text"`   // quoted: what they wrote, no order to anybody
	Re         string       `json:"re"`     // id of the message that it answers, or ""
	Own        bool         `json:"own"`    // of this developer
}

// MessageQuery picks messages.
type MessageQuery struct {
	Repository string
	Max        int // the last so many; 0: 50
	Caller         // those to and from this side; none: all
}

// NewMessage is a message to send.
type NewMessage struct {
	To   List[string] `json:"to,omitzero"` // INT-… or S-…; none: everybody on the repository
	Text string       `json:"text"`        // 1 to [MessageMax] characters
	Re   string       `json:"re,omitempty"`
	// Repository is needed only where neither To nor the caller says it.
	Repository string `json:"repository,omitempty"`
	Caller
}

// Limits of a message.
const (
	MessageMax = 4000 // characters
	AddressMax = 16   // sides
)

// LiveEvent is one thing that happened to live work.
type LiveEvent struct {
	Seq        uint64    `json:"seq"` // counts up while the node runs
	At         time.Time `json:"at"`
	Kind       string    `json:"kind"` // session, intent, edit, conflict, act, message, decision, branch
	Ref        string    `json:"ref"`  // CF-…, INT-…, S-…, a branch
	Repository string    `json:"repository"`
	Who        string    `json:"who"`      // label of the side
	Severity   string    `json:"severity"` // of conflicts and decisions: info, warn, block; else ""
	Text       string    `json:"text"`     // a sentence
}

// HistoryQuery picks what happened to conflicts.
type HistoryQuery struct {
	Repository string
	Conflict   string // CF-…; "" every one
	Max        int    // the last so many; 0: 200
}

// History is what was decided about conflicts, and what it was worth.
type History struct {
	Audit List[AuditLine] `json:"audit"` // newest first
	Saved Saved           `json:"saved"`
}

// AuditLine is one decision about a conflict.
type AuditLine struct {
	At       time.Time `json:"at"`
	Conflict string    `json:"conflict"`
	Kind     string    `json:"kind"`
	Who      string    `json:"who"`
	Person   bool      `json:"person"`
	Side     string    `json:"side"`
	Action   string    `json:"action"` // of [Actions], override, useful, too_late, found or gone
	Note     string    `json:"note"`
	Reason   string    `json:"reason"` // of an override, where this computer can read it
	Evidence string    `json:"evidence_state"`
}

// Saved is how much time conflicts that were caught before a merge may have saved (C15).
type Saved struct {
	Minutes   int             `json:"minutes"`
	Conflicts int             `json:"conflicts"` // that count
	Zero      int             `json:"zero"`      // that count nothing: overridden, false, too late, or of one developer
	By        List[SavedLine] `json:"by"`        // loudest first
	Basis     string          `json:"basis"`     // how it is counted, one sentence
}

// SavedLine is what the conflicts of one severity were worth.
type SavedLine struct {
	Severity  string `json:"severity"`
	Conflicts int    `json:"conflicts"`
	Minutes   int    `json:"minutes"`
}

// EmailAct is saying which address a developer has in policies: this one, or that of a lane.
func EmailAct(lane, email string) presence.Act {
	return presence.Act{Verb: "email", Binds: strings.Join([]string{lane, email}, "\n")}
}

// AgentsAct is the switch [AgentsAcross], of one repository or with "" of all.
func AgentsAct(repository string, on bool) presence.Act {
	a := presence.Act{Verb: "agents off", Binds: AgentsAcross}
	if on {
		a.Verb = "agents on"
	}
	if repository != "" {
		a.Binds += "\n" + repository
	}
	return a
}

// LinesAct is the switch [LinesAcross] of one repository.
func LinesAct(repository string, on bool) presence.Act {
	a := presence.Act{Verb: "agents lines off", Binds: LinesAcross + "\n" + repository}
	if on {
		a.Verb = "agents lines on"
	}
	return a
}

// WorkSwitch is sharing live work on exactly these repositories with a lane's developer, or no more.
type WorkSwitch struct {
	Lane         string // id
	Repositories []string
	On           bool
	HideNames    bool // of paths and symbols
}

// WorkSwitchAct is that switch.
func WorkSwitchAct(w WorkSwitch) presence.Act {
	if !w.On {
		return presence.Act{Verb: "lane work off", Binds: w.Lane}
	}
	binds := append([]string{w.Lane}, w.Repositories...)
	if w.HideNames {
		binds = append(binds, "names hidden")
	}
	return presence.Act{Verb: "lane work on", Binds: strings.Join(binds, "\n")}
}

// newsVerbs are the rows of the table about news, history and sharing.
var newsVerbs = []Verb{
	{
		Name: "messages", Summary: "list the messages of those who work", Who: Agent, Where: Node, Reads: true, Method: "GET", Path: "/v1/messages",
		Help: "The last ones, oldest first. With --session those to and from one session.",
	},
	{
		Name: "message send", Summary: "tell other sessions something", Who: Agent, Where: Node, Method: "POST", Path: "/v1/messages",
		Help: "With --to INT-… the text goes to that side, without it to everybody on the repository. It is shown to agents\n" +
			"as what somebody said, never as an order.",
	},
	{
		Name: "watch", Summary: "follow what happens to live work", Who: Agent, Where: Node, Reads: true, Method: "GET", Path: "/v1/watch",
		Help: "On a terminal it shows who works on what, and what conflicts, as it changes; elsewhere it prints one line for\n" +
			"each event until it is interrupted.",
	},
	{
		Name: "audit", Summary: "who decided what about conflicts", Who: Agent, Where: Node, Reads: true, Method: "GET", Path: "/v1/audit",
		Help: "With REF of one conflict only. Reasons of overrides are shown where this computer can read them.",
	},
	{
		Name: "saved", Summary: "the time that early conflicts may have saved", Who: Agent, Where: Node, Reads: true, Method: "GET", Path: "/v1/saved",
		Help: "An estimate in minutes: conflicts that were caught before a merge, weighted by severity. Overridden, false and\n" +
			"late ones count nothing, and so do those between two agents of one developer.",
	},
	{
		Name: "email", Summary: "say which address you, or another developer, have in policies", Who: Person, Where: Node, Method: "POST", Path: "/v1/email",
		Help: "ADDRESS is how .parley/policy.yaml names you: user:ADDRESS. Nobody else is told. With --lane it is the address of\n" +
			"the developer at the other end of that lane: only you can say who they are to your policies.",
	},
	{
		Name: "agents on", Summary: "let this computer's agents and your others' know of each other", Who: Person, Where: Node, Method: "POST", Path: "/v1/agents/on",
		Help: "The switch is called: " + AgentsAcross + ". With --repo it is of one repository alone; without, of\n" +
			"all, whatever was said of single ones before.",
	},
	{
		Name: "mcp", Summary: "offer what agents may do here as MCP tools", Who: Agent, Where: Local,
		Help: "Speaks the Model Context Protocol over standard input and output with the agent that started it, until that\n" +
			"ends. Each call goes to this computer's node. Nothing that takes a person is a tool.",
	},
	{
		Name: "agents off", Summary: "keep this computer's agents to themselves", Who: Person, Where: Node, Method: "POST", Path: "/v1/agents/off",
		Help: "With --repo only in one repository: nobody looks at its checkouts here, and nothing is said of them, whatever\n" +
			"lanes share.",
	},
	{
		Name: "agents lines", Summary: "list in which repositories your computers show each other changed lines", Who: Agent, Where: Node, Reads: true, Method: "GET", Path: "/v1/agents/lines",
		Help: "The switch is called: " + LinesAcross + ". It is off until you switch it on.",
	},
	{
		Name: "agents lines on", Summary: "show your other computers the lines that are changed here, and ask them for theirs", Who: Person, Where: Node, Method: "POST", Path: "/v1/agents/lines/on",
		Help: "With --repo owner/name, one repository at a time. A conflict of two of your own computers then shows the lines that\n" +
			"the other side has changed, with three around, where the switch is on at both. Nothing of them is kept, or sent to\n" +
			"another developer; files that hold keys as a rule, and those in which something looks like one, are never shown.",
	},
	{
		Name: "agents lines off", Summary: "show no changed lines to your other computers any more", Who: Person, Where: Node, Method: "POST", Path: "/v1/agents/lines/off",
		Help: "With --repo owner/name. Those that are connected forget at once what they were shown, the others within minutes. What an\n" +
			"agent was told it knows.",
	},
}

// laneWorkVerbs are the rows about sharing live work with another developer.
var laneWorkVerbs = []Verb{
	{
		Name: "lane work on", Summary: "share live work with another developer", Who: Person, Where: Node, Method: "POST", Path: "/v1/lane/work/on",
		Help: "Your agents' sessions, intents and the names of what they change in these repositories are shown to the\n" +
			"developer of the lane, never code: what stands now and what comes, nothing from before. Messages go to their\n" +
			"receivers alone. With --hash-names paths and symbols are sent as keyed hashes: the other end reads only names\n" +
			"that somebody works on there too. Globs then meet nothing, and no task, branch or message to everybody is sent.",
	},
	{
		Name: "lane work off", Summary: "share live work with them no more", Who: Person, Where: Node, Method: "POST", Path: "/v1/lane/work/off",
		Help: "What they have seen they keep.",
	},
}

// liveAnswers is what carries the verbs about live work out; nil for another verb. Without a [Server.Live] they
// say that the agents' switch is off.
func (s *Server) liveAnswers(verb string) answer {
	for _, more := range []func(string) answer{s.conflictAnswers, s.workAnswers, s.newsAnswers, s.shareAnswers} {
		a := more(verb)
		if a == nil {
			continue
		}
		return func(r *http.Request) (reply, error) {
			if s.Live == nil {
				return nil, fmt.Errorf("%s: %w", verb, ErrAgentsOff)
			}
			return a(r)
		}
	}
	return nil
}

// withLive puts the verbs about live work behind those about conversations.
func withLive(verbs []Verb) []Verb {
	lane := slices.IndexFunc(verbs, func(v Verb) bool { return v.Name == "lane conflicts" }) + 1
	show := slices.IndexFunc(verbs, func(v Verb) bool { return v.Name == "thread show" }) + 1
	return slices.Concat(verbs[:lane], laneWorkVerbs, verbs[lane:show], conflictVerbs, workVerbs, newsVerbs, verbs[show:])
}

// newsAnswers is what carries those verbs out; nil for another verb.
func (s *Server) newsAnswers(verb string) answer {
	switch verb {
	case "messages":
		return s.messages
	case "message send":
		return s.sendMessage
	case "watch":
		return s.watch
	case "audit":
		return func(r *http.Request) (reply, error) {
			h, err := s.history(r)
			return h.Audit, err
		}
	case "saved":
		return func(r *http.Request) (reply, error) {
			h, err := s.history(r)
			return h.Saved, err
		}
	}
	return nil
}

// shareAnswers is what carries the persons' verbs among them out; nil for another verb.
func (s *Server) shareAnswers(verb string) answer {
	switch verb {
	case "email":
		return s.person(func(ctx context.Context, in personRequest) (reply, error) {
			return s.Live.SetEmail(ctx, in.Lane, in.Email, in.Proof)
		})
	case "agents on", "agents off":
		return s.person(func(ctx context.Context, in personRequest) (reply, error) {
			return s.Live.SetAgents(ctx, in.Repository, verb == "agents on", in.Proof)
		})
	case "agents lines":
		return func(r *http.Request) (reply, error) { return list(s.Live.Lines(r.Context())) }
	case "agents lines on", "agents lines off":
		return s.person(func(ctx context.Context, in personRequest) (reply, error) {
			return s.Live.SetLines(ctx, in.Repository, verb == "agents lines on", in.Proof)
		})
	case "lane work on", "lane work off":
		return s.person(func(ctx context.Context, in personRequest) (reply, error) {
			w := WorkSwitch{Lane: in.Lane, Repositories: in.Repositories, On: verb == "lane work on", HideNames: in.HideNames}
			return s.Live.SwitchWork(ctx, w, in.Proof)
		})
	}
	return nil
}

func (s *Server) messages(r *http.Request) (reply, error) {
	most, err := number(r, "max")
	if err != nil {
		return nil, err
	}
	q := MessageQuery{Repository: r.URL.Query().Get("repository"), Max: int(min(most, logLinesMax)), Caller: caller(r)}
	return list(s.Live.Messages(r.Context(), q))
}

func (s *Server) sendMessage(r *http.Request) (reply, error) {
	in, err := read[NewMessage](r)
	if err != nil {
		return nil, err
	}
	if n := letters(in.Text); n < 1 || n > MessageMax {
		return nil, fmt.Errorf("text: %w: it has 1 to %d characters, not %d", ErrUsage, MessageMax, n)
	}
	if n := len(in.To); n > AddressMax {
		return nil, fmt.Errorf("to: %w: %d sides are more than %d", ErrUsage, n, AddressMax)
	}
	return s.Live.Send(r.Context(), in)
}

func (s *Server) watch(r *http.Request) (reply, error) {
	after, err := number(r, "after")
	if err != nil {
		return nil, err
	}
	ctx, cancel, err := waiting(r)
	if err != nil {
		return nil, err
	}
	defer cancel()
	return list(s.Live.Watch(ctx, after, logLinesMax))
}

func (s *Server) history(r *http.Request) (History, error) {
	most, err := number(r, "max")
	if err != nil {
		return History{}, err
	}
	q := r.URL.Query()
	return s.Live.History(r.Context(), HistoryQuery{Repository: q.Get("repository"), Conflict: q.Get("conflict"), Max: int(min(most, logLinesMax))})
}

func (Message) reply() {}
func (Saved) reply()   {}

// Messages implements [Teller].
func (c *Client) Messages(ctx context.Context, q MessageQuery) ([]Message, error) {
	query := q.query()
	query.Set("repository", q.Repository)
	query.Set("max", strconv.Itoa(q.Max))
	return ask[[]Message](ctx, c, request{verb: "messages", query: query})
}

// Send implements [Teller].
func (c *Client) Send(ctx context.Context, m NewMessage) (Message, error) {
	return tell[Message](ctx, c, request{verb: "message send"}, m)
}

// Watch waits up to 25 seconds for an event above after; none came when it returns none. With after 0 it returns the
// last ones at once.
func (c *Client) Watch(ctx context.Context, after uint64) ([]LiveEvent, error) {
	ctx, cancel := context.WithTimeout(ctx, waitMax+readTimeout)
	defer cancel()
	return call[[]LiveEvent](ctx, c, request{verb: "watch", query: url.Values{"after": {number64(after)}, "wait": {waitMax.String()}}})
}

// Audit lists who decided what about conflicts, newest first.
func (c *Client) Audit(ctx context.Context, q HistoryQuery) ([]AuditLine, error) {
	return ask[[]AuditLine](ctx, c, request{verb: "audit", query: q.values()})
}

// Saved is the time that early conflicts may have saved.
func (c *Client) Saved(ctx context.Context, q HistoryQuery) (Saved, error) {
	return ask[Saved](ctx, c, request{verb: "saved", query: q.values()})
}

func (q HistoryQuery) values() url.Values {
	return url.Values{"repository": {q.Repository}, "conflict": {q.Conflict}, "max": {strconv.Itoa(q.Max)}}
}

// SetEmail says which address a developer has in policies: the one of a lane's id, or with "" this one.
func (c *Client) SetEmail(ctx context.Context, lane, email string, by Prover) (Outcome, error) {
	return act[Outcome](ctx, c, request{verb: "email", person: personRequest{Lane: lane, Email: email}}, EmailAct(lane, email), by)
}

// SetAgents is the switch [AgentsAcross], of one repository or with "" of all.
func (c *Client) SetAgents(ctx context.Context, repository string, on bool, by Prover) (Outcome, error) {
	a := AgentsAct(repository, on)
	return act[Outcome](ctx, c, request{verb: a.Verb, person: personRequest{Repository: repository}}, a, by)
}

// SetLines is the switch [LinesAcross] of one repository.
func (c *Client) SetLines(ctx context.Context, repository string, on bool, by Prover) (Outcome, error) {
	a := LinesAct(repository, on)
	return act[Outcome](ctx, c, request{verb: a.Verb, person: personRequest{Repository: repository}}, a, by)
}

// Lines lists the repositories of the node with that switch.
func (c *Client) Lines(ctx context.Context) ([]LinesIn, error) {
	return ask[[]LinesIn](ctx, c, request{verb: "agents lines"})
}

// SwitchWork shares live work with the developer of a lane, or stops that.
func (c *Client) SwitchWork(ctx context.Context, w WorkSwitch, by Prover) (Outcome, error) {
	a := WorkSwitchAct(w)
	r := request{verb: a.Verb, person: personRequest{Lane: w.Lane, Repositories: slices.Clone(w.Repositories), HideNames: w.HideNames}}
	return act[Outcome](ctx, c, r, a, by)
}

// ask reads within the time that readers have.
func ask[T any](ctx context.Context, c *Client, r request) (T, error) {
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	return call[T](ctx, c, r)
}

// tell sends a body.
func tell[T any](ctx context.Context, c *Client, r request, body any) (T, error) {
	var none T
	var err error
	if r.body, err = json.Marshal(body); err != nil {
		return none, err
	}
	return ask[T](ctx, c, r)
}

// proof has an act signed here.
func (c *Client) proof(ctx context.Context, a presence.Act, by Prover) (presence.Proof, error) {
	given, err := tell[nonceReply](ctx, c, request{verb: "challenge"}, a)
	if err != nil {
		return presence.Proof{}, err
	}
	a.Nonce = given.Nonce
	return by.Prove(a), nil
}
