package node

import (
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/parley-mesh/parley/node/api"
	"github.com/parley-mesh/parley/node/internal/hooks"
)

// raw is one request over the socket, and what came of it.
func (f *far) raw(method, path, body string) (status int, code string, answer map[string]any) {
	f.tb.Helper()
	r, err := http.NewRequestWithContext(f.tb.Context(), method, "http://parley"+path, strings.NewReader(body))
	if err != nil {
		f.tb.Fatal(err)
	}
	resp, err := f.http.Do(r)
	if err != nil {
		f.tb.Fatal(err)
	}
	defer resp.Body.Close() // it was read to its end
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		f.tb.Fatal(err)
	}
	var fault struct{ Error *api.Fault }
	if json.Unmarshal(text, &fault) == nil && fault.Error != nil {
		return resp.StatusCode, fault.Error.Code, nil
	}
	if len(text) > 0 && text[0] == '{' && json.Unmarshal(text, &answer) != nil {
		f.tb.Fatalf("%s %s answers %s", method, path, text)
	}
	return resp.StatusCode, "", answer
}

// answers checks what one request comes to: its status, its fault, or the fields of its answer.
func (f *far) answers(when, method, path, body string, status int, code string, fields ...string) {
	f.tb.Helper()
	got, what, answer := f.raw(method, path, body)
	if got != status || what != code || !has(answer, fields...) {
		f.tb.Errorf("%s: %s %s %s: %d %s %v, want %d %s with %v", when, method, path, body, got, what, answer, status, code, fields)
	}
}

// has reports whether an answer has these fields.
func has(answer map[string]any, fields ...string) bool {
	return !slices.ContainsFunc(fields, func(name string) bool { _, there := answer[name]; return !there })
}

func TestEveryRouteThatTheDocumentsNameAnswersAsTheySay(t *testing.T) { // C11, C12, C14, P25, D-27
	_, homes, dirs := newHub(t, 1, guarded)
	c := runCrewed(t, homes[0], dirs[0])
	f := faraway(t, homes[0], dirs[0])
	c.looked()
	c.hook(hooks.Start, "one")
	blockedAt(t, c, "one", "db/0042.sql")
	ref := named(t, c, "there is a conflict", func(c api.Conflict) bool { return c.Kind == "protected_path" }).Ref
	c.at(c.dir, hooks.Start, "other") // takes no part in it
	const (
		desk = "/agent-devices/conflicts"
		fits = `{"action":"acknowledge","note":"Rebasing after INT-12 merges.","session":"one"}`
	)
	one := "/v1/conflicts/" + ref
	shape := []string{"ref", "kind", "status", "severity", "blocking", "evidence", "confidence", "sentence", "suggestion", "sides"}
	f.answers("the desk", "GET", desk, "", 200, "", "conversations", "conflicts")
	f.answers("the list", "GET", "/v1/conflicts", "", 200, "")
	f.answers("one", "GET", one, "", 200, "", append(shape, "acts")...)
	f.answers("why", "GET", one+"/explain", "", 200, "", append(shape, "rule", "why", "policy")...)
	for _, action := range []string{"acknowledge", "will_rebase", "propose_sequence", "narrow_scope", "take_over", "request_override", "false_positive", "resolve"} {
		f.answers("a side", "POST", one+"/actions", `{"conflict":"`+ref+`","action":"`+action+`","note":"n","session":"one"}`, 200, "", shape...)
	}
	f.answers("an unknown action", "POST", one+"/actions", `{"action":"override","session":"one"}`, 400, "usage")
	f.answers("an unknown field", "POST", one+"/actions", `{"action":"resolve","role":"owner"}`, 400, "usage")
	f.answers("another conflict", "POST", one+"/actions", `{"conflict":"CF-1","action":"resolve","session":"one"}`, 400, "usage")
	f.answers("nobody's", "POST", "/v1/conflicts/CF-99999999999/actions", fits, 404, "no-such-conflict")
	f.answers("no session", "POST", one+"/actions", `{"action":"resolve","session":"nobody"}`, 404, "no-such-session")
	f.answers("who takes no part", "POST", one+"/actions", `{"action":"resolve","session":"other"}`, 403, "not-participant")
	for _, verdict := range []string{"useful", "false_positive", "too_late"} {
		f.answers("feedback", "POST", one+"/feedback", `{"verdict":"`+verdict+`","session":"one"}`, 200, "")
	}
	f.answers("feedback", "POST", one+"/feedback", `{"verdict":"splendid"}`, 400, "usage")
	f.answers("feedback on nothing", "POST", "/v1/conflicts/CF-99999999999/feedback", `{"verdict":"useful"}`, 404, "no-such-conflict")
	f.answers("an override by nobody", "POST", one+"/override", `{"reason":"diego agreed"}`, 401, "presence-needed")
	seen, err := f.client.Conflict(t.Context(), ref)
	if err != nil {
		t.Fatal(err)
	}
	for _, reason := range []string{"", "ok", strings.Repeat("x", api.NoteMax+1)} {
		if _, err := f.client.Override(t.Context(), seen.Conflict, reason, api.DemoProver()); api.Explain(err).Code != "usage" || api.Explain(err).Status != http.StatusBadRequest {
			t.Errorf("a reason of %d characters: %v", len(reason), err)
		}
	}
	if _, err := f.client.Override(t.Context(), seen.Conflict, "diego agreed", api.DemoProver()); err != nil {
		t.Fatal(err)
	}
	f.answers("one that is closed", "POST", one+"/actions", fits, 409, "conflict-closed")
	if _, err := f.client.Override(t.Context(), seen.Conflict, "once more", api.DemoProver()); api.Explain(err).Code != "conflict-closed" || api.Explain(err).Status != http.StatusConflict {
		t.Errorf("overridden twice: %v", err)
	}
	f.answers("feedback comes after", "POST", one+"/feedback", `{"verdict":"useful","session":"one"}`, 200, "")

	if _, err := f.client.SetAgents(t.Context(), "", false, api.DemoProver()); err != nil {
		t.Fatal(err)
	}
	for _, r := range []struct{ method, path, body string }{
		{"GET", desk, ""},
		{"GET", "/v1/conflicts", ""},
		{"GET", one, ""},
		{"GET", one + "/explain", ""},
		{"POST", one + "/actions", fits},
		{"POST", one + "/feedback", `{"verdict":"useful"}`},
	} {
		f.answers("switched off", r.method, r.path, r.body, 404, "agents-off")
	}
	if _, err := f.client.Override(t.Context(), seen.Conflict, "while it is off", api.DemoProver()); api.Explain(err).Code != "agents-off" || api.Explain(err).Status != http.StatusNotFound {
		t.Errorf("an override while it is off: %v", err)
	}
}
