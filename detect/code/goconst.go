package code

import (
	"go/ast"
	"strings"

	"github.com/parley-mesh/parley/detect"
)

// url is as str, with marks for what other files of the module may say.
func (g *goScan) url(e ast.Expr) (text string, known bool) {
	g.marks = true
	defer func() { g.marks = false }()
	return g.str(e, valuesMax)
}

// marked is the mark of a constant that is declared in another file of the package, or in another package, if that is wanted.
func (g *goScan) marked(module, name string) (text string, known bool) {
	if !g.marks {
		return "{}", false
	}
	return mark(markConstant, target(module, name)), true
}

// constants notes the texts of constants and variables at the top of the file, and which fields are clients of HTTP, for other files.
func (g *goScan) constants() {
	for _, d := range g.syntax.Decls {
		top, ok := d.(*ast.GenDecl)
		if !ok {
			continue
		}
		for _, spec := range top.Specs {
			if v, ok := spec.(*ast.ValueSpec); ok && len(v.Values) == len(v.Names) {
				for i, id := range v.Names {
					g.constant(id.Name, v.Values[i])
				}
			}
		}
	}
	for i := range g.unit.Symbols {
		if s := &g.unit.Symbols[i]; s.Kind == detect.Field && goHTTPClient(g.unit, nameOf(s.ID)) {
			g.value(detect.Value{Name: nameOf(s.ID), Client: true})
		}
	}
}

// constant notes one of them.
func (g *goScan) constant(name string, from ast.Expr) {
	if text, known := g.url(from); known && name != "_" && len(text) <= constantMax && !strings.ContainsAny(text, " \n") {
		g.value(detect.Value{Name: name, Text: text})
	}
}

func (g *goScan) value(v detect.Value) {
	if len(g.unit.Values) < constantsMax {
		g.unit.Values = append(g.unit.Values, v)
	}
}
