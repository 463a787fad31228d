package code

import (
	"path"
	"slices"
	"strings"

	"github.com/parley-mesh/parley/detect"
)

// moves pairs symbols that went from one place with those that came at another, where the name in its package or the body says
// without doubt that they are one; members follow their containers. The rest is returned.
func (c *comparison) moves(gone, come []*detect.Symbol) (left, right []*detect.Symbol) {
	taken := map[string]bool{}
	moved := func(was, is *detect.Symbol) {
		taken[was.ID], taken[is.ID] = true, true
		c.renamed[was.ID] = is.ID
		c.moved(was, is)
	}
	home := func(s *detect.Symbol) (any, bool) { // there it is one declaration, whatever became of its body
		return [5]any{languageOf(s.ID), s.Kind, path.Dir(pathOf(s.ID)), nameOf(s.ID), ofTests(s)}, folderIsPackage(s.ID)
	}
	exact := func(s *detect.Symbol) (any, bool) {
		return [3]any{s.Kind, s.BodyHash, lastName(s.ID)}, s.Container == ""
	}
	shape := func(s *detect.Symbol) (any, bool) {
		return [3]any{s.Kind, s.ShapeHash, pathOf(s.ID) + s.Container}, s.Kind != detect.Field && s.Kind != detect.Variable
	}
	far := func(s *detect.Symbol) (any, bool) {
		return [2]any{s.Kind, s.ShapeHash}, s.Lines >= 4 && s.Container == ""
	}
	for _, key := range []func(*detect.Symbol) (any, bool){home, exact, shape, far} {
		for _, pair := range unique(gone, come, taken, key) {
			moved(pair[0], pair[1])
		}
	}
	come = c.follow(gone, come, taken, moved)
	for _, was := range gone {
		if !taken[was.ID] {
			left = append(left, was)
		}
	}
	for _, is := range come {
		if !taken[is.ID] {
			right = append(right, is)
		}
	}
	return left, right
}

// folderIsPackage reports whether the files of a folder declare their names together, so that it does not matter in which.
func folderIsPackage(id string) bool {
	language := languageOf(id)
	return language == "go" || language == "java"
}

// follow moves members along with the containers that moved.
func (c *comparison) follow(gone, come []*detect.Symbol, taken map[string]bool, moved func(was, is *detect.Symbol)) []*detect.Symbol {
	at := map[string]*detect.Symbol{}
	for _, is := range come {
		at[is.ID] = is
	}
	for _, was := range gone { // in the order of the file, so that containers come first
		to, ok := c.renamed[was.Container]
		if !ok || taken[was.ID] {
			continue
		}
		if is := at[to+strings.TrimPrefix(was.ID, was.Container)]; is != nil && !taken[is.ID] {
			moved(was, is)
		}
	}
	return come
}

// unique pairs those of both lists whose key nobody else has.
func unique(gone, come []*detect.Symbol, taken map[string]bool, key func(*detect.Symbol) (any, bool)) (pairs [][2]*detect.Symbol) {
	count := func(list []*detect.Symbol) (map[any]int, map[any]*detect.Symbol) {
		n, last := map[any]int{}, map[any]*detect.Symbol{}
		for _, s := range list {
			if k, ok := key(s); ok && !taken[s.ID] {
				n[k]++
				last[k] = s
			}
		}
		return n, last
	}
	left, _ := count(gone)
	right, found := count(come)
	for _, was := range gone {
		if k, ok := key(was); ok && !taken[was.ID] && left[k] == 1 && right[k] == 1 {
			pairs = append(pairs, [2]*detect.Symbol{was, found[k]})
		}
	}
	return pairs
}

// lastName is the last part of a qualified name.
func lastName(id string) string {
	name := nameOf(base(id))
	return name[strings.LastIndexByte(name, '.')+1:]
}

// moved says what a move means: those who import the old name still find it only if the old file passes it on.
func (c *comparison) moved(was, is *detect.Symbol) {
	verdict, why := c.compatible(was, is)
	from, to := pathOf(was.ID), pathOf(is.ID)
	name := nameOf(was.ID)
	samePackage := folderIsPackage(is.ID) && path.Dir(from) == path.Dir(to) && name == nameOf(is.ID) && ofTests(was) == ofTests(is)
	say := "moved to " + to
	if from == to {
		say = "renamed to " + nameOf(is.ID)
	}
	switch {
	case samePackage, !was.Exported && (c.now.units[from] == nil || c.importedAgain(from, name)): // those who use it move along
	case c.passedOn(from, languageOf(was.ID), name, is.ID):
		say += ", still exported from the old place"
	default:
		verdict = detect.Breaking
	}
	c.change(is, was.ID, detect.Moved, verdict, append([]string{say}, why...)...)
}

// importedAgain reports whether a file imports a name that it declared before.
func (c *comparison) importedAgain(file, name string) bool {
	u := c.now.units[file]
	return u != nil && slices.ContainsFunc(u.Imports, func(b detect.Binding) bool { return b.Local == name })
}

// passedOn reports whether a file still exports a name and it is the symbol that moved.
func (c *comparison) passedOn(file, language, name, is string) bool {
	if c.now.units[file] == nil {
		return false
	}
	c.now.visited = map[string]bool{}
	id, sure := c.now.named(file, language, name, linksMax)
	return sure && id == is
}
