package code

import (
	"slices"
	"strings"

	"github.com/parley-mesh/parley/detect"
)

// callSignature is how a function, a method or a signature is called.
func (s *scan) callSignature(c int) detect.Signature {
	sig := detect.Signature{TypeParams: s.typeParams(c), Params: s.scriptParams(c)}
	sig.Result = s.annotation(c, "return_type")
	for w := range s.children(c) {
		switch s.kind(w) {
		case "async":
			sig.Modifiers = append(sig.Modifiers, "async")
		case "*":
			sig.Modifiers = append(sig.Modifiers, "generator")
		case "?":
			sig.Modifiers = append(sig.Modifiers, "optional")
		}
	}
	if s.is(c, "generator_function_declaration", "generator_function") {
		sig.Modifiers = []string{"generator"}
	}
	sig.Modifiers = tidyWords(sig.Modifiers)
	sig.Text = signatureText(s.text(s.child(c, "name"))+"()", sig)
	return sig
}

func (s *scan) scriptParams(c int) (params []detect.Param) {
	if single := s.child(c, "parameter"); single >= 0 { // x => …
		return []detect.Param{{Name: s.text(single)}}
	}
	for p := range s.items(s.child(c, "parameters")) {
		param := detect.Param{Type: s.annotation(p, "type")}
		pattern := p
		switch s.kind(p) {
		case "required_parameter", "optional_parameter":
			pattern = s.child(p, "pattern")
			param.Optional = s.is(p, "optional_parameter") || s.child(p, "value") >= 0
		case "assignment_pattern":
			pattern, param.Optional = s.child(p, "left"), true
		case "decorator", "ERROR":
			continue
		}
		if s.is(pattern, "rest_pattern") {
			pattern, param.Kind = s.item(pattern, 0), detect.Variadic
		}
		if s.is(pattern, "this") {
			continue
		}
		param.Name = s.plain(pattern)
		params = append(params, param)
	}
	return params
}

func (s *scan) typeParams(c int) (params []detect.Param) {
	for p := range s.items(s.child(c, "type_parameters")) {
		if !s.is(p, "type_parameter") {
			continue
		}
		param := detect.Param{Name: s.text(s.child(p, "name")), Optional: s.child(p, "value") >= 0}
		if bound := s.child(p, "constraint"); bound >= 0 {
			param.Type = s.typeText(s.item(bound, 0))
		}
		params = append(params, param)
	}
	return params
}

// annotation is the normal form of a type that stands in a field after a colon, "" for none.
func (s *scan) annotation(c int, field string) string {
	a := s.child(c, field)
	if s.is(a, "type_annotation") {
		return s.typeText(s.item(a, 0))
	}
	if a < 0 {
		return ""
	}
	return s.typeText(a)
}

// typeText is the normal form of a type of TypeScript: members of unions in order, Array<T> as T[], no names
// of parameters, no choice of quotes and separators.
func (s *scan) typeText(i int) string {
	switch s.kind(i) {
	case "":
		return ""
	case "union_type", "intersection_type":
		operator := " | "
		if s.is(i, "intersection_type") {
			operator = " & "
		}
		parts := s.flatType(i, s.kind(i), nil)
		slices.Sort(parts)
		return strings.Join(slices.Compact(parts), operator)
	case "parenthesized_type":
		inner := s.item(i, 0)
		if s.is(inner, "union_type", "intersection_type", "function_type", "conditional_type", "infer_type", "constructor_type") {
			return "(" + s.typeText(inner) + ")"
		}
		return s.typeText(inner)
	case "array_type":
		return s.typeText(s.item(i, 0)) + "[]"
	case "generic_type":
		return s.genericType(i)
	case "function_type":
		return typeParamText(s.typeParams(i)) + "(" + paramTypes(s.scriptParams(i)) + ") => " + s.typeText(s.child(i, "return_type"))
	case "object_type":
		return s.objectType(i)
	case "type_annotation", "literal_type", "type_identifier", "predefined_type":
		if inner := s.item(i, 0); inner >= 0 {
			return s.typeText(inner)
		}
	}
	return s.plain(i)
}

// flatType collects the members of nested unions or intersections.
func (s *scan) flatType(i int, kind string, parts []string) []string {
	for c := range s.items(i) {
		for s.is(c, "parenthesized_type") && s.is(s.item(c, 0), kind) {
			c = s.item(c, 0)
		}
		if s.is(c, kind) {
			parts = s.flatType(c, kind, parts)
		} else {
			parts = append(parts, s.typeText(c))
		}
	}
	return parts
}

func (s *scan) genericType(i int) string {
	name := s.plain(s.child(i, "name"))
	var args []string
	for a := range s.items(s.child(i, "type_arguments")) {
		args = append(args, s.typeText(a))
	}
	if len(args) == 1 && (name == "Array" || name == "ReadonlyArray") {
		element := args[0]
		if strings.ContainsAny(element, " ") && !strings.HasPrefix(element, "{") {
			element = "(" + element + ")"
		}
		if name == "ReadonlyArray" {
			return "readonly " + element + "[]"
		}
		return element + "[]"
	}
	return name + "<" + strings.Join(args, ", ") + ">"
}

func (s *scan) objectType(i int) string {
	var parts []string
	for m := range s.items(i) {
		switch s.kind(m) {
		case "property_signature":
			part := s.plain(s.child(m, "name"))
			if s.has(m, "?") {
				part += "?"
			}
			part += ": " + s.annotation(m, "type")
			if s.has(m, "readonly") {
				part = "readonly " + part
			}
			parts = append(parts, part)
		case "method_signature":
			parts = append(parts, s.plain(s.child(m, "name"))+"("+paramTypes(s.scriptParams(m))+"): "+s.annotation(m, "return_type"))
		default:
			parts = append(parts, s.plain(m))
		}
	}
	slices.Sort(parts)
	return "{" + strings.Join(parts, "; ") + "}"
}

// plain is a node's tokens on one line.
func (s *scan) plain(i int) string {
	if i < 0 {
		return ""
	}
	var b strings.Builder
	last := byte(0)
	s.tokens(i, nil, func(_ int, token string) {
		if token == "" {
			return
		}
		if wordy(last) && wordy(token[0]) || last == ',' || last == ':' || token == "=>" || last == '>' && wordy(token[0]) {
			b.WriteByte(' ')
		}
		b.WriteString(strings.Join(strings.Fields(token), " "))
		last = token[len(token)-1]
	})
	return b.String()
}

func wordy(c byte) bool {
	return c == '_' || c == '$' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}

func paramTypes(params []detect.Param) string {
	var parts []string
	for _, p := range params {
		part := p.Type
		if p.Kind == detect.Variadic {
			part = "..." + part
		}
		if p.Optional {
			part += "?"
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, ", ")
}

func typeParamText(params []detect.Param) string {
	var parts []string
	for _, p := range params {
		if p.Type != "" {
			parts = append(parts, p.Name+" extends "+p.Type)
		} else {
			parts = append(parts, p.Name)
		}
	}
	if parts == nil {
		return ""
	}
	return "<" + strings.Join(parts, ", ") + ">"
}

// signatureText is a signature for people; the name of what is called ends in ().
func signatureText(name string, sig detect.Signature) string {
	var parts []string
	for _, p := range sig.Params {
		part := p.Name
		switch p.Kind {
		case detect.Variadic:
			part = "..." + part
		case detect.KeywordVariadic:
			part = "**" + part
		}
		if p.Optional {
			part += "?"
		}
		if p.Type != "" {
			part += ": " + p.Type
		}
		parts = append(parts, part)
	}
	text := strings.TrimSuffix(name, "()") + typeParamText(sig.TypeParams)
	if parts != nil || strings.HasSuffix(name, "()") {
		text += "(" + strings.Join(parts, ", ") + ")"
	}
	if len(sig.Bases) > 0 {
		text += " extends " + strings.Join(sig.Bases, ", ")
	}
	if sig.Result != "" {
		text += ": " + sig.Result
	}
	return text
}
