package repo

import (
	"testing"
)

// absorbed is a trunk that took the work of squashed, went on over it in its own way, and so with that of picked and back.
func absorbed(t *testing.T) *shop {
	t.Helper()
	s := newShop(t)
	s.branch("main", "", "a", numbered(30, nil), "b", numbered(30, nil), "c", numbered(30, nil))
	s.branch("squashed", "main", "a", numbered(30, map[int]string{3: "x"}))
	s.branch("squashed", "", "new", "1\n")
	s.branch("picked", "main", "b", numbered(30, map[int]string{3: "x"}))
	s.branch("back", "main", "c", numbered(30, map[int]string{3: "x"}))
	s.branch("open", "main", "a", numbered(30, map[int]string{3: "y"}))
	s.branch("other", "main", "b", numbered(30, map[int]string{3: "z", 20: "z"}))
	s.git("checkout", "-q", "main")
	s.git("merge", "-q", "--squash", "squashed")
	s.git("commit", "-q", "-m", "squash")
	s.branch("main", "", "a", numbered(30, map[int]string{3: "x", 28: "later"}))
	s.git("cherry-pick", "picked")
	s.branch("main", "", "b", numbered(30, map[int]string{3: "another", 28: "later"}))
	s.git("cherry-pick", "back")
	s.git("revert", "--no-edit", "HEAD")
	s.branch("main", "", "c", numbered(30, map[int]string{3: "another"}))
	return s
}

func TestWorkThatTheBaseHasIsNoSide(t *testing.T) { // C16
	r := absorbed(t).check(Options{})
	var left []string
	for _, side := range r.Merged {
		left = append(left, side.Ref)
	}
	if len(left) != 2 || left[0] != "picked" || left[1] != "squashed" {
		t.Errorf("left out: %q", left)
	}
	if len(r.Sides) != 3 {
		t.Errorf("sides: %+v", r.Sides)
	}
}

func TestASideThatIsNamedIsNeverLeftOut(t *testing.T) {
	r := absorbed(t).check(Options{Which: Which{Names: []string{"squashed", "open"}}})
	if len(r.Merged) != 0 || len(r.Sides) != 2 {
		t.Errorf("%+v, left out %+v", r.Sides, r.Merged)
	}
}
