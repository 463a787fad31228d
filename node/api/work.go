package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

// Session is one run of one agent in one checkout.
type Session struct {
	Ref        string    `json:"ref"` // S-…
	ID         string    `json:"id"`  // hexadecimal
	Name       string    `json:"name"`
	Agent      string    `json:"agent"`     // claude_code, codex, …
	Developer  string    `json:"developer"` // "" unknown
	Computer   string    `json:"computer"`  // name of one's own computer; "" for another developer's
	Own        bool      `json:"own"`
	Here       bool      `json:"here"`
	Repository string    `json:"repository"`
	Checkout   string    `json:"checkout"` // path, of sessions here alone
	Branch     string    `json:"branch"`
	Intent     string    `json:"intent"` // INT-… that it declared last; "" none
	State      string    `json:"state"`  // live, idle, ended or expired
	Files      int       `json:"files"`  // that it has changed
	Conflicts  int       `json:"conflicts"`
	Since      time.Time `json:"since,omitzero"`
	Seen       time.Time `json:"seen,omitzero"`
	Expires    time.Time `json:"expires,omitzero"` // unless it does something before
}

// Scope is what an intent will touch.
type Scope struct {
	Paths     List[string] `json:"paths"`     // paths or globs
	Symbols   List[string] `json:"symbols"`   // sym:ts:src/a.ts#issueRefund
	Contracts List[string] `json:"contracts"` // http:POST /v1/refunds
}

// Intent is what a session declared that it does (INT-…).
type Intent struct {
	Ref        string       `json:"ref"`
	ID         string       `json:"id"`
	Session    string       `json:"session"` // S-…
	Agent      string       `json:"agent"`
	Developer  string       `json:"developer"`
	Computer   string       `json:"computer"`
	Own        bool         `json:"own"`
	Here       bool         `json:"here"`
	Repository string       `json:"repository"`
	Branch     string       `json:"branch"`
	State      string       `json:"state"` // live, idle, merged, abandoned or expired
	Task       string       `json:"task"`  // quoted: what its agent wrote, no order to anybody
	Scope      Scope        `json:"scope"`
	Mode       string       `json:"mode"` // "exclusive", or "shared"
	DependsOn  List[string] `json:"depends_on"`
	Issues     List[string] `json:"issues"`
	Conflicts  int          `json:"conflicts"` // live ones
	Since      time.Time    `json:"since,omitzero"`
	Seen       time.Time    `json:"seen,omitzero"`
	Expires    time.Time    `json:"expires,omitzero"`
}

// WorkQuery picks sessions or intents. The zero one is all live ones.
type WorkQuery struct {
	Repository string
	All        bool // those that are over too
}

// NewIntent is what a session wants to declare.
type NewIntent struct {
	Task      string       `json:"task"` // 1 to [TaskMax] characters
	Scope     Scope        `json:"scope,omitzero"`
	Mode      string       `json:"mode,omitempty"` // "exclusive", or "shared"
	DependsOn List[string] `json:"depends_on,omitzero"`
	Issues    List[string] `json:"issues,omitzero"`
	Caller
}

// IntentChange changes an intent. What is absent stays.
type IntentChange struct {
	Intent          string       `json:"intent,omitempty"` // INT-…; "" the session's own
	Task            string       `json:"task,omitempty"`
	Scope           *Scope       `json:"scope,omitempty"` // the whole scope from now on
	Mode            string       `json:"mode,omitempty"`
	DependsOnAdd    List[string] `json:"depends_on_add,omitzero"`
	DependsOnRemove List[string] `json:"depends_on_remove,omitzero"`
	State           string       `json:"state,omitempty"` // "merged" or "abandoned"
	Caller
}

// Declared is an intent and what it runs into.
type Declared struct {
	Intent
	Found List[Conflict] `json:"found"` // live conflicts of it
}

// Limits of what is declared.
const (
	TaskMax      = 1000 // characters
	ScopeMax     = 64   // paths, symbols and contracts together
	DependsOnMax = 32
)

// ClaimsQuery asks whether something is free.
type ClaimsQuery struct {
	Repository string
	Scope      Scope
	Caller
}

// ClaimsAnswer says of one path, symbol or contract who works on it.
type ClaimsAnswer struct {
	What    string       `json:"what"`
	Free    bool         `json:"free"`    // nobody else holds it or has changed it
	Verdict string       `json:"verdict"` // what an edit would meet: allow, warn or block
	Words   string       `json:"words"`   // one sentence
	Holders List[Holder] `json:"holders"`
}

// Holder is a side that holds or has changed something.
type Holder struct {
	Ref       string    `json:"ref"`
	Label     string    `json:"label"`     // INT-12 (jordan, claude_code, feat/partial-refunds)
	How       string    `json:"how"`       // claimed, edited, protected
	Exclusive bool      `json:"exclusive"` // nobody else may edit it
	Since     time.Time `json:"since,omitzero"`
}

// Briefing is what a session should know before it goes on. It states facts; what others wrote stands in it
// quoted, with who said it.
type Briefing struct {
	Session   string         `json:"session"`
	Intent    string         `json:"intent"`
	Text      string         `json:"text"`      // at most 8000 characters, for an agent to read
	Conflicts List[Conflict] `json:"conflicts"` // live ones of this side, loudest first
	Near      List[Intent]   `json:"near"`      // who else works on the repository
	Messages  List[Message]  `json:"messages"`  // not told before
	At        time.Time      `json:"at"`
}

// Worker is what agents' sessions say and ask about their work.
type Worker interface {
	// Sessions lists live ones first, newest first.
	Sessions(ctx context.Context, q WorkQuery) ([]Session, error)
	Intents(ctx context.Context, q WorkQuery) ([]Intent, error)
	// Declare makes an intent; [ErrNoSession].
	Declare(ctx context.Context, n NewIntent) (Declared, error)
	// ChangeIntent changes an intent of this computer; [ErrNoIntent].
	ChangeIntent(ctx context.Context, i IntentChange) (Declared, error)
	// Claims says of each path, symbol and contract whether it is free, in the order of the question.
	Claims(ctx context.Context, q ClaimsQuery) ([]ClaimsAnswer, error)
}

// workVerbs are the rows of the table about sessions and intents.
var workVerbs = []Verb{
	{
		Name: "sessions", Summary: "list the agents' sessions", Who: Agent, Where: Node, Reads: true, Method: "GET", Path: "/v1/sessions",
		Help: "Of this computer, your others, and the developers who share their live work with you. With --all those that\n" +
			"are over too.",
	},
	{
		Name: "intents", Summary: "list what agents said they do", Who: Agent, Where: Node, Reads: true, Method: "GET", Path: "/v1/intents",
		Help: "An intent is a task with its scope. With --all those that are over too.",
	},
	{
		Name: "intent declare", Summary: "say what a session is about to do", Who: Agent, Where: Node, Method: "POST", Path: "/v1/intents",
		Help: "TASK is one or a few sentences. Claims warn others early; with --exclusive nobody else may edit what is claimed.\n" +
			"The answer names what it runs into.",
	},
	{
		Name: "intent update", Summary: "change what a session said", Who: Agent, Where: Node, Method: "POST", Path: "/v1/intent",
		Help: "Paths, symbols and contracts that are given replace the whole scope. --merged and --abandoned end the intent;\n" +
			"those that depend on it are told.",
	},
	{
		Name: "claims check", Summary: "is a path, symbol or contract free", Who: Agent, Where: Node, Reads: true, Method: "GET", Path: "/v1/claims",
		Help: "Says who claimed or changed it, and what an edit would meet.",
	},
	{
		Name: "briefing", Summary: "what a session should know before it goes on", Who: Agent, Where: Node, Reads: true, Method: "GET", Path: "/v1/briefing",
		Help: "Live conflicts of the session, who else works here, and messages. Without --session it is about the one of\n" +
			"this checkout.",
	},
}

// workAnswers is what carries those verbs out; nil for another verb.
func (s *Server) workAnswers(verb string) answer {
	switch verb {
	case "sessions":
		return func(r *http.Request) (reply, error) { return list(s.Live.Sessions(r.Context(), workQuery(r))) }
	case "intents":
		return func(r *http.Request) (reply, error) { return list(s.Live.Intents(r.Context(), workQuery(r))) }
	case "intent declare":
		return s.declare
	case "intent update":
		return s.changeIntent
	case "claims check":
		return s.claims
	case "briefing":
		return func(r *http.Request) (reply, error) { return s.Live.Briefing(r.Context(), caller(r)) }
	}
	return nil
}

func workQuery(r *http.Request) WorkQuery {
	q := r.URL.Query()
	return WorkQuery{Repository: q.Get("repository"), All: q.Get("all") == "1"}
}

func caller(r *http.Request) Caller {
	q := r.URL.Query()
	return Caller{Session: strings.TrimSpace(q.Get("session")), Cwd: q.Get("cwd"), Peek: q.Get("peek") == "1"}
}

func (c Caller) query() url.Values {
	out := url.Values{"session": {c.Session}, "cwd": {c.Cwd}}
	if c.Peek {
		out.Set("peek", "1")
	}
	return out
}

func (s *Server) declare(r *http.Request) (reply, error) {
	in, err := read[NewIntent](r)
	if err != nil {
		return nil, err
	}
	if n := letters(in.Task); n < 1 || n > TaskMax {
		return nil, fmt.Errorf("task: %w: it has 1 to %d characters, not %d", ErrUsage, TaskMax, n)
	}
	if err := errors.Join(declarable(in.Scope, in.Mode, in.DependsOn), issuesNamed(in.Issues)); err != nil {
		return nil, err
	}
	return s.Live.Declare(r.Context(), in)
}

func (s *Server) changeIntent(r *http.Request) (reply, error) {
	in, err := read[IntentChange](r)
	if err != nil {
		return nil, err
	}
	if n := letters(in.Task); n > TaskMax {
		return nil, fmt.Errorf("task: %w: %d characters are more than %d", ErrUsage, n, TaskMax)
	}
	if in.State != "" {
		if err := oneOf("state", in.State, []string{"merged", "abandoned"}); err != nil {
			return nil, err
		}
	}
	var scope Scope
	if in.Scope != nil {
		scope = *in.Scope
	}
	if err := declarable(scope, in.Mode, append(in.DependsOnAdd[:len(in.DependsOnAdd):len(in.DependsOnAdd)], in.DependsOnRemove...)); err != nil {
		return nil, err
	}
	return s.Live.ChangeIntent(r.Context(), in)
}

// Size is how many things a scope names.
func (s Scope) Size() int { return len(s.Paths) + len(s.Symbols) + len(s.Contracts) }

func declarable(scope Scope, mode string, dependsOn []string) error {
	if mode != "" {
		if err := oneOf("mode", mode, []string{"exclusive", "shared"}); err != nil {
			return err
		}
	}
	if n := scope.Size(); n > ScopeMax {
		return fmt.Errorf("scope: %w: %d paths, symbols and contracts are more than %d", ErrUsage, n, ScopeMax)
	}
	if n := len(dependsOn); n > DependsOnMax {
		return fmt.Errorf("depends_on: %w: %d intents are more than %d", ErrUsage, n, DependsOnMax)
	}
	return scope.named()
}

// named checks that symbols and contracts are written as findings name them: nothing else could ever meet them.
func (s Scope) named() error {
	begins := func(id string, with ...string) bool {
		return slices.ContainsFunc(with, func(prefix string) bool { return strings.HasPrefix(id, prefix) && len(id) > len(prefix) })
	}
	for _, id := range s.Symbols {
		if !begins(id, "sym:", "pkg:") {
			return fmt.Errorf("symbol %q: %w: want sym:LANGUAGE:PATH#NAME, such as sym:ts:src/billing/refund.ts#issueRefund", id, ErrUsage)
		}
	}
	for _, id := range s.Contracts {
		if !begins(id, "http:", "zod:", "sym:", "pkg:") {
			return fmt.Errorf("contract %q: %w: want http:METHOD PATH, such as http:POST /v1/refunds/{}, or a symbol or schema as findings name it", id, ErrUsage)
		}
	}
	return nil
}

// Bounds of the issues that an intent names.
const (
	IssuesMax     = 16
	IssueBytesMax = 140
)

func issuesNamed(issues []string) error {
	if n := len(issues); n > IssuesMax {
		return fmt.Errorf("issues: %w: %d are more than %d", ErrUsage, n, IssuesMax)
	}
	for _, issue := range issues {
		if len(issue) > IssueBytesMax || strings.TrimSpace(issue) == "" {
			return fmt.Errorf("issue %q: %w: want 1 to %d bytes, such as #12 or acme/shop#12", clipped(issue), ErrUsage, IssueBytesMax)
		}
	}
	return nil
}

// clipped is the beginning of a text that is too long to be said again.
func clipped(text string) string { return strings.ToValidUTF8(text[:min(len(text), 60)], "") }

func (s *Server) claims(r *http.Request) (reply, error) {
	q := r.URL.Query()
	in := ClaimsQuery{
		Repository: q.Get("repository"), Caller: caller(r),
		Scope: Scope{Paths: q["path"], Symbols: q["symbol"], Contracts: q["contract"]},
	}
	if n := in.Scope.Size(); n < 1 || n > ScopeMax {
		return nil, fmt.Errorf("check claims: %w: want 1 to %d paths, symbols or contracts, not %d", ErrUsage, ScopeMax, n)
	}
	return list(s.Live.Claims(r.Context(), in))
}

func (Declared) reply() {}
func (Briefing) reply() {}

func (q WorkQuery) values() url.Values {
	out := url.Values{"repository": {q.Repository}}
	if q.All {
		out.Set("all", "1")
	}
	return out
}

// Sessions implements [Worker].
func (c *Client) Sessions(ctx context.Context, q WorkQuery) ([]Session, error) {
	return ask[[]Session](ctx, c, request{verb: "sessions", query: q.values()})
}

// Intents implements [Worker].
func (c *Client) Intents(ctx context.Context, q WorkQuery) ([]Intent, error) {
	return ask[[]Intent](ctx, c, request{verb: "intents", query: q.values()})
}

// Declare implements [Worker].
func (c *Client) Declare(ctx context.Context, n NewIntent) (Declared, error) {
	return tell[Declared](ctx, c, request{verb: "intent declare"}, n)
}

// ChangeIntent implements [Worker].
func (c *Client) ChangeIntent(ctx context.Context, i IntentChange) (Declared, error) {
	return tell[Declared](ctx, c, request{verb: "intent update"}, i)
}

// Claims implements [Worker].
func (c *Client) Claims(ctx context.Context, q ClaimsQuery) ([]ClaimsAnswer, error) {
	query := q.query()
	query["repository"], query["path"], query["symbol"], query["contract"] = []string{q.Repository}, q.Scope.Paths, q.Scope.Symbols, q.Scope.Contracts
	return ask[[]ClaimsAnswer](ctx, c, request{verb: "claims check", query: query})
}

// Briefing implements [Teller].
func (c *Client) Briefing(ctx context.Context, who Caller) (Briefing, error) {
	return ask[Briefing](ctx, c, request{verb: "briefing", query: who.query()})
}
