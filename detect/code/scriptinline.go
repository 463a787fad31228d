package code

import "github.com/parley-mesh/parley/detect"

// handedMax is how many nodes of functions that are given a module are looked at in a file: they may stand in each other.
const handedMax = 1 << 18

// inlineUses collects the uses of modules that are named where they are used: require("x").f(), (await import("x")).f(), the
// type import("x").T, import("x").then((m) => m.f()), and names taken out of a module that stands under a name: const { f } = ns.
func (s *scan) inlineUses() {
	s.budget = handedMax
	for c := range s.within(0) {
		switch s.kind(c) {
		case "member_expression":
			s.inlineUse(c)
		case "variable_declarator":
			s.takenOut(s.child(c, "name"), s.child(c, "value"))
		}
	}
}

// inlineUse refers to what a member of an import or require on the spot names.
func (s *scan) inlineUse(c int) {
	object, name := s.child(c, "object"), s.text(s.child(c, "property"))
	for s.is(object, "parenthesized_expression") {
		object = s.item(object, 0)
	}
	from := s.required(object)
	promise := s.is(s.child(object, "function"), "import")
	switch {
	case from == "" || name == "":
	case promise && name == "then":
		if call := s.parent(c); s.is(call, "call_expression") {
			s.handedModule(s.item(s.child(call, "arguments"), 0), from)
		}
	case promise && (name == "catch" || name == "finally"):
	default:
		s.refer(s.useKind(c), target(from, name), c)
		if local := s.child(s.parent(c), "name"); s.is(s.parent(c), "variable_declarator") && s.is(local, "identifier") {
			s.bind(s.text(local), from, name, local)
		}
	}
}

// handedModule refers to what a function does with the module that it is given.
func (s *scan) handedModule(function int, from string) {
	if !s.callable(function) {
		return
	}
	given := s.child(function, "parameter")
	if given < 0 {
		given = s.item(s.child(function, "parameters"), 0)
	}
	if s.is(given, "required_parameter", "optional_parameter") {
		given = s.child(given, "pattern")
	}
	if s.is(given, "object_pattern") {
		s.patternUses(given, from)
		return
	}
	name := s.text(given)
	for c := range s.within(function) {
		if !s.step() {
			return
		}
		up := s.parent(c)
		if s.is(c, "identifier") && s.text(c) == name && s.is(up, "member_expression") && s.field(c) == "object" && !s.renamedWithin(name, c, function) {
			s.refer(s.useKind(up), target(from, s.text(s.child(up, "property"))), c)
		}
	}
}

// renamedWithin reports whether something within a function gives a name another meaning at a node.
func (s *scan) renamedWithin(name string, at, function int) bool {
	where, outer := s.nodes[at].start, s.nodes[function]
	all := s.shadow[name]
	if all == nil {
		return false
	}
	if len(all.list) > variablesMax {
		return true // of names of minified files nobody knows
	}
	for _, e := range all.list {
		if e.start <= where && where < e.end && e.start >= outer.start && e.end <= outer.end && e.end-e.start < outer.end-outer.start {
			return true
		}
	}
	return false
}

// takenOut reads const { f } = ns, where ns stands for a module.
func (s *scan) takenOut(pattern, value int) {
	name := s.text(value)
	if b := s.bound[name]; s.is(pattern, "object_pattern") && s.is(value, "identifier") && b.name == "*" && !s.hidden(name, value) {
		if s.scopeOf(pattern) == 0 {
			s.requireInto(pattern, b.module)
		} else {
			s.patternUses(pattern, b.module)
		}
	}
}

// patternUses refers to the names that a pattern takes out of a module.
func (s *scan) patternUses(pattern int, from string) {
	for c := range s.items(pattern) {
		switch s.kind(c) {
		case "shorthand_property_identifier_pattern":
			s.refer(detect.Import, target(from, s.text(c)), c)
		case "pair_pattern":
			if key := s.memberName(s.child(c, "key")); key != "" {
				s.refer(detect.Import, target(from, key), c)
			}
		case "object_assignment_pattern": // { f = other }
			s.refer(detect.Import, target(from, s.text(s.child(c, "left"))), c)
		}
	}
}
