package code

import (
	"strings"

	"github.com/parley-mesh/parley/detect"
)

// pythonImports reads imports wherever they stand.
func (s *scan) pythonImports() {
	for c := range s.within(0) {
		switch s.kind(c) {
		case "import_statement":
			for n := range s.items(c) {
				module, local := s.text(n), ""
				if s.is(n, "aliased_import") {
					module, local = s.text(s.child(n, "name")), s.text(s.child(n, "alias"))
				} else {
					local = module
				}
				s.bind(local, module, "*", n)
			}
		case "import_from_statement":
			s.importFrom(c)
		}
	}
}

func (s *scan) importFrom(c int) {
	module := s.child(c, "module_name")
	from := strings.ReplaceAll(s.text(module), " ", "")
	if s.has(c, "wildcard_import") {
		s.unit.Exports = append(s.unit.Exports, detect.Binding{Local: "*", Name: "*", Module: from})
		s.unit.Imports = append(s.unit.Imports, detect.Binding{Local: "*", Name: "*", Module: from, Line: s.line(s.nodes[c].start)})
		s.refer(detect.Import, target(from, "*"), c)
		if len(s.stars) < starsMax {
			s.stars = append(s.stars, from)
		}
		return
	}
	for n := range s.items(c) {
		if n == module || s.field(n) != "name" {
			continue
		}
		name, local := s.text(n), s.text(n)
		if s.is(n, "aliased_import") {
			name, local = s.text(s.child(n, "name")), s.text(s.child(n, "alias"))
		}
		s.bind(local, from, name, n)
		if s.is(s.parent(c), "module") { // what a module imports, others can import from it
			s.unit.Exports = append(s.unit.Exports, detect.Binding{Local: local, Name: name, Module: from})
		}
	}
}

// binding reports whether an identifier is where Python binds a name.
func (s *scan) binding(i int) bool {
	for child, up := i, s.parent(i); up >= 0; child, up = up, s.parent(up) {
		switch s.kind(up) {
		case "parameters", "lambda_parameters":
			return true
		case "default_parameter", "typed_default_parameter", "function_definition", "class_definition":
			return s.field(child) == "name"
		case "typed_parameter":
			return s.field(child) != "type"
		case "assignment", "augmented_assignment", "for_statement", "for_in_clause":
			return s.field(child) == "left"
		case "named_expression":
			return s.field(child) == "name"
		case "as_pattern_target":
			return true
		case "pattern_list", "tuple_pattern", "list_pattern", "list_splat_pattern", "dictionary_splat_pattern":
		default:
			return false
		}
	}
	return false
}

// pythonScope is the function, class or comprehension that a bound name belongs to, -1 for the module. The
// names in a class's body hide nothing in its methods.
func (s *scan) pythonScope(i int) int {
	for up := s.parent(i); up > 0; up = s.parent(up) {
		switch s.kind(up) {
		case "function_definition":
			if s.child(up, "name") != i {
				return up
			}
		case "lambda":
			return up
		case "list_comprehension", "set_comprehension", "dictionary_comprehension", "generator_expression":
			if s.is(s.parent(i), "for_in_clause") || s.is(s.parent(s.parent(i)), "for_in_clause") {
				return up
			}
		case "class_definition":
			return -1
		}
	}
	return -1
}

func (s *scan) pythonUses() {
	s.topNames()
	for c := range s.within(0) {
		if s.is(c, "identifier") {
			s.pythonUse(c)
		}
	}
}

func (s *scan) pythonUse(c int) {
	up := s.parent(c)
	if s.is(up, "attribute") && s.field(c) == "attribute" {
		s.selfMember(c, up)
		s.pythonMember(c, up)
		return
	}
	name := s.text(c)
	_, imported := s.bound[name]
	own, declared := s.top[name]
	if s.binding(c) || s.hidden(name, c) || s.is(up, "keyword_argument") && s.field(c) == "name" {
		return
	}
	for at := c; at > 0; at = s.parent(at) {
		if s.is(at, "import_statement", "import_from_statement") {
			return
		}
		if !s.is(at, "identifier", "dotted_name", "aliased_import", "relative_import") {
			break
		}
	}
	// The longest dotted path that is an import: import a.b; a.b.f().
	path, whole := name, c
	for s.is(s.parent(whole), "attribute") && s.child(s.parent(whole), "object") == whole {
		whole = s.parent(whole)
		path += "." + s.text(s.child(whole, "attribute"))
	}
	if !imported {
		for at := strings.LastIndexByte(path, '.'); at > 0; at = strings.LastIndexByte(path[:at], '.') {
			if b, ok := s.bound[path[:at]]; ok && b.name == "*" {
				s.refer(s.pythonKind(whole), target(b.module, firstName(path[at+1:])), c)
				return
			}
		}
	}
	rest := strings.TrimPrefix(strings.TrimPrefix(path, name), ".")
	switch {
	case imported:
		b := s.bound[name]
		to := b.name
		if b.name == "*" {
			to = firstName(rest)
		} else if rest != "" {
			to += "." + firstName(rest)
		}
		if to != "" {
			s.refer(s.pythonKind(whole), target(b.module, to), c)
		}
	case declared && s.known[own].name != c:
		id := s.unit.Symbols[own].ID
		if _, ok := s.index[id+"."+firstName(rest)]; ok {
			id += "." + firstName(rest)
		}
		s.refer(s.pythonKind(whole), id, c)
	case !declared:
		s.starUse(path, whole, c)
	}
}

// starMark begins the target of a name that some module may have given with all its others, as long as that module was not seen:
// all:<module>#<name>.
const starMark = "all:"

// starsMax is how many modules a file may take all names of before the rest is left out: each name may be of each.
const starsMax = 8

// starUse refers to a name that is declared nowhere in the file, by each module whose names the file takes all.
func (s *scan) starUse(path string, whole, c int) {
	first, rest, _ := strings.Cut(path, ".")
	for _, module := range s.stars {
		s.refer(s.pythonKind(whole), starMark+module+"#"+strings.Trim(first+"."+firstName(rest), "."), c)
	}
}

// starGives reports whether a name that was followed is one of those that its modules give with all their others: what __all__
// lists, and without it what has no underscore in front.
func (r *resolver) starGives(id, name string) bool {
	gives := func(file string) bool {
		u := r.units[file]
		if u == nil {
			return false
		}
		listed, found := false, false
		for _, e := range u.Exports {
			if e.Module == "" && e.Local == e.Name {
				listed, found = true, found || e.Local == name
			}
		}
		return found || !listed && !strings.HasPrefix(name, "_")
	}
	for _, through := range r.through {
		if !gives(pathOf(through)) {
			return false
		}
	}
	s := r.symbols["sym:py:"+pathOf(id)+"#"+firstName(nameOf(id))]
	return s != nil && (len(r.through) > 0 || s.Exported)
}

func firstName(path string) string {
	first, _, _ := strings.Cut(path, ".")
	return first
}

// selfMember refers to a member of the class around: self.m, cls.m.
func (s *scan) selfMember(c, up int) {
	object := s.text(s.child(up, "object"))
	if object != "self" && object != "cls" {
		return
	}
	for at := up; at >= 0; at = s.parent(at) {
		i, ok := s.owner[at]
		if !ok || s.unit.Symbols[i].Kind != detect.Class && s.unit.Symbols[i].Kind != detect.Enum {
			continue
		}
		if id := s.unit.Symbols[i].ID + "." + s.text(c); s.index[id] > 0 && s.known[s.index[id]].name != c {
			s.refer(s.pythonKind(up), id, c)
		}
		return
	}
}

func (s *scan) pythonKind(i int) detect.ReferenceKind {
	switch up := s.parent(i); s.kind(up) {
	case "call":
		if s.field(i) == "function" {
			return detect.Call
		}
	case "decorator":
		return detect.Call
	case "argument_list":
		if s.is(s.parent(up), "class_definition") {
			return detect.Extend
		}
	}
	return detect.TypeUse
}
