package repo

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// importHistory writes commits in one run of git.
func (s *shop) importHistory(stream string) {
	s.Helper()
	c := exec.CommandContext(s.Context(), "git", "fast-import", "--quiet")
	c.Dir, c.Stdin = s.dir, strings.NewReader(stream)
	if out, err := c.CombinedOutput(); err != nil {
		s.Fatalf("git fast-import: %v\n%s", err, out)
	}
}

func TestMergeBasesAreGitsOwn(t *testing.T) {
	s := newShop(t)
	random := rand.New(rand.NewPCG(3, 1))
	var in strings.Builder
	const n = 40
	for i := 1; i <= n; i++ {
		fmt.Fprintf(&in, "commit refs/heads/c%d\nmark :%d\ncommitter a <a@b> %d +0000\ndata 1\nx\n", i, i, 1_700_000_000+60*i)
		if i > 1 {
			first := max(1, i-1-random.IntN(7))
			fmt.Fprintf(&in, "from :%d\n", first)
			if second := max(1, i-1-random.IntN(7)); random.IntN(3) > 0 && second != first {
				fmt.Fprintf(&in, "merge :%d\n", second)
			}
		}
	}
	s.importHistory(in.String())
	var names []string
	for i := 1; i <= n; i++ {
		names = append(names, fmt.Sprintf("refs/heads/c%d", i))
	}
	ids := strings.Fields(s.git(append([]string{"rev-parse"}, names...)...))
	r := s.open()
	if err := r.load(t.Context(), ids); err != nil {
		t.Fatal(err)
	}
	several := 0
	for range 150 {
		a, b := ids[random.IntN(n)], ids[random.IntN(n)]
		want := strings.Fields(s.git("merge-base", "--all", a, b))
		got := r.graph.meet(a, b)
		if !slices.Contains(want, got.commit) || got.many != (len(want) > 1) || got.cut {
			t.Errorf("%s and %s: %+v, want %v", a, b, got, want)
		}
		if len(want) > 1 {
			several++
		}
	}
	if several < 5 {
		t.Errorf("only %d pairs had several merge bases", several)
	}
}

// shape is the work on a history that moves, adds and deletes files in few directories.
type shape struct {
	strings.Builder
	*rand.Rand
}

func (s *shape) path() string {
	return []string{"d/", "e/", "d/sub/", ""}[s.IntN(4)] + []string{"a", "b", "c", "d", "e"}[s.IntN(5)]
}

func (s *shape) commit(mark, from int, files map[string]string) {
	fmt.Fprintf(s, "commit refs/heads/s%d\nmark :%d\ncommitter a <a@b> %d +0000\ndata 1\nx\n", mark, mark, 1_700_000_000+mark)
	if from > 0 {
		fmt.Fprintf(s, "from :%d\n", from)
	}
	s.WriteString("deleteall\n")
	for _, p := range slices.Sorted(maps.Keys(files)) {
		fmt.Fprintf(s, "M 100644 inline %s\ndata %d\n%s\n", p, len(files[p]), files[p])
	}
}

// put adds a file where no other is in the way.
func (s *shape) put(files map[string]string, p, content string) {
	for q := range files {
		if strings.HasPrefix(q, p+"/") || strings.HasPrefix(p, q+"/") {
			return
		}
	}
	files[p] = numbered(8, map[int]string{4: content})
}

func (s *shape) change(base map[string]string) map[string]string {
	files := maps.Clone(base)
	from, to := []string{"d/", "e/"}[s.IntN(2)], []string{"f/", "g/"}[s.IntN(2)]
	switch s.IntN(4) {
	case 0: // rename a directory
		for p, c := range base {
			if rest, ok := strings.CutPrefix(p, from); ok {
				delete(files, p)
				files[to+rest] = c
			}
		}
	case 1: // delete files
		for _, p := range slices.Sorted(maps.Keys(base)) {
			if s.IntN(3) == 0 {
				delete(files, p)
			}
		}
	default:
		p := s.path()
		s.put(files, p, fmt.Sprint("new ", p, s.IntN(1000)))
	}
	return files
}

// shapes writes pairs of commits with one base each.
func shapes(s *shop, n int, seed uint64) (pairs [][2]string) {
	s.Helper()
	h := &shape{Rand: rand.New(rand.NewPCG(seed, 2))}
	var names []string
	for i := range n {
		base := map[string]string{"keep": "1\n"}
		for range 4 {
			p := h.path()
			h.put(base, p, p)
		}
		mark := 3*i + 1
		h.commit(mark, 0, base)
		h.commit(mark+1, mark, h.change(base))
		h.commit(mark+2, mark, h.change(base))
		names = append(names, fmt.Sprintf("refs/heads/s%d", mark+1), fmt.Sprintf("refs/heads/s%d", mark+2))
	}
	s.importHistory(h.String())
	ids := strings.Fields(s.git(append([]string{"rev-parse"}, names...)...))
	for p := range slices.Chunk(ids, 2) {
		pairs = append(pairs, [2]string{p[0], p[1]})
	}
	return pairs
}

func TestWhatIsPrunedMergesCleanly(t *testing.T) {
	s := newShop(t)
	got := judge(t, s.open(), shapes(s, 250, 5))
	t.Log(got)
	if got.pruned < 30 || got.truePositive+got.falseNegative < 15 {
		t.Errorf("the test shows nothing: %s", got)
	}
}

// A criss-cross has two merge bases, and git merges them first. Relative to one of them alone the sides may share no
// path: here one side has taken back what came from the other base, and the other has gone on with it.
func TestACrissCrossIsAlwaysGitsToJudge(t *testing.T) {
	s := newShop(t)
	s.branch("main", "", "a", numbered(9, nil), "b", "1\n")
	s.branch("x", "main", "a", numbered(9, map[int]string{5: "x"}))
	s.branch("y", "main", "b", "2\n")
	x, y := s.git("rev-parse", "x"), s.git("rev-parse", "y")
	s.git("checkout", "-q", "x")
	s.git("merge", "-q", "--no-edit", y)
	s.git("checkout", "-q", "y")
	s.git("merge", "-q", "--no-edit", x)
	s.branch("x", "x", "a", numbered(9, nil))
	s.branch("y", "y", "a", numbered(9, map[int]string{5: "y"}))
	r := s.check(Options{Which: Which{Names: []string{"x", "y"}}})
	if p := s.pair(r, "x", "y"); p.Merge != "conflict" {
		t.Errorf("%+v", p)
	}
}

// In a shallow clone an older common commit can be in sight while the newer one is cut off.
func TestAHistoryThatIsCutOffIsNotBelieved(t *testing.T) {
	s := newShop(t)
	s.branch("main", "", "a", numbered(9, nil))
	s.branch("one", "main", "b", "1\n")
	s.branch("two", "main", "c", "1\n")
	one := s.git("rev-parse", "one")
	if err := os.WriteFile(filepath.Join(s.dir, ".git", "shallow"), []byte(one+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	s.branch("late", "one", "d", "1\n")
	s.git("checkout", "-q", "two")
	s.git("merge", "-q", "--allow-unrelated-histories", "--no-edit", "late")
	s.branch("third", "main", "e", "1\n")
	r := s.check(Options{Which: Which{Names: []string{"two", "third"}}})
	if p := s.pair(r, "two", "third"); p.Merge != "unknown" || !strings.Contains(p.Why, "shallow") {
		t.Errorf("%+v", p)
	}
}

// git takes a tree that is missing for an empty one, and says so on standard error alone.
func TestAMissingTreeIsNoEmptyTree(t *testing.T) {
	s := newShop(t)
	s.branch("main", "", "d/a", numbered(9, nil), "d/b", "1\n")
	s.branch("one", "main", "d/a", numbered(9, map[int]string{5: "one"}))
	s.branch("two", "main", "d/b", "2\n")
	tree := s.git("rev-parse", "one:d")
	if err := os.Remove(filepath.Join(s.dir, ".git", "objects", tree[:2], tree[2:])); err != nil {
		t.Fatal(err)
	}
	r := s.check(Options{})
	if p := s.pair(r, "one", "two"); p.Merge != "unknown" {
		t.Errorf("%+v", p)
	}
}

func TestIssuesThatAMessageClosesAreOnesOfItsSide(t *testing.T) { // C16
	for message, want := range map[string]string{
		"Fixes #12 and closes acme/shop#3.": "#12 acme/shop#3",
		"resolved: #4":                      "#4",
		"see #5, prefixes #6, fixes it #7":  "",
	} {
		if got := strings.Join(closed(message), " "); got != want {
			t.Errorf("%q closes %q, want %q", message, got, want)
		}
	}
	s := newShop(t)
	s.branch("main", "", "a", "1\n")
	s.branch("work", "main", "a", "2\n")
	s.git("commit", "-q", "--amend", "-m", "Mend it (#8)", "-m", "Like #5.\n\nCloses #7")
	if got := s.check(Options{}).digests[0].Side.Issues; strings.Join(got, " ") != "#7 #8" {
		t.Errorf("issues %q", got)
	}
}
