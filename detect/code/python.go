package code

import (
	"path"
	"slices"
	"strings"

	"github.com/parley-mesh/parley/detect"
)

// python reads a module of Python.
func (s *scan) python() {
	all, listed := s.dunderAll()
	s.pythonBlock(0, holder{}, func(name string) bool {
		if listed {
			return all[name]
		}
		return !strings.HasPrefix(name, "_")
	})
	s.pythonImports()
	for c := range s.within(0) {
		switch {
		case s.is(c, "assignment"):
			s.selfVariable(c)
		case s.is(c, "identifier") && s.binding(c):
			scope := s.pythonScope(c)
			if scope >= 0 {
				s.hide(s.text(c), scope)
			}
			s.pythonVariable(c, scope)
		}
	}
	s.pythonUses()
	s.pythonContracts()
}

// dunderAll collects the names of __all__, which may be set and added to.
func (s *scan) dunderAll() (names map[string]bool, listed bool) {
	names = map[string]bool{}
	for c := range s.items(0) {
		assign := s.item(c, 0)
		if !s.is(assign, "assignment", "augmented_assignment") || s.text(s.child(assign, "left")) != "__all__" {
			continue
		}
		listed = true
		for v := range s.within(s.child(assign, "right")) {
			if s.is(v, "string") {
				names[s.pythonString(v)] = true
				s.unit.Exports = append(s.unit.Exports, detect.Binding{Local: s.pythonString(v), Name: s.pythonString(v)})
			}
		}
	}
	return names, listed
}

// pythonString is the content of a plain string.
func (s *scan) pythonString(i int) string {
	text := strings.TrimLeft(s.text(i), "rRbBuUfF")
	for _, quote := range []string{`"""`, "'''", `"`, "'"} {
		if inner, ok := strings.CutPrefix(text, quote); ok {
			return strings.TrimSuffix(inner, quote)
		}
	}
	return ""
}

func (s *scan) pythonBlock(block int, in holder, exported func(string) bool) {
	for c := range s.items(block) {
		switch s.kind(c) {
		case "function_definition":
			s.pythonFunction(c, c, in, exported, nil)
		case "class_definition":
			s.pythonClass(c, c, in, exported, nil)
		case "decorated_definition":
			var decorators []string
			for d := range s.children(c) {
				if s.is(d, "decorator") {
					decorators = append(decorators, s.plain(d))
				}
			}
			switch d := s.child(c, "definition"); s.kind(d) {
			case "function_definition":
				s.pythonFunction(d, c, in, exported, decorators)
			case "class_definition":
				s.pythonClass(d, c, in, exported, decorators)
			}
		case "expression_statement":
			s.pythonAssign(s.item(c, 0), in, exported)
		case "type_alias_statement":
			s.pythonAlias(c, in, exported)
		case "if_statement", "try_statement", "with_statement": // declared on some condition, but declared
			for b := range s.within(c) {
				if up := s.parent(b); s.is(b, "block") && (up == c || s.parent(up) == c) {
					s.pythonBlock(b, in, exported)
				}
			}
		}
	}
}

func (s *scan) pythonFunction(d, whole int, in holder, exported func(string) bool, decorators []string) {
	s.wantBody(d)
	name := s.child(d, "name")
	text := s.text(name)
	if text == "" {
		return
	}
	sym := detect.Symbol{Kind: detect.Function, Container: in.id, Exported: exported(text)}
	sig := detect.Signature{
		TypeParams: s.pythonTypeParams(d), Params: s.pythonParams(s.child(d, "parameters")),
		Result: s.pythonType(s.child(d, "return_type")),
	}
	if s.has(d, "async") {
		sig.Modifiers = append(sig.Modifiers, "async")
	}
	if s.yields(d) {
		sig.Modifiers = append(sig.Modifiers, "generator")
	}
	last := func(w string) string { return w[strings.LastIndexAny(w, "@.")+1:] }
	kept := slices.DeleteFunc(slices.Clone(decorators), func(w string) bool { return last(w) == "overload" })
	sig.Modifiers = tidyWords(append(sig.Modifiers, kept...))
	if in.id != "" {
		sym.Kind, sym.Exported = detect.Method, in.exported && memberPublic(text)
		if !slices.Contains(sig.Modifiers, "@staticmethod") && len(sig.Params) > 0 {
			sig.Receiver, sig.Params = sig.Params[0].Name, sig.Params[1:]
		}
	}
	sig.Text = signatureText(text+"()", sig)
	sym.Signature = sig
	property := slices.ContainsFunc(decorators, func(w string) bool {
		return slices.Contains([]string{"property", "cached_property", "setter", "getter", "deleter"}, last(w))
	})
	if property {
		sym.Kind = detect.Field
	}
	overloaded := len(kept) < len(decorators)
	qualified := in.prefix + text
	if i, ok := s.index[s.id(qualified)]; ok && i == len(s.unit.Symbols)-1 && s.unit.Symbols[i].Kind == sym.Kind {
		have := &s.unit.Symbols[i].Signature
		switch {
		case property:
			s.join(i, whole)
			return
		case overloaded || s.hasOverload(i):
			s.join(i, whole)
			if overloaded {
				have.Overloads = append(have.Overloads, sig)
			}
			return
		}
	}
	s.declare(whole, name, sym, qualified)
}

// wantBody notes an error that the grammar lets pass: a definition without a body.
func (s *scan) wantBody(d int) {
	if body := s.child(d, "body"); body < 0 || int(s.nodes[body].next) == body+1 {
		s.unit.Quality = max(s.unit.Quality, detect.Recovered)
	}
}

// hasOverload reports whether the last part of a symbol is one of @overload.
func (s *scan) hasOverload(i int) bool {
	nodes := s.known[i].nodes
	at := nodes[len(nodes)-1]
	for d := range s.children(at) {
		if s.is(d, "decorator") && strings.HasSuffix(s.plain(d), "overload") {
			return true
		}
	}
	return false
}

// memberPublic reports whether a member of a class is meant for others.
func memberPublic(name string) bool {
	return !strings.HasPrefix(name, "_") || strings.HasPrefix(name, "__") && strings.HasSuffix(name, "__")
}

func (s *scan) pythonClass(d, whole int, in holder, exported func(string) bool, decorators []string) {
	s.wantBody(d)
	name := s.child(d, "name")
	text := s.text(name)
	if text == "" {
		return
	}
	sig := detect.Signature{TypeParams: s.pythonTypeParams(d), Modifiers: tidyWords(decorators)}
	kind := detect.Class
	for b := range s.items(s.child(d, "superclasses")) {
		base := s.plain(b)
		sig.Bases = append(sig.Bases, base)
		switch base[strings.LastIndexByte(base, '.')+1:] {
		case "Enum", "IntEnum", "StrEnum", "Flag", "IntFlag":
			kind = detect.Enum
		case "Protocol":
			kind = detect.Interface
		}
	}
	sig.Text = signatureText("class "+text, sig)
	sym := detect.Symbol{Kind: kind, Container: in.id, Exported: exported(text), Signature: sig}
	if in.id != "" {
		sym.Exported = in.exported && memberPublic(text)
	}
	i := s.declare(whole, name, sym, in.prefix+text)
	inner := holder{prefix: in.prefix + text + ".", id: s.unit.Symbols[i].ID, exported: sym.Exported}
	s.pythonBlock(s.child(d, "body"), inner, func(n string) bool { return inner.exported && memberPublic(n) })
	s.pythonAttributes(s.child(d, "body"), inner)
}

// pythonAssign declares what an assignment at the top of a module or class makes, once for each name.
func (s *scan) pythonAssign(a int, in holder, exported func(string) bool) {
	if !s.is(a, "assignment") {
		return
	}
	left, right := s.child(a, "left"), s.child(a, "right")
	names := []int{left}
	if s.is(left, "pattern_list", "tuple_pattern") {
		names = nil
		for n := range s.items(left) {
			names = append(names, n)
		}
	}
	for _, n := range names {
		text := s.text(n)
		if !s.is(n, "identifier") || text == "__all__" || s.seen[s.id(in.prefix+text)] > 0 {
			continue
		}
		sym := detect.Symbol{Kind: detect.Variable, Container: in.id, Exported: exported(text)}
		if in.id != "" {
			sym.Kind = detect.Field
		} else if right >= 0 && len(names) == 1 {
			s.values[text] = right
		}
		sym.Signature.Result = s.pythonType(s.child(a, "type"))
		if right >= 0 && in.id != "" {
			sym.Signature.Modifiers = []string{"default"}
			if s.is(right, "call") && aliases.MatchString(s.text(right)) {
				sym.Signature.Modifiers = []string{wordAliased, "default"}
			}
		}
		s.declare(a, n, sym, in.prefix+text)
	}
}

func (s *scan) pythonAlias(c int, in holder, exported func(string) bool) {
	left, right := s.item(c, 0), s.item(c, 1)
	name := left
	for s.is(name, "type", "generic_type") {
		name = s.item(name, 0)
	}
	if text := s.text(name); text != "" {
		s.declare(c, name, detect.Symbol{
			Kind: detect.Type, Container: in.id, Exported: exported(text), Signature: detect.Signature{Result: s.pythonType(right)},
		}, in.prefix+text)
	}
}

func (s *scan) pythonTypeParams(d int) (params []detect.Param) {
	for p := range s.items(s.first(d, "type_parameter", "type_parameters")) {
		name, constraint, _ := strings.Cut(s.plain(p), ":")
		params = append(params, detect.Param{Name: strings.TrimSpace(name), Type: strings.TrimSpace(constraint)})
	}
	return params
}

// pythonParams reads parameters with their ways of being passed.
func (s *scan) pythonParams(list int) (params []detect.Param) {
	kind := detect.Ordinary
	for p := range s.children(list) {
		param := detect.Param{Kind: kind, Type: s.pythonType(s.child(p, "type"))}
		switch s.kind(p) {
		case "identifier":
			param.Name = s.text(p)
		case "typed_parameter":
			p = s.item(p, 0)
			param.Name = s.text(p)
		case "default_parameter", "typed_default_parameter":
			param.Name, param.Optional = s.text(s.child(p, "name")), true
		case "positional_separator":
			for i := range params {
				params[i].Kind = detect.PositionalOnly
			}
			continue
		case "keyword_separator":
			kind = detect.KeywordOnly
			continue
		case "list_splat_pattern", "dictionary_splat_pattern":
		default:
			continue
		}
		switch s.kind(p) {
		case "list_splat_pattern":
			param.Name, param.Kind, kind = s.text(s.item(p, 0)), detect.Variadic, detect.KeywordOnly
		case "dictionary_splat_pattern":
			param.Name, param.Kind = s.text(s.item(p, 0)), detect.KeywordVariadic
		}
		params = append(params, param)
	}
	return params
}

// pythonType is the normal form of an annotation: Optional and Union as |, members in order, quoted ones read.
func (s *scan) pythonType(i int) string {
	if i < 0 {
		return ""
	}
	return pythonTypeText(s.plain(i))
}

func pythonTypeText(text string) string {
	text = strings.ReplaceAll(strings.ReplaceAll(strings.Trim(text, `"'`), "typing.", ""), " ", "")
	parts := pythonUnion(text)
	slices.Sort(parts)
	return strings.Join(slices.Compact(parts), " | ")
}

func pythonUnion(text string) (parts []string) {
	for _, part := range splitTop(text, '|') {
		name, inside, ok := strings.Cut(part, "[")
		if !ok || !strings.HasSuffix(inside, "]") {
			parts = append(parts, part)
			continue
		}
		inside = strings.TrimSuffix(inside, "]")
		switch name {
		case "Optional":
			parts = append(append(parts, pythonUnion(inside)...), "None")
		case "Union":
			for _, member := range splitTop(inside, ',') {
				parts = append(parts, pythonUnion(member)...)
			}
		case "List", "Dict", "Set", "Tuple", "FrozenSet", "Type":
			name = strings.ToLower(name)
			fallthrough
		default:
			var args []string
			for _, a := range splitTop(inside, ',') {
				args = append(args, pythonTypeText(a))
			}
			parts = append(parts, name+"["+strings.Join(args, ", ")+"]")
		}
	}
	return parts
}

// splitTop splits a text at a separator that stands in no brackets.
func splitTop(text string, separator byte) (parts []string) {
	depth, start := 0, 0
	for i := range len(text) {
		switch text[i] {
		case '(', '[', '{', '<':
			depth++
		case ')', ']', '}':
			depth--
		case '>':
			if i == 0 || text[i-1] != '=' {
				depth--
			}
		case separator:
			if depth == 0 {
				parts = append(parts, strings.TrimSpace(text[start:i]))
				start = i + 1
			}
		}
	}
	return append(parts, strings.TrimSpace(text[start:]))
}

// folder is the folder of a path, "" for the root.
func folder(file string) string {
	if d := path.Dir(file); d != "." && d != "/" {
		return d
	}
	return ""
}
