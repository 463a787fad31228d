package worktree

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestAWildAgentCannotReachTheMirror(t *testing.T) { // D-29
	h := newHub(t)
	root := h.commit("", tree{"a": "x\n", "b": "b\n"})
	head, master := h.commit(root, tree{"a": "1\n"}), h.commit(root, tree{"a": "2\n"})
	h.publish(map[string]OID{"refs/heads/master": master, "refs/pull/1/head": head})
	m := h.mirror(1)
	refs := git(t, m.dir, "for-each-ref")
	s, err := m.Scratch(t.Context(), head, filepath.Join(t.TempDir(), "s"))
	if err != nil {
		t.Fatal(err)
	}
	if got := read(t, s.Dir, "a"); got != "1\n" {
		t.Fatalf("a is %q", got)
	}
	if got := git(t, s.Dir, "remote"); got != "" {
		t.Errorf("the scratch has a remote: %s", got)
	}
	paths, err := s.StartMerge(t.Context(), master)
	if err != nil || !slices.Equal(paths, []string{"a"}) || !strings.Contains(read(t, s.Dir, "a"), "=======") {
		t.Fatalf("merge: %v %v", paths, err)
	}
	put(t, s.Dir, "a", "both\n")
	git(t, s.Dir, "add", "a")
	git(t, s.Dir, "commit", "-qm", "result")
	result := OID(git(t, s.Dir, "rev-parse", "HEAD"))
	for _, wild := range [][]string{
		{"branch", "-f", "master", string(root)},
		{"update-ref", "-d", "HEAD"},
		{"reset", "-q", "--hard", string(root)},
		{"config", "core.fsmonitor", "touch /tmp/x"},
		{"reflog", "expire", "--expire=now", "--all"},
		{"gc", "-q", "--prune=now"},
		{"repack", "-adq"},
		{"update-ref", "refs/parley/base/master", string(root)},
	} {
		_, _ = gitTry(t, s.Dir, "", wild...)
	}
	if got := git(t, m.dir, "for-each-ref"); got != refs {
		t.Errorf("the mirror's refs changed:\n%s\n%s", refs, got)
	}
	if out, err := gitTry(t, m.dir, "", "fsck", "--strict"); err != nil {
		t.Errorf("the mirror is damaged: %s", out)
	}
	_ = result
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(s.Dir); err == nil {
		t.Error("the scratch is still there")
	}
}

func TestOnlyASoundDescendantIsImported(t *testing.T) { // D-29
	h := newHub(t)
	root := h.commit("", tree{"a": "x\n"})
	head := h.commit(root, tree{"a": "1\n"})
	h.publish(map[string]OID{"refs/heads/master": root, "refs/pull/1/head": head})
	m := h.mirror(1)
	s, err := m.Scratch(t.Context(), head, filepath.Join(t.TempDir(), "s"))
	if err != nil {
		t.Fatal(err)
	}
	commit := func(on OID, treeish string) OID {
		return OID(git(t, s.Dir, "commit-tree", "-m", "c", "-p", string(on), treeish))
	}
	put(t, s.Dir, "a", "result\n")
	git(t, s.Dir, "add", "a")
	good := git(t, s.Dir, "write-tree")
	if err := s.Import(t.Context(), commit(root, good), m); !errors.Is(err, ErrNotDescendant) {
		t.Errorf("a commit beside the head: %v", err)
	}
	blob, err := gitTry(t, s.Dir, "x", "hash-object", "-w", "--stdin")
	if err != nil {
		t.Fatal(blob)
	}
	evil, err := gitTry(t, s.Dir, "100644 blob "+blob+"\t.git\x00", "mktree", "-z")
	if err != nil {
		t.Fatal(evil)
	}
	if err := s.Import(t.Context(), commit(head, evil), m); err == nil {
		t.Error("a tree with .git in it was imported")
	}
	missing, err := gitTry(t, s.Dir, "100644 blob "+strings.Repeat("1", 40)+"\tf\x00", "mktree", "-z", "--missing")
	if err != nil {
		t.Fatal(missing)
	}
	if err := s.Import(t.Context(), commit(head, missing), m); err == nil {
		t.Error("a tree without its blob was imported")
	}
	if err := s.Import(t.Context(), OID(strings.Repeat("2", 40)), m); err == nil {
		t.Error("a commit that is not there was imported")
	}
	result := commit(head, good)
	for range 2 { // a second time it is there already
		if err := s.Import(t.Context(), result, m); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if got, err := m.Entries(t.Context(), result, []string{"a"}); err != nil || got["a"].Absent() {
		t.Errorf("the result is not in the mirror: %v %v", got, err)
	}
	if out, err := gitTry(t, m.dir, "", "fsck", "--strict", "--full"); err != nil {
		t.Errorf("the mirror is damaged: %s", out)
	}
}

func TestAScratchNeverClearsAForeignDirectory(t *testing.T) {
	h := newHub(t)
	root := h.commit("", tree{"a": "x\n"})
	h.publish(map[string]OID{"refs/heads/master": root})
	m := h.mirror()
	dir := t.TempDir()
	put(t, dir, "mine/file", "precious")
	if _, err := m.Scratch(t.Context(), root, filepath.Join(dir, "mine")); !errors.Is(err, ErrRefused) {
		t.Errorf("a directory in use: %v", err)
	}
	if read(t, dir, "mine/file") != "precious" {
		t.Error("lost")
	}
	first, err := m.Scratch(t.Context(), root, filepath.Join(dir, "s"))
	if err != nil {
		t.Fatal(err)
	}
	put(t, first.Dir, "a", "left by a killed node\n")
	again, err := m.Scratch(t.Context(), root, first.Dir)
	if err != nil || read(t, again.Dir, "a") != "x\n" {
		t.Errorf("an earlier scratch in the way: %v", err)
	}
	if paths, err := again.StartMerge(t.Context(), root); err != nil || paths != nil {
		t.Errorf("nothing to merge: %v %v", paths, err)
	}
	if _, err := again.StartMerge(t.Context(), OID(strings.Repeat("3", 40))); err == nil {
		t.Error("merged a commit that is not there")
	}
	if _, err := m.Scratch(t.Context(), OID(strings.Repeat("3", 40)), filepath.Join(dir, "t")); err == nil {
		t.Error("a scratch of a commit that is not there")
	}
	if _, err := os.Stat(filepath.Join(dir, "t")); err == nil {
		t.Error("a failed scratch was left behind")
	}
}
