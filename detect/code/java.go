package code

import (
	"path"
	"slices"
	"strings"

	"github.com/parley-mesh/parley/detect"
)

// java reads a compilation unit of Java.
func (s *scan) java() {
	for c := range s.items(0) {
		if s.is(c, "import_declaration") {
			s.javaImport(c)
		} else {
			s.javaType(c, holder{exported: true})
		}
	}
	for c := range s.within(0) {
		if s.is(c, "identifier") && s.javaLocal(c) {
			scope := s.javaScope(c)
			s.hideAfter(c, c, scope)
			s.javaVariable(c, scope)
		}
	}
	s.topNames()
	for c := range s.within(0) {
		switch s.kind(c) {
		case "type_identifier":
			s.javaUse(c, s.text(c), s.javaKind(c))
		case "identifier":
			if !s.hidden(s.text(c), c) && s.field(c) != "name" || s.is(s.parent(c), "method_invocation") && s.child(s.parent(c), "object") < 0 {
				s.javaUse(c, s.text(c), s.javaKind(c))
			}
		case "method_invocation", "field_access":
			s.javaMember(c)
		}
	}
}

func (s *scan) javaImport(c int) {
	full := s.plain(s.first(c, "scoped_identifier"))
	if s.has(c, "asterisk") {
		s.unit.Imports = append(s.unit.Imports, detect.Binding{Name: "*", Module: full, Line: s.line(s.nodes[c].start)})
		return
	}
	at := strings.LastIndexByte(full, '.')
	if at < 0 {
		return
	}
	module, name := full[:at], full[at+1:]
	if s.has(c, "static") {
		if at = strings.LastIndexByte(module, '.'); at >= 0 {
			s.bind(name, module[:at], module[at+1:]+"."+name, c)
		}
		return
	}
	s.bind(name, module, name, c)
}

var javaKinds = map[string]detect.SymbolKind{
	"class_declaration": detect.Class, "interface_declaration": detect.Interface, "enum_declaration": detect.Enum,
	"record_declaration": detect.Class, "annotation_type_declaration": detect.Interface,
}

func (s *scan) javaType(c int, in holder) {
	kind, name := javaKinds[s.kind(c)], s.child(c, "name")
	if kind == 0 || name < 0 {
		return
	}
	text := s.text(name)
	words := s.javaWords(c, in)
	sym := detect.Symbol{Kind: kind, Container: in.id, Exported: in.exported && !slices.Contains(words, "private")}
	sym.Signature.Modifiers, sym.Signature.TypeParams = words, s.javaTypeParams(c)
	for _, field := range []string{"superclass", "interfaces"} {
		for b := range s.items(s.child(c, field)) {
			sym.Signature.Bases = append(sym.Signature.Bases, s.javaList(b)...)
		}
	}
	for b := range s.items(s.first(c, "extends_interfaces")) {
		sym.Signature.Bases = append(sym.Signature.Bases, s.javaList(b)...)
	}
	if s.is(c, "record_declaration") {
		sym.Signature.Params = s.javaParams(c)
	}
	sym.Signature.Text = signatureText(text, sym.Signature)
	i := s.declare(c, name, sym, in.prefix+text)
	s.javaBody(s.child(c, "body"), holder{
		prefix: in.prefix + text + ".", id: s.unit.Symbols[i].ID, exported: sym.Exported, ambient: kind == detect.Interface,
	})
}

func (s *scan) javaList(i int) (names []string) {
	if !s.is(i, "type_list", "interface_type_list") {
		return []string{s.plain(i)}
	}
	for t := range s.items(i) {
		names = append(names, s.plain(t))
	}
	return names
}

func (s *scan) javaBody(body int, in holder) {
	for c := range s.items(body) {
		switch s.kind(c) {
		case "method_declaration", "constructor_declaration", "annotation_type_element_declaration":
			s.javaMethod(c, in)
		case "field_declaration", "constant_declaration":
			words := s.javaWords(c, in)
			for d := range s.items(c) {
				if s.is(d, "variable_declarator") {
					s.declare(c, s.child(d, "name"), detect.Symbol{
						Kind: detect.Field, Container: in.id, Exported: in.exported && !slices.Contains(words, "private"),
						Signature: detect.Signature{Result: s.plain(s.child(c, "type")) + s.plain(s.child(d, "dimensions")), Modifiers: words},
					}, in.prefix+s.text(s.child(d, "name")))
				}
			}
		case "enum_constant":
			s.declare(c, s.child(c, "name"), detect.Symbol{
				Kind: detect.Field, Container: in.id, Exported: in.exported,
			}, in.prefix+s.text(s.child(c, "name")))
		case "enum_body_declarations":
			s.javaBody(c, in)
		default:
			s.javaType(c, in)
		}
	}
}

// javaMethod declares a method or constructor; those of one name are overloads.
func (s *scan) javaMethod(c int, in holder) {
	name := s.child(c, "name")
	text := s.text(name)
	if s.is(c, "constructor_declaration") {
		text = "constructor"
	}
	words := s.javaWords(c, in)
	sig := detect.Signature{
		TypeParams: s.javaTypeParams(c), Params: s.javaParams(c), Result: s.plain(s.child(c, "type")), Modifiers: words,
	}
	for t := range s.items(s.first(c, "throws")) {
		sig.Modifiers = append(sig.Modifiers, "throws "+s.plain(t))
	}
	if in.ambient && s.child(c, "body") >= 0 && !slices.Contains(sig.Modifiers, "default") {
		sig.Modifiers = append(sig.Modifiers, "default")
	}
	slices.Sort(sig.Modifiers)
	sig.Text = signatureText(text+"()", sig)
	sym := detect.Symbol{Kind: detect.Method, Container: in.id, Exported: in.exported && !slices.Contains(words, "private"), Signature: sig}
	if i, ok := s.index[s.id(in.prefix+text)]; ok && s.unit.Symbols[i].Kind == detect.Method {
		s.join(i, c)
		have := &s.unit.Symbols[i]
		have.Exported = have.Exported || sym.Exported
		have.Signature.Overloads = append(have.Signature.Overloads, sig)
		return
	}
	s.declare(c, name, sym, in.prefix+text)
}

// javaWords are the modifiers of a declaration, those of interfaces' members included.
func (s *scan) javaWords(c int, in holder) (words []string) {
	list := s.first(c, "modifiers")
	for w := range s.children(list) {
		switch k := s.kind(w); k {
		case "public", "protected", "private", "static", "abstract", "final", "default", "sealed", "non-sealed":
			words = append(words, k)
		case "annotation", "marker_annotation":
			if text := s.plain(w); text != "@Override" && !strings.HasPrefix(text, "@SuppressWarnings") {
				words = append(words, text)
			}
		}
	}
	if in.ambient && !slices.Contains(words, "public") && !slices.Contains(words, "private") {
		words = append(words, "public")
	}
	slices.Sort(words)
	return slices.Compact(words)
}

func (s *scan) javaParams(c int) (params []detect.Param) {
	for p := range s.items(s.child(c, "parameters")) {
		switch s.kind(p) {
		case "formal_parameter":
			params = append(params, detect.Param{Name: s.text(s.child(p, "name")), Type: s.plain(s.child(p, "type")) + s.plain(s.child(p, "dimensions"))})
		case "spread_parameter":
			param := detect.Param{Kind: detect.Variadic}
			for t := range s.items(p) {
				if s.is(t, "variable_declarator") {
					param.Name = s.text(s.child(t, "name"))
				} else if !s.is(t, "modifiers") {
					param.Type = s.plain(t)
				}
			}
			params = append(params, param)
		}
	}
	return params
}

func (s *scan) javaTypeParams(c int) (params []detect.Param) {
	for p := range s.items(s.child(c, "type_parameters")) {
		params = append(params, detect.Param{
			Name: s.text(s.first(p, "type_identifier", "identifier")), Type: s.plain(s.first(p, "type_bound")),
		})
	}
	return params
}

// javaLocal reports whether an identifier is where a method declares a name.
func (s *scan) javaLocal(i int) bool {
	up := s.parent(i)
	switch s.kind(up) {
	case "variable_declarator":
		return s.field(i) == "name" && s.is(s.parent(up), "local_variable_declaration", "spread_parameter", "resource")
	case "formal_parameter", "catch_formal_parameter", "enhanced_for_statement", "resource":
		return s.field(i) == "name"
	case "lambda_expression":
		return s.field(i) == "parameters"
	case "inferred_parameters":
		return true
	}
	return false
}

func (s *scan) javaScope(i int) int {
	for up := s.parent(i); up > 0; up = s.parent(up) {
		if s.is(up, "block", "method_declaration", "constructor_declaration", "lambda_expression", "enhanced_for_statement",
			"for_statement", "catch_clause", "try_with_resources_statement", "record_declaration") {
			return up
		}
	}
	return -1
}

func (s *scan) javaKind(i int) detect.ReferenceKind {
	switch up := s.parent(i); {
	case s.is(up, "method_invocation", "object_creation_expression"):
		return detect.Call
	case s.is(up, "superclass", "super_interfaces", "type_list", "extends_interfaces"):
		return detect.Extend
	}
	return detect.TypeUse
}

// javaUse refers to an imported class, a class of the file, a method of the class around, or, by a name that
// starts like a class's, to one of the package.
func (s *scan) javaUse(c int, name string, kind detect.ReferenceKind) {
	up := s.parent(c)
	if s.is(up, "scoped_identifier", "import_declaration", "package_declaration", "marker_annotation", "scoped_type_identifier") {
		return
	}
	member := ""
	if s.field(c) == "object" && s.is(up, "method_invocation", "field_access") {
		member = s.text(s.child(up, map[bool]string{true: "name", false: "field"}[s.is(up, "method_invocation")]))
	}
	own, declared := s.top[name]
	b, imported := s.bound[name]
	switch {
	case imported && member != "":
		s.refer(kind, target(b.module, b.name+"."+member), c)
	case imported:
		s.refer(kind, target(b.module, b.name), c)
	case declared && s.known[own].name != c:
		id := s.unit.Symbols[own].ID
		if member != "" && hasKey(s.index, id+"."+member) {
			id += "." + member
		}
		s.refer(kind, id, c)
	case declared:
	case s.is(up, "method_invocation") && s.field(c) == "name":
		for at := c; at >= 0; at = s.parent(at) {
			if i, ok := s.owner[at]; ok && hasKey(s.index, s.unit.Symbols[i].ID+"."+name) {
				s.refer(detect.Call, s.unit.Symbols[i].ID+"."+name, c)
				return
			}
		}
	case upperFirst(name) && !s.is(up, "type_parameter"):
		if member != "" {
			name += "." + member
		}
		s.refer(kind, target("", name), c)
	}
}

// javaPackage finds a class of the package around, "" if there is none: then the name is the language's own.
func (r *resolver) javaPackage(from *detect.Unit, name string) (id string, sure bool) {
	file := path.Join(folder(from.Path), firstName(name)+".java")
	if !r.has(file) {
		return "", false
	}
	return r.named(file, "java", name, linksMax)
}

// javaBeside is where a class of another package stands, if that is among the sources of the unit: the folder of the unit's own package
// says where those begin.
func (r *resolver) javaBeside(from *detect.Unit, module, class string) string {
	file := strings.ReplaceAll(module, ".", "/") + "/" + class + ".java"
	for dir := folder(from.Path); ; dir = folder(dir) {
		if at := path.Join(dir, file); r.has(at) {
			return "sym:java:" + at + "#" + class
		}
		if dir == "" {
			return ""
		}
	}
}
