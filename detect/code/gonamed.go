package code

import (
	"go/ast"
	"strings"

	"github.com/parley-mesh/parley/detect"
)

// named is the id or target of a function by its name: create, users.Create, s.create, NewUsers(db).Create.
func (w *goWalk) named(e ast.Expr) string { return w.namedIn(e, valuesMax) }

func (w *goWalk) namedIn(e ast.Expr, left int) string {
	switch x := e.(type) {
	case *ast.Ident:
		if id := "sym:go:" + w.unit.Path + "#" + x.Name; hasKey(w.index, id) {
			return id
		}
		return target("", x.Name)
	case *ast.SelectorExpr:
		if id, ok := x.X.(*ast.Ident); ok && w.imports[id.Name] != "" && !w.hidden(id) {
			return target(w.imports[id.Name], x.Sel.Name)
		}
		module, of := w.typeOf(x.X, left-1)
		if of == "" {
			return ""
		}
		if id := "sym:go:" + w.unit.Path + "#" + of + "." + x.Sel.Name; module == "" && hasKey(w.index, id) {
			return id
		}
		return target(module, of+"."+x.Sel.Name)
	}
	return ""
}

// typeIs stands behind the name of a function or a field where its type is meant, see [resolver.goTyped].
const typeIs = "()"

// typeOf is the package and name of the type of an expression, as far as it is written somewhere; both "" if not.
func (w *goWalk) typeOf(e ast.Expr, left int) (module, of string) {
	if left <= 0 {
		return "", ""
	}
	switch x := e.(type) {
	case *ast.ParenExpr:
		return w.typeOf(x.X, left-1)
	case *ast.Ident:
		if module, of = w.typeAt(x); of != "" {
			return module, of
		}
		if call, ok := w.valueOf(x).(*ast.CallExpr); ok {
			return w.typeOf(call, left-1)
		}
	case *ast.SelectorExpr: // a field
		if module, of = w.typeOf(x.X, left-1); of != "" {
			return module, of + "." + x.Sel.Name + typeIs
		}
	case *ast.CompositeLit, *ast.UnaryExpr:
		if made := madeType(e); made != nil {
			return w.typeName(made)
		}
	case *ast.CallExpr:
		if made := madeType(x); made != nil {
			return w.typeName(made)
		}
		name := w.namedIn(x.Fun, left-1)
		if own, ok := strings.CutPrefix(name, "sym:go:"+w.unit.Path+"#"); ok {
			return "", own + typeIs
		}
		if module, of, ok := strings.Cut(strings.TrimPrefix(name, "mod:"), "#"); ok {
			return module, of + typeIs
		}
	}
	return "", ""
}

// goTyped finds a member of what a function gives, or of a field: NewUsers().Routes is Users.Routes.
func (r *resolver) goTyped(from *detect.Unit, module, name string) (id string, sure bool) {
	at := strings.LastIndex(name, typeIs+".")
	outer, sure := r.goName(from, module, name[:at])
	s, u := r.symbols[outer], r.units[pathOf(outer)]
	if !sure || s == nil || u == nil || strings.HasSuffix(name[:at], ".") || lastName(outer) != lastName("#"+name[:at]) {
		return "pkg:go:" + module + "#" + name, false
	}
	of, _, _ := strings.Cut(s.Signature.Result, ",") // the first of several
	m := goPlainType.FindStringSubmatch(of)
	if m == nil || m[1] != "" && importOf(u, m[1]) == "" {
		return "pkg:go:" + module + "#" + name, false
	}
	return r.goName(u, importOf(u, m[1]), m[2]+name[at+len(typeIs):])
}
