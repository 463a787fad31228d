package worktree

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestFailingTestsTakeNothing(t *testing.T) { // P0
	h, old, tip := shared(t)
	base := newFixture(t, h, old)
	for name, fails := range map[string]bool{"pass": false, "fail": true} {
		t.Run(name, func(t *testing.T) {
			f := base.fork(t, old)
			withOwnWork(t, f)
			put(t, f.dir, "c", "held and edited\n")
			before := f.whole(t)
			calls := 0
			r := f.request(tip)
			r.Hold, r.Scratch = func(p string) bool { return p == "c" }, t.TempDir()
			r.Test = func(_ context.Context, dir string) error {
				calls++
				// The checkout is untouched, and the directory holds all of what it would become.
				if got := f.whole(t); got != before {
					t.Errorf("the checkout has changed:\n%s", got)
				}
				for path, text := range map[string]string{
					"a": "edited\nmine\n" + longText + "theirs\n", "b": "staged\n" + longText + "theirs\n", "c": "held and edited\n",
					"more": "m\n", "new": "new\n",
				} {
					wantText(t, filepath.Join(dir, path), text)
				}
				if fails {
					return errors.New("exit status 1\nFAIL x")
				}
				return nil
			}
			res, err := f.c.SyncMaster(t.Context(), f.m, r)
			if err != nil || calls != 1 || res.Moved == fails {
				t.Fatalf("%+v %v, %d calls", res, err, calls)
			}
			if left, _ := os.ReadDir(r.Scratch); len(left) != 0 {
				t.Errorf("left in the scratch: %v", left)
			}
			if !fails {
				wantText(t, filepath.Join(f.dir, "c"), "held and edited\n")
				return
			}
			r.Failed = func(own string) string {
				if own != res.Own {
					return ""
				}
				return "FAIL x, as before"
			}
			if again, err := f.c.SyncMaster(t.Context(), f.m, r); err != nil || again.Moved || calls != 1 || !strings.Contains(again.Why, "as before") {
				t.Errorf("again: %+v %v, %d calls", again, err, calls)
			}
			if !strings.Contains(res.Why, "FAIL x") || res.Own == "" || len(res.Kept) != 3 || f.whole(t) != before {
				t.Errorf("%+v", res)
			}
			f.nothingLeft(t)
		})
	}
	f := base.fork(t, old)
	r := f.request(tip)
	r.Test = func(context.Context, string) error { t.Error("tested, although nothing is own"); return nil }
	if res, err := f.c.SyncMaster(t.Context(), f.m, r); err != nil || !res.Moved {
		t.Errorf("%+v %v", res, err)
	}
}

// While the test runs a person goes on working: what they write then is part of what is taken.
func TestWorkDuringTheTestIsTestedToo(t *testing.T) { // P0, S2
	h, old, tip := shared(t)
	f := newFixture(t, h, old)
	put(t, f.dir, "a", "mine\n"+longText)
	r := f.request(tip)
	var seen []string
	r.Test = func(_ context.Context, dir string) error {
		if seen = append(seen, read(t, dir, "a")); len(seen) == 1 {
			put(t, f.dir, "a", "mine too\n"+longText)
		}
		return nil
	}
	res, err := f.c.SyncMaster(t.Context(), f.m, r)
	if want := "mine too\n" + longText + "theirs\n"; err != nil || !res.Moved || len(seen) != 2 || seen[1] != want || read(t, f.dir, "a") != want {
		t.Errorf("%+v %v %q", res, err, seen)
	}
}

// A turn of an agent is dear: what was settled is not asked for again because the person wrote to another file.
func TestASettledConflictIsNotAskedForAgain(t *testing.T) { // P0, P21
	h, old, tip := shared(t)
	for _, committed := range []bool{false, true} {
		f := newFixture(t, h, old)
		put(t, f.dir, "a", longText+"mine\n")
		if committed {
			git(t, f.dir, "commit", "-qam", "mine")
		}
		put(t, f.dir, "b", "mine\n"+longText)
		r := f.request(tip)
		turns, tests := 0, 0
		r.Settle = func(_ context.Context, s Settling) (OID, error) {
			turns++
			put(t, s.Scratch.Dir, "a", longText+"both\n")
			put(t, s.Scratch.Dir, "also", "new\n")
			put(t, s.Scratch.Dir, "same", "")
			git(t, s.Scratch.Dir, "add", "-A")
			git(t, s.Scratch.Dir, "commit", "-qm", "settled")
			return OID(git(t, s.Scratch.Dir, "rev-parse", "HEAD")), nil
		}
		r.Test = func(_ context.Context, dir string) error {
			if tests++; tests == 1 {
				put(t, f.dir, "b", "more\nmine\n"+longText)
			}
			wantText(t, filepath.Join(dir, "a"), longText+"both\n")
			return nil
		}
		res, err := f.c.SyncMaster(t.Context(), f.m, r)
		if err != nil || !res.Moved || turns != 1 || tests != 2 || !slices.Equal(res.Settled, []string{"a"}) {
			t.Fatalf("%+v %v, %d turns, %d tests", res, err, turns, tests)
		}
		wantText(t, filepath.Join(f.dir, "a"), longText+"both\n")
		wantText(t, filepath.Join(f.dir, "b"), "more\nmine\n"+longText+"theirs\n")
		wantText(t, filepath.Join(f.dir, "also"), "new\n")
		if _, err := os.Stat(filepath.Join(f.dir, "same")); err == nil {
			t.Error("the settled deletion was not taken")
		}
		f.nothingLeft(t)
	}
}

func TestAThreadThatBeginsDuringTheTestHoldsItsFile(t *testing.T) { // P0, P18
	h, old, tip := shared(t)
	f := newFixture(t, h, old)
	put(t, f.dir, "a", "mine\n"+longText)
	held := false
	r := f.request(tip)
	r.Hold = func(p string) bool { return held && p == "a" }
	r.Test = func(context.Context, string) error { held = true; return nil }
	res, err := f.c.SyncMaster(t.Context(), f.m, r)
	if err != nil || !res.Moved || !slices.Equal(res.Held, []string{"a"}) || read(t, f.dir, "a") != "mine\n"+longText {
		t.Errorf("%+v %v", res, err)
	}
}

func TestNothingOfAHeldFileGoesIntoAMerge(t *testing.T) { // P0, P18
	h, old, tip := shared(t)
	f := newFixture(t, h, old)
	commitAll(t, f.dir, tree{"a": "mine\n" + longText, "b": longText + "conflicts\n", "same": "mine\n"})
	put(t, f.dir, "b", "edited\n")
	r := f.request(tip)
	r.Hold = func(p string) bool { return p == "a" || p == "b" }
	r.Settle = func(context.Context, Settling) (OID, error) { return "", errors.New("asked") }
	res, err := f.c.SyncMaster(t.Context(), f.m, r)
	if err != nil || !res.Moved || !slices.Equal(res.Held, []string{"a", "b"}) {
		t.Fatalf("%+v %v", res, err)
	}
	for _, p := range []string{"a", "b"} {
		if blobOf(t, f.dir, res.To, p) != blobOf(t, f.dir, tip, p) {
			t.Errorf("the merge has something else than GitHub at %s", p)
		}
	}
	wantText(t, filepath.Join(f.dir, "a"), "mine\n"+longText)
	wantText(t, filepath.Join(f.dir, "b"), "edited\n")
	if got := git(t, f.dir, "show", "HEAD:same"); got != "mine" {
		t.Errorf("the own commit at another path: %q", got)
	}
}

func TestLineEndsOfOwnWorkStay(t *testing.T) { // P0, D-22
	h, old, tip := shared(t)
	crlf := func(s string) string { return strings.ReplaceAll(s, "\n", "\r\n") }
	f := newFixture(t, h, old)
	git(t, f.dir, "config", "core.autocrlf", "true")
	git(t, f.dir, "rm", "-q", "--cached", "-r", ".")
	git(t, f.dir, "reset", "-q", "--hard")
	put(t, f.dir, "a", crlf("mine\n"+longText))
	put(t, f.dir, "x:run", crlf("mine\n"+longText))
	before := f.whole(t)
	res, err := f.forward(tip)
	if err != nil || !res.Moved || len(res.Merged) != 2 {
		t.Fatalf("%+v %v", res, err)
	}
	wantText(t, filepath.Join(f.dir, "a"), crlf("mine\n"+longText+"theirs\n"))
	if fi, err := os.Stat(filepath.Join(f.dir, "run")); err != nil || fi.Mode()&0o100 == 0 {
		t.Errorf("%v %v", fi.Mode(), err)
	}
	if got := git(t, f.dir, "diff", "--numstat"); got != "1\t0\ta\n1\t0\trun" {
		t.Errorf("the diff is %q", got)
	}
	if f.undo(t, res.Operation); f.whole(t) != before {
		t.Error("undo did not bring the exact bytes back")
	}
}

func TestOwnWorkInTheWay(t *testing.T) { // P0, S2
	h := newHub(t)
	old := h.commit("", tree{"a": longText, "doomed": "d\n", "moved": longText + "m\n", "run": "r\n", "dir/f": "f\n"})
	tip := h.commit(old, tree{"a": longText + "theirs\n", "doomed": "", "moved": "", "to/moved": longText + "m\n", "add": "add\n", "deep/add": "a\n", "x:run": "r\n", "dir/f": ""})
	tip = h.commit(tip, tree{"dir": "a file now\n"})
	h.publish(map[string]OID{"refs/heads/master": tip})
	base := newFixture(t, h, old)
	for name, c := range map[string]struct {
		prepare func(f *fixture)
		stays   string // why nothing is taken; empty: it is
		after   tree
	}{
		"an edit of a renamed file":                {func(f *fixture) { put(t, f.dir, "moved", "mine\n"+longText+"m\n") }, "", tree{"to/moved": "mine\n" + longText + "m\n"}},
		"an edit of a deleted file":                {func(f *fixture) { put(t, f.dir, "doomed", "mine\n") }, "conflict", nil},
		"a deletion of a changed file":             {func(f *fixture) { put(t, f.dir, "a", "") }, "conflict", nil},
		"an untracked file":                        {func(f *fixture) { put(t, f.dir, "add", "mine\n") }, "conflict", nil},
		"the same untracked file":                  {func(f *fixture) { put(t, f.dir, "add", "add\n") }, "", tree{"add": "add\n"}},
		"a mode against an edit":                   {func(f *fixture) { put(t, f.dir, "run", "mine\n") }, "", tree{"run": "mine\n"}},
		"an untracked file in a directory's place": {func(f *fixture) { put(t, f.dir, "deep", "mine\n") }, "cannot be written", nil},
		"an untracked file in a lost directory":    {func(f *fixture) { put(t, f.dir, "dir/mine", "mine\n") }, "cannot be written", nil},
		"a link in the place":                      {func(f *fixture) { put(t, f.dir, "l:add", "/tmp") }, "brought together", nil},
		"staged in part": {func(f *fixture) {
			put(t, f.dir, "a", "staged\n"+longText)
			git(t, f.dir, "add", "a")
			put(t, f.dir, "a", "more\nstaged\n"+longText)
		}, "brought together", nil},
		"assumed unchanged": {func(f *fixture) { git(t, f.dir, "update-index", "--assume-unchanged", "a") }, "brought together", nil},
	} {
		t.Run(name, func(t *testing.T) {
			f := base.fork(t, old)
			c.prepare(f)
			before := f.whole(t)
			res, err := f.forward(tip)
			f.nothingLeft(t)
			if err != nil || res.Moved != (c.stays == "") || !strings.Contains(res.Why, c.stays) || (len(res.Kept) == 0) != res.Moved {
				t.Fatalf("%+v %v", res, err)
			}
			if !res.Moved && f.whole(t) != before {
				t.Errorf("something changed:\n%s\n%s", before, f.whole(t))
			}
			for path, text := range c.after {
				wantText(t, filepath.Join(f.dir, path), text)
			}
		})
	}
}

// What an agent adds must not take the place of a file that nobody showed it.
func TestASettledMergeTakesNoForeignPlace(t *testing.T) { // P0, S2
	h, old, tip := shared(t)
	f := newFixture(t, h, old)
	put(t, f.dir, "a", longText+"mine\n")
	put(t, f.dir, "also", "mine, untracked\n")
	before := f.whole(t)
	r := f.request(tip)
	r.Settle = func(_ context.Context, s Settling) (OID, error) {
		put(t, s.Scratch.Dir, "a", longText+"both\n")
		put(t, s.Scratch.Dir, "also", "the agent's\n")
		git(t, s.Scratch.Dir, "add", "-A")
		git(t, s.Scratch.Dir, "commit", "-qm", "settled")
		return OID(git(t, s.Scratch.Dir, "rev-parse", "HEAD")), nil
	}
	res, err := f.c.SyncMaster(t.Context(), f.m, r)
	if err != nil || res.Moved || len(res.Kept) != 1 || res.Kept[0].Path != "also" || f.whole(t) != before {
		t.Errorf("%+v %v", res, err)
	}
}
