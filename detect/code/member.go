package code

import (
	"regexp"
	"strings"

	"github.com/parley-mesh/parley/detect"
)

// A member of a value is known where the value's type is written: x.m after x: T or x = new T(), this.f.m of a field of type T.

// memberMark begins the target of such a use as long as only its own file was seen: of:<module>#<type>.<member>.
const memberMark = "of:"

// variable is one declaration of a name: where the name stands for it, and its type, "" where none is written.
type variable struct {
	extent
	of string
}

// variablesMax is how many declarations of one name are told apart. Names of minified files have thousands.
const variablesMax = 64

// noteType notes the type of a declaration that counts within a node.
func (s *scan) noteType(name string, scope int, of string) {
	if list := s.variables[name]; len(list) <= variablesMax {
		s.variables[name] = append(list, variable{extent{s.nodes[scope].start, s.nodes[scope].end}, of})
	}
}

// typeAt is the type that is written for what a name stands for at a node, "" if there is none.
func (s *scan) typeAt(name string, at int) (of string) {
	list, where := s.variables[name], s.nodes[at].start
	if len(list) > variablesMax {
		return ""
	}
	inner := ^uint32(0)
	for _, v := range list {
		if size := v.end - v.start; v.start <= where && where < v.end && size <= inner {
			inner, of = size, v.of
		}
	}
	return of
}

// memberOf refers to a member of a type that is imported or declared in the file.
func (s *scan) memberOf(of, member string, kind detect.ReferenceKind, at int) {
	b, imported := s.bound[of]
	switch {
	case of == "" || member == "" || s.hidden(of, at):
	case imported && b.name != "" && b.name != "*":
		s.refer(kind, memberMark+b.module+"#"+b.name+"."+member, at)
	case imported:
	case s.index[s.id(of+"."+member)] > 0:
		s.refer(kind, s.id(of+"."+member), at)
	case s.dialect == dialectJava && !hasKey(s.index, s.id(of)): // of the package around
		s.refer(kind, memberMark+"#"+of+"."+member, at)
	}
}

// scriptVariable notes what is written of the type of a script's declaration, which counts within a scope.
func (s *scan) scriptVariable(i, scope int) {
	for up := s.parent(i); up > scope; up = s.parent(up) {
		switch s.kind(up) {
		case "function_type", "function_signature", "method_signature", "abstract_method_signature", "construct_signature", "call_signature":
			return // a parameter of something that has no body
		}
	}
	up, of := s.parent(i), ""
	if s.is(up, "required_parameter", "optional_parameter", "variable_declarator") {
		of = s.scriptType(s.item(s.child(up, "type"), 0))
	}
	if value := s.child(up, "value"); of == "" && s.is(up, "variable_declarator") && s.is(value, "new_expression") {
		of = s.text(s.child(value, "constructor"))
	}
	s.noteType(s.text(i), scope, of)
}

// scriptType is the name of a type, of the one beside null and undefined too, "" for all others.
func (s *scan) scriptType(i int) string {
	switch s.kind(i) {
	case "type_identifier":
		return s.text(i)
	case "generic_type":
		return s.text(s.child(i, "name"))
	case "union_type":
		of := ""
		for c := range s.items(i) {
			switch text := s.text(c); {
			case text == "null" || text == "undefined":
			case of != "":
				return ""
			default:
				of = s.scriptType(c)
			}
		}
		return of
	}
	return ""
}

var plainType = regexp.MustCompile(`^([A-Za-z_$][\w$]*)(?:<.*>)?(?: \| (?:null|undefined))*$`)

// scriptMember refers to the member that x.m, new X().m or this.f.m names, at the identifier m.
func (s *scan) scriptMember(c int) {
	up := s.parent(c)
	if !s.is(up, "member_expression") || s.field(c) != "property" {
		return
	}
	of := ""
	switch object := s.child(up, "object"); s.kind(object) {
	case "identifier":
		of = s.typeAt(s.text(object), object)
	case "new_expression":
		of = s.text(s.child(object, "constructor"))
	case "member_expression":
		if !s.is(s.child(object, "object"), "this") {
			return
		}
		if class := s.classAround(object); class >= 0 {
			field := s.index[s.unit.Symbols[class].ID+"."+s.text(s.child(object, "property"))]
			if m := plainType.FindStringSubmatch(s.unit.Symbols[field].Signature.Result); field > 0 && m != nil {
				of = m[1]
			}
		}
	}
	s.memberOf(of, s.text(c), s.useKind(up), c)
}

// classAround is the symbol of the class that a node stands in, -1 for none.
func (s *scan) classAround(i int) int {
	for at := i; at >= 0; at = s.parent(at) {
		if class, ok := s.owner[at]; ok && s.unit.Symbols[class].Kind == detect.Class {
			return class
		}
	}
	return -1
}

// scriptMade refers to a type and its fields where an object is made of it: const x: T = {…}, {…} satisfies T.
func (s *scan) scriptMade(object int) {
	up, of := s.parent(object), ""
	switch s.kind(up) {
	case "variable_declarator":
		of = s.scriptType(s.item(s.child(up, "type"), 0))
	case "satisfies_expression":
		of = s.scriptType(s.item(up, 1))
	}
	b, imported := s.bound[of]
	own, declared := s.top[of]
	switch {
	case of == "" || s.hidden(of, object):
		return
	case imported && b.name != "" && b.name != "*":
		s.refer(detect.Extend, target(b.module, b.name), object)
	case !imported && declared:
		s.refer(detect.Extend, s.unit.Symbols[own].ID, object)
	}
	for c := range s.items(object) {
		switch s.kind(c) {
		case "pair":
			s.memberOf(of, strings.Trim(s.text(s.child(c, "key")), `"'`), detect.TypeUse, c)
		case "shorthand_property_identifier":
			s.memberOf(of, s.text(c), detect.TypeUse, c)
		}
	}
}
