package code

import (
	"slices"
	"strings"
)

// answer is yes, no, or that the whole program would have to be known.
type answer uint8

const (
	unknown answer = iota
	yes
	no
)

// ground are the types that stand for themselves, so that two of them are surely different.
var ground = map[string][]string{
	"ts": {"string", "number", "boolean", "bigint", "symbol", "null", "undefined", "void", "object", "never"},
	"py": {"str", "int", "float", "bool", "bytes", "None", "list", "dict", "set", "tuple", "complex"},
}

// assignable says whether a value of type from can stand where a type to is wanted. Both are in normal form.
func assignable(language, from, to string) answer {
	return typing{language, func(string) bool { return false }}.assignable(from, to)
}

// typing is what is known of the types of a language beside how they are written.
type typing struct {
	language string
	object   func(name string) bool // whether a name surely stands for an interface or a class
}

func (in typing) assignable(from, to string) answer {
	if in.language == "js" {
		in.language = "ts"
	}
	switch {
	case from == to:
		return yes
	case from == "" || to == "":
		return unknown
	case in.language != "ts" && in.language != "py":
		return no // by identity
	}
	return in.relate(from, to, 0)
}

func (in typing) relate(from, to string, depth int) answer {
	language := in.language
	switch {
	case language == "ts" && from == "any" && to == "never":
		return no
	case from == to || to == "any" || to == "unknown" || from == "any" || from == "never" || to == "Any" || from == "Any" ||
		language == "py" && to == "object" || from == "undefined" && to == "void":
		return yes
	case depth > 20:
		return unknown
	case from == "unknown":
		return no
	}
	if members := splitTop(from, '|'); len(members) > 1 {
		return every(members, func(m string) answer { return in.relate(m, to, depth+1) })
	}
	if members := splitTop(to, '|'); len(members) > 1 {
		return some(members, func(m string) answer { return in.relate(from, m, depth+1) })
	}
	from, to = bare(from), bare(to)
	if a, b := strings.TrimSuffix(from, "[]"), strings.TrimSuffix(to, "[]"); a != from && b != to {
		a, held := strings.CutPrefix(a, "readonly ")
		b, holds := strings.CutPrefix(b, "readonly ")
		if held && !holds {
			return no
		}
		return in.relate(bare(a), bare(b), depth+1)
	}
	if strings.HasPrefix(from, "{") && language == "ts" {
		switch {
		case strings.HasPrefix(to, "{"):
			return in.relateObjects(from, to, depth)
		case strings.HasSuffix(to, "[]"):
			return no
		}
	}
	if a, b := generic(from), generic(to); a != nil && b != nil && a[0] == b[0] {
		return in.relateArguments(a, b, depth)
	}
	a, b := groundOf(language, from), groundOf(language, to)
	switch {
	case language == "ts" && (from == "null" || from == "undefined") && in.object(to):
		return no
	case a == "" || b == "", language == "ts" && structural(a, b):
		return unknown
	case a == b && b == to, language == "py" && (a == "bool" && b == "int" || a == "int" && b == "float"):
		return yes
	}
	return no
}

// relateArguments compares two types of one generic. Only of the well known ones is it known that they follow
// their arguments.
func (in typing) relateArguments(a, b []string, depth int) answer {
	covariant := slices.Contains([]string{
		"Promise", "Set", "ReadonlySet", "Map", "Record", "Readonly", "AsyncIterable",
		"Iterable", "list", "dict", "set", "tuple", "Sequence", "Iterable", "Mapping",
	}, a[0])
	if !covariant || len(a) != len(b) {
		return unknown
	}
	result := yes
	for i := range a[1:] {
		switch in.relate(a[i+1], b[i+1], depth+1) {
		case no:
			return no
		case unknown:
			result = unknown
		}
	}
	return result
}

// relateObjects wants every field of to in from.
func (in typing) relateObjects(from, to string, depth int) answer {
	have := objectFields(from)
	result := yes
	for name, field := range objectFields(to) {
		got, ok := have[name]
		if !ok && field.optional {
			continue
		}
		if !ok || got.optional && !field.optional {
			return no
		}
		switch in.relate(got.of, field.of, depth+1) {
		case no:
			return no
		case unknown:
			result = unknown
		}
	}
	return result
}

type objectField struct {
	of       string
	optional bool
}

func objectFields(object string) map[string]objectField {
	fields := map[string]objectField{}
	if len(object) < 2 {
		return fields
	}
	for _, part := range splitTop(object[1:len(object)-1], ';') {
		name, of, ok := strings.Cut(strings.TrimPrefix(part, "readonly "), ":")
		if !ok || part == "" {
			continue
		}
		bareName, optional := strings.CutSuffix(name, "?")
		fields[bareName] = objectField{strings.TrimSpace(of), optional}
	}
	return fields
}

// generic splits Name<A, B> or name[A, B] into its parts, nil for anything else.
func generic(text string) []string {
	at := strings.IndexAny(text, "<[")
	if at <= 0 || !strings.HasSuffix(text, ">") && !strings.HasSuffix(text, "]") || strings.HasSuffix(text, "[]") {
		return nil
	}
	return append([]string{text[:at]}, splitTop(text[at+1:len(text)-1], ',')...)
}

// groundOf is the ground type that a type is of, "" when it is not known.
func groundOf(language, text string) string {
	switch {
	case text == "":
		return ""
	case slices.Contains(ground[language], text):
		return text
	case language == "py":
		if g := generic(text); g != nil && slices.Contains(ground["py"], g[0]) {
			return g[0]
		}
		return ""
	case text[0] == '"' || text[0] == '`':
		return "string"
	case text[0] >= '0' && text[0] <= '9' || text[0] == '-':
		return "number"
	case text == "true" || text == "false":
		return "boolean"
	case strings.HasSuffix(text, "[]"):
		return "[]"
	case text[0] == '{':
		return "{}"
	case text[0] == '[' && strings.HasSuffix(text, "]"):
		return "tuple"
	case text == "Date", text == "RegExp":
		return text
	case (text[0] == '(' || text[0] == '<') && strings.Contains(text, ") => "):
		return "=>"
	}
	if g := generic(text); g != nil && slices.Contains([]string{"Promise", "Map", "Set", "Record"}, g[0]) {
		return g[0]
	}
	return ""
}

// structural reports whether two kinds of things of TypeScript may have the members that the other wants: it depends on which.
func structural(from, to string) bool {
	things := []string{"{}", "[]", "tuple", "=>", "Promise", "Map", "Set", "Record", "Date", "RegExp"}
	if !slices.Contains(things, to) {
		return false
	}
	if slices.Contains(things, from) {
		return from != "[]" || to == "Record" // an array is no tuple, and has none of the members that people name
	}
	return to == "Record" && from != "null" && from != "undefined"
}

// bare takes away one pair of brackets around a whole type.
func bare(text string) string {
	if strings.HasPrefix(text, "(") && strings.HasSuffix(text, ")") && len(splitTop(text, ')')) <= 2 {
		return text[1 : len(text)-1]
	}
	return text
}

func every(members []string, ask func(string) answer) answer {
	result := yes
	for _, m := range members {
		switch ask(m) {
		case no:
			return no
		case unknown:
			result = unknown
		}
	}
	return result
}

func some(members []string, ask func(string) answer) answer {
	result := no
	for _, m := range members {
		switch ask(m) {
		case yes:
			return yes
		case unknown:
			result = unknown
		}
	}
	return result
}
