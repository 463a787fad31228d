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
	u, to, member := r.goType(from, module, name)
	if u == nil {
		return "pkg:go:" + module + "#" + name, false
	}
	return r.goName(u, to, member)
}

// goType is the member of its type that such a name stands for, as the file has it that says the type; that is nil if it is not at hand.
func (r *resolver) goType(from *detect.Unit, module, name string) (u *detect.Unit, to, member string) {
	at := strings.LastIndex(name, typeIs+".")
	outer, sure := r.goName(from, module, name[:at])
	s := r.symbols[outer]
	if !sure || s == nil || lastName(outer) != lastName("#"+name[:at]) {
		return nil, "", ""
	}
	of, _, _ := strings.Cut(s.Signature.Result, ",") // the first of several
	m := goPlainType.FindStringSubmatch(of)
	if u = r.units[pathOf(outer)]; u == nil || m == nil || m[1] != "" && importOf(u, m[1]) == "" {
		return nil, "", ""
	}
	return u, importOf(u, m[1]), m[2] + name[at+len(typeIs):]
}

// packageFiles bounds how many files of one package are looked into for its names.
const packageFiles = 64

// wantGo adds the files of the package in which a name of Go has to be.
func (r *resolver) wantGo(u *detect.Unit, module, name string, wanted map[string]bool) {
	for strings.Contains(name, typeIs+".") {
		at, to, member := r.goType(u, module, name)
		if at == nil {
			name = name[:strings.LastIndex(name, typeIs+".")]
			continue
		}
		u, module, name = at, to, member
	}
	if id, _ := r.goName(u, module, name); strings.HasPrefix(id, "sym:") && nameOf(id) == name || r.project.Folder == nil {
		return
	}
	for _, dir := range r.goFolders(u, module) {
		left := packageFiles
		for _, file := range r.project.Folder(dir) {
			if left > 0 && strings.HasSuffix(file, ".go") && !strings.HasSuffix(file, "_test.go") && r.units[file] == nil {
				wanted[file] = true
				left--
			}
		}
	}
}
