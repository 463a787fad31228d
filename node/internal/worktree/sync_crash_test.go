package worktree

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// withOwnWork is a checkout with an own commit, edits on top of it and a staged one.
func withOwnWork(t *testing.T, f *fixture) (before string) {
	t.Helper()
	commitAll(t, f.dir, tree{"a": "mine\n" + longText, "more": "m\n"})
	put(t, f.dir, "a", "edited\nmine\n"+longText)
	put(t, f.dir, "x:run", "edited\n"+longText)
	put(t, f.dir, "b", "staged\n"+longText)
	git(t, f.dir, "add", "b")
	return f.whole(t)
}

// whole is everything that a person can see of a checkout.
func (f *fixture) whole(t *testing.T) string {
	t.Helper()
	return snapshot(t, f.dir) + git(t, f.dir, "rev-parse", "HEAD") + git(t, f.dir, "status", "--porcelain") + git(t, f.dir, "ls-files", "--stage")
}

// ownWorkAtTip checks that own work and GitHub's are both there.
func (f *fixture) ownWorkAtTip(t *testing.T, tip OID) {
	t.Helper()
	wantText(t, filepath.Join(f.dir, "a"), "edited\nmine\n"+longText+"theirs\n")
	wantText(t, filepath.Join(f.dir, "b"), "staged\n"+longText+"theirs\n")
	wantText(t, filepath.Join(f.dir, "c"), longText+"theirs\n")
	wantText(t, filepath.Join(f.dir, "run"), "edited\n"+longText+"theirs\n")
	wantText(t, filepath.Join(f.dir, "new"), "new\n")
	if got := git(t, f.dir, "status", "--porcelain"); got != " M a\nM  b\n M run" {
		t.Errorf("status\n%s", got)
	}
	if got := git(t, f.dir, "log", "-1", "--format=%P"); !strings.HasSuffix(got, " "+string(tip)) {
		t.Errorf("the parents are %s", got)
	}
	f.nothingLeft(t)
}

func TestAnInterruptedSyncOfOwnWorkIsTakenBackOrComplete(t *testing.T) { // P0, D-21
	h, old, tip := shared(t)
	base := newFixture(t, h, old)
	for point, n := range map[string]int{
		"brought": 1, "staged": 4, "swapped": 3, "noted": 2, "kept": 1, "told": 5, "file": 3, "files": 1, "locked": 1,
		"draft": 1, "aside": 1, "index": 1, "ref": 1,
	} {
		t.Run(fmt.Sprint(point, n), func(t *testing.T) {
			f := base.fork(t, old)
			before := withOwnWork(t, f)
			crashes(t, f.child(tip, point, n))
			f.c = openCheckout(t, f.dir)
			f.nothingLeft(t)
			if point != "ref" && f.whole(t) != before {
				t.Errorf("it was not taken back:\n%s\n%s", before, f.whole(t))
			}
			if res, err := f.forward(tip); err != nil || res.Moved == (point == "ref") || len(res.Kept) != 0 {
				t.Fatalf("again: %+v %v", res, err)
			}
			f.ownWorkAtTip(t, tip)
		})
	}
}

func TestTheTakingBackCanBeInterruptedToo(t *testing.T) { // P0, D-21
	h, old, tip := shared(t)
	base := newFixture(t, h, old)
	for point, n := range map[string]int{"staged": 2, "swapped": 3, "kept": 3, "back": 3} {
		t.Run(point, func(t *testing.T) {
			f := base.fork(t, old)
			before := withOwnWork(t, f)
			crashes(t, f.child(tip, "index", 1))
			crashes(t, f.child(tip, point, n))
			crashes(t, f.child(tip, point, 1))
			f.c = openCheckout(t, f.dir)
			f.nothingLeft(t)
			if got := f.whole(t); got != before {
				t.Errorf("it was not taken back:\n%s\n%s", before, got)
			}
			if res, err := f.forward(tip); err != nil || !res.Moved {
				t.Fatalf("again: %+v %v", res, err)
			}
			f.ownWorkAtTip(t, tip)
		})
	}
}

// What the person writes between the crash and the restart is not lost, and neither is GitHub's change.
func TestWorkAfterAnInterruptedSyncIsOwnWork(t *testing.T) { // P0, S2
	h, old, tip := shared(t)
	f := newFixture(t, h, old)
	put(t, f.dir, "a", "mine\n"+longText)
	crashes(t, f.child(tip, "files", 1))
	put(t, f.dir, "a", "more\n"+read(t, f.dir, "a"))
	put(t, f.dir, "new", "changed\nnew\n")
	f.c = openCheckout(t, f.dir)
	r := f.request(tip)
	r.Settle = func(_ context.Context, s Settling) (OID, error) {
		if !slices.Equal(s.Paths, []string{"new"}) {
			t.Errorf("conflicts %v", s.Paths)
		}
		put(t, s.Scratch.Dir, "new", "changed\nnew\n")
		git(t, s.Scratch.Dir, "commit", "-qam", "settled")
		return OID(git(t, s.Scratch.Dir, "rev-parse", "HEAD")), nil
	}
	if res, err := f.c.SyncMaster(t.Context(), f.m, r); err != nil || !res.Moved {
		t.Fatalf("%+v %v", res, err)
	}
	wantText(t, filepath.Join(f.dir, "a"), "more\nmine\n"+longText+"theirs\n")
	wantText(t, filepath.Join(f.dir, "b"), longText+"theirs\n")
	wantText(t, filepath.Join(f.dir, "new"), "changed\nnew\n")
	f.nothingLeft(t)
}

// The person goes to another branch after the crash: the files are theirs, and nothing is taken back over them.
func TestAfterACrashThePersonMayGoElsewhere(t *testing.T) { // P0, D-10
	h, old, tip := shared(t)
	f := newFixture(t, h, old)
	crashes(t, f.child(tip, "files", 1))
	git(t, f.dir, "checkout", "-q", "-b", "mine")
	before := f.whole(t)
	f.c = openCheckout(t, f.dir)
	f.nothingLeft(t)
	if f.whole(t) != before {
		t.Error("something changed")
	}
	ops, err := f.c.Operations(t.Context())
	if err != nil || len(ops) != 1 || !ops[0].Unended || ops[0].Branch != "" || len(ops[0].Changes) != 5 {
		t.Fatalf("%+v %v", ops, err)
	}
	res, err := f.c.Undo(t.Context(), ops[0].ID)
	if err != nil || len(res.Restored) != 5 || git(t, f.dir, "status", "--porcelain") != "" {
		t.Errorf("undo: %+v %v", res, err)
	}
}

func TestASyncThatWasOnlyNotToldIsComplete(t *testing.T) { // P0
	h, old, tip := shared(t)
	f := newFixture(t, h, old)
	crashes(t, f.child(tip, "ref", 1))
	if err := os.Remove(filepath.Join(f.dir, ".git/index.lock")); err != nil { // the person takes it for a dead git's
		t.Fatal(err)
	}
	commitAll(t, f.dir, tree{"mine": "m\n"})
	before := f.whole(t)
	f.c = openCheckout(t, f.dir)
	ops := f.operations(t)
	if len(ops) != 1 || ops[0].Unended || ops[0].To != tip || f.whole(t) != before {
		t.Fatalf("%+v", ops)
	}
	if undone := f.undo(t, ops[0].ID); undone.Why == "" || f.whole(t) != before {
		t.Errorf("%+v", undone)
	}
}

// A writer saves in the last moment, again and again: the newest version is merged, and GitHub's change with it.
func TestAWriteInTheLastMomentIsMergedToo(t *testing.T) { // S2, P0
	h, old, tip := shared(t)
	for _, point := range []string{"brought", "staged", "swapped"} {
		f := newFixture(t, h, old)
		put(t, f.dir, "b", "mine\n"+longText)
		times := 0
		f.c.hook = func(at string) {
			if at == point && times < 2 {
				times++
				put(t, f.dir, "b", fmt.Sprintf("write %d\n", times)+longText)
			}
		}
		res, err := f.forward(tip)
		if err != nil || !res.Moved {
			t.Fatalf("at %s: %+v %v", point, res, err)
		}
		// A write after b itself was exchanged is simply the person's next edit.
		if got := read(t, f.dir, "b"); got != "write 2\n"+longText+"theirs\n" {
			t.Errorf("at %s: b has %q", point, got)
		}
		f.nothingLeft(t)
	}
	f := newFixture(t, h, old)
	n := 0
	f.c.hook = func(at string) {
		if at == "brought" {
			n++
			put(t, f.dir, "a", fmt.Sprintf("write %d\n", n)+longText)
		}
	}
	if res, err := f.forward(tip); err == nil || res.Moved {
		t.Errorf("%+v %v", res, err)
	}
	wantText(t, filepath.Join(f.dir, "a"), fmt.Sprintf("write %d\n", n)+longText)
	f.nothingLeft(t)
}
