package github

import (
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"testing"
)

func TestUnchangedAnswersCostNothing(t *testing.T) {
	w := newWorld(t)
	w.open("clean")
	const pull = "/repos/alice/app/pulls/1"
	w.call("alice-token", "GET", pull, "")
	first := w.call("alice-token", "GET", pull, "").want(t, 200, "")
	again := w.call("alice-token", "GET", pull, "", "If-None-Match", first.header.Get("ETag"))
	if again.status != 304 || len(again.raw) > 0 {
		t.Fatalf("got %d %s", again.status, again.raw)
	}
	if again.header.Get("X-RateLimit-Used") != first.header.Get("X-RateLimit-Used") {
		t.Errorf("304 was charged: %s after %s", again.header.Get("X-RateLimit-Used"), first.header.Get("X-RateLimit-Used"))
	}
	w.call("alice-token", "PUT", pull+"/merge", "").want(t, 200, "")
	w.call("alice-token", "GET", pull, "", "If-None-Match", first.header.Get("ETag")).want(t, 200, "")
	log := w.s.Log()
	if entry := log[2]; entry.Status != 304 || !entry.Conditional || entry.Login != "alice" || entry.Path != pull {
		t.Errorf("the log says %+v", entry)
	}
}

func TestPagesLinkToEachOther(t *testing.T) {
	w := newWorld(t)
	for _, branch := range []string{"clean", "rival", "second", "third"} {
		w.open(branch)
	}
	first := w.call("alice-token", "GET", "/repos/alice/app/pulls?per_page=3", "").want(t, 200, "")
	next := `<http://api.github.localhost/repos/alice/app/pulls?page=2&per_page=3>; rel="next"`
	if link := first.header.Get("Link"); !strings.Contains(link, next) {
		t.Errorf("the link is %s", link)
	}
	second := w.call("alice-token", "GET", "/repos/alice/app/pulls?page=2&per_page=3", "").want(t, 200, "")
	if link := second.header.Get("Link"); strings.Contains(link, "next") || !strings.Contains(link, `rel="prev"`) {
		t.Errorf("the last page links %s", link)
	}
	if strings.Count(string(first.raw), `"merge_commit_sha"`) != 3 || strings.Count(string(second.raw), `"merge_commit_sha"`) != 1 {
		t.Error("the pages do not hold 3 and 1")
	}
}

func TestFaultsAnswerInPlaceOfTheServer(t *testing.T) {
	w := newWorld(t)
	w.open("clean")
	w.s.Fault(Fault{
		Method: "GET", PathPrefix: "/user", Status: 429, Header: map[string]string{"Retry-After": "7"},
		Body: `{"message":"slow down"}`, Times: 2,
	})
	for range 2 {
		if a := w.call("alice-token", "GET", "/user", "").want(t, 429, "slow down"); a.header.Get("Retry-After") != "7" {
			t.Errorf("headers are %v", a.header)
		}
	}
	w.call("alice-token", "GET", "/user", "").want(t, 200, "")

	w.s.Fault(Fault{GraphQL: "rateLimit", Status: 200, Body: `{"errors":[{"type":"RATE_LIMITED","message":"API rate limit exceeded"}]}`})
	if _, problems := w.query("alice-token", "{ viewer { login } }", nil); problems != nil {
		t.Errorf("another query met the fault: %v", problems)
	}
	if _, problems := w.query("alice-token", "{ rateLimit { cost } }", nil); len(problems) != 1 {
		t.Errorf("the query met no fault: %v", problems)
	}

	w.s.Fault(Fault{Method: "PUT", After: true, Status: 502, Body: "<html>"})
	w.call("alice-token", "PUT", "/repos/alice/app/pulls/1/merge", "").want(t, 502, "")
	w.call("alice-token", "GET", "/repos/alice/app/pulls/1/merge", "").want(t, 204, "")

	w.s.Fault(Fault{PathPrefix: "/graphql"})
	req := must(http.NewRequestWithContext(t.Context(), "POST", w.web.URL+"/api/graphql", strings.NewReader("{}")))(t)
	req.Header.Set("Authorization", "token alice-token")
	if res, err := http.DefaultClient.Do(req); err == nil {
		res.Body.Close()
		t.Errorf("the connection was not dropped: %s", res.Status)
	}
	dir := w.clone("alice-token", "alice/app")
	w.s.Fault(Fault{PathPrefix: "/alice/app.git/git-receive-pack", Status: 503})
	if out, err := tryGit(t, dir, "push", "origin", "master:new"); err == nil || !strings.Contains(out, "503") {
		t.Errorf("the push met no fault: %v, %s", err, out)
	}
}

func TestHostsDecideTheShape(t *testing.T) {
	w := newWorld(t)
	for host, paths := range map[string]map[string]int{
		"api.github.localhost": {"/user": 200, "/api/v3/user": 404, "/alice/app.git/info/refs?service=git-upload-pack": 404},
		"github.localhost":     {"/user": 404, "/api/v3/user": 404, "/alice/app.git/info/refs?service=git-upload-pack": 200},
		"ghes.test":            {"/user": 404, "/api/v3/user": 200, "/alice/app.git/info/refs?service=git-upload-pack": 200},
	} {
		for path, status := range paths {
			req := must(http.NewRequestWithContext(t.Context(), "GET", w.web.URL+path, nil))(t)
			req.Host = host
			req.Header.Set("Authorization", "bearer alice-token")
			res := must(http.DefaultClient.Do(req))(t)
			res.Body.Close()
			if res.StatusCode != status {
				t.Errorf("%s%s: %d, want %d", host, path, res.StatusCode, status)
			}
		}
	}
}

func TestRevokedTokenIsBadCredentials(t *testing.T) {
	w := newWorld(t)
	w.s.Revoke("alice-token")
	w.call("alice-token", "GET", "/user", "").want(t, 401, "Bad credentials")
	w.call("", "POST", "/graphql", `{"query":"{ viewer { login } }"}`).want(t, 401, "")
}

// A commit of any fork is found through every repository of the network: that a commit exists on GitHub proves nothing.
func TestCommitsOfTheForkNetworkAreFoundEverywhere(t *testing.T) {
	w := newWorld(t)
	dir := w.clone("bob-token", "bob/app")
	write(t, dir, "only-here.txt", "x\n")
	commitAll(t, dir, "only in the fork")
	runGit(t, dir, "push", "-q", "origin", "master")
	w.call("alice-token", "GET", "/repos/alice/app/commits/"+runGit(t, dir, "rev-parse", "HEAD"), "").want(t, 200, "")
	w.call("alice-token", "GET", "/repos/alice/app/commits/only", "").want(t, 422, "No commit found for SHA: only")
}

func TestCompareCountsBothSides(t *testing.T) {
	w := newWorld(t)
	a := w.call("alice-token", "GET", "/repos/alice/app/compare/master...clean", "").want(t, 200, "")
	if a.body["status"] != "diverged" || a.body["ahead_by"] != 1.0 || a.body["behind_by"] != 1.0 {
		t.Errorf("got %s", a.raw)
	}
	w.call("alice-token", "GET", "/repos/alice/app/compare/master...none", "").want(t, 404, "")
}

func TestManyCallersAtOnce(t *testing.T) {
	w := newWorld(t)
	for _, branch := range []string{"clean", "second", "third"} {
		w.open(branch)
	}
	var wg sync.WaitGroup
	for n := range 3 {
		wg.Go(func() {
			w.call("alice-token", "PUT", "/repos/alice/app/pulls/"+strconv.Itoa(n+1)+"/merge", "")
			w.query("alice-token", openPulls, variables(nil))
			w.s.Writes()
			w.s.PullState(w.repo, n+1)
			w.s.Log()
		})
	}
	wg.Wait()
	if got := w.s.Writes(); len(got) != 3 {
		t.Errorf("three merges left %d writes: %+v", len(got), got)
	}
}

func TestOldNameLeadsToTheNumber(t *testing.T) {
	w := newWorld(t)
	w.open("clean")
	dir := w.clone("alice-token", "alice/app")
	w.repo = must(w.s.Rename(w.repo, "tool"))(t)
	moved := w.call("alice-token", "GET", "/repos/alice/app/pulls/1", "").want(t, 301, "Moved Permanently")
	byNumber := fmt.Sprintf("/repositories/%d/pulls/1", w.repo.ID)
	if !strings.HasSuffix(moved.header.Get("Location"), byNumber) {
		t.Errorf("the old name leads to %s", moved.header.Get("Location"))
	}
	w.call("alice-token", "GET", byNumber, "").want(t, 200, "")
	w.call("alice-token", "PUT", "/repos/alice/app/pulls/1/merge", "").want(t, 307, "Temporary Redirect")
	runGit(t, dir, "push", "-q", "origin", "master:new")
	data, problems := w.query("alice-token", `{ repository(owner: "alice", name: "app") { nameWithOwner } }`, nil)
	if problems != nil || at(data, "repository", "nameWithOwner") != "alice/tool" {
		t.Errorf("GraphQL says %v, %v", data, problems)
	}
	again := must(New(w.s.dir))(t)
	if got := again.Repo("alice", "tool"); got == nil || got.ID != w.repo.ID || again.Writes()[0].Repo != "alice/tool" {
		t.Errorf("after a restart the repository is %+v", got)
	}
}

func TestAPIAnswersThroughTheProxyToo(t *testing.T) {
	w := newWorld(t)
	proxy := must(url.Parse(w.web.URL))(t)
	client := http.Client{Transport: &http.Transport{Proxy: http.ProxyURL(proxy), DisableKeepAlives: true}}
	for address, status := range map[string]int{"http://api.github.localhost/user": 200, "http://example.org/user": 403} {
		req := must(http.NewRequestWithContext(t.Context(), "GET", address, nil))(t)
		req.Header.Set("Authorization", "token alice-token")
		res := must(client.Do(req))(t)
		res.Body.Close()
		if res.StatusCode != status {
			t.Errorf("%s: %s, want %d", address, res.Status, status)
		}
	}
}
