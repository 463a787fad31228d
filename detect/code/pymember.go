package code

import (
	"regexp"

	"github.com/parley-mesh/parley/detect"
)

// pythonVariable notes the type of what is bound at an identifier: x: T, x: T = …, x = T(…). What a class binds its methods do not see.
func (s *scan) pythonVariable(i, scope int) {
	up, of := s.parent(i), ""
	if scope < 0 {
		for at := up; at > 0; at = s.parent(at) {
			if s.is(at, "class_definition") {
				return
			}
		}
		scope = 0
	}
	if s.is(up, "typed_parameter", "typed_default_parameter", "assignment") {
		of = pythonType(s.text(s.child(up, "type")))
	}
	if value := s.child(up, "right"); of == "" && s.is(up, "assignment") && s.field(i) == "left" {
		of = s.pythonMade(value)
	}
	s.noteType(s.text(i), scope, of)
}

// selfVariable notes the type of self.x: T = … and self.x = T(…), which all methods of the class see.
func (s *scan) selfVariable(assignment int) {
	left := s.child(assignment, "left")
	if !s.is(left, "attribute") || s.text(s.child(left, "object")) != "self" {
		return
	}
	of := pythonType(s.text(s.child(assignment, "type")))
	if of == "" {
		of = s.pythonMade(s.child(assignment, "right"))
	}
	for at := assignment; at > 0; at = s.parent(at) {
		if s.is(at, "class_definition") {
			if of != "" { // what is set to None first is declared where it gets its type
				s.noteType("self."+s.text(s.child(left, "attribute")), at, of)
			}
			return
		}
	}
}

// pythonMade is the class of Class(…), "" for any other value.
func (s *scan) pythonMade(value int) string {
	if f := s.child(value, "function"); s.is(value, "call") && s.is(f, "identifier") && upperFirst(s.text(f)) {
		return s.text(f)
	}
	return ""
}

var plainPython = regexp.MustCompile(`^["']?(?:Optional\[)?([A-Za-z_]\w*)\]?(?: \| None)?["']?$`)

// pythonType is the name of a type, of one that may be None too, "" for all others.
func pythonType(text string) string {
	if m := plainPython.FindStringSubmatch(text); m != nil {
		return m[1]
	}
	return ""
}

// pythonMember refers to the member that x.m, C().m or self.f.m names, at the identifier m.
func (s *scan) pythonMember(c, up int) {
	of := ""
	switch object := s.child(up, "object"); s.kind(object) {
	case "identifier":
		of = s.typeAt(s.text(object), object)
	case "call":
		of = s.pythonMade(object)
	case "attribute":
		if s.text(s.child(object, "object")) != "self" {
			return
		}
		name := s.text(s.child(object, "attribute"))
		if of = s.typeAt("self."+name, object); of != "" {
			break
		}
		if class := s.classAround(object); class >= 0 {
			if field := s.index[s.unit.Symbols[class].ID+"."+name]; field > 0 {
				of = pythonType(s.unit.Symbols[field].Signature.Result)
			}
		}
	}
	s.memberOf(of, s.text(c), s.pythonKind(up), c)
}

// wordInstance is the word for an attribute that only instances have.
const wordInstance = "instance"

// pythonAttributes declares the attributes that the methods of a class set on self, as far as the class does not declare them itself,
// and __dict__ where the methods set some whose names are not written.
func (s *scan) pythonAttributes(body int, in holder) {
	for c := range s.within(body) {
		if f := s.child(c, "function"); s.is(c, "call") && (s.text(f) == "setattr" || s.text(f) == "vars") {
			s.pythonAttribute(f, f, "__dict__", in)
		}
		if name := s.child(c, "attribute"); s.is(c, "attribute") && s.text(name) == "__dict__" {
			s.pythonAttribute(name, name, "__dict__", in)
			continue
		}
		if !s.is(c, "attribute") || s.text(s.child(c, "object")) != "self" || s.pythonClassOf(c) != body {
			continue
		}
		at := c
		for s.is(s.parent(at), "pattern_list", "tuple_pattern") {
			at = s.parent(at)
		}
		if s.is(s.parent(at), "assignment") && s.field(at) == "left" {
			name := s.child(c, "attribute")
			s.pythonAttribute(c, name, s.text(name), in)
		}
	}
}

// pythonClassOf is the body of the class around a node.
func (s *scan) pythonClassOf(i int) int {
	for at := i; at > 0; at = s.parent(at) {
		if s.is(s.parent(at), "class_definition") && s.field(at) == "body" {
			return at
		}
	}
	return -1
}

func (s *scan) pythonAttribute(at, name int, text string, in holder) {
	if s.seen[s.id(in.prefix+text)] > 0 || text == "" {
		return
	}
	s.declare(at, name, detect.Symbol{
		Kind: detect.Field, Container: in.id, Exported: in.exported && memberPublic(text),
		Signature: detect.Signature{Modifiers: []string{"default", wordInstance}, Result: s.pythonType(s.child(s.parent(at), "type"))},
	}, in.prefix+text)
}

// yields reports whether a function is a generator, or returns one that it writes down.
func (s *scan) yields(function int) bool {
	for c := range s.within(s.child(function, "body")) {
		if !s.is(c, "yield") && !(s.is(c, "generator_expression") && s.is(s.parent(c), "return_statement")) {
			continue
		}
		at := s.parent(c)
		for at >= 0 && !s.is(at, "function_definition", "lambda") {
			at = s.parent(at)
		}
		if at == function {
			return true
		}
	}
	return false
}
