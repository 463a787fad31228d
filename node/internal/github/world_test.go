package github

import (
	"context"
	"errors"
	"fmt"
	"net/http/httptest"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	standin "github.com/parley-mesh/parley/simnet/github"
)

// world is a stand-in for GitHub with one repository of alice's, a fork of bob's, and a client of alice.
type world struct {
	t          *testing.T
	s          *standin.Server
	web        *httptest.Server
	alice, bob *standin.User
	repo, fork *standin.Repo
	c          *Client
	pulls      map[int]*standin.Pull // of open

	mu    sync.Mutex
	token string
}

func newWorld(t *testing.T) *world {
	t.Helper()
	s, err := standin.New(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, s: s, token: "alice-token", pulls: map[int]*standin.Pull{}}
	w.alice, w.bob = s.AddUser("alice", "alice-token"), s.AddUser("bob", "bob-token")
	w.repo = must(s.AddRepo(w.alice, "app", seed(t), "master"))(t)
	w.fork = must(s.Fork(w.repo, w.bob))(t)
	w.web = httptest.NewServer(s)
	t.Cleanup(w.web.Close)
	w.c = must(New(w.endpoint()))(t)
	w.c.pause = time.Millisecond
	t.Cleanup(w.c.Close)
	t.Cleanup(func() {
		if missing := s.Missing(); len(missing) > 0 {
			t.Errorf("asked for what the stand-in does not know: %v", missing)
		}
	})
	return w
}

func (w *world) endpoint() Endpoint {
	return Endpoint{Host: "github.localhost", Addr: w.web.Listener.Addr().String(), Token: w.currentToken}
}

func (w *world) currentToken(context.Context) (string, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.token, nil
}

func (w *world) signIn(token string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.token = token
}

func must[T any](v T, err error) func(*testing.T) T {
	return func(t *testing.T) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// seed makes a repository with master, rival (conflicts with it), and clean and second (do not).
func seed(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	var stream strings.Builder
	commit := func(branch, from, file, text string) {
		fmt.Fprintf(&stream, "commit refs/heads/%s\ncommitter T <t@example.org> 1700000000 +0000\ndata 4\nwork\n", branch)
		if from != "" {
			fmt.Fprintf(&stream, "from %s\n", from)
		}
		fmt.Fprintf(&stream, "M 100644 inline %s\ndata %d\n%s\n", file, len(text), text)
	}
	commit("master", "", "a.txt", "one\ntwo\nthree\n")
	for _, branch := range []string{"clean", "second"} {
		commit(branch, "refs/heads/master", branch+".txt", branch+"\n")
	}
	commit("rival", "refs/heads/master", "a.txt", "rival\n")
	commit("master", "", "a.txt", "one\n2\nthree\n")
	git(t, dir, "", "init", "-q", "--bare")
	git(t, dir, stream.String(), "fast-import", "--quiet")
	return dir
}

func git(t *testing.T, dir, in string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "git", args...)
	cmd.Dir, cmd.Stdin = dir, strings.NewReader(in)
	cmd.Env = append(cmd.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %s: %v\n%s", args[0], err, out)
	}
	return strings.TrimSpace(string(out))
}

// open opens a pull request of a branch and returns its number and head.
func (w *world) open(branch string) (int, string) {
	w.t.Helper()
	p := must(w.s.OpenPull(w.alice, w.repo, "master", w.repo, branch, "Work on "+branch, false))(w.t)
	w.pulls[p.Number] = p
	return p.Number, w.state(p.Number).HeadOID
}

func (w *world) state(n int) standin.PullState {
	w.t.Helper()
	p, ok := w.s.PullState(w.repo, n)
	if !ok {
		w.t.Fatalf("no pull request %d", n)
	}
	return p
}

func (w *world) merge(n int, head string) (MergeResult, error) {
	return w.c.Merge(w.t.Context(), "alice", "app", n, head, "merge")
}

// presses counts the requests that pressed the merge button.
func (w *world) presses() int {
	n := 0
	for _, l := range w.s.Log() {
		if l.Method == "PUT" {
			n++
		}
	}
	return n
}

// everyRead calls each of the reading methods.
func (w *world) everyRead() map[string]error {
	ctx, c := w.t.Context(), w.c
	_, who := c.Whoami(ctx)
	_, repo := c.Repository(ctx, "alice", "app")
	_, list := c.OpenPulls(ctx, "alice", "app", "master")
	_, pull := c.Pull(ctx, "alice", "app", 1)
	return map[string]error{"who": who, "repository": repo, "list": list, "pull": pull}
}

func wantErr(t *testing.T, what string, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("%s: error %v, want %v", what, err, want)
	}
	for _, other := range []error{ErrNoCLI, ErrNotSignedIn, ErrNotFound, ErrRenamed, ErrTemporary} {
		if other != want && errors.Is(err, other) {
			t.Errorf("%s: error %v is %v as well", what, err, other)
		}
	}
}

const jsonType = "application/json; charset=utf-8"
