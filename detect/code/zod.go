package code

import (
	"maps"
	"slices"
	"strings"

	"github.com/parley-mesh/parley/detect"
)

// zodContracts adds a contract for every exported schema of zod.
func (s *scan) zodContracts() {
	for i := range s.unit.Symbols {
		sym := &s.unit.Symbols[i]
		at := s.known[i].nodes[0]
		if !sym.Exported || sym.Container != "" || sym.Kind != detect.Variable {
			continue
		}
		value := at // of export default
		if s.is(at, "variable_declarator") {
			value = s.child(at, "value")
		}
		if !s.isZod(value, valuesMax) {
			continue
		}
		s.budget, s.naming = stepsMax, []string{nameOf(sym.ID)}
		text, optional := s.zod(value, valuesMax)
		if optional {
			text += " | undefined"
		}
		h := sumStart
		s.tokens(value, nil, func(_ int, token string) { h = h.add(token) })
		s.unit.Contracts = append(s.unit.Contracts, detect.Contract{
			ID:   "zod:" + s.unit.Language + ":" + s.unit.Path + "#" + nameOf(sym.ID),
			Kind: detect.SchemaContract, Path: s.unit.Path, Line: sym.Line, Inputs: text, Hash: uint64(h),
		})
	}
}

// zodStepName are methods that objects of zod have and hardly anything else.
var zodStepName = map[string]bool{
	"extend": true, "safeExtend": true, "merge": true, "pick": true, "omit": true, "partial": true, "deepPartial": true, "required": true,
	"keyof": true,
}

// isZod reports whether an expression is a schema: its chain starts at zod's namespace, at a schema, or at an
// import of which an object of zod's methods are called.
func (s *scan) isZod(i, left int) bool {
	derived := false
	for left > 0 && i >= 0 {
		left--
		switch s.kind(i) {
		case "as_expression", "satisfies_expression", "parenthesized_expression", "non_null_expression":
			i = s.item(i, 0)
		case "call_expression":
			i = s.child(i, "function")
		case "member_expression":
			derived = derived || zodStepName[s.text(s.child(i, "property"))]
			i = s.child(i, "object")
		case "identifier":
			name := s.text(i)
			if b, ok := s.bound[name]; ok {
				return zodModule(b.module) && (b.name == "z" || b.name == "*" || b.name == "default") || derived
			}
			value, ok := s.values[name]
			if !ok {
				return false
			}
			i = value
		default:
			return false
		}
	}
	return false
}

func zodModule(m string) bool {
	return m == "zod" || strings.HasPrefix(m, "zod/") || strings.HasSuffix(m, "/zod-openapi")
}

// schemaText is the normal form of a schema of any kind.
func (s *scan) schemaText(i int) string {
	defer s.leave()
	if !s.enter() {
		return "?"
	}
	if s.isZod(i, valuesMax) {
		s.budget, s.naming = stepsMax, nil
		text, _ := s.zod(i, valuesMax)
		return text
	}
	if s.is(i, "identifier") {
		if value, ok := s.values[s.text(i)]; ok {
			return s.schemaText(value)
		}
		if name := s.nameOf(s.text(i), ""); name != "" {
			return name
		}
	}
	return s.plain(i)
}

// zod is the type that a schema takes, in the normal form of TypeScript's types. Optional says that the value
// may be left out.
func (s *scan) zod(i, left int) (text string, optional bool) {
	if left <= 0 || i < 0 || !s.step() {
		return "?", false
	}
	switch s.kind(i) {
	case "identifier":
		name := s.text(i)
		if value, ok := s.values[name]; ok && !s.hidden(name, i) {
			if slices.Contains(s.naming, name) {
				return name, false // which is being read: a schema that has itself in it
			}
			s.naming = append(s.naming, name)
			defer func() { s.naming = s.naming[:len(s.naming)-1] }()
			return s.zod(value, left-1)
		}
		if to := s.nameOf(name, ""); to != "" {
			return "@" + to, false
		}
		return name, false
	case "member_expression": // Schema.shape.field, schemas.Refund
		object := s.child(i, "object")
		if s.is(object, "identifier") && s.bound[s.text(object)].name == "*" {
			return "@" + s.nameOf(s.text(object), s.text(s.child(i, "property"))), false
		}
		if s.is(object, "member_expression") && s.text(s.child(object, "property")) == "shape" {
			of, _ := s.zod(s.child(object, "object"), left-1)
			if f, ok := objectFields(of)[s.text(s.child(i, "property"))]; ok {
				return f.of, f.optional
			}
		}
		return s.plain(i), false
	case "as_expression", "satisfies_expression", "parenthesized_expression", "non_null_expression":
		return s.zod(s.item(i, 0), left-1)
	case "arrow_function": // lazy
		return s.zodBody(s.child(i, "body"), left-1)
	case "call_expression":
		f := s.child(i, "function")
		object, name := s.child(f, "object"), s.text(s.child(f, "property"))
		args := s.child(i, "arguments")
		if s.zodNamespace(object) {
			return s.zodMake(name, args, left-1)
		}
		return s.zodStep(object, name, args, left-1)
	}
	return s.plain(i), false
}

// zodNamespace reports whether an expression is zod's namespace, or z.coerce.
func (s *scan) zodNamespace(i int) bool {
	if s.is(i, "member_expression") && slices.Contains([]string{"coerce", "iso"}, s.text(s.child(i, "property"))) {
		i = s.child(i, "object")
	}
	return s.is(i, "identifier") && zodModule(s.bound[s.text(i)].module)
}

// zodMake reads z.object(…) and its like.
func (s *scan) zodMake(name string, args, left int) (text string, optional bool) {
	first := s.item(args, 0)
	one := func(n int) string { text, _ := s.zod(s.item(args, n), left); return text }
	switch name {
	case "object", "strictObject", "looseObject", "interface":
		return s.zodObject(first, left), false
	case "string", "email", "uuid", "url", "cuid", "cuid2", "ulid", "nanoid", "ip", "ipv4", "ipv6", "base64", "emoji", "datetime", "time", "duration", "jwt", "guid":
		return "string", false
	case "number", "int", "float32", "float64", "int32", "uint32", "nan":
		return "number", false
	case "boolean", "bigint", "symbol", "null", "undefined", "void", "any", "unknown", "never":
		return name, false
	case "date":
		return "Date", false
	case "literal":
		if s.is(first, "array") {
			return s.zodUnion(first, left), false
		}
		return s.plain(first), false
	case "enum", "union", "discriminatedUnion", "xor":
		if name == "discriminatedUnion" {
			first = s.item(args, 1)
		}
		return s.zodUnion(first, left), false
	case "array", "set":
		inner := one(0)
		if strings.Contains(inner, " | ") && !strings.HasPrefix(inner, "{") {
			inner = "(" + inner + ")"
		}
		return inner + "[]", false
	case "optional", "nullish":
		return one(0) + map[string]string{"nullish": " | null"}[name], true
	case "nullable":
		return one(0) + " | null", false
	case "intersection":
		return one(0) + " & " + one(1), false
	case "record", "map":
		if s.item(args, 1) < 0 {
			return "Record<string, " + one(0) + ">", false
		}
		return "Record<" + one(0) + ", " + one(1) + ">", false
	case "lazy", "preprocess", "pipe":
		return one(map[string]int{"preprocess": 1}[name]), false
	}
	return "z." + name + s.plain(args), false
}

// zodUnion reads a list of schemas or literals, or the constant that is one.
func (s *scan) zodUnion(list, left int) string {
	if s.is(list, "as_expression") {
		list = s.item(list, 0)
	}
	if s.is(list, "identifier") {
		if value, ok := s.values[s.text(list)]; ok && left > 0 {
			return s.zodUnion(value, left-1)
		}
	}
	if !s.is(list, "array") {
		return s.plain(list)
	}
	var parts []string
	for c := range s.items(list) {
		text, _ := s.zod(c, left)
		parts = append(parts, splitTop(text, '|')...)
	}
	slices.Sort(parts)
	return strings.Join(slices.Compact(parts), " | ")
}

// zodObject reads the shape of an object.
func (s *scan) zodObject(shape, left int) string {
	if s.is(shape, "identifier") {
		if value, ok := s.values[s.text(shape)]; ok && left > 0 {
			return s.zodObject(value, left-1)
		}
	}
	fields := map[string]objectField{}
	for c := range s.items(shape) {
		switch s.kind(c) {
		case "pair":
			text, optional := s.zod(s.child(c, "value"), left)
			fields[strings.Trim(s.text(s.child(c, "key")), `"'`)] = objectField{text, optional}
		case "shorthand_property_identifier":
			text, optional := "@"+s.text(c), false
			if value, ok := s.values[s.text(c)]; ok {
				text, optional = s.zod(value, left-1)
			}
			fields[s.text(c)] = objectField{text, optional}
		case "method_definition": // get children() { return z.array(Node) }
			text, optional := "?", false
			if s.has(c, "get") {
				text, optional = s.zodBody(s.child(c, "body"), left)
			}
			fields[strings.Trim(s.text(s.child(c, "name")), `"'`)] = objectField{text, optional}
		case "spread_element": // ...Other.shape
			inner := s.item(c, 0)
			if s.is(inner, "member_expression") {
				inner = s.child(inner, "object")
			}
			text, _ := s.zod(inner, left-1)
			if !strings.HasPrefix(text, "{") {
				fields["..."+text] = objectField{of: "?"}
				continue
			}
			maps.Insert(fields, sorted(objectFields(text)))
		}
	}
	return objectText(fields)
}

// zodBody is the schema that a function without parameters returns, not known if it does more than that.
func (s *scan) zodBody(body, left int) (text string, optional bool) {
	if s.is(body, "statement_block") {
		only := s.item(body, 0)
		if !s.is(only, "return_statement") {
			return "?", false
		}
		body = s.item(only, 0)
	}
	return s.zod(body, left)
}

func objectText(fields map[string]objectField) string {
	var parts []string
	for name, f := range sorted(fields) {
		if f.optional {
			name += "?"
		}
		parts = append(parts, name+": "+f.of)
	}
	return "{" + strings.Join(parts, "; ") + "}"
}

// zodStep reads schema.method(…).
func (s *scan) zodStep(object int, name string, args, left int) (text string, optional bool) {
	text, optional = s.zod(object, left)
	first := s.item(args, 0)
	switch name {
	case "optional", "default", "prefault", "catch", "exactOptional":
		return text, true
	case "nullable":
		return text + " | null", optional
	case "nullish":
		return text + " | null", true
	case "array":
		if strings.Contains(text, " | ") && !strings.HasPrefix(text, "{") {
			text = "(" + text + ")"
		}
		return text + "[]", false
	case "or", "and":
		other, _ := s.zod(first, left)
		return text + map[string]string{"or": " | ", "and": " & "}[name] + other, optional
	case "unwrap":
		return strings.TrimSuffix(text, " | null"), false
	}
	if zodStepName[name] {
		argument := ""
		if first >= 0 {
			argument = s.zodArgument(first, left)
		}
		if !oneObject(text) { // of a schema that another file declares
			return text + "." + name + "(" + argument + ")", optional
		}
		return zodFields(objectFields(text), name, argument), optional
	}
	return text, optional
}

func (s *scan) zodArgument(i, left int) string {
	if s.is(i, "object") {
		return s.zodObject(i, left)
	}
	text, _ := s.zod(i, left)
	return text
}

// zodFields changes the fields of an object. The argument is an object in normal form, of fields or of keys.
func zodFields(fields map[string]objectField, name, argument string) string {
	var keys map[string]objectField
	if strings.HasPrefix(argument, "{") {
		keys = objectFields(argument)
	}
	switch name {
	case "keyof":
		return keysText(fields)
	case "deepPartial":
		return deepPartial(objectText(fields), valuesMax)
	case "extend", "safeExtend", "merge":
		if keys == nil {
			fields["..."+argument] = objectField{of: "?"}
		}
		maps.Insert(fields, sorted(keys))
	default:
		for key, f := range sorted(fields) {
			_, listed := keys[key]
			switch {
			case name == "pick" && !listed, name == "omit" && listed:
				delete(fields, key)
			case name != "pick" && name != "omit" && (argument == "" || listed):
				f.optional = name != "required"
				fields[key] = f
			}
		}
	}
	return objectText(fields)
}

// keysText is the union of the names of fields. Those of a schema that is not at hand are not known.
func keysText(fields map[string]objectField) string {
	var parts []string
	for name := range sorted(fields) {
		if strings.HasPrefix(name, "...") {
			return "?"
		}
		parts = append(parts, `"`+name+`"`)
	}
	if parts == nil {
		return "never"
	}
	return strings.Join(parts, " | ")
}

// deepPartial makes the fields of objects optional, also of those in lists, and of those that may be null. What another file
// declares is not known then.
func deepPartial(text string, left int) string {
	switch element, list := strings.CutSuffix(text, "[]"); {
	case left == 0 || strings.HasPrefix(text, "@"):
		return "?"
	case oneObject(text):
		fields := objectFields(text)
		for name, f := range sorted(fields) {
			fields[name] = objectField{deepPartial(f.of, left-1), true}
		}
		return objectText(fields)
	case list:
		return deepPartial(element, left-1) + "[]"
	}
	if object, null := strings.CutSuffix(text, " | null"); null && oneObject(object) {
		return deepPartial(object, left-1) + " | null"
	}
	return text
}

// zodApply works out steps on a schema of another file, once it is known: {…}.extend({…}).
func zodApply(text string) string {
	for range valuesMax {
		object := closing(text)
		name, rest, ok := strings.Cut(strings.TrimPrefix(text[object:], "."), "(")
		end := closing("(" + rest)
		if !strings.HasPrefix(text, "{") || !ok || !zodStepName[name] || end < 2 {
			return text
		}
		text = zodFields(objectFields(text[:object]), name, rest[:end-2]) + rest[end-1:]
	}
	return text
}

// closing is the length of the bracketed text that a text starts with, 0 if it starts with none.
func closing(text string) int {
	depth := 0
	for i := range len(text) {
		switch text[i] {
		case '{', '(', '[':
			depth++
		case '}', ')', ']':
			depth--
		}
		if depth <= 0 {
			return i + min(i, 1)
		}
	}
	return 0
}
