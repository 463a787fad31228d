package worktree

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The working tree is on another file system than its git directory.
func TestALinkedWorktreeOnAnotherDevice(t *testing.T) { // D-22
	shm, err := os.MkdirTemp("/dev/shm", "parley-test-")
	if err != nil {
		t.Skip("no second file system here")
	}
	t.Cleanup(func() { _ = os.RemoveAll(shm) })
	c := newConflict(t)
	linked := filepath.Join(shm, "linked")
	git(t, c.dir, "worktree", "add", "-q", "-b", "side", linked)
	w := openCheckout(t, linked)
	w.hook = func(point string) {
		if point != "staged" {
			return
		}
		if out := git(t, linked, "add", "-A", "-n"); out != "" {
			t.Errorf("git add catches %s", out)
		}
	}
	if o, err := w.Replace(t.Context(), agreed, file, c.k, c.pull); err != nil || o != Took {
		t.Fatal(o, err)
	}
	wantText(t, filepath.Join(linked, file), "one\npull\n")
	wantText(t, filepath.Join(c.dir, file), "one\nold\n")
	if out := git(t, linked, "status", "--porcelain", "--ignored"); !strings.HasPrefix(out, " M") || strings.Contains(out, "\n") {
		t.Errorf("status %q", out)
	}
	if kept, err := w.Kept(t.Context()); err != nil || len(kept) != 1 || read(t, kept[0].File) != "one\nold\n" {
		t.Errorf("%+v %v", kept, err)
	}
	git(t, c.dir, "worktree", "remove", "--force", linked)
	if left, _ := filepath.Glob(filepath.Join(c.dir, ".git/parley/kept/*.json")); len(left) != 1 {
		t.Error("removing the working tree took what was kept")
	}
}

func TestACheckoutInTheLastMomentStopsTheReplacement(t *testing.T) { // D-10
	base := newConflict(t)
	for name, do := range map[string]func(c *conflict){
		"another branch": func(c *conflict) { git(t, c.dir, "checkout", "-q", "-b", "other") },
		"detached":       func(c *conflict) { git(t, c.dir, "checkout", "-q", "--detach") },
		"a git command":  func(c *conflict) { put(t, c.dir, ".git/index.lock", "x") },
	} {
		c := base.fork(t)
		c.c.hook = func(point string) {
			if point == "staged" {
				do(c)
			}
		}
		if _, err := c.replace(c.master); !errors.Is(err, ErrBusy) {
			t.Errorf("%s: %v", name, err)
		}
		wantText(t, filepath.Join(c.dir, file), "one\nold\n")
	}
}

// The master sync may replace own content by its merge with the base, and by nothing else.
func TestOwnContentIsReplacedByItsMergeAlone(t *testing.T) { // D-21
	c := newConflict(t)
	put(t, c.dir, file, "zero\none\nold\n")
	own, err := c.c.Inspect(t.Context(), file)
	if err != nil {
		t.Fatal(err)
	}
	merged := Entry{modeFile, local(t, c.dir, "zero\none\nmaster\n")}
	if _, err := c.c.Replace(t.Context(), agreed, file, c.k.With(c.pull.OID), merged); !errors.Is(err, ErrUnknownContent) {
		t.Errorf("%v", err)
	}
	if o, err := c.c.Replace(t.Context(), agreed, file, c.k.With(own.Work.OID), merged); err != nil || o != Took {
		t.Fatal(o, err)
	}
	wantText(t, filepath.Join(c.dir, file), "zero\none\nmaster\n")
	if kept, err := c.c.Kept(t.Context()); err != nil || len(kept) != 1 || read(t, kept[0].File) != "zero\none\nold\n" {
		t.Errorf("%+v %v", kept, err)
	}
	if c.k.Has(own.Work.OID) {
		t.Error("the set itself grew")
	}
}

func TestTwoWritersTakeTurns(t *testing.T) {
	c := newConflict(t)
	other := openCheckout(t, c.dir)
	c.c.hook = func(point string) {
		if point != "staged" {
			return
		}
		if _, err := other.Replace(context.Background(), agreed, file, c.k, c.pull); !errors.Is(err, ErrBusy) {
			t.Errorf("a second writer: %v", err)
		}
	}
	if o, err := c.replace(c.master); err != nil || o != Took {
		t.Fatal(o, err)
	}
}
