package code

import (
	"slices"
	"strings"

	"github.com/parley-mesh/parley/detect"
)

// rust reads a module of Rust.
func (s *scan) rust() {
	s.rustItems(0, holder{})
	for c := range s.within(0) {
		if s.is(c, "use_declaration") {
			s.useTree(s.child(c, "argument"), nil, s.has(c, "visibility_modifier"))
		} else if s.is(c, "identifier") && s.letting(c) {
			s.hideAfter(c, s.letOf(c), s.rustScope(c))
		}
	}
	s.topNames()
	for c := range s.within(0) {
		if s.is(c, "identifier", "type_identifier", "scoped_identifier", "scoped_type_identifier") {
			s.rustUse(c)
		}
	}
}

// topNames notes the symbols at the top of the file by name; the first of a name stays.
func (s *scan) topNames() {
	for i := range s.unit.Symbols {
		if sym := &s.unit.Symbols[i]; sym.Container == "" {
			if name := nameOf(sym.ID); !hasKey(s.top, name) {
				s.top[name] = i
			}
		}
	}
}

func (s *scan) rustItems(block int, in holder) {
	var words []string // attributes stand before what they are about
	for c := range s.items(block) {
		if s.is(c, "attribute_item") {
			if text := s.plain(c); !strings.HasPrefix(text, "#[doc") && !strings.HasPrefix(text, "#[allow") {
				words = append(words, text)
			}
			continue
		}
		s.rustItem(c, in, words)
		words = nil
	}
}

// rustKinds are the kinds of items that are one symbol without members.
var rustKinds = map[string]detect.SymbolKind{
	"type_item": detect.Type, "const_item": detect.Variable, "static_item": detect.Variable, "associated_type": detect.Type,
	"function_item": detect.Function, "function_signature_item": detect.Function, "macro_definition": detect.Function,
}

func (s *scan) rustItem(c int, in holder, words []string) {
	name := s.child(c, "name")
	text := s.text(name)
	visibility := s.plain(s.first(c, "visibility_modifier"))
	sym := detect.Symbol{Container: in.id, Exported: visibility != "" && (in.prefix == "" || in.exported) || in.ambient && in.exported}
	if visibility != "" {
		words = append(words, visibility)
	}
	sym.Signature.TypeParams = s.rustTypeParams(c)
	switch k := s.kind(c); k {
	case "impl_item":
		s.rustImpl(c, in)
		return
	case "mod_item":
		s.rustModule(c, in, sym, words)
		return
	case "struct_item", "union_item":
		sym.Kind = detect.Type
	case "enum_item":
		sym.Kind = detect.Enum
	case "trait_item":
		sym.Kind = detect.Interface
		for b := range s.items(s.child(c, "bounds")) {
			sym.Signature.Bases = append(sym.Signature.Bases, s.plain(b))
		}
	default:
		if sym.Kind = rustKinds[k]; sym.Kind == 0 {
			return
		}
	}
	if text == "" {
		return
	}
	switch sym.Kind {
	case detect.Function:
		if s.is(c, "macro_definition") {
			sym.Exported = slices.Contains(words, "#[macro_export]")
			break
		}
		s.rustFunction(c, &sym, in)
	case detect.Variable, detect.Type:
		sym.Signature.Result = s.plain(s.child(c, "type"))
	}
	slices.Sort(words)
	sym.Signature.Modifiers = append(sym.Signature.Modifiers, words...)
	if sym.Kind != detect.Function && sym.Kind != detect.Method {
		sym.Signature.Text = signatureText(text, sym.Signature)
	}
	i := s.declare(c, name, sym, in.prefix+text)
	sym = s.unit.Symbols[i]
	sym.Test = sym.Test || slices.Contains(words, "#[test]")
	s.unit.Symbols[i].Test = sym.Test
	s.rustBody(s.child(c, "body"), holder{prefix: in.prefix + text + ".", id: sym.ID, exported: sym.Exported, ambient: sym.Kind != detect.Type})
}

func (s *scan) rustFunction(c int, sym *detect.Symbol, in holder) {
	sig := &sym.Signature
	for w := range s.children(s.first(c, "function_modifiers")) {
		sig.Modifiers = append(sig.Modifiers, s.plain(w))
	}
	for p := range s.items(s.child(c, "parameters")) {
		switch s.kind(p) {
		case "self_parameter":
			sig.Receiver = s.plain(p)
		case "parameter":
			sig.Params = append(sig.Params, detect.Param{Name: s.plain(s.child(p, "pattern")), Type: s.plain(s.child(p, "type"))})
		case "variadic_parameter":
			sig.Params = append(sig.Params, detect.Param{Kind: detect.Variadic})
		}
	}
	if in.id != "" {
		sym.Kind = detect.Method
		if sig.Receiver == "" {
			sig.Modifiers = append(sig.Modifiers, "static")
		}
		if s.is(s.parent(s.parent(c)), "trait_item") && s.child(c, "body") >= 0 {
			sig.Modifiers = append(sig.Modifiers, "default")
		}
	}
	slices.Sort(sig.Modifiers)
	sig.Result = s.plain(s.child(c, "return_type"))
	if where := s.first(c, "where_clause"); where >= 0 {
		sig.Bases = append(sig.Bases, s.plain(where))
	}
	sig.Text = signatureText(s.text(s.child(c, "name"))+"()", detect.Signature{TypeParams: sig.TypeParams, Params: sig.Params, Result: sig.Result})
}

func (s *scan) rustTypeParams(c int) (params []detect.Param) {
	for p := range s.items(s.child(c, "type_parameters")) {
		switch s.kind(p) {
		case "constrained_type_parameter":
			params = append(params, detect.Param{Name: s.text(s.child(p, "left")), Type: strings.TrimPrefix(s.plain(s.child(p, "bounds")), ": ")})
		case "optional_type_parameter":
			params = append(params, detect.Param{Name: s.plain(s.child(p, "name")), Optional: true})
		case "const_parameter":
			params = append(params, detect.Param{Name: s.text(s.child(p, "name")), Type: s.plain(s.child(p, "type"))})
		case "type_identifier", "lifetime":
			params = append(params, detect.Param{Name: s.text(p)})
		}
	}
	return params
}

// rustBody declares fields, variants and the items of traits.
func (s *scan) rustBody(body int, in holder) {
	switch s.kind(body) {
	case "declaration_list":
		s.rustItems(body, in)
	case "field_declaration_list", "enum_variant_list":
		for f := range s.items(body) {
			name := s.child(f, "name")
			if name < 0 {
				continue
			}
			sym := detect.Symbol{Kind: detect.Field, Container: in.id, Exported: in.exported && (in.ambient || s.has(f, "visibility_modifier"))}
			sym.Signature.Result = s.plain(s.child(f, "type"))
			if inner := s.child(f, "body"); inner >= 0 {
				sym.Signature.Result = s.plain(inner)
			}
			s.declare(f, name, sym, in.prefix+s.text(name))
		}
	case "ordered_field_declaration_list":
		n, public := 0, false
		for f := range s.items(body) {
			if s.is(f, "visibility_modifier") {
				public = true
				continue
			}
			if s.is(f, "attribute_item") {
				continue
			}
			s.declare(f, -1, detect.Symbol{
				Kind: detect.Field, Container: in.id, Exported: in.exported && public, Signature: detect.Signature{Result: s.plain(f)},
			}, in.prefix+string(rune('0'+min(n, 9))))
			n, public = n+1, false
		}
	}
}

// rustImpl declares the methods of a type; those of a trait's implementation stand below the trait's name.
func (s *scan) rustImpl(c int, in holder) {
	name := s.rustTypeName(s.child(c, "type"))
	if name == "" {
		return
	}
	prefix := in.prefix + name + "."
	id := s.id(in.prefix + name)
	exported := true
	if i, ok := s.index[id]; ok {
		exported = s.unit.Symbols[i].Exported
	}
	inner := holder{prefix: prefix, id: id, exported: exported}
	if trait := s.child(c, "trait"); trait >= 0 {
		inner.prefix += s.rustTypeName(trait) + "."
		inner.ambient = true
	}
	s.rustItems(s.child(c, "body"), inner)
}

func (s *scan) rustTypeName(i int) string {
	for {
		switch s.kind(i) {
		case "generic_type", "reference_type", "pointer_type":
			i = s.child(i, "type")
		case "scoped_type_identifier":
			i = s.child(i, "name")
		case "type_identifier", "primitive_type":
			return s.text(i)
		default:
			return ""
		}
	}
}

func (s *scan) rustModule(c int, in holder, sym detect.Symbol, words []string) {
	name := s.child(c, "name")
	body := s.child(c, "body")
	text := s.text(name)
	if body < 0 {
		s.bound[text] = bound{"self::" + text, "*"}
		s.unit.Exports = append(s.unit.Exports, detect.Binding{Local: text, Name: "*", Module: "self::" + text})
		return
	}
	sym.Kind = detect.Module
	i := s.declare(c, name, sym, in.prefix+text)
	from := len(s.unit.Symbols)
	s.rustItems(body, holder{prefix: in.prefix + text + ".", id: s.unit.Symbols[i].ID, exported: sym.Exported})
	for k := from; k < len(s.unit.Symbols); k++ {
		inner := &s.unit.Symbols[k]
		if inner.Container == s.unit.Symbols[i].ID && inner.Kind == detect.Method && inner.Signature.Receiver == "" {
			inner.Kind = detect.Function // of a module, not of a type
			inner.Signature.Modifiers = slices.DeleteFunc(inner.Signature.Modifiers, func(w string) bool { return w == "static" })
		}
		inner.Test = inner.Test || slices.Contains(words, "#[cfg(test)]")
	}
}
