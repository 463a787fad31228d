package page

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/a-h/templ"

	"github.com/parley-mesh/parley/node/api"
	"github.com/parley-mesh/parley/node/internal/presence"
)

// filters is what a list of conflicts is asked for.
type filters struct {
	Repository, Severity, Status string
	Repositories                 []string
}

// conflicts lists conflicts of live work, the loudest first.
func (s *Server) conflicts(ctx context.Context, q url.Values) (shown, error) {
	f := filters{Repository: q.Get("repository"), Severity: q.Get("severity"), Status: q.Get("status")}
	all, err := s.Live.Conflicts(ctx, api.ConflictQuery{All: true})
	if off := errors.Is(err, api.ErrAgentsOff); err != nil && !off {
		return shown{}, err
	} else if off {
		return shown{"Conflicts", agentsOff(), "live work is switched off"}, nil
	}
	live := 0
	for _, c := range all {
		if open(c) {
			live++
		}
		if !slices.Contains(f.Repositories, c.Repository) {
			f.Repositories = append(f.Repositories, c.Repository)
		}
	}
	slices.Sort(f.Repositories)
	total := len(all)
	all = slices.DeleteFunc(all, func(c api.Conflict) bool {
		return f.Repository != "" && c.Repository != f.Repository || f.Severity != "" && c.Severity != f.Severity ||
			f.Status == "" && !open(c) || f.Status == "closed" && open(c)
	})
	some, pages := cut(all, q, "/conflicts", cardsMax)
	var drawer templ.Component
	if ref := q.Get("open"); ref != "" {
		drawer = s.drawer(ctx, ref)
	}
	return shown{"Conflicts", conflictsView(f, some, pages, total, drawer), many(live, "live conflict")}, nil
}

// drawer is one conflict as it stands beside the list.
func (s *Server) drawer(ctx context.Context, ref string) templ.Component {
	c, err := s.dispute(ctx, ref)
	if err != nil {
		return drawerTrouble(api.Explain(err))
	}
	return drawerView(c)
}

// open says that a conflict is live (C10).
func open(c api.Conflict) bool { return slices.Contains(api.Statuses[:3], c.Status) }

// dispute is one conflict with what stands beside it.
type dispute struct {
	api.ConflictShown
	Why api.Explanation
}

func (s *Server) dispute(ctx context.Context, ref string) (dispute, error) {
	c, err := s.Live.Conflict(ctx, ref)
	if err != nil {
		return dispute{}, err
	}
	out := dispute{ConflictShown: c}
	if why, err := s.Live.ExplainConflict(ctx, c.Ref); err == nil { // without it the page says less
		out.Why = why
	}
	return out, nil
}

func (s *Server) conflict(ctx context.Context, q url.Values) (shown, error) {
	c, err := s.dispute(ctx, q.Get("ref"))
	if err != nil {
		return shown{}, err
	}
	return shown{c.Ref, conflictView(c), c.Ref + ": " + c.Status}, nil
}

func (s *Server) intents(ctx context.Context, q url.Values) (shown, error) {
	all, err := s.Live.Intents(ctx, api.WorkQuery{})
	if errors.Is(err, api.ErrAgentsOff) {
		return shown{"Intents", agentsOff(), "live work is switched off"}, nil
	}
	if err != nil {
		return shown{}, err
	}
	sessions, err := s.Live.Sessions(ctx, api.WorkQuery{})
	if err != nil {
		return shown{}, err
	}
	said, err := s.talk(ctx, all, sessions)
	if err != nil {
		return shown{}, err
	}
	some, pages := cut(all, q, "/intents", rowsMax)
	return shown{"Intents", intentsView(some, pages, sessions, said), many(len(all), "intent") + ", " + many(len(sessions), "session")}, nil
}

// auditLines is how much of the history the page looks at.
const auditLines = 2000

func (s *Server) decisions(ctx context.Context, q url.Values) (shown, error) {
	h, err := s.Live.History(ctx, api.HistoryQuery{Max: auditLines})
	if errors.Is(err, api.ErrAgentsOff) {
		return shown{"Decisions", auditView("decisions", agentsOff()), "live work is switched off"}, nil
	}
	if err != nil {
		return shown{}, err
	}
	some, pages := cut([]api.AuditLine(h.Audit), q, "/audit", rowsMax)
	return shown{"Decisions", auditView("decisions", decisionsView(some, pages)), many(len(h.Audit), "decision")}, nil
}

// responses are what a person can do about a conflict, in the words of its buttons (C11).
var responses = [][2]string{
	{"acknowledge", "Acknowledge"},
	{"will_rebase", "Will rebase"},
	{"propose_sequence", "Propose a sequence"},
	{"narrow_scope", "Narrow the scope"},
	{"take_over", "Take over"},
	{"request_override", "Request an override"},
	{"resolve", "Resolve"},
	{"false_positive", "False positive"},
}

// meanings say what a response does, where its name does not.
var meanings = map[string]string{
	"false_positive":   "A person's false positive resolves the conflict for everybody, at once.",
	"resolve":          "The conflict counts as resolved until the same overlap comes back.",
	"request_override": "Everybody whom the policy lets override is asked to.",
}

// conflictPress is what a person does about a conflict: a response (C11, C12) or an override (C14).
func (s *Server) conflictPress(ctx context.Context, p *press, typed string) error {
	c, err := s.Live.Conflict(ctx, p.Form.Get("ref"))
	if err != nil {
		return err
	}
	p.Says = c.Sentence
	if p.Form.Get("verb") == "override" {
		reason := strings.TrimSpace(typed)
		p.Title, p.Button, p.Danger = "Override "+c.Ref, "Override it", true
		p.Typed, p.TypedHelp = "Reason", "3 to 2,000 characters. It is kept encrypted and shown in the audit log."
		p.Words = []string{"Both sides go on in spite of the conflict. If its evidence changes later, it opens again."}
		p.act, p.seen = api.OverrideAct(c.Conflict, reason), api.OverrideAct(c.Conflict, "").Binds
		p.do = func(ctx context.Context, proof presence.Proof) (api.Outcome, error) {
			return s.Live.Override(ctx, c.Ref, reason, proof)
		}
		return nil
	}
	action := p.Form.Get("action")
	i := slices.IndexFunc(responses, func(r [2]string) bool { return r[0] == action })
	if i < 0 {
		return fmt.Errorf("respond %q: %w", action, api.ErrUsage)
	}
	p.Title, p.Button = responses[i][1]+": "+c.Ref, responses[i][1]
	if means := meanings[action]; means != "" {
		p.Words = append(p.Words, means)
	}
	p.Typed, p.TypedHelp = "Note", "For the others; it may be empty."
	p.act, p.seen = api.RespondAct(c.Conflict, action, typed), api.RespondAct(c.Conflict, action, "").Binds
	p.do = func(ctx context.Context, proof presence.Proof) (api.Outcome, error) {
		after, err := s.Live.Respond(ctx, api.Response{Conflict: c.Ref, Action: action, Note: typed, Proof: proof})
		return api.Outcome{Text: c.Ref + " is " + cmp.Or(after.Status, "noted")}, err
	}
	return nil
}

func severityStyle(severity string) string {
	switch severity {
	case "block":
		return "badge-error"
	case "warn":
		return "badge-warning"
	}
	return "badge-info"
}

// plain are words of the interface as people read them.
func plain(word string) string { return strings.ReplaceAll(word, "_", " ") }

// sure is how sure a finding is.
func sure(c api.Conflict) string {
	return fmt.Sprintf("%s, %.0f %% sure", c.Evidence, c.Confidence*100)
}

// listed are the words of a list that are known.
func listed(words ...string) string {
	return strings.Join(slices.DeleteFunc(words, func(w string) bool { return w == "" }), ", ")
}

// hours are minutes as people read them.
func hours(minutes int) string {
	if minutes < 60 {
		return many(minutes, "minute")
	}
	return fmt.Sprintf("%d h %02d min", minutes/60, minutes%60)
}

// with is the address of the list with another value of one filter.
func (f filters) with(key, value string) templ.SafeURL {
	now := map[string]string{"repository": f.Repository, "severity": f.Severity, "status": f.Status}
	now[key] = value
	q := url.Values{}
	for k, v := range now {
		if v != "" {
			q.Set(k, v)
		}
	}
	return templ.SafeURL("/conflicts?" + q.Encode())
}

// open is the address of the list as it is now, with one conflict beside it.
func (f filters) open(p pager, ref string) templ.SafeURL {
	q := url.Values{}
	maps.Copy(q, p.Query)
	q.Set("open", ref)
	return templ.SafeURL("/conflicts?" + q.Encode())
}

// scopeMax is how much of a scope is listed.
const scopeMax = 12

func scopeOf(i api.Intent) []string {
	all := slices.Concat([]string(i.Scope.Paths), []string(i.Scope.Symbols), []string(i.Scope.Contracts))
	if len(all) > scopeMax {
		return append(all[:scopeMax:scopeMax], fmt.Sprintf("and %d more", len(all)-scopeMax))
	}
	return all
}
