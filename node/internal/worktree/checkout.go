package worktree

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
)

// Checkout is a person's working tree. It is read with plumbing commands alone, which take no lock and start
// no hook, and written only by Replace, SyncMaster, Restore and Undo. Its methods may be called from several goroutines.
type Checkout struct {
	// Base, when set, is the branch that the checkout must stand on for a file to be written (D-10). It is set
	// once, before the first use.
	Base string
	// Home, when set, is noted where this checkout is first written, so that no other home's end takes along what is
	// kept here. It is set once, before the first use.
	Home string

	top    string // the working tree, absolute
	gitDir string // of this working tree
	common string // shared by all working trees of the repository
	format string // sha1 or sha256
	filer  bool   // the file system has an executable bit that git believes
	git    runner
	mu     sync.Mutex // one writer at a time
	turns  atomic.Uint64
	hook   func(string) // tests: called at the named points of a write; nil otherwise
}

// CheckoutState is where a checkout stands.
type CheckoutState struct {
	Branch string // the branch that HEAD is on; empty when detached
	Head   OID    // the commit that HEAD is on; empty before the first commit
	Busy   string // what a person is in the middle of, such as "a merge"; empty when nothing
}

// OpenCheckout opens the working tree that dir lies in. If a killed parley left a replacement half done there,
// it is brought to an end. Errors: ErrNoGit, ErrNotRepository, ErrBare.
func OpenCheckout(ctx context.Context, git Git, dir string) (*Checkout, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("open checkout: %w", err)
	}
	if fi, err := os.Stat(dir); err != nil || !fi.IsDir() {
		return nil, fmt.Errorf("%s %w", dir, ErrNotRepository)
	}
	g := git.theirs(dir)
	ask := call{args: []string{"rev-parse", "--is-inside-work-tree", "--is-bare-repository"}}
	a, err := g.ask(ctx, ask)
	switch words := strings.Fields(string(a.stdout)); {
	case err != nil:
		return nil, fmt.Errorf("open checkout %s: %w", dir, err)
	case a.code != 0 && strings.Contains(a.stderr, "not a git repository"):
		return nil, fmt.Errorf("%s %w", dir, ErrNotRepository)
	case a.code != 0:
		return nil, fmt.Errorf("%s %w: %s", dir, ErrNotRepository, oneLine(a.stderr))
	case len(words) == 2 && words[1] == "true":
		return nil, fmt.Errorf("%s %w", dir, ErrBare)
	case len(words) != 2 || words[0] != "true":
		return nil, fmt.Errorf("%s %w: it lies in a git directory", dir, ErrNotRepository)
	}
	c, err := locate(ctx, git, g)
	if err != nil {
		return nil, fmt.Errorf("open checkout %s: %w", dir, err)
	}
	if err := c.healAtOpen(ctx); err != nil {
		return nil, fmt.Errorf("open checkout %s: %w", dir, err)
	}
	return c, nil
}

func locate(ctx context.Context, git Git, g runner) (*Checkout, error) {
	c := &Checkout{}
	var err error
	for _, q := range []struct {
		into *string
		args []string
	}{
		{&c.top, []string{"rev-parse", "--show-toplevel"}},
		{&c.gitDir, []string{"rev-parse", "--absolute-git-dir"}},
		{&c.common, []string{"rev-parse", "--path-format=absolute", "--git-common-dir"}},
		{&c.format, []string{"rev-parse", "--show-object-format"}},
	} {
		if *q.into, err = g.line(ctx, q.args...); err != nil {
			return nil, err
		}
	}
	c.git = git.theirs(c.top)
	mode, err := c.git.line(ctx, "config", "--type=bool", "--default=true", "core.fileMode")
	c.filer = mode == "true"
	return c, err
}

// Dir is the top of the working tree.
func (c *Checkout) Dir() string { return c.top }

// State reads where the checkout stands.
func (c *Checkout) State(ctx context.Context) (CheckoutState, error) {
	st := CheckoutState{Busy: c.busy()}
	a, err := c.git.ask(ctx, call{args: []string{"symbolic-ref", "-q", "HEAD"}})
	if err != nil {
		return CheckoutState{}, fmt.Errorf("state of %s: %w", c.top, err)
	}
	if ref := strings.TrimSpace(string(a.stdout)); a.code == 0 {
		st.Branch = strings.TrimPrefix(ref, "refs/heads/")
	}
	if st.Head, err = c.commit(ctx, "HEAD"); err != nil {
		return CheckoutState{}, fmt.Errorf("state of %s: %w", c.top, err)
	}
	return st, nil
}

// commit resolves a revision; "" means that there is none.
func (c *Checkout) commit(ctx context.Context, rev string) (OID, error) {
	a, err := c.git.ask(ctx, call{args: []string{"rev-parse", "-q", "--verify", "--end-of-options", rev + "^{commit}"}})
	if err != nil || a.code != 0 {
		return "", err
	}
	return OID(strings.TrimSpace(string(a.stdout))), nil
}

// busy names what is going on in this working tree.
func (c *Checkout) busy() string {
	for _, sign := range []struct{ file, what string }{
		{"MERGE_HEAD", "a merge"},
		{"CHERRY_PICK_HEAD", "a cherry-pick"},
		{"REVERT_HEAD", "a revert"},
		{"rebase-merge", "a rebase"},
		{"rebase-apply", "a rebase"},
		{"sequencer", "a cherry-pick"},
		{"BISECT_LOG", "a bisection"},
		{"index.lock", "a git command"},
	} {
		if _, err := os.Lstat(filepath.Join(c.gitDir, sign.file)); err == nil {
			return sign.what
		}
	}
	return ""
}

// LocalBranch is the tip of a local branch, or "" where there is none of that name.
func (c *Checkout) LocalBranch(ctx context.Context, name string) (OID, error) {
	if err := validBranch(name); err != nil {
		return "", err
	}
	return c.commit(ctx, "refs/heads/"+name)
}

// Authored reports whether head was made in this clone (D-11): a local branch ends in it, or the reflog says
// that a commit, merge, rebase, cherry-pick or the like made it here. A commit that only was fetched, checked
// out or reset to does not count.
func (c *Checkout) Authored(ctx context.Context, head OID) (bool, error) {
	if has, err := c.git.hasCommit(ctx, head); err != nil || !has {
		return false, err
	}
	out, err := c.git.line(ctx, "for-each-ref", "--count=1", "--points-at="+string(head), "--format=%(refname)", "refs/heads/")
	if err != nil || out != "" {
		return out != "", err
	}
	a, err := c.git.ask(ctx, call{args: []string{"log", "-g", "--all", "--no-show-signature", "--format=%H %gs"}})
	if err != nil {
		return false, err
	}
	for line := range strings.Lines(string(a.stdout)) {
		oid, action, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		if OID(oid) == head && madeHere(action) {
			return true, nil
		}
	}
	return false, nil
}

// madeHere reads the action of a reflog entry.
func madeHere(action string) bool {
	verb, rest, _ := strings.Cut(action, ":")
	for _, v := range []string{"commit", "cherry-pick", "revert", "am"} {
		if verb == v || strings.HasPrefix(verb, v+" (") {
			return true
		}
	}
	switch {
	case strings.HasPrefix(verb, "rebase"):
		return !strings.Contains(verb, "(start)") && !strings.Contains(verb, "(abort)")
	case strings.HasPrefix(verb, "merge "), strings.HasPrefix(verb, "pull"):
		return strings.Contains(rest, "Merge made")
	}
	return false
}

// at calls the tests' hook.
func (c *Checkout) at(point string) {
	if c.hook != nil {
		c.hook(point)
	}
}

// workArea is the directory for parley's own files of this repository. It lies in the shared git directory, so
// that removing a linked working tree takes nothing kept along.
func (c *Checkout) workArea(sub ...string) string {
	return filepath.Join(append([]string{c.common, "parley"}, sub...)...)
}

// exclusive makes the caller the only writer of this repository among all parleys, and brings to an end what a
// killed one left.
func (c *Checkout) exclusive(ctx context.Context) (release func(), err error) {
	c.mu.Lock()
	lock, err := c.takeLock()
	if err != nil {
		c.mu.Unlock()
		return nil, err
	}
	c.turns.Add(1)
	release = func() {
		c.turns.Add(1)
		// Nothing was written that a failed close could lose.
		_ = errors.Join(unlockFile(lock), lock.Close())
		c.mu.Unlock()
	}
	if err := errors.Join(c.healIndexLock(ctx), c.healReplacements(ctx), c.healOperations(ctx)); err != nil {
		release()
		return nil, err
	}
	return release, nil
}

// Turns counts how often this parley began or ended writing to the repository: an odd number says that it writes now,
// and where two answers differ it wrote in between.
func (c *Checkout) Turns() uint64 { return c.turns.Load() }

func (c *Checkout) takeLock() (*os.File, error) {
	for _, sub := range []string{tmpDir, keptDir} {
		if err := os.MkdirAll(c.workArea(sub), 0o700); err != nil {
			return nil, err
		}
	}
	f, err := os.OpenFile(c.workArea("lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := lockFile(f); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	if err := c.noteHome(); err != nil {
		return nil, errors.Join(err, unlockFile(f), f.Close())
	}
	return f, nil
}

// healAtOpen does nothing in a checkout that parley never wrote.
func (c *Checkout) healAtOpen(ctx context.Context) error {
	left, err := os.ReadDir(c.workArea(tmpDir))
	if err != nil {
		return nil
	}
	open, err := c.journals(ctx, openOp)
	if _, _, locked := c.ownIndexLock(); err != nil || len(left) == 0 && len(open) == 0 && !locked {
		return err
	}
	release, err := c.exclusive(ctx)
	if errors.Is(err, ErrBusy) {
		return nil // another parley is alive and will see to it
	}
	if err == nil {
		release()
	}
	return err
}
