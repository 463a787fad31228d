package code

import "strings"

// either is what one of two values is: what both are, or what can only be the query of a URL where it is there at all.
func (s *scan) either(one, other, left int) (text string, known bool) {
	a, ok := s.strIn(one, left-1)
	b, also := s.strIn(other, left-1)
	switch {
	case ok && also && a == b:
		return a, true
	case ok && also && queryOnly(a) && queryOnly(b):
		return max(a, b), false // of itself it is no path
	}
	return "{}", false
}

// queryOnly reports whether a text adds nothing to a path.
func queryOnly(text string) bool { return text == "" || text[0] == '?' || text[0] == '#' }

// property is the node of a property of a constant object or an enum: ROUTES.refunds, ROUTES["refunds"], also of nested ones;
// -1 if there is none.
func (s *scan) property(i, left int) int {
	object, name := s.child(i, "object"), s.propertyName(i)
	if left == 0 || name == "" {
		return -1
	}
	switch s.kind(object) {
	case "identifier":
		value, ok := s.values[s.text(object)]
		if !ok || s.hidden(s.text(object), object) {
			return -1
		}
		object = value
	case "member_expression", "subscript_expression":
		object = s.property(object, left-1)
	}
	return s.entry(s.unfrozen(object), name)
}

// propertyName is the name in a.b and a["b"], "" for anything else.
func (s *scan) propertyName(i int) string {
	if s.is(i, "subscript_expression") {
		if index := s.child(i, "index"); s.is(index, "string") {
			return strings.Trim(s.text(index), "\"'`")
		}
		return ""
	}
	return s.text(s.child(i, "property"))
}

// unfrozen looks behind what only says that an object is constant.
func (s *scan) unfrozen(object int) int {
	for range valuesMax {
		switch {
		case s.is(object, "as_expression", "satisfies_expression", "parenthesized_expression"):
			object = s.item(object, 0)
		case s.is(object, "type_assertion"):
			object = s.item(object, 1)
		case s.is(object, "call_expression") && s.text(s.child(object, "function")) == "Object.freeze":
			object = s.item(s.child(object, "arguments"), 0)
		default:
			return object
		}
	}
	return -1
}

// entry is the value of a key of an object literal or an enum, -1 if it has none.
func (s *scan) entry(object int, name string) int {
	for key, value := range s.entries(object) {
		if key == name {
			return value
		}
	}
	return -1
}

// entries goes over the keys of an object literal or an enum, with their values.
func (s *scan) entries(object int) func(yield func(string, int) bool) {
	if s.is(object, "enum_declaration") {
		object = s.child(object, "body")
	} else if !s.is(object, "object", "dictionary") {
		return func(func(string, int) bool) {}
	}
	return func(yield func(string, int) bool) {
		for c := range s.items(object) {
			key, value := "", c
			switch s.kind(c) {
			case "pair":
				key, value = strings.Trim(s.text(s.child(c, "key")), `"'`), s.child(c, "value")
			case "enum_assignment":
				key, value = strings.Trim(s.text(s.child(c, "name")), `"'`), s.child(c, "value")
			case "shorthand_property_identifier":
				key = s.text(c)
				if own, ok := s.values[key]; ok {
					value = own
				}
			case "method_definition":
				key = s.text(s.child(c, "name"))
			}
			if key != "" && !yield(key, value) {
				return
			}
		}
	}
}
