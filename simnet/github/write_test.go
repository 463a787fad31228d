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
