package worktree

import (
	"strings"
	"testing"
)

var names = []string{
	"ok.txt", "a/b/c.go", "../x", "a/../x", "./a", "a/./b", "/etc/passwd", "a//b", "a/", "", ".git/config", ".GIT/config",
	".Git/hooks/x", "a/.git/config", "a/.git", "git~1/config", "GIT~1/x", ".git./config", ".git /config", ".git . ./config",
	".git::$INDEX_ALLOCATION/config", ".git:x", ".g\u200cit/config", ".\u200dgit/x", ".gi\u202et/config", "\ufeff.git/config",
	".git\\config", "a\\..\\b", "a\\b", "C:/x", "C:x", "\\\\srv\\x", "con", "CON.txt", "aux/x", "nul", "com1.txt", "lpt9", "com¹",
	"x.", "x ", "x./y", "a:b", "a\nb", "a\tb", "a\x00b", ".gitmodules", "GITMOD~1", ".gitattributes", ".gitignore",
	".github/workflows/x.yml", ".gitx/y", "gitx", "git~2/x", ".git~1", "a*b", "a?b", "\xff\xfe", "é/ü.txt", "mit Leerzeichen/x y",
	"-rf", "--help", strings.Repeat("x", 300), strings.Repeat("x/", 700) + "x", ".\u206agit/x", "git~1", ".git", "a/git~1 /b",
}

// The rules may be stricter than git's, never looser.
func TestNoPathIsWrittenThatGitRefuses(t *testing.T) { // D-7
	dir := t.TempDir()
	git(t, dir, "init", "-q")
	blob := git(t, dir, "hash-object", "-w", "--stdin")
	taken := 0
	for _, p := range names {
		out, err := gitTry(t, dir, "100644 "+blob+"\t"+p+"\x00", "-c", "core.protectHFS=true", "-c", "core.protectNTFS=true",
			"update-index", "-z", "--add", "--index-info")
		refused := err != nil || strings.Contains(out, "nvalid") || strings.Contains(out, "gnoring")
		listed := git(t, dir, "ls-files")
		if listed != "" {
			git(t, dir, "read-tree", "--empty")
		}
		switch ours := ValidPath(p); {
		case refused && ours == nil:
			t.Errorf("git refuses %q, ValidPath does not: %s", p, out)
		case ours == nil:
			taken++
		}
	}
	if taken < 10 {
		t.Errorf("only %d ordinary names are taken", taken)
	}
}

func FuzzValidPathNeverLeavesTheTree(f *testing.F) { // D-7
	for _, p := range names {
		f.Add(p)
	}
	f.Fuzz(func(t *testing.T, p string) {
		if ValidPath(p) != nil {
			return
		}
		for part := range strings.SplitSeq(p, "/") {
			if part == "" || part == "." || part == ".." || strings.EqualFold(part, ".git") {
				t.Fatalf("%q is taken", p)
			}
		}
	})
}
