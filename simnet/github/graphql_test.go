package github

import (
	"encoding/json"
	"fmt"
	"maps"
	"testing"
	"time"
)

// openPulls is the list query of a client that scans for conflicts.
const openPulls = `query OpenPulls($owner: String!, $name: String!, $base: String!, $ref: String!, $after: String) {
  rateLimit { cost remaining resetAt }
  repository(owner: $owner, name: $name) {
    databaseId nameWithOwner viewerPermission mergeCommitAllowed squashMergeAllowed rebaseMergeAllowed viewerDefaultMergeMethod
    ref(qualifiedName: $ref) { target { oid } }
    pullRequests(states: OPEN, baseRefName: $base, first: 50, after: $after, orderBy: {field: CREATED_AT, direction: ASC}) {
      pageInfo { hasNextPage endCursor }
      nodes { number headRefOid headRefName mergeable isDraft isCrossRepository maintainerCanModify
              headRepository { nameWithOwner owner { __typename login } } author { __typename login ... on User { databaseId } } } } } }`

// verifyFinal is the query that checks a published commit and a file of it.
const verifyFinal = `query Verify($owner: String!, $name: String!, $pr: Int!, $e0: String!, $e1: String!) {
  repository(owner: $owner, name: $name) {
    pullRequest(number: $pr) { headRefOid state merged baseRefName mergeCommit { oid } }
    f0: object(expression: $e0) { __typename ... on Blob { oid } }
    f1: object(expression: $e1) { __typename ... on Blob { oid } } } }`

// query sends a GraphQL request and returns its data and the messages of its errors.
func (w *world) query(token, text string, variables map[string]any) (data map[string]any, problems []string) {
	w.t.Helper()
	body := must(json.Marshal(map[string]any{"query": text, "variables": variables}))(w.t)
	a := w.call(token, "POST", "/graphql", string(body)).want(w.t, 200, "")
	data, _ = a.body["data"].(map[string]any)
	list, _ := a.body["errors"].([]any)
	for _, e := range list {
		problems = append(problems, fmt.Sprint(at(e, "message")))
	}
	return data, problems
}

// at walks into decoded JSON by names and list places.
func at(v any, path ...any) any {
	for _, step := range path {
		switch step := step.(type) {
		case string:
			m, _ := v.(map[string]any)
			v = m[step]
		case int:
			l, _ := v.([]any)
			if step >= len(l) {
				return nil
			}
			v = l[step]
		}
	}
	return v
}

func variables(extra map[string]any) map[string]any {
	all := map[string]any{"owner": "alice", "name": "app", "base": "master", "ref": "refs/heads/master"}
	maps.Copy(all, extra)
	return all
}

func TestListQueryIsAnsweredWhole(t *testing.T) {
	w := newWorld(t)
	w.open("clean")
	w.open("rival")
	must(w.s.OpenPull(w.bob, w.repo, "master", w.fork, "second", "From a fork", true))(t)
	for range 2 {
		w.query("alice-token", openPulls, variables(nil))
	}
	data, problems := w.query("alice-token", openPulls, variables(nil))
	if problems != nil || len(w.s.Missing()) > 0 {
		t.Fatalf("problems %v, missing %v", problems, w.s.Missing())
	}
	nodes := at(data, "repository", "pullRequests", "nodes")
	for i, want := range []map[string]any{
		{"number": 1.0, "headRefName": "clean", "mergeable": "MERGEABLE", "isDraft": false, "isCrossRepository": false},
		{"number": 2.0, "headRefName": "rival", "mergeable": "CONFLICTING", "isDraft": false, "isCrossRepository": false},
		{"number": 3.0, "headRefName": "second", "mergeable": "MERGEABLE", "isDraft": true, "isCrossRepository": true, "maintainerCanModify": true},
	} {
		for field, value := range want {
			if got := at(nodes, i, field); got != value {
				t.Errorf("pull request %d has %s %v, want %v", i+1, field, got, value)
			}
		}
	}
	if got := at(data, "repository", "ref", "target", "oid"); got != w.repo.bare().tip("master") {
		t.Errorf("master is at %v", got)
	}
	if got := at(nodes, 2, "author", "databaseId"); got != float64(w.bob.ID) {
		t.Errorf("the author is %v, want %d", got, w.bob.ID)
	}
}

func TestVerifyQueryTellsFilesOfACommit(t *testing.T) {
	w := newWorld(t)
	p := w.open("clean")
	head := w.state(p).HeadOID
	data, problems := w.query("bob-token", verifyFinal, variables(map[string]any{"pr": 1, "e0": head + ":clean.txt", "e1": head + ":gone.txt"}))
	if problems != nil {
		t.Fatal(problems)
	}
	if got := at(data, "repository", "pullRequest", "headRefOid"); got != head {
		t.Errorf("the head is %v, want %s", got, head)
	}
	if got, want := at(data, "repository", "f0", "oid"), w.repo.bare().resolve(head+":clean.txt"); got != want {
		t.Errorf("the file is %v, want %s", got, want)
	}
	if got := at(data, "repository", "f1"); got != nil {
		t.Errorf("a file that is not there is %v", got)
	}
}

func TestMergeStateAloneStartsNothing(t *testing.T) {
	w := newWorld(t)
	w.open("clean")
	const alone = `query($owner: String!, $name: String!) { repository(owner: $owner, name: $name) { pullRequest(number: 1) { mergeStateStatus } } }`
	for range 3 {
		data, _ := w.query("alice-token", alone, map[string]any{"owner": "alice", "name": "app"})
		if got := at(data, "repository", "pullRequest", "mergeStateStatus"); got != "UNKNOWN" {
			t.Fatalf("asked alone it became %v", got)
		}
	}
	w.query("alice-token", openPulls, variables(nil))
	data, _ := w.query("alice-token", alone, map[string]any{"owner": "alice", "name": "app"})
	if got := at(data, "repository", "pullRequest", "mergeStateStatus"); got != "CLEAN" {
		t.Errorf("after the trial merge it is %v", got)
	}
}

func TestMergeabilityIsUnknownUntilItIsDue(t *testing.T) {
	w := newWorld(t)
	now := time.Now()
	w.s.Now = func() time.Time { return now }
	w.s.MergeDelay = time.Minute
	p := w.open("clean")
	first := w.call("alice-token", "GET", "/repos/alice/app/pulls/1", "").want(t, 200, "").body
	if first["mergeable"] != nil || first["mergeable_state"] != "unknown" {
		t.Fatalf("at once: %v %v", first["mergeable"], first["mergeable_state"])
	}
	now = now.Add(time.Hour)
	second := w.call("alice-token", "GET", "/repos/alice/app/pulls/1", "").want(t, 200, "").body
	if second["mergeable"] != true || second["mergeable_state"] != "clean" {
		t.Fatalf("when due: %v %v", second["mergeable"], second["mergeable_state"])
	}
	dir := w.clone("alice-token", "alice/app")
	write(t, dir, "clean.txt", "master has it too\n")
	commitAll(t, dir, "in the way")
	runGit(t, dir, "push", "-q", "origin", "master")
	third := w.call("alice-token", "GET", "/repos/alice/app/pulls/1", "").want(t, 200, "").body
	if third["mergeable"] != nil {
		t.Fatalf("after master moved: %v", third["mergeable"])
	}
	stale := w.repo.bare().resolve("refs/pull/1/merge")
	now = now.Add(time.Hour)
	fourth := w.call("alice-token", "GET", "/repos/alice/app/pulls/1", "").want(t, 200, "").body
	if fourth["mergeable"] != false || fourth["mergeable_state"] != "dirty" {
		t.Fatalf("with the conflict: %v %v", fourth["mergeable"], fourth["mergeable_state"])
	}
	if got := w.repo.bare().resolve("refs/pull/1/merge"); got != stale || got == "" {
		t.Errorf("refs/pull/1/merge is %q, want the stale %q", got, stale)
	}
	if at(fourth, "base", "sha") != w.state(p).BaseOID || w.state(p).BaseOID == w.repo.bare().tip("master") {
		t.Errorf("base.sha does not trail")
	}
}

func TestUnknownFieldIsAnErrorAndCounted(t *testing.T) {
	w := newWorld(t)
	w.open("clean")
	for fields, name := range map[string]string{
		"pullRequest(number: 1) { title viewerDidAuthor }": "PullRequest.viewerDidAuthor",
		"discussions(first: 1) { totalCount }":             `Cannot query field "discussions" on type "Repository".`,
	} {
		text := `{ repository(owner: "alice", name: "app") { ` + fields + ` } }`
		if data, problems := w.query("alice-token", text, nil); len(problems) != 1 || at(data, "repository", "pullRequest") != nil {
			t.Errorf("%s: data %v, problems %v", text, data, problems)
		}
		if w.s.Missing()[name] != 1 {
			t.Errorf("%s is not counted: %v", name, w.s.Missing())
		}
	}
}

func TestGraphQLPagesCarryOn(t *testing.T) {
	w := newWorld(t)
	for _, branch := range []string{"clean", "rival", "second", "third"} {
		w.open(branch)
	}
	const text = `query($after: String) { repository(owner: "alice", name: "app") { pullRequests(first: 3, after: $after) {
		totalCount pageInfo { hasNextPage endCursor } nodes { number } } } }`
	var seen []any
	var after any
	for range 2 {
		data, problems := w.query("alice-token", text, map[string]any{"after": after})
		if problems != nil {
			t.Fatal(problems)
		}
		pulls := at(data, "repository", "pullRequests")
		after = at(pulls, "pageInfo", "endCursor")
		for i := 0; at(pulls, "nodes", i) != nil; i++ {
			seen = append(seen, at(pulls, "nodes", i, "number"))
		}
	}
	if fmt.Sprint(seen) != "[1 2 3 4]" {
		t.Errorf("the pages hold %v", seen)
	}
	const unbound = `{ repository(owner: "alice", name: "app") { pullRequests { totalCount %s } } }`
	if _, problems := w.query("alice-token", fmt.Sprintf(unbound, ""), nil); problems != nil {
		t.Errorf("a list was not counted: %v", problems)
	}
	if _, problems := w.query("alice-token", fmt.Sprintf(unbound, "nodes { number }"), nil); len(problems) != 1 {
		t.Errorf("a list without a bound was given: %v", problems)
	}
}
