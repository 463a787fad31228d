package github

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// world is a stand-in on a loopback port with one repository: alice owns it, bob may only read it and has a fork.
type world struct {
	t          *testing.T
	s          *Server
	web        *httptest.Server
	alice, bob *User
	repo, fork *Repo
}

func newWorld(t *testing.T) *world {
	t.Helper()
	s, err := New(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, s: s, alice: s.AddUser("alice", "alice-token"), bob: s.AddUser("bob", "bob-token")}
	w.repo = must(s.AddRepo(w.alice, "app", seedRepo(t), "master"))(t)
	w.fork = must(s.Fork(w.repo, w.bob))(t)
	w.web = httptest.NewServer(s)
	t.Cleanup(w.web.Close)
	return w
}

// must unwraps a result that has to be there.
func must[T any](v T, err error) func(*testing.T) T {
	return func(t *testing.T) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// seedRepo makes a repository with master, rival (does not merge with it) and clean, second and third (do).
func seedRepo(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	runGit(t, dir, "init", "-q", "--bare")
	var stream strings.Builder
	commit := func(branch, from, message, file, text string) {
		fmt.Fprintf(&stream, "commit refs/heads/%s\ncommitter T <t@example.org> 1700000000 +0000\ndata %d\n%s\n", branch, len(message), message)
		if from != "" {
			fmt.Fprintf(&stream, "from %s\n", from)
		}
		fmt.Fprintf(&stream, "M 100644 inline %s\ndata %d\n%s\n", file, len(text), text)
	}
	commit("master", "", "first", "a.txt", "one\ntwo\nthree\n")
	commit("clean", "refs/heads/master", "work on clean", "clean.txt", "clean\n")
	commit("rival", "refs/heads/master", "work on rival", "a.txt", "rival\n")
	commit("second", "refs/heads/master", "work on second", "second.txt", "second\n")
	commit("third", "refs/heads/master", "work on third", "third.txt", "third\n")
	commit("master", "", "master goes on", "a.txt", "one\n2\nthree\n")
	cmd := exec.CommandContext(t.Context(), "git", "fast-import", "--quiet")
	cmd.Dir, cmd.Stdin = dir, strings.NewReader(stream.String())
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git fast-import: %v\n%s", err, out)
	}
	return dir
}

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func commitAll(t *testing.T, dir, message string) {
	t.Helper()
	runGit(t, dir, "add", "-A")
	runGit(t, dir, "commit", "-q", "-m", message)
}

// tryGit runs git as a person would, without this computer's configuration.
func tryGit(t *testing.T, dir string, args ...string) (string, error) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "git", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null", "GIT_TERMINAL_PROMPT=0", "GIT_AUTHOR_NAME=T",
		"GIT_AUTHOR_EMAIL=t@example.org", "GIT_COMMITTER_NAME=T", "GIT_COMMITTER_EMAIL=t@example.org")
	out, err := cmd.CombinedOutput()
	return strings.TrimSpace(string(out)), err
}

func runGit(t *testing.T, dir string, args ...string) string {
	t.Helper()
	out, err := tryGit(t, dir, args...)
	if err != nil {
		t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return out
}

// answer is one API answer, decoded.
type answer struct {
	status int
	header http.Header
	body   map[string]any
	raw    []byte
}

// call sends a REST request as github.localhost has it.
func (w *world) call(token, method, path, body string, header ...string) answer {
	w.t.Helper()
	req := must(http.NewRequestWithContext(w.t.Context(), method, w.web.URL+path, strings.NewReader(body)))(w.t)
	req.Host = "api.github.localhost"
	if token != "" {
		req.Header.Set("Authorization", "token "+token)
	}
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	res := must(client.Do(req))(w.t)
	defer res.Body.Close()
	raw := must(io.ReadAll(res.Body))(w.t)
	a := answer{status: res.StatusCode, header: res.Header, raw: raw}
	if len(raw) > 0 && raw[0] == '{' {
		if err := json.Unmarshal(raw, &a.body); err != nil {
			w.t.Fatalf("%s %s: %v in %s", method, path, err, raw)
		}
	}
	return a
}

// want fails unless the answer has this status and, when given, this message.
func (a answer) want(t *testing.T, status int, message string) answer {
	t.Helper()
	if a.status != status || message != "" && a.body["message"] != message {
		t.Fatalf("got %d %s, want %d %s", a.status, a.raw, status, message)
	}
	return a
}

// open opens a pull request of a branch of the repository into master.
func (w *world) open(branch string) *Pull {
	w.t.Helper()
	return must(w.s.OpenPull(w.alice, w.repo, "master", w.repo, branch, "Work on "+branch, false))(w.t)
}

func (w *world) state(p *Pull) PullState {
	w.t.Helper()
	state, ok := w.s.PullState(w.repo, p.Number)
	if !ok {
		w.t.Fatalf("no pull request %d", p.Number)
	}
	return state
}

// clone clones over HTTP with a token, straight from the loopback port.
func (w *world) clone(token, name string) string {
	w.t.Helper()
	dir := filepath.Join(w.t.TempDir(), "clone")
	url := strings.Replace(w.web.URL, "http://", "http://x-access-token:"+token+"@", 1) + "/" + name + ".git"
	runGit(w.t, "", "clone", "-q", url, dir)
	return dir
}

func readFile(t *testing.T, name string) string {
	t.Helper()
	return string(must(os.ReadFile(name))(t))
}
