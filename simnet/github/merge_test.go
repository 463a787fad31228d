package github

import (
	"fmt"
	"strings"
	"testing"
)

func TestMergeButtonRefusesInGitHubsWords(t *testing.T) {
	w := newWorld(t)
	w.open("clean")
	w.open("rival")
	must(w.s.OpenPull(w.alice, w.repo, "master", w.repo, "second", "Not yet", true))(t)
	const press = "/repos/alice/app/pulls/%d/merge"
	for _, c := range []struct {
		token   string
		pull    int
		body    string
		status  int
		message string
	}{
		{"bob-token", 1, "", 403, "Resource not accessible by personal access token"},
		{"alice-token", 1, `{"sha":"0123456789012345678901234567890123456789"}`, 409, "Head branch was modified. Review and try the merge again."},
		{"alice-token", 1, `{"merge_method":"octopus"}`, 422, "Invalid merge_method"},
		{"alice-token", 1, `{"sha":`, 400, "Problems parsing JSON"},
		{"alice-token", 2, "", 405, "Pull Request is not mergeable"},
		{"alice-token", 3, "", 405, "Pull Request is still a draft"},
		{"alice-token", 9, "", 404, "Not Found"},
	} {
		w.call(c.token, "PUT", fmt.Sprintf(press, c.pull), c.body).want(t, c.status, c.message)
	}
	w.s.Protect(w.repo, "master", Rule{Reviews: 1})
	w.call("alice-token", "PUT", "/repos/alice/app/pulls/1/merge", "").
		want(t, 405, "At least 1 approving review is required by reviewers with write access.")
	w.s.Protect(w.repo, "master", Rule{MergeQueue: true})
	w.call("alice-token", "PUT", "/repos/alice/app/pulls/1/merge", "").want(t, 405, "Changes must be made through the merge queue")
	w.s.Protect(w.repo, "master", Rule{})
	w.s.Allow(w.repo, Squash)
	w.call("alice-token", "PUT", "/repos/alice/app/pulls/1/merge", "").want(t, 405, "Merge commits are not allowed on this repository.")
	if got := w.s.Writes(); len(got) != 0 {
		t.Fatalf("a refused merge wrote: %v", got)
	}
	w.call("alice-token", "PUT", "/repos/alice/app/pulls/1/merge", `{"merge_method":"squash"}`).want(t, 200, "Pull Request successfully merged")
	w.call("alice-token", "PUT", "/repos/alice/app/pulls/1/merge", "").want(t, 405, "Pull Request is not mergeable")
}

func TestEachMergeMethodWritesItsOwnHistory(t *testing.T) {
	for _, c := range []struct {
		method  string
		parents int
		subject string
	}{
		{"merge", 2, "Merge pull request #1 from alice/clean"},
		{"squash", 1, "Work on clean (#1)"},
		{"rebase", 1, "work on clean"},
	} {
		t.Run(c.method, func(t *testing.T) {
			w := newWorld(t)
			p := w.open("clean")
			base := w.repo.bare().tip("master")
			w.call("alice-token", "PUT", "/repos/alice/app/pulls/1/merge", `{"merge_method":"`+c.method+`"}`).want(t, 200, "")
			tip := w.repo.bare().tip("master")
			facts := must(w.repo.bare().readCommit(tip))(t)
			if len(facts.parents) != c.parents || facts.parents[0] != base || facts.headline() != c.subject {
				t.Errorf("the merge is %+v", facts)
			}
			if w.repo.bare().resolve(tip+":clean.txt") == "" {
				t.Error("the merge lost the file")
			}
			if state := w.state(p); !state.Merged || !state.Closed || state.MergeOID != tip {
				t.Errorf("the pull request is %+v", state)
			}
		})
	}
}

func TestUpdateBranchHasThreeReasonsForOneStatus(t *testing.T) {
	w := newWorld(t)
	w.open("clean")
	w.open("rival")
	const update = "/repos/alice/app/pulls/1/update-branch"
	w.call("bob-token", "PUT", update, "").want(t, 403, "")
	w.call("alice-token", "PUT", update, `{"expected_head_sha":"0123456789012345678901234567890123456789"}`).
		want(t, 422, "expected head sha didn’t match current head ref.")
	w.call("alice-token", "PUT", "/repos/alice/app/pulls/2/update-branch", "").want(t, 422, "merge conflict between base and head")
	w.call("alice-token", "PUT", update, "").want(t, 202, "Updating pull request branch.")
	w.call("alice-token", "PUT", update, "").want(t, 422, "There are no new commits on the base branch.")
	if got := w.s.Writes(); len(got) != 1 || got[0].Kind != KindPush || got[0].Ref != "refs/heads/clean" || got[0].Login != "alice" {
		t.Errorf("writes are %+v", got)
	}
}

func TestBranchesDecideWhatBecomesOfAPull(t *testing.T) {
	w := newWorld(t)
	byPush, gone := w.open("clean"), w.open("second")
	dir := w.clone("alice-token", "alice/app")
	runGit(t, dir, "merge", "-q", "--no-ff", "-m", "by hand", "origin/clean")
	runGit(t, dir, "push", "-q", "origin", "master")
	if state := w.state(byPush); !state.Merged || state.MergedBy != "" || state.MergeOID != w.repo.bare().tip("master") {
		t.Errorf("merged by push it is %+v", state)
	}
	runGit(t, dir, "push", "-q", "origin", ":second")
	if state := w.state(gone); state.Merged || !state.Closed {
		t.Errorf("with its branch deleted it is %+v", state)
	}
}

func TestDeletedForkLeavesThePullOpenWithoutAHead(t *testing.T) {
	w := newWorld(t)
	p := must(w.s.OpenPull(w.bob, w.repo, "master", w.fork, "clean", "From a fork", false))(t)
	if err := w.s.DeleteRepo(w.fork); err != nil {
		t.Fatal(err)
	}
	body := w.call("alice-token", "GET", "/repos/alice/app/pulls/1", "").want(t, 200, "").body
	if at(body, "head", "repo") != nil || body["state"] != "open" || at(body, "head", "sha") != w.state(p).HeadOID {
		t.Errorf("the head is %v", body["head"])
	}
	if w.repo.bare().resolve("refs/pull/1/head") != w.state(p).HeadOID {
		t.Error("refs/pull/1/head lost the commits")
	}
	data, problems := w.query("alice-token", openPulls, variables(nil))
	if problems != nil || at(data, "repository", "pullRequests", "nodes", 0, "headRepository") != nil {
		t.Errorf("the list says %v, %v", data, problems)
	}
}

func TestPushIsRefusedWhereGitHubRefuses(t *testing.T) {
	w := newWorld(t)
	stranger := w.clone("bob-token", "alice/app")
	runGit(t, stranger, "checkout", "-q", "-b", "mine")
	write(t, stranger, "mine.txt", "mine\n")
	commitAll(t, stranger, "mine")
	refused := func(dir, refspec, words string) {
		t.Helper()
		if out, err := tryGit(t, dir, "push", "origin", refspec); err == nil || !strings.Contains(out, words) {
			t.Errorf("push %s: %v, %s, want %q", refspec, err, out, words)
		}
	}
	refused(stranger, "mine", "403")
	owner := w.clone("alice-token", "alice/app")
	write(t, owner, "direct.txt", "direct\n")
	commitAll(t, owner, "direct")
	w.s.Protect(w.repo, "master", Rule{PullsOnly: true})
	refused(owner, "master", "GH006: Protected branch update failed for refs/heads/master.")
	refused(owner, "master:refs/pull/1/head", "hidden ref")
	runGit(t, owner, "push", "-q", "origin", "master:elsewhere")
	w.s.Hide(w.repo)
	if out, err := tryGit(t, stranger, "fetch", "origin"); err == nil || !strings.Contains(out, "not found") {
		t.Errorf("a private repository was fetched: %v, %s", err, out)
	}
	w.call("bob-token", "GET", "/repos/alice/app", "").want(t, 404, "Not Found")
	if got := w.s.Writes(); len(got) != 1 || got[0].Ref != "refs/heads/elsewhere" {
		t.Errorf("writes are %+v", got)
	}
}

// A maintainer of the base may push the head branch of a person's fork, and no other branch; an organization's fork never lets him.
func TestMaintainersPushTheHeadOfAPersonsForkOnly(t *testing.T) {
	w := newWorld(t)
	must(w.s.OpenPull(w.bob, w.repo, "master", w.fork, "clean", "From a fork", false))(t)
	org := w.s.AddOrg("guild")
	theirs := must(w.s.Fork(w.repo, org))(t)
	must(w.s.OpenPull(w.bob, w.repo, "master", theirs, "second", "From a guild", false))(t)

	dir := w.clone("alice-token", "bob/app")
	runGit(t, dir, "checkout", "-q", "clean")
	write(t, dir, "fix.txt", "fix\n")
	commitAll(t, dir, "fix")
	runGit(t, dir, "push", "-q", "origin", "clean")
	out, err := tryGit(t, dir, "push", "origin", "clean:other")
	if err == nil || !strings.Contains(out, "permission to update refs/heads/other denied") {
		t.Errorf("another branch was pushed: %v, %s", err, out)
	}
	if state, _ := w.s.PullState(w.repo, 1); state.HeadOID != runGit(t, dir, "rev-parse", "HEAD") {
		t.Errorf("the pull request did not follow: %+v", state)
	}
	guild := w.clone("alice-token", "guild/app")
	if out, err := tryGit(t, guild, "push", "origin", "master:second"); err == nil || !strings.Contains(out, "403") {
		t.Errorf("an organization's fork was pushed: %v, %s", err, out)
	}
}
