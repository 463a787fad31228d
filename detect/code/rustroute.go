package code

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/parley-mesh/parley/detect"
)

// Routers of Rust are chains of calls: Router::new().route(…).nest(…) of axum, App::new().service(…), web::scope(…) and
// web::resource(…) of actix. A chain has the name of the variable or the function that it is, else one by its place.

var (
	// rustRouterMade is the call at the root of a chain.
	rustRouterMade = regexp.MustCompile(`^(?:\w+::)*(?:(?:OpenApi)?Router(?:::<[^()]*>)?::(?:new|default)|App::new|scope|resource)$`)
	// rustRouterType is the type of a router that a function is given.
	rustRouterType = regexp.MustCompile(`\b(?:Router|ServiceConfig|Scope|App)\b`)
)

// rustRoutes reads the routes of axum and actix.
func (s *scan) rustRoutes() {
	for c := range s.within(0) {
		if s.is(c, "const_item", "static_item") {
			s.values[s.text(s.child(c, "name"))] = s.child(c, "value")
			if i, ok := s.owner[c]; ok {
				s.values[nameOf(s.unit.Symbols[i].ID)] = s.child(c, "value")
			}
		}
	}
	for c := range s.within(0) {
		switch s.kind(c) {
		case "call_expression":
			s.rustRouteCall(c)
		case "attribute_item":
			s.rustAttribute(c)
		case "return_expression":
			s.rustGives(c, s.item(c, 0))
		case "function_item":
			if last := s.rustLast(s.child(c, "body")); last >= 0 {
				s.rustGives(last, last)
			}
		}
	}
}

// rustLast is what a block ends in, -1 if that is a statement.
func (s *scan) rustLast(block int) (last int) {
	last = -1
	for c := range s.items(block) {
		last = c
	}
	if s.is(last, "expression_statement") || strings.HasSuffix(s.kind(last), "_item") || s.is(last, "let_declaration") {
		return -1
	}
	return last
}

// rustCall splits object.name(…).
func (s *scan) rustCall(c int) (object int, name string, args int) {
	f := s.child(c, "function")
	if s.is(f, "generic_function") {
		f = s.child(f, "function")
	}
	if !s.is(c, "call_expression") || !s.is(f, "field_expression") {
		return -1, "", -1
	}
	return s.child(f, "value"), s.text(s.child(f, "field")), s.child(c, "arguments")
}

// rustRouteCall looks at one call of a chain as a route or a mount.
func (s *scan) rustRouteCall(c int) {
	object, name, args := s.rustCall(c)
	if object < 0 {
		return
	}
	switch name {
	case "route", "nest", "merge", "service", "configure", "to", "nest_service", "route_service":
	default:
		return
	}
	s.budget = stepsMax
	at, ok := s.rustRouter(object, valuesMax)
	if !ok {
		return
	}
	first, second := s.item(args, 0), s.item(args, 1)
	path, known := s.url(first)
	switch {
	case name == "route" && second >= 0:
		if known {
			s.rustMethods(c, at, path, second)
		}
	case name == "route": // web::resource("/x").route(web::get().to(h))
		s.rustMethods(c, at, "", first)
	case name == "to" && at.part: // web::resource("/x").to(h)
		s.rustRoute(c, at, "*", "", first)
	case name == "route_service":
		s.rustRoute(c, at, "*", path, second)
	case name == "nest":
		s.rustMount(at, path, second)
	case name == "merge", name == "service", name == "configure":
		s.rustMount(at, "", first)
	}
}

// rustMount says that what an argument stands for is served by a router.
func (s *scan) rustMount(at served, prefix string, arg int) {
	router := ""
	if inner, ok := s.rustRouter(arg, valuesMax); ok {
		router = inner.router
	} else {
		router = s.rustNamed(arg)
	}
	if router != "" && router != at.router {
		s.unit.Mounts = append(s.unit.Mounts, detect.Mount{
			Prefix: below(at.prefix, prefix), Router: router, Into: at.router, Line: s.line(s.nodes[arg].start),
		})
	}
}

// rustNamed is the function, of this file or another, that a path names.
func (s *scan) rustNamed(i int) string {
	if !s.is(i, "identifier", "scoped_identifier") {
		return ""
	}
	parts := s.rustPath(i)
	first, rest := parts[0], parts[1:]
	if b, ok := s.bound[first]; ok {
		names := append([]string{b.name}, rest...)
		if b.name == "*" {
			names = rest
		}
		if len(names) == 0 {
			return ""
		}
		modules := append(strings.Split(b.module, "::"), names[:len(names)-1]...)
		return target(strings.TrimPrefix(strings.Join(modules, "::"), "::"), names[len(names)-1])
	}
	switch {
	case len(rest) == 0:
		return first
	case first == "Self":
		return nameOf(s.selfType(i)) + "." + rest[0]
	case upperFirst(first) || hasKey(s.index, s.id(strings.Join(parts, "."))):
		return strings.Join(parts, ".")
	}
	return target(strings.Join(parts[:len(parts)-1], "::"), parts[len(parts)-1])
}

// rustConstantOf is the constant that a path names: its name in the file, else what it is of another; a type's constant stands below the type.
func (s *scan) rustConstantOf(i int) string {
	parts := s.rustPath(i)
	last := parts[len(parts)-1]
	if of := parts[max(0, len(parts)-2)]; len(parts) > 1 && upperFirst(of) && of != "Self" {
		if b, ok := s.bound[of]; ok && len(parts) == 2 {
			return target(b.module, b.name+"."+last)
		}
		if len(parts) > 2 {
			return target(strings.Join(parts[:len(parts)-2], "::"), of+"."+last)
		}
	}
	return s.rustNamed(i)
}

// rustRouter finds the router that an expression stands for. Part says that it is a resource.
func (s *scan) rustRouter(i, left int) (at served, ok bool) {
	whole := i
	for ; left > 0 && i >= 0; left-- {
		switch s.kind(i) {
		case "call_expression":
			if object, _, _ := s.rustCall(i); object >= 0 {
				i = object
				left++ // a chain is as long as it likes: the tree's depth bounds it
				continue
			}
			f := s.child(i, "function")
			if made := strings.ReplaceAll(s.plain(f), " ", ""); len(made) < 200 && rustRouterMade.MatchString(made) {
				at.part = strings.HasSuffix(made, "resource")
				if at.part || strings.HasSuffix(made, "scope") {
					at.prefix, _ = s.url(s.item(s.child(i, "arguments"), 0))
				}
				at.router = s.rustNameOf(i)
				return at, true
			}
			at.router = s.rustNamed(f) // a function of its own that makes one
			return at, at.router != "" && whole != i || s.is(s.parent(whole), "arguments") && at.router != ""
		case "identifier":
			return s.rustVariable(i, left)
		case "await_expression", "try_expression", "parenthesized_expression", "reference_expression":
			i = s.item(i, 0)
		default:
			return at, false
		}
	}
	return at, false
}

// rustVariable is the router that a local variable or a parameter stands for.
func (s *scan) rustVariable(i, left int) (at served, ok bool) {
	f := s.rustFunctionOf(i)
	name := s.text(i)
	for p := range s.items(s.child(f, "parameters")) {
		if s.is(p, "parameter") && strings.TrimPrefix(s.text(s.child(p, "pattern")), "mut ") == name {
			at.router = s.rustFunctionName(f)
			return at, at.router != "" && rustRouterType.MatchString(s.text(s.child(p, "type")))
		}
	}
	lets := s.rustLets(f)[name]
	n, _ := slices.BinarySearch(lets, i)
	for _, let := range slices.Backward(lets[:n]) {
		if int(s.nodes[let].next) <= i && s.step() {
			if at, ok = s.rustRouter(s.child(let, "value"), left-1); ok {
				return at, true
			}
		}
	}
	return served{}, false
}

// rustLets are the declarations of a function's variables, by name, in order.
func (s *scan) rustLets(f int) map[string][]int {
	if s.lets == nil {
		s.lets = map[int]map[string][]int{}
	}
	if s.lets[f] == nil {
		s.lets[f] = map[string][]int{}
		for c := range s.within(f) {
			if s.is(c, "let_declaration") {
				s.lets[f][s.rustPattern(c)] = append(s.lets[f][s.rustPattern(c)], c)
			}
		}
	}
	return s.lets[f]
}

func (s *scan) rustPattern(let int) string {
	return strings.TrimPrefix(s.text(s.child(let, "pattern")), "mut ")
}

// rustFunctionOf is the function around a node, the file if there is none.
func (s *scan) rustFunctionOf(i int) int {
	for i > 0 && !s.is(i, "function_item") {
		i = s.parent(i)
	}
	return max(i, 0)
}

// rustFunctionName is a function's name in the file, as routers are called.
func (s *scan) rustFunctionName(f int) string {
	if i, ok := s.owner[f]; ok && f > 0 {
		return nameOf(s.unit.Symbols[i].ID)
	}
	return ""
}

// rustNameOf names a router where it is made: what a let binds in a function, else the place in the file.
func (s *scan) rustNameOf(i int) string {
	at := i
	for s.is(s.parent(at), "field_expression", "call_expression", "await_expression", "try_expression") && !s.is(at, "arguments") {
		at = s.parent(at)
	}
	if let := s.parent(at); s.is(let, "let_declaration") {
		return s.rustFunctionName(s.rustFunctionOf(i)) + "." + s.rustPattern(let)
	}
	return s.rustFunctionName(s.rustFunctionOf(i)) + "@" + strconv.Itoa(int(s.nodes[i].start))
}

// rustGives says that a function is what it returns: its router has the function's name for others.
func (s *scan) rustGives(at, i int) {
	s.budget = stepsMax
	f := s.rustFunctionName(s.rustFunctionOf(at))
	if given, ok := s.rustRouter(i, valuesMax); ok && f != "" && given.router != f {
		s.unit.Mounts = append(s.unit.Mounts, detect.Mount{Router: given.router, Into: f, Line: s.line(s.nodes[at].start)})
	}
}

// rustMethods adds the routes of get(h).post(h), web::get().to(h) and the like.
func (s *scan) rustMethods(c int, at served, path string, i int) {
	handler, found := -1, false
	for left := valuesMax; left > 0 && s.is(i, "call_expression"); left-- {
		object, name, args := s.rustCall(i)
		if object < 0 {
			parts := s.rustPath(s.child(i, "function"))
			name, args = parts[len(parts)-1], s.child(i, "arguments")
		}
		first := s.item(args, 0)
		method, verb := verbs[strings.TrimSuffix(name, "_service")]
		switch {
		case name == "to":
			handler = first
		case name == "method" || name == "on":
			text := s.text(first)
			verb, method = true, strings.ToUpper(text[strings.LastIndexByte(text, ':')+1:])
			if name == "on" {
				handler = s.item(args, 1)
			}
		case verb && first >= 0:
			handler = first
		}
		if verb {
			found = true
			s.rustRoute(c, at, method, path, handler)
		}
		i = object
	}
	if !found {
		s.rustRoute(c, at, "*", path, handler)
	}
}

// rustRoute adds the contract of one route.
func (s *scan) rustRoute(c int, at served, method, path string, handler int) {
	contract := route(method, below(at.prefix, path))
	contract.Router, contract.Path, contract.Line = at.router, s.unit.Path, s.line(s.nodes[c].start)
	h := sumStart
	if handler >= 0 {
		s.tokens(handler, nil, func(_ int, token string) { h = h.add(token) })
		contract.Line = s.line(s.nodes[handler].start)
		if name := s.rustNamed(handler); strings.HasPrefix(name, "mod:") {
			contract.Handler = name
		} else if i, ok := s.index[s.id(name)]; ok {
			contract.Handler = s.unit.Symbols[i].ID
		}
	}
	contract.Hash = uint64(h)
	s.unit.Contracts = append(s.unit.Contracts, contract)
}

// rustAttribute reads #[get("/x")] and #[route("/x", method = "GET")] before a function, which a service of that name serves.
func (s *scan) rustAttribute(c int) {
	attribute := s.item(c, 0)
	parts := s.rustPath(s.item(attribute, 0))
	name := parts[len(parts)-1]
	method, verb := verbs[name]
	if !verb && name != "route" {
		return
	}
	f := s.rustItemAfter(c)
	i, ok := s.owner[f]
	var texts []string
	for t := range s.within(attribute) {
		if s.is(t, "string_literal", "raw_string_literal") {
			texts = append(texts, quotedText(s.text(t)))
		}
	}
	if !ok || len(texts) == 0 || !strings.HasPrefix(texts[0], "/") && texts[0] != "" {
		return
	}
	methods := []string{method}
	if !verb {
		methods = texts[1:]
	}
	handler := s.unit.Symbols[i].ID
	for _, m := range methods {
		contract := route(strings.ToUpper(m), texts[0])
		contract.Router, contract.Path, contract.Line = nameOf(handler), s.unit.Path, s.line(s.nodes[c].start)
		contract.Handler = handler
		s.unit.Contracts = append(s.unit.Contracts, contract)
	}
}

// attributesMax is how many attributes may stand between one and its function.
const attributesMax = 64

// rustItemAfter is what an attribute stands before, -1 if too many others do.
func (s *scan) rustItemAfter(c int) int {
	end, left := int(s.nodes[s.parent(c)].next), attributesMax
	for o := int(s.nodes[c].next); o < end && left > 0; o = int(s.nodes[o].next) {
		switch {
		case s.is(o, "attribute_item"):
			left--
		case s.named(o) && !s.comment(o):
			return o
		}
	}
	return -1
}
