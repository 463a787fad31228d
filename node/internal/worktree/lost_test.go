package worktree

import (
	"slices"
	"testing"
)

func TestLostTipsAreListedWhileTheLocalBranchHasThem(t *testing.T) { // P0
	h := newHub(t)
	root := h.commit("", tree{"a": "a\n"})
	lost := h.commit(root, tree{"a": "lost\n"})
	other := h.commit(root, tree{"a": "other\n"})
	h.publish(map[string]OID{"refs/heads/master": lost})
	f := newFixture(t, h, lost)
	check := func(when string, want ...OID) {
		t.Helper()
		got, err := f.c.Lost(t.Context(), f.m, "master")
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %v %v", when, got, err)
		}
	}
	fetch := func(tip OID) {
		t.Helper()
		h.publish(map[string]OID{"refs/heads/master": tip})
		if _, err := f.m.Fetch(t.Context(), "master", nil); err != nil {
			t.Fatal(err)
		}
	}
	check("nothing rewritten")
	fetch(other)
	check("rewritten", lost)
	var err error
	if f.m, err = OpenMirror(t.Context(), Git{}, f.m.dir, h.remote()); err != nil {
		t.Fatal(err)
	}
	fetch(other)
	check("after a restart", lost)
	commitAll(t, f.dir, tree{"a": "on top\n"})
	check("own commits on top", lost)
	git(t, f.dir, "reset", "-q", "--hard", string(root))
	check("the local branch has it no more")
	git(t, f.dir, "reset", "-q", "--hard", string(lost))
	check("it has it again", lost)
	fetch(h.commit(lost, tree{"a": "further\n"}))
	check("GitHub has it again")
}
