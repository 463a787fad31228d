package code

import (
	"go/ast"
	"go/build/constraint"
	"slices"
	"strings"

	"github.com/parley-mesh/parley/detect"
)

// wordBuild begins the word for a symbol of Go that only some builds have: other files may declare it for the others.
const wordBuild = "//go:build "

// buildOf is the condition under which a file is built, by its name and by what stands above its package clause; "" for none.
func buildOf(file string, syntax *ast.File) string {
	tags := detect.GoFileTags(file)
	for _, group := range syntax.Comments {
		for _, c := range group.List {
			if c.Pos() < syntax.Package && constraint.IsGoBuild(c.Text) {
				if x, err := constraint.Parse(c.Text); err == nil {
					text := x.String()
					if _, either := x.(*constraint.OrExpr); either {
						text = "(" + text + ")"
					}
					tags = append(tags, text)
				}
			}
		}
	}
	if len(tags) == 0 {
		return ""
	}
	slices.Sort(tags)
	return wordBuild + strings.Join(tags, " && ")
}

// conditional reports whether only some builds have a symbol.
func conditional(s *detect.Symbol) bool {
	return languageOf(s.ID) == "go" && slices.ContainsFunc(s.Signature.Modifiers, func(w string) bool { return strings.HasPrefix(w, wordBuild) })
}

// ownTests stands for the package of a folder's tests from outside: package p_test.
const ownTests = "_test"

// own is a name of the file's own package, of which other files may declare it.
func (g *goScan) own(name string) string {
	if g.outer {
		return target(ownTests, name)
	}
	return target("", name)
}

// dotted are the packages all of whose names the file has as its own.
func (g *goScan) dotted() (modules []string) {
	for _, b := range g.unit.Imports {
		if b.Local == "." {
			modules = append(modules, b.Module)
		}
	}
	return modules
}
