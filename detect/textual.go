package detect

import (
	"fmt"
	"slices"
	"strings"
)

// Merge is what git itself said about merging two sides.
type Merge struct {
	Outcome   Outcome
	Why       string         // of an outcome that is not known
	Conflicts []GitConflict  // ascending by path
	Declared  []Declarations // of files that both sides changed and git merged
}

// Outcome is git's answer.
type Outcome uint8

// The answers. Unknown is neither yes nor no: an object is missing, the history is cut off.
const (
	Unknown Outcome = iota
	Merges
	Conflicts
)

// GitConflict is one path that git could not merge.
type GitConflict struct {
	Path string `json:"path"`
	Type string `json:"type,omitempty"` // git's word: "contents", "modify/delete"; "" when it gave none
}

// String is the path, and in brackets what is the matter with it.
func (c GitConflict) String() string {
	if what := c.what(); what != "" {
		return c.Path + " (" + what + ")"
	}
	return c.Path
}

// what is git's word, or, where that is hard to read, what it means.
func (c GitConflict) what() string {
	switch c.Type {
	case fileAndFolder:
		return "a file on one side, a folder on the other"
	case "distinct modes", "distinct types":
		return "a file on one side, a link or a submodule on the other"
	}
	return c.Type
}

// fileAndFolder is git's word for a path where one side has a file and the other a folder.
const fileAndFolder = "file/directory"

// Declarations are the symbols of one file in the four versions of a merge, each as often as it is declared.
type Declarations struct {
	Path              string
	Base, A, B, Whole []string
}

func (g *Merge) swapped() *Merge {
	if g == nil {
		return nil
	}
	s := *g
	s.Declared = slices.Clone(g.Declared)
	for i := range s.Declared {
		s.Declared[i].A, s.Declared[i].B = s.Declared[i].B, s.Declared[i].A
	}
	return &s
}

// How sure a conflict of texts is (C16).
const (
	gitSays        Confidence = 100
	linesOverlap   Confidence = 90
	namesCollide   Confidence = 90
	editLandsMoved Confidence = 80
)

// clash is one path that cannot be merged.
type clash struct {
	path string
	what string // for people, in brackets: "lines 3 to 9"
	made Made
	from []Source
}

// textualMerge finds what git cannot merge: by its own answer where there is one, else from the changed lines.
func (m *meeting) textualMerge() {
	filesA, filesB, known := m.comparable()
	switch git := m.with.Git; {
	case git != nil && git.Outcome == Conflicts:
		m.addClashes(m.gitClashes(filesA, filesB), Observed)
	case git != nil && git.Outcome == Merges:
		m.declarations()
		m.landings(filesA, filesB)
	case !known:
		why := "the two sides' changes are counted from different commits"
		if git != nil && git.Why != "" {
			why = git.Why
		}
		m.doubt(TextualMerge, why, m.a.Side.Ref, m.b.Side.Ref)
	default:
		if git != nil {
			m.doubt(TextualMerge, git.Why, m.a.Side.Ref, m.b.Side.Ref)
		}
		m.addClashes(m.clashes(filesA, filesB), Inferred)
		m.landings(filesA, filesB)
	}
}

// comparable is the changes of both sides since one commit, the ignored paths left out.
func (m *meeting) comparable() (a, b fileIndex, known bool) {
	filesA, filesB := m.with.FilesA, m.with.FilesB
	if filesA != nil || filesB != nil {
		return newFileIndex(m.a.pick(filesA)), newFileIndex(m.b.pick(filesB)), true
	}
	known = m.with.Base != "" && m.a.Base == m.with.Base && m.b.Base == m.with.Base
	return m.a.index, m.b.index, known
}

// pick leaves the ignored paths out.
func (p *Party) pick(files []File) (kept []*File) {
	for i := range files {
		if !p.Rules.ignores(files[i].Path, p.Side.Folds) {
			kept = append(kept, &files[i])
		}
	}
	return kept
}

// fileIndex is changed files by the path that they had, and by the one that they have.
type fileIndex struct {
	files        []*File
	byOld, byNew map[string]*File
	put          []*File // added or renamed, by path
}

func newFileIndex(files []*File) fileIndex {
	x := fileIndex{files: files, byOld: map[string]*File{}, byNew: map[string]*File{}}
	for _, f := range files {
		if old := f.Old(); old != "" {
			x.byOld[old] = f
		}
		if f.Op != Delete {
			x.byNew[f.Path] = f
		}
		if f.Op == Add || f.Op == Rename {
			x.put = append(x.put, f)
		}
	}
	slices.SortFunc(x.put, func(a, b *File) int { return strings.Compare(a.Path, b.Path) })
	return x
}

// Old is the path of the content that the file had at Base, "" when it had none.
func (f *File) Old() string {
	switch {
	case f.From != "":
		return f.From
	case f.Op == Add:
		return ""
	}
	return f.Path
}

// Textual lists the paths on which merging two sides would conflict, from their changes since one commit alone,
// ascending.
func Textual(a, b []File) (paths []string) {
	pointers := func(files []File) (all []*File) {
		for i := range files {
			all = append(all, &files[i])
		}
		return all
	}
	m := &meeting{a: &Party{Digest: &Digest{}}, b: &Party{Digest: &Digest{}}}
	for _, c := range m.clashes(newFileIndex(pointers(a)), newFileIndex(pointers(b))) {
		paths = append(paths, c.path)
	}
	return distinct(paths)
}

func (m *meeting) clashes(as, bs fileIndex) (all []clash) {
	for _, f := range as.files {
		g := bs.byOld[f.Old()]
		if what := clashOf(f, g); g != nil && what != "" {
			all = append(all, m.clash(f.Path, what, f, g))
			continue
		}
		if h := bs.byNew[f.Path]; h != nil && h != g && f.Op != Delete && (f.Blob != h.Blob || f.Mode != h.Mode) {
			all = append(all, m.clash(f.Path, "both sides put a file there", f, h))
		}
	}
	all = append(all, under(m.a, m.b, as, bs)...)
	all = append(all, under(m.b, m.a, bs, as)...)
	all = append(all, m.intoMoved(as, bs, false)...)
	return append(all, m.intoMoved(bs, as, true)...)
}

func (m *meeting) clash(path, what string, f, g *File) clash {
	return clash{path, what, max(f.Made, g.Made), []Source{m.a.source(f), m.b.source(g)}}
}

// clashOf says why two changes of one file cannot be merged, "" when they can.
func clashOf(f, g *File) string {
	switch {
	case g == nil, f.Op == Delete && g.Op == Delete:
		return ""
	case f.Op == Delete || g.Op == Delete:
		return "deleted on one side"
	case f.From != "" && g.From != "" && f.Path != g.Path:
		return "renamed to two names"
	case f.Mode != f.BaseMode && g.Mode != g.BaseMode && f.Mode != g.Mode:
		return "two modes"
	case f.Blob == f.BaseBlob, g.Blob == g.BaseBlob, f.Blob == g.Blob:
		return ""
	case f.Binary || g.Binary:
		return "not text"
	case f.Mode == submodule && g.Mode == submodule:
		return "submodule"
	case f.Mode&^0o777 != g.Mode&^0o777 || f.Mode&^0o777 != 0o100000:
		return "not a regular file"
	}
	return hunksClash(f.Hunks, g.Hunks)
}

// git's modes of a symbolic link, and of a commit of another repository.
const (
	link      = 0o120000
	submodule = 0o160000
)

// hunksClash says which lines two lists of hunks both change. Like git's own merge it takes hunks that touch for
// ones that overlap, and the same hunk on both sides for one.
func hunksClash(a, b []Hunk) string {
	for i, j := 0, 0; i < len(a) && j < len(b); {
		x, y := a[i], b[j]
		endX, endY := x.OldStart+x.OldLen, y.OldStart+y.OldLen
		switch {
		case endX < y.OldStart:
			i++
		case endY < x.OldStart:
			j++
		case x == y:
			i, j = i+1, j+1
		default:
			return lines(min(x.OldStart, y.OldStart), max(endX, endY))
		}
	}
	return ""
}

// lines names the lines from start up to end, counted from 0, as people count them.
func lines(start, end uint32) string {
	if end <= start+1 {
		return fmt.Sprintf("line %d", start+1)
	}
	return fmt.Sprintf("lines %d to %d", start+1, end)
}

// under finds the files of one side where the other has a folder.
func under(a, b *Party, as, bs fileIndex) (all []clash) {
	for _, f := range as.put {
		i, _ := slices.BinarySearchFunc(bs.put, f.Path+"/", func(o *File, path string) int { return strings.Compare(o.Path, path) })
		if i < len(bs.put) && strings.HasPrefix(bs.put[i].Path, f.Path+"/") {
			all = append(all, clash{f.Path, fileAgainstFolder(a, f, b), ByHand, []Source{a.source(f), b.source(bs.put[i])}})
		}
	}
	return all
}

// fileAgainstFolder says which side has what at one path.
func fileAgainstFolder(a *Party, f *File, b *Party) string {
	what := map[uint32]string{link: "link", submodule: "submodule"}[f.Mode]
	if what == "" {
		what = "file"
	}
	return fmt.Sprintf("%s has a %s where %s has a folder", a.Side.Ref, what, b.Side.Ref)
}

// gitClashes is git's own list. What the files are is taken from the digests.
func (m *meeting) gitClashes(as, bs fileIndex) (all []clash) {
	find := func(p *Party, x fileIndex, path string) (Made, []Source) {
		f := x.byNew[path]
		if f == nil {
			f = x.byOld[path]
		}
		if f == nil {
			return ByHand, nil
		}
		return f.Made, []Source{p.source(f)}
	}
	for _, c := range m.with.Git.Conflicts {
		madeA, fromA := find(m.a, as, c.Path)
		madeB, fromB := find(m.b, bs, c.Path)
		what := c.what()
		switch f, g := as.byNew[c.Path], bs.byNew[c.Path]; {
		case c.Type != fileAndFolder:
		case f != nil && g == nil:
			what = fileAgainstFolder(m.a, f, m.b)
		case g != nil && f == nil:
			what = fileAgainstFolder(m.b, g, m.a)
		}
		if !m.rules.ignores(c.Path, m.folds) {
			all = append(all, clash{c.Path, what, max(madeA, madeB), append(fromA, fromB...)})
		}
	}
	return all
}

// addClashes reports files that have to be merged by hand, and apart from them those that are made again.
func (m *meeting) addClashes(all []clash, e Evidence) {
	var byHand, again []clash
	for _, c := range all {
		if c.made == ByHand {
			byHand = append(byHand, c)
		} else {
			again = append(again, c)
		}
	}
	a, b := m.a.Side, m.b.Side
	f := Finding{Kind: TextualMerge, Confidence: gitSays, Evidence: e, Sides: []string{a.Ref, b.Ref}}
	if e == Inferred {
		f.Confidence = linesOverlap
	}
	if names := f.take(byHand); len(names) > 0 {
		f.Sentence = fmt.Sprintf("git cannot merge %s and %s: %d file(s) conflict: %s.", a.Label(), b.Label(), len(names), list(names))
		if e == Inferred {
			f.Sentence = fmt.Sprintf("%s and %s change the same lines of %d file(s), which git will not merge: %s.", a.Label(), b.Label(), len(names), list(names))
		}
		f.Suggestion = fmt.Sprintf("Merge one side first and let the other rebase (conflict_respond will_rebase), or split the change; %s arrived second.", b.Ref)
		m.add(m.rules.judge(f, m.rules.severity(TextualMerge), b.Ref))
	}
	f.About, f.From = nil, nil
	if names := f.take(again); len(names) > 0 {
		f.Regenerate = true
		f.Sentence = fmt.Sprintf("%s and %s both change %d generated file(s): %s.", a.Label(), b.Label(), len(names), list(names))
		f.Suggestion = fmt.Sprintf("Do not merge by hand: regenerate %s once both sides are merged.", list(f.About))
		m.add(m.rules.judge(f, Info, b.Ref))
	}
}

// take fills in what a finding is about, and returns how a sentence names it.
func (f *Finding) take(all []clash) (names []string) {
	for _, c := range all {
		name := c.path
		if c.what != "" {
			name += " (" + c.what + ")"
		}
		names = append(names, name)
		f.About = append(f.About, c.path)
		f.From = append(f.From, c.from...)
	}
	f.About, f.From = distinct(f.About), distinctSources(f.From)
	return distinct(names)
}

// landings finds edits of a file that the other side renamed: git puts them into the file of the new name.
func (m *meeting) landings(as, bs fileIndex) {
	land := func(p, q *Party, movers, editors fileIndex) {
		for _, f := range movers.put {
			g := editors.byOld[f.From]
			if f.Op != Rename || g == nil || g.Op != Modify {
				continue
			}
			m.add(m.rules.judge(Finding{
				Kind: TextualMerge, Confidence: editLandsMoved, Evidence: Inferred,
				Sides: []string{p.Side.Ref, q.Side.Ref}, About: []string{f.Path}, From: []Source{p.source(f), q.source(g)},
				Sentence:   fmt.Sprintf("%s renames %s to %s; what %s edits in it lands there without a conflict.", p.Side.Label(), f.From, f.Path, q.Side.Label()),
				Suggestion: fmt.Sprintf("Look at %s once both sides are merged.", f.Path),
			}, Info, q.Side.Ref))
		}
	}
	land(m.a, m.b, as, bs)
	land(m.b, m.a, bs, as)
}

// declarations finds what a merge without conflicts declared twice, or lost.
func (m *meeting) declarations() {
	for _, d := range m.with.Git.Declared {
		doubled, dropped := d.compare()
		for i, ids := range [][]string{doubled, dropped} {
			if len(ids) == 0 {
				continue
			}
			what := [...]string{"doubles", "loses"}[i]
			m.add(m.rules.judge(Finding{
				Kind: TextualMerge, Confidence: gitSays, Evidence: Observed,
				Sides: []string{m.a.Side.Ref, m.b.Side.Ref}, About: ids,
				Sentence: fmt.Sprintf("git merges %s and %s without a conflict, but the result %s %d symbol(s): %s.",
					m.a.Side.Label(), m.b.Side.Label(), what, len(ids), list(ids)),
				Suggestion: fmt.Sprintf("Look at %s once both sides are merged, and keep each declaration once.", d.Path),
			}, m.rules.severity(TextualMerge), m.b.Side.Ref))
		}
	}
}

// compare counts declarations: one is doubled when the merged file has it more often than either side, and dropped
// when a side has it that did not take it away, and the other neither.
func (d Declarations) compare() (doubled, dropped []string) {
	var all []string
	for _, ids := range [][]string{d.A, d.B, d.Whole} {
		for _, id := range ids {
			all = append(all, nameOf(id))
		}
	}
	for _, id := range distinct(all) {
		base, a, b, whole := count(d.Base, id), count(d.A, id), count(d.B, id), count(d.Whole, id)
		switch {
		case whole > max(a, b):
			doubled = append(doubled, id)
		case whole == 0 && a >= base && b >= base && a+b > 0:
			dropped = append(dropped, id)
		}
	}
	return doubled, dropped
}

func count(ids []string, id string) (n int) {
	for _, s := range ids {
		if nameOf(s) == id {
			n++
		}
	}
	return n
}

// nameOf is a symbol's id without the number that tells declarations of one name apart.
func nameOf(id string) string {
	name, _, _ := strings.Cut(id, "~")
	return name
}
