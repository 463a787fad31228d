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

// passed is a checkout in which a thread held b with own work in it while the branch moved twice: GitHub changed
// the last line of b, then added another, and changed other.
func passed(t *testing.T, mine string) (f *fixture, tip OID) {
	t.Helper()
	h := newHub(t)
	old := h.commit("", tree{"a": "a\n", "b": longText, "other": longText})
	one := h.commit(old, tree{"a": "a1\n", "b": longText + "theirs\n"})
	tip = h.commit(one, tree{"a": "a2\n", "b": "top\n" + longText + "theirs\n"})
	h.publish(map[string]OID{"refs/heads/master": tip})
	f = newFixture(t, h, old)
	put(t, f.dir, "b", mine)
	for _, to := range []OID{one, tip} {
		r := f.request(to)
		r.Hold = func(path string) bool { return path == "b" }
		res, err := f.c.SyncMaster(t.Context(), f.m, r)
		if err != nil || !res.Moved || !slices.Equal(res.Held, []string{"b"}) || len(res.Apart) != 0 {
			t.Fatalf("%+v %v", res, err)
		}
	}
	wantText(t, filepath.Join(f.dir, "b"), mine)
	return f, tip
}

// bring asks for the files that the branch has passed.
func (f *fixture) bring(tip OID) (SyncResult, error) {
	r := f.request(tip)
	r.Bring = true
	return f.c.SyncMaster(f.t.Context(), f.m, r)
}

// middle is longText with a line of the person's own where GitHub changed nothing.
func middle() string {
	lines := strings.SplitAfter(longText, "\n")
	at := len(lines) / 2
	return strings.Join(lines[:at], "") + "mine\n" + strings.Join(lines[at:], "")
}

func (f *fixture) apart(t *testing.T) map[string]apartFile {
	t.Helper()
	all, err := f.c.readApart()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestAFileThatTheBranchPassedStaysUntilItIsAskedFor(t *testing.T) { // P0, D-21
	f, tip := passed(t, middle())
	before := f.whole(t)
	for range 2 {
		res, err := f.forward(tip)
		if err != nil || res.Moved || res.Operation != "" || !slices.Equal(res.Apart, []string{"b"}) || f.whole(t) != before {
			t.Fatalf("%+v %v", res, err)
		}
	}
	further := f.hub.commit(tip, tree{"a": "a3\n", "b": "top\n" + longText + "theirs 3\n"})
	f.hub.publish(map[string]OID{"refs/heads/master": further})
	if _, err := f.m.Fetch(t.Context(), "master", nil); err != nil {
		t.Fatal(err)
	}
	res, err := f.forward(further)
	if err != nil || !res.Moved || !slices.Equal(res.Apart, []string{"b"}) || len(res.Held) != 0 {
		t.Fatalf("%+v %v", res, err)
	}
	wantText(t, filepath.Join(f.dir, "b"), middle())
	wantText(t, filepath.Join(f.dir, "a"), "a3\n")
	if res, err = f.bring(further); err != nil || res.Moved || !slices.Equal(res.Merged, []string{"b"}) || len(res.Apart) != 0 {
		t.Fatalf("%+v %v", res, err)
	}
	wantText(t, filepath.Join(f.dir, "b"), "top\n"+middle()+"theirs 3\n")
	f.nothingLeft(t)
}

func TestAFileThatTheBranchPassedIsMergedOnItsOwnBase(t *testing.T) { // P0, D-21
	f, tip := passed(t, middle())
	res, err := f.bring(tip)
	if err != nil || res.Moved || res.Why != "" || res.Operation == "" || !slices.Equal(res.Merged, []string{"b"}) || len(res.Apart) != 0 {
		t.Fatalf("%+v %v", res, err)
	}
	want := "top\n" + middle() + "theirs\n"
	wantText(t, filepath.Join(f.dir, "b"), want)
	if got := git(t, f.dir, "status", "--porcelain"); got != " M b" || len(f.apart(t)) != 0 {
		t.Errorf("status %q, apart %v", got, f.apart(t))
	}
	f.nothingLeft(t)
	// It can be taken back, and brought again.
	undone := f.undo(t, res.Operation)
	if !slices.Equal(undone.Restored, []string{"b"}) || f.apart(t)["b"].Base.Absent() {
		t.Fatalf("%+v, apart %v", undone, f.apart(t))
	}
	wantText(t, filepath.Join(f.dir, "b"), middle())
	if again := f.undo(t, undone.Operation); len(again.Restored) != 1 || len(f.apart(t)) != 0 {
		t.Errorf("%+v, apart %v", again, f.apart(t))
	}
	wantText(t, filepath.Join(f.dir, "b"), want)
}

func TestAConflictWithWhatPassedIsSettledLikeOthers(t *testing.T) { // P0, D-29
	f, tip := passed(t, longText+"mine\n")
	before := f.whole(t)
	res, err := f.bring(tip)
	if err != nil || !slices.Equal(res.Conflicts, []string{"b"}) || res.Own == "" || len(res.Kept) != 1 || !slices.Equal(res.Apart, []string{"b"}) || f.whole(t) != before {
		t.Fatalf("%+v %v", res, err)
	}
	r := f.request(tip)
	r.Bring = true
	r.Settle = func(_ context.Context, s Settling) (OID, error) {
		if len(s.Files) != 1 || s.Files[0].Stage[1].OID != f.apart(t)["b"].Base.OID {
			t.Errorf("the base of the conflict: %+v", s.Files)
		}
		put(t, s.Scratch.Dir, "b", "top\n"+longText+"both\n")
		git(t, s.Scratch.Dir, "commit", "-qam", "settled")
		return OID(git(t, s.Scratch.Dir, "rev-parse", "HEAD")), nil
	}
	if res, err = f.c.SyncMaster(t.Context(), f.m, r); err != nil || !slices.Equal(res.Settled, []string{"b"}) || len(res.Apart) != 0 {
		t.Fatalf("%+v %v", res, err)
	}
	wantText(t, filepath.Join(f.dir, "b"), "top\n"+longText+"both\n")
	f.nothingLeft(t)
}

func TestWhatPassedIsForgottenWithItsReason(t *testing.T) { // P0, D-21
	for name, c := range map[string]struct {
		does  func(f *fixture)
		apart bool
	}{
		"committed":        {func(f *fixture) { git(t, f.dir, "commit", "-qam", "mine") }, false},
		"committed, later": {func(f *fixture) { git(t, f.dir, "commit", "-qam", "mine"); put(t, f.dir, "b", "more\n") }, false},
		"restored":         {func(f *fixture) { git(t, f.dir, "checkout", "-q", "b") }, false},
		"edited":           {func(f *fixture) { put(t, f.dir, "b", "more\n") }, true},
		"removed":          {func(f *fixture) { put(t, f.dir, "b", "") }, true},
		"staged":           {func(f *fixture) { git(t, f.dir, "add", "b") }, true},
	} {
		f, tip := passed(t, middle())
		c.does(f)
		before := f.whole(t)
		res, err := f.forward(tip)
		if err != nil || res.Moved || f.whole(t) != before || len(res.Apart) > 0 != c.apart || len(f.apart(t)) > 0 != c.apart {
			t.Errorf("%s: %+v %v, apart %v", name, res, err, f.apart(t))
		}
		if c.apart { // a deletion and an edit of all conflict, and a staged file is not ours to touch
			if res, err := f.bring(tip); err != nil || len(res.Kept) != 1 || f.whole(t) != before || len(f.apart(t)) != 1 {
				t.Errorf("%s: %+v %v", name, res, err)
			}
		}
	}
}

// What a thread put there and took away again, or nobody touched, is not own work: it gives way.
func TestAPassedFileWithoutOwnWorkGivesWay(t *testing.T) { // P0
	f, tip := passed(t, longText)
	if res, err := f.bring(tip); err != nil || len(res.Kept) != 0 || len(res.Apart) != 0 {
		t.Fatalf("%+v %v", res, err)
	}
	wantText(t, filepath.Join(f.dir, "b"), "top\n"+longText+"theirs\n")
	if got := git(t, f.dir, "status", "--porcelain"); got != "" {
		t.Errorf("status %q", got)
	}
}

func TestWhatPassedIsBroughtTogetherWithAMovingBranch(t *testing.T) { // P0, D-21
	f, tip := passed(t, middle())
	next := f.hub.commit(tip, tree{"a": "a3\n"})
	f.hub.publish(map[string]OID{"refs/heads/master": next})
	if _, err := f.m.Fetch(t.Context(), "master", nil); err != nil {
		t.Fatal(err)
	}
	before := f.whole(t)
	res, err := f.bring(next)
	if err != nil || !res.Moved || !slices.Equal(res.Merged, []string{"b"}) || len(res.Apart) != 0 || len(f.apart(t)) != 0 {
		t.Fatalf("%+v %v", res, err)
	}
	wantText(t, filepath.Join(f.dir, "b"), "top\n"+middle()+"theirs\n")
	if undone := f.undo(t, res.Operation); !undone.Moved || f.whole(t) != before || len(f.apart(t)) != 1 {
		t.Errorf("%+v, apart %v", undone, f.apart(t))
	}
}

func TestABringingIsTakenBackOrCompleteAfterACrash(t *testing.T) { // P0, D-22
	f, tip := passed(t, middle())
	before, memory := f.whole(t), f.apart(t)
	for _, c := range []struct {
		point string
		done  bool
	}{
		{"brought", false},
		{"staged", false},
		{"swapped", false},
		{"told", false},
		{"file", false},
		{"files", false},
		{"forgot", true},
	} {
		t.Run(c.point, func(t *testing.T) {
			crashes(t, f.childTo("bring", string(tip), c.point, 1))
			f.c = openCheckout(t, f.dir)
			if done := f.whole(t) != before; done != c.done || len(f.apart(t)) > 0 == c.done {
				t.Fatalf("done %v, apart %v", done, f.apart(t))
			}
			f.nothingLeft(t)
			if !c.done {
				return
			}
			wantText(t, filepath.Join(f.dir, "b"), "top\n"+middle()+"theirs\n")
			if f.undo(t, f.operations(t)[0].ID); fmt.Sprint(f.apart(t)) != fmt.Sprint(memory) || f.whole(t) != before {
				t.Errorf("apart %v", f.apart(t))
			}
		})
	}
}

// The base is on disk before the branch has moved, and says nothing if the branch did not follow.
func TestTheBaseOfAHeldFileIsRememberedBeforeTheBranchMoves(t *testing.T) { // P0, D-22
	h := newHub(t)
	old := h.commit("", tree{"a": "a\n", "b": longText})
	tip := h.commit(old, tree{"a": "a1\n", "b": longText + "theirs\n"})
	h.publish(map[string]OID{"refs/heads/master": tip})
	base := newFixture(t, h, old)
	for _, point := range []string{"passed", "files", "index", "ref"} {
		f := base.fork(t, old)
		put(t, f.dir, "b", middle())
		before := f.whole(t)
		crashes(t, f.childTo("hold b", string(tip), point, 1))
		f.c = openCheckout(t, f.dir)
		if f.apart(t)["b"].Base != blobOf(t, h.work, old, "b") {
			t.Errorf("at %s: apart %v", point, f.apart(t))
		}
		if point != "ref" {
			if f.whole(t) != before {
				t.Errorf("at %s: it was not taken back", point)
			}
			continue
		}
		if res, err := f.bring(tip); err != nil || !slices.Equal(res.Merged, []string{"b"}) {
			t.Fatalf("%+v %v", res, err)
		}
		wantText(t, filepath.Join(f.dir, "b"), middle()+"theirs\n")
	}
	if _, err := os.Stat(base.c.apartName()); err == nil {
		t.Error("a checkout in which nothing happened remembers something")
	}
}
