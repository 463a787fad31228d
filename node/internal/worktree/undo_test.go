package worktree

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

func (f *fixture) operations(t *testing.T) []Operation {
	t.Helper()
	ops, err := f.c.Operations(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return ops
}

func (f *fixture) undo(t *testing.T, id string) UndoResult {
	t.Helper()
	res, err := f.c.Undo(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	f.nothingLeft(t)
	return res
}

func TestASyncIsTakenBackAndAgainWhole(t *testing.T) { // P0, D-22
	h, old, tip := shared(t)
	base := newFixture(t, h, old)
	for name, prepare := range map[string]func(f *fixture) string{
		"nothing own": func(f *fixture) string { return f.whole(t) },
		"own work":    func(f *fixture) string { return withOwnWork(t, f) },
	} {
		t.Run(name, func(t *testing.T) {
			f := base.fork(t, old)
			before := prepare(f)
			res, err := f.forward(tip)
			if err != nil || !res.Moved {
				t.Fatalf("%+v %v", res, err)
			}
			after := f.whole(t)
			ops := f.operations(t)
			if len(ops) != 1 || ops[0].ID != res.Operation || ops[0].Kind != OpSync || ops[0].To != res.To || len(ops[0].Changes) != 5 {
				t.Fatalf("%+v", ops)
			}
			first := f.undo(t, res.Operation)
			if !first.Moved || len(first.Left) != 0 || f.whole(t) != before {
				t.Fatalf("undo: %+v\n%s\n%s", first, before, f.whole(t))
			}
			if again := f.undo(t, res.Operation); again.Operation != "" || !strings.Contains(again.Why, "moved on") {
				t.Errorf("twice: %+v", again)
			}
			second := f.undo(t, first.Operation)
			if !second.Moved || f.whole(t) != after {
				t.Fatalf("undo of the undo: %+v\n%s\n%s", second, after, f.whole(t))
			}
			ops = f.operations(t)
			if len(ops) != 3 || ops[1].UndoneBy != ops[0].ID || ops[2].UndoneBy != "" || ops[0].Undoes != ops[1].ID {
				t.Errorf("%+v", ops)
			}
		})
	}
}

func TestUndoLeavesAloneWhatThePersonDidSince(t *testing.T) { // S2, D-22
	h, old, tip := shared(t)
	f := newFixture(t, h, old)
	res, err := f.forward(tip)
	if err != nil {
		t.Fatal(err)
	}
	put(t, f.dir, "a", "since\n"+longText+"theirs\n")
	put(t, f.dir, "new", "")
	put(t, f.dir, "b", "staged since\n")
	git(t, f.dir, "add", "b")
	undone := f.undo(t, res.Operation)
	if !undone.Moved || len(undone.Left) != 3 || !slices.Equal(undone.Restored, []string{"run", "c"}) {
		t.Fatalf("%+v", undone)
	}
	wantText(t, filepath.Join(f.dir, "a"), "since\n"+longText+"theirs\n")
	if got := git(t, f.dir, "status", "--porcelain"); got != " M a\nM  b" {
		t.Errorf("status\n%s", got)
	}
	// A commit since: the branch has moved on.
	f = newFixture(t, h, old)
	if res, err = f.forward(tip); err != nil {
		t.Fatal(err)
	}
	commitAll(t, f.dir, tree{"mine": "m\n"})
	before := f.whole(t)
	if undone := f.undo(t, res.Operation); undone.Moved || undone.Why == "" || f.whole(t) != before {
		t.Errorf("%+v", undone)
	}
	if _, err := f.c.Undo(t.Context(), "nothing"); !errors.Is(err, ErrNoRecord) {
		t.Error(err)
	}
	put(t, f.dir, ".git/MERGE_HEAD", "x")
	if _, err := f.c.Undo(t.Context(), res.Operation); !errors.Is(err, ErrBusy) {
		t.Error(err)
	}
}

func TestAnInterruptedUndoIsTakenBackOrComplete(t *testing.T) { // P0, D-22
	h, old, tip := shared(t)
	base := newFixture(t, h, old)
	for point, n := range map[string]int{"staged": 2, "swapped": 3, "kept": 4, "told": 2, "back": 5, "index": 1, "ref": 1} {
		t.Run(point, func(t *testing.T) {
			f := base.fork(t, old)
			before := withOwnWork(t, f)
			res, err := f.forward(tip)
			if err != nil {
				t.Fatal(err)
			}
			after := f.whole(t)
			crashes(t, f.childTo("undo", res.Operation, point, n))
			f.c = openCheckout(t, f.dir)
			f.nothingLeft(t)
			if got := f.whole(t); (point == "ref") != (got == before) || (point == "ref") == (got == after) {
				t.Errorf("after the crash:\n%s", got)
			}
			if undone := f.undo(t, res.Operation); undone.Moved == (point == "ref") || f.whole(t) != before {
				t.Errorf("%+v", undone)
			}
		})
	}
}

func TestAMoveOfTheBranchAloneIsTakenBack(t *testing.T) { // D-10
	h, old, tip := shared(t)
	f := newFixture(t, h, old)
	git(t, f.dir, "checkout", "-q", "--detach")
	res, err := f.forward(tip)
	if err != nil || !res.Moved || res.Operation == "" {
		t.Fatalf("%+v %v", res, err)
	}
	before := f.whole(t)
	git(t, f.dir, "checkout", "-q", "master")
	if undone := f.undo(t, res.Operation); undone.Moved || undone.Why == "" {
		t.Errorf("%+v", undone)
	}
	git(t, f.dir, "checkout", "-q", "--detach", string(old))
	undone := f.undo(t, res.Operation)
	if !undone.Moved || git(t, f.dir, "rev-parse", "master") != string(old) || f.whole(t) != before {
		t.Errorf("%+v", undone)
	}
}

func TestAReplacementIsTakenBack(t *testing.T) { // D-22
	c := newConflict(t)
	if _, err := c.c.Replace(t.Context(), "The interim.", file, c.k, c.master); err != nil {
		t.Fatal(err)
	}
	ops := c.operations(t)
	if len(ops) != 1 || ops[0].Kind != OpReplace || ops[0].Why != "The interim." || ops[0].Changes[0].Old != c.old || ops[0].Changes[0].New != c.master {
		t.Fatalf("%+v", ops)
	}
	undone := c.undo(t, ops[0].ID)
	if !slices.Equal(undone.Restored, []string{file}) || git(t, c.dir, "status", "--porcelain") != "" {
		t.Errorf("%+v", undone)
	}
	if again := c.undo(t, ops[0].ID); len(again.Left) != 1 || again.Operation != "" || again.Why == "" {
		t.Errorf("%+v", again)
	}
	if undone = c.undo(t, undone.Operation); len(undone.Restored) != 1 {
		t.Errorf("%+v", undone)
	}
	wantText(t, filepath.Join(c.dir, file), "one\nmaster\n")
	if fi, err := os.Stat(filepath.Join(c.dir, file)); err != nil || fi.Mode()&0o100 == 0 {
		t.Errorf("the executable bit: %v %v", fi.Mode(), err)
	}
	// A replacement that was refused leaves no operation.
	put(t, c.dir, file, "mine\n")
	if _, err := c.replace(c.pull); !errors.Is(err, ErrUnknownContent) || len(c.operations(t)) != 3 {
		t.Errorf("%v %+v", err, c.operations(t))
	}
	if err := c.c.PruneKept(t.Context(), time.Now().Add(time.Hour)); err != nil || len(c.operations(t)) != 0 {
		t.Errorf("%v %+v", err, c.operations(t))
	}
	if left, _ := filepath.Glob(filepath.Join(c.dir, ".git/parley/*/*")); len(left) != 0 {
		t.Errorf("left: %v", left)
	}
}
