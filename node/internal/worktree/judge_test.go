package worktree

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

type tree = map[string]string

func manyFiles(n int, content string) tree {
	files := tree{}
	for i := range n {
		files[fmt.Sprintf("f%02d.txt", i)] = content
	}
	return files
}

const longText = "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n"

type conflictCase struct {
	name               string
	base, ours, theirs tree
	kind               Kind
	reason             string
	files              int // how many git names; -1: it does not matter
}

func conflictCases() []conflictCase {
	dirFiles := tree{"d/1": "one\n" + longText, "d/2": "two\n" + longText, "d/3": "three\n" + longText, "d/4": "four\n" + longText}
	return []conflictCase{
		{"both sides apart", tree{"a": longText}, tree{"a": "0\n" + longText}, tree{"a": longText + "13\n"}, Clean, "", 0},
		{"content", tree{"a": "x\n"}, tree{"a": "y\n"}, tree{"a": "z\n"}, Conversation, "", 1},
		{"line ends only", tree{"a": "x\ny\n"}, tree{"a": "x\r\ny\r\n"}, tree{"a": "x\nz\n"}, Conversation, "", 1},
		{"both added", tree{"q": "q\n"}, tree{"a": "y\n"}, tree{"a": "z\n"}, Conversation, "", 1},
		{"both added, executable once", tree{"q": "q\n"}, tree{"a": "y\n"}, tree{"x:a": "y\n"}, Conversation, "", 1},
		{"mode against content", tree{"a": "x\n"}, tree{"x:a": "x\n"}, tree{"a": "z\n"}, Clean, "", 0},
		{"binary", tree{"a": "x\x00"}, tree{"a": "y\x00"}, tree{"a": "z\x00"}, Conversation, "", 1},
		{"deleted by the pull request", tree{"a": "x\n", "q": "q\n"}, tree{"a": "y\n"}, tree{"a": ""}, Conversation, "", 1},
		{"odd letters", tree{"mein Ordner/ü b.txt": "x\n"}, tree{"mein Ordner/ü b.txt": "y\n"}, tree{"mein Ordner/ü b.txt": "z\n"}, Conversation, "", 1},
		{"25 files", manyFiles(25, "x\n"), manyFiles(25, "y\n"), manyFiles(25, "z\n"), Conversation, "", 25},
		{"26 files", manyFiles(26, "x\n"), manyFiles(26, "y\n"), manyFiles(26, "z\n"), Person, "26 files conflict", 26},
		{"deleted on master", tree{"a": "x\n", "q": "q\n"}, tree{"a": ""}, tree{"a": "z\n"}, Person, "a was deleted on the base branch", 1},
		{"symbolic link", tree{"l:a": "x"}, tree{"l:a": "y"}, tree{"l:a": "z"}, Person, "a is a symbolic link", 1},
		{"became a link", tree{"a": longText}, tree{"l:a": "y"}, tree{"a": longText + "z\n"}, Person, "different type", -1},
		{"renamed here, changed there", tree{"a": longText}, tree{"a": "", "b": longText}, tree{"a": longText + "z\n"}, Clean, "", 0},
		{"renamed by the pull request with a conflict", tree{"a": longText}, tree{"a": longText + "y\n"}, tree{"a": "", "b": longText + "z\n"}, Person, "b was renamed", 1},
		{"renamed twice", tree{"a": longText}, tree{"a": "", "b": longText}, tree{"a": "", "c": longText}, Person, "renamed the same file differently", -1},
		{"renamed and deleted", tree{"a": longText, "q": "q\n"}, tree{"a": "", "b": longText}, tree{"a": ""}, Person, "the other deleted", -1},
		{"two renamed to one", tree{"a": longText, "b": "b" + longText}, tree{"a": "", "c": longText}, tree{"b": "", "c": "b" + longText}, Conversation, "", 1},
		{"file and directory", tree{"q": "q\n"}, tree{"a": "y\n"}, tree{"a/b": "z\n"}, Person, "a file and a directory", -1},
		{"directory renamed, file added", dirFiles, tree{
			"d/1": "", "d/2": "", "d/3": "", "d/4": "", "e/1": dirFiles["d/1"], "e/2": dirFiles["d/2"],
			"e/3": dirFiles["d/3"], "e/4": dirFiles["d/4"],
		}, tree{"d/new": "new\n"}, Person, "directory was renamed", -1},
		{"directory split: no file is named", dirFiles, tree{
			"d/1": "", "d/2": "", "d/3": "", "d/4": "", "e/1": dirFiles["d/1"], "e/2": dirFiles["d/2"],
			"f/3": dirFiles["d/3"], "f/4": dirFiles["d/4"],
		}, tree{"d/new": "new\n"}, Person, "directory was renamed", 0},
		{"a name that Windows cannot hold", tree{"a:b": "x\n"}, tree{"a:b": "y\n"}, tree{"a:b": "z\n"}, Person, "not every system", 1},
	}
}

func TestOnlyOrdinaryConflictsAreForTheComputers(t *testing.T) { // D-12, C4
	cases := conflictCases()
	h := newHub(t)
	refs := map[string]OID{}
	type pair struct{ ours, theirs OID }
	pairs := make([]pair, len(cases))
	for i, c := range cases {
		git(t, h.work, "checkout", "-q", "--orphan", fmt.Sprintf("case%d", i))
		if out, err := gitTry(t, h.work, "", "rm", "-rfq", "--ignore-unmatch", "."); err != nil {
			t.Fatal(out)
		}
		base := h.commit("", c.base)
		pairs[i] = pair{h.commit(base, c.ours), h.commit(base, c.theirs)}
		refs[fmt.Sprintf("refs/pull/%d/head", 2*i+1)] = pairs[i].ours
		refs[fmt.Sprintf("refs/pull/%d/head", 2*i+2)] = pairs[i].theirs
	}
	refs["refs/heads/master"] = pairs[0].ours
	h.publish(refs)
	var pulls []uint64
	for i := range 2 * len(cases) {
		pulls = append(pulls, uint64(i+1))
	}
	m := h.mirror(pulls...)
	before := looseObjects(t, m)
	for i, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			v, err := m.Try(t.Context(), pairs[i].ours, pairs[i].theirs)
			if err != nil {
				t.Fatal(err)
			}
			j := v.Judge()
			if j.Kind != c.kind || !strings.Contains(strings.ToLower(j.Reason), strings.ToLower(c.reason)) || c.files >= 0 && len(v.Files) != c.files {
				t.Errorf("judged %v %q with %d files: %+v", j.Kind, j.Reason, len(v.Files), v)
			}
			if (j.Kind == Person) != (j.Reason != "") {
				t.Errorf("reason %q for %v", j.Reason, j.Kind)
			}
		})
	}
	t.Run("unrelated histories", func(t *testing.T) {
		v, err := m.Try(t.Context(), pairs[0].ours, pairs[1].theirs)
		if err != nil || v.Judge().Kind != Person {
			t.Errorf("%+v %v", v, err)
		}
	})
	if after := looseObjects(t, m); after != before {
		t.Errorf("trial merges left %s in the mirror, there were %s", after, before)
	}
}

func looseObjects(t *testing.T, m *Mirror) string {
	t.Helper()
	return git(t, m.dir, "count-objects")
}

func TestASubmoduleConflictIsForAPerson(t *testing.T) { // D-12
	h := newHub(t)
	link := func(on OID, to string) OID {
		if on != "" {
			git(t, h.work, "checkout", "-q", "--detach", string(on))
		}
		git(t, h.work, "update-index", "--add", "--cacheinfo", "160000,"+strings.Repeat(to, 40)+",sub")
		git(t, h.work, "commit", "-qm", "c")
		return OID(git(t, h.work, "rev-parse", "HEAD"))
	}
	base := link("", "1")
	ours, theirs := link(base, "2"), link(base, "3")
	h.publish(map[string]OID{"refs/heads/master": ours, "refs/pull/1/head": theirs})
	v, err := h.mirror(1).Try(t.Context(), ours, theirs)
	if err != nil || v.Judge().Kind != Person || !strings.Contains(v.Judge().Reason, "submodule") {
		t.Errorf("%v %+v %v", v.Judge(), v, err)
	}
}

func TestACrissCrossConflictIsForTheComputers(t *testing.T) { // D-12
	h := newHub(t)
	base := h.commit("", tree{"a": "x\n", "b": "b\n"})
	l, r := h.commit(base, tree{"a": "l\n"}), h.commit(base, tree{"a": "r\n"})
	cross := func(one, two OID, content string) OID {
		git(t, h.work, "checkout", "-q", "--detach", string(one))
		_, _ = gitTry(t, h.work, "", "merge", "-q", "--no-commit", string(two))
		return h.commit("", tree{"a": content})
	}
	ours, theirs := cross(l, r, "ours\n"), cross(r, l, "theirs\n")
	h.publish(map[string]OID{"refs/heads/master": ours, "refs/pull/1/head": theirs})
	m := h.mirror(1)
	v, err := m.Try(t.Context(), ours, theirs)
	if err != nil || v.Judge().Kind != Conversation {
		t.Fatalf("%v %+v %v", v.Judge(), v, err)
	}
	if at, err := m.Entries(t.Context(), v.Base, []string{"a"}); err != nil || v.Files[0].Stage[1] != at["a"] {
		t.Errorf("the base's version is %v, its tree has %v, %v", v.Files[0].Stage[1], at, err)
	}
}

// A checked-out .gitattributes or a person's setting must not make git merge what GitHub will not.
func TestAttributesDoNotChangeTheVerdict(t *testing.T) {
	h := newHub(t)
	base := h.commit("", tree{".gitattributes": "* merge=union\n", "a": "x\n"})
	ours, theirs := h.commit(base, tree{"a": "y\n"}), h.commit(base, tree{"a": "z\n"})
	h.publish(map[string]OID{"refs/heads/master": ours, "refs/pull/1/head": theirs})
	config := filepath.Join(t.TempDir(), "config")
	put(t, filepath.Dir(config), "config", "[merge]\n renames = false\n conflictStyle = diff3\n[core]\n attributesFile = /nonexistent\n")
	t.Setenv("GIT_CONFIG_GLOBAL", config)
	t.Setenv("GIT_DIR", "/nonexistent")
	v, err := h.mirror(1).Try(t.Context(), ours, theirs)
	if err != nil || v.Clean {
		t.Errorf("%+v %v", v, err)
	}
}

// git 2.39 exits 1, the sign of a conflict, for a commit that is not there, and merges a missing tree as an
// empty one.
func TestMissingObjectsAreNoConflict(t *testing.T) { // D-12
	h := newHub(t)
	base := h.commit("", tree{"a": "x\n", "d/b": "b\n"})
	ours, theirs := h.commit(base, tree{"a": "y\n"}), h.commit(base, tree{"d/b": "z\n"})
	h.publish(map[string]OID{"refs/heads/master": ours, "refs/pull/1/head": theirs})
	m := h.mirror(1)
	if v, err := m.Try(t.Context(), ours, theirs); err != nil || !v.Clean {
		t.Fatalf("%+v %v", v, err)
	}
	for _, odd := range []OID{OID(strings.Repeat("1", 40)), "--help", ""} {
		if _, err := m.Try(t.Context(), ours, odd); !errors.Is(err, ErrVoid) {
			t.Errorf("try of %q: %v", odd, err)
		}
	}
	explode(t, m)
	gone := git(t, m.dir, "rev-parse", string(theirs)+"^{tree}")
	if err := os.Remove(filepath.Join(m.dir, "objects", gone[:2], gone[2:])); err != nil {
		t.Fatal(err)
	}
	if v, err := m.Try(t.Context(), ours, theirs); !errors.Is(err, ErrVoid) {
		t.Errorf("a missing tree gave %+v, %v", v, err)
	}
	put(t, m.dir, "shallow", string(base)+"\n")
	if _, err := m.Try(t.Context(), ours, theirs); !errors.Is(err, ErrVoid) {
		t.Errorf("a shallow mirror: %v", err)
	}
}

// explode turns the mirror's packs into loose objects, so that a test can remove one.
func explode(t *testing.T, m *Mirror) {
	t.Helper()
	packs, _ := filepath.Glob(filepath.Join(m.dir, "objects", "pack", "*.pack"))
	for _, p := range packs {
		aside := filepath.Join(t.TempDir(), "p.pack")
		if err := os.Rename(p, aside); err != nil {
			t.Fatal(err)
		}
		_ = os.Remove(strings.TrimSuffix(p, ".pack") + ".idx")
		if out, err := gitTry(t, m.dir, read(t, aside), "unpack-objects", "-q"); err != nil {
			t.Fatal(out)
		}
	}
}

func TestATruncatedAnswerIsNotBelieved(t *testing.T) {
	oid := strings.Repeat("a", 40)
	entry := "100644 " + oid + " 2\tf"
	for _, out := range []string{
		"", oid, "not a tree\x00", oid + "\x00" + entry, oid + "\x00junk\x00\x00", oid + "\x00100644 " + oid + " 4\tf\x00\x00",
		oid + "\x00\x00x\x00", oid + "\x00\x003\x00f\x00t\x00", oid + "\x00\x00-1\x00t\x00x\x00",
	} {
		if v, err := parseMergeTree(out); err == nil {
			t.Errorf("%q was read as %+v", out, v)
		}
	}
	if v, err := parseMergeTree(oid + "\x00" + entry + "\x00\x001\x00f\x00T\x00text\n\x00"); err != nil || len(v.Files) != 1 || v.Messages[0].Type != "T" {
		t.Errorf("%+v %v", v, err)
	}
}
