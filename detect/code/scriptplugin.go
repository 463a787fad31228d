package code

import (
	"bytes"
	"regexp"
	"slices"

	"github.com/parley-mesh/parley/detect"
)

// functionWith is the innermost function around a node that has a parameter of a name, -1 if there is none.
func (s *scan) functionWith(i int, name string) int {
	for up := s.parent(i); up >= 0; up = s.parent(up) {
		if !s.callable(up) && !s.is(up, "method_definition") {
			continue
		}
		if slices.ContainsFunc(s.scriptParams(up), func(p detect.Param) bool { return p.Name == name }) {
			return up
		}
	}
	return -1
}

var routerType = regexp.MustCompile(`^(?:Fastify|Hono|OpenAPIHono|Express|Elysia|Application|I?Router|express\.|Koa)`)

// paramRouter is a router that a function is given: by group or register where it stands, else by whoever
// calls the function, which then stands for the router.
func (s *scan) paramRouter(f int, name string, at served) (served, bool, bool) {
	if up := s.parent(f); s.is(up, "arguments") && s.is(s.parent(up), "call_expression") {
		outer := s.child(s.parent(up), "function")
		switch s.text(s.child(outer, "property")) {
		case "group", "register", "route", "guard":
			if into, sure, ok := s.servedBy(s.child(outer, "object")); ok {
				into.prefix = below(into.prefix, below(s.mountPrefixes(up)[0], at.prefix))
				return into, sure, true
			}
		}
	}
	typed := slices.ContainsFunc(s.scriptParams(f), func(p detect.Param) bool {
		return p.Name == name && routerType.MatchString(p.Type)
	})
	if !typed && !routerName.MatchString(name) && !s.registers(s.text(s.child(f, "name"))) {
		return at, false, false
	}
	at.router = s.holderOf(f)
	if own := s.text(s.child(f, "name")); own != "" {
		at.router = own
	}
	at.part = true
	return at, typed, at.router != ""
}

// holderOf is the name under which others get a function that has none: a variable's, or "default" for what a file exports alone, also through a
// call that only wraps it: fp(async (fastify) => …).
func (s *scan) holderOf(f int) string {
	up := s.parent(f)
	if s.is(up, "arguments") && s.is(s.parent(up), "call_expression") && s.is(s.child(s.parent(up), "function"), "identifier") {
		up = s.parent(s.parent(up))
	}
	switch s.kind(up) {
	case "variable_declarator":
		return s.text(s.child(up, "name"))
	case "export_statement":
		return "default"
	case "assignment_expression":
		switch to := s.text(s.child(up, "left")); to {
		case "module.exports", "exports.default", "module.exports.default":
			return "default"
		}
	}
	return ""
}

// registers reports whether the file gives a function of its own to some register.
func (s *scan) registers(function string) bool {
	at := []byte(".register(" + function)
	for rest := s.src; function != ""; {
		_, after, ok := bytes.Cut(rest, at)
		if !ok {
			return false
		}
		if len(after) > 0 && !wordy(after[0]) {
			return true
		}
		rest = after
	}
	return false
}
