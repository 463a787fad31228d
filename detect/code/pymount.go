package code

import (
	"strconv"

	"github.com/parley-mesh/parley/detect"
)

// prefixText is the prefix that an argument gives, "" if there is none, {} if it is not known.
func (s *scan) prefixText(i int) string {
	if i < 0 {
		return ""
	}
	text, _ := s.url(i)
	return text
}

// mountAt notes that a router hangs on another, which is the one that gets the list where the call stands in one.
func (s *scan) mountAt(c, router, prefix, object int) {
	text := s.prefixText(prefix)
	from, _ := s.pythonRouter(router)
	var into, outer string
	if object >= 0 && object != c {
		into, outer = s.pythonRouter(object)
	} else {
		into, outer, _ = s.hung(c)
	}
	if into != "" {
		s.unit.Mounts = append(s.unit.Mounts, detect.Mount{
			Prefix: below(outer, text), Router: from, Into: into, Line: s.line(s.nodes[c].start),
		})
	}
}

// ownPrefix notes the prefix that a blueprint is made with, which registering it can replace.
func (s *scan) ownPrefix(c, args int) {
	assign := s.parent(c)
	prefix := s.blueprintPrefix(args)
	if prefix != "" && s.is(assign, "assignment") {
		s.unit.Mounts = append(s.unit.Mounts, detect.Mount{
			Prefix: prefix, Router: s.text(s.child(assign, "left")), Into: ownPrefix, Line: s.line(s.nodes[c].start),
		})
	}
}

// blueprintPrefix is the prefix in the arguments of a blueprint or a group. A version of Sanic's stands before it, in a form of its own.
func (s *scan) blueprintPrefix(args int) string {
	prefix := s.prefixText(s.keyword(args, "url_prefix"))
	if v := s.keyword(args, "version"); v >= 0 && s.text(v) != "None" {
		return joinPath("{}", prefix)
	}
	return prefix
}

// isGroup reports whether a call is Sanic's Blueprint.group(…).
func (s *scan) isGroup(call int) bool {
	f := s.child(call, "function")
	object := s.child(f, "object")
	if !s.is(call, "call") || !s.is(f, "attribute") || s.text(s.child(f, "attribute")) != "group" {
		return false
	}
	if s.is(object, "attribute") {
		object = s.child(object, "attribute")
	}
	name := s.text(object)
	return name == "Blueprint" || s.bound[name].name == "Blueprint"
}

// groupName is the name of a group as a router: what it is assigned to, else its place.
func (s *scan) groupName(call int) string {
	if assign := s.parent(call); s.is(assign, "assignment") {
		return s.text(s.child(assign, "left"))
	}
	return "group/" + strconv.Itoa(int(s.nodes[call].start))
}

// blueprintGroup reads Blueprint.group(one, [two], url_prefix="/api"), whose prefix stands before that of each.
func (s *scan) blueprintGroup(c, args int) {
	if !s.isGroup(c) {
		return
	}
	name, line := s.groupName(c), s.line(s.nodes[c].start)
	inner := name + "/"
	s.unit.Mounts = append(s.unit.Mounts, detect.Mount{Prefix: s.blueprintPrefix(args), Router: inner, Into: name, Line: line})
	for a := range s.items(args) {
		each := []int{a}
		if s.is(a, "list", "tuple") {
			each = each[:0]
			for b := range s.items(a) {
				each = append(each, b)
			}
		}
		for _, b := range each {
			if s.is(b, "identifier", "attribute", "call") {
				router, _ := s.pythonRouter(b)
				s.unit.Mounts = append(s.unit.Mounts, detect.Mount{Router: router, Into: inner, Line: line})
			}
		}
	}
}
