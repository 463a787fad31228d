package code

import (
	"regexp"
	"slices"
	"strings"

	"github.com/parley-mesh/parley/detect"
)

// springVerbs are the annotations that say what a method of a controller serves, and the HTTP method; "" for those that
// say it in their arguments.
var springVerbs = map[string]string{
	"GetMapping": "GET", "PostMapping": "POST", "PutMapping": "PUT", "PatchMapping": "PATCH", "DeleteMapping": "DELETE", "RequestMapping": "",
}

// springPattern is what a path variable has to match, behind its name; it may hold braces.
var springPattern = regexp.MustCompile(`\{(\w+):(?:[^{}]|\{[^{}]*\})*\}`)

// springSetting begins a path with a setting of the application.
var springSetting = regexp.MustCompile(`^/?[$#]\{[^{}]*\}`)

// springRoutes reads the routes of controllers of Spring, and the requests of clients that look like them (Feign).
func (s *scan) springRoutes() {
	for c := range s.within(0) {
		if s.is(c, "field_declaration", "constant_declaration") {
			s.javaConstant(c)
		}
	}
	for c := range s.within(0) {
		if !s.is(c, "class_declaration", "interface_declaration", "record_declaration") {
			continue
		}
		prefixes, client := []string{""}, false
		for name, args := range s.annotations(c) {
			switch name {
			case "RequestMapping":
				prefixes = s.springPaths(args)
			case "FeignClient":
				client = true
				if path, known := s.url(s.annotated(args, "path")); known {
					prefixes = []string{path}
				}
			}
		}
		for m := range s.items(s.child(c, "body")) {
			if s.is(m, "method_declaration") {
				s.springMethod(m, prefixes, client)
			}
		}
	}
}

// javaConstant notes the values of final fields, by their own name and by that of the class and theirs.
func (s *scan) javaConstant(c int) {
	if !s.has(s.first(c, "modifiers"), "final") && !s.is(c, "constant_declaration") {
		return
	}
	class := s.text(s.child(s.parent(s.parent(c)), "name"))
	for d := range s.items(c) {
		if value := s.child(d, "value"); s.is(d, "variable_declarator") && value >= 0 {
			name := s.text(s.child(d, "name"))
			s.values[class+"."+name] = value
			if i, ok := s.owner[c]; ok && s.unit.Symbols[i].Container != "" { // as others name it
				s.values[nameOf(s.unit.Symbols[i].Container)+"."+name] = value
			}
			if _, taken := s.values[name]; !taken {
				s.values[name] = value
			}
		}
	}
}

// javaConstantOf is the constant of another class that is named by it, or by its package too, "" for anything else.
func (s *scan) javaConstantOf(i int) string {
	parts := strings.Split(s.plain(i), ".")
	class := slices.IndexFunc(parts, upperFirst)
	if class < 0 || class == len(parts)-1 || len(parts) > valuesMax || strings.ContainsAny(s.text(i), "()[]") || s.hidden(parts[0], i) {
		return ""
	}
	name := strings.Join(parts[class:], ".")
	if class > 0 {
		return target(strings.Join(parts[:class], "."), name)
	}
	if b, ok := s.bound[parts[0]]; ok {
		return target(b.module, strings.Join(append([]string{b.name}, parts[1:]...), "."))
	}
	if hasKey(s.top, parts[0]) {
		return ""
	}
	return target("", name)
}

// annotations goes over those of a declaration: the last part of their names, and the list of their arguments or -1.
func (s *scan) annotations(c int) func(yield func(string, int) bool) {
	return func(yield func(string, int) bool) {
		for a := range s.items(s.first(c, "modifiers")) {
			if s.is(a, "annotation", "marker_annotation") {
				name := s.text(s.child(a, "name"))
				if !yield(name[strings.LastIndexByte(name, '.')+1:], s.child(a, "arguments")) {
					return
				}
			}
		}
	}
}

// annotated is the value of one of the keys among an annotation's arguments, -1 if there is none. The key "value" may be left out.
func (s *scan) annotated(args int, keys ...string) int {
	for a := range s.items(args) {
		if !s.is(a, "element_value_pair") {
			if keys[0] == "value" {
				return a
			}
			continue
		}
		for _, key := range keys {
			if s.text(s.child(a, "key")) == key {
				return s.child(a, "value")
			}
		}
	}
	return -1
}

// javaEach is what an array of an annotation holds, or the one thing that is no array.
func (s *scan) javaEach(i int) (all []int) {
	if !s.is(i, "element_value_array_initializer") {
		return []int{i}
	}
	for v := range s.items(i) {
		all = append(all, v)
	}
	return all
}

// springPaths are the paths that a mapping names, "" for one that names none; one that is not known is {}.
func (s *scan) springPaths(args int) (paths []string) {
	list := s.annotated(args, "value", "path")
	if list < 0 {
		return []string{""}
	}
	for _, p := range s.javaEach(list) {
		text, _ := s.url(p)
		paths = append(paths, text)
	}
	if paths == nil {
		return []string{""}
	}
	return paths
}

// springMethods are the methods of HTTP that a mapping names, "*" for one that names none.
func (s *scan) springMethods(args int) (methods []string) {
	if list := s.annotated(args, "method"); list >= 0 {
		for _, v := range s.javaEach(list) {
			text := s.text(v)
			methods = append(methods, text[strings.LastIndexByte(text, '.')+1:])
		}
	}
	if methods == nil {
		return []string{"*"}
	}
	return methods
}

// springMethod reads what one method serves, or asks for.
func (s *scan) springMethod(m int, prefixes []string, client bool) {
	var served *detect.Contract
	for name, args := range s.annotations(m) {
		verb, ok := springVerbs[name]
		if !ok {
			continue
		}
		methods := []string{verb}
		if verb == "" {
			methods = s.springMethods(args)
		}
		if served == nil && !client {
			served = s.springServed(m)
		}
		paths := s.springPaths(args)
		for _, prefix := range prefixes {
			for _, path := range paths {
				for _, method := range methods {
					if !s.another() {
						return
					}
					s.springRoute(m, method, below(prefix, path), served)
				}
			}
		}
	}
}

// routesMax is how many routes and requests one file may have whose number is a product of what it lists.
const routesMax = 2000

// another reports whether the file may have one more route. If not, nobody knows what else it has.
func (s *scan) another() bool {
	if s.routes++; s.routes > routesMax {
		s.unit.Quality = max(s.unit.Quality, detect.Recovered)
	}
	return s.routes <= routesMax
}

// springServed is what all routes of one method have in common.
func (s *scan) springServed(m int) *detect.Contract {
	contract := &detect.Contract{Path: s.unit.Path, Line: s.line(s.nodes[m].start)}
	if i, ok := s.owner[m]; ok {
		contract.Handler = s.unit.Symbols[i].ID
	}
	contract.Hash, _ = s.hashes(declared{index: -1, nodes: []int{m}, name: -1}, "")
	s.springInputs(m, contract)
	return contract
}

// springRoute adds one route, or one request if nothing is served. A path that begins with a setting, or with what is not known,
// is known by its end.
func (s *scan) springRoute(m int, method, path string, served *detect.Contract) {
	path = springPattern.ReplaceAllString(path, "{$1}")
	rest := springSetting.ReplaceAllString(path, "")
	tail := rest != path
	if cut, ok := strings.CutPrefix(rest, "{}"); ok {
		rest, tail = cut, true
	}
	if tail && strings.Trim(rest, "/{}") == "" {
		return // nothing of it is known
	}
	if served == nil {
		s.requested(m, method, map[bool]string{true: "{}"}[tail]+joinPath("", rest), true)
		return
	}
	contract, at := *served, route(method, rest)
	contract.ID, contract.Kind, contract.Params, contract.Tail = at.ID, at.Kind, at.Params, tail
	s.unit.Contracts = append(s.unit.Contracts, contract)
}

// springInputs is what a method of a controller takes from a request, and what it gives.
func (s *scan) springInputs(m int, contract *detect.Contract) {
	asked := map[string]objectField{}
	for p := range s.items(s.child(m, "parameters")) {
		of := s.plain(s.child(p, "type"))
		for name, args := range s.annotations(p) {
			switch name {
			case "RequestBody":
				contract.Inputs = joinSchemas(contract.Inputs, "body", of)
			case "RequestParam", "RequestHeader":
				key, known := s.str(s.annotated(args, "value", "name"))
				if !known {
					key = s.text(s.child(p, "name"))
				}
				optional := s.text(s.annotated(args, "required")) == "false" || s.annotated(args, "defaultValue") >= 0 || strings.HasPrefix(of, "Optional<")
				asked[key] = objectField{of, optional}
			}
		}
	}
	if len(asked) > 0 {
		contract.Inputs = joinSchemas(contract.Inputs, "params", objectText(asked))
	}
	if of := s.plain(s.child(m, "type")); of != "" && of != "void" {
		contract.Outputs = "response: " + of
	}
}
