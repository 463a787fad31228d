package worktree

import (
	"slices"
	"strings"
	"testing"
)

func TestEveryPublishedVersionIsKnownAndNoOther(t *testing.T) { // D-9
	h := newHub(t)
	const p = "dir/fü x.txt"
	id := func(content string) OID {
		out, err := gitTry(t, h.work, content, "hash-object", "--stdin")
		if err != nil {
			t.Fatal(out)
		}
		return OID(out)
	}
	root := h.commit("", tree{p: "root\n", "other": "o\n"})
	left := h.commit(root, tree{p: "left 1\n"})
	left = h.commit(left, tree{p: "left 2\n"})
	right := h.commit(root, tree{p: "right\n"})
	git(t, h.work, "checkout", "-q", "--detach", string(left))
	_, _ = gitTry(t, h.work, "", "merge", "-q", "--no-commit", string(right))
	merged := h.commit("", tree{p: "only in the merge\n"})
	// A branch that changes the file and changes it back, merged so that the file is the same on both sides.
	side := h.commit(h.commit(merged, tree{p: "there\n"}), tree{p: "only in the merge\n"})
	git(t, h.work, "checkout", "-q", "--detach", string(h.commit(merged, tree{"other": "p\n"})))
	git(t, h.work, "merge", "-q", "--no-edit", string(side))
	tip := h.commit("", tree{"x:" + p: "tip\n"})
	head1 := h.commit(h.commit(root, tree{p: "between heads\n"}), tree{p: "head 1\n"})
	head2 := h.commit(root, tree{p: "head 2\n"})
	foreign := h.commit(root, tree{p: "another pull request\n"})
	h.publish(map[string]OID{"refs/heads/master": tip, "refs/pull/4/head": head1, "refs/pull/44/head": foreign})
	m := h.mirror(4, 44)
	h.publish(map[string]OID{"refs/pull/4/head": head2})
	if _, err := m.Fetch(t.Context(), "master", []uint64{4}); err != nil {
		t.Fatal(err)
	}
	k, err := m.Known(t.Context(), tip, 4, p, id("extra\n"), "")
	if err != nil {
		t.Fatal(err)
	}
	for _, content := range []string{"root\n", "left 1\n", "left 2\n", "right\n", "only in the merge\n", "there\n", "tip\n", "head 1\n", "head 2\n", "extra\n"} {
		if !k.Has(id(content)) {
			t.Errorf("%q is not known", content)
		}
	}
	for _, content := range []string{"between heads\n", "another pull request\n", "mine\n", "o\n"} {
		if k.Has(id(content)) {
			t.Errorf("%q is known", content)
		}
	}
	if k.Has("") {
		t.Error("the file was never deleted, yet its absence is known")
	}
	if k.hasEntry(Entry{modeExecutable, id("root\n")}) || !k.hasEntry(Entry{modeExecutable, id("tip\n")}) || !k.hasEntry(Entry{modeExecutable, id("extra\n")}) {
		t.Error("the executable bit does not belong to the version")
	}
	for line, want := range map[string]bool{"left 1": true, "head 1": true, "tip": true, "between heads": false, "mine": false, "root\n": false, "": false} {
		if got, err := k.Line(t.Context(), []byte(line)); err != nil || got != want {
			t.Errorf("line %q: %v %v", line, got, err)
		}
	}
	before, err := m.Known(t.Context(), root, 0, p)
	if err != nil || before.Has(id("tip\n")) || before.Has(id("head 1\n")) || !before.Has(id("root\n")) {
		t.Errorf("an older base knows too much: %v", err)
	}
}

func TestADeletionIsKnownOnlyWherePublished(t *testing.T) { // D-9
	h := newHub(t)
	root := h.commit("", tree{"a": "a\n", "b": "b\n"})
	added := h.commit(root, tree{"late": "l\n"})
	gone := h.commit(added, tree{"a": ""})
	back := h.commit(gone, tree{"a": "again\n"})
	deletes := h.commit(root, tree{"b": ""})
	h.publish(map[string]OID{"refs/heads/master": back, "refs/pull/1/head": deletes})
	m := h.mirror(1)
	for _, c := range []struct {
		path string
		base OID
		pull uint64
		want bool
	}{
		{"a", back, 0, true},
		{"a", added, 0, false},
		{"b", back, 0, false},
		{"b", back, 1, true},
		{"late", back, 1, false}, // the pull request is only older than the file
		{"never", back, 1, false},
	} {
		k, err := m.Known(t.Context(), c.base, c.pull, c.path)
		if err != nil || k.Has("") != c.want {
			t.Errorf("%+v: %v %v", c, k.Has(""), err)
		}
	}
	if _, err := m.Known(t.Context(), "master", 0, "a"); err == nil {
		t.Error("a name was taken for a commit")
	}
}

func TestEntriesTellAbsentFromPresent(t *testing.T) {
	h := newHub(t)
	tip := h.commit("", tree{"a": "a\n", "x:d/e": "e\n", "l:s": "a", "*": "star\n", "d[1]/x": "x\n"})
	h.publish(map[string]OID{"refs/heads/master": tip})
	m := h.mirror()
	got, err := m.Entries(t.Context(), tip, []string{"a", "d", "d/e", "s", "*", "d[1]/x", "none", "a/none", ":(glob)**"})
	if err != nil || len(got) != 5 || got["d/e"].Mode != modeExecutable || got["s"].Mode != modeSymlink || got["*"].Absent() || got["d[1]/x"].Absent() {
		t.Errorf("%+v %v", got, err)
	}
	if _, err := m.Entries(t.Context(), OID(strings.Repeat("1", 40)), []string{"a"}); err == nil {
		t.Error("entries of a commit that is not there")
	}
	if got, err := m.Entries(t.Context(), tip, nil); err != nil || len(got) != 0 {
		t.Errorf("no paths: %v %v", got, err)
	}
}

func TestAncestryIsAnsweredForKnownCommitsOnly(t *testing.T) {
	h := newHub(t)
	root := h.commit("", tree{"a": "a\n"})
	l, r := h.commit(root, tree{"a": "l\n"}), h.commit(root, tree{"a": "r\n"})
	h.publish(map[string]OID{"refs/heads/master": l, "refs/pull/1/head": r})
	m := h.mirror(1)
	if ok, err := m.IsAncestor(t.Context(), root, l); err != nil || !ok {
		t.Error(ok, err)
	}
	if ok, err := m.IsAncestor(t.Context(), l, r); err != nil || ok {
		t.Error(ok, err)
	}
	none := OID(strings.Repeat("2", 40))
	if _, err := m.IsAncestor(t.Context(), none, l); err == nil {
		t.Error("a commit that is not there has descendants")
	}
	if b, err := m.MergeBase(t.Context(), l, r); err != nil || b != root {
		t.Error(b, err)
	}
	if _, err := m.MergeBase(t.Context(), l, none); err == nil {
		t.Error("a commit that is not there has a merge base")
	}
	for c, want := range map[OID]bool{l: true, none: false, "": false, "master": false, OID(git(t, h.work, "rev-parse", string(l)+"^{tree}")): false} {
		if ok, err := m.CommitExists(t.Context(), c); err != nil || ok != want {
			t.Errorf("%q exists: %v %v", c, ok, err)
		}
	}
}

func TestOnlyNewConflictMarkersCount(t *testing.T) { // D-18
	h := newHub(t)
	const one = "<<<<<<< ours\na\n=======\nb\n>>>>>>> theirs\n"
	doc := "How a conflict looks:\n" + one
	left := h.commit("", tree{"doc.md": doc, "a": "a\n", "b": "b\n", "rst": "Title\n=======\n"})
	right := h.commit(left, tree{"b": "bb\n"})
	bad := h.commit(left, tree{"doc.md": doc + "more\n", "a": one, "b": strings.ReplaceAll(one, "\n", "\r\n"), "rst": "Title\n=======\n>>>>>>> x\n"})
	twice := h.commit(left, tree{"doc.md": doc + one})
	h.publish(map[string]OID{"refs/heads/master": left, "refs/pull/1/head": right, "refs/pull/2/head": bad, "refs/pull/3/head": twice})
	m := h.mirror(1, 2, 3)
	paths := []string{"doc.md", "a", "b", "rst", "none"}
	if got, err := m.HasMarkers(t.Context(), bad, paths, left, right); err != nil || !slices.Equal(got, []string{"a", "b"}) {
		t.Errorf("%v %v", got, err)
	}
	if got, err := m.HasMarkers(t.Context(), twice, paths, left, right); err != nil || !slices.Equal(got, []string{"doc.md"}) {
		t.Errorf("a second triple of the same words: %v %v", got, err)
	}
	if got, err := m.HasMarkers(t.Context(), right, paths, left); err != nil || got != nil {
		t.Errorf("%v %v", got, err)
	}
}
