package code

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/parley-mesh/parley/detect"
)

// A route of FastAPI gives what its model of pydantic says, which often stands in another file. When two states are compared, the
// model's fields take the place of its name.

// wordAliased is the word for a field of a model, or the settings of one, that is given under another name or not at all.
const wordAliased = "aliased"

var (
	pythonName = regexp.MustCompile(`'[^']*'|[A-Za-z_][\w.]*`)
	aliases    = regexp.MustCompile(`\b(?:alias|serialization_alias|alias_generator|exclude)\s*=`)
)

// modelled puts the fields of models in the place of their names in what a route gives.
func (r *resolver) modelled(u *detect.Unit, c *detect.Contract) {
	if at, of, ok := strings.Cut(c.Outputs, ": "); ok && u.Language == "py" {
		r.steps, r.altered = modelsMax, ""
		c.Outputs = at + ": " + r.withModels(u, of, nil)
		if s := r.symbols[r.altered]; s != nil && r.same[c.Path] { // as in blame
			c.Path, c.Line = pathOf(s.ID), s.Line
		}
	}
}

// modelsMax is how many models one route may give.
const modelsMax = 100

// withModels writes a type with the fields of the models in it, except of those that are being written.
func (r *resolver) withModels(u *detect.Unit, of string, within []string) string {
	return pythonName.ReplaceAllStringFunc(of, func(name string) string {
		id := r.pythonID(u, name)
		if r.steps--; r.steps < 0 || id == "" || slices.Contains(within, id) || len(within) >= valuesMax {
			return name
		}
		if r.altered == "" && !r.same[pathOf(id)] {
			r.altered = id
		}
		fields, ok := r.modelFields(id, append(slices.Clip(within), id))
		if !ok {
			return name
		}
		return objectText(fields)
	})
}

// pythonID is the symbol that a name of a file stands for, "" if it is not at hand.
func (r *resolver) pythonID(u *detect.Unit, name string) string {
	first, rest, _ := strings.Cut(name, ".")
	to := "sym:py:" + u.Path + "#" + name
	for _, b := range u.Imports {
		if b.Local == name && b.Name != "*" || b.Local == first && rest != "" {
			to = "mod:" + b.Module + "#" + strings.TrimPrefix(strings.Trim(b.Name+"."+rest, "."), "*.")
		}
	}
	if id, sure := r.resolve(u, to); sure && r.symbols[id] != nil {
		return id
	}
	return ""
}

// modelFields are the fields of a model, with those of the models that it extends. It is not ok for anything else, and
// for a model of which the file does not show all that is given.
func (r *resolver) modelFields(id string, within []string) (fields map[string]objectField, ok bool) {
	class, u := r.symbols[id], r.units[pathOf(id)]
	if class.Kind != detect.Class || len(class.Signature.TypeParams) > 0 || u.Quality != detect.Clean {
		return nil, false
	}
	fields = map[string]objectField{}
	for _, b := range class.Signature.Bases {
		base := r.pythonID(u, b)
		switch last := b[strings.LastIndexByte(b, '.')+1:]; {
		case base != "" && !slices.Contains(within, base) && len(within) < valuesMax:
			inherited, is := r.modelFields(base, append(slices.Clip(within), base))
			if !is {
				return nil, false
			}
			maps.Insert(fields, sorted(inherited))
			ok = true
		case base == "" && (last == "BaseModel" || last == "SQLModel"):
			ok = true
		case !strings.Contains(b, "="):
			return nil, false
		}
	}
	for i := range u.Symbols {
		f := &u.Symbols[i]
		if f.Container != id {
			continue
		}
		of, words := f.Signature.Result, f.Signature.Modifiers
		if slices.Contains(words, wordAliased) || slices.ContainsFunc(words, func(w string) bool {
			return strings.HasSuffix(w, "computed_field") || strings.HasPrefix(w, "@model_serializer")
		}) {
			return nil, false
		}
		own := f.Kind == detect.Field && of != "" && !slices.Contains(words, wordInstance) && !slices.ContainsFunc(words, func(w string) bool { return strings.HasPrefix(w, "@") })
		if name := lastName(f.ID); own && !strings.HasPrefix(name, "_") && !strings.HasPrefix(of, "ClassVar") && !strings.HasPrefix(of, "PrivateAttr") {
			fields[name] = objectField{of: r.withModels(u, of, within)} // a default is given too
		}
	}
	return fields, ok
}

// withoutNone is a type without None at either end.
func withoutNone(of string) string {
	return strings.TrimPrefix(strings.TrimSuffix(of, " | None"), "None | ")
}

// unwrapped takes away what two types of Python have around them alike: lists, and None beside them.
func unwrapped(was, is string) (a, b string) {
	for range valuesMax {
		a, b = was, is
		if x, y := withoutNone(a), withoutNone(b); x != a && y != b && oneObject(x) && oneObject(y) {
			return x, y
		}
		x, y := strings.TrimPrefix(a, "list["), strings.TrimPrefix(b, "list[")
		if x == a || y == b || closing(a[len("list"):]) != len(a)-len("list") || closing(b[len("list"):]) != len(b)-len("list") {
			break
		}
		was, is = strings.TrimSuffix(x, "]"), strings.TrimSuffix(y, "]")
	}
	return a, b
}
