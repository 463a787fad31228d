package code

import (
	"strings"

	"github.com/parley-mesh/parley/detect"
)

// module is what a string names as a module, "" for anything else.
func (s *scan) module(i int) string {
	if !s.is(i, "string") {
		return ""
	}
	return strings.Trim(s.text(i), "\"'")
}

// target is the name under which a unit refers to another module until more files are seen.
func target(module, name string) string { return "mod:" + module + "#" + name }

// bind notes that a local name stands for something of a module, and that the file imports it.
func (s *scan) bind(local, module, name string, at int) {
	s.unit.Imports = append(s.unit.Imports, detect.Binding{
		Local: local, Name: name, Module: module, Line: s.line(s.nodes[at].start),
	})
	if local != "" {
		s.bound[local] = bound{module, name}
	}
	if name != "" {
		s.refer(detect.Import, target(module, name), at)
	}
}

// scriptImports reads imports, requires and dynamic imports that are assigned to names.
func (s *scan) scriptImports() {
	for c := range s.within(0) {
		switch s.kind(c) {
		case "import_statement":
			s.importStatement(c)
		case "import_alias", "import_require_clause":
		case "export_statement":
			if from := s.module(s.child(c, "source")); from != "" {
				for e := range s.items(s.first(c, "export_clause")) {
					s.refer(detect.Import, target(from, s.text(s.child(e, "name"))), e)
				}
				if s.has(c, "*", "namespace_export") {
					s.refer(detect.Import, target(from, "*"), c)
				}
			}
		case "variable_declarator":
			if from := s.required(s.child(c, "value")); from != "" {
				s.requireInto(s.child(c, "name"), from)
			}
		}
	}
}

func (s *scan) importStatement(c int) {
	from := s.module(s.child(c, "source"))
	if req := s.first(c, "import_require_clause"); req >= 0 { // import x = require("y")
		if from = s.module(s.child(req, "source")); from != "" {
			s.bind(s.text(s.item(req, 0)), from, "*", req)
		}
		return
	}
	if from == "" {
		return
	}
	clause := s.first(c, "import_clause")
	if clause < 0 {
		s.bind("", from, "", c)
		return
	}
	for part := range s.items(clause) {
		switch s.kind(part) {
		case "identifier":
			s.bind(s.text(part), from, "default", part)
		case "namespace_import":
			s.bind(s.text(s.item(part, 0)), from, "*", part)
		case "named_imports":
			for spec := range s.items(part) {
				name, alias := s.text(s.child(spec, "name")), s.text(s.child(spec, "alias"))
				if alias == "" {
					alias = name
				}
				s.bind(alias, from, strings.Trim(name, `"'`), spec)
			}
		}
	}
}

// required is the module of require("x"), await import("x") or import("x"), "" for anything else.
func (s *scan) required(i int) string {
	if s.is(i, "await_expression") {
		i = s.item(i, 0)
	}
	if !s.is(i, "call_expression") {
		return ""
	}
	f := s.child(i, "function")
	if !s.is(f, "import") && s.text(f) != "require" {
		return ""
	}
	return s.module(s.item(s.child(i, "arguments"), 0))
}

func (s *scan) requireInto(name int, from string) {
	if s.is(name, "identifier") {
		s.bind(s.text(name), from, "*", name)
		return
	}
	for c := range s.items(name) {
		switch s.kind(c) {
		case "shorthand_property_identifier_pattern":
			s.bind(s.text(c), from, s.text(c), c)
		case "pair_pattern":
			if local := s.child(c, "value"); s.is(local, "identifier") {
				s.bind(s.text(local), from, s.text(s.child(c, "key")), c)
			}
		case "object_assignment_pattern": // { f = other }
			if local := s.text(s.child(c, "left")); local != "" {
				s.bind(local, from, local, c)
			}
		}
	}
}

// scriptScopes notes the names that functions, blocks and catches declare for themselves.
func (s *scan) scriptScopes() {
	for c := range s.within(0) {
		switch s.kind(c) {
		case "identifier", "shorthand_property_identifier_pattern":
			if s.declaring(c) {
				s.hideLocal(c)
			}
		}
	}
}

// declaring reports whether an identifier of a script is where a name is declared.
func (s *scan) declaring(i int) bool {
	for child, up := i, s.parent(i); up >= 0; child, up = up, s.parent(up) {
		switch s.kind(up) {
		case "required_parameter", "optional_parameter":
			return s.field(child) == "pattern"
		case "formal_parameters", "catch_clause":
			return s.is(up, "formal_parameters") || s.field(child) == "parameter"
		case "variable_declarator":
			return s.field(child) == "name"
		case "for_in_statement":
			return s.field(child) == "left" && s.has(up, "const", "let", "var")
		case "arrow_function":
			return s.field(child) == "parameter"
		case "function_declaration", "class_declaration", "generator_function_declaration", "function", "function_expression":
			return s.field(child) == "name"
		case "assignment_pattern", "object_assignment_pattern":
			if s.field(child) != "left" {
				return false
			}
		case "pair_pattern":
			if s.field(child) != "value" {
				return false
			}
		case "object_pattern", "array_pattern", "rest_pattern":
		default:
			return false
		}
	}
	return false
}

// hideLocal notes the scope of a declaration, and its type.
func (s *scan) hideLocal(i int) {
	scope := s.scopeOf(i)
	if scope > 0 {
		s.hide(s.text(i), scope)
	}
	s.scriptVariable(i, scope)
}

// scopeOf is the node in which a declaration counts, the whole file for one at its top.
func (s *scan) scopeOf(i int) int {
	variable := false
	for up := s.parent(i); up > 0; up = s.parent(up) {
		switch s.kind(up) {
		case "variable_declaration":
			variable = true // var belongs to the function, whatever blocks are in between
		case "statement_block", "for_statement", "for_in_statement", "class_static_block", "switch_body", "catch_clause":
			if !variable && !s.is(s.parent(up), "internal_module", "module") {
				return up
			}
		case "arrow_function", "function", "function_expression", "function_declaration", "method_definition",
			"generator_function", "generator_function_declaration":
			if s.child(up, "name") != i || s.is(up, "function", "function_expression") {
				return up
			}
		}
	}
	return 0
}

// scriptUses collects the uses of imported names and of the file's own.
func (s *scan) scriptUses() {
	s.scriptImports()
	s.inlineUses()
	s.topNames()
	for c := range s.within(0) {
		switch s.kind(c) {
		case "identifier", "type_identifier", "shorthand_property_identifier":
			s.scriptUse(c)
		case "property_identifier":
			s.ownMember(c)
			s.scriptMember(c)
		case "object":
			s.scriptMade(c)
		}
	}
}

// ownMember refers to a member of the class around: this.m.
func (s *scan) ownMember(c int) {
	up := s.parent(c)
	if !s.is(up, "member_expression") || !s.is(s.child(up, "object"), "this") {
		return
	}
	i := s.classAround(up)
	if i < 0 {
		return
	}
	if id := s.unit.Symbols[i].ID + "." + s.text(c); s.index[id] > 0 {
		kind := detect.TypeUse
		if s.field(up) == "function" {
			kind = detect.Call
		}
		s.refer(kind, id, c)
	}
}

func (s *scan) scriptUse(c int) {
	name := s.text(c)
	stands, imported := s.bound[name]
	own, declared := s.top[name]
	if !imported && !declared || s.is(s.parent(c), "import_specifier", "import_clause", "namespace_import", "export_specifier") ||
		s.hidden(name, c) || s.known != nil && declared && s.known[own].name == c || s.field(c) == "name" && !s.is(s.parent(c), "generic_type", "nested_type_identifier", "jsx_opening_element", "jsx_self_closing_element") {
		return
	}
	whole := c
	member := ""
	if up := s.parent(c); s.is(up, "member_expression") && s.field(c) == "object" && s.is(s.child(up, "property"), "property_identifier") {
		whole, member = up, s.text(s.child(up, "property"))
	} else if s.is(up, "nested_type_identifier", "nested_identifier") && s.child(up, "name") >= 0 {
		whole, member = up, s.text(s.child(up, "name"))
	}
	kind := s.useKind(whole)
	switch {
	case imported && stands.name == "*" && member != "":
		s.refer(kind, target(stands.module, member), c)
	case imported && stands.name == "":
	case imported && member != "" && stands.name != "default":
		s.refer(kind, target(stands.module, stands.name+"."+member), c)
	case imported:
		s.refer(kind, target(stands.module, stands.name), c)
	case member != "" && s.index[s.id(name+"."+member)] > 0:
		s.refer(kind, s.id(name+"."+member), c)
	default:
		s.refer(kind, s.unit.Symbols[own].ID, c)
	}
}

// useKind is how a name is used that a node is or ends in.
func (s *scan) useKind(i int) detect.ReferenceKind {
	up := s.parent(i)
	switch s.kind(up) {
	case "call_expression":
		if s.field(i) == "function" {
			return detect.Call
		}
	case "new_expression":
		if s.field(i) == "constructor" {
			return detect.Call
		}
	case "jsx_opening_element", "jsx_self_closing_element", "decorator":
		return detect.Call
	case "class_heritage", "extends_clause", "implements_clause", "extends_type_clause":
		return detect.Extend
	case "generic_type":
		return s.useKind(up)
	}
	return detect.TypeUse
}

// locals collects the names that a declaration makes for itself.
func (s *scan) locals(at int, into map[string]int) {
	for c := range s.within(at) {
		if s.identifier(c) && s.declares(c) {
			if name := s.text(c); into[name] == 0 {
				if _, ok := into[name]; !ok {
					into[name] = -1
				}
			}
		}
	}
}

// declares is declaring for the dialect at hand.
func (s *scan) declares(i int) bool {
	switch {
	case s.dialect.script():
		return s.declaring(i)
	case s.dialect == dialectPy:
		return s.binding(i)
	case s.dialect == dialectRust:
		return s.letting(i)
	case s.dialect == dialectJava:
		return s.javaLocal(i)
	}
	return false
}
