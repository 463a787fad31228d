package code

import (
	"slices"
	"strings"

	"github.com/parley-mesh/parley/detect"
)

// pythonMakers make applications and routers. Those that make parts are served by another.
var pythonMakers = map[string]bool{
	"FastAPI": false, "Flask": false, "Starlette": false, "Quart": false, "Sanic": false, "Router": true, "APIRouter": true, "Blueprint": true,
}

// maker is the name of what a call makes, without its module and as its own module calls it.
func (s *scan) maker(call int) string {
	if !s.is(call, "call") {
		return ""
	}
	name := s.text(s.child(call, "function"))
	if b, ok := s.bound[name]; ok && b.name != "*" {
		return b.name
	}
	return name[strings.LastIndexByte(name, '.')+1:]
}

// routerPart reports whether a router is made to be served by another.
func (s *scan) routerPart(at int) bool {
	maker := s.maker(s.madeAs(at, s.text(at)))
	return pythonMakers[maker] || strings.HasSuffix(maker, "APIRouter") || strings.HasSuffix(maker, "Blueprint")
}

// pythonRouter is the name of a router, and the prefix that it was made with as far as this file says it. A router that
// a function makes and returns bears the function's name, one that an object keeps that of its class.
func (s *scan) pythonRouter(i int) (name, prefix string) {
	defer s.leave()
	if !s.enter() {
		return s.text(i), ""
	}
	switch s.kind(i) {
	case "identifier":
		name = s.text(i)
		if b, ok := s.bound[name]; ok && b.module != "" {
			return target(b.module, b.name), ""
		}
		made := s.madeAs(i, name)
		if s.isGroup(made) {
			return s.groupName(made), ""
		}
		prefix = s.prefixText(s.keyword(s.child(made, "arguments"), "prefix"))
		if f := s.returnedBy(i, name); f != "" {
			return f, prefix
		}
		if f := s.child(made, "function"); s.is(made, "call") && s.isFunction(f) {
			name, _ = s.pythonRouter(f) // what a function made
		}
		return name, prefix
	case "attribute":
		return s.routerMember(i), ""
	case "call":
		if s.isGroup(i) {
			return s.groupName(i), ""
		}
		if f := s.child(i, "function"); s.is(f, "identifier", "attribute") {
			return s.pythonRouter(f)
		}
	}
	return s.text(i), ""
}

// isFunction reports whether a name is one of a function rather than of a class, by the custom of Python.
func (s *scan) isFunction(i int) bool {
	name := s.text(i)
	name = name[strings.LastIndexByte(name, '.')+1:]
	return name != "" && name[0] >= 'a' && name[0] <= 'z'
}

// routerMember names refunds.router, shop.refunds.router, self.router and Refunds().router.
func (s *scan) routerMember(i int) string {
	object, member := s.child(i, "object"), s.text(s.child(i, "attribute"))
	if s.is(object, "call") {
		name, _ := s.pythonRouter(object)
		return name
	}
	whole := s.text(i)
	if first := s.text(object); first == "self" || first == "cls" {
		for up := s.parent(i); up >= 0; up = s.parent(up) {
			if s.is(up, "class_definition") {
				return s.text(s.child(up, "name"))
			}
		}
	}
	for at := strings.LastIndexByte(whole, '.'); at > 0; at = strings.LastIndexByte(whole[:at], '.') {
		if b, ok := s.bound[whole[:at]]; ok {
			to := whole[at+1:]
			if b.name != "*" {
				to = b.name + "." + to
			}
			return target(b.module, to)
		}
	}
	if made := s.madeAs(object, s.text(object)); s.is(object, "identifier") && s.is(made, "call") {
		if _, known := pythonMakers[s.maker(made)]; known && (member == "router" || member == "routes") {
			return s.text(object)
		}
		if f := s.child(made, "function"); !s.isFunction(f) {
			name, _ := s.pythonRouter(f)
			return name
		}
	}
	return whole
}

// returnedBy is the function around a node that returns what it calls by a name, "" if there is none.
func (s *scan) returnedBy(at int, name string) string {
	if !s.hidden(name, at) {
		return ""
	}
	for up := s.parent(at); up >= 0; up = s.parent(up) {
		if !s.is(up, "function_definition") {
			continue
		}
		if s.returned == nil {
			s.returned = map[int][]string{}
		}
		names, ok := s.returned[up]
		if !ok {
			for c := range s.within(s.child(up, "body")) {
				if s.is(c, "return_statement") && s.is(s.item(c, 0), "identifier") {
					names = append(names, s.text(s.item(c, 0)))
				}
			}
			s.returned[up] = names
		}
		if slices.Contains(names, name) {
			return s.text(s.child(up, "name"))
		}
	}
	return ""
}

// hung is where a route that stands in a list is served: the router that gets the list, below the mounts around it. Part says
// that another has to serve that router.
func (s *scan) hung(c int) (router, prefix string, part bool) {
	for up := s.parent(c); up >= 0; up = s.parent(up) {
		switch s.kind(up) {
		case "call":
			f := s.child(up, "function")
			switch name := s.maker(up); name {
			case "Mount", "mount":
				prefix = below(s.prefixText(s.argument(s.child(up, "arguments"), "path", 0)), prefix)
				if name == "mount" {
					router, outer := s.pythonRouter(s.child(f, "object"))
					return router, below(outer, prefix), false
				}
			case "append", "extend", "insert", "add_routes":
				router, outer := s.pythonRouter(s.child(f, "object"))
				return router, below(outer, prefix), s.routerPart(s.child(f, "object"))
			case "Starlette", "FastAPI":
				part = true
			}
		case "assignment", "augmented_assignment":
			router, outer := s.pythonRouter(s.child(up, "left"))
			return router, below(outer, prefix), !part
		case "function_definition", "class_definition":
			return "", prefix, false
		case "return_statement":
			for at := up; at >= 0; at = s.parent(at) {
				if s.is(at, "function_definition") {
					return s.text(s.child(at, "name")), prefix, !part
				}
			}
		}
	}
	return "", prefix, false
}

// looped is what an expression stands for: itself, or each value that the loop around it gives it. Place is which of several
// names of the loop it is, for those that go with it.
func (s *scan) looped(i int) (all []int) {
	if i < 0 {
		return []int{i}
	}
	for up := s.parent(i); s.is(i, "identifier") && up >= 0; up = s.parent(up) {
		if !s.is(up, "for_statement") {
			continue
		}
		left, right := s.child(up, "left"), s.child(up, "right")
		if s.is(right, "identifier") {
			right = s.madeAs(right, s.text(right))
		}
		if !s.is(right, "tuple", "list") {
			continue
		}
		place := -1
		n := 0
		for c := range s.items(left) {
			if s.text(c) == s.text(i) {
				place = n
			}
			n++
		}
		if place < 0 && s.text(left) != s.text(i) {
			continue
		}
		for c := range s.items(right) {
			if place >= 0 {
				c = s.item(c, place)
			}
			all = append(all, c)
		}
		return all
	}
	return []int{i}
}

// viewClass is the class of Flask's View.as_view("name"), "" for anything else.
func (s *scan) viewClass(i int) string {
	if s.is(i, "identifier") {
		i = s.madeAs(i, s.text(i))
	}
	f := s.child(i, "function")
	if !s.is(i, "call") || s.text(s.child(f, "attribute")) != "as_view" {
		return ""
	}
	switch object := s.child(f, "object"); s.kind(object) {
	case "identifier":
		return s.nameOf(s.text(object), "")
	case "attribute":
		return s.nameOf(s.text(s.child(object, "object")), s.text(s.child(object, "attribute")))
	}
	return ""
}

// classMethods is the list of methods in the body of a class of this file, -1 if there is none.
func (s *scan) classMethods(id string) int {
	i, ok := s.index[id+".methods"]
	if !ok {
		return -1
	}
	return s.child(s.known[i].nodes[0], "right")
}

// byHandler starts the method of a route that its handler decides: if that is a class, by the methods that it has. The
// rest of the word is the method if nothing is known of the handler.
const byHandler = "="

// methods are those of a route whose handler decides them, each with the symbol that serves it.
func (r *resolver) methods(method, handler string) map[string]string {
	standard, ok := strings.CutPrefix(method, byHandler)
	if !ok {
		return map[string]string{method: handler}
	}
	class := r.symbols[handler]
	if class == nil || class.Kind != detect.Class {
		return map[string]string{standard: handler}
	}
	all := map[string]string{}
	for verb, m := range verbs {
		if id := handler + "." + verb; r.symbols[id] != nil && m != "*" {
			all[m] = id
		}
	}
	if len(all) == 0 {
		all["*"] = handler // what it inherits, or a list
	}
	return all
}
