//go:build cgo

package repo

import (
	"fmt"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var errorLine = regexp.MustCompile(`(?m)^(?:\./)?(\S+?\.(?:go|ts)):\d+`)

// cloneOf is a repository of its own with the history of another.
func cloneOf(t *testing.T, path string) *shop {
	t.Helper()
	s := &shop{TB: t, dir: t.TempDir()}
	s.git("clone", "-q", "--shared", "--no-checkout", path, ".")
	s.git("checkout", "-q", "-f", "-B", "main")
	s.git("symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/main")
	s.git("update-ref", "refs/remotes/origin/main", "main")
	return s
}

// sources are the files of a kind in the tree, tests left out.
func (s *shop) sources(ending, without string) map[string]string {
	s.Helper()
	files := map[string]string{}
	for p := range strings.SplitSeq(s.git("ls-files", "-z"), "\x00") {
		if strings.HasSuffix(p, ending) && !strings.HasSuffix(p, without) && !strings.Contains("/"+p, "/testdata/") && !strings.Contains("/"+p, "/vendor/") {
			files[p] = s.git("cat-file", "blob", "main:"+p) + "\n"
		}
	}
	return files
}

// TestBuildsOfARealRepositoryThatBreak scripts work on the Go code of a clone, and builds every merged tree:
//
//	go test ./detect/repo -run RealRepository -v -timeout 2h -repo PATH -clashes 220
func TestBuildsOfARealRepositoryThatBreak(t *testing.T) { // C3, C4
	if *replayRepo == "" {
		t.Skip("no repository to build: -repo PATH")
	}
	s := cloneOf(t, *replayRepo)
	files := s.sources(".go", "_test.go")
	module := regexp.MustCompile(`(?m)^module (\S+)`).FindStringSubmatch(s.git("cat-file", "blob", "main:go.mod"))
	if module == nil {
		t.Skip("no module of Go")
	}
	s.leaveOutOfReach(files)
	all := scripted(newGoTown(files, module[1], 7), *buildPairs)
	s.commitClashes(all)
	verdicts, trees := s.judgeClashes(all)
	dir := t.TempDir()
	var alone []string
	for _, beside := range []bool{false, true} {
		s.export(s.union(all, beside), filepath.Join(dir, "alone"))
		alone = append(alone, errorFiles(goBuild(t, filepath.Join(dir, "alone"), "./..."))...)
	}
	t.Logf("%d pairs, %d sides do not build by themselves", len(all), len(alone))
	var kept []verdict
	for i, v := range verdicts {
		if trees[i] == "" || !v.label(nil, alone) {
			continue
		}
		s.export(trees[i], filepath.Join(dir, "merged"))
		var packages []string
		for p := range v.b {
			packages = append(packages, "./"+path.Dir(p))
		}
		for p := range v.a {
			packages = append(packages, "./"+path.Dir(p))
		}
		slices.Sort(packages)
		packages = slices.Compact(packages)
		if v.label(errorFiles(goBuild(t, filepath.Join(dir, "merged"), packages...)), alone) {
			kept = append(kept, v)
		}
	}
	tally(t, kept)
	fmt.Fprintln(t.Output(), len(kept), "of", len(all), "pairs can be told")
}

// leaveOutOfReach takes files away that a package of the root module cannot import.
func (s *shop) leaveOutOfReach(files map[string]string) {
	var modules []string
	for p := range strings.SplitSeq(s.git("ls-files", "-z"), "\x00") {
		if strings.HasSuffix(p, "/go.mod") {
			modules = append(modules, path.Dir(p)+"/")
		}
	}
	for p := range files {
		other := slices.ContainsFunc(modules, func(m string) bool { return strings.HasPrefix(p, m) })
		if other || strings.Contains("/"+p, "/_") || strings.Contains("/"+p, "/.") || strings.Contains(strings.TrimPrefix(p, "internal/"), "internal/") {
			delete(files, p)
		}
	}
}

func errorFiles(out string) (files []string) {
	for _, m := range errorLine.FindAllStringSubmatch(out, -1) {
		files = append(files, filepath.ToSlash(m[1]))
	}
	slices.Sort(files)
	return slices.Compact(files)
}
