package worktree

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// git runs the real git in dir with nobody's settings and returns its output.
func git(t testing.TB, dir string, args ...string) string {
	t.Helper()
	out, err := gitTry(t, dir, "", args...)
	if err != nil {
		t.Fatalf("git %v: %v: %s", args, err, out)
	}
	return out
}

func gitTry(t testing.TB, dir, stdin string, args ...string) (string, error) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "git", args...)
	cmd.Dir = dir
	cmd.Stdin = strings.NewReader(stdin)
	cmd.Env = append(environment(nil, networkNames), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com",
		"GIT_AUTHOR_DATE=2026-01-01T00:00:00Z", "GIT_COMMITTER_DATE=2026-01-01T00:00:00Z")
	out, err := cmd.CombinedOutput()
	return strings.TrimRight(string(out), "\n"), err
}

// hub is a repository at a GitHub: bare, served over smart HTTP by git's own backend.
type hub struct {
	t     testing.TB
	dir   string // the bare repository
	work  string // a clone in which the test makes commits
	url   string
	asked atomic.Int64 // requests seen

	clones    map[OID]string // checkouts as cloned, by commit, which are copied: a clone is many processes
	published int            // how often refs were moved; each time there are new clones

	mu    sync.Mutex
	token string                                            // required when set
	fault func(w http.ResponseWriter, r *http.Request) bool // answers instead of git when it says so
}

// require asks for a token from now on.
func (h *hub) require(token string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.token = token
}

// answer lets f answer instead of git when it says so.
func (h *hub) answer(f func(w http.ResponseWriter, r *http.Request) bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.fault = f
}

func newHub(t testing.TB) *hub {
	t.Helper()
	root := t.TempDir()
	h := &hub{t: t, clones: map[OID]string{}, dir: filepath.Join(root, "repo.git"), work: filepath.Join(root, "work")}
	git(t, root, "init", "-q", "--bare", "-b", "master", h.dir)
	git(t, h.dir, "config", "http.receivepack", "true")
	git(t, root, "init", "-q", "-b", "master", h.work)
	git(t, h.work, "config", "core.autocrlf", "false")
	backend := filepath.Join(git(t, root, "--exec-path"), "git-http-backend")
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { h.serve(w, r, backend, root) }))
	t.Cleanup(srv.Close)
	h.url = srv.URL + "/repo.git"
	return h
}

func (h *hub) serve(w http.ResponseWriter, r *http.Request, backend, root string) {
	h.asked.Add(1)
	h.mu.Lock()
	fault, token := h.fault, h.token
	h.mu.Unlock()
	if fault != nil && fault(w, r) {
		return
	}
	if _, pass, _ := r.BasicAuth(); token != "" && pass != token {
		w.Header().Set("WWW-Authenticate", `Basic realm="GitHub"`)
		http.Error(w, "bad credentials", http.StatusUnauthorized)
		return
	}
	// The CGI handler takes no chunked bodies, and git chunks large ones.
	body := io.Reader(r.Body)
	if r.Header.Get("Content-Encoding") == "gzip" {
		if z, err := gzip.NewReader(r.Body); err == nil {
			body = z
			r.Header.Del("Content-Encoding")
		}
	}
	whole, _ := io.ReadAll(body)
	r.Body, r.ContentLength, r.TransferEncoding = io.NopCloser(bytes.NewReader(whole)), int64(len(whole)), nil
	handler := cgi.Handler{Path: backend, Env: []string{
		"GIT_PROJECT_ROOT=" + root, "GIT_HTTP_EXPORT_ALL=1", "REMOTE_USER=test",
		"GIT_PROTOCOL=" + r.Header.Get("Git-Protocol"), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1",
	}}
	handler.ServeHTTP(w, r)
}

// commit makes a commit in the hub's clone on top of another (none: the current HEAD) and returns it. An empty
// content deletes the file; "x:" in front of a name makes it executable, "l:" a symbolic link.
func (h *hub) commit(on OID, files map[string]string) OID {
	h.t.Helper()
	if on != "" {
		git(h.t, h.work, "checkout", "-q", "--detach", string(on))
	}
	for name, content := range files {
		put(h.t, h.work, name, content)
	}
	git(h.t, h.work, "add", "-A", "-f")
	git(h.t, h.work, "commit", "-q", "--allow-empty", "-m", "c")
	return OID(git(h.t, h.work, "rev-parse", "HEAD"))
}

// put writes one file of a working tree.
func put(t testing.TB, dir, name, content string) {
	t.Helper()
	kind, rest, ok := strings.Cut(name, ":")
	if ok && (kind == "x" || kind == "l") {
		name = rest
	} else {
		kind = ""
	}
	file := filepath.Join(dir, filepath.FromSlash(name))
	if err := os.RemoveAll(file); err != nil {
		t.Fatal(err)
	}
	if content == "" {
		return
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	var err error
	switch kind {
	case "l":
		err = os.Symlink(content, file)
	case "x":
		err = os.WriteFile(file, []byte(content), 0o755)
	default:
		err = os.WriteFile(file, []byte(content), 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// publish moves refs of the hub.
func (h *hub) publish(refs map[string]OID) {
	h.t.Helper()
	args := []string{"push", "-q", "--force", h.dir}
	for name, oid := range refs {
		args = append(args, string(oid)+":"+name)
	}
	git(h.t, h.work, args...)
	h.published++
	clear(h.clones)
}

// mirror opens a mirror of the hub and fetches master and the given pull requests.
func (h *hub) mirror(pulls ...uint64) *Mirror {
	h.t.Helper()
	m, err := OpenMirror(h.t.Context(), Git{}, filepath.Join(h.t.TempDir(), "mirror.git"), h.remote())
	if err != nil {
		h.t.Fatal(err)
	}
	if _, err := m.Fetch(h.t.Context(), "master", pulls); err != nil {
		h.t.Fatal(err)
	}
	return m
}

func (h *hub) remote() Remote {
	r := Remote{URL: h.url}
	if h.token != "" {
		r.Token = func(context.Context) (string, error) { return h.token, nil }
	}
	return r
}

// clone makes a person's checkout of the hub's master at the commit.
func (h *hub) clone(t testing.TB, at OID) string {
	t.Helper()
	first := h.clones[at]
	if first == "" {
		first = filepath.Join(filepath.Dir(h.dir), fmt.Sprintf("clone%d-%s", h.published, at))
		git(t, h.work, "clone", "-q", "--no-hardlinks", h.dir, first)
		git(t, first, "checkout", "-q", "-B", "master", string(at))
		h.clones[at] = first
	}
	dir := filepath.Join(t.TempDir(), "checkout")
	if err := os.CopyFS(dir, os.DirFS(first)); err != nil {
		t.Fatal(err)
	}
	git(t, dir, "update-index", "-q", "--refresh") // the copies are other files
	return dir
}

func openCheckout(t testing.TB, dir string) *Checkout {
	t.Helper()
	t.Setenv("GIT_CONFIG_GLOBAL", "/dev/null")
	c, err := OpenCheckout(t.Context(), Git{}, dir)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func read(t testing.TB, parts ...string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(parts...))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func blobOf(t testing.TB, dir string, commit OID, path string) Entry {
	t.Helper()
	out := git(t, dir, "ls-tree", string(commit), "--", path)
	f := strings.Fields(out)
	if len(f) < 3 {
		return Entry{}
	}
	return Entry{Mode: f[0], OID: OID(f[2])}
}
