package github

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	standin "github.com/parley-mesh/parley/simnet/github"
)

func TestAccountIsTheTokensOwn(t *testing.T) { // D-23
	w := newWorld(t)
	for range 2 {
		if me := must(w.c.Whoami(t.Context()))(t); me != (Account{"github.localhost", w.alice.ID, "alice"}) {
			t.Fatalf("account %+v", me)
		}
	}
	if n := len(w.s.Log()); n != 1 {
		t.Errorf("asked %d times within a minute", n)
	}
	w.signIn("bob-token")
	if me := must(w.c.Whoami(t.Context()))(t); me.ID != w.bob.ID {
		t.Errorf("account %+v after another sign-in", me)
	}
}

func TestRepositoryIsRead(t *testing.T) {
	w := newWorld(t)
	r := must(w.c.Repository(t.Context(), "Alice", "App"))(t)
	want := Repository{
		ID: w.repo.ID, Owner: "alice", Name: "app", FullName: "alice/app", DefaultBranch: "master",
		CloneURL: "http://github.localhost/alice/app.git", MergeAllowed: true, SquashAllowed: true, RebaseAllowed: true, Push: true,
	}
	if r != want || r.Method() != "merge" {
		t.Errorf("repository %+v", r)
	}
	w.s.Allow(w.repo, standin.Squash, standin.Rebase)
	if r := must(w.c.Repository(t.Context(), "alice", "app"))(t); r.Method() != "squash" {
		t.Errorf("method %s of %+v", r.Method(), r)
	}
	w.s.Allow(w.repo, standin.Rebase)
	if r := must(w.c.Repository(t.Context(), "alice", "app"))(t); r.Method() != "rebase" {
		t.Errorf("method %s of %+v", r.Method(), r)
	}
	w.signIn("bob-token")
	if r := must(w.c.Repository(t.Context(), "alice", "app"))(t); r.Push {
		t.Errorf("bob may push: %+v", r)
	}
}

func TestOddNamesAreNeverAsked(t *testing.T) {
	w := newWorld(t)
	for _, name := range []string{"", "..", "app/pulls", "app?x=1", "a b"} {
		if _, err := w.c.Repository(t.Context(), "alice", name); err == nil {
			t.Errorf("%q passed", name)
		}
		if _, err := w.c.OpenPulls(t.Context(), "alice", name, "master"); err == nil {
			t.Errorf("%q passed", name)
		}
	}
	if n := len(w.s.Log()); n != 0 {
		t.Errorf("%d requests", n)
	}
}

func TestListHasEveryOpenPull(t *testing.T) { // P12
	w := newWorld(t)
	w.open("clean")
	w.open("rival")
	must(w.s.OpenPull(w.bob, w.repo, "master", w.fork, "second", "From a fork", true))(t)
	closed := must(w.s.OpenPull(w.alice, w.repo, "master", w.repo, "second", "Closed", false))(t)
	w.s.ClosePull(closed)
	w.c.first = 2 // several pages
	l := must(w.c.OpenPulls(t.Context(), "alice", "app", "master"))(t)
	if tip := git(t, w.repo.Dir, "", "rev-parse", "refs/heads/master"); l.BaseTip != tip {
		t.Errorf("base at %s, want %s", l.BaseTip, tip)
	}
	if len(l.Pulls) != 3 {
		t.Fatalf("list %+v", l.Pulls)
	}
	for i, p := range l.Pulls {
		if p.Number != i+1 || p.HeadOID != w.state(i+1).HeadOID || !slices.Contains([]string{"MERGEABLE", "CONFLICTING", "UNKNOWN"}, p.Mergeable) {
			t.Errorf("pull request %+v", p)
		}
	}
	if p := l.Pulls[0]; p.Title != "Work on clean" || p.HeadRef != "clean" || p.HeadRepo != "alice/app" || p.CrossRepository || p.Draft || p.AuthorLogin != "alice" || p.AuthorID != w.alice.ID {
		t.Errorf("own pull request %+v", p)
	}
	if p := l.Pulls[2]; p.HeadRepo != "bob/app" || !p.CrossRepository || !p.Draft || !p.MaintainerCanModify || p.AuthorID != w.bob.ID {
		t.Errorf("pull request from a fork %+v", p)
	}
}

func TestMergeabilityNotWorkedOutIsUnknown(t *testing.T) { // P7
	w := newWorld(t)
	w.s.MergeDelay = time.Hour
	w.open("rival")
	l := must(w.c.OpenPulls(t.Context(), "alice", "app", "master"))(t)
	if l.Pulls[0].Mergeable != "UNKNOWN" {
		t.Errorf("mergeable %q", l.Pulls[0].Mergeable)
	}
	if p := must(w.c.Pull(t.Context(), "alice", "app", 1))(t); p.State != "open" || p.MergeCommit != "" {
		t.Errorf("pull request %+v", p)
	}
}

func TestListWithoutItsBaseIsNotFound(t *testing.T) {
	w := newWorld(t)
	_, err := w.c.OpenPulls(t.Context(), "alice", "app", "nowhere")
	wantErr(t, "list", err, ErrNotFound)
}

func TestPageTooSlowIsHalvedForGood(t *testing.T) {
	w := newWorld(t)
	w.open("clean")
	for _, f := range []standin.Fault{
		{GraphQL: "OpenPulls", Status: 502},
		{GraphQL: "OpenPulls", Status: 504, Body: "<html>"},
		{GraphQL: "OpenPulls", Status: 200, Header: map[string]string{"Content-Type": jsonType}, Body: `{"data":null,"errors":[{"message":"Something went wrong while executing your query."}]}`},
	} {
		w.s.Fault(f)
	}
	l := must(w.c.OpenPulls(t.Context(), "alice", "app", "master"))(t)
	if len(l.Pulls) != 1 || w.c.first != 6 {
		t.Errorf("list %+v, pages of %d", l, w.c.first)
	}
	must(w.c.OpenPulls(t.Context(), "alice", "app", "master"))(t)
	log := w.s.Log()
	if last := log[len(log)-1]; !strings.Contains(last.Query, `"first":6`) {
		t.Errorf("the length was not kept: %s", last.Query)
	}
	w.s.Fault(standin.Fault{GraphQL: "OpenPulls", Status: 502, Times: 9})
	_, err := w.c.OpenPulls(t.Context(), "alice", "app", "master")
	wantErr(t, "list in an outage", err, ErrTemporary)
}

func TestPullIsRead(t *testing.T) {
	w := newWorld(t)
	n, head := w.open("clean")
	p := must(w.c.Pull(t.Context(), "alice", "app", n))(t)
	want := PullState{
		State: "open", HeadOID: head, HeadRef: "clean", HeadRepo: "http://github.localhost/alice/app.git", BaseRef: "master",
		MaintainerCanModify: p.MaintainerCanModify, AuthorID: w.alice.ID, AuthorLogin: "alice",
	}
	if p != want {
		t.Errorf("pull request %+v, want %+v", p, want)
	}
	must(w.merge(n, head))(t)
	p = must(w.c.Pull(t.Context(), "alice", "app", n))(t)
	if p.State != "closed" || !p.Merged || p.MergeCommit != w.state(n).MergeOID {
		t.Errorf("merged pull request %+v", p)
	}
}

func TestTrialMergeOfGitHubIsNeverTheMergeCommit(t *testing.T) { // P7
	w := newWorld(t)
	n, _ := w.open("clean")
	for range 3 { // GitHub works it out after the first question
		if p := must(w.c.Pull(t.Context(), "alice", "app", n))(t); p.MergeCommit != "" {
			t.Errorf("open pull request %+v", p)
		}
	}
}

func TestPullFromADeletedForkIsRead(t *testing.T) {
	w := newWorld(t)
	n := must(w.s.OpenPull(w.bob, w.repo, "master", w.fork, "second", "From a fork", false))(t).Number
	if p := must(w.c.Pull(t.Context(), "alice", "app", n))(t); p.HeadRepo != "http://github.localhost/bob/app.git" || !p.CrossRepository {
		t.Errorf("pull request %+v", p)
	}
	if err := w.s.DeleteRepo(w.fork); err != nil {
		t.Fatal(err)
	}
	if p := must(w.c.Pull(t.Context(), "alice", "app", n))(t); p.HeadRepo != "" || !p.CrossRepository || p.State != "open" || p.HeadOID == "" {
		t.Errorf("pull request %+v", p)
	}
	if l := must(w.c.OpenPulls(t.Context(), "alice", "app", "master"))(t); l.Pulls[0].HeadRepo != "" {
		t.Errorf("list %+v", l)
	}
}

func TestMissingIsNotFound(t *testing.T) {
	w := newWorld(t)
	_, err := w.c.Pull(t.Context(), "alice", "app", 99)
	wantErr(t, "pull", err, ErrNotFound)
	_, err = w.c.Repository(t.Context(), "alice", "none")
	wantErr(t, "repository", err, ErrNotFound)
	_, err = w.c.OpenPulls(t.Context(), "alice", "none", "master")
	wantErr(t, "list", err, ErrNotFound)
}

func TestRenamedRepositoryIsTold(t *testing.T) {
	w := newWorld(t)
	n, head := w.open("clean")
	must(w.s.Rename(w.repo, "shop"))(t)
	errs := w.everyRead()
	for _, what := range []string{"repository", "list", "pull"} {
		wantErr(t, what, errs[what], ErrRenamed)
	}
	if !strings.Contains(errs["repository"].Error(), "alice/shop") {
		t.Errorf("the new name is not told: %v", errs["repository"])
	}
	_, err := w.merge(n, head)
	wantErr(t, "merge", err, ErrRenamed)
	if w.presses() != 0 {
		t.Error("the button of the new repository was pressed")
	}
}

func TestCancelledCallSaysNothing(t *testing.T) {
	w := newWorld(t)
	w.s.Fault(standin.Fault{PathPrefix: "/repos", Hang: time.Hour, Status: 500})
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	_, err := w.c.Pull(ctx, "alice", "app", 1)
	wantErr(t, "pull", err, ErrTemporary)
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error %v", err)
	}
}
