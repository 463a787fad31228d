package code

import (
	"go/ast"
	"go/token"
	"go/types"
	"regexp"

	"github.com/parley-mesh/parley/detect"
)

// goVariable is one declaration of a name: where the name stands for it, and its type, nil where none is written.
type goVariable struct {
	extent
	of ast.Expr
}

// noteType notes the type of a declaration that counts in a range.
func (g *goScan) noteType(id *ast.Ident, from, to token.Pos, of ast.Expr) {
	if list := g.variables[id.Name]; len(list) <= variablesMax && id.Name != "_" {
		g.variables[id.Name] = append(list, goVariable{extent{uint32(from), uint32(to)}, of})
	}
}

// noteValues notes the types of names that are declared together: the written one, or those of their values.
func (g *goScan) noteValues(stack []ast.Node, from token.Pos, names []ast.Expr, of ast.Expr, values []ast.Expr) {
	to := g.syntax.End()
	if scope := scopeOf(stack); scope != nil {
		to = scope.End()
	} else {
		from = g.syntax.Pos()
	}
	for i, e := range names {
		id, ok := e.(*ast.Ident)
		if !ok {
			continue
		}
		typed := of
		if typed == nil && len(values) == len(names) {
			typed = madeType(values[i])
		}
		g.noteType(id, from, to, typed)
	}
}

// madeType is the type of T{…}, &T{…} and new(T), nil for any other value.
func madeType(value ast.Expr) ast.Expr {
	switch x := value.(type) {
	case *ast.CompositeLit:
		return x.Type
	case *ast.UnaryExpr:
		if x.Op == token.AND {
			return madeType(x.X)
		}
	case *ast.CallExpr:
		if f, ok := x.Fun.(*ast.Ident); ok && f.Name == "new" && len(x.Args) == 1 {
			return x.Args[0]
		}
	}
	return nil
}

// typeAt is the package and name of the type that is written for what an identifier stands for, the package "" for the
// file's own, both "" if there is none.
func (g *goScan) typeAt(id *ast.Ident) (module, of string) {
	list, where := g.variables[id.Name], uint32(id.Pos())
	if len(list) > variablesMax {
		return "", ""
	}
	inner := ^uint32(0)
	var typed ast.Expr
	for _, v := range list {
		if size := v.end - v.start; v.start <= where && where < v.end && size <= inner {
			inner, typed = size, v.of
		}
	}
	return g.typeName(typed)
}

// typeName is the package and name of a type, also behind a pointer or with arguments.
func (g *goScan) typeName(e ast.Expr) (module, name string) {
	switch x := e.(type) {
	case *ast.StarExpr:
		return g.typeName(x.X)
	case *ast.ParenExpr:
		return g.typeName(x.X)
	case *ast.IndexExpr:
		return g.typeName(x.X)
	case *ast.IndexListExpr:
		return g.typeName(x.X)
	case *ast.Ident:
		if !g.hidden(x) && types.Universe.Lookup(x.Name) == nil {
			return "", x.Name
		}
	case *ast.SelectorExpr:
		if id, ok := x.X.(*ast.Ident); ok && g.imports[id.Name] != "" && !g.hidden(id) {
			return g.imports[id.Name], x.Sel.Name
		}
	}
	return "", ""
}

// memberOf refers to a field or method of a type.
func (g *goScan) memberOf(module, of, member string, kind detect.ReferenceKind, at token.Pos) {
	own := "sym:go:" + g.unit.Path + "#" + of + "." + member
	switch {
	case of == "":
	case module == "" && hasKey(g.index, own):
		g.refer(kind, own, at)
	case module == "" && g.outer:
		g.refer(kind, memberMark+ownTests+"#"+of+"."+member, at)
	default:
		g.refer(kind, memberMark+module+"#"+of+"."+member, at)
	}
}

var goPlainType = regexp.MustCompile(`^\*?(?:(\w+)\.)?(\w+)(?:\[.*\])?$`)

// fieldMember refers to a member of a field of a struct of the file: x.f.m.
func (g *goScan) fieldMember(x *ast.SelectorExpr, kind detect.ReferenceKind) {
	field, ok := x.X.(*ast.SelectorExpr)
	if !ok {
		return
	}
	id, ok := field.X.(*ast.Ident)
	if !ok || g.imports[id.Name] != "" && !g.hidden(id) {
		return
	}
	module, of := g.typeAt(id)
	i, ok := g.index["sym:go:"+g.unit.Path+"#"+of+"."+field.Sel.Name]
	if module != "" || of == "" || !ok || g.unit.Symbols[i].Kind != detect.Field {
		return
	}
	m := goPlainType.FindStringSubmatch(g.unit.Symbols[i].Signature.Result)
	if m == nil || m[1] == "" && types.Universe.Lookup(m[2]) != nil || m[1] != "" && g.imports[m[1]] == "" {
		return
	}
	g.memberOf(g.imports[m[1]], m[2], x.Sel.Name, kind, x.Pos())
}
