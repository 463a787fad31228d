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

// advance is a hub whose master went from old to tip by every kind of change.
func advance(t testing.TB) (h *hub, old, tip OID) {
	t.Helper()
	h = newHub(t)
	old = h.commit("", tree{"same": "s\n", "edit me": "1\n", "mode": "m\n", "gone/deep/x": "x\n", "dir/f": "f\n", "file": "f\n", "über": "ü\n"})
	mid := h.commit(old, tree{"edit me": "2\n"})
	tip = h.commit(mid, tree{"edit me": "3\n", "x:mode": "m\n", "gone/deep/x": "", "new/deep/y": "y\n", "dir/f": "", "über": "Ü\n"})
	tip = h.commit(tip, tree{"dir": "now a file\n", "file": ""})
	tip = h.commit(tip, tree{"file/in": "now a directory\n"})
	h.publish(map[string]OID{"refs/heads/master": tip})
	return h, old, tip
}

func (f *fixture) forward(tip OID) (SyncResult, error) {
	return f.c.SyncMaster(f.t.Context(), f.m, f.request(tip))
}

func (f *fixture) request(tip OID) SyncRequest {
	known := func(p string) (*Known, error) { return f.m.Known(f.t.Context(), tip, 0, p) }
	return SyncRequest{Base: "master", Tip: tip, Known: known}
}

// atTip checks that nothing tells the checkout from a fresh clone.
func (f *fixture) atTip(t *testing.T, tip OID) {
	t.Helper()
	if out := git(t, f.dir, "status", "--porcelain", "--ignored"); out != "" {
		t.Errorf("status: %s", out)
	}
	if head := git(t, f.dir, "rev-parse", "refs/heads/master"); head != string(tip) {
		t.Errorf("master is at %s", head)
	}
	if out := git(t, f.dir, "diff-files"); out != "" {
		t.Errorf("the index is not fresh: %s", out)
	}
	fresh := f.clone(t, tip)
	if a, b := snapshot(t, f.dir), snapshot(t, fresh); strings.ReplaceAll(a, f.dir, "") != strings.ReplaceAll(b, fresh, "") {
		t.Errorf("the working tree differs:\n%s\n%s", a, b)
	}
	for _, left := range []string{"index.lock", newIndex, oldIndex, markIndex, "FETCH_HEAD"} {
		if _, err := os.Lstat(filepath.Join(f.dir, ".git", left)); err == nil {
			t.Errorf("%s is left", left)
		}
	}
	if left, _ := os.ReadDir(filepath.Join(f.dir, ".git/parley/tmp")); len(left) != 0 {
		t.Errorf("temporary files are left: %v", left)
	}
	if out, err := gitTry(t, f.dir, "", "fsck"); err != nil {
		t.Errorf("fsck: %s", out)
	}
}

func TestMasterMovesForward(t *testing.T) { // P0
	h, old, tip := advance(t)
	f := newFixture(t, h, old)
	refs := git(t, f.dir, "for-each-ref", "refs/remotes", "refs/tags")
	res, err := f.forward(tip)
	if err != nil || !res.Moved || len(res.Kept)+len(res.Held) != 0 || res.Why != "" || res.Replaced != 9 {
		t.Fatalf("%+v %v", res, err)
	}
	f.atTip(t, tip)
	if got := git(t, f.dir, "for-each-ref", "refs/remotes", "refs/tags"); got != refs {
		t.Errorf("other refs changed: %s", got)
	}
	if log := git(t, f.dir, "reflog", "-1", "--format=%gs"); log != "parley: fast-forward" {
		t.Errorf("reflog says %q", log)
	}
	if res, err := f.forward(tip); err != nil || res.Moved || res.Why != "" {
		t.Errorf("again: %+v %v", res, err)
	}
}

func TestOwnWorkStaysWhenMasterMoves(t *testing.T) { // P0, P19, S2
	h, old, tip := advance(t)
	f := newFixture(t, h, old)
	put(t, f.dir, "same", "mine too\n")
	put(t, f.dir, "untracked", "u\n")
	put(t, f.dir, "gone/deep/x", "")
	put(t, f.dir, "mode", "mine and held\n")
	r := f.request(tip)
	r.Hold = func(p string) bool { return p == "mode" }
	res, err := f.c.SyncMaster(t.Context(), f.m, r)
	if err != nil || !res.Moved || len(res.Kept) != 0 || !slices.Equal(res.Held, []string{"mode"}) {
		t.Fatalf("%+v %v", res, err)
	}
	for path, text := range map[string]string{"mode": "mine and held\n", "same": "mine too\n", "untracked": "u\n"} {
		wantText(t, filepath.Join(f.dir, path), text)
	}
	if got := git(t, f.dir, "status", "--porcelain"); got != " M mode\n M same\n?? untracked" {
		t.Errorf("status\n%s", got)
	}
	if git(t, f.dir, "rev-parse", "HEAD") != string(tip) {
		t.Error("master did not move")
	}
}

// An interim copy, or any other published version, is not own work.
func TestAPublishedCopyIsReplacedWhenMasterMoves(t *testing.T) { // P0
	h, old, tip := advance(t)
	f := newFixture(t, h, old)
	put(t, f.dir, "edit me", "2\n")
	put(t, f.dir, "über", "Ü\n")
	if res, err := f.forward(tip); err != nil || !res.Moved || len(res.Kept) != 0 {
		t.Fatalf("%+v %v", res, err)
	}
	f.atTip(t, tip)
}

func TestMasterStaysWhereItWouldLoseSomething(t *testing.T) { // P0, D-10
	h, old, tip := advance(t)
	link := h.commit(tip, tree{"l:link": "x"})
	sub := func() OID {
		git(t, h.work, "checkout", "-q", "--detach", string(tip))
		git(t, h.work, "update-index", "--add", "--cacheinfo", "160000,"+strings.Repeat("1", 40)+",sub")
		git(t, h.work, "commit", "-qm", "c")
		o := OID(git(t, h.work, "rev-parse", "HEAD"))
		git(t, h.work, "rm", "-q", "--cached", "sub")
		return o
	}()
	odd := h.commit(tip, tree{"a:b": "x\n"})
	dropped := h.commit(old, tree{"dropped": "d\n"})
	h.publish(map[string]OID{"refs/heads/master": dropped})
	m := h.mirror()
	h.publish(map[string]OID{"refs/heads/master": tip})
	h.publish(map[string]OID{"refs/pull/1/head": link, "refs/pull/2/head": sub, "refs/pull/3/head": odd})
	if _, err := m.Fetch(t.Context(), "master", []uint64{1, 2, 3}); err != nil {
		t.Fatal(err)
	}
	base := newFixture(t, h, old)
	base.m = m
	git(t, h.dir, "branch", "dropped", string(dropped))
	for name, c := range map[string]struct {
		change func(t *testing.T, f *fixture)
		to     OID
		why    string
	}{
		"already further": {func(t *testing.T, f *fixture) { git(t, f.dir, "reset", "-q", "--hard", string(tip)) }, old, ""},
		"own commits, elsewhere": {func(t *testing.T, f *fixture) {
			commitAll(t, f.dir, tree{"mine": "m\n"})
			git(t, f.dir, "checkout", "-q", "--detach")
		}, tip, "not on GitHub"},
		"rewritten at GitHub": {func(t *testing.T, f *fixture) { git(t, f.dir, "reset", "-q", "--hard", string(dropped)) }, tip, "rewritten"},
		"a symbolic link":     {func(*testing.T, *fixture) {}, link, "symbolic link link"},
		"a submodule":         {func(*testing.T, *fixture) {}, sub, "submodule sub"},
		"an odd name":         {func(*testing.T, *fixture) {}, odd, "a:b"},
		"no local branch":     {func(t *testing.T, f *fixture) { git(t, f.dir, "branch", "-m", "x") }, tip, "no local branch"},
		"checked out in a linked working tree": {func(t *testing.T, f *fixture) {
			git(t, f.dir, "checkout", "-q", "-b", "x")
			git(t, f.dir, "worktree", "add", "-q", f.dir+"-linked", "master")
		}, tip, "checked out in"},
		"being rebased in a linked working tree": {func(t *testing.T, f *fixture) {
			git(t, f.dir, "checkout", "-q", "-b", "x")
			git(t, f.dir, "worktree", "add", "-q", f.dir+"-linked", "master")
			put(t, f.dir, ".git/worktrees/checkout-linked/rebase-merge/head-name", "refs/heads/master\n")
			git(t, f.dir+"-linked", "checkout", "-q", "--detach")
		}, tip, "rebase"},
	} {
		t.Run(name, func(t *testing.T) {
			f := base.fork(t, old)
			c.change(t, f)
			before, refs := snapshot(t, f.dir), git(t, f.dir, "for-each-ref")
			res, err := f.forward(c.to)
			if err != nil || res.Moved || !strings.Contains(res.Why, c.why) {
				t.Errorf("%+v %v", res, err)
			}
			if snapshot(t, f.dir) != before || git(t, f.dir, "for-each-ref") != refs {
				t.Error("something changed")
			}
		})
	}
}

func TestABusyCheckoutIsTriedAgainLater(t *testing.T) { // P0
	h, old, tip := advance(t)
	f := newFixture(t, h, old)
	put(t, f.dir, ".git/index.lock", "somebody's")
	if res, err := f.forward(tip); !errors.Is(err, ErrBusy) || res.Moved {
		t.Errorf("%+v %v", res, err)
	}
	put(t, f.dir, ".git/index.lock", "")
	// A person's git takes the lock while the files are being moved.
	f.c.hook = func(point string) {
		if point == "files" {
			put(t, f.dir, ".git/index.lock", "somebody's")
		}
	}
	if res, err := f.forward(tip); !errors.Is(err, ErrBusy) || res.Moved {
		t.Errorf("%+v %v", res, err)
	}
	wantText(t, filepath.Join(f.dir, ".git/index.lock"), "somebody's")
	put(t, f.dir, ".git/index.lock", "")
	// A person commits meanwhile: their commit stays, and the next call merges it.
	f.c.hook = func(point string) {
		if point == "files" {
			git(t, f.dir, "commit", "-q", "--allow-empty", "-m", "mine")
		}
	}
	if res, err := f.forward(tip); !errors.Is(err, ErrBusy) || res.Moved {
		t.Errorf("%+v %v", res, err)
	}
	f.c.hook = nil
	mine := git(t, f.dir, "rev-parse", "HEAD")
	if res, err := f.forward(tip); err != nil || !res.Moved {
		t.Fatalf("%+v %v", res, err)
	}
	if got := git(t, f.dir, "log", "-1", "--format=%P"); got != mine+" "+string(tip) {
		t.Errorf("the parents are %s", got)
	}
	if out := git(t, f.dir, "status", "--porcelain", "--ignored"); out != "" {
		t.Errorf("status: %s", out)
	}
}

// Somebody moves the branch without the index lock, after the index was moved.
func TestALostRaceForTheBranchPutsTheIndexBack(t *testing.T) { // P0
	h, old, tip := advance(t)
	f := newFixture(t, h, old)
	f.c.hook = func(point string) {
		if point == "index" {
			mine := git(t, f.dir, "commit-tree", "-p", string(old), "-m", "mine", string(old)+"^{tree}")
			git(t, f.dir, "update-ref", "refs/heads/master", mine)
		}
	}
	res, err := f.forward(tip)
	if err == nil || res.Moved {
		t.Fatalf("%+v %v", res, err)
	}
	if out := git(t, f.dir, "diff", "--cached", "--name-only"); out != "" {
		t.Errorf("staged: %s", out)
	}
	// The same, and parley is killed before it notices.
	f = newFixture(t, h, old)
	type crash struct{}
	f.c.hook = func(point string) {
		if point == "index" {
			git(t, f.dir, "update-ref", "refs/heads/master", git(t, f.dir, "commit-tree", "-p", string(old), "-m", "mine", string(old)+"^{tree}"))
			panic(crash{})
		}
	}
	func() {
		defer func() { _ = recover().(crash) }()
		_, _ = f.forward(tip)
	}()
	put(t, f.dir, ".git/index.lock", indexLockMark+"master\n"+string(tip)+"\n") // a panic still runs what a kill does not
	_ = openCheckout(t, f.dir)
	if out := git(t, f.dir, "diff", "--cached", "--name-only"); out != "" {
		t.Errorf("staged after a crash: %s", out)
	}
	if _, err := os.Lstat(filepath.Join(f.dir, ".git/index.lock")); err == nil {
		t.Error("our lock is left")
	}
}

func TestAShutdownNeverPartsIndexAndBranch(t *testing.T) { // P0
	h, old, tip := advance(t)
	base := newFixture(t, h, old)
	for _, at := range []string{"brought", "file", "locked", "draft", "aside", "index", "ref"} {
		f := base.fork(t, old)
		ctx, cancel := context.WithCancel(t.Context())
		f.c.hook = func(point string) {
			if point == at {
				cancel()
			}
		}
		res, err := f.c.SyncMaster(ctx, f.m, SyncRequest{Base: "master", Tip: tip})
		if (err == nil) != res.Moved || (git(t, f.dir, "rev-parse", "master") == string(tip)) != res.Moved {
			t.Errorf("at %s: %+v %v", at, res, err)
		}
		if out := git(t, f.dir, "diff", "--cached", "--name-only"); out != "" {
			t.Errorf("at %s: staged: %s", at, out)
		}
		f.c.hook = nil
		if _, err := f.forward(tip); err != nil {
			t.Errorf("at %s: again: %v", at, err)
		}
		f.atTip(t, tip)
	}
}

func TestOffTheBaseBranchOnlyTheRefMoves(t *testing.T) { // P0, D-10
	h, old, tip := advance(t)
	for _, detach := range []bool{false, true} {
		f := newFixture(t, h, old)
		if detach {
			git(t, f.dir, "checkout", "-q", "--detach")
		} else {
			git(t, f.dir, "checkout", "-q", "-b", "side")
		}
		put(t, f.dir, "edit me", "mine\n")
		before, index := snapshot(t, f.dir), read(t, f.dir, ".git/index")
		if res, err := f.forward(tip); err != nil || !res.Moved || res.Replaced != 0 {
			t.Fatalf("%+v %v", res, err)
		}
		if snapshot(t, f.dir) != before || read(t, f.dir, ".git/index") != index || git(t, f.dir, "rev-parse", "HEAD") != string(old) {
			t.Error("more than the ref moved")
		}
		if git(t, f.dir, "rev-parse", "master") != string(tip) {
			t.Error("the ref did not move")
		}
	}
}

func TestSpecialIndexesMoveForward(t *testing.T) { // P0
	h, old, tip := advance(t)
	base := newFixture(t, h, old)
	for name, prepare := range map[string]func(t *testing.T, dir string){
		"split index":     func(t *testing.T, dir string) { git(t, dir, "update-index", "--split-index") },
		"version 4":       func(t *testing.T, dir string) { git(t, dir, "update-index", "--index-version", "4") },
		"untracked cache": func(t *testing.T, dir string) { git(t, dir, "update-index", "--untracked-cache") },
		"autocrlf": func(t *testing.T, dir string) {
			git(t, dir, "config", "core.autocrlf", "true")
			git(t, dir, "rm", "-q", "--cached", "-r", ".")
			git(t, dir, "reset", "-q", "--hard")
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := base.fork(t, old)
			prepare(t, f.dir)
			if res, err := f.forward(tip); err != nil || !res.Moved || len(res.Kept) != 0 {
				t.Fatalf("%+v %v", res, err)
			}
			if out := git(t, f.dir, "status", "--porcelain"); out != "" {
				t.Errorf("status: %s", out)
			}
		})
	}
	t.Run("sparse checkout", func(t *testing.T) {
		f := base.fork(t, old)
		git(t, f.dir, "sparse-checkout", "set", "--cone", "dir")
		git(t, f.dir, "config", "core.sparseCheckout", "true")
		if res, err := f.forward(tip); err != nil || !res.Moved || len(res.Kept) != 0 {
			t.Fatalf("%+v %v", res, err)
		}
		if out := git(t, f.dir, "status", "--porcelain"); out != "" && !strings.Contains(out, "new/") {
			t.Errorf("status: %s", out)
		}
	})
	t.Run("new attributes", func(t *testing.T) {
		h := newHub(t)
		old := h.commit("", tree{"a.txt": "1\n", "b.txt": "b\n"})
		tip := h.commit(old, tree{".gitattributes": "*.txt text eol=crlf\n", "a.txt": "2\n"})
		h.publish(map[string]OID{"refs/heads/master": tip})
		f := newFixture(t, h, old)
		if res, err := f.forward(tip); err != nil || !res.Moved || len(res.Kept) != 0 {
			t.Fatalf("%+v %v", res, err)
		}
		wantText(t, filepath.Join(f.dir, "a.txt"), "2\r\n")
		if out := git(t, f.dir, "status", "--porcelain"); out != "" {
			t.Errorf("status: %s", out)
		}
	})
}
