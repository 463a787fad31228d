package detect

import (
	"maps"
	"path"
	"slices"
)

// folderMoves is where one side's folders went, as git's merge sees it: a folder that is gone went where most of its files
// went. A folder whose files went to several places, none of which got more than any other, went to "?".
type folderMoves map[string]string

// nowhere stands for a folder that was split.
const nowhere = "?"

func newFolderMoves(files []*File) folderMoves {
	counts := map[string]map[string]int{}
	for _, f := range files {
		if f.Op == Rename {
			f.countFolders(counts)
		}
	}
	m := folderMoves{}
	for from, to := range counts {
		most := slices.Max(slices.Collect(maps.Values(to)))
		for dir, n := range to {
			switch {
			case n < most:
			case m[from] == "":
				m[from] = dir
			default:
				m[from] = nowhere
			}
		}
	}
	return m
}

// countFolders counts a renamed file for its folder, and for those around it as long as the folders below are called alike.
func (f *File) countFolders(counts map[string]map[string]int) {
	from, to := f.From, f.Path
	for level := range f.Emptied {
		if level > 0 && path.Base(from) != path.Base(to) {
			return
		}
		from, to = path.Dir(from), path.Dir(to)
		if from == "." {
			return
		}
		if counts[from] == nil {
			counts[from] = map[string]int{}
		}
		counts[from][to]++
		if to == "." {
			return
		}
	}
}

// intoMoved finds what one side puts into a folder that the other moved elsewhere: git puts it there too, or cannot tell
// where, and wants to be asked in either case.
func (m *meeting) intoMoved(putters, movers fileIndex, swap bool) (all []clash) {
	moves, own := newFolderMoves(movers.files), newFolderMoves(putters.files)
	if len(moves) == 0 {
		return nil
	}
	direct := map[string]bool{} // git looks no further than at folders that get a file themselves
	for _, f := range putters.put {
		direct[path.Dir(f.Path)] = true
	}
	for _, f := range putters.put {
		dir := path.Dir(f.Path)
		for dir != "." && (moves[dir] == "" || !direct[dir]) {
			dir = path.Dir(dir)
		}
		to := moves[dir]
		if to == "" || own[dir] != "" || own[to] != "" {
			continue // both moved it, or it would be moved twice
		}
		what := "its folder was moved to " + to
		if to == nowhere {
			what = "its folder was moved to several places"
		}
		putter := m.a
		if swap {
			putter = m.b
		}
		all = append(all, clash{f.Path, what, f.Made, []Source{putter.source(f)}})
	}
	return all
}
