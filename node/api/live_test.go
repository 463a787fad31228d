package api_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/parley-mesh/parley/node/api"
	"github.com/parley-mesh/parley/node/internal/presence"
)

// workshop is the live work of a node that keeps everything in memory.
type workshop struct {
	persons *presence.Verifier

	mu        sync.Mutex
	bell      api.Bell
	off       bool // no agents, and no lanes
	conflicts []api.Conflict
	events    []api.LiveEvent
	got       []any // what it was asked to do
}

var _ api.Live = (*workshop)(nil)

func (w *workshop) note(v any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.got = append(w.got, v)
}

func (w *workshop) last(t *testing.T) any {
	t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.got) == 0 {
		t.Fatal("the node was asked nothing")
	}
	return w.got[len(w.got)-1]
}

func (w *workshop) find(ref string) (api.Conflict, error) {
	for _, c := range w.conflicts {
		if c.Ref == ref || c.ID == ref {
			return c, nil
		}
	}
	return api.Conflict{}, fmt.Errorf("conflict %s: %w", ref, api.ErrNoConflict)
}

func (w *workshop) Conflicts(_ context.Context, q api.ConflictQuery) ([]api.Conflict, error) {
	w.note(q)
	return w.conflicts, nil
}

func (w *workshop) Conflict(_ context.Context, ref string) (api.ConflictShown, error) {
	c, err := w.find(ref)
	return api.ConflictShown{Conflict: c, Acts: []api.ConflictAct{{Who: "maya", Action: "will_rebase"}}, Turns: []api.Turn{{State: "found"}}, Lines: api.List[api.ConflictLines]{{Side: "INT-1234567", Lines: api.List[api.Line]{{Number: 3, Changed: true, Text: "x"}}}}}, err
}

func (w *workshop) ExplainConflict(_ context.Context, ref string) (api.Explanation, error) {
	c, err := w.find(ref)
	return api.Explanation{Conflict: c, Rule: "both touch a file", Why: api.List[string]{"exact path"}, Policy: []api.PolicyLine{{Key: "severity.path_overlap", Value: "info"}}, From: []api.SeenIn{}}, err
}

func (w *workshop) Desk(context.Context) (api.Desk, error) {
	if w.off {
		return api.Desk{}, api.ErrAgentsOff
	}
	return api.Desk{Conversations: []api.ThreadLine{{Ref: "acme/shop#42"}}, Conflicts: w.conflicts}, nil
}

func (w *workshop) Respond(_ context.Context, r api.Response) (api.Conflict, error) {
	c, err := w.find(r.Conflict)
	if err != nil {
		return c, err
	}
	if c.Status == "resolved" {
		return c, fmt.Errorf("%s: %w", c.Ref, api.ErrConflictClosed)
	}
	if r.Proof.Kind != "" {
		if err := w.persons.Check(api.RespondAct(c, r.Action, r.Note), r.Proof); err != nil {
			return c, err
		}
	}
	w.note(r)
	c.Status = "acknowledged"
	return c, nil
}

func (w *workshop) Feedback(_ context.Context, v api.Verdict) (api.Outcome, error) {
	w.note(v)
	return api.Outcome{Text: "noted"}, nil
}

func (w *workshop) Override(_ context.Context, ref, reason string, p presence.Proof) (api.Outcome, error) {
	c, err := w.find(ref)
	if err != nil {
		return api.Outcome{}, err
	}
	return w.act(api.OverrideAct(c, reason), p)
}

func (w *workshop) act(a presence.Act, p presence.Proof) (api.Outcome, error) {
	if err := w.persons.Check(a, p); err != nil {
		return api.Outcome{}, err
	}
	w.note(a.Verb + " " + a.Binds)
	return api.Outcome{Text: a.Verb}, nil
}

func (w *workshop) Sessions(_ context.Context, q api.WorkQuery) ([]api.Session, error) {
	w.note(q)
	return []api.Session{{Ref: "S-1234567", Agent: "codex", Since: noon}}, nil
}

func (w *workshop) Intents(context.Context, api.WorkQuery) ([]api.Intent, error) {
	return []api.Intent{anIntent}, nil
}

func (w *workshop) Declare(_ context.Context, n api.NewIntent) (api.Declared, error) {
	if n.Session == "nobody" {
		return api.Declared{}, fmt.Errorf("declare: %w", api.ErrNoSession)
	}
	w.note(n)
	return api.Declared{Intent: anIntent, Found: w.conflicts}, nil
}

func (w *workshop) ChangeIntent(_ context.Context, i api.IntentChange) (api.Declared, error) {
	w.note(i)
	return api.Declared{Intent: anIntent, Found: api.List[api.Conflict]{}}, nil
}

func (w *workshop) Claims(_ context.Context, q api.ClaimsQuery) ([]api.ClaimsAnswer, error) {
	w.note(q)
	return []api.ClaimsAnswer{{What: q.Scope.Paths[0], Free: true, Verdict: "allow", Holders: []api.Holder{}}}, nil
}

func (w *workshop) Briefing(_ context.Context, who api.Caller) (api.Briefing, error) {
	w.note(who)
	return api.Briefing{Session: "S-1234567", Text: "nothing", Conflicts: w.conflicts, Near: []api.Intent{}, Messages: []api.Message{}, At: noon}, nil
}

func (w *workshop) Messages(_ context.Context, q api.MessageQuery) ([]api.Message, error) {
	w.note(q)
	return []api.Message{{ID: "m1", At: noon, To: api.List[string]{"INT-1234567"}, Text: "hello"}}, nil
}

func (w *workshop) Send(_ context.Context, m api.NewMessage) (api.Message, error) {
	w.note(m)
	return api.Message{ID: "m2", At: noon, To: m.To, Text: m.Text}, nil
}

func (w *workshop) Watch(ctx context.Context, after uint64, most int) ([]api.LiveEvent, error) {
	for {
		changed := w.bell.Changed()
		w.mu.Lock()
		var out []api.LiveEvent
		for _, e := range w.events {
			if e.Seq > after && len(out) < most {
				out = append(out, e)
			}
		}
		w.mu.Unlock()
		if len(out) > 0 || after == 0 || ctx.Err() != nil {
			return out, nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
		}
	}
}

func (w *workshop) History(_ context.Context, q api.HistoryQuery) (api.History, error) {
	w.note(q)
	return api.History{Audit: []api.AuditLine{{Conflict: "CF-1234567", At: noon, Action: "override"}}, Saved: api.Saved{Minutes: 30, By: []api.SavedLine{}}}, nil
}

func (w *workshop) SetEmail(_ context.Context, lane, email string, p presence.Proof) (api.Outcome, error) {
	return w.act(api.EmailAct(lane, email), p)
}

func (w *workshop) SwitchWork(_ context.Context, s api.WorkSwitch, p presence.Proof) (api.Outcome, error) {
	return w.act(api.WorkSwitchAct(s), p)
}

func (w *workshop) SetLines(_ context.Context, repository string, on bool, p presence.Proof) (api.Outcome, error) {
	return w.act(api.LinesAct(repository, on), p)
}

func (w *workshop) Lines(context.Context) ([]api.LinesIn, error) {
	return []api.LinesIn{{Repository: "acme/shop", On: true}, {Repository: "acme/web"}}, nil
}

func (w *workshop) SetAgents(_ context.Context, repository string, on bool, p presence.Proof) (api.Outcome, error) {
	return w.act(api.AgentsAct(repository, on), p)
}

var (
	noon     = time.Unix(1700000000, 0).UTC()
	anIntent = api.Intent{
		Ref: "INT-1234567", Task: "partial refunds", Scope: api.Scope{Paths: api.List[string]{"src/**"}, Symbols: api.List[string]{}, Contracts: api.List[string]{}},
		DependsOn: api.List[string]{}, Issues: api.List[string]{"#42"}, Since: noon,
	}
	overlap = api.Conflict{
		Ref: "CF-1234567", ID: "c0ffee", Kind: "path_overlap", Status: "open", Severity: "info", Evidence: "observed", Confidence: 0.9, Seal: "e1",
		About: api.List[string]{"src/billing/refund.ts"}, Sides: []api.ConflictSide{{Ref: "INT-1234567", Own: true}}, Since: noon,
	}
	settled = api.Conflict{Ref: "CF-7654321", ID: "dead", Status: "resolved", About: api.List[string]{}, Sides: []api.ConflictSide{}}
)

func TestLiveWorkCrossesTheSocketUnchanged(t *testing.T) { // C10, C11, C17
	s := serve(t)
	w, ctx := s.workshop, t.Context()
	w.conflicts = []api.Conflict{overlap, settled}
	w.events = []api.LiveEvent{{Seq: 1, At: noon, Kind: "conflict", Ref: "CF-1234567"}}

	same(t, "conflicts", w.conflicts)(s.client.Conflicts(ctx, api.ConflictQuery{Repository: "acme/shop", Side: "INT-1", All: true}))
	if want := (api.ConflictQuery{Repository: "acme/shop", Side: "INT-1", All: true}); w.last(t) != want {
		t.Errorf("the node was asked %+v", w.last(t))
	}
	same(t, "show", must(w.Conflict(ctx, "CF-1234567")))(s.client.Conflict(ctx, "CF-1234567"))
	same(t, "explain", must(w.ExplainConflict(ctx, "CF-1234567")))(s.client.ExplainConflict(ctx, "CF-1234567"))
	same(t, "desk", must(w.Desk(ctx)))(s.client.Desk(ctx))
	same(t, "sessions", must(w.Sessions(ctx, api.WorkQuery{})))(s.client.Sessions(ctx, api.WorkQuery{All: true}))
	same(t, "intents", must(w.Intents(ctx, api.WorkQuery{})))(s.client.Intents(ctx, api.WorkQuery{}))
	same(t, "messages", must(w.Messages(ctx, api.MessageQuery{})))(s.client.Messages(ctx, api.MessageQuery{Max: 3, Caller: api.Caller{Session: "S-1"}}))
	if want := (api.MessageQuery{Max: 3, Caller: api.Caller{Session: "S-1"}}); w.last(t) != want {
		t.Errorf("the node was asked %+v", w.last(t))
	}
	same(t, "briefing", must(w.Briefing(ctx, api.Caller{})))(s.client.Briefing(ctx, api.Caller{Session: "S-1", Cwd: "/a b"}))
	if want := (api.Caller{Session: "S-1", Cwd: "/a b"}); w.last(t) != want {
		t.Errorf("the node was asked %+v", w.last(t))
	}
	h := must(w.History(ctx, api.HistoryQuery{}))
	same(t, "audit", []api.AuditLine(h.Audit))(s.client.Audit(ctx, api.HistoryQuery{Conflict: "CF-1", Max: 5}))
	same(t, "saved", h.Saved)(s.client.Saved(ctx, api.HistoryQuery{}))
	same(t, "agents lines", must(w.Lines(ctx)))(s.client.Lines(ctx))
	same(t, "watch", w.events)(s.client.Watch(ctx, 0))
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func TestWhatAgentsSayArrivesWhole(t *testing.T) { // C17
	s := serve(t)
	w, ctx := s.workshop, t.Context()
	who := api.Caller{Session: "S-1", Cwd: "/repo"}
	scope := api.Scope{Paths: api.List[string]{"a", "b b"}, Symbols: api.List[string]{"sym:go:a.go#F"}, Contracts: api.List[string]{"http:GET /x"}}

	n := api.NewIntent{Task: "refunds", Scope: scope, Mode: "exclusive", DependsOn: api.List[string]{"INT-7"}, Caller: who}
	same(t, "declare", api.Declared{Intent: anIntent, Found: api.List[api.Conflict]{}})(s.client.Declare(ctx, n))
	i := api.IntentChange{Intent: "INT-1", Scope: &scope, DependsOnAdd: api.List[string]{"INT-2"}, DependsOnRemove: api.List[string]{"INT-3"}, State: "merged", Caller: who}
	arrives(t, w, i)(s.client.ChangeIntent(ctx, i))
	q := api.ClaimsQuery{Repository: "acme/shop", Scope: scope, Caller: who}
	arrives(t, w, q)(s.client.Claims(ctx, q))
	m := api.NewMessage{To: api.List[string]{"INT-2"}, Text: "after you", Re: "m1", Caller: who}
	arrives(t, w, m)(s.client.Send(ctx, m))
	v := api.Verdict{Conflict: "CF-1", Verdict: "too_late", Note: "merged already", Caller: who}
	arrives(t, w, v)(s.client.Feedback(ctx, v))
	w.conflicts = []api.Conflict{overlap}
	r := api.Response{Conflict: "CF-1234567", Action: "will_rebase", Note: "Rebasing after INT-12 merges.", Caller: who}
	arrives(t, w, r)(s.client.Respond(ctx, r))
}

func arrives(t *testing.T, w *workshop, want any) func(any, error) {
	return func(_ any, err error) {
		t.Helper()
		if got := w.last(t); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("got %+v, want %+v, %v", got, want, err)
		}
	}
}

func TestTheRoutesOfConflictsAreThoseOfTheDocument(t *testing.T) { // C11, C12, D-27
	s := serve(t)
	s.workshop.conflicts = []api.Conflict{overlap, settled}
	for _, c := range []struct {
		method, path, body string
		status             int
		code               string
	}{
		{"POST", "/v1/conflicts/CF-1234567/actions", `{"conflict":"CF-1234567","action":"will_rebase","note":"Rebasing after INT-12 merges."}`, http.StatusOK, ""},
		{"POST", "/v1/conflicts/CF-1234567/actions", `{"action":"acknowledge"}`, http.StatusOK, ""},
		{"POST", "/v1/conflicts/CF-7654321/actions", `{"conflict":"CF-7654321","action":"acknowledge"}`, http.StatusConflict, "conflict-closed"},
		{"POST", "/v1/conflicts/CF-1/actions", `{"action":"acknowledge"}`, http.StatusNotFound, "no-such-conflict"},
		{"POST", "/v1/conflicts/CF-1234567/actions", `{"conflict":"CF-2","action":"acknowledge"}`, http.StatusBadRequest, "usage"},
		{"POST", "/v1/conflicts/CF-1234567/actions", `{"action":"override"}`, http.StatusBadRequest, "usage"},
		{"POST", "/v1/conflicts/CF-1234567/actions", `{"action":"acknowledge","as":"owner"}`, http.StatusBadRequest, "usage"},
		{"POST", "/v1/conflicts/CF-1234567/actions", `{"action":"acknowledge","note":"` + strings.Repeat("ü", api.NoteMax+1) + `"}`, http.StatusBadRequest, "usage"},
		{"POST", "/v1/conflicts/CF-1234567/feedback", `{"verdict":"useful"}`, http.StatusOK, ""},
		{"POST", "/v1/conflicts/CF-1234567/feedback", `{"verdict":"splendid"}`, http.StatusBadRequest, "usage"},
		{"POST", "/v1/conflicts/CF-1234567/override", `{"reason":"we agreed"}`, http.StatusUnauthorized, "presence-needed"},
		{"POST", "/v1/intents", `{"task":""}`, http.StatusBadRequest, "usage"},
		{"POST", "/v1/intents", `{"task":"x","mode":"private"}`, http.StatusBadRequest, "usage"},
		{"POST", "/v1/intents", `{"task":"x","session":"nobody"}`, http.StatusNotFound, "no-such-session"},
		{"POST", "/v1/intent", `{"state":"paused"}`, http.StatusBadRequest, "usage"},
		{"GET", "/v1/claims", "", http.StatusBadRequest, "usage"},
		{"POST", "/v1/messages", `{"text":"` + strings.Repeat("x", api.MessageMax+1) + `"}`, http.StatusBadRequest, "usage"},
		{"GET", "/agent-devices/conflicts", "", http.StatusOK, ""},
	} {
		status, answer := s.raw(t, c.method, c.path, c.body)
		if status != c.status || c.code != "" && codeOf(t, answer) != c.code {
			t.Errorf("%s %s %.60s: %d %.200s", c.method, c.path, c.body, status, answer)
		}
	}
	s.workshop.off = true
	if status, answer := s.raw(t, "GET", "/agent-devices/conflicts", ""); status != http.StatusNotFound || codeOf(t, answer) != "agents-off" {
		t.Errorf("switched off: %d %s", status, answer)
	}
}

func TestAPersonOverridesWhatTheyWereShown(t *testing.T) { // C12, C14, D-24
	s := serve(t)
	w, ctx := s.workshop, t.Context()
	w.conflicts = []api.Conflict{overlap}
	if _, err := s.client.Override(ctx, overlap, "we agreed on the order", s.signer); err != nil {
		t.Fatal(err)
	}
	if got := w.last(t); got != "override c0ffee\ne1\nwe agreed on the order" {
		t.Errorf("%q", got)
	}
	changed := overlap
	changed.Seal = "e2"
	if _, err := s.client.Override(ctx, changed, "we agreed", s.signer); api.Explain(err).Code != "presence-other-act" {
		t.Errorf("of other evidence: %v", err)
	}
	if _, err := s.client.Override(ctx, overlap, "ok", s.signer); api.Explain(err).Code != "usage" {
		t.Errorf("two letters: %v", err)
	}
	if _, err := s.client.Override(ctx, overlap, "we agreed", api.DemoProver()); api.Explain(err).Code != "presence-demo" {
		t.Errorf("nobody's: %v", err)
	}
	if c, err := s.client.RespondAs(ctx, overlap, api.Response{Action: "false_positive"}, s.signer); err != nil || c.Ref != overlap.Ref {
		t.Errorf("%+v %v", c, err)
	}
	r := w.last(t).(api.Response)
	if r.Proof.Kind == "" || r.Action != "false_positive" {
		t.Errorf("%+v", r)
	}
	if _, err := s.client.Respond(ctx, r); api.Explain(err).Code != "presence-replayed" {
		t.Errorf("once more: %v", err)
	}
}

func TestSharingLiveWorkTakesAPerson(t *testing.T) { // D-24, D-26, D-27
	s := serve(t)
	w, ctx := s.workshop, t.Context()
	lane := api.Lane{ID: "f2"}
	_, one := s.client.SetEmail(ctx, "f2", "maya@acme.com", s.signer)
	_, two := s.client.SetAgents(ctx, "acme/shop", true, s.signer)
	_, three := s.client.SwitchWork(ctx, api.WorkSwitch{Lane: lane.ID, Repositories: []string{"acme/shop"}, On: true, HideNames: true}, s.signer)
	_, four := s.client.SwitchWork(ctx, api.WorkSwitch{Lane: lane.ID}, s.signer)
	_, five := s.client.SetLines(ctx, "acme/shop", true, s.signer)
	if err := errors.Join(one, two, three, four, five); err != nil {
		t.Fatal(err)
	}
	want := []any{"email f2\nmaya@acme.com", "agents on " + api.AgentsAcross + "\nacme/shop", "lane work on f2\nacme/shop\nnames hidden", "lane work off f2", "agents lines on " + api.LinesAcross + "\nacme/shop"}
	if !reflect.DeepEqual(w.got, want) {
		t.Errorf("the node did %q", w.got)
	}
}

func TestNewsIsFollowedAsItComes(t *testing.T) {
	s := serve(t)
	w := s.workshop
	w.events = []api.LiveEvent{{Seq: 1}}
	type followed struct {
		events []api.LiveEvent
		err    error
	}
	news := make(chan followed, 1)
	go func() {
		events, err := s.client.Watch(t.Context(), 1)
		news <- followed{events, err}
	}()
	w.mu.Lock()
	w.events = append(w.events, api.LiveEvent{Seq: 2, Kind: "edit"})
	w.mu.Unlock()
	w.bell.Ring()
	select {
	case got := <-news:
		if got.err != nil || len(got.events) != 1 || got.events[0].Kind != "edit" {
			t.Errorf("%+v", got)
		}
	case <-time.After(time.Minute):
		t.Fatal("no news")
	}
}

func TestANodeWithoutLiveWorkSaysSo(t *testing.T) {
	server := &api.Server{}
	for _, v := range api.Verbs {
		if v.Path != "/v1/conflicts" {
			continue
		}
		w := httptest.NewRecorder()
		server.Handler().ServeHTTP(w, must(http.NewRequestWithContext(t.Context(), v.Method, v.Path, http.NoBody)))
		if w.Code != http.StatusNotFound || codeOf(t, w.Body.String()) != "agents-off" {
			t.Errorf("%d %s", w.Code, w.Body)
		}
	}
}

func TestTheFieldsOfEveryReadingVerbAreWrittenDown(t *testing.T) {
	for _, v := range api.Verbs {
		fields := api.Fields(v.Name)
		if v.Where == api.Node && v.Reads && !v.Step && len(fields) == 0 {
			t.Errorf("%s: none", v.Name)
		}
		for _, f := range fields {
			if f == "" || strings.HasPrefix(f, "{") {
				t.Errorf("%s: a field without a name", v.Name)
			}
		}
	}
	want := []string{"minutes", "conflicts", "zero", "by{severity,conflicts,minutes}", "basis"}
	if got := api.Fields("saved"); !reflect.DeepEqual(got, want) {
		t.Errorf("%q", got)
	}
}
