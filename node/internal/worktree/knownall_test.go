package worktree

import (
	"fmt"
	"maps"
	"slices"
	"testing"
)

// sameKnown compares two sets.
func sameKnown(a, b *Known) bool {
	return a.absent == b.absent && maps.EqualFunc(a.modes, b.modes, func(x, y []string) bool {
		return slices.Equal(slices.Sorted(slices.Values(x)), slices.Sorted(slices.Values(y)))
	})
}

func TestManyPathsAreKnownAsOneByOne(t *testing.T) { // D-9
	h := newHub(t)
	paths := []string{"a", "b", "d/a", "d", "late", "never", "*", "ü x"}
	commits := []OID{h.commit("", tree{"a": "a\n", "b": "b\n", "d/a": "d\n", "*": "star\n", "ü x": "ü\n"})}
	next := func(files tree) { commits = append(commits, h.commit("", files)) }
	next(tree{"x:a": "a\n", "b": ""})
	next(tree{"late": "l\n", "d/a": "", "*": "stars\n"})
	side := h.commit(commits[1], tree{"a": "side\n", "ü x": ""})
	git(t, h.work, "checkout", "-q", "--detach", string(commits[2]))
	git(t, h.work, "merge", "-q", "--no-ff", "--no-edit", string(side))
	next(tree{"d": "a file\n"})
	next(tree{"a": "a\n", "b": "again\n", "d": ""})
	rewritten := h.commit(commits[2], tree{"late": "other\n"})
	head1, head2 := h.commit(commits[2], tree{"late": ""}), h.commit(commits[0], tree{"b": "", "never": "n\n"})
	tip := commits[len(commits)-1]
	h.publish(map[string]OID{"refs/heads/master": tip, "refs/heads/old": rewritten, "refs/pull/4/head": head1})
	m := h.mirror(4)
	if _, err := m.Fetch(t.Context(), "old", nil); err != nil {
		t.Fatal(err)
	}
	extra := map[string][]OID{"a": {blobOf(t, h.work, commits[0], "b").OID, ""}}
	check := func(at OID, pull uint64) {
		t.Helper()
		all, err := m.KnownAll(t.Context(), at, pull, paths, extra)
		if err != nil || len(all) != len(paths) {
			t.Fatal(all, err)
		}
		for _, p := range paths {
			want, err := m.byGit().Known(t.Context(), at, pull, p, extra[p]...)
			if err != nil || !sameKnown(all[p], want) {
				t.Errorf("%s at %s: %v %v, want %v %v (%v)", p, at, all[p].modes, all[p].absent, want.modes, want.absent, err)
			}
		}
	}
	for _, at := range slices.Concat(commits, []OID{rewritten, commits[1], tip, tip}) {
		check(at, 0)
		check(at, 4)
	}
	h.publish(map[string]OID{"refs/pull/4/head": head2})
	if _, err := m.Fetch(t.Context(), "master", []uint64{4}); err != nil {
		t.Fatal(err)
	}
	check(tip, 4)
	m.sets = nil // many are asked for together
	one, err := m.KnownAll(t.Context(), tip, 4, paths, extra)
	if err != nil {
		t.Fatal(err)
	}
	for i := range severalMax {
		paths = append(paths, fmt.Sprint("none", i))
	}
	many, err := m.KnownAll(t.Context(), tip, 4, paths, extra)
	if err != nil {
		t.Fatal(err)
	}
	for p, k := range one {
		if !sameKnown(many[p], k) {
			t.Errorf("%s among many: %v %v", p, many[p].modes, many[p].absent)
		}
	}
	if all, err := m.KnownAll(t.Context(), tip, 4, paths, nil); err != nil || all["late"].Has("") != true || all["a"].Has(extra["a"][0]) {
		t.Errorf("the answer to another question: %v", err)
	}
}

func TestWhatIsKnownCostsNothingAgainAndIsBounded(t *testing.T) { // D-9
	h := newHub(t)
	tip := h.commit("", tree{"a": "a\n", "b": "b\n"})
	h.publish(map[string]OID{"refs/heads/master": tip})
	m := h.mirror()
	first, err := m.KnownAll(t.Context(), tip, 0, []string{"a", "b"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if ok, err := first["a"].Line(t.Context(), []byte("a")); err != nil || !ok {
		t.Error(ok, err)
	}
	again, err := m.byGoGit().KnownAll(t.Context(), tip, 0, []string{"b", "a"}, nil)
	if err != nil || again["a"] != first["a"] {
		t.Errorf("git is asked again: %v", err)
	}
	for i := range 2 * setsMax {
		m.sets.put(fmt.Sprint(i), first["a"])
		if len(m.sets.sets) > setsMax {
			t.Fatal("too many answers are remembered")
		}
	}
	first["a"].size.Store(linesMax + 1)
	m.sets.put("with many lines", first["a"])
	if m.sets.put("one more", first["b"]); len(m.sets.sets) != 1 {
		t.Errorf("%d answers with too many lines", len(m.sets.sets))
	}
	for i := range 2 * pastsMax {
		m.sets.keep(fmt.Sprint(i), past{tip: tip, modes: first["a"].modes})
		if len(m.sets.pasts) > pastsMax || m.sets.versions != len(m.sets.pasts) {
			t.Fatal("too many histories are remembered, or they are miscounted")
		}
	}
}
