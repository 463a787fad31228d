package worktree

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// shared is a hub whose master changes the last line of a, b and c, and adds new.
func shared(t testing.TB) (h *hub, old, tip OID) {
	t.Helper()
	h = newHub(t)
	old = h.commit("", tree{"a": longText, "b": longText, "c": longText, "x:run": longText, "same": "s\n"})
	tip = h.commit(old, tree{"a": longText + "theirs\n", "b": longText + "theirs\n", "c": longText + "theirs\n", "x:run": longText + "theirs\n", "new": "new\n"})
	h.publish(map[string]OID{"refs/heads/master": tip})
	return h, old, tip
}

// nothingLeft checks that no operation is open and no temporary file is left.
func (f *fixture) nothingLeft(t *testing.T) {
	t.Helper()
	for _, pattern := range []string{"parley/tmp/*", "parley/ops/*.open", "index.lock", "parley.index*"} {
		if left, _ := filepath.Glob(filepath.Join(globQuote(filepath.Join(f.dir, ".git")), pattern)); len(left) != 0 {
			t.Errorf("left: %v", left)
		}
	}
	if out, err := gitTry(t, f.dir, "", "fsck"); err != nil {
		t.Errorf("fsck: %s", out)
	}
}

func TestOwnEditsAreMergedWithGitHubs(t *testing.T) { // P0, D-21
	h, old, tip := shared(t)
	f := newFixture(t, h, old)
	put(t, f.dir, "a", "mine\n"+longText)
	put(t, f.dir, "x:run", "mine\n"+longText)
	put(t, f.dir, "b", "staged\n"+longText)
	put(t, f.dir, "same", "mine too\n")
	git(t, f.dir, "add", "b")
	res, err := f.forward(tip)
	if err != nil || !res.Moved || res.To != tip || !slices.Equal(res.Merged, []string{"a", "b", "run"}) || len(res.Kept) != 0 {
		t.Fatalf("%+v %v", res, err)
	}
	wantText(t, filepath.Join(f.dir, "a"), "mine\n"+longText+"theirs\n")
	wantText(t, filepath.Join(f.dir, "b"), "staged\n"+longText+"theirs\n")
	wantText(t, filepath.Join(f.dir, "same"), "mine too\n")
	if got := git(t, f.dir, "status", "--porcelain"); got != " M a\nM  b\n M run\n M same" {
		t.Errorf("status\n%s", got)
	}
	if got := git(t, f.dir, "diff", "--summary"); got != "" {
		t.Errorf("modes: %s", got)
	}
	kept, err := f.c.Kept(t.Context())
	texts := map[string]string{}
	for _, k := range kept {
		texts[k.Path] = read(t, k.File)
	}
	if err != nil || texts["a"] != "mine\n"+longText || texts["b"] != "staged\n"+longText {
		t.Errorf("kept %q %v", texts, err)
	}
	f.nothingLeft(t)
}

func TestOwnCommitsAreMergedWithGitHubs(t *testing.T) { // P0, D-21
	h, old, tip := shared(t)
	f := newFixture(t, h, old)
	git(t, f.dir, "config", "user.name", "Ada")
	git(t, f.dir, "config", "user.email", "ada@example.com")
	mine := commitAll(t, f.dir, tree{"a": "mine\n" + longText, "more": "m\n"})
	put(t, f.dir, "a", "edited\nmine\n"+longText)
	refs := git(t, f.m.dir, "for-each-ref")
	res, err := f.forward(tip)
	if err != nil || !res.Moved || !slices.Equal(res.Merged, []string{"a"}) {
		t.Fatalf("%+v %v", res, err)
	}
	if got := git(t, f.dir, "log", "-1", "--format=%H %P %an <%ae>"); got != string(res.To)+" "+mine+" "+string(tip)+" Ada <ada@example.com>" {
		t.Errorf("the merge is %s", got)
	}
	wantText(t, filepath.Join(f.dir, "a"), "edited\nmine\n"+longText+"theirs\n")
	if got := git(t, f.dir, "show", "HEAD:a"); got != strings.TrimSpace("mine\n"+longText+"theirs\n") {
		t.Errorf("the merge has %q", got)
	}
	if got := git(t, f.dir, "status", "--porcelain"); got != " M a" {
		t.Errorf("status\n%s", got)
	}
	if got := git(t, f.m.dir, "for-each-ref"); got != refs {
		t.Error("the mirror's refs changed")
	}
	if has, err := f.m.CommitExists(t.Context(), res.To); has || err != nil {
		t.Errorf("the merge is in the mirror: %v", err)
	}
	f.nothingLeft(t)
	if res, err := f.forward(tip); err != nil || res.Moved || res.Why != "" {
		t.Errorf("again: %+v %v", res, err)
	}
}

func TestAConflictTakesNothing(t *testing.T) { // P0
	h, old, tip := shared(t)
	base := newFixture(t, h, old)
	for name, prepare := range map[string]func(f *fixture){
		"edits":   func(f *fixture) { put(t, f.dir, "a", longText+"mine\n") },
		"commits": func(f *fixture) { commitAll(t, f.dir, tree{"a": longText + "mine\n"}) },
	} {
		t.Run(name, func(t *testing.T) {
			f := base.fork(t, old)
			prepare(f)
			before, status := snapshot(t, f.dir), git(t, f.dir, "status", "--porcelain")
			res, err := f.forward(tip)
			if err != nil || res.Moved || res.Why == "" || !slices.Equal(res.Conflicts, []string{"a"}) || len(res.Kept) != 1 || res.Own == "" {
				t.Fatalf("%+v %v", res, err)
			}
			if again, _ := f.forward(tip); again.Own != res.Own {
				t.Error("the same work has another name")
			}
			if snapshot(t, f.dir) != before || git(t, f.dir, "status", "--porcelain") != status {
				t.Error("something changed")
			}
			f.nothingLeft(t)
		})
	}
}

func TestASettledConflictIsTaken(t *testing.T) { // P0, D-29
	h, old, tip := shared(t)
	base := newFixture(t, h, old)
	settle := func(text, also string) func(context.Context, Settling) (OID, error) {
		return func(_ context.Context, s Settling) (OID, error) {
			put(t, s.Scratch.Dir, "a", text)
			if also != "" {
				put(t, s.Scratch.Dir, also, "by the agent\n")
			}
			git(t, s.Scratch.Dir, "commit", "-qam", "settled")
			return OID(git(t, s.Scratch.Dir, "rev-parse", "HEAD")), nil
		}
	}
	for name, c := range map[string]struct {
		settle func(context.Context, Settling) (OID, error)
		why    string
	}{
		"well":          {settle(longText+"both\n", ""), ""},
		"with markers":  {settle("<<<<<<< x\n=======\n>>>>>>> y\n", ""), "markers"},
		"held touched":  {settle(longText+"both\n", "b"), "holds"},
		"gives up":      {func(context.Context, Settling) (OID, error) { return "", errors.New("too hard") }, "too hard"},
		"not descended": {func(context.Context, Settling) (OID, error) { return tip, nil }, "descendant"},
		"no commit":     {func(context.Context, Settling) (OID, error) { return "x", nil }, "commit"},
	} {
		for _, committed := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				f := base.fork(t, old)
				put(t, f.dir, "a", longText+"mine\n")
				if committed {
					git(t, f.dir, "commit", "-qam", "mine")
				}
				before := snapshot(t, f.dir)
				r := f.request(tip)
				r.Settle, r.Hold = c.settle, func(p string) bool { return p == "b" }
				res, err := f.c.SyncMaster(t.Context(), f.m, r)
				if err != nil || res.Moved != (c.why == "") || !strings.Contains(res.Why, c.why) {
					t.Fatalf("%+v %v", res, err)
				}
				f.nothingLeft(t)
				if c.why != "" {
					if snapshot(t, f.dir) != before || len(res.Kept) != 1 || !slices.Equal(res.Conflicts, []string{"a"}) {
						t.Errorf("%+v", res)
					}
					return
				}
				wantText(t, filepath.Join(f.dir, "a"), longText+"both\n")
				wantText(t, filepath.Join(f.dir, "b"), longText)
				wantText(t, filepath.Join(f.dir, "c"), longText+"theirs\n")
				if committed && git(t, f.dir, "status", "--porcelain") != " M b" {
					t.Errorf("status %q", git(t, f.dir, "status", "--porcelain"))
				}
			})
		}
	}
}
