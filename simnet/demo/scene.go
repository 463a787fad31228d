package demo

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/parley-mesh/parley/node/api"
)

// git runs git for the scene, untouched by the settings of whoever runs the demo.
func git(ctx context.Context, dir string, args ...string) (string, error) {
	c := exec.CommandContext(ctx, "git", append([]string{"-C", dir, "-c", "core.hooksPath=/dev/null", "-c", "commit.gpgSign=false"}, args...)...)
	c.Env = append(withoutGit(os.Environ()), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null", "GIT_TERMINAL_PROMPT=0", "LC_ALL=C",
		"GIT_AUTHOR_NAME=Kim", "GIT_AUTHOR_EMAIL=kim@example.com", "GIT_COMMITTER_NAME=Kim", "GIT_COMMITTER_EMAIL=kim@example.com")
	var out, errs bytes.Buffer
	c.Stdout, c.Stderr = &out, &errs
	if err := c.Run(); err != nil {
		return "", fmt.Errorf("git %s: %w: %s", strings.Join(args, " "), err, strings.TrimSpace(errs.String()))
	}
	return strings.TrimRight(out.String(), "\n"), nil
}

func withoutGit(env []string) []string {
	var out []string
	for _, e := range env {
		if !strings.HasPrefix(e, "GIT_") {
			out = append(out, e)
		}
	}
	return out
}

// version is one file at one point of the scene.
type version struct {
	path string
	text string
	exec bool
}

// The demo's own repository: a small shop. The pull request and the base branch change the same files in
// different ways: a content conflict, a file that both sides add, one with CRLF line ends, an executable
// one; with spaces and non-ASCII letters in their paths. Other files change on one side only.
var (
	first = []version{
		{path: "README.md", text: "# Shop\n\nA shop that sells tea.\n"},
		{path: "src/billing/refund.ts", text: "export function issueRefund(orderId: string) {\n  const order = load(orderId)\n  return pay(order.total)\n}\n"},
		{path: "src/billing/order.ts", text: "export function total(order: Order) {\n  return order.total\n}\n"},
		{path: "config/windows settings.ini", text: "[shop]\r\nname=Tea\r\ncurrency=EUR\r\n"},
		{path: "scripts/run tests.sh", text: "#!/bin/sh\nset -e\nnode --test\n", exec: true},
	}
	onPull = []version{
		{path: "src/billing/refund.ts", text: "export function issueRefund(orderId: string, amount: number) {\n  const order = load(orderId)\n  return pay(Math.min(amount, order.total))\n}\n"},
		{path: "config/windows settings.ini", text: "[shop]\r\nname=Tea\r\ncurrency=EUR\r\nrefunds=partial\r\n"},
		{path: "scripts/run tests.sh", text: "#!/bin/sh\nset -e\nnode --test src/billing\n", exec: true},
		{path: "docs/Rückgabe in Köln.md", text: "# Rückgabe\n\nTeilweise Erstattung ist möglich.\n"},
		{path: "src/billing/partial.ts", text: "export const partial = true\n"},
	}
	onBase = []version{
		{path: "src/billing/refund.ts", text: "export function issueRefund(orderId: string) {\n  const order = load(orderId)\n  audit('refund', order)\n  return pay(order.total - order.fee)\n}\n"},
		{path: "config/windows settings.ini", text: "[shop]\r\nname=Tea\r\ncurrency=EUR\r\nrefunds=none\r\n"},
		{path: "scripts/run tests.sh", text: "#!/bin/sh\nset -eu\nnode --test --test-concurrency=1\n", exec: true},
		{path: "docs/Rückgabe in Köln.md", text: "# Rückgabe\n\nNur mit Beleg.\n"},
		{path: "README.md", text: "# Shop\n\nA shop that sells tea and cups.\n"},
	}
)

// unpublished is what the third computer's person has typed and told nobody.
const unpublished = "\n// Kim, unpublished: round every refund down to the cent before it is paid.\n"

func write(dir string, files []version) error {
	for _, f := range files {
		path := filepath.Join(dir, filepath.FromSlash(f.path))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		mode := os.FileMode(0o644)
		if f.exec {
			mode = 0o755
		}
		if err := os.WriteFile(path, []byte(f.text), mode); err != nil {
			return err
		}
		if err := os.Chmod(path, mode); err != nil {
			return err
		}
	}
	return nil
}

func commit(ctx context.Context, dir, message string) error {
	if _, err := git(ctx, dir, "add", "-A"); err != nil {
		return err
	}
	_, err := git(ctx, dir, "commit", "-q", "-m", message)
	return err
}

// paint makes the repository that the stand-in begins with: the demo's own, or a copy of the user's two
// branches. The user's repository is only read.
func (s *stage) paint(ctx context.Context, o Options) (string, error) {
	dir := s.path("origin")
	if err := os.RemoveAll(dir); err != nil {
		return "", err
	}
	if o.Repo == "" {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return "", err
		}
		if _, err := git(ctx, dir, "init", "-q", "-b", s.Base); err != nil {
			return "", err
		}
		if err := write(dir, first); err != nil {
			return "", err
		}
		return dir, commit(ctx, dir, "Sell tea")
	}
	if _, err := git(ctx, s.Dir, "init", "-q", "--bare", dir); err != nil {
		return "", err
	}
	for _, b := range []string{s.Base, s.Head} {
		from, err := git(ctx, o.Repo, "rev-parse", "--verify", "--quiet", b+"^{commit}")
		if err != nil {
			return "", api.WithHint(fmt.Errorf("branch %q of %s: there is no such commit", b, o.Repo), "run git -C "+o.Repo+" branch and name one of those")
		}
		if _, err := git(ctx, dir, "fetch", "-q", "--no-tags", o.Repo, from+":refs/heads/"+b); err != nil {
			return "", err
		}
	}
	return dir, nil
}

// clone makes one computer's checkout, from GitHub and over its smart HTTP.
func (s *stage) clone(ctx context.Context, i int) error {
	dir := s.checkout(i)
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return err
	}
	url := "http://github.localhost/" + s.Slug + ".git"
	if _, err := git(ctx, s.Dir, "-c", "http.proxy=http://"+s.GitHub, "clone", "-q", url, dir); err != nil {
		return err
	}
	for _, kv := range [][2]string{{"user.name", "Kim"}, {"user.email", "kim@example.com"}, {"http.proxy", "http://" + s.GitHub}, {"core.autocrlf", "false"}} {
		if _, err := git(ctx, dir, "config", kv[0], kv[1]); err != nil {
			return err
		}
	}
	return nil
}

func (s *stage) push(ctx context.Context, i int, branch string) error {
	header := "http.http://github.localhost/.extraHeader=Authorization: Bearer " + token
	_, err := git(ctx, s.checkout(i), "-c", header, "push", "-q", "origin", branch)
	return err
}

// act plays what the persons do before parley comes in: the author commits and pushes a pull request, the
// base branch moves on, and the third computer's person edits a file without a commit.
func (s *stage) act(ctx context.Context, o Options) error {
	for i := range roles {
		if err := s.clone(ctx, i); err != nil {
			return err
		}
	}
	if o.Repo != "" {
		_, err := git(ctx, s.checkout(laptop), "checkout", "-q", s.Head)
		return err
	}
	if _, err := git(ctx, s.checkout(laptop), "checkout", "-q", "-b", s.Head); err != nil {
		return err
	}
	if err := write(s.checkout(laptop), onPull); err != nil {
		return err
	}
	if err := commit(ctx, s.checkout(laptop), "Refund a part of an order"); err != nil {
		return err
	}
	if err := s.push(ctx, laptop, s.Head); err != nil {
		return err
	}
	if err := write(s.checkout(desktop), onBase); err != nil {
		return err
	}
	if err := commit(ctx, s.checkout(desktop), "Keep the fee of a refund"); err != nil {
		return err
	}
	if err := s.push(ctx, desktop, s.Base); err != nil {
		return err
	}
	// The third computer is up to date before its person types: otherwise the master sync would bring the
	// two together at once, and there would be nothing to object about byte for byte.
	_, err := git(ctx, s.checkout(tablet), "pull", "-q", "--ff-only", "origin", s.Base)
	return err
}

// scribble gives the third computer unpublished work in one conflicted file.
func (s *stage) scribble(conflicted []string) error {
	for _, path := range slices.Backward(conflicted) {
		file := filepath.Join(s.checkout(tablet), filepath.FromSlash(path))
		content, err := os.ReadFile(file)
		if err != nil || bytes.IndexByte(content, 0) >= 0 {
			continue // not there yet on this computer, or no text
		}
		s.Objected = path
		return os.WriteFile(file, append(content, unpublished...), 0o644)
	}
	return nil
}

// blob is the content of one object, byte for byte.
func blob(ctx context.Context, bare, id string) ([]byte, error) {
	c := exec.CommandContext(ctx, "git", "--git-dir", bare, "cat-file", "blob", id)
	c.Env = withoutGit(os.Environ())
	return c.Output()
}
