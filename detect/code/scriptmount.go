package code

import (
	"regexp"
	"slices"

	"github.com/parley-mesh/parley/detect"
)

// prefixName are names that people give to prefixes, where a handler could stand as well.
var prefixName = regexp.MustCompile(`^[\w.]*[A-Z]{2}[A-Z0-9_]*$|(?i:prefix|path|base|url|route|version)\w*$`)

// mountPrefixes are the prefixes in the arguments of a mount: strings that come first, or an option. One that is not known is {}.
func (s *scan) mountPrefixes(args int) []string {
	for a := range s.items(args) {
		if own := s.entry(a, "prefix"); s.is(a, "object") && own >= 0 {
			text, _ := s.url(own)
			return []string{text}
		}
	}
	first := s.item(args, 0)
	if s.item(args, 1) < 0 {
		return []string{""}
	}
	var prefixes []string
	for _, p := range s.each(first) {
		if prefix := s.mountPrefix(p); prefix != "" {
			prefixes = append(prefixes, prefix)
		}
	}
	if prefixes == nil {
		return []string{""}
	}
	return prefixes
}

// mountPrefix is one prefix, "" for middleware.
func (s *scan) mountPrefix(i int) string {
	named := i
	if s.is(i, "call_expression") {
		named = s.child(i, "function")
	}
	likely := s.is(named, "identifier", "member_expression") && prefixName.MatchString(s.text(named))
	if s.is(i, "identifier", "member_expression") && s.imported(i) != "" && !likely {
		return ""
	}
	text, known := s.url(i)
	if known || likely || s.is(i, "regex", "template_string", "binary_expression") {
		return text
	}
	return ""
}

// mount reads app.use("/v1", router), app.route("/v1", sub), app.register(plugin, { prefix }).
func (s *scan) mount(f, args int, name string) bool {
	if !slices.Contains([]string{"use", "route", "register", "mount", "group"}, name) {
		return false
	}
	into, _, ok := s.servedBy(s.child(f, "object"))
	if !ok {
		return false
	}
	var given []int
	for a := range s.items(args) {
		given = append(given, s.each(a)...)
	}
	prefixes := s.mountPrefixes(args)
	for _, a := range given {
		router, own := s.mountedRouter(a)
		for _, prefix := range prefixes {
			if router != "" {
				s.unit.Mounts = append(s.unit.Mounts, detect.Mount{
					Prefix: below(into.prefix, below(prefix, own)), Router: router, Into: into.router, Line: s.line(s.nodes[f].start),
				})
			}
		}
	}
	return true
}

// mountedRouter names what is given to a mount, "" for what is no router. Prefix is what this file gives a router of another.
func (s *scan) mountedRouter(a int) (router, prefix string) {
	for s.is(a, "call_expression") && s.is(s.child(a, "function"), "member_expression") && !s.makesRouter(a) {
		a = s.child(s.child(a, "function"), "object") // sub.routes()
	}
	if from := s.required(a); from != "" {
		return target(from, "default"), ""
	}
	if !s.is(a, "identifier") || s.functionWith(a, s.text(a)) >= 0 {
		return "", ""
	}
	if router = s.text(a); s.bound[router].module != "" {
		return routerOf(s.bound[router]), s.prefixed(a, router, "")
	}
	return router, ""
}

// routerOf names a router of another file. A whole module that is one is what the file exports alone: const users = require("./users").
func routerOf(b bound) string {
	if b.name == "*" {
		return target(b.module, "default")
	}
	return target(b.module, b.name)
}

// prefixed is the prefix of a router that was made with one, once Koa's router.prefix("/v1") was called: that gives it to the routes
// that the router has, and to those that it will have in place of its own.
func (s *scan) prefixed(at int, name, made string) string {
	if s.prefixes == nil {
		s.prefixes = map[string][]int{}
		for c := range s.within(0) {
			f := s.child(c, "function")
			if args := s.child(c, "arguments"); s.is(c, "call_expression") && s.is(f, "member_expression") && s.text(s.child(f, "property")) == "prefix" &&
				s.item(args, 0) >= 0 && s.item(args, 1) < 0 && s.is(s.child(f, "object"), "identifier") {
				s.prefixes[s.text(s.child(f, "object"))] = append(s.prefixes[s.text(s.child(f, "object"))], c)
			}
		}
	}
	later := ""
	for n, c := range s.prefixes[name] {
		object := s.child(s.child(c, "function"), "object")
		if n == valuesMax || s.hidden(name, object) != s.hidden(name, at) || s.functionWith(object, name) != s.functionWith(at, name) {
			continue
		}
		text, _ := s.url(s.item(s.child(c, "arguments"), 0))
		if s.nodes[c].end <= s.nodes[at].start {
			made = text
		} else {
			later = below(text, later)
		}
	}
	return below(later, made)
}

// openapiRoute reads app.openapi(createRoute({ method, path }), handler) of Hono's OpenAPI.
func (s *scan) openapiRoute(c int, at served, args []int) bool {
	if len(args) < 2 {
		return false
	}
	given := s.unwrap(args[0])
	if value := s.unwrap(s.valueOf(given, s.text(given))); s.is(given, "identifier") && value >= 0 {
		given = value
	}
	if to := s.imported(given); to != "" {
		s.addRoute(c, at, mark(markConstant, to+".method"), mark(markConstant, to+".path"), args[1:])
		return true
	}
	options := s.createdRoute(given)
	if text, known := s.url(s.entry(options, "path")); known {
		s.addRoute(c, at, s.methodOf(s.entry(options, "method")), text, args[1:])
		return true
	}
	return false
}

var routeMaker = regexp.MustCompile(`^(?:\w+\.)?createRoute$`)

// createdRoute is the description in createRoute({ method, path }), -1 for anything else.
func (s *scan) createdRoute(i int) int {
	f := s.child(i, "function")
	if !s.is(i, "call_expression") || s.nodes[f].end-s.nodes[f].start > 60 || !routeMaker.MatchString(s.text(f)) {
		return -1
	}
	return s.item(s.child(i, "arguments"), 0)
}
