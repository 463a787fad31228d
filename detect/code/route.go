package code

import (
	"regexp"
	"strings"

	"github.com/parley-mesh/parley/detect"
)

// verbs are the methods of HTTP by what routers and clients call them.
var verbs = map[string]string{
	"get": "GET", "post": "POST", "put": "PUT", "patch": "PATCH", "delete": "DELETE", "del": "DELETE",
	"head": "HEAD", "options": "OPTIONS", "all": "*", "any": "*",
}

// pathParam is a part of a path that stands for many, in the forms that frameworks have: :id, :id(\d+), {id},
// {id:int}, {rest...}, <int:id>, [id], [...slug], [[...slug]], *, *rest.
var pathParam = regexp.MustCompile(`:([A-Za-z_]\w*)(?:\([^)]*\))?[?*+]?|\{([^{}]*)\}|<([^<>]*)>|\[\[?(?:\.\.\.)?([^\[\]]*)\]?\]|\*([A-Za-z_]\w*)?`)

// routePath is the normal form of a path: every part that is not known before the program runs is {}, no slash
// at the end, no query. Names are those of the parameters, in order.
func routePath(text string) (normal string, names []string) {
	text, _, _ = strings.Cut(text, "#")
	if at := strings.IndexByte(text, '?'); at >= 0 && !strings.HasSuffix(text[:at], ")") && !optionalParam(text[:at]) {
		text = text[:at]
	}
	var parts []string
	for part := range strings.SplitSeq(text, "/") {
		for _, found := range pathParam.FindAllStringSubmatch(part, -1) {
			names = append(names, paramName(found[1]+found[2]+found[3]+found[4]+found[5]))
		}
		if pathParam.MatchString(part) {
			part = "{}"
		}
		if part != "" {
			parts = append(parts, part)
		}
	}
	return "/" + strings.Join(parts, "/"), names
}

// optionalParam reports whether a path ends in a parameter, so that a question mark after it makes it optional.
func optionalParam(text string) bool {
	last := text[strings.LastIndexByte(text, '/')+1:]
	return strings.HasPrefix(last, ":") && !strings.ContainsAny(last[1:], ":")
}

// paramName takes the type away from a parameter: int:id, id:int, id..., path:rest.
func paramName(text string) string {
	text = strings.TrimPrefix(strings.TrimSuffix(text, "..."), "*")
	before, after, ok := strings.Cut(text, ":")
	if !ok {
		return text
	}
	switch before {
	case "int", "str", "string", "float", "path", "uuid", "slug", "any", "ymd", "alpha":
		return after
	}
	return before
}

// joinPath puts a prefix before a path.
func joinPath(prefix, rest string) string {
	if prefix == "" {
		return rest
	}
	return strings.TrimSuffix(prefix, "/") + "/" + strings.TrimPrefix(rest, "/")
}

// below is a path below a prefix. What begins with something that is not known leaves nothing known before it.
func below(prefix, rest string) string {
	if strings.HasPrefix(rest, "{}") {
		return rest
	}
	if to, ok := strings.CutPrefix(rest, string([]byte{markOpen, markConstant})); ok && prefix != "" {
		rest = string([]byte{markOpen, markLeading}) + to
	}
	return joinPath(prefix, rest)
}

// routeID is the id of a route.
func routeID(method, path string) string { return "http:" + method + " " + path }

// route makes the contract of a route whose path is as the file spells it.
func route(method, path string) detect.Contract {
	if strings.ContainsRune(path, markOpen) || strings.HasPrefix(path, "{}") { // [resolver.linked] knows the rest
		return detect.Contract{ID: "url:" + method + " " + path, Kind: detect.RouteContract}
	}
	normal, names := routePath(path)
	return detect.Contract{ID: routeID(method, normal), Kind: detect.RouteContract, Params: names}
}

// request is the target of an HTTP call to a URL in which {} stands for what is not known. Tail says that the
// base is one of those parts, or what the last part of the path goes on with: a query, most often, or more of the path.
func request(method, url string) (target string, tail, ok bool) {
	if at := strings.Index(url, "://"); at >= 0 {
		rest := url[at+3:]
		slash := strings.IndexByte(rest, '/')
		if slash < 0 {
			return "", false, false
		}
		url = rest[slash:]
	}
	if rest, cut := strings.CutPrefix(url, "{}"); cut {
		url, tail = rest, true
	}
	if !strings.HasPrefix(url, "/") {
		if tail || url == "" || strings.ContainsAny(url, " <>\"") {
			return "", false, false
		}
		url = "/" + url
	}
	path, _ := routePath(url)
	if word, open := strings.CutSuffix(url[strings.LastIndexByte(url, '/')+1:], "{}"); open && word != "" && !strings.ContainsAny(word, "{}?#") {
		tail = true
	}
	if strings.Trim(path, "/{}") == "" && (tail || path != "/") {
		return "", false, false // nothing of it is known
	}
	return routeID(method, path), tail, true
}
