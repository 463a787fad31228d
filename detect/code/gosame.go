package code

import (
	"go/token"
	"go/types"
	"regexp"
	"slices"
	"strings"

	"github.com/parley-mesh/parley/detect"
)

var goIdent = regexp.MustCompile(`[\p{L}_$?][\p{L}\p{N}_]*`)

// sameGo compares types of Go of one package by identity, through aliases. Names that only the whole program
// could tell about, those of the package that are not exported or not at hand, make it unknown.
func (c *comparison) sameGo(before, after string) func(from, to string) answer {
	return func(from, to string) answer {
		a, b := c.old.canonical(before, from, linksMax), c.now.canonical(after, to, linksMax)
		switch {
		case a == b:
			return yes
		case a == "" || b == "" || strings.ContainsRune(a+b, '?'):
			return unknown
		}
		return no
	}
}

// canonical writes a type of a package with aliases looked through, and a ? before every name of which nothing
// is known that users could rely on.
func (r *resolver) canonical(dir, text string, left int) string {
	text, value, constant := strings.Cut(text, " = ")
	var b strings.Builder
	last := 0
	for _, at := range goIdent.FindAllStringIndex(text, -1) {
		b.WriteString(text[last:at[0]])
		b.WriteString(r.canonicalName(dir, text, at, left))
		last = at[1]
	}
	b.WriteString(text[last:])
	if constant {
		b.WriteString(" = " + value)
	}
	return b.String()
}

func (r *resolver) canonicalName(dir, text string, at []int, left int) string {
	name := text[at[0]:at[1]]
	rest := text[at[1]:]
	if length(text[:at[0]]) {
		return "?" + name // a constant, whose value may be another's that is spelled otherwise
	}
	member := at[0] > 0 && text[at[0]-1] == '.' || strings.HasPrefix(rest, ".") || strings.HasPrefix(rest, "(") ||
		strings.HasPrefix(rest, " ") && !strings.HasPrefix(rest, " |") // of a package, or of a struct or interface
	if member || name[0] == '$' || token.IsKeyword(name) || types.Universe.Lookup(name) != nil || left == 0 {
		return name
	}
	s := r.inFolder(dir, name)
	switch {
	case s == nil:
		return "?" + name
	case slices.Contains(s.Signature.Modifiers, "alias") && s.Signature.Result != "struct" && len(s.Signature.TypeParams) == 0:
		return r.canonical(dir, s.Signature.Result, left-1)
	case !s.Exported:
		return "?" + name
	}
	return name
}

// length reports whether what follows is the length of an array.
func length(before string) bool {
	outer, bracket := strings.CutSuffix(before, "[")
	return bracket && (outer == "" || strings.HasSuffix(outer, "]") || strings.ContainsRune(" *[(,", rune(outer[len(outer)-1])))
}

// inFolder finds a symbol of a package of Go by its name.
func (r *resolver) inFolder(dir, name string) *detect.Symbol {
	for _, u := range r.folders[dir] {
		if s := r.symbols["sym:go:"+u.Path+"#"+name]; s != nil && !ofTests(s) {
			return s
		}
	}
	return nil
}

var goQualifier = regexp.MustCompile(`([\p{L}_][\p{L}\p{N}_]*)\.[\p{L}_]`)

// otherPackages names the packages that a signature of Go is spelled with and that are others now, by the imports of its
// file, old and new. A type may have stayed the same as an alias.
func (c *comparison) otherPackages(was, is *detect.Symbol) (why []string) {
	old, now := c.old.units[pathOf(was.ID)], c.now.units[pathOf(is.ID)]
	if languageOf(is.ID) != "go" || old == nil || now == nil {
		return nil
	}
	for _, name := range qualifiers(&was.Signature) {
		before, after := importOf(old, name), importOf(now, name)
		if before != "" && after != "" && before != after && slices.Contains(qualifiers(&is.Signature), name) {
			why = append(why, name+" was "+before+" and is "+after)
		}
	}
	return why
}

// qualifiers are the names of packages in a signature, each once, in order.
func qualifiers(s *detect.Signature) (names []string) {
	var text strings.Builder
	text.WriteString(s.Result)
	for _, p := range slices.Concat(s.TypeParams, s.Params) {
		text.WriteString(" " + p.Type)
	}
	for _, at := range goQualifier.FindAllStringSubmatch(text.String(), -1) {
		names = append(names, at[1])
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// importOf is the package that a file has under a name, "" if it has none.
func importOf(u *detect.Unit, name string) string {
	for _, b := range u.Imports {
		if b.Local == name && b.Name == "*" {
			return b.Module
		}
	}
	return ""
}

// goWidens reports whether a defined type may take the other's place for those who use its values: a wider
// number of the same sort, or a channel that works both ways.
func goWidens(old, now string) bool {
	wider := map[string][]string{
		"int8": {"int16", "int32", "int64", "int"}, "int16": {"int32", "int64", "int"}, "int32": {"int64", "int"}, "int": {"int64"},
		"uint8": {"uint16", "uint32", "uint64", "uint"}, "uint16": {"uint32", "uint64", "uint"}, "uint32": {"uint64", "uint"},
		"uint": {"uint64"}, "float32": {"float64"}, "complex64": {"complex128"},
	}
	for _, direction := range []string{"<-chan ", "chan<- "} {
		if element, ok := strings.CutPrefix(old, direction); ok && now == "chan "+element {
			return true
		}
	}
	return slices.Contains(wider[old], now)
}

// aliases judges a name of Go that became an alias, or no longer is one.
func (c *comparison) aliases(j *judge, was, is *detect.Symbol) {
	before, after := slices.Contains(was.Signature.Modifiers, "alias"), slices.Contains(is.Signature.Modifiers, "alias")
	if before == after {
		return
	}
	dir := folder(pathOf(is.ID))
	if before {
		if c.now.canonical(dir, was.Signature.Result, linksMax) == nameOf(is.ID) {
			j.fine("is no longer an alias, what it was one of now is one of it")
		} else {
			j.breaking("is no longer an alias of " + was.Signature.Result)
		}
		return
	}
	to := c.now.inFolder(dir, c.now.canonical(dir, is.Signature.Result, linksMax))
	same := to != nil && to.Kind == was.Kind && to.Signature.Result == was.Signature.Result || is.Signature.Result == was.Signature.Result
	if same && was.Kind == detect.Type {
		j.fine("became an alias of the same type")
	} else {
		j.open("became an alias of " + is.Signature.Result)
	}
}
