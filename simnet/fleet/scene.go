package fleet

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parley-mesh/parley/simnet/desk"
	"github.com/parley-mesh/parley/simnet/github"
)

// deskVariable marks the process that is a desk and no test. Its value names a file: while that is there, every
// desk gives up.
const deskVariable = "PARLEY_FLEET_DESK"

// Main runs the tests of a package that plays scenes: the test program itself is the desk of every computer.
func Main(m *testing.M) {
	if file := os.Getenv(deskVariable); file != "" {
		args := os.Args[1:]
		if _, err := os.Stat(file); err == nil {
			args = append([]string{"--give-up"}, args...)
		}
		os.Exit(desk.Main(args))
	}
	os.Exit(m.Run())
}

// token is the credential of the stand-in's one user. It opens nothing else.
const token = "token-of-no-value"

// The repository of every scene. Pull request and base branch change the same lines of both files.
const (
	slug = "kim/shop"
	base = "master"
	head = "refunds"
)

// content is a file's content at one point of the scene, by path.
type content map[string]string

var (
	first  = content{"README.md": "# Shop\n", "src/refund.ts": "export const fee = 0\n", "run tests.sh": "#!/bin/sh\nset -e\n"}
	onPull = content{"src/refund.ts": "export const fee = 1 // a part\n", "run tests.sh": "#!/bin/sh\nset -e\nnode --test\n"}
	onBase = content{"src/refund.ts": "export const fee = 2 // the whole\n", "run tests.sh": "#!/bin/sh\nset -eu\n", "README.md": "# Shop for tea\n"}
)

// Scene is what stands outside of virtual time: the stand-in for GitHub with one repository, and folders.
type Scene struct {
	// GitHub may be asked and told anything, also from within the bubble.
	GitHub *github.Server
	Repo   *github.Repo

	t       *testing.T
	dir     string
	program string             // the desk of every computer
	ways    map[string]*wayOut // to GitHub, by computer
	kim     *github.User
}

// NewScene starts the stand-in. It is called outside of the bubble; everything ends with the test.
func NewScene(t *testing.T) *Scene {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	s := &Scene{t: t, dir: t.TempDir(), program: program, ways: map[string]*wayOut{}}
	origin := filepath.Join(s.dir, "origin")
	s.git(s.dir, "init", "-q", "-b", base, origin)
	s.write(origin, first)
	s.commit(origin, "Sell tea")
	if s.GitHub, err = github.New(filepath.Join(s.dir, "github")); err != nil {
		t.Fatal(err)
	}
	s.kim = s.GitHub.AddUser("kim", token)
	if s.Repo, err = s.GitHub.AddRepo(s.kim, filepath.Base(slug), filepath.Join(origin, ".git"), base); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(s.dir, "token"), []byte(token+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return s
}

// Clone makes a computer's checkout on the base branch, from GitHub and over its smart HTTP. It is called
// outside of the bubble, once for every computer of the story.
func (s *Scene) Clone(name string) string {
	s.t.Helper()
	way := newWayOut(s.t, s.GitHub)
	s.ways[name] = way
	dir, proxy := s.checkout(name), "http://"+way.addr
	s.git(s.dir, "-c", "http.proxy="+proxy, "clone", "-q", "http://github.localhost/"+slug+".git", dir)
	for _, kv := range [][2]string{{"user.name", "Kim"}, {"user.email", "kim@example.com"}, {"http.proxy", proxy}} {
		s.git(dir, "config", kv[0], kv[1])
	}
	return dir
}

// Discourage lets every desk give up from now on, or lets them work again.
func (s *Scene) Discourage(on bool) {
	s.t.Helper()
	err := os.Remove(s.gaveUp())
	if on {
		err = os.WriteFile(s.gaveUp(), nil, 0o600)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		s.t.Fatal(err)
	}
}

func (s *Scene) gaveUp() string { return filepath.Join(s.dir, "desks give up") }

// elsewhere is a checkout on a computer that is in no fleet.
const elsewhere = "elsewhere"

// Propose lets the person at a checkout open a pull request, and returns its number.
func (s *Scene) Propose(author string) int {
	s.t.Helper()
	s.git(author, "checkout", "-q", "-b", head)
	s.write(author, onPull)
	s.commit(author, "Refund a part")
	s.push(author, head)
	s.Clone(elsewhere)
	p, err := s.GitHub.OpenPull(s.kim, s.Repo, base, s.Repo, head, "Refund a part", false)
	if err != nil {
		s.t.Fatal(err)
	}
	return p.Number
}

// Collide lets a person elsewhere push to the base branch what conflicts with the pull request. Writes on
// GitHub count from then on.
func (f *Fleet) Collide() {
	f.t.Helper()
	s := *f.scene
	s.t = f.t // within the bubble
	dir := s.checkout(elsewhere)
	s.write(dir, onBase)
	s.commit(dir, "Refund the whole")
	s.push(dir, base)
	f.begun = len(s.GitHub.Writes())
}

func (s *Scene) push(dir, branch string) {
	s.t.Helper()
	s.git(dir, "-c", "http.http://github.localhost/.extraHeader=Authorization: Bearer "+token, "push", "-q", "origin", branch)
}

func (s *Scene) commit(dir, message string) {
	s.t.Helper()
	s.git(dir, "add", "-A")
	s.git(dir, "commit", "-q", "-m", message)
}

func (s *Scene) write(dir string, files content) {
	s.t.Helper()
	for path, text := range files {
		file := filepath.Join(dir, filepath.FromSlash(path))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			s.t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			s.t.Fatal(err)
		}
	}
}

func (s *Scene) git(dir string, args ...string) string {
	s.t.Helper()
	out, err := git(dir, args...)
	if err != nil {
		s.t.Fatal(err)
	}
	return out
}

// git runs git, untouched by the settings of whoever runs the tests.
func git(dir string, args ...string) (string, error) {
	c := exec.Command("git", append([]string{"-C", dir, "-c", "core.hooksPath=/dev/null", "-c", "commit.gpgSign=false"}, args...)...)
	for _, kv := range os.Environ() {
		if !strings.HasPrefix(kv, "GIT_") {
			c.Env = append(c.Env, kv)
		}
	}
	c.Env = append(c.Env, "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_TERMINAL_PROMPT=0", "LC_ALL=C",
		"GIT_AUTHOR_NAME=Kim", "GIT_AUTHOR_EMAIL=kim@example.com", "GIT_COMMITTER_NAME=Kim", "GIT_COMMITTER_EMAIL=kim@example.com")
	var out, complaint bytes.Buffer
	c.Stdout, c.Stderr = &out, &complaint
	if err := c.Run(); err != nil {
		return "", fmt.Errorf("git %s: %w: %s", strings.Join(args, " "), err, strings.TrimSpace(complaint.String()))
	}
	return strings.TrimRight(out.String(), "\n"), nil
}
