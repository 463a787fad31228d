package code

import (
	"go/ast"
	"go/token"
	"go/types"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/parley-mesh/parley/detect"
)

var majorVersion = regexp.MustCompile(`^v[0-9]+$`)

// importsOf reads the imports and what they are called.
func (g *goScan) importsOf() {
	for _, spec := range g.syntax.Imports {
		module, err := strconv.Unquote(spec.Path.Value)
		if err != nil || module == "" {
			continue
		}
		name := path.Base(module)
		if majorVersion.MatchString(name) && path.Dir(module) != "." {
			name = path.Base(path.Dir(module))
		}
		name = strings.TrimPrefix(strings.TrimSuffix(name, "-go"), "go-")
		if at := strings.Index(name, ".v"); at > 0 {
			name = name[:at] // gopkg.in/yaml.v3
		}
		if spec.Name != nil {
			name = spec.Name.Name
		}
		g.unit.Imports = append(g.unit.Imports, detect.Binding{Local: name, Name: "*", Module: module, Line: g.line(spec.Pos())})
		if name != "_" && name != "." {
			g.imports[name] = module
		}
		g.refer(detect.Import, target(module, "*"), spec.Pos())
	}
}

func (g *goScan) refer(kind detect.ReferenceKind, to string, at token.Pos) {
	in := ""
	last, _ := slices.BinarySearchFunc(g.ranges, at+1, func(r goRange, p token.Pos) int { return int(r.from) - int(p) })
	for i := last - 1; i >= 0; i-- {
		if at < g.ranges[i].to {
			in = g.unit.Symbols[i].ID
			break
		}
	}
	g.unit.References = append(g.unit.References, detect.Reference{
		Kind: kind, Target: to, In: in, Path: g.unit.Path, Line: g.line(at),
	})
}

// scopes notes where functions declare names of their own.
func (g *goScan) scopes() {
	var stack []ast.Node
	ast.Inspect(g.syntax, func(n ast.Node) bool {
		if n == nil {
			stack = stack[:len(stack)-1]
			return true
		}
		switch n := n.(type) {
		case *ast.FuncDecl:
			g.hideFields(n, n.Recv, n.Type.Params, n.Type.Results, n.Type.TypeParams)
			if n.Recv != nil && len(n.Recv.List) > 0 {
				_, _, params := receiverOf(n.Recv.List[0].Type)
				for _, p := range params {
					g.shadow.add(p, uint32(n.Pos()), uint32(n.End()))
				}
			}
		case *ast.FuncLit:
			g.hideFields(n, n.Type.Params, n.Type.Results)
		case *ast.TypeSpec:
			g.hideFields(n, n.TypeParams)
			if scope := scopeOf(stack); scope != nil {
				g.hide(n.Name, n.Pos(), scope.End())
			}
		case *ast.AssignStmt:
			if n.Tok == token.DEFINE {
				g.hideExprs(stack, n.End(), n.Lhs...)
				g.noteValues(stack, n.End(), n.Lhs, nil, n.Rhs)
			}
		case *ast.RangeStmt:
			if n.Tok == token.DEFINE {
				g.hideExprs(append(stack, n), n.X.End(), n.Key, n.Value)
				g.noteValues(append(stack, n), n.X.End(), []ast.Expr{n.Key, n.Value}, nil, nil)
			}
		case *ast.ValueSpec:
			var names []ast.Expr
			for _, id := range n.Names {
				names = append(names, id)
			}
			g.hideExprs(stack, n.End(), names...)
			g.noteValues(stack, n.End(), names, n.Type, n.Values)
		}
		stack = append(stack, n)
		return true
	})
}

func (g *goScan) hideFields(in ast.Node, lists ...*ast.FieldList) {
	for _, l := range lists {
		for _, f := range list(l) {
			for _, id := range f.Names {
				g.hide(id, in.Pos(), in.End())
				g.noteType(id, in.Pos(), in.End(), f.Type)
			}
		}
	}
}

func (g *goScan) hideExprs(stack []ast.Node, from token.Pos, list ...ast.Expr) {
	scope := scopeOf(stack)
	if scope == nil {
		return
	}
	for _, e := range list {
		if id, ok := e.(*ast.Ident); ok {
			g.hide(id, id.Pos(), id.End())
			g.hide(id, from, scope.End())
		}
	}
}

func (g *goScan) hide(id *ast.Ident, from, to token.Pos) {
	if id.Name != "_" {
		g.shadow.add(id.Name, uint32(from), uint32(to))
	}
}

// scopeOf is the innermost node that names declared in it live in, nil at the top of the file.
func scopeOf(stack []ast.Node) ast.Node {
	for _, n := range slices.Backward(stack) {
		switch n.(type) {
		case *ast.BlockStmt, *ast.CaseClause, *ast.CommClause, *ast.IfStmt, *ast.ForStmt, *ast.RangeStmt,
			*ast.SwitchStmt, *ast.TypeSwitchStmt, *ast.FuncLit, *ast.FuncDecl:
			return n
		}
	}
	return nil
}

func (g *goScan) hidden(id *ast.Ident) bool {
	return g.shadow.hold(id.Name, uint32(id.Pos()))
}

// uses collects the uses of other packages and of the package's own names. Names in other files of the package
// are told apart from the language's own by not being those.
func (g *goScan) uses() {
	done := map[*ast.Ident]bool{g.syntax.Name: true}
	ast.Inspect(g.syntax, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ImportSpec:
			return false
		case *ast.FuncDecl:
			done[n.Name] = true
		case *ast.TypeSpec:
			done[n.Name] = true
		case *ast.Field:
			for _, id := range n.Names {
				done[id] = true
			}
		case *ast.ValueSpec:
			for _, id := range n.Names {
				done[id] = true
			}
		case *ast.CompositeLit:
			g.useFields(n)
		case *ast.KeyValueExpr:
			if id, ok := n.Key.(*ast.Ident); ok {
				done[id] = true // most often a field
			}
		case *ast.LabeledStmt:
			done[n.Label] = true
		case *ast.BranchStmt:
			if n.Label != nil {
				done[n.Label] = true
			}
		case *ast.CallExpr:
			g.use(n.Fun, detect.Call, done)
		case *ast.SelectorExpr, *ast.Ident:
			g.use(n.(ast.Expr), detect.TypeUse, done)
		}
		return true
	})
}

// useFields notes the fields that a literal of a named type sets.
func (g *goScan) useFields(lit *ast.CompositeLit) {
	module, of := "", ""
	switch t := lit.Type.(type) {
	case *ast.Ident:
		of = t.Name
		if g.hidden(t) || types.Universe.Lookup(of) != nil {
			return
		}
	case *ast.SelectorExpr:
		if id, ok := t.X.(*ast.Ident); ok && !g.hidden(id) {
			module, of = g.imports[id.Name], t.Sel.Name
		}
		if module == "" {
			return
		}
	default:
		return
	}
	for _, e := range lit.Elts {
		pair, ok := e.(*ast.KeyValueExpr)
		if !ok {
			return
		}
		if key, ok := pair.Key.(*ast.Ident); !ok {
			return // of a map or list
		} else if id := "sym:go:" + g.unit.Path + "#" + of + "." + key.Name; hasKey(g.index, id) {
			g.refer(detect.TypeUse, id, key.Pos())
		} else if module != "" || !hasKey(g.index, "sym:go:"+g.unit.Path+"#"+of) {
			to := target(module, of+"."+key.Name)
			if module == "" {
				to = g.own(of + "." + key.Name)
			}
			g.refer(detect.TypeUse, to, key.Pos())
		}
	}
}

// use notes one use, if the expression names something that is not a local's.
func (g *goScan) use(e ast.Expr, kind detect.ReferenceKind, done map[*ast.Ident]bool) {
	switch x := e.(type) {
	case *ast.IndexExpr:
		g.use(x.X, kind, done)
	case *ast.IndexListExpr:
		g.use(x.X, kind, done)
	case *ast.ParenExpr:
		g.use(x.X, kind, done)
	case *ast.SelectorExpr:
		id, ok := x.X.(*ast.Ident)
		if done[x.Sel] {
			return
		}
		done[x.Sel] = true
		switch {
		case !ok:
			g.fieldMember(x, kind)
		case g.imports[id.Name] != "" && !g.hidden(id):
			done[id] = true
			g.refer(kind, target(g.imports[id.Name], x.Sel.Name), x.Pos())
		default:
			module, of := g.typeAt(id)
			g.memberOf(module, of, x.Sel.Name, kind, x.Pos())
		}
	case *ast.Ident:
		if done[x] || x.Name == "_" || g.hidden(x) || types.Universe.Lookup(x.Name) != nil || g.imports[x.Name] != "" {
			return
		}
		done[x] = true
		if id := "sym:go:" + g.unit.Path + "#" + x.Name; hasKey(g.index, id) {
			g.refer(kind, id, x.Pos())
		} else {
			g.refer(kind, g.own(x.Name), x.Pos())
			for _, module := range g.dotted() {
				if x.IsExported() {
					g.refer(kind, target(module, x.Name), x.Pos())
				}
			}
		}
	}
}

func hasKey(m map[string]int, key string) bool {
	_, ok := m[key]
	return ok
}
