package repo

import (
	"path/filepath"
	"slices"
	"testing"
)

// refs are the sides of a check.
func refs(r *Result) (all []string) {
	for _, side := range r.Sides {
		all = append(all, side.Ref)
	}
	return all
}

func TestACommitThatNoBranchHoldsIsASideByItsFolder(t *testing.T) {
	s := newShop(t)
	s.branch("main", "", "a", numbered(9, nil))
	s.branch("topic", "main", "a", numbered(9, map[int]string{5: "topic"}))
	s.git("checkout", "-q", "--detach", "main")
	s.write("a", numbered(9, map[int]string{5: "detached"}))
	s.git("commit", "-q", "-a", "-m", "on no branch")
	top := s.git("rev-parse", "--show-toplevel")
	r := s.check(Options{})
	if got := refs(r); !slices.Equal(got, []string{top, "topic"}) {
		t.Fatalf("%q", got)
	}
	if p := s.pair(r, top, "topic"); p.Merge != "conflict" {
		t.Errorf("%+v", p)
	}
	s.git("tag", "v1")
	if got := refs(s.check(Options{})); !slices.Equal(got, []string{"topic"}) {
		t.Errorf("a tag leads to it: %q", got)
	}
}

func TestARebaseThatStoppedHalfwayIsItsBranch(t *testing.T) {
	s := newShop(t)
	s.branch("main", "", "a", numbered(9, nil))
	s.branch("topic", "main", "b", "1\n")
	s.git("commit", "-q", "--allow-empty", "-m", "second")
	s.branch("main", "main", "c", "1\n")
	s.git("checkout", "-q", "topic")
	s.git("-c", "sequence.editor=sed -i.old 1s/pick/edit/", "rebase", "-q", "-i", "--keep-empty", "main")
	r := s.check(Options{})
	if got := refs(r); !slices.Equal(got, []string{"topic"}) || r.Sides[0].Files != 1 {
		t.Errorf("%+v", r.Sides)
	}
	s.write("d", "not committed\n")
	r = s.check(Options{})
	if got := refs(r); !slices.Equal(got, []string{"topic"}) || r.Sides[0].Files != 2 {
		t.Errorf("%+v", r.Sides)
	}
}

func TestWhatWasNeverCheckedOutIsNotDeleted(t *testing.T) {
	s := newShop(t)
	s.branch("main", "", "a", "1\n")
	clone := &shop{TB: t, dir: t.TempDir()}
	clone.git("clone", "-q", "--no-checkout", s.dir, ".")
	if r := clone.check(Options{}); len(r.Sides) > 0 {
		t.Errorf("%+v", r.Sides)
	}
	clone.write("b", "not committed\n")
	if r := clone.check(Options{}); len(r.Sides) != 1 {
		t.Errorf("what is new there was not seen")
	}
}

func TestATrunkOfAnotherNameIsNamed(t *testing.T) {
	s := newShop(t)
	s.git("checkout", "-q", "-b", "trunk")
	s.branch("trunk", "", "a", "1\n")
	if name, _, err := s.open().Trunk(t.Context()); name != "trunk" || err != nil {
		t.Errorf("%s, %v", name, err)
	}
	s.git("checkout", "-q", "--detach")
	if name, _, err := s.open().Trunk(t.Context()); name != "HEAD" || err != nil {
		t.Errorf("%s, %v", name, err)
	}
}

func TestASideThatIsNamedTwiceIsOne(t *testing.T) {
	s := newShop(t)
	s.branch("main", "", "a", numbered(9, nil))
	s.branch("topic", "main", "a", numbered(9, map[int]string{5: "topic"}))
	s.write("b", "not committed\n")
	folder, err := filepath.EvalSymlinks(s.dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, names := range [][]string{{"topic", "topic", folder}, {folder, "topic"}} {
		r := s.check(Options{Which: Which{Names: names}})
		if len(r.Sides) != 1 || r.Sides[0].Ref != "topic" || r.Sides[0].Files != 2 {
			t.Errorf("%q: %+v", names, r.Sides)
		}
	}
}
