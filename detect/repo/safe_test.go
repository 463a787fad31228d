package repo

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/parley-mesh/parley/detect"
)

// trap is a program that leaves a mark when somebody runs it. The mark is nil as long as nobody did.
func (s *shop) trap() (program string, ran func() bool) {
	s.Helper()
	dir := s.TempDir()
	program, mark := filepath.Join(dir, "program"), filepath.Join(dir, "ran")
	if err := os.WriteFile(program, []byte("#!/bin/sh\ntouch '"+mark+"'\ncat\n"), 0o755); err != nil {
		s.Fatal(err)
	}
	return program, func() bool {
		_, err := os.Stat(mark)
		return err == nil
	}
}

func TestACheckRunsNoHooks(t *testing.T) {
	s := newShop(t)
	s.branch("main", "", "a", "1\n")
	program, ran := s.trap()
	if err := os.Rename(program, filepath.Join(filepath.Dir(program), "post-index-change")); err != nil {
		t.Fatal(err)
	}
	s.branch("work", "main", "b", "2\n")
	s.git("config", "core.hooksPath", filepath.Dir(program))
	s.write("b", "3\n")
	s.check(Options{})
	if ran() {
		t.Error("a hook of the repository was run")
	}
}

func TestACheckAsksNobodyAboutSignatures(t *testing.T) {
	s := newShop(t)
	s.branch("main", "", "a", "1\n")
	s.branch("work", "main", "b", "2\n")
	program, ran := s.trap()
	s.git("config", "gpg.program", program)
	s.git("config", "log.showSignature", "true")
	head, message, _ := strings.Cut(s.git("cat-file", "commit", "work"), "\n\n")
	c := exec.CommandContext(t.Context(), "git", "-C", s.dir, "hash-object", "-t", "commit", "-w", "--stdin")
	c.Stdin = strings.NewReader(head + "\ngpgsig -----BEGIN PGP SIGNATURE-----\n \n x\n -----END PGP SIGNATURE-----\n\n" + message + "\n")
	signed, err := c.Output()
	if err != nil {
		t.Fatal(err)
	}
	s.git("reset", "-q", "--hard", strings.TrimSpace(string(signed)))
	s.check(Options{})
	if ran() {
		t.Error("the repository's gpg.program was run")
	}
}

func TestASplitIndexLeavesNothingBehind(t *testing.T) {
	s := newShop(t)
	s.branch("main", "", "a", "1\n")
	s.branch("work", "main", "b", "2\n")
	s.git("config", "core.splitIndex", "true")
	s.write("b", "3\n")
	before := everything(t, s.dir)
	s.check(Options{})
	if everything(t, s.dir) != before {
		t.Error("a check wrote to the repository")
	}
}

func TestACheckRunsNoFilter(t *testing.T) {
	for _, key := range []string{"clean", "process"} {
		s := newShop(t)
		s.branch("main", "", "a", "1\n", ".gitattributes", "* filter=their\n")
		s.branch("work", "main", "b", "2\n")
		program, ran := s.trap()
		s.git("config", "filter.their."+key, program)
		s.git("config", "filter.their.required", "true")
		s.write("b", "3 and more\n")
		if r := s.check(Options{}); len(r.Sides) != 1 || r.Sides[0].Files != 1 {
			t.Errorf("%s: %+v", key, r.Sides)
		}
		if ran() {
			t.Errorf("a filter's %s was run", key)
		}
	}
}

func TestACheckRunsNoMergeDriver(t *testing.T) {
	s := newShop(t)
	s.branch("main", "", "a", numbered(9, nil), "b", numbered(9, nil), ".gitattributes", "* merge=their\n")
	s.branch("x", "main", "a", numbered(9, map[int]string{2: "x"}), "b", numbered(9, map[int]string{2: "x"}))
	s.branch("y", "main", "a", numbered(9, map[int]string{8: "y"}), "b", numbered(9, map[int]string{2: "y"}))
	program, ran := s.trap()
	s.git("config", "merge.their.driver", program)
	if err := os.WriteFile(filepath.Join(s.dir, ".git/info/attributes"), []byte("* merge=their\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if p := s.pair(s.check(Options{}), "x", "y"); p.Merge != "conflict" || len(p.Conflicts) != 1 || p.Conflicts[0].Path != "b" {
		t.Errorf("%+v", p)
	}
	if ran() {
		t.Error("a merge driver was run")
	}
}

func TestAnEditInTheSecondOfTheLastCommitIsSeen(t *testing.T) {
	s := newShop(t)
	s.branch("main", "", "a", "1\n")
	s.branch("work", "main", "b", "2\n")
	moment := time.Now().Add(-time.Hour).Truncate(time.Second)
	at := func(path string) {
		if err := os.Chtimes(filepath.Join(s.dir, path), moment, moment); err != nil {
			t.Fatal(err)
		}
	}
	s.git("config", "core.trustctime", "false")
	s.write("c", "3\n")
	at("c")
	s.git("add", "c")
	s.git("commit", "-q", "-m", "c")
	s.write("c", "4\n")
	at("c")
	at(".git/index")
	if r := s.check(Options{}); len(r.Sides) != 1 || !strings.Contains(r.Sides[0].Label, dirty) {
		t.Errorf("%+v, want uncommitted work", r.Sides)
	}
}

func TestAWorktreeOnADiskThatIsAwaySpoilsNothing(t *testing.T) {
	s := newShop(t)
	s.branch("main", "", "a", "1\n")
	s.branch("work", "main", "b", "2\n")
	there := filepath.Join(t.TempDir(), "there")
	s.git("worktree", "add", "-q", "--lock", "-b", "away", there, "work")
	s.git("-C", there, "commit", "-q", "--allow-empty", "-m", "more")
	if err := os.Rename(there, there+"-gone"); err != nil {
		t.Fatal(err)
	}
	if r := s.check(Options{}); len(r.Sides) != 2 {
		t.Errorf("%+v, want work and away", r.Sides)
	}
}

func TestAFileThatIsTooLargeIsNoEmptyFile(t *testing.T) { // C4: nothing was removed from it
	s := newShop(t)
	s.branch("main", "", "a", "func f\n")
	s.branch("work", "main", "a", "func f\n"+strings.Repeat("x\n", blobMax/2))
	for _, f := range s.check(Options{Reader: lines{}}).digests[0].Files {
		if f.Quality != detect.TimedOut {
			t.Errorf("%s was read with quality %d", f.Path, f.Quality)
		}
	}
}

func TestAFileThatIsMissingIsNotTakenForNone(t *testing.T) { // D-25: else its policy would not be in force
	s := newShop(t)
	s.branch("main", "", "a", "1\n", "b*", "2\n")
	r := s.open()
	if content, there, err := r.File(t.Context(), "main", "b*"); err != nil || !there || string(content) != "2\n" {
		t.Errorf("%q, %v, %v", content, there, err)
	}
	if _, there, err := r.File(t.Context(), "main", "c"); err != nil || there {
		t.Errorf("no file: %v, %v", there, err)
	}
	blob := s.git("rev-parse", "main:a")
	if err := os.Remove(filepath.Join(s.dir, ".git", "objects", blob[:2], blob[2:])); err != nil {
		t.Fatal(err)
	}
	if _, _, err := r.File(t.Context(), "main", "a"); err == nil {
		t.Error("a missing content was taken for no file")
	}
}

func TestANameIsABranchBeforeItIsADirectory(t *testing.T) {
	s := newShop(t)
	s.branch("main", "", "docs/a", "1\n")
	s.branch("docs", "main", "b", "2\n")
	s.branch("other", "main", "c", "3\n")
	t.Chdir(s.dir)
	if r := s.check(Options{Which: Which{Names: []string{"docs"}}}); len(r.Sides) != 1 || r.Sides[0].Ref != "docs" {
		t.Errorf("%+v, want the branch docs", r.Sides)
	}
	stranger := newShop(t)
	stranger.branch("main", "", "x", "1\n")
	rules, err := detect.NewRules(detect.DefaultPolicy())
	if err != nil {
		t.Fatal(err)
	}
	if r, err := s.open().Check(t.Context(), rules, Options{Which: Which{Names: []string{stranger.dir}}}); !errors.Is(err, ErrNoRevision) {
		t.Errorf("the directory of another repository: %+v, %v", r, err)
	}
}

func TestADetachedWorktreeStandsForNoBranchOfItsName(t *testing.T) {
	s := newShop(t)
	s.branch("main", "", "a", "1\n")
	s.branch("feature", "main", "b", "2\n")
	s.git("checkout", "-q", "main")
	for _, where := range []string{t.TempDir(), t.TempDir()} {
		there := filepath.Join(where, "feature")
		s.git("worktree", "add", "-q", "--detach", there, "main")
		if err := os.WriteFile(filepath.Join(there, "c"), []byte("3\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if r := s.check(Options{}); len(r.Sides) != 3 {
		t.Errorf("%+v, want the branch and both worktrees", r.Sides)
	}
}

func TestAPartialCloneIsReadAsFarAsItGoes(t *testing.T) {
	s := newShop(t)
	s.branch("main", "", "a", numbered(9, nil))
	s.branch("one", "main", "a", numbered(9, map[int]string{2: "one"}), "b", "1\n")
	s.branch("two", "main", "a", numbered(9, map[int]string{8: "two"}))
	s.git("config", "uploadpack.allowFilter", "true")
	partial := &shop{TB: t, dir: t.TempDir()}
	partial.git("clone", "-q", "--bare", "--filter=blob:none", "file://"+s.dir, ".")
	r := partial.check(Options{Reader: lines{}})
	if p := partial.pair(r, "one", "two"); p.Merge != "unknown" || len(r.Sides) != 2 || r.Sides[0].Files != 2 {
		t.Errorf("%+v of %+v", p, r.Sides)
	}
}
