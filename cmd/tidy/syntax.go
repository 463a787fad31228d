package main

import (
	"go/ast"
	"iter"
	"path"
	"slices"
	"strconv"
)

// uses yields every mention of one of an imported package's names, under
// whatever name the file imports it.
func uses(f *ast.File, pkg string, names ...string) iter.Seq[*ast.SelectorExpr] {
	local := localName(f, pkg)
	return func(yield func(*ast.SelectorExpr) bool) {
		more := local != ""
		ast.Inspect(f, func(n ast.Node) bool {
			sel, ok := n.(*ast.SelectorExpr)
			if !more || !ok {
				return more
			}
			if x, ok := sel.X.(*ast.Ident); ok && x.Name == local && slices.Contains(names, sel.Sel.Name) {
				more = yield(sel)
			}
			return more
		})
	}
}

// localName returns the name under which f imports pkg, "" if it does not.
func localName(f *ast.File, pkg string) string {
	for _, spec := range f.Imports {
		if imported, _ := strconv.Unquote(spec.Path.Value); imported != pkg {
			continue
		}
		if spec.Name != nil {
			return spec.Name.Name
		}
		return path.Base(pkg)
	}
	return ""
}

// receiver returns the name of the type that a method belongs to, "" for a
// function.
func receiver(f *ast.FuncDecl) string {
	if f.Recv == nil {
		return ""
	}
	expr := f.Recv.List[0].Type
	for {
		switch e := expr.(type) {
		case *ast.StarExpr:
			expr = e.X
		case *ast.IndexExpr:
			expr = e.X
		case *ast.IndexListExpr:
			expr = e.X
		case *ast.ParenExpr:
			expr = e.X
		case *ast.Ident:
			return e.Name
		default:
			return ""
		}
	}
}
