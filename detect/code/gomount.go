package code

import (
	"go/ast"
	"go/token"
	"maps"
	"strconv"
	"strings"

	"github.com/parley-mesh/parley/detect"
)

// goWhole reports whether a router of a type sees whole URLs wherever it hangs.
func goWhole(of string) bool { return strings.HasSuffix(of, ".ServeMux") }

// calleeOf is the package and name of what a call calls, the package "" for all that is no function of one that is imported.
func (w *goWalk) calleeOf(call *ast.CallExpr) (module, name string) {
	f, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return "", ""
	}
	if id, ok := f.X.(*ast.Ident); ok && !w.hidden(id) {
		module = w.imports[id.Name]
	}
	return module, f.Sel.Name
}

// carried is the router in a handler, behind what is put around it: auth(mux), http.StripPrefix("/v1", mux). Sure says that it is one; else
// it is what a function gives, of which only the name is known.
func (w *goWalk) carried(e ast.Expr, env goEnv) (at served, sure bool) {
	return w.carriedIn(e, env, valuesMax)
}

func (w *goWalk) carriedIn(e ast.Expr, env goEnv, left int) (at served, sure bool) {
	if at, sure = w.servedBy(e, env); sure || left == 0 {
		return at, sure
	}
	if at, sure = env[handlerKey+w.key(e)]; sure {
		return at, true
	}
	switch x := e.(type) {
	case *ast.SelectorExpr:
		if x.Sel.Name == "ServeHTTP" {
			return w.carriedIn(x.X, env, left-1)
		}
	case *ast.CallExpr:
		module, name := w.calleeOf(x)
		if module == "net/http" && name == "StripPrefix" && len(x.Args) == 2 {
			at, sure = w.carriedIn(x.Args[1], env, left-1)
			if at.router == "" {
				return at, false
			}
			return served{router: w.stripping(x), whole: true, strips: x}, sure
		}
		for _, a := range x.Args {
			if at, sure = w.carriedIn(a, env, left-1); sure {
				return at, true
			}
		}
		if module != "net/http" {
			at = served{router: w.given(x)}
			at.whole = w.gives(at.router)
			return at, false
		}
	}
	return served{}, false
}

// given is the name of the function whose router a call gives.
func (w *goWalk) given(call *ast.CallExpr) string {
	name := w.named(call.Fun)
	if strings.HasPrefix(name, "sym:") {
		name = nameOf(name)
	}
	return name
}

// gives reports whether a function of the file gives a router that sees whole URLs.
func (w *goWalk) gives(function string) bool {
	i, ok := w.index["sym:go:"+w.unit.Path+"#"+function]
	return ok && goWhole(w.unit.Symbols[i].Signature.Result)
}

// stripping names what strips a prefix, as a router of its own.
func (w *goWalk) stripping(call *ast.CallExpr) string {
	return w.function + "/" + strconv.Itoa(w.file.Offset(call.Pos()))
}

// strip notes what http.StripPrefix(prefix, handler) serves.
func (w *goWalk) strip(call *ast.CallExpr, env goEnv) {
	if inner, _ := w.carried(call.Args[1], env); inner.router != "" {
		text, _ := w.url(call.Args[0])
		w.mountAt(call.Pos(), inner.router, served{router: w.stripping(call)}, text)
	}
}

// mount notes that a router serves what is below a path of another. Cut says that the outer one takes the path away, which
// only those do that understand it. What sees whole URLs has them in its own paths, and hangs below nothing.
func (w *goWalk) mount(c *ast.CallExpr, at served, text string, inner served, cut bool) {
	_, path := goPattern(text)
	local := strings.TrimRight(below(at.prefix, path), "/*")
	switch {
	case cut && !inner.whole:
		w.mountAt(c.Pos(), inner.router, at, text)
	case at.whole:
		w.mountAt(c.Pos(), inner.router, served{router: at.router}, "")
	case inner.strips == nil:
		w.mountAt(c.Pos(), inner.router, served{}, "")
	default:
		prefix, _ := w.url(inner.strips.Args[0])
		switch prefix = strings.TrimRight(prefix, "/"); {
		case strings.HasPrefix(local+"/", prefix+"/"):
			w.mountAt(c.Pos(), inner.router, served{router: at.router}, "")
		case strings.HasSuffix(prefix, local):
			w.mountAt(c.Pos(), inner.router, served{}, "")
		default:
			w.mountAt(c.Pos(), inner.router, served{}, "{}")
		}
	}
}

// inside walks a function that is given a part of a router.
func (w *goWalk) inside(lit *ast.FuncLit, at served, args []ast.Expr, env goEnv) {
	if len(args) > 1 { // chi's Group has no path
		text, _ := w.url(args[0])
		at.prefix = below(at.prefix, text)
	}
	inner := goEnv{}
	maps.Insert(inner, sorted(env))
	for _, p := range list(lit.Type.Params) {
		for _, id := range p.Names {
			inner[id.Name] = at
		}
	}
	w.walk(lit.Body, inner)
}

func (w *goWalk) mountAt(at token.Pos, router string, into served, prefix string) {
	w.unit.Mounts = append(w.unit.Mounts, detect.Mount{
		Prefix: below(into.prefix, prefix), Router: router, Into: into.router, Line: w.line(at),
	})
}

// handOver notes that a function is given a router: register(r.Group("/v1")), s.users.register(r).
func (w *goWalk) handOver(c *ast.CallExpr, env goEnv) {
	for _, a := range c.Args {
		if at, ok := w.servedBy(a, env); ok {
			if router := w.given(c); router != "" {
				w.mountAt(c.Pos(), router, at, "")
			}
		}
	}
}
