package code

import (
	"regexp"
	"slices"
	"strings"

	"github.com/parley-mesh/parley/detect"
)

// A type that a file of TypeScript keeps to itself has no users elsewhere, but what the file exports may be spelled with it. Whoever
// uses that feels each change of the type.

var scriptName = regexp.MustCompile(`[A-Za-z_$][\w$]*`)

// privateType is a type that is not exported, in both states.
type privateType struct {
	name     string
	was, is  string // the whole type, as far as it is written
	indirect bool   // the signature names it only through another one
}

// privateTypes are the types that an exported symbol of TypeScript is spelled with, that its file keeps to itself and that changed.
func (c *comparison) privateTypes(was, is *detect.Symbol) (changed []privateType) {
	if languageOf(is.ID) != "ts" || !was.Exported || !is.Exported || pathOf(was.ID) != pathOf(is.ID) {
		return nil
	}
	if is.Kind != detect.Function && is.Kind != detect.Method && is.Kind != detect.Variable {
		return nil // members of the others are judged one by one
	}
	file := "sym:ts:" + pathOf(is.ID) + "#"
	seen := map[string]bool{}
	names := typeNamesOf(signatureTypes(is))
	for depth := 0; len(names) > 0 && depth < linksMax; depth++ {
		var next []string
		for _, name := range names {
			old, now := c.old.symbols[file+name], c.now.symbols[file+name]
			if seen[name] || !private(old) || !private(now) {
				continue
			}
			seen[name] = true
			p := privateType{name, c.old.wholeType(old), c.now.wholeType(now), depth > 0}
			if p.was != p.is {
				changed = append(changed, p)
			}
			next = append(next, typeNamesOf(p.is)...)
		}
		names = next
	}
	return changed
}

func private(s *detect.Symbol) bool {
	return s != nil && !s.Exported && (s.Kind == detect.Interface || s.Kind == detect.Type)
}

// typeNamesOf are the names in a type, each once, in order.
func typeNamesOf(text string) []string {
	names := scriptName.FindAllString(text, -1)
	slices.Sort(names)
	return slices.Compact(names)
}

// signatureTypes are the types of a signature, side by side.
func signatureTypes(s *detect.Symbol) string {
	var text strings.Builder
	for _, sig := range overloads(s) {
		text.WriteString(" " + sig.Result)
		for _, p := range slices.Concat(sig.TypeParams, sig.Params) {
			text.WriteString(" " + p.Type)
		}
	}
	return text.String()
}

// wholeType writes an interface or an alias of its file with its members.
func (r *resolver) wholeType(s *detect.Symbol) string {
	fields := map[string]objectField{}
	u := r.units[pathOf(s.ID)]
	for i := range u.Symbols {
		m := &u.Symbols[i]
		if m.Container != s.ID {
			continue
		}
		of := m.Signature.Result
		if m.Kind == detect.Method {
			of = typeParamText(m.Signature.TypeParams) + "(" + paramTypes(m.Signature.Params) + ") => " + of
		}
		fields[lastName(m.ID)] = objectField{of, slices.Contains(m.Signature.Modifiers, "optional")}
	}
	text := objectText(fields)
	if s.Signature.Result != "" {
		text = s.Signature.Result
	}
	for _, b := range s.Signature.Bases {
		text += " & " + b
	}
	return typeParamText(s.Signature.TypeParams) + text
}

// privates judges what the changed types mean for those who use a symbol that is spelled with them.
func (j *judge) privates(sym *detect.Symbol, types []privateType) {
	for _, p := range types {
		way := direction(0)
		if !p.indirect {
			way = standing(sym, p.name)
		}
		try := &judge{language: j.language, same: j.same}
		switch whole := oneObject(p.was) && oneObject(p.is); {
		case !whole && strings.ContainsAny(p.was+p.is, "{&"):
			try.open(p.name + " changed")
		case way != 0:
			try.retyped(p.was, p.is, p.name, way)
		default: // it may be read or written there
			try.retyped(p.was, p.is, p.name, shared)
			try.breaks, try.unsure = false, try.breaks || try.unsure
		}
		j.breaks, j.unsure, j.why = j.breaks || try.breaks, j.unsure || try.unsure, append(j.why, try.why...)
	}
}

// oneObject reports whether a text is one object type and nothing else.
func oneObject(text string) bool { return strings.HasPrefix(text, "{") && closing(text) == len(text) }

var wrappers = regexp.MustCompile(`^(?:React\.)?(?:PropsWithChildren|Readonly|Promise)<(.*)>$`)

// standing is which way values of a type go at a symbol, if it is a parameter or a result by itself; 0 if it is a part of another
// type, of which nobody knows what becomes of it.
func standing(sym *detect.Symbol, name string) (way direction) {
	if len(sym.Signature.Overloads) > 0 {
		return 0
	}
	note := func(of string, as direction) bool {
		parts := slices.DeleteFunc(splitTop(of, '|'), func(m string) bool { return m == "null" || m == "undefined" })
		if m := wrappers.FindStringSubmatch(strings.Join(parts, " | ")); m != nil {
			parts = []string{m[1]}
		}
		if len(parts) == 1 && parts[0] == name {
			way |= as
			return true
		}
		return !slices.Contains(scriptName.FindAllString(of, -1), name)
	}
	for _, p := range sym.Signature.Params {
		if !note(p.Type, asked) {
			return 0
		}
	}
	of, as := sym.Signature.Result, given
	if m := generic(of); sym.Kind == detect.Variable && len(m) == 2 && slices.Contains(components, strings.TrimPrefix(m[0], "React.")) {
		of, as = m[1], asked
	}
	if !note(of, as) {
		return 0
	}
	return way
}
