package worktree

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// fixture is a hub, its mirror and a person's checkout.
type fixture struct {
	*hub
	m   *Mirror
	c   *Checkout
	dir string
}

// newFixture clones the hub at the given commit.
func newFixture(t testing.TB, h *hub, at OID, pulls ...uint64) *fixture {
	t.Helper()
	return (&fixture{hub: h, m: h.mirror(pulls...)}).fork(t, at)
}

// fork is another checkout beside the same hub and mirror.
func (f *fixture) fork(t testing.TB, at OID) *fixture {
	t.Helper()
	other := &fixture{hub: f.hub, m: f.m, dir: f.clone(t, at)}
	other.c = openCheckout(t, other.dir)
	return other
}

func TestOpeningSaysWhatADirectoryIs(t *testing.T) {
	h := newHub(t)
	tip := h.commit("", tree{"d/a": "x\n"})
	h.publish(map[string]OID{"refs/heads/master": tip})
	dir := h.clone(t, tip)
	none := t.TempDir()
	for _, c := range []struct {
		dir  string
		want error
		text string
	}{
		{none, ErrNotRepository, none + " is no git repository"},
		{filepath.Join(none, "gone"), ErrNotRepository, "is no git repository"},
		{h.dir, ErrBare, "is a bare git repository"},
		{filepath.Join(dir, ".git"), ErrNotRepository, "git directory"},
	} {
		if _, err := OpenCheckout(t.Context(), Git{}, c.dir); !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.text) {
			t.Errorf("%s: %v", c.dir, err)
		}
	}
	if _, err := OpenCheckout(t.Context(), Git{Path: "/nonexistent/git"}, dir); !errors.Is(err, ErrNoGit) {
		t.Errorf("no git: %v", err)
	}
	c := openCheckout(t, filepath.Join(dir, "d"))
	if real, _ := filepath.EvalSymlinks(dir); c.Dir() != real {
		t.Errorf("top is %s, not %s", c.Dir(), real)
	}
	if _, err := os.Stat(filepath.Join(dir, ".git", "parley")); err == nil {
		t.Error("a checkout that is only looked at was written to")
	}
}

func TestStateFollowsThePerson(t *testing.T) {
	h := newHub(t)
	root := h.commit("", tree{"a": "x\n"})
	tip := h.commit(root, tree{"a": "y\n"})
	h.publish(map[string]OID{"refs/heads/master": tip})
	f := newFixture(t, h, tip)
	is := func(branch string, head OID, busy string) {
		t.Helper()
		if st, err := f.c.State(t.Context()); err != nil || st.Branch != branch || st.Head != head || !strings.Contains(st.Busy, busy) || (busy == "") != (st.Busy == "") {
			t.Errorf("%+v %v", st, err)
		}
	}
	is("master", tip, "")
	git(t, f.dir, "checkout", "-q", "-b", "feature/ü", string(root))
	is("feature/ü", root, "")
	git(t, f.dir, "checkout", "-q", "--detach", string(tip))
	is("", tip, "")
	put(t, f.dir, ".git/index.lock", "x")
	is("", tip, "a git command")
	put(t, f.dir, ".git/index.lock", "")
	put(t, f.dir, "a", "mine\n")
	git(t, f.dir, "checkout", "-q", "-f", "-b", "other", string(root))
	other := OID(commitAll(t, f.dir, tree{"a": "z\n"}))
	_, _ = gitTry(t, f.dir, "", "merge", "-q", "master")
	is("other", other, "a merge")
	git(t, f.dir, "merge", "--abort")
	_, _ = gitTry(t, f.dir, "", "rebase", "-q", "master")
	is("", tip, "a rebase")
	git(t, f.dir, "rebase", "--abort")
	_, _ = gitTry(t, f.dir, "", "cherry-pick", "master")
	is("other", other, "a cherry-pick")
	git(t, f.dir, "cherry-pick", "--abort")
	git(t, f.dir, "checkout", "-q", "--orphan", "new")
	is("new", "", "")
	if o, err := f.c.LocalBranch(t.Context(), "other"); err != nil || o != other {
		t.Error(o, err)
	}
	if o, err := f.c.LocalBranch(t.Context(), "none"); err != nil || o != "" {
		t.Error(o, err)
	}
}

func commitAll(t testing.TB, dir string, files tree) string {
	t.Helper()
	for name, content := range files {
		put(t, dir, name, content)
	}
	git(t, dir, "add", "-A")
	git(t, dir, "commit", "-q", "--allow-empty", "-m", "local")
	return git(t, dir, "rev-parse", "HEAD")
}

func TestOnlyTheCloneThatMadeAHeadIsItsAuthor(t *testing.T) { // D-11
	h := newHub(t)
	root := h.commit("", tree{"a": "x\n"})
	fetched := h.commit(root, tree{"a": "y\n"})
	h.publish(map[string]OID{"refs/heads/master": root, "refs/heads/topic": fetched})
	f := newFixture(t, h, root)
	authored := func(o OID, want bool) {
		t.Helper()
		if got, err := f.c.Authored(t.Context(), o); err != nil || got != want {
			t.Errorf("authored %s: %v %v", o, got, err)
		}
	}
	authored(fetched, false)
	git(t, f.dir, "checkout", "-q", "--detach", string(fetched)) // looked at, not made
	git(t, f.dir, "checkout", "-q", "master")
	git(t, f.dir, "reset", "-q", "--hard", string(fetched))
	git(t, f.dir, "reset", "-q", "--hard", string(root))
	authored(fetched, false)
	git(t, f.dir, "branch", "topic", string(fetched))
	authored(fetched, true)
	git(t, f.dir, "branch", "-D", "topic")
	git(t, f.dir, "checkout", "-q", "-b", "mine")
	made := OID(commitAll(t, f.dir, tree{"a": "made here\n"}))
	git(t, f.dir, "commit", "-q", "--amend", "-m", "again")
	amended := OID(git(t, f.dir, "rev-parse", "HEAD"))
	git(t, f.dir, "checkout", "-q", "master")
	git(t, f.dir, "branch", "-D", "mine")
	authored(made, true)
	authored(amended, true)
	authored(OID(strings.Repeat("1", 40)), false)
	authored("", false)
}

func TestReflogActionsThatMakeCommits(t *testing.T) { // D-11
	for action, want := range map[string]bool{
		"commit: x": true, "commit (amend): x": true, "commit (initial): x": true, "commit (merge): x": true, "cherry-pick: x": true,
		"revert: x": true, "am: x": true, "rebase (pick): x": true, "rebase (finish): returning to refs/heads/x": true,
		"merge topic: Merge made by the 'ort' strategy.": true, "pull --no-rebase: Merge made by the 'ort' strategy.": true,
		"merge topic: Fast-forward": false, "pull: Fast-forward": false, "clone: from x": false, "checkout: moving from a to b": false,
		"reset: moving to x": false, "branch: Created from x": false, "fetch: forced-update": false, "rebase (start): checkout master": false,
		"parley: fast-forward": false, "": false, "committed: x": false,
	} {
		if madeHere(action) != want {
			t.Errorf("%q", action)
		}
	}
}

func TestAHostileSettingStartsNothing(t *testing.T) {
	h := newHub(t)
	tip := h.commit("", tree{"a": "x\n"})
	h.publish(map[string]OID{"refs/heads/master": tip})
	dir := h.clone(t, tip)
	ran := filepath.Join(t.TempDir(), "ran")
	script := filepath.Join(t.TempDir(), "script")
	put(t, filepath.Dir(script), "x:script", "#!/bin/sh\ntouch "+ran+"\n")
	for key, value := range map[string]string{
		"core.fsmonitor": script, "core.pager": script, "core.editor": script, "core.sshCommand": script,
		"core.hooksPath": filepath.Join(dir, ".git", "evil"), "diff.external": script, "color.ui": "always", "core.quotePath": "true",
		"log.showSignature": "true", "gpg.program": script, "status.showUntrackedFiles": "no", "core.askPass": script, "alias.ls-files": "!" + script,
	} {
		git(t, dir, "config", key, value)
	}
	for _, hook := range []string{"reference-transaction", "post-checkout", "post-index-change", "pre-commit", "fsmonitor-watchman"} {
		put(t, dir, "x:.git/evil/"+hook, "#!/bin/sh\ntouch "+ran+"\n")
	}
	for _, name := range []string{"GIT_DIR", "GIT_INDEX_FILE", "GIT_WORK_TREE", "GIT_OBJECT_DIRECTORY", "GIT_EXTERNAL_DIFF", "GIT_SSH"} {
		t.Setenv(name, "/nonexistent")
	}
	t.Setenv("GIT_CONFIG_COUNT", "1")
	t.Setenv("GIT_CONFIG_KEY_0", "core.fsmonitor")
	t.Setenv("GIT_CONFIG_VALUE_0", script)
	put(t, dir, "a", "y\n")
	index := read(t, dir, ".git/index")
	c := openCheckout(t, dir)
	if _, err := c.State(t.Context()); err != nil {
		t.Error(err)
	}
	if got, err := c.Inspect(t.Context(), "a"); err != nil || got.Head.Absent() || got.Work.OID == got.Head.OID {
		t.Errorf("%+v %v", got, err)
	}
	if ok, err := c.Authored(t.Context(), tip); err != nil || !ok {
		t.Error(ok, err)
	}
	m := h.mirror()
	next := h.commit(tip, tree{"b": "b\n"})
	h.publish(map[string]OID{"refs/heads/master": next})
	if _, err := m.Fetch(t.Context(), "master", nil); err != nil {
		t.Fatal(err)
	}
	if read(t, dir, ".git/index") != index {
		t.Error("reading wrote the index")
	}
	if res, err := c.SyncMaster(t.Context(), m, SyncRequest{Base: "master", Tip: next}); err != nil || !res.Moved {
		t.Errorf("%+v %v", res, err)
	}
	if _, err := os.Stat(ran); err == nil {
		t.Error("a program of the settings ran")
	}
}
