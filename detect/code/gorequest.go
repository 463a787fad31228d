package code

import (
	"go/ast"
	"regexp"
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
		w.handOver(c, name, module, env)
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
	if key := w.key(f.X); len(c.Args) > 0 && goClient.MatchString(key) {
		w.request(c, strings.ToUpper(strings.TrimSuffix(f.Sel.Name, "Form")), c.Args[0], false)
	}
}

func (w *goWalk) request(c *ast.CallExpr, method string, url ast.Expr, sure bool) {
	text, known := w.str(url, valuesMax)
	if !known {
		return
	}
	to, tail, ok := request(method, text)
	if !ok {
		return
	}
	w.refer(detect.Request, to, c.Pos())
	last := &w.unit.References[len(w.unit.References)-1]
	last.Tail, last.Sure = tail, sure && !tail
}
