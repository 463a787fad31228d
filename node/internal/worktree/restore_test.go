package worktree

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// keptOnly is the one kept file.
func keptOnly(t *testing.T, c *Checkout) KeptFile {
	t.Helper()
	kept, err := c.Kept(t.Context())
	if err != nil || len(kept) != 1 {
		t.Fatalf("%+v %v", kept, err)
	}
	return kept[0]
}

func TestKeptContentIsRestored(t *testing.T) { // D-22
	c := newConflict(t)
	if _, err := c.replace(c.master); err != nil {
		t.Fatal(err)
	}
	k := keptOnly(t, c.c)
	if len(k.ID) != 8 {
		t.Errorf("id %q", k.ID)
	}
	if got, body, err := c.c.KeptNamed(t.Context(), k.ID); err != nil || got != k || string(body) != "one\nold\n" {
		t.Errorf("%+v %q %v", got, body, err)
	}
	put(t, c.dir, file, "mine, not committed\n")
	if o, err := c.c.Restore(t.Context(), k.ID); err != nil || o != Took {
		t.Fatal(o, err)
	}
	wantText(t, filepath.Join(c.dir, file), "one\nold\n")
	if git(t, c.dir, "status", "--porcelain") != "" {
		t.Error("the file or its mode is another")
	}
	// Twice: it is there already, and what was displaced the first time can come back.
	if o, err := c.c.Restore(t.Context(), k.ID); err != nil || o != HadIt {
		t.Error(o, err)
	}
	kept, err := c.c.Kept(t.Context())
	if err != nil || len(kept) != 2 || read(t, kept[1].File) != "mine, not committed\n" {
		t.Fatalf("%+v %v", kept, err)
	}
	if o, err := c.c.Restore(t.Context(), kept[1].ID); err != nil || o != Took {
		t.Error(o, err)
	}
	wantText(t, filepath.Join(c.dir, file), "mine, not committed\n")
	// Its directory is gone.
	put(t, c.dir, "src", "")
	if o, err := c.c.Restore(t.Context(), k.ID); err != nil || o != Took {
		t.Error(o, err)
	}
	wantText(t, filepath.Join(c.dir, file), "one\nold\n")
	if ops := c.operations(t); len(ops) != 4 || ops[0].Kind != OpRestore {
		t.Fatalf("%+v", ops)
	} else if undone := c.undo(t, ops[0].ID); len(undone.Restored) != 1 {
		t.Errorf("%+v", undone)
	}
	if _, err := os.Stat(filepath.Join(c.dir, "src")); err == nil {
		t.Error("the undone restoring left its directory")
	}
}

func TestARestoringThatCannotBeIsRefused(t *testing.T) { // D-10, D-22
	base := newConflict(t)
	for name, c := range map[string]struct {
		change func(c *conflict)
		want   error
	}{
		"a link on the way":  {func(c *conflict) { put(t, c.dir, "src", ""); put(t, c.dir, "l:src", "/tmp") }, ErrRefused},
		"a directory":        {func(c *conflict) { put(t, c.dir, file, ""); put(t, c.dir, file+"/x", "x\n") }, ErrRefused},
		"a file on the way":  {func(c *conflict) { put(t, c.dir, "src", ""); put(t, c.dir, "src", "x\n") }, ErrRefused},
		"another branch":     {func(c *conflict) { git(t, c.dir, "checkout", "-q", "-b", "x") }, ErrRefused},
		"busy":               {func(c *conflict) { put(t, c.dir, ".git/index.lock", "x") }, ErrBusy},
		"the kept file gone": {func(c *conflict) { _ = os.RemoveAll(filepath.Join(c.dir, ".git/parley/kept")) }, ErrNoRecord},
		"another working tree": {func(c *conflict) {
			git(t, c.dir, "worktree", "add", "-q", "-b", "y", c.dir+"-linked")
			c.c = openCheckout(t, c.dir+"-linked")
		}, ErrNoRecord},
		"written in this moment": {func(c *conflict) {
			c.c.hook = func(point string) {
				if point == "staged" {
					put(t, c.dir, file, "newest\n")
				}
			}
		}, ErrUnknownContent},
	} {
		t.Run(name, func(t *testing.T) {
			cc := base.fork(t)
			cc.c.Base = "master"
			if _, err := cc.replace(cc.pull); err != nil {
				t.Fatal(err)
			}
			k := keptOnly(t, cc.c)
			c.change(cc)
			before := snapshot(t, cc.dir)
			if o, err := cc.c.Restore(t.Context(), k.ID); !errors.Is(err, c.want) {
				t.Errorf("%v %v", o, err)
			}
			if c.want == ErrUnknownContent {
				wantText(t, filepath.Join(cc.dir, file), "newest\n")
			} else if snapshot(t, cc.dir) != before {
				t.Error("something changed")
			}
		})
	}
}

func TestAnInterruptedRestoringLosesNothing(t *testing.T) { // D-22
	base := newConflict(t)
	for _, point := range []string{"staged", "swapped", "noted", "kept", "told"} {
		c := base.fork(t)
		if _, err := c.replace(c.master); err != nil {
			t.Fatal(err)
		}
		k := keptOnly(t, c.c)
		put(t, c.dir, file, "mine\n")
		crashes(t, c.childTo("restore", k.ID, point, 1))
		c.c = openCheckout(t, c.dir)
		c.nothingLeft(t)
		ops := c.operations(t)
		if point == "staged" {
			wantText(t, filepath.Join(c.dir, file), "mine\n")
		} else if len(ops) != 2 || ops[0].Kind != OpRestore || len(ops[0].Changes) != 1 || !isKept(c.c, "mine\n") {
			t.Errorf("at %s: %+v", point, ops)
		}
		if _, err := c.c.Restore(t.Context(), k.ID); err != nil {
			t.Errorf("at %s: %v", point, err)
		}
		wantText(t, filepath.Join(c.dir, file), "one\nold\n")
	}
}
