//go:build cgo

package repo

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parley-mesh/parley/detect/code"
)

// What is no text, too large or nested without end is named, and links that lead in circles lead nowhere.
func TestOddFilesAreNamedAndSpoilNothing(t *testing.T) { // C5
	s := newShop(t)
	s.branch("main", "", "a.ts", "export const a = 1\n")
	s.git("checkout", "-q", "-B", "odd", "main")
	for name, text := range map[string]string{
		"binary.ts": "export const x = 1\x00\n",
		"large.ts":  strings.Repeat("export const x = 1;\n", 60_000),
		"deep.js":   strings.Repeat("[", 5_000),
		"a.ts":      "export const a = 2\n",
	} {
		s.write(name, text)
	}
	for link, to := range map[string]string{"one": "two", "two": "one", "loop": "."} {
		if err := os.Symlink(to, filepath.Join(s.dir, link)); err != nil {
			t.Skip("no links here: ", err)
		}
	}
	result := s.check(Options{Reader: code.New(code.Project{})})
	named := map[string]bool{}
	for _, u := range result.Unread {
		named[u.Path] = strings.HasPrefix(u.Why, "not read as code") && u.Ref == "odd"
	}
	if len(named) != 3 || !named["binary.ts"] || !named["large.ts"] || !named["deep.js"] {
		t.Errorf("%+v", result.Unread)
	}
	if len(result.Sides) != 1 || result.Sides[0].Files != 7 {
		t.Errorf("%+v", result.Sides)
	}
	d := s.desk(DeskOptions{Base: "main"})
	if got := s.digest(d, "one", "two", "loop", "loop/a.ts", "a.ts"); len(got.Files) != 7 || len(got.Unreadable) != 0 {
		t.Errorf("%d files, unreadable %q", len(got.Files), got.Unreadable)
	}
}
