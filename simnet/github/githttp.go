package github

import (
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"net/http/cgi"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
)

// backend finds git's own smart HTTP program.
var backend = sync.OnceValues(func() (string, error) {
	dir, err := exec.Command("git", "--exec-path").Output()
	if err != nil {
		return "", fmt.Errorf("find git http-backend: %w", err)
	}
	return filepath.Join(strings.TrimSpace(string(dir)), "git-http-backend"), nil
})

// serveGit is smart HTTP for /owner/name.git/service, or the fault asked for.
func (s *Server) serveGit(w http.ResponseWriter, req *http.Request) {
	f := s.faultFor(req.Method, req.URL.Path, nil)
	if f == nil {
		s.runGit(w, req)
		return
	}
	if !hang(req, f.Hang) {
		return
	}
	x := &exchange{header: http.Header{}}
	if f.After {
		s.runGit(x, req)
	}
	x.fault(f)
	x.send(w)
}

func (s *Server) runGit(w http.ResponseWriter, req *http.Request) {
	owner, rest, _ := strings.Cut(strings.Trim(req.URL.Path, "/"), "/")
	name, service, ok := strings.Cut(rest, "/")
	if !ok {
		http.Error(w, "the stand-in has no web pages", http.StatusNotFound)
		return
	}
	push := service == "git-receive-pack" || req.URL.Query().Get("service") == "git-receive-pack"
	if req.Method == http.MethodPost {
		spooled, err := spool(req)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		defer os.Remove(spooled.Name())
		defer spooled.Close()
	}
	v := s.visit(req, owner, strings.TrimSuffix(name, ".git"), push)
	s.logGit(req, v)
	if v.moved {
		http.Redirect(w, req, fmt.Sprintf("/%s.git/%s?%s", v.repo.FullName(), service, req.URL.RawQuery), http.StatusMovedPermanently)
		return
	}
	if v.status != http.StatusOK {
		if v.status == http.StatusUnauthorized {
			w.Header().Set("WWW-Authenticate", `Basic realm="GitHub"`)
		}
		http.Error(w, v.message, v.status)
		return
	}
	program, err := backend()
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	// A push moves its refs under the lock, so no API answer sees half of it; its body is here already, so nobody waits for the network.
	if push && req.Method == http.MethodPost {
		s.enter()
		defer s.leave()
		defer s.takeIn()
		v.env = append(v.env, s.mark(KindPush, v.user, 0)...)
	}
	inner := req.Clone(req.Context())
	inner.URL.Path = "/" + filepath.Base(v.repo.Dir) + "/" + service
	h := &cgi.Handler{Path: program, Root: "/", Stderr: io.Discard, Env: append(v.env, "GIT_PROJECT_ROOT="+filepath.Dir(v.repo.Dir),
		"GIT_HTTP_EXPORT_ALL=1", "REMOTE_USER="+v.user.login(), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null", "HOME=/nonexistent")}
	h.ServeHTTP(w, inner)
}

// visit is what git may do on behalf of a caller.
type visit struct {
	status  int // 200 lets it pass
	message string
	user    *User
	repo    *Repo
	moved   bool     // it was asked for by a name it had
	env     []string // for the update hook
}

// visit answers as GitHub does: a stranger is asked for credentials before he learns whether a repository exists.
func (s *Server) visit(req *http.Request, owner, name string, push bool) visit {
	s.enter()
	defer s.leave()
	u, known := s.caller(req)
	v := visit{status: http.StatusOK, user: u, repo: s.repo(owner, name)}
	if v.repo == nil {
		v.repo = s.movedRepo(owner, name)
		v.moved = v.repo != nil
	}
	hidden := v.repo == nil || v.repo.access(u) == NoAccess
	v.moved = v.moved && !hidden
	switch {
	case s.broken != nil:
		v.status, v.message = http.StatusInternalServerError, s.broken.Error()
		return v
	case !known || u == nil && (push || hidden):
		v.status = http.StatusUnauthorized
		v.message = "Invalid username or token. Password authentication is not supported for Git operations."
		return v
	case hidden:
		v.status, v.message = http.StatusNotFound, "Repository not found."
		return v
	case !push:
		return v
	}
	all, only := s.pushable(u, v.repo)
	if !all && len(only) == 0 {
		v.status, v.message = http.StatusForbidden, fmt.Sprintf("Permission to %s.git denied to %s.", v.repo.FullName(), u.Login)
	}
	v.env = []string{"STANDIN_PROTECTED=" + strings.Join(v.repo.protected(), " "), "STANDIN_ONLY=" + strings.Join(only, " ")}
	return v
}

func (s *Server) logGit(req *http.Request, v visit) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.log = append(s.log, Logged{Method: req.Method, Path: req.URL.Path, Query: req.URL.RawQuery, Login: v.user.login(), Status: v.status})
}

// spool puts the body into a file and gives it a length: net/http/cgi refuses chunks, and git sends them above 1 MiB.
func spool(req *http.Request) (*os.File, error) {
	var body io.Reader = req.Body
	if req.Header.Get("Content-Encoding") == "gzip" {
		z, err := gzip.NewReader(req.Body)
		if err != nil {
			return nil, fmt.Errorf("unpack request: %w", err)
		}
		body = z
		req.Header.Del("Content-Encoding")
	}
	f, err := os.CreateTemp("", "git-request-")
	if err != nil {
		return nil, fmt.Errorf("spool request: %w", err)
	}
	n, err := io.Copy(f, body)
	if err == nil {
		_, err = f.Seek(0, io.SeekStart)
	}
	if err != nil {
		f.Close()
		os.Remove(f.Name())
		return nil, fmt.Errorf("spool request: %w", err)
	}
	req.Body, req.ContentLength, req.TransferEncoding = f, n, nil
	return f, nil
}
