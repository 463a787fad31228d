package code

import (
	"slices"
	"strings"

	"github.com/parley-mesh/parley/detect"
)

// What is read of the keys of a constant object: how deep, and how many of one object. More are a table rather than names.
const (
	keysDeep = 4
	keysMax  = 200
)

// wordSpread stands among the bases of a constant object that has keys which are not told.
const wordSpread = "..."

// constantObject is the object that a constant is set to, -1 for none, and what it takes in besides the keys that are written.
func (s *scan) constantObject(value int) (object int, wide []string) {
	for s.is(value, "as_expression", "satisfies_expression", "parenthesized_expression") || s.text(s.child(value, "function")) == "Object.freeze" {
		if s.is(value, "call_expression") {
			value = s.item(s.child(value, "arguments"), 0)
		} else {
			value = s.item(value, 0)
		}
	}
	if !s.is(value, "object") {
		return -1, nil
	}
	count := 0
	for c := range s.items(value) {
		if count++; s.is(c, "spread_element") || count > keysMax || s.is(s.child(c, "key"), "computed_property_name") {
			return value, []string{wordSpread}
		}
	}
	return value, nil
}

// objectKeys declares the keys of an object that is a constant, with those of objects in it as deep as left says; with 0 its
// functions alone. Values do not count, only that they are there.
func (s *scan) objectKeys(object int, in holder, left int) {
	count := 0
	for c := range s.items(object) {
		key, value := s.child(c, "name"), c
		switch s.kind(c) {
		case "pair":
			key, value = s.child(c, "key"), s.child(c, "value")
		case "shorthand_property_identifier":
			key = c
		}
		name := s.memberName(key)
		if s.is(c, "shorthand_property_identifier") {
			name = s.text(c)
		}
		if count++; name == "" || len(name) > 100 || strings.ContainsAny(name, ".#~: \t\n") {
			continue
		}
		sym := detect.Symbol{Kind: detect.Field, Container: in.id, Exported: in.exported}
		if s.callable(value) || s.is(value, "method_definition") && !s.has(value, "get", "set") {
			sym.Kind, sym.Signature = detect.Method, s.callSignature(value)
		} else if left == 0 || count > keysMax || s.seen[s.id(in.prefix+name)] > 0 {
			continue
		}
		inner, wide := s.constantObject(value)
		if sym.Kind == detect.Field {
			sym.Signature.Bases = wide
		}
		i := s.declare(c, key, sym, in.prefix+name)
		if inner >= 0 && left > 1 {
			s.objectKeys(inner, holder{prefix: in.prefix + name + ".", id: s.unit.Symbols[i].ID, exported: in.exported}, left-1)
		}
	}
}

// components are types of React for a function of one object.
var components = []string{"FC", "VFC", "FunctionComponent", "ComponentType"}

// annotatedCall is how a function is called that a constant is set to: by the constant's type, if it has one.
func (s *scan) annotatedCall(d, value int) detect.Signature {
	annotation := s.child(d, "type")
	of := s.item(annotation, 0)
	switch name := s.plain(s.child(of, "name")); {
	case annotation < 0 || of < 0:
		return s.callSignature(value)
	case s.is(of, "function_type"):
		return s.callSignature(of)
	case s.is(of, "generic_type") && slices.Contains(components, strings.TrimPrefix(name, "React.")):
		args := s.child(of, "type_arguments")
		return detect.Signature{Params: []detect.Param{{Name: "props", Type: s.typeText(s.item(args, 0))}}}
	}
	return detect.Signature{Modifiers: []string{wordTyped + s.typeText(of)}}
}
