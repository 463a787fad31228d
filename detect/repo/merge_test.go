package repo

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/parley-mesh/parley/detect"
)

func TestAFileAgainstAFolderIsNamedByItsPath(t *testing.T) {
	s := newShop(t)
	s.branch("main", "", "a", "1\n")
	s.branch("folder", "main", "lib/x", "1\n")
	s.branch("file", "main", "lib", "1\n")
	s.branch("link", "main")
	if err := os.Symlink("a", filepath.Join(s.dir, "lib")); err != nil {
		t.Skip("no links on this disk:", err)
	}
	s.branch("link", "link")
	r := s.check(Options{Order: true})
	for pair, want := range map[[2]string]string{
		{"file", "folder"}: "lib (file has a file where folder has a folder).",
		{"file", "link"}:   "lib (a file on one side, a link or a submodule on the other).",
		{"folder", "link"}: "lib (link has a link where folder has a folder).",
	} {
		if p := s.pair(r, pair[0], pair[1]); len(p.Conflicts) != 1 || p.Conflicts[0].Path != "lib" {
			t.Errorf("%+v", p)
		}
		if !slices.ContainsFunc(r.Report.Findings, func(f detect.Finding) bool {
			return slices.Contains(f.Sides, pair[0]) && slices.Contains(f.Sides, pair[1]) && strings.HasSuffix(f.Sentence, want)
		}) {
			t.Errorf("%v: want %q in %+v", pair, want, r.Report.Findings)
		}
	}
	for _, step := range r.Order {
		for _, c := range step.Conflicts {
			if strings.Contains(c.String(), "~") {
				t.Errorf("%s: %s", step.Ref, c)
			}
		}
	}
}
