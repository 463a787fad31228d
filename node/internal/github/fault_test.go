package github

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	standin "github.com/parley-mesh/parley/simnet/github"
)

func TestRefusedTokenIsASignOut(t *testing.T) { // P10
	w := newWorld(t)
	w.open("clean")
	w.s.Revoke("alice-token")
	for what, err := range w.everyRead() {
		wantErr(t, what, err, ErrNotSignedIn)
	}
	_, err := w.merge(1, w.state(1).HeadOID)
	wantErr(t, "merge", err, ErrNotSignedIn)
}

func TestOutageSaysNothing(t *testing.T) { // P10
	for _, f := range []standin.Fault{
		{Status: 0},
		{Status: 500},
		{Status: 502, Body: "<html>"},
		{Status: 503},
		{Status: 404, Body: "<html>a portal"},
		{Status: 404, Header: map[string]string{"Content-Type": "text/html"}, Body: "<html>"},
		{Status: 401, Body: "<html>a proxy"},
		{Status: 403, Header: map[string]string{"Content-Type": "text/html"}, Body: "<html>"},
		{Status: 200, Body: "<html>"},
		{Status: 200, Header: map[string]string{"Content-Type": jsonType}, Body: `{}`},
		{Status: 200, Header: map[string]string{"Content-Type": jsonType}, Body: `{"id":`},
	} {
		t.Run(fmt.Sprintf("%d %s", f.Status, f.Body), func(t *testing.T) {
			w := newWorld(t)
			w.open("clean")
			f.Times = 100
			w.s.Fault(f)
			for what, err := range w.everyRead() {
				wantErr(t, what, err, ErrTemporary)
			}
		})
	}
}

func TestUnreachableGitHubSaysNothing(t *testing.T) { // P10
	w := newWorld(t)
	w.web.Close()
	for what, err := range w.everyRead() {
		wantErr(t, what, err, ErrTemporary)
	}
}

func TestSpentLimitSaysNothingAndIsKept(t *testing.T) { // P10
	w := newWorld(t)
	w.open("clean")
	w.s.Fault(standin.Fault{
		PathPrefix: "/repos", Status: 403, Header: map[string]string{
			"Content-Type": jsonType, "X-RateLimit-Remaining": "0",
			"X-RateLimit-Resource": "core", "X-RateLimit-Reset": strconv.FormatInt(time.Now().Add(time.Hour).Unix(), 10),
		},
		Body: `{"message":"API rate limit exceeded for user ID 1."}`,
	})
	for range 2 {
		_, err := w.c.Pull(t.Context(), "alice", "app", 1)
		wantErr(t, "pull", err, ErrTemporary)
	}
	if n := len(w.s.Log()); n != 1 {
		t.Errorf("asked %d times although the limit was spent", n)
	}
	w.signIn("bob-token")
	if _, err := w.c.Pull(t.Context(), "alice", "app", 1); err != nil {
		t.Errorf("another account has its own limit: %v", err)
	}
}

func TestSpentQueryLimitSaysNothing(t *testing.T) { // P10
	for _, kind := range []string{"RATE_LIMITED", "RATE_LIMIT"} {
		w := newWorld(t)
		w.s.Fault(standin.Fault{
			GraphQL: "OpenPulls", Status: 200, Header: map[string]string{"Content-Type": jsonType},
			Body: `{"errors":[{"type":"` + kind + `","message":"API rate limit exceeded"}]}`,
		})
		_, err := w.c.OpenPulls(t.Context(), "alice", "app", "master")
		wantErr(t, kind, err, ErrTemporary)
	}
}

func secondary(method string) standin.Fault {
	return standin.Fault{
		Method: method, PathPrefix: "/repos", Status: 403, Header: map[string]string{"Content-Type": jsonType, "Retry-After": "1"},
		Body: `{"message":"You have exceeded a secondary rate limit.","documentation_url":"https://docs.github.com/rest/overview/rate-limits-for-the-rest-api#about-secondary-rate-limits"}`,
	}
}

func TestSecondaryLimitIsWaitedOut(t *testing.T) {
	w := newWorld(t)
	n, head := w.open("clean")
	w.s.Fault(secondary("GET"))
	must(w.c.Pull(t.Context(), "alice", "app", n))(t)
	// On a reused connection the standard library would repair a body that was read before.
	e := w.endpoint()
	e.NoKeepAlive = true
	w.s.Fault(secondary("PUT"))
	m := merge{c: must(New(e))(t), owner: "alice", name: "app", n: n, head: head, method: "merge"}
	if r, err := m.press(t.Context()); err != nil || r == nil || r.Outcome != Merged || w.presses() != 2 {
		t.Errorf("result %+v, %v after %d presses; %v", r, err, w.presses(), m.doubt)
	}
}

func TestUnchangedAnswerIsFree(t *testing.T) {
	w := newWorld(t)
	n, head := w.open("clean")
	var answers []PullState
	for range 4 {
		answers = append(answers, must(w.c.Pull(t.Context(), "alice", "app", n))(t))
	}
	log := w.s.Log()
	if last := log[len(log)-1]; last.Status != http.StatusNotModified || answers[3] != answers[2] || answers[3].HeadOID != head {
		t.Errorf("last answer %+v from %+v", answers[3], last)
	}
	w.s.ClosePull(w.pulls[n])
	if p := must(w.c.Pull(t.Context(), "alice", "app", n))(t); p.State != "closed" {
		t.Errorf("an old answer: %+v", p)
	}
	w.signIn("bob-token")
	must(w.c.Pull(t.Context(), "alice", "app", n))(t)
	if log = w.s.Log(); log[len(log)-1].Conditional {
		t.Error("bob asked with alice's tag")
	}
}

func TestKeptAnswersAreBounded(t *testing.T) {
	asked := 0
	tr := chain(roundTrip(func(r *http.Request) (*http.Response, error) {
		asked++
		rec := httptest.NewRecorder()
		rec.Header().Set("ETag", `"x"`)
		rec.WriteString(strings.Repeat("x", 10))
		resp := rec.Result()
		resp.Request = r
		return resp, nil
	})).(*conditional)
	for i := range keptMax + 50 {
		resp := must(tr.RoundTrip(httptest.NewRequest("GET", fmt.Sprintf("http://api.github.localhost/%d", i), nil)))(t)
		resp.Body.Close()
	}
	if len(tr.kept) != keptMax || len(tr.order) != keptMax || asked != keptMax+50 {
		t.Errorf("%d kept, %d in order, %d asked", len(tr.kept), len(tr.order), asked)
	}
	if _, ok := tr.kept["http://api.github.localhost/0"]; ok {
		t.Error("the oldest is kept")
	}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestEndpointIsChecked(t *testing.T) { // D-23
	for _, e := range []Endpoint{
		{},
		{Host: "github.com:443"},
		{Host: "https://github.com"},
		{Host: "GitHub.com"},
		{Host: "api.github.com"},
		{Host: "-x"},
		{Host: "github.com", Addr: "10.0.0.1:80"},
		{Host: "github.com", Addr: "localhost:80"},
		{Host: "github.com", Addr: "127.0.0.1"},
		{Host: "github.com", Addr: "127.0.0.1:0"},
		{Host: "github.com", Proxy: "socks5://x"},
	} {
		if _, err := New(e); err == nil {
			t.Errorf("%+v passed", e)
		}
	}
	if _, err := New(Endpoint{Host: "github.com", CAFile: filepath.Join(t.TempDir(), "none")}); err == nil {
		t.Error("missing certificates passed")
	}
	for _, e := range []Endpoint{{Host: "github.com"}, {Host: "ghe.example.org", Addr: "127.0.0.1:8443"}, {Host: "github.localhost"}} {
		if err := e.Validate(); err != nil {
			t.Error(err)
		}
	}
}

func TestWriteIsNeverSentOn(t *testing.T) {
	first := httptest.NewRequest("GET", "https://api.github.com/repos/a/b", nil)
	for _, c := range []struct {
		method, to string
		want       error
	}{
		{"GET", "https://api.github.com/repositories/1", nil},
		{"PUT", "https://api.github.com/repositories/1", http.ErrUseLastResponse},
		{"GET", "https://elsewhere.example/repositories/1", http.ErrUseLastResponse},
		{"GET", "http://api.github.com/repositories/1", http.ErrUseLastResponse},
	} {
		first.Method = c.method
		if err := follow(httptest.NewRequest("GET", c.to, nil), []*http.Request{first}); err != c.want {
			t.Errorf("%s to %s: %v", c.method, c.to, err)
		}
	}
}
