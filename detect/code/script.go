package code

import (
	"slices"
	"strings"

	"github.com/parley-mesh/parley/detect"
)

// holder is what declarations stand in: the file, a namespace, a class.
type holder struct {
	prefix   string // of qualified names, "" at the top
	id       string
	exported bool
	ambient  bool // in a declaration file or a declare block, where everything is exported
}

// script reads TypeScript and JavaScript.
func (s *scan) script() {
	s.scriptExports()
	top := holder{ambient: strings.HasSuffix(s.unit.Path, ".d.ts")}
	s.scriptBlock(0, top)
	s.scriptCommon()
	s.scriptScopes()
	s.scriptUses()
	s.scriptContracts()
}

// scriptExports collects the names in export lists, which may stand anywhere.
func (s *scan) scriptExports() {
	for c := range s.items(0) {
		if !s.is(c, "export_statement") {
			continue
		}
		from := s.module(s.child(c, "source"))
		if s.has(c, "*") && from != "" {
			s.unit.Exports = append(s.unit.Exports, detect.Binding{Local: "*", Name: "*", Module: from})
		}
		if ns := s.first(c, "namespace_export"); ns >= 0 {
			s.unit.Exports = append(s.unit.Exports, detect.Binding{Local: s.text(s.item(ns, 0)), Name: "*", Module: from})
		}
		for e := range s.items(s.first(c, "export_clause")) {
			name, alias := s.text(s.child(e, "name")), s.text(s.child(e, "alias"))
			if alias == "" {
				alias = name
			}
			s.unit.Exports = append(s.unit.Exports, detect.Binding{Local: alias, Name: name, Module: from})
			if from == "" {
				s.exports[name] = true
			}
		}
		if value := s.child(c, "value"); s.is(value, "identifier") {
			s.exports[s.text(value)] = true
			s.unit.Exports = append(s.unit.Exports, detect.Binding{Local: "default", Name: s.text(value)})
		}
	}
}

// scriptBlock reads the statements of a file or namespace.
func (s *scan) scriptBlock(block int, in holder) {
	for c := range s.items(block) {
		s.scriptStatement(c, c, in, in.ambient)
	}
}

// scriptStatement reads one statement; whole is the node that is taken for the declaration.
func (s *scan) scriptStatement(c, whole int, in holder, exported bool) {
	switch s.kind(c) {
	case "export_statement":
		s.exportStatement(c, in)
	case "ambient_declaration":
		in.ambient = true
		for d := range s.items(c) {
			s.scriptStatement(d, whole, in, exported || in.prefix != "")
		}
	case "expression_statement":
		for d := range s.items(c) {
			if s.is(d, "internal_module", "module") {
				s.scriptStatement(d, whole, in, exported)
			}
		}
	case "internal_module", "module":
		s.namespace(c, whole, in, exported)
	case "function_declaration", "generator_function_declaration", "function_signature":
		s.function(c, whole, in, exported)
	case "class_declaration", "abstract_class_declaration", "class":
		s.class(c, whole, in, exported)
	case "interface_declaration":
		s.interfaceOf(c, whole, in, exported)
	case "type_alias_declaration":
		s.typeAlias(c, whole, in, exported)
	case "enum_declaration":
		s.enum(c, whole, in, exported)
	case "lexical_declaration", "variable_declaration":
		for d := range s.items(c) {
			if s.is(d, "variable_declarator") {
				s.variable(d, in, exported)
			}
		}
	case "if_statement", "try_statement", "statement_block", "labeled_statement", "else_clause":
		// Declarations in blocks are seen only by the block, except var and functions of sloppy scripts.
	}
}

func (s *scan) exportStatement(c int, in holder) {
	if s.has(c, "default") {
		s.exportDefault(c, in)
		return
	}
	if d := s.child(c, "declaration"); d >= 0 {
		s.scriptStatement(d, d, in, true)
		return
	}
	for d := range s.items(c) { // export namespace, export declare
		if s.child(c, "source") < 0 && !s.is(d, "export_clause", "decorator") {
			s.scriptStatement(d, d, in, true)
		}
	}
}

// exportDefault declares #default unless the exported thing has a name, and then notes the alias.
func (s *scan) exportDefault(c int, in holder) {
	d := s.child(c, "declaration")
	if d < 0 {
		d = s.child(c, "value")
	}
	if d < 0 || s.is(d, "identifier") {
		return
	}
	if name := s.text(s.child(d, "name")); name != "" && s.is(d, "function_declaration", "generator_function_declaration",
		"class_declaration", "abstract_class_declaration", "interface_declaration", "function_signature", "class") {
		s.unit.Exports = append(s.unit.Exports, detect.Binding{Local: "default", Name: name})
		s.scriptStatement(d, d, in, true)
		return
	}
	sym := detect.Symbol{Kind: detect.Variable, Exported: true, Container: in.id}
	switch {
	case s.is(d, "class", "class_declaration", "abstract_class_declaration"):
		sym.Kind, sym.Signature = detect.Class, s.classSignature(d)
		i := s.declare(d, -1, sym, "default")
		s.classBody(s.child(d, "body"), holder{prefix: "default.", id: s.unit.Symbols[i].ID, exported: true})
		return
	case s.callable(d):
		sym.Kind, sym.Signature = detect.Function, s.callSignature(d)
	}
	s.declare(d, -1, sym, "default")
}

// callable reports whether a node is a function of some form.
func (s *scan) callable(i int) bool {
	return s.is(i, "arrow_function", "function", "function_expression", "function_declaration",
		"generator_function", "generator_function_declaration", "function_signature")
}

func (s *scan) namespace(c, whole int, in holder, exported bool) {
	name := s.child(c, "name")
	body := s.child(c, "body")
	if s.is(name, "string") { // declare module "x": it speaks of another module
		return
	}
	text := in.prefix + s.text(name)
	i := s.declare(whole, name, detect.Symbol{
		Kind: detect.Module, Container: in.id, Exported: s.visible(in, exported, s.text(name)),
	}, text)
	sym := s.unit.Symbols[i]
	s.scriptBlock(body, holder{prefix: text + ".", id: sym.ID, exported: sym.Exported, ambient: in.ambient})
}

// visible reports whether others can use a declaration.
func (s *scan) visible(in holder, exported bool, name string) bool {
	if in.prefix == "" {
		return exported || s.exports[name]
	}
	return exported && in.exported
}

func (s *scan) function(c, whole int, in holder, exported bool) {
	name := s.child(c, "name")
	if name < 0 {
		return
	}
	sym := detect.Symbol{
		Kind: detect.Function, Container: in.id, Exported: s.visible(in, exported, s.text(name)), Signature: s.callSignature(c),
	}
	s.overload(c, whole, name, sym, in.prefix+s.text(name))
}

// overload declares a function or method, or adds it to the set of overloads that it belongs to: signatures
// without a body, and the implementation right after them, whose own signature nobody can call.
func (s *scan) overload(c, whole, name int, sym detect.Symbol, qualified string) {
	last := len(s.unit.Symbols) - 1
	bare := s.child(c, "body") < 0
	if i, ok := s.index[s.id(qualified)]; ok && i == last && s.unit.Symbols[i].Kind == sym.Kind && s.bareSo(i) {
		s.join(i, whole)
		if bare {
			s.unit.Symbols[i].Signature.Overloads = append(s.unit.Symbols[i].Signature.Overloads, sym.Signature)
		}
		return
	}
	s.declare(whole, name, sym, qualified)
}

// bareSo reports whether no part of a symbol has a body yet.
func (s *scan) bareSo(i int) bool {
	return !slices.ContainsFunc(s.known[i].nodes, func(at int) bool { return s.child(at, "body") >= 0 })
}

func (s *scan) variable(d int, in holder, exported bool) {
	name, value := s.child(d, "name"), s.child(d, "value")
	if !s.is(name, "identifier") {
		for c := range s.within(name) { // destructuring declares every name in it
			if s.is(c, "identifier", "shorthand_property_identifier_pattern") && s.declaring(c) {
				s.declare(c, c, detect.Symbol{
					Kind: detect.Variable, Container: in.id, Exported: s.visible(in, exported, s.text(c)),
				}, in.prefix+s.text(c))
			}
		}
		return
	}
	text := s.text(name)
	sym := detect.Symbol{Kind: detect.Variable, Container: in.id, Exported: s.visible(in, exported, text)}
	if in.prefix == "" && value >= 0 {
		s.values[text] = value
	}
	object, wide := s.constantObject(value)
	switch {
	case s.callable(value):
		sym.Kind, sym.Signature = detect.Function, s.annotatedCall(d, value)
	case s.is(value, "class"):
		sym.Kind, sym.Signature = detect.Class, s.classSignature(value)
	default:
		sym.Signature.Result, sym.Signature.Bases = s.annotation(d, "type"), wide
	}
	if s.is(s.parent(d), "lexical_declaration") && s.has(s.parent(d), "const") && sym.Kind == detect.Variable {
		sym.Signature.Modifiers = []string{"const"}
	}
	if sym.Kind == detect.Function {
		sym.Signature.Text = signatureText(text+"()", sym.Signature)
	} else {
		sym.Signature.Text = signatureText(text, sym.Signature)
	}
	i := s.declare(d, name, sym, in.prefix+text)
	inner := holder{prefix: in.prefix + text + ".", id: s.unit.Symbols[i].ID, exported: sym.Exported}
	switch {
	case sym.Kind == detect.Class:
		s.classBody(s.child(value, "body"), inner)
	case object >= 0:
		deep := keysDeep
		if s.child(d, "type") >= 0 {
			deep = 0 // its type has the keys
		}
		s.objectKeys(object, inner, deep)
	}
}

// scriptCommon finds what CommonJS modules export.
func (s *scan) scriptCommon() {
	for c := range s.items(0) {
		assign := s.item(c, 0)
		if !s.is(c, "expression_statement") || !s.is(assign, "assignment_expression") {
			continue
		}
		left, right := s.child(assign, "left"), s.child(assign, "right")
		name := ""
		switch target := s.text(left); {
		case target == "module.exports":
			s.commonObject(right)
			continue
		case strings.HasPrefix(target, "module.exports."):
			name = strings.TrimPrefix(target, "module.exports.")
		case strings.HasPrefix(target, "exports."):
			name = strings.TrimPrefix(target, "exports.")
		}
		if name == "" || strings.ContainsAny(name, ".[(") {
			continue
		}
		s.commonExport(name, left, right, assign)
	}
}

// commonObject reads module.exports = { a, b: c, d() {} }, or = something.
func (s *scan) commonObject(right int) {
	if !s.is(right, "object") {
		if s.is(right, "identifier") {
			s.commonAlias("default", s.text(right))
		} else if right >= 0 {
			s.commonExport("default", -1, right, right)
		}
		return
	}
	for c := range s.items(right) {
		switch s.kind(c) {
		case "shorthand_property_identifier":
			s.commonAlias(s.text(c), s.text(c))
		case "pair":
			if key := s.child(c, "key"); s.is(key, "property_identifier") {
				s.commonExport(s.text(key), key, s.child(c, "value"), c)
			}
		case "method_definition":
			s.commonExport(s.text(s.child(c, "name")), s.child(c, "name"), c, c)
		}
	}
}

func (s *scan) commonAlias(exported, name string) {
	s.unit.Exports = append(s.unit.Exports, detect.Binding{Local: exported, Name: name})
	if i, ok := s.index[s.id(name)]; ok {
		s.unit.Symbols[i].Exported = true
	}
}

func (s *scan) commonExport(name string, left, right, whole int) {
	if s.is(right, "identifier") {
		s.commonAlias(name, s.text(right))
		return
	}
	sym := detect.Symbol{Kind: detect.Variable, Exported: true}
	if s.callable(right) || s.is(right, "method_definition") {
		sym.Kind, sym.Signature = detect.Function, s.callSignature(right)
	}
	if s.is(right, "class") {
		sym.Kind, sym.Signature = detect.Class, s.classSignature(right)
	}
	i := s.declare(whole, left, sym, name)
	if sym.Kind == detect.Class {
		s.classBody(s.child(right, "body"), holder{prefix: name + ".", id: s.unit.Symbols[i].ID, exported: true})
	}
}
