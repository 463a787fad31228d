package code

import (
	"go/ast"
	"go/token"
	"go/types"
	"regexp"
	"strconv"
	"strings"
)

// goValue is what a name is set to at a place.
type goValue struct {
	at   token.Pos
	in   ast.Decl // nil at the top of the file
	from ast.Expr
}

// collectValues notes what names are set to.
func (g *goScan) collectValues() {
	g.values = map[string][]goValue{}
	for _, d := range g.syntax.Decls {
		in := d
		if _, ok := d.(*ast.GenDecl); ok {
			in = nil
		}
		ast.Inspect(d, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.AssignStmt:
				for i, left := range n.Lhs {
					if id, ok := left.(*ast.Ident); ok {
						g.values[id.Name] = append(g.values[id.Name], goValue{n.End(), in, setTo(n.Rhs, i, len(n.Lhs))})
					}
					if field, ok := left.(*ast.SelectorExpr); ok && strings.HasSuffix(field.Sel.Name, "Path") { // of a URL, which is another now
						if id, ok := field.X.(*ast.Ident); ok {
							g.values[id.Name] = append(g.values[id.Name], goValue{n.End(), in, nil})
						}
					}
				}
			case *ast.ValueSpec:
				for i, id := range n.Names {
					if len(n.Values) > 0 {
						g.values[id.Name] = append(g.values[id.Name], goValue{n.End(), in, setTo(n.Values, i, len(n.Names))})
					}
				}
			}
			return true
		})
	}
}

// setTo is what one of several names is set to: the first of those that one call sets stands for the call, of the others nothing
// is known.
func setTo(values []ast.Expr, i, names int) ast.Expr {
	if len(values) == names || i == 0 {
		return values[i]
	}
	return nil
}

// valueOf is what a name is set to last before a place, nil if that is not known.
func (g *goScan) valueOf(id *ast.Ident) (from ast.Expr) {
	list := g.values[id.Name]
	for i := len(list) - 1; i >= 0; i-- {
		v := list[i]
		switch {
		case v.in == nil && from == nil:
			from = v.from
		case v.in != nil && v.at <= id.Pos() && v.in.Pos() <= id.Pos() && id.Pos() < v.in.End():
			return v.from
		}
	}
	return from
}

var goVerb = regexp.MustCompile(`%[-+# 0-9.]*[a-zA-Z]`)

// str is a string before the program runs, with {} for every part that is not known.
func (g *goScan) str(e ast.Expr, left int) (text string, known bool) {
	if left == valuesMax {
		g.budget = stepsMax
	}
	if g.budget--; left <= 0 || g.budget <= 0 {
		return "{}", false
	}
	return short(g.spelled(e, left))
}

// spelled is the text of an expression by its kind.
func (g *goScan) spelled(e ast.Expr, left int) (text string, known bool) {
	switch x := e.(type) {
	case *ast.BasicLit:
		if text, err := strconv.Unquote(x.Value); err == nil && x.Kind == token.STRING {
			return text, true
		}
	case *ast.ParenExpr:
		return g.str(x.X, left-1)
	case *ast.BinaryExpr:
		a, ok := g.str(x.X, left-1)
		b, also := g.str(x.Y, left-1)
		if x.Op == token.ADD {
			return a + b, ok || also
		}
	case *ast.Ident:
		if from := g.valueOf(x); from != nil && from.End() <= x.Pos() || from != nil && !g.hidden(x) {
			return g.str(from, left-1)
		}
		if !g.hidden(x) && !hasKey(g.index, "sym:go:"+g.unit.Path+"#"+x.Name) && types.Universe.Lookup(x.Name) == nil {
			return g.marked("", x.Name)
		}
	case *ast.SelectorExpr:
		id, ok := x.X.(*ast.Ident)
		if !ok || g.imports[id.Name] == "" || g.hidden(id) {
			return "{}", false
		}
		if method, ok := strings.CutPrefix(x.Sel.Name, "Method"); ok && g.imports[id.Name] == "net/http" {
			return strings.ToUpper(method), true
		}
		return g.marked(g.imports[id.Name], x.Sel.Name)
	case *ast.CallExpr:
		return g.strCall(x, left-1)
	case *ast.UnaryExpr:
		if x.Op == token.AND {
			return g.str(x.X, left-1)
		}
	case *ast.CompositeLit: // &url.URL{Path: "/x"}
		if module, of := g.typeName(x.Type); module == "net/url" && of == "URL" {
			for _, e := range x.Elts {
				if pair, ok := e.(*ast.KeyValueExpr); ok && g.fieldKey(pair) == "Path" {
					return g.str(pair.Value, left-1)
				}
			}
		}
	}
	return "{}", false
}
