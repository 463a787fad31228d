package github

import (
	"bytes"
	"crypto/rand"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestPushThroughTheProxyReachesTheCloneURL(t *testing.T) {
	w := newWorld(t)
	url, _ := w.call("alice-token", "GET", "/repos/alice/app", "").want(t, 200, "").body["clone_url"].(string)
	if url != "http://github.localhost/alice/app.git" {
		t.Fatalf("clone_url is %q", url)
	}
	dir := filepath.Join(t.TempDir(), "clone")
	proxy := "http.proxy=" + w.web.URL
	runGit(t, "", "-c", proxy, "clone", "-q", url, dir)
	runGit(t, dir, "checkout", "-q", "clean")
	write(t, dir, "more.txt", "more\n")
	commitAll(t, dir, "more")
	authorized := strings.Replace(url, "://", "://x:alice-token@", 1)
	runGit(t, dir, "-c", proxy, "push", "-q", authorized, "clean")
	if got, want := w.repo.bare().tip("clean"), runGit(t, dir, "rev-parse", "HEAD"); got != want {
		t.Fatalf("the branch is at %s, pushed was %s", got, want)
	}
	out, err := tryGit(t, dir, "-c", proxy, "ls-remote", "http://example.org/alice/app.git")
	if err == nil || !strings.Contains(out, "403") {
		t.Fatalf("the proxy served another host: %v %s", err, out)
	}
}

func TestChunkedPushIsTaken(t *testing.T) {
	w := newWorld(t)
	dir := w.clone("alice-token", "alice/app")
	big := make([]byte, 3<<20)
	rand.Read(big)
	write(t, dir, "big.bin", string(big))
	commitAll(t, dir, "big")
	runGit(t, dir, "push", "-q", "origin", "master:big")
	got, err := w.repo.bare().readBlob(w.repo.bare().resolve("big:big.bin"))
	if err != nil || !bytes.Equal(got, big) {
		t.Fatalf("the file did not arrive whole: %d octets, %v", len(got), err)
	}
}

func TestWritesListEveryPushAndMergeOnce(t *testing.T) {
	w := newWorld(t)
	p := w.open("clean")
	if got := w.s.Writes(); len(got) != 0 {
		t.Fatalf("setting up counts as writes: %v", got)
	}
	dir := w.clone("alice-token", "alice/app")
	runGit(t, dir, "checkout", "-q", "clean")
	write(t, dir, "more.txt", "more\n")
	commitAll(t, dir, "more")
	old := w.state(p).HeadOID
	runGit(t, dir, "push", "-q", "origin", "clean")
	head := runGit(t, dir, "rev-parse", "HEAD")
	base := w.repo.bare().tip("master")
	merged, _ := w.call("alice-token", "PUT", "/repos/alice/app/pulls/1/merge", `{"sha":"`+head+`"}`).want(t, 200, "").body["sha"].(string)

	want := []Write{
		{Kind: KindPush, Repo: "alice/app", Ref: "refs/heads/clean", Old: old, New: head, Login: "alice"},
		{Kind: KindMerge, Repo: "alice/app", Ref: "refs/heads/master", Pull: 1, Old: base, New: merged, Login: "alice"},
	}
	got := w.s.Writes()
	for i := range got {
		if got[i].At.IsZero() {
			t.Errorf("write %d has no time", i)
		}
		got[i].At = time.Time{}
	}
	if !slices.Equal(got, want) {
		t.Fatalf("got %+v, want %+v", got, want)
	}
	if state := w.state(p); !state.Merged || state.MergedBy != "alice" || state.MergeOID != merged {
		t.Errorf("the pull request is %+v", state)
	}
}

// A server killed between git's move of a branch and its own file must know of the move when it comes back.
func TestRestartTakesInWhatReachedGitBeforeTheKill(t *testing.T) {
	w := newWorld(t)
	p, q := w.open("clean"), w.open("second")
	stored := must(filepath.Abs(filepath.Join(w.s.dir, stateFile)))(t)
	before := readFile(t, stored)
	dir := w.clone("alice-token", "alice/app")
	runGit(t, dir, "checkout", "-q", "second")
	write(t, dir, "more.txt", "more\n")
	commitAll(t, dir, "more")
	runGit(t, dir, "push", "-q", "origin", "second")
	w.call("alice-token", "PUT", "/repos/alice/app/pulls/1/merge", "").want(t, 200, "")
	want := w.s.Writes()
	wantP, wantQ := w.state(p), w.state(q)

	write(t, filepath.Dir(stored), stateFile, before)
	again := must(New(w.s.dir))(t)
	repo := again.Repo("alice", "app")
	gotP, _ := again.PullState(repo, p.Number)
	gotQ, _ := again.PullState(repo, q.Number)
	if !gotP.Merged || gotP.MergeOID != wantP.MergeOID || gotP.MergedBy != "alice" {
		t.Errorf("the merge was forgotten: %+v", gotP)
	}
	if gotQ.HeadOID != wantQ.HeadOID {
		t.Errorf("the push was forgotten: %+v", gotQ)
	}
	for range 2 {
		if got := again.Writes(); len(got) != 2 || got[0].New != want[0].New || got[1].New != want[1].New || got[1].Pull != p.Number {
			t.Fatalf("writes after the restart are %+v, want %+v", got, want)
		}
		again = must(New(w.s.dir))(t)
	}
}
