package repo

import (
	"path"
	"slices"
	"strings"

	"github.com/parley-mesh/parley/detect"
)

// canConflict reports whether git could have anything to say about two lists of changes since one commit, renames
// taken apart. It answers no only when a merge is surely clean: no path in common, no file where the other has a
// directory, and no new file in a directory that the other may have renamed.
func canConflict(a, b []detect.File) bool {
	return sharePath(a, b) || under(a, b) || under(b, a) || movedAway(a, b) || movedAway(b, a)
}

// sharePath walks two lists that git has sorted.
func sharePath(a, b []detect.File) bool {
	for i, j := 0, 0; i < len(a) && j < len(b); {
		switch strings.Compare(a[i].Path, b[j].Path) {
		case -1:
			i++
		case 1:
			j++
		default:
			return true
		}
	}
	return false
}

// under reports whether a put a file where b puts a directory.
func under(a, b []detect.File) bool {
	return slices.ContainsFunc(a, func(f detect.File) bool {
		if f.Op != detect.Add {
			return false
		}
		i, _ := slices.BinarySearchFunc(b, f.Path+"/", func(g detect.File, p string) int { return strings.Compare(g.Path, p) })
		return i < len(b) && strings.HasPrefix(b[i].Path, f.Path+"/")
	})
}

// movedAway reports whether b adds a file below a directory out of which a took files and put others elsewhere.
func movedAway(a, b []detect.File) bool {
	left := map[string]bool{}
	puts := false
	for _, f := range a {
		puts = puts || f.Op == detect.Add
		if f.Op == detect.Delete {
			for dir := path.Dir(f.Path); dir != "." && !left[dir]; dir = path.Dir(dir) {
				left[dir] = true
			}
		}
	}
	return puts && len(left) > 0 && slices.ContainsFunc(b, func(f detect.File) bool {
		if f.Op != detect.Add {
			return false
		}
		for dir := path.Dir(f.Path); dir != "."; dir = path.Dir(dir) {
			if left[dir] {
				return true
			}
		}
		return false
	})
}

// renamesApart is changes with each rename as a deletion and an addition, by path.
func renamesApart(files []detect.File) []detect.File {
	apart := []detect.File{}
	for _, f := range files {
		if f.Op == detect.Rename {
			apart = append(apart, detect.File{Path: f.From, Op: detect.Delete, BaseBlob: f.BaseBlob, BaseMode: f.BaseMode})
			f.Op, f.From, f.BaseBlob, f.BaseMode = detect.Add, "", "", 0
		}
		apart = append(apart, f)
	}
	slices.SortStableFunc(apart, func(a, b detect.File) int { return strings.Compare(a.Path, b.Path) })
	return apart
}
