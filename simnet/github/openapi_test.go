package github

import (
	"bytes"
	"fmt"
	"io"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/legacy"
)

// description is GitHub's own description of the REST answers, cut to the operations the stand-in has; see testdata/README.md.
func description(t *testing.T) routers.Router {
	t.Helper()
	doc := must(openapi3.NewLoader().LoadFromFile("testdata/github-subset.json"))(t)
	doc.Servers = openapi3.Servers{{URL: "http://api.github.localhost"}}
	return must(legacy.NewRouter(doc, openapi3.DisableExamplesValidation()))(t)
}

// violation holds an answer against the description of the operation at path.
func violation(t *testing.T, router routers.Router, method, path string, a answer) error {
	t.Helper()
	path, _, _ = strings.Cut(path, "?")
	req := httptest.NewRequestWithContext(t.Context(), method, "http://api.github.localhost"+path, nil)
	route, parameters, err := router.FindRoute(req)
	if err != nil {
		return err
	}
	return openapi3filter.ValidateResponse(t.Context(), &openapi3filter.ResponseValidationInput{
		RequestValidationInput: &openapi3filter.RequestValidationInput{Request: req, PathParams: parameters, Route: route},
		Status:                 a.status, Header: a.header, Body: io.NopCloser(bytes.NewReader(a.raw)),
		Options: &openapi3filter.Options{IncludeResponseStatus: true},
	})
}

// step is a request whose answer is held against GitHub's description.
type step struct {
	token, method, path, body string
	status                    int
	as                        string // the described path, where the one asked has none
}

func TestAnswersAreAsGitHubDescribesThem(t *testing.T) {
	w := newWorld(t)
	router := description(t)
	w.open("clean")
	w.open("rival")
	must(w.s.OpenPull(w.bob, w.repo, "master", w.fork, "second", "From a fork", true))(t)
	w.open("third")
	tip, blob := w.repo.bare().tip("master"), w.repo.bare().resolve("master:a.txt")
	const app = "/repos/alice/app"
	for _, s := range []step{
		{"alice-token", "GET", "/user", "", 200, ""},
		{"wrong", "GET", "/user", "", 401, ""},
		{"", "GET", "/user", "", 401, ""},
		{"alice-token", "GET", "/users/bob", "", 200, ""},
		{"alice-token", "GET", "/users/nobody", "", 404, ""},
		{"alice-token", "GET", "/rate_limit", "", 200, ""},
		{"alice-token", "GET", app, "", 200, ""},
		{"bob-token", "GET", "/repos/bob/app", "", 200, ""},
		{"bob-token", "GET", "/repos/bob/nothing", "", 404, ""},
		{"alice-token", "GET", fmt.Sprintf("/repositories/%d", w.repo.ID), "", 200, app},
		{"alice-token", "GET", "/repositories/1", "", 404, app},
		{"alice-token", "GET", app + "/branches/master", "", 200, ""},
		{"alice-token", "GET", app + "/branches/none", "", 404, ""},
		{"alice-token", "GET", app + "/git/ref/heads/master", "", 200, app + "/git/ref/heads"},
		{"alice-token", "GET", app + "/git/ref/heads/none", "", 404, app + "/git/ref/heads"},
		{"alice-token", "GET", app + "/git/ref/pull/1/head", "", 200, app + "/git/ref/pull"},
		{"alice-token", "GET", app + "/git/trees/" + tip, "", 200, ""},
		{"alice-token", "GET", app + "/git/trees/master?recursive=1", "", 200, ""},
		{"alice-token", "GET", app + "/git/blobs/" + blob, "", 200, ""},
		{"alice-token", "GET", app + "/git/blobs/" + tip, "", 404, ""},
		{"alice-token", "GET", app + "/commits/master", "", 200, ""},
		{"alice-token", "GET", app + "/commits/none", "", 422, ""},
		{"alice-token", "GET", app + "/pulls", "", 200, ""},
		{"alice-token", "GET", app + "/pulls?state=all&per_page=2&page=2", "", 200, ""},
		{"alice-token", "GET", app + "/pulls/1", "", 200, ""},
		{"alice-token", "GET", app + "/pulls/2", "", 200, ""},
		{"alice-token", "GET", app + "/pulls/3", "", 200, ""},
		{"alice-token", "GET", app + "/pulls/99", "", 404, ""},
		{"alice-token", "POST", app + "/pulls", `{"title":"again","head":"clean","base":"master"}`, 422, ""},
		{"bob-token", "POST", app + "/pulls", `{"title":"new","head":"bob:third","base":"master"}`, 201, ""},
		{"alice-token", "PATCH", app + "/pulls/5", `{"state":"closed","title":"closed"}`, 200, ""},
		{"bob-token", "PATCH", app + "/pulls/1", `{"title":"mine"}`, 403, ""},
		{"alice-token", "GET", app + "/pulls/1/merge", "", 404, ""},
		{"bob-token", "PUT", app + "/pulls/1/merge", "", 403, ""},
		{"alice-token", "PUT", app + "/pulls/1/merge", `{"sha":"` + tip + `"}`, 409, ""},
		{"alice-token", "PUT", app + "/pulls/2/merge", "", 405, ""},
		{"alice-token", "PUT", app + "/pulls/2/update-branch", "", 422, ""},
		{"alice-token", "PUT", app + "/pulls/4/update-branch", "", 202, ""},
		{"alice-token", "PUT", app + "/pulls/1/merge", "", 200, ""},
		{"alice-token", "GET", app + "/pulls/1/merge", "", 204, ""},
		{"alice-token", "GET", app + "/pulls/1", "", 200, ""},
		{"alice-token", "GET", app + "/pulls?state=closed", "", 200, ""},
	} {
		a := w.call(s.token, s.method, s.path, s.body)
		if a.status != s.status {
			t.Errorf("%s %s: status %d, want %d: %s", s.method, s.path, a.status, s.status, a.raw)
			continue
		}
		path := s.path
		if s.as != "" {
			path = s.as
		}
		if err := violation(t, router, s.method, path, a); err != nil {
			t.Errorf("%s %s: %v", s.method, s.path, err)
		}
	}
}

// The description must bite, or the test above proves nothing.
func TestDescriptionCatchesWrongAnswers(t *testing.T) {
	w := newWorld(t)
	router := description(t)
	w.open("clean")
	const pull = "/repos/alice/app/pulls/1"
	good := w.call("alice-token", "GET", pull, "").want(t, 200, "")
	for _, wrong := range []struct{ old, with string }{
		{`"mergeable":true`, `"mergeable":"UNKNOWN"`},
		{`"state":"open"`, `"state":"OPEN"`},
		{`"number":1,`, `"number":"1",`},
		{`"merge_commit_sha"`, `"merge_commit"`},
		{`"maintainer_can_modify"`, `"maintainers"`},
	} {
		bad := good
		bad.raw = bytes.Replace(good.raw, []byte(wrong.old), []byte(wrong.with), 1)
		if bytes.Equal(bad.raw, good.raw) || violation(t, router, "GET", pull, bad) == nil {
			t.Errorf("%s in place of %s passes", wrong.with, wrong.old)
		}
	}
}
