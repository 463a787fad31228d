package code

import (
	"slices"
	"strconv"
	"strings"

	"github.com/parley-mesh/parley/detect"
)

func (s *scan) class(c, whole int, in holder, exported bool) {
	name := s.child(c, "name")
	if name < 0 {
		return
	}
	text := s.text(name)
	sig := s.classSignature(c)
	sig.Text = signatureText("class "+text, sig)
	i := s.declare(whole, name, detect.Symbol{
		Kind: detect.Class, Container: in.id, Exported: s.visible(in, exported, text), Signature: sig,
	}, in.prefix+text)
	sym := s.unit.Symbols[i]
	s.classBody(s.child(c, "body"), holder{prefix: in.prefix + text + ".", id: sym.ID, exported: sym.Exported})
}

func (s *scan) classSignature(c int) detect.Signature {
	sig := detect.Signature{TypeParams: s.typeParams(c)}
	if s.is(c, "abstract_class_declaration") {
		sig.Modifiers = append(sig.Modifiers, "abstract")
	}
	sig.Modifiers = append(sig.Modifiers, s.decorators(c)...)
	slices.Sort(sig.Modifiers)
	for h := range s.items(s.first(c, "class_heritage")) {
		switch s.kind(h) {
		case "extends_clause", "implements_clause":
			for b := range s.items(h) {
				if s.is(b, "type_arguments") && len(sig.Bases) > 0 {
					sig.Bases[len(sig.Bases)-1] += s.typeText(b)
					continue
				}
				sig.Bases = append(sig.Bases, s.typeText(b))
			}
		default:
			sig.Bases = append(sig.Bases, s.typeText(h))
		}
	}
	return sig
}

// decorators are part of what a declaration is; they stand in it or before it.
func (s *scan) decorators(c int) (found []string) {
	for d := range s.children(c) {
		if s.is(d, "decorator") {
			found = append(found, s.plain(d))
		}
	}
	if up := s.parent(c); len(found) == 0 && s.is(up, "export_statement") {
		for d := range s.children(up) {
			if s.is(d, "decorator") {
				found = append(found, s.plain(d))
			}
		}
	}
	return found
}

func (s *scan) classBody(body int, in holder) {
	var decorators []string
	for c := range s.items(body) {
		if s.is(c, "decorator") {
			decorators = append(decorators, s.plain(c))
			continue
		}
		s.member(c, in, decorators)
		decorators = nil
	}
}

// member reads one member of a class, an interface or an object type.
func (s *scan) member(c int, in holder, decorators []string) {
	name := s.child(c, "name")
	if name < 0 {
		name = s.child(c, "property") // fields of JavaScript
	}
	text := s.memberName(name)
	sym := detect.Symbol{Container: in.id}
	switch s.kind(c) {
	case "method_definition", "method_signature", "abstract_method_signature":
		sym.Kind, sym.Signature = detect.Method, s.callSignature(c)
	case "public_field_definition", "field_definition", "property_signature":
		sym.Kind = detect.Field
		sym.Signature.Result = s.annotation(c, "type")
		if s.has(c, "?") {
			sym.Signature.Modifiers = append(sym.Signature.Modifiers, "optional")
		}
		if value := s.child(c, "value"); s.callable(value) {
			sym.Kind, sym.Signature = detect.Method, s.callSignature(value)
		}
	case "call_signature", "construct_signature", "index_signature":
		text = map[string]string{"call_signature": "()", "construct_signature": "new()", "index_signature": "[]"}[s.kind(c)]
		sym.Kind, sym.Signature = detect.Method, s.callSignature(c)
		if s.is(c, "index_signature") {
			sym.Signature = detect.Signature{Result: s.typeText(c)}
		}
	default:
		return
	}
	if text == "" {
		return // computed: whatever it is called, it is not told here
	}
	words := append(s.memberWords(c), decorators...)
	sym.Signature.Modifiers = tidyWords(append(sym.Signature.Modifiers, words...))
	hidden := strings.HasPrefix(text, "#") || slices.Contains(words, "private")
	sym.Exported = in.exported && !hidden
	if text == "constructor" {
		s.parameterFields(c, in)
	}
	called := text
	if sym.Kind == detect.Method {
		called += "()"
	}
	sym.Signature.Text = signatureText(called, sym.Signature)
	if s.has(c, "get", "set") && s.is(c, "method_definition", "method_signature") {
		s.accessor(c, name, sym, in.prefix+text)
		return
	}
	s.overload(c, c, name, sym, in.prefix+text)
}

// accessor joins a getter and a setter of one name to one field.
func (s *scan) accessor(c, name int, sym detect.Symbol, qualified string) {
	sym.Kind = detect.Field
	if s.has(c, "set") && len(sym.Signature.Params) > 0 {
		sym.Signature.Result = sym.Signature.Params[0].Type
	}
	sym.Signature.Params = nil
	if i, ok := s.index[s.id(qualified)]; ok && s.unit.Symbols[i].Kind == detect.Field && len(s.known[i].nodes) == 1 {
		have := &s.unit.Symbols[i].Signature
		if have.Result == "" {
			have.Result = sym.Signature.Result
		}
		have.Modifiers = tidyWords(append(have.Modifiers, sym.Signature.Modifiers...))
		s.join(i, c)
		return
	}
	s.declare(c, name, sym, qualified)
}

// parameterFields declares the fields that a constructor's parameters make.
func (s *scan) parameterFields(c int, in holder) {
	for p := range s.items(s.child(c, "parameters")) {
		words := s.memberWords(p)
		name := s.child(p, "pattern")
		if len(words) == 0 || !s.is(name, "identifier") {
			continue
		}
		s.declare(name, name, detect.Symbol{
			Kind: detect.Field, Container: in.id, Exported: in.exported && !slices.Contains(words, "private"),
			Signature: detect.Signature{Result: s.annotation(p, "type"), Modifiers: tidyWords(words)},
		}, in.prefix+s.text(name))
	}
}

// memberName is a member's name, "" for one that is computed.
func (s *scan) memberName(name int) string {
	switch s.kind(name) {
	case "property_identifier", "private_property_identifier", "number", "identifier":
		return s.text(name)
	case "string":
		return strings.Trim(s.text(name), `"'`)
	}
	return ""
}

// memberWords are the keywords that stand before a member.
func (s *scan) memberWords(c int) (words []string) {
	for w := range s.children(c) {
		switch k := s.kind(w); k {
		case "accessibility_modifier", "override_modifier":
			words = append(words, s.text(w))
		case "static", "readonly", "abstract", "get", "set":
			words = append(words, k)
		}
	}
	return words
}

// tidyWords puts modifiers in order; what says nothing is left out.
func tidyWords(words []string) []string {
	words = slices.DeleteFunc(words, func(w string) bool { return w == "public" || w == "override" })
	slices.Sort(words)
	return slices.Compact(words)
}

func (s *scan) interfaceOf(c, whole int, in holder, exported bool) {
	name := s.child(c, "name")
	text := s.text(name)
	sig := detect.Signature{TypeParams: s.typeParams(c)}
	for h := range s.items(s.first(c, "extends_type_clause", "extends_clause")) {
		sig.Bases = append(sig.Bases, s.typeText(h))
	}
	sig.Text = signatureText("interface "+text, sig)
	i := s.declare(whole, name, detect.Symbol{
		Kind: detect.Interface, Container: in.id, Exported: s.visible(in, exported, text), Signature: sig,
	}, in.prefix+text)
	s.members(s.child(c, "body"), i, in.prefix+text+".")
}

// members declares the members of a symbol's body.
func (s *scan) members(body, of int, prefix string) {
	sym := s.unit.Symbols[of]
	for m := range s.items(body) {
		s.member(m, holder{prefix: prefix, id: sym.ID, exported: sym.Exported}, nil)
	}
}

func (s *scan) typeAlias(c, whole int, in holder, exported bool) {
	name, value := s.child(c, "name"), s.child(c, "value")
	text := s.text(name)
	sig := detect.Signature{TypeParams: s.typeParams(c)}
	object := s.is(value, "object_type")
	if !object {
		sig.Result = s.typeText(value)
	}
	sig.Text = signatureText("type "+text, sig)
	i := s.declare(whole, name, detect.Symbol{
		Kind: detect.Type, Container: in.id, Exported: s.visible(in, exported, text), Signature: sig,
	}, in.prefix+text)
	if object {
		s.members(value, i, in.prefix+text+".")
	}
}

func (s *scan) enum(c, whole int, in holder, exported bool) {
	if in.prefix == "" {
		s.values[s.text(s.child(c, "name"))] = c
	}
	name := s.child(c, "name")
	text := s.text(name)
	i := s.declare(whole, name, detect.Symbol{
		Kind: detect.Enum, Container: in.id, Exported: s.visible(in, exported, text),
		Signature: detect.Signature{Text: "enum " + text},
	}, in.prefix+text)
	sym := s.unit.Symbols[i]
	base, n := "", 0 // the value that the next member is counted from
	for m := range s.items(s.child(c, "body")) {
		key, value := m, counted(base, n)
		if s.is(m, "enum_assignment") {
			key, value = s.child(m, "name"), s.plain(s.child(m, "value"))
			base, n = value, 0
		}
		n++
		if member := s.memberName(key); member != "" {
			s.declare(m, key, detect.Symbol{
				Kind: detect.Field, Container: sym.ID, Exported: sym.Exported, Signature: detect.Signature{Result: value},
			}, in.prefix+text+"."+member)
		}
	}
}

// counted is the value of a member that is written without one, n places after one of a value; after none the first is 0.
func counted(base string, n int) string {
	if first, err := strconv.Atoi(base); err == nil || base == "" {
		return strconv.Itoa(first + n)
	}
	return "(" + base + ") + " + strconv.Itoa(n) // whose number nobody knows
}
