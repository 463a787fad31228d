package desk

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// shop is a repository with a master and a pull request branch, both grown from one commit.
type shop struct {
	t         *testing.T
	dir       string
	head, tip string
}

// tree is files by path; the content of an executable begins with #!.
type tree map[string]string

func newShop(t *testing.T, base, pull, master tree) *shop {
	t.Helper()
	s := &shop{t: t, dir: t.TempDir()}
	s.git("init", "-q", "-b", "master")
	s.commit(base)
	s.git("switch", "-q", "-c", "feature")
	s.head = s.commit(pull)
	s.git("switch", "-q", "master")
	s.tip = s.commit(master)
	s.git("switch", "-q", "--detach", s.head)
	return s
}

func (s *shop) git(args ...string) string {
	s.t.Helper()
	out, err := repository{dir: s.dir}.run(s.t.Context(), nil, args...)
	if err != nil {
		s.t.Fatal(err)
	}
	return strings.TrimSuffix(string(out), "\n")
}

// commit makes the tree exactly these files.
func (s *shop) commit(files tree) string {
	s.t.Helper()
	s.git("rm", "-r", "-q", "--ignore-unmatch", ".")
	for name, text := range files {
		path := filepath.Join(s.dir, name)
		mode := os.FileMode(0o644)
		if strings.HasPrefix(text, "#!") {
			mode = 0o755
		}
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), mode)); err != nil {
			s.t.Fatal(err)
		}
	}
	s.git("add", "-A")
	s.git("commit", "-q", "--allow-empty", "-m", "a commit")
	return s.git("rev-parse", "HEAD")
}

// turn runs the desk on a task file and returns its exit status and result.
func (s *shop) turn(kind string, flags ...string) (int, result) {
	s.t.Helper()
	dir := s.t.TempDir()
	t := task{Kind: kind, Base: "master", Pull: 7, Files: []file{{Path: "a"}}, Head: s.head, Tip: s.tip, Scratch: s.dir, Result: filepath.Join(dir, "result.json")}
	b, err := json.Marshal(t)
	if err != nil {
		s.t.Fatal(err)
	}
	path := filepath.Join(dir, "task.json")
	if err := os.WriteFile(path, b, 0o600); err != nil {
		s.t.Fatal(err)
	}
	code, err := run(append(flags, path), s.t.Output())
	if err != nil {
		s.t.Log(err)
	}
	var r result
	if b, err := os.ReadFile(t.Result); err == nil {
		if err := json.Unmarshal(b, &r); err != nil {
			s.t.Fatal(err)
		}
	}
	return code, r
}

// startMerge lays the conflict out as the node does.
func (s *shop) startMerge() {
	s.t.Helper()
	_, code, err := repository{dir: s.dir}.ask(s.t.Context(), nil, "merge", "-q", "--no-commit", "--no-ff", s.tip)
	if err != nil && code != 1 {
		s.t.Fatal(err)
	}
}

// show is a file of a commit as git stores it, with its mode in front; "" when there is none.
func (s *shop) show(commit, path string) string {
	s.t.Helper()
	entry := s.git("ls-tree", commit, "--", path)
	if entry == "" {
		return ""
	}
	out, err := repository{dir: s.dir}.run(s.t.Context(), nil, "cat-file", "blob", commit+":"+path)
	if err != nil {
		s.t.Fatal(err)
	}
	return entry[:6] + " " + string(out)
}

func TestMergeKeepsTheLinesOfBothSides(t *testing.T) { // D-29
	base := tree{
		"plain.txt": "one\ntwo\nthree\n", "crlf.txt": "one\r\ntwo\r\nthree\r\n", "run me.sh": "#!/bin/sh\necho one\n", "größe/naïve.txt": "one\n",
		"dropped.txt": "one\n", "left.txt": "one\n", "blob.bin": "\x00one", "same.txt": "same\n", ".gitattributes": "* text=auto\n*.txt eol=lf\ncrlf.txt -text\n",
	}
	pull := tree{
		"plain.txt": "one\nours\nthree\n", "crlf.txt": "one\r\nours\r\nthree\r\n", "run me.sh": "#!/bin/sh\necho ours\n", "größe/naïve.txt": "ours\n",
		"left.txt": "ours\n", "blob.bin": "\x00ours", "same.txt": "same\n", ".gitattributes": base[".gitattributes"], "both new.txt": "#!ours\n", "noeol.txt": "ours",
	}
	master := tree{
		"plain.txt": "one\ntheirs\nthree\n", "crlf.txt": "one\r\ntheirs\r\nthree\r\n", "run me.sh": "#!/bin/sh\necho theirs\n", "größe/naïve.txt": "theirs\n",
		"dropped.txt": "theirs\n", "blob.bin": "\x00theirs", "same.txt": "same, changed\n", ".gitattributes": base[".gitattributes"], "both new.txt": "theirs\n", "noeol.txt": "theirs",
	}
	s := newShop(t, base, pull, master)
	s.startMerge()
	code, r := s.turn("merge")
	if code != exitDone || r.Tests != "none" || !strings.Contains(r.Words, "this is no agent") {
		t.Fatalf("status %d, result %+v", code, r)
	}
	for path, want := range map[string]string{
		"plain.txt":       "100644 one\ntheirs\nours\nthree\n",
		"crlf.txt":        "100644 one\r\ntheirs\r\nours\r\nthree\r\n",
		"run me.sh":       "100755 #!/bin/sh\necho theirs\necho ours\n",
		"größe/naïve.txt": "100644 theirs\nours\n",
		"dropped.txt":     "100644 theirs\n",
		"left.txt":        "100644 ours\n",
		"blob.bin":        "100644 \x00ours",
		"same.txt":        "100644 same, changed\n",
		"both new.txt":    "100755 theirs\n#!ours\n",
		"noeol.txt":       "100644 theirs\nours",
	} {
		if got := s.show(r.Commit, path); got != want {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
	if got := s.git("log", "-1", "--format=%P|%an <%ae>|%cn <%ce>", r.Commit); got != s.head+" "+s.tip+"|parley demo desk <desk@parley.invalid>|parley demo desk <desk@parley.invalid>" {
		t.Errorf("commit %q", got)
	}
	if got := s.git("log", "-1", "--format=%B", r.Commit); !strings.Contains(got, "this is no agent") {
		t.Errorf("message %q", got)
	}
	if got := s.git("status", "--porcelain", "--untracked-files=no"); got != "" {
		t.Errorf("the scratch is left with %q", got)
	}
}

func TestMergeIsBegunWhereNoneIsUnderWay(t *testing.T) {
	s := newShop(t, tree{"a": "one\n"}, tree{"a": "ours\n"}, tree{"a": "theirs\n"})
	code, r := s.turn("merge")
	if code != exitDone || s.show(r.Commit, "a") != "100644 theirs\nours\n" {
		t.Errorf("status %d, result %+v", code, r)
	}
}

func TestMergeWithNothingToDoNamesTheHead(t *testing.T) {
	s := newShop(t, tree{"a": "one\n"}, tree{"a": "ours\n"}, tree{"a": "theirs\n"})
	s.tip = s.git("merge-base", s.head, s.tip)
	if code, r := s.turn("merge"); code != exitDone || r.Commit != s.head {
		t.Errorf("status %d, result %+v", code, r)
	}
}

func TestMergeOfSomethingElseIsRefused(t *testing.T) {
	s := newShop(t, tree{"a": "one\n"}, tree{"a": "ours\n"}, tree{"a": "theirs\n"})
	s.startMerge()
	s.tip = s.head
	if code, r := s.turn("merge"); code != exitFailed || r.Commit != "" {
		t.Errorf("status %d, result %+v", code, r)
	}
	s.head = strings.Repeat("1", 40)
	if code, r := s.turn("merge"); code != exitFailed || r.Commit != "" {
		t.Errorf("status %d, result %+v", code, r)
	}
}

func TestGivingUpHasItsStatus(t *testing.T) { // D-29
	s := newShop(t, tree{"a": "one\n"}, tree{"a": "ours\n"}, tree{"a": "theirs\n"})
	if code, r := s.turn("merge", "--give-up"); code != exitGaveUp || r.Commit != "" || !strings.Contains(r.Words, "no agent") {
		t.Errorf("status %d, result %+v", code, r)
	}
}

func TestDecisionTakesNothing(t *testing.T) { // D-29
	s := newShop(t, tree{"a": "one\n"}, tree{"a": "ours\n"}, tree{"a": "theirs\n"})
	if code, r := s.turn("decide"); code != exitDone || len(r.Pick) != 0 || !strings.Contains(r.Words, "not an agent") {
		t.Errorf("status %d, result %+v", code, r)
	}
}

func TestBadCallFails(t *testing.T) {
	for _, args := range [][]string{nil, {"a", "b"}, {"--what"}, {filepath.Join(t.TempDir(), "none")}} {
		if code, err := run(args, t.Output()); code != exitFailed || err == nil {
			t.Errorf("%q: status %d, %v", args, code, err)
		}
	}
}

func TestMarkersAreCounted(t *testing.T) {
	if n := markers([]byte("<<<<<<< a\nx\n=======\r\ny\n>>>>>>> b\n========\n<<<<<<<<\n=======")); n != 4 {
		t.Errorf("%d markers", n)
	}
}

func TestMergeInALinkedWorkingTreeIsFound(t *testing.T) {
	s := newShop(t, tree{"a": "one\n"}, tree{"a": "ours\n"}, tree{"a": "theirs\n"})
	linked := filepath.Join(t.TempDir(), "linked")
	s.git("worktree", "add", "-q", "--detach", linked, s.head)
	s.dir = linked
	s.startMerge()
	if code, r := s.turn("merge"); code != exitDone || s.git("log", "-1", "--format=%P", r.Commit) != s.head+" "+s.tip {
		t.Errorf("status %d, result %+v", code, r)
	}
}
