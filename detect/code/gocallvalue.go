package code

import "go/ast"

func (g *goScan) fieldKey(pair *ast.KeyValueExpr) string {
	if id, ok := pair.Key.(*ast.Ident); ok {
		return id.Name
	}
	return ""
}

// strCall reads fmt.Sprintf, path.Join, url.JoinPath and url.Parse, and methods of a URL: u.JoinPath("x").String().
func (g *goScan) strCall(call *ast.CallExpr, left int) (text string, known bool) {
	f, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return "{}", false
	}
	module := ""
	if id, ok := f.X.(*ast.Ident); ok && !g.hidden(id) {
		module = g.imports[id.Name]
	}
	switch {
	case module == "fmt" && f.Sel.Name == "Sprintf" && len(call.Args) > 0:
		return g.strFormat(call, left)
	case module == "path" && f.Sel.Name == "Join", module == "net/url" && f.Sel.Name == "JoinPath":
		return g.strJoin(call.Args, call.Ellipsis.IsValid(), left)
	case module == "net/url" && (f.Sel.Name == "Parse" || f.Sel.Name == "ParseRequestURI") && len(call.Args) == 1:
		return g.str(call.Args[0], left)
	case module != "":
	case f.Sel.Name == "JoinPath":
		return g.strJoin(append([]ast.Expr{f.X}, call.Args...), call.Ellipsis.IsValid(), left)
	case f.Sel.Name == "String" && len(call.Args) == 0:
		return g.str(f.X, left)
	}
	return "{}", false
}

// strFormat is what fmt.Sprintf gives.
func (g *goScan) strFormat(call *ast.CallExpr, left int) (text string, known bool) {
	format, known := g.str(call.Args[0], left)
	n := 0
	return goVerb.ReplaceAllStringFunc(format, func(verb string) string {
		n++
		if n >= len(call.Args) || verb[len(verb)-1] == 'd' {
			return "{}"
		}
		part, _ := g.str(call.Args[n], left)
		return part
	}), known
}

// strJoin joins parts of a path. Of a list nobody knows how many it has.
func (g *goScan) strJoin(parts []ast.Expr, list bool, left int) (text string, known bool) {
	if list {
		return "{}", false
	}
	for _, p := range parts {
		part, ok := g.str(p, left)
		text, known = joinPath(text, part), known || ok
	}
	return text, known
}
