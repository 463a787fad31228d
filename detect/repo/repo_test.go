package repo

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/parley-mesh/parley/detect"
)

// shop is a repository that a test builds.
type shop struct {
	testing.TB
	dir string
	now int
}

func newShop(t testing.TB) *shop {
	t.Helper()
	s := &shop{TB: t, dir: t.TempDir()}
	s.git("init", "-q", "-b", "main")
	return s
}

// git runs git and returns what it prints.
func (s *shop) git(args ...string) string {
	s.Helper()
	s.now++
	c := exec.CommandContext(s.Context(), "git", args...)
	c.Dir = s.dir
	date := fmt.Sprintf("@%d +0000", 1_700_000_000+60*s.now)
	c.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=Ann", "GIT_AUTHOR_EMAIL=ann@acme.com",
		"GIT_COMMITTER_NAME=Ann", "GIT_COMMITTER_EMAIL=ann@acme.com", "GIT_AUTHOR_DATE="+date, "GIT_COMMITTER_DATE="+date)
	out, err := c.CombinedOutput()
	if err != nil {
		s.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}

// write puts a file, or takes it away when there is no content.
func (s *shop) write(path, content string) {
	s.Helper()
	full := filepath.Join(s.dir, path)
	if content == "" {
		if err := os.Remove(full); err != nil {
			s.Fatal(err)
		}
		return
	}
	if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
		s.Fatal(err)
	}
	if err := os.WriteFile(full, []byte(content), 0o644); err != nil {
		s.Fatal(err)
	}
}

// branch makes a branch of another and commits changes: path, content, path, content. The first one starts the
// history.
func (s *shop) branch(name, from string, changes ...string) {
	s.Helper()
	if from != "" {
		s.git("checkout", "-q", "-B", name, from)
	}
	for i := 0; i < len(changes); i += 2 {
		s.write(changes[i], changes[i+1])
	}
	s.git("add", "-A")
	s.git("commit", "-q", "--allow-empty", "-m", "work on "+name)
}

func (s *shop) open() *Repo {
	s.Helper()
	r, err := Open(s.Context(), s.dir)
	if err != nil {
		s.Fatal(err)
	}
	s.Cleanup(func() {
		if err := r.Close(); err != nil {
			s.Error(err)
		}
	})
	return r
}

func (s *shop) check(o Options) *Result {
	s.Helper()
	rules, err := detect.NewRules(detect.DefaultPolicy())
	if err != nil {
		s.Fatal(err)
	}
	result, err := s.open().Check(s.Context(), rules, o)
	if err != nil {
		s.Fatal(err)
	}
	return result
}

// pair is what git said about two sides.
func (s *shop) pair(r *Result, a, b string) Pair {
	s.Helper()
	for _, p := range r.Pairs {
		if p.A == a && p.B == b || p.A == b && p.B == a {
			return p
		}
	}
	s.Fatalf("no pair %s and %s in %+v", a, b, r.Pairs)
	return Pair{}
}

// numbered is a file of lines 1 to n, some of them replaced.
func numbered(n int, replaced map[int]string) string {
	var b strings.Builder
	for i := 1; i <= n; i++ {
		if s, ok := replaced[i]; ok {
			fmt.Fprintln(&b, s)
		} else {
			fmt.Fprintln(&b, "line", i)
		}
	}
	return b.String()
}

// everything is a digest of all files below a directory.
func everything(t *testing.T, dir string) string {
	t.Helper()
	sum := sha256.New()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		fmt.Fprintf(sum, "%s %d\n%s\n", path, len(content), content)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%x", sum.Sum(nil))
}

func TestACheckChangesNothingInTheRepository(t *testing.T) {
	s := newShop(t)
	s.branch("main", "", "a", numbered(9, nil))
	s.branch("one", "main", "a", numbered(9, map[int]string{1: "one"}))
	s.branch("two", "main", "a", numbered(9, map[int]string{1: "two"}))
	s.write("a", numbered(9, map[int]string{1: "two", 9: "not committed"}))
	s.write("new", "not tracked\n")
	before := everything(t, s.dir)
	r := s.check(Options{Order: true})
	if everything(t, s.dir) != before {
		t.Error("something in the repository changed")
	}
	if p := s.pair(r, "one", "two"); p.Merge != "conflict" || len(p.Conflicts) != 1 || p.Conflicts[0].Path != "a" {
		t.Errorf("%+v", p)
	}
	for _, side := range r.Sides {
		if side.Ref == "two" && (side.Files != 2 || !strings.Contains(side.Label, "uncommitted")) {
			t.Errorf("%+v", side)
		}
	}
}

func TestACheckIsTheSameFromEveryFolderOfTheRepository(t *testing.T) {
	s := newShop(t)
	made := func(text string) string { return numbered(9, map[int]string{5: text}) }
	s.branch("main", "", "a", numbered(9, nil), "src/in/b", "1\n", "src/made", made(""), ".gitattributes", "src/made linguist-generated\n", "go.mod", "module shop\n")
	s.branch("one", "main", "a", numbered(9, map[int]string{1: "one"}), "src/made", made("one"))
	s.branch("two", "main", "a", numbered(9, map[int]string{1: "two"}), "src/made", made("two"))
	s.write("src/new", "not tracked\n")
	rules, err := detect.NewRules(detect.DefaultPolicy())
	if err != nil {
		t.Fatal(err)
	}
	var first string
	for _, folder := range []string{".", "src", "src/in", ".git", ".git/refs"} {
		r, err := Open(t.Context(), filepath.Join(s.dir, folder))
		if err != nil {
			t.Fatal(err)
		}
		result, err := r.Check(t.Context(), rules, Options{Order: true})
		if err != nil {
			t.Fatalf("%s: %v", folder, err)
		}
		layout, err := r.Layout(t.Context(), "main")
		if err != nil {
			t.Fatalf("%s: %v", folder, err)
		}
		said := fmt.Sprintf("%+v\n%+v\n%+v\n%v", result.Pairs, result.Order, result.Report.Findings, layout)
		if first == "" {
			first = said
		}
		if said != first {
			t.Errorf("from %s:\n%s\nfrom the top:\n%s", folder, said, first)
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestNothingIsLeftInTheTemporaryDirectory(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	s := newShop(t)
	s.branch("main", "", "a", "1\n")
	r, err := Open(t.Context(), s.dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	left, err := os.ReadDir(os.Getenv("TMPDIR"))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range left {
		if strings.HasPrefix(e.Name(), "parley-check-") {
			t.Error(e.Name(), "is left")
		}
	}
}

// Each two of the three merge. With the first two merged, git cannot know any more which of the equal lines went,
// and takes the two changes for one that reaches the third.
func TestPairwiseCleanIsNotSetClean(t *testing.T) {
	s := newShop(t)
	s.branch("main", "", "a", "top\n\n\n\n\nend\n")
	s.branch("fewer", "main", "a", "top\n\n\n\nend\n")
	s.branch("head", "main", "a", "head\n\n\n\n\nend\n")
	s.branch("middle", "main", "a", "top\n\nmiddle\n\n\nend\n")
	r := s.check(Options{Order: true})
	for _, p := range r.Pairs {
		if p.Merge != "clean" {
			t.Errorf("%+v", p)
		}
	}
	if last := r.Order[2]; last.Ref != "middle" || last.Merge != "conflict" || !last.Together {
		t.Errorf("%+v", r.Order)
	}
}

func TestTheOrderMergesAsManyAsCanBe(t *testing.T) {
	s := newShop(t)
	s.branch("main", "", "a", numbered(40, nil))
	s.branch("middle", "main", "a", numbered(40, map[int]string{5: "m", 15: "m", 25: "m"}))
	s.branch("first", "main", "a", numbered(40, map[int]string{5: "1"}))
	s.branch("second", "main", "a", numbered(40, map[int]string{15: "2"}))
	s.branch("third", "main", "a", numbered(40, map[int]string{25: "3"}))
	r := s.check(Options{Order: true})
	var got []string
	for _, step := range r.Order {
		got = append(got, step.Ref+" "+step.Merge)
	}
	if strings.Join(got, ", ") != "first clean, second clean, third clean, middle conflict" {
		t.Error(got)
	}
	if with := r.Order[3].With; strings.Join(with, " ") != "first second third" {
		t.Error(with)
	}
}

func TestASideThatIsBehindIsToldOnce(t *testing.T) {
	s := newShop(t)
	s.branch("main", "", "a", numbered(9, nil))
	s.branch("old", "main", "a", numbered(9, map[int]string{5: "old"}))
	s.branch("main", "main", "a", numbered(9, map[int]string{5: "main"}))
	s.branch("new", "main", "b", "1\n")
	r := s.check(Options{})
	if p := s.pair(r, "main", "old"); p.Merge != "conflict" || p.Stale {
		t.Errorf("%+v", p)
	}
	if p := s.pair(r, "new", "old"); p.Merge != "conflict" || !p.Stale {
		t.Errorf("%+v", p)
	}
	if n := len(r.Report.Findings); n != 1 {
		t.Errorf("%d findings, want 1: %+v", n, r.Report.Findings)
	}
}

func TestWhatCannotBeToldIsSaid(t *testing.T) {
	s := newShop(t)
	s.branch("main", "", "a", numbered(9, nil))
	s.branch("one", "main", "a", numbered(9, map[int]string{5: "one"}))
	s.branch("two", "main", "a", numbered(9, map[int]string{5: "two"}))
	shallow := &shop{TB: t, dir: t.TempDir()}
	shallow.git("clone", "-q", "--depth", "1", "--no-single-branch", "file://"+s.dir, ".")
	shallow.git("branch", "one", "origin/one")
	r := shallow.check(Options{Which: Which{Names: []string{"one", "origin/two"}}})
	if p := shallow.pair(r, "one", "origin/two"); p.Merge != "unknown" || p.Why == "" {
		t.Errorf("a shallow clone: %+v", p)
	}
	// An object is missing: the pairs that need it cannot be told, the others can.
	s.branch("three", "main", "a", numbered(9, map[int]string{5: "three"}))
	blob := s.git("rev-parse", "two:a")
	if err := os.Remove(filepath.Join(s.dir, ".git", "objects", blob[:2], blob[2:])); err != nil {
		t.Fatal(err)
	}
	r = s.check(Options{})
	for pair, want := range map[[2]string]string{{"one", "two"}: "unknown", {"two", "three"}: "unknown", {"one", "three"}: "conflict"} {
		if p := s.pair(r, pair[0], pair[1]); p.Merge != want {
			t.Errorf("%+v, want %s", p, want)
		}
	}
}

// lines is the least that a reader can know: every line "func NAME" declares it.
type lines struct{}

func (lines) Grammars() string { return "lines" }

func (lines) Read(path string, content []byte) detect.Unit {
	u := detect.Unit{Path: path, Language: "lines", Quality: detect.Clean}
	for line := range strings.Lines(string(content)) {
		if name, ok := strings.CutPrefix(strings.TrimSpace(line), "func "); ok {
			u.Symbols = append(u.Symbols, detect.Symbol{ID: "sym:lines:" + path + "#" + name})
		}
	}
	return u
}

func (lines) Compare(_, _ []detect.Unit) detect.Delta { return detect.Delta{} }

func TestADeclarationThatACleanMergeDoublesIsFound(t *testing.T) { // C16
	s := newShop(t)
	s.branch("main", "", "a", "func f\n"+numbered(20, nil))
	s.branch("one", "main", "a", "func key\nfunc f\n"+numbered(20, nil))
	s.branch("two", "main", "a", "func f\n"+numbered(20, nil)+"func key\n")
	r := s.check(Options{Reader: lines{}})
	if p := s.pair(r, "one", "two"); p.Merge != "clean" {
		t.Fatalf("%+v", p)
	}
	for _, f := range r.Report.Findings {
		if f.Kind == detect.TextualMerge && strings.HasSuffix(f.Sentence, "but the result doubles 1 symbol(s): sym:lines:a#key.") {
			return
		}
	}
	t.Errorf("%+v", r.Report.Findings)
}

func TestNamesThatTheDiskTakesForOneMeet(t *testing.T) { // C2
	s := newShop(t)
	s.branch("main", "", "a.ts", "export const a = 1\n")
	s.branch("one", "main", "src/Foo.ts", "export const a = 1\n")
	s.branch("two", "main", "src/foo.ts", "export const b = 2\n")
	for _, folds := range []bool{false, true} {
		s.git("config", "core.ignoreCase", strconv.FormatBool(folds))
		result := s.check(Options{})
		if got := len(result.Report.Findings) > 0; got != folds {
			t.Errorf("core.ignoreCase %v: %+v", folds, result.Report.Findings)
		}
	}
}
