package code

import (
	"go/ast"
	"go/token"
	"regexp"
	"slices"
	"strings"

	"github.com/parley-mesh/parley/detect"
)

// goRouters are parts of the paths of packages that have routers.
var goRouters = regexp.MustCompile(`/(?:chi|gin|echo|fiber|mux|httprouter|bunrouter)(?:/v[0-9]+)?$`)

var goMake = regexp.MustCompile(`^(?:New|NewRouter|NewMux|NewServeMux|Default|Classic)$`)

// goEnv are the routers that names stand for in one function.
type goEnv map[string]served

// goWalk reads the routes of one function.
type goWalk struct {
	*goScan
	function string // its name, which stands for the router that it is given or returns
	receiver string
	of       string
	done     map[*ast.CallExpr]bool
}

// contracts reads routes and requests.
func (g *goScan) contracts() {
	g.collectValues()
	g.constants()
	router := false
	for _, m := range g.imports {
		router = router || m == "net/http" || goRouters.MatchString(m)
	}
	if !router {
		return
	}
	for _, d := range g.syntax.Decls {
		w := &goWalk{goScan: g, done: map[*ast.CallExpr]bool{}}
		env := goEnv{}
		if f, ok := d.(*ast.FuncDecl); ok {
			w.enter(f, env)
		}
		w.walk(d, env)
	}
	slices.SortStableFunc(g.unit.Contracts, func(a, b detect.Contract) int { return int(a.Line) - int(b.Line) })
	slices.SortStableFunc(g.unit.References, func(a, b detect.Reference) int { return int(a.Line) - int(b.Line) })
}

// enter notes what a function is given.
func (w *goWalk) enter(f *ast.FuncDecl, env goEnv) {
	w.function = f.Name.Name
	if f.Recv != nil && len(f.Recv.List) > 0 {
		w.of, _, _ = receiverOf(f.Recv.List[0].Type)
		w.function = w.of + "." + w.function
		if names := f.Recv.List[0].Names; len(names) > 0 {
			w.receiver = names[0].Name
		}
	}
	for _, p := range list(f.Type.Params) {
		if of := (typeNames{}).text(p.Type); w.routerType(of) {
			for _, id := range p.Names {
				env[id.Name] = served{router: w.function, whole: goWhole(of)}
			}
		}
	}
}

// routerType reports whether a type is a router of one of the packages.
func (w *goWalk) routerType(of string) bool {
	pkg, name, ok := strings.Cut(strings.TrimPrefix(of, "*"), ".")
	module := w.imports[pkg]
	return ok && (goRouters.MatchString(module) || module == "net/http") &&
		slices.Contains([]string{"Router", "Mux", "ServeMux", "Engine", "RouterGroup", "IRouter", "IRoutes", "Echo", "Group", "App"}, name)
}

func (w *goWalk) walk(n ast.Node, env goEnv) {
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			w.assign(n, env)
		case *ast.ReturnStmt:
			for _, e := range n.Results {
				if at, sure := w.carried(e, env); sure && at.router != w.function && w.function != "" {
					w.mountAt(n.Pos(), at.router, served{router: w.function}, "")
				}
			}
		case *ast.CallExpr:
			if !w.done[n] {
				return w.call(n, env)
			}
		}
		return true
	})
}

// assign notes which router a name stands for.
func (w *goWalk) assign(n *ast.AssignStmt, env goEnv) {
	if len(n.Lhs) != len(n.Rhs) {
		return
	}
	for i, left := range n.Lhs {
		key := w.key(left)
		if key == "" {
			continue
		}
		if at, ok := w.servedBy(n.Rhs[i], env); ok {
			env[key] = at
		} else if at, sure := w.carried(n.Rhs[i], env); sure {
			env[handlerKey+key] = at
		} else if module := w.makes(n.Rhs[i]); module != "" {
			env[key] = served{router: w.function + "/" + key, whole: module == "net/http"}
		}
	}
}

// handlerKey begins the name of what serves a router and is none: nothing is added to it.
const handlerKey = "="

// key is how a router is named by an expression: r, s.router.
func (w *goWalk) key(e ast.Expr) string {
	switch x := e.(type) {
	case *ast.Ident:
		return x.Name
	case *ast.SelectorExpr:
		if id, ok := x.X.(*ast.Ident); ok {
			return id.Name + "." + x.Sel.Name
		}
	}
	return ""
}

// makes is the package whose router a call makes, "" for anything else.
func (w *goWalk) makes(e ast.Expr) (module string) {
	call, ok := e.(*ast.CallExpr)
	if !ok {
		return ""
	}
	module, name := w.calleeOf(call)
	if goMake.MatchString(name) && (goRouters.MatchString(module) || module == "net/http") {
		return module
	}
	return ""
}

// servedBy is the router that an expression stands for: a name, or a chain like r.Group("/v1").
func (w *goWalk) servedBy(e ast.Expr, env goEnv) (at served, ok bool) {
	switch x := e.(type) {
	case *ast.Ident, *ast.SelectorExpr:
		key := w.key(x)
		if at, ok = env[key]; ok || key == "" {
			return at, ok
		}
		if name, field, dotted := strings.Cut(key, "."); dotted && name == w.receiver && w.of != "" && w.routerField(field) {
			return served{router: w.of + "." + field, whole: goWhole(w.fieldType(field))}, true
		}
		if id, plain := x.(*ast.Ident); plain && !w.hidden(id) {
			if from := w.valueOf(id); from != nil && w.makes(from) != "" {
				return served{router: key, whole: w.makes(from) == "net/http"}, true
			}
		}
	case *ast.CallExpr:
		f, selector := x.Fun.(*ast.SelectorExpr)
		if !selector {
			return at, false
		}
		if at, ok = w.servedBy(f.X, env); !ok {
			return at, false
		}
		switch f.Sel.Name {
		case "Group", "PathPrefix", "Route", "Path":
			if len(x.Args) > 0 {
				text, _ := w.url(x.Args[0])
				at.prefix = below(at.prefix, text)
			}
			return at, true
		case "Subrouter", "With", "Use", "Methods", "Host", "Schemes", "StrictSlash", "Name", "Headers", "Queries":
			return at, true
		}
	}
	return served{}, false
}

// routerField reports whether a field of the receiver is a router: by its type, or by its name where the type
// is declared in another file.
func (w *goWalk) routerField(name string) bool {
	if of := w.fieldType(name); of != "" {
		return w.routerType(of)
	}
	return goField.MatchString(name)
}

// fieldType is the type of a field of the receiver as the file writes it, "" where its type is declared in another.
func (w *goWalk) fieldType(name string) string {
	if i, ok := w.index["sym:go:"+w.unit.Path+"#"+w.of+"."+name]; ok {
		return w.unit.Symbols[i].Signature.Result
	}
	return ""
}

var goField = regexp.MustCompile(`(?i)(?:mux|router|engine|echo|app|^r|group)$`)

// call looks at a call as a route, a mount or a request. It reports whether its parts are still to be looked at.
func (w *goWalk) call(c *ast.CallExpr, env goEnv) bool {
	f, ok := c.Fun.(*ast.SelectorExpr)
	if !ok {
		w.handOver(c, env)
		return true
	}
	if id, plain := f.X.(*ast.Ident); plain && w.imports[id.Name] != "" && !w.hidden(id) {
		w.packageCall(c, w.imports[id.Name], f.Sel.Name, env)
		return true
	}
	methods := []string(nil)
	inner, chained := f.X.(*ast.CallExpr)
	if f.Sel.Name == "Methods" && chained { // r.HandleFunc("/x", h).Methods("GET")
		if g, ok := inner.Fun.(*ast.SelectorExpr); ok && (g.Sel.Name == "HandleFunc" || g.Sel.Name == "Handle") {
			for _, a := range c.Args {
				methods = append(methods, w.methods(a)...)
			}
			w.done[inner] = true
			c, f = inner, g
		}
	}
	at, known := w.servedBy(f.X, env)
	if !known {
		w.handOver(c, env)
		w.clientCall(c, f)
		return true
	}
	return w.routerCall(c, f.Sel.Name, at, methods, env)
}

// routerCall reads one call of a method of a router.
func (w *goWalk) routerCall(c *ast.CallExpr, name string, at served, methods []string, env goEnv) bool {
	args := c.Args
	switch {
	case (name == "Route" || name == "Group") && len(args) > 0:
		if lit, ok := args[len(args)-1].(*ast.FuncLit); ok {
			w.inside(lit, at, args, env)
			return false
		}
		return true
	case (name == "Mount" || name == "Use") && len(args) > 1:
		text, _ := w.url(args[0])
		if inner, _ := w.carried(args[len(args)-1], env); inner.router != "" {
			w.mount(c, at, text, inner, true)
		}
		return true
	case (name == "Method" || name == "MethodFunc" || name == "Add" || name == "Handle" || name == "Match") && len(args) > 2:
		methods, args = w.methods(args[0]), args[1:]
	case name == "HandleFunc" || name == "Handle":
	case (name == "HandlerFunc" || name == "Handler") && len(args) == 1: // r.Path("/x").Methods("GET").HandlerFunc(h)
		w.handle(c, chainMethods(c, w), "", at, args, env)
		return true
	default:
		method, verb := verbs[strings.ToLower(name)]
		if !verb || len(args) < 2 {
			return true
		}
		methods = []string{method}
	}
	if len(args) < 2 {
		return true
	}
	text, known := w.url(args[0])
	if !known && text == "{}" {
		return true
	}
	method, path := goPattern(text)
	if method != "" && methods == nil { // Go 1.22
		methods = []string{method}
	}
	w.handle(c, methods, path, at, args[1:], env)
	return true
}

// goPattern splits a pattern of a router: "GET example.com/x/{$}".
func goPattern(text string) (method, path string) {
	if first, rest, ok := strings.Cut(text, " "); ok && verbs[strings.ToLower(first)] == first {
		method, text = first, strings.TrimSpace(rest)
	}
	if host := strings.IndexByte(text, '/'); host > 0 && !strings.ContainsAny(text[:host], "{:") {
		text = text[host:]
	}
	return method, strings.TrimSuffix(text, "{$}")
}

// methods are those that an argument names: one, or a list; "*" where they are not known.
func (w *goWalk) methods(e ast.Expr) (methods []string) {
	each := []ast.Expr{e}
	if lit, ok := e.(*ast.CompositeLit); ok {
		each = lit.Elts
	}
	for _, m := range each {
		text, known := w.str(m, valuesMax)
		if !known {
			return []string{"*"}
		}
		methods = append(methods, strings.ToUpper(text))
	}
	return methods
}

// chainMethods are the methods that a chain of calls names.
func chainMethods(c *ast.CallExpr, w *goWalk) (methods []string) {
	for e := ast.Expr(c); ; {
		call, ok := e.(*ast.CallExpr)
		if !ok {
			return methods
		}
		f, ok := call.Fun.(*ast.SelectorExpr)
		if !ok {
			return methods
		}
		if f.Sel.Name == "Methods" {
			for _, a := range call.Args {
				methods = append(methods, w.methods(a)...)
			}
		}
		e = f.X
	}
}

// handle reads what serves a path: a handler, or another router.
func (w *goWalk) handle(c *ast.CallExpr, methods []string, text string, at served, handlers []ast.Expr, env goEnv) {
	last := handlers[len(handlers)-1]
	if len(handlers) > 1 && w.echo() { // echo puts the middleware last
		last = handlers[0]
	}
	inner, sure := w.carried(last, env)
	if inner.router != "" {
		w.mount(c, at, text, inner, false)
	}
	if sure {
		return
	}
	if methods == nil {
		methods = []string{"*"}
	}
	for _, m := range methods {
		contract := route(m, below(at.prefix, text))
		contract.Router, contract.Path, contract.Line = at.router, w.unit.Path, w.line(c.Pos())
		contract.Handler, contract.Hash = w.handler(last)
		w.unit.Contracts = append(w.unit.Contracts, contract)
	}
}

func (w *goWalk) echo() bool {
	for _, m := range w.imports {
		if strings.Contains(m, "labstack/echo") {
			return true
		}
	}
	return false
}

// handler is the name of what serves a route, and the hash of what is written there.
func (w *goWalk) handler(e ast.Expr) (name string, hash uint64) {
	h := sumStart
	at, _ := slices.BinarySearchFunc(w.tokens, e.Pos(), func(t goToken, p token.Pos) int { return int(t.at) - int(p) })
	for ; at < len(w.tokens) && w.tokens[at].at < e.End(); at++ {
		h = h.add(w.tokens[at].text)
	}
	for {
		call, ok := e.(*ast.CallExpr)
		if !ok || len(call.Args) == 0 {
			break
		}
		e = call.Args[len(call.Args)-1] // http.HandlerFunc(h), auth(h)
	}
	return w.named(e), uint64(h)
}
