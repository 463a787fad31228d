package github

import (
	"context"
	"encoding/json"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// ghDeadline bounds one run of the real gh.
const ghDeadline = 60 * time.Second

// realGH runs the installed gh through the proxy, as if the stand-in were github.com.
type realGH struct {
	t   *testing.T
	env []string
}

func newGH(t *testing.T, w *world) realGH {
	t.Helper()
	if _, err := exec.LookPath("gh"); err != nil {
		t.Skip("the GitHub CLI gh is not installed: nothing to hold the stand-in against")
	}
	dir := t.TempDir()
	authority := filepath.Join(dir, "authority.pem")
	proxy := must(w.s.NewProxy(authority))(t)
	front := httptest.NewServer(proxy)
	t.Cleanup(func() {
		front.Close()
		proxy.Close()
	})
	return realGH{t, append(os.Environ(), "HTTPS_PROXY="+front.URL, "SSL_CERT_FILE="+authority, "GIT_SSL_CAINFO="+authority, "GH_TOKEN=alice-token",
		"GH_CONFIG_DIR="+dir, "GH_PROMPT_DISABLED=1", "NO_COLOR=1", "GH_NO_UPDATE_NOTIFIER=1", "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null")}
}

func (g realGH) try(program string, args ...string) (string, error) {
	g.t.Helper()
	ctx, cancel := context.WithTimeout(g.t.Context(), ghDeadline)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir, cmd.Env = g.t.TempDir(), g.env
	out, err := cmd.CombinedOutput()
	return strings.TrimSpace(string(out)), err
}

func (g realGH) run(args ...string) string {
	g.t.Helper()
	out, err := g.try("gh", args...)
	if err != nil {
		g.t.Fatalf("gh %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return out
}

func TestRealGHTakesItForGitHub(t *testing.T) {
	w := newWorld(t)
	w.s.GraphQLWaits = true
	gh := newGH(t, w)
	clean := w.open("clean")
	w.open("rival")
	must(w.s.OpenPull(w.alice, w.repo, "master", w.repo, "second", "Not yet", true))(t)

	if got := gh.run("api", "user", "--jq", ".login"); got != "alice" {
		t.Errorf("gh api user says %q", got)
	}
	if got := gh.run("auth", "status"); !strings.Contains(got, "Logged in to github.com as alice") && !strings.Contains(got, "account alice") {
		t.Errorf("gh auth status says %q", got)
	}
	if got := gh.run("pr", "list", "-R", "alice/app"); !strings.Contains(got, "Work on clean") || !strings.Contains(got, "Work on rival") {
		t.Errorf("gh pr list says %q", got)
	}
	if got := gh.run("pr", "view", "1", "-R", "alice/app"); !strings.Contains(got, "Work on clean") {
		t.Errorf("gh pr view says %q", got)
	}
	var view map[string]any
	const fields = "number,state,mergeable,mergeStateStatus,headRefOid,isDraft,author,files,commits,statusCheckRollup,reviewDecision"
	if err := json.Unmarshal([]byte(gh.run("pr", "view", "2", "-R", "alice/app", "--json", fields)), &view); err != nil {
		t.Fatal(err)
	}
	if view["mergeable"] != "CONFLICTING" || view["mergeStateStatus"] != "DIRTY" || at(view, "files", 0, "path") != "a.txt" {
		t.Errorf("gh pr view 2 says %v", view)
	}
	everything := strings.Join([]string{
		"additions", "assignees", "author", "baseRefName", "body", "changedFiles", "closed", "closedAt", "comments",
		"commits", "createdAt", "deletions", "files", "headRefName", "headRefOid", "headRepository", "headRepositoryOwner", "id", "isCrossRepository",
		"isDraft", "labels", "latestReviews", "maintainerCanModify", "mergeCommit", "mergeStateStatus", "mergeable", "mergedAt", "mergedBy",
		"milestone", "number", "potentialMergeCommit", "reactionGroups", "reviewDecision", "reviewRequests", "reviews", "state",
		"statusCheckRollup", "title", "updatedAt", "url",
	}, ",")
	gh.run("pr", "view", "1", "-R", "alice/app", "--json", everything)
	gh.run("pr", "list", "-R", "alice/app", "--json", everything)
	gh.run("repo", "view", "alice/app", "--json", "id,name,nameWithOwner,"+
		"owner,parent,isFork,isPrivate,defaultBranchRef,viewerPermission,url,mergeCommitAllowed")
	for pull, words := range map[string]string{"2": "not mergeable", "3": "draft"} {
		if out, err := gh.try("gh", "pr", "merge", pull, "--merge", "-R", "alice/app"); err == nil || !strings.Contains(out, words) {
			t.Errorf("gh pr merge %s: %v, %s", pull, err, out)
		}
	}
	gh.run("pr", "merge", "1", "--merge", "-R", "alice/app")
	if state := w.state(clean); !state.Merged || state.MergedBy != "alice" {
		t.Errorf("after gh pr merge: %+v", state)
	}
	gh.run("pr", "create", "-R", "alice/app", "--head", "third", "--base", "master", "--title", "Made by gh", "--body", "")
	if state, ok := w.s.PullState(w.repo, 4); !ok || state.Title != "Made by gh" {
		t.Errorf("after gh pr create: %+v", state)
	}
	gh.run("pr", "ready", "3", "-R", "alice/app")
	gh.run("pr", "close", "4", "-R", "alice/app")
	if missing := w.s.Missing(); len(missing) > 0 {
		t.Errorf("gh asked for what the stand-in lacks: %v", missing)
	}
}

func TestGitClonesFromGitHubThroughTheProxy(t *testing.T) {
	w := newWorld(t)
	gh := newGH(t, w)
	dir := filepath.Join(t.TempDir(), "clone")
	if out, err := gh.try("git", "clone", "-q", "https://github.com/alice/app.git", dir); err != nil {
		t.Fatalf("clone: %v\n%s", err, out)
	}
	if got := runGit(t, dir, "rev-parse", "HEAD"); got != w.repo.bare().tip("master") {
		t.Errorf("cloned %s", got)
	}
	if out, err := gh.try("git", "ls-remote", "https://gitlab.com/alice/app.git"); err == nil || !strings.Contains(out, "403") {
		t.Errorf("the proxy served another host: %v, %s", err, out)
	}
}
