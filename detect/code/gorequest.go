package code

import (
	"go/ast"
	"regexp"
	"slices"
	"strings"

	"github.com/parley-mesh/parley/detect"
)

// packageCall reads a call of a function of another package: http.HandleFunc, http.Get, http.NewRequest, or one
// that is given a router.
func (w *goWalk) packageCall(c *ast.CallExpr, module, name string, env goEnv) {
	args := c.Args
	switch {
	case module == "net/http" && (name == "HandleFunc" || name == "Handle") && len(args) == 2:
		w.routerCall(c, name, served{whole: true}, nil, env)
	case module == "net/http" && name == "StripPrefix" && len(args) == 2:
		w.strip(c, env)
	case module == "net/http" && (name == "Get" || name == "Post" || name == "Head" || name == "PostForm") && len(args) > 0:
		w.request(c, strings.ToUpper(strings.TrimSuffix(name, "Form")), args[0], true)
	case (module == "net/http" || module == "net/http/httptest") && name == "NewRequest" && len(args) > 1:
		w.request(c, w.method(args[0]), args[1], true)
	case (module == "net/http" || module == "net/http/httptest") && name == "NewRequestWithContext" && len(args) > 2:
		w.request(c, w.method(args[1]), args[2], true)
	default:
		w.handOver(c, env)
	}
}

func (w *goWalk) method(e ast.Expr) string {
	text, known := w.str(e, valuesMax)
	switch {
	case !known:
		return "*"
	case text == "":
		return "GET"
	}
	return strings.ToUpper(text)
}

var goClient = regexp.MustCompile(`(?i)(?:^|\.)\w*(?:client|http)$`)

// clientCall reads client.Get(url) and its like.
func (w *goWalk) clientCall(c *ast.CallExpr, f *ast.SelectorExpr) {
	switch f.Sel.Name {
	case "Get", "Post", "Head", "PostForm":
	default:
		return
	}
	if len(c.Args) == 0 {
		return
	}
	method := strings.ToUpper(strings.TrimSuffix(f.Sel.Name, "Form"))
	module, of := w.typeOf(f.X, valuesMax)
	switch field, isField := strings.CutSuffix(of, typeIs); {
	case module == "net/http" && of == "Client", isField && module == "" && goHTTPClient(w.unit, field):
		w.request(c, method, c.Args[0], true)
	case isField && module == "" && w.elsewhere(field):
		w.requestAt(c, method, mark(markClient, target("", field)), c.Args[0])
	case goClient.MatchString(w.key(f.X)):
		w.request(c, method, c.Args[0], false)
	}
}

// elsewhere reports whether what a name begins with is declared in another file of the package.
func (w *goWalk) elsewhere(name string) bool {
	first, _, _ := strings.Cut(name, ".")
	return !hasKey(w.index, "sym:go:"+w.unit.Path+"#"+first) && strings.Count(name, ".") == 1 && !strings.Contains(name, typeIs)
}

// goHTTPClient reports whether a field of a struct of a file is a client of HTTP.
func goHTTPClient(u *detect.Unit, field string) bool {
	i := slices.IndexFunc(u.Symbols, func(s detect.Symbol) bool { return s.ID == "sym:go:"+u.Path+"#"+field })
	if i < 0 || u.Symbols[i].Kind != detect.Field {
		return false
	}
	pkg, name, _ := strings.Cut(strings.TrimPrefix(u.Symbols[i].Signature.Result, "*"), ".")
	return name == "Client" && importOf(u, pkg) == "net/http"
}

// requestAt notes a request by what another file may say is a client.
func (w *goWalk) requestAt(c *ast.CallExpr, method, client string, url ast.Expr) {
	if text, known := w.url(url); known {
		w.refer(detect.Request, "url:"+method+" "+client+text, c.Pos())
		w.unit.References[len(w.unit.References)-1].Sure = true
	}
}

func (w *goWalk) request(c *ast.CallExpr, method string, url ast.Expr, sure bool) {
	text, known := w.url(url)
	if !known {
		return
	}
	to, tail, ok := "url:"+method+" "+text, false, true
	if !strings.ContainsRune(text, markOpen) { // [resolver.requestOf] knows the rest
		to, tail, ok = request(method, text)
	}
	if !ok {
		return
	}
	w.refer(detect.Request, to, c.Pos())
	last := &w.unit.References[len(w.unit.References)-1]
	last.Tail, last.Sure = tail, sure && !tail
}
