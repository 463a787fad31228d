package code

import (
	"slices"
	"strings"

	"github.com/parley-mesh/parley/detect"
)

// useTree reads the tree of a use declaration. Path is what stands before.
func (s *scan) useTree(i int, path []string, public bool) {
	bindTo := func(local string, parts []string, at int) {
		if len(parts) == 0 {
			return
		}
		module, name := strings.Join(parts[:len(parts)-1], "::"), parts[len(parts)-1]
		s.bind(local, module, name, at)
		if public {
			s.unit.Exports = append(s.unit.Exports, detect.Binding{Local: local, Name: name, Module: module})
		}
	}
	switch s.kind(i) {
	case "identifier", "crate", "super", "self":
		if s.is(i, "self") && len(path) > 0 { // use a::{self}
			bindTo(path[len(path)-1], path, i)
			return
		}
		bindTo(s.text(i), append(slices.Clone(path), s.text(i)), i)
	case "scoped_identifier":
		parts := append(slices.Clone(path), s.rustPath(i)...)
		bindTo(parts[len(parts)-1], parts, i)
	case "use_as_clause":
		parts := append(slices.Clone(path), s.rustPath(s.child(i, "path"))...)
		if parts[len(parts)-1] == "self" {
			parts = parts[:len(parts)-1]
		}
		bindTo(s.text(s.child(i, "alias")), parts, i)
	case "use_list":
		for c := range s.items(i) {
			s.useTree(c, path, public)
		}
	case "scoped_use_list":
		if p := s.child(i, "path"); p >= 0 {
			path = append(slices.Clone(path), s.rustPath(p)...)
		}
		s.useTree(s.child(i, "list"), path, public)
	case "use_wildcard":
		parts := append(slices.Clone(path), s.rustPath(s.item(i, 0))...)
		module := strings.Join(parts, "::")
		s.bind("", module, "*", i)
		if public {
			s.unit.Exports = append(s.unit.Exports, detect.Binding{Local: "*", Name: "*", Module: module})
		}
	}
}

// rustPath splits a::b::c.
func (s *scan) rustPath(i int) []string {
	return strings.Split(strings.ReplaceAll(s.plain(i), " ", ""), "::")
}

// letting reports whether an identifier is where a function of Rust binds a name.
func (s *scan) letting(i int) bool {
	for child, up := i, s.parent(i); up >= 0; child, up = up, s.parent(up) {
		switch s.kind(up) {
		case "let_declaration", "parameter", "let_condition", "for_expression":
			return s.field(child) == "pattern"
		case "closure_parameters":
			return true
		case "tuple_pattern", "ref_pattern", "mut_pattern", "reference_pattern", "slice_pattern", "captured_pattern":
		default:
			return false
		}
	}
	return false
}

// letOf is the let around a name, or the name itself where something else binds it.
func (s *scan) letOf(i int) int {
	for up := s.parent(i); up > 0 && !s.is(up, "block", "parameters", "closure_parameters"); up = s.parent(up) {
		if s.is(up, "let_declaration") {
			return up
		}
	}
	return i
}

func (s *scan) rustScope(i int) int {
	for up := s.parent(i); up > 0; up = s.parent(up) {
		if s.is(up, "block", "function_item", "closure_expression", "for_expression", "if_expression") {
			return up
		}
	}
	return -1
}

func (s *scan) rustUse(c int) {
	up := s.parent(c)
	if s.is(up, "scoped_identifier", "scoped_type_identifier", "use_as_clause", "use_list", "scoped_use_list", "use_declaration", "use_wildcard") ||
		s.field(c) == "name" && !s.is(up, "generic_type") || s.letting(c) {
		return
	}
	parts := s.rustPath(c)
	first := parts[0]
	kind := s.rustKind(c)
	switch {
	case len(parts) > 1 && slices.Contains([]string{"crate", "self", "super"}, first):
		s.refer(kind, target(strings.Join(parts[:len(parts)-1], "::"), parts[len(parts)-1]), c)
		return
	case first == "Self" && len(parts) > 1:
		if id := s.selfType(c); id != "" && hasKey(s.index, id+"."+parts[1]) {
			s.refer(kind, id+"."+parts[1], c)
		}
		return
	case s.hidden(first, c):
		return
	}
	if b, ok := s.bound[first]; ok {
		module, name := b.module, b.name
		switch rest := parts[1:]; {
		case name == "*" && len(rest) > 0:
			module, name = strings.Join(append([]string{module}, rest[:len(rest)-1]...), "::"), rest[len(rest)-1]
		case len(rest) > 0 && !upperFirst(name): // a module
			module, name = strings.Join(append([]string{module, name}, rest[:len(rest)-1]...), "::"), rest[len(rest)-1]
		case len(rest) > 0:
			name += "." + rest[0]
		}
		s.refer(kind, target(module, name), c)
		return
	}
	if own, ok := s.top[first]; ok && s.known[own].name != c {
		id := s.unit.Symbols[own].ID
		if len(parts) > 1 && hasKey(s.index, id+"."+parts[1]) {
			id += "." + parts[1]
		}
		s.refer(kind, id, c)
	}
}

func upperFirst(name string) bool { return name != "" && name[0] >= 'A' && name[0] <= 'Z' }

// selfType is the id of the type whose impl is around a node.
func (s *scan) selfType(i int) string {
	for up := i; up >= 0; up = s.parent(up) {
		if s.is(up, "impl_item") {
			return s.id(s.rustTypeName(s.child(up, "type")))
		}
	}
	return ""
}

func (s *scan) rustKind(i int) detect.ReferenceKind {
	switch up := s.parent(i); {
	case s.is(up, "call_expression") && s.field(i) == "function", s.is(up, "macro_invocation"):
		return detect.Call
	case s.is(up, "impl_item") && s.field(i) == "trait", s.is(up, "trait_bounds"):
		return detect.Extend
	}
	return detect.TypeUse
}
