package code

import (
	"go/ast"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/parley-mesh/parley/detect"
)

var (
	// routerMaker is what makes a router or an application that has routes.
	routerMaker = regexp.MustCompile(`(?i)^(?:express|fastify|polka|restana|koa|hono|openapihono|elysia|application|autorouter|\w*router)$`)
	// routerPart is what makes a router that another one has to serve.
	routerPart = regexp.MustCompile(`(?:^|\.)Router$`)
	// routerName is what a parameter or an import that is a router is most often called.
	routerName = regexp.MustCompile(`(?i)^(?:app|api|server|fastify|instance|r|hono|elysia|\w*router|\w*routes|\w*app)$`)
	// clientName is what a client of HTTP is most often called.
	clientName = regexp.MustCompile(`(?i)^(?:axios|ky|got|http|\$http|\w*api|\w*client|superagent|request|needle)$`)
)

// served is a router as an expression names it.
type served struct {
	router string        // its name in the file, or mod:<module>#<name>
	prefix string        // what the expression itself adds
	part   bool          // it surely hangs on another router
	whole  bool          // it sees whole URLs wherever it hangs, as that of net/http does
	strips *ast.CallExpr // the call of http.StripPrefix that it is
}

func (s *scan) scriptContracts() {
	s.nextRoutes()
	for c := range s.within(0) {
		switch s.kind(c) {
		case "call_expression":
			s.scriptCall(c)
		case "new_expression":
			if s.text(s.child(c, "constructor")) == "Request" {
				s.fetchCall(c, s.child(c, "arguments"), "", true)
			}
		}
	}
	s.zodContracts()
}

// scriptCall looks at a call as a route, a mount, or a request.
func (s *scan) scriptCall(c int) {
	f, args := s.child(c, "function"), s.child(c, "arguments")
	for s.is(f, "instantiation_expression", "non_null_expression", "parenthesized_expression") {
		f = s.item(f, 0)
	}
	if !s.is(f, "member_expression") {
		s.plainCall(c, f, args)
		return
	}
	name := s.text(s.child(f, "property"))
	method, verb := verbs[name]
	switch {
	case name == "fetch":
		s.plainCall(c, f, args)
	case verb && s.verbRoute(c, f, args, method), s.otherRoute(c, f, args, name), s.mount(f, args, name):
	case verb || name == "request":
		s.clientCall(c, f, args, method)
	}
}

// verbRoute reads app.get(path, …, handler) and router.route(path).get(handler).
func (s *scan) verbRoute(c, f, args int, method string) bool {
	object := s.child(f, "object")
	first := s.item(args, 0)
	var paths []int
	if s.is(object, "call_expression") { // router.route("/x").get(h)
		for up := object; s.is(up, "call_expression"); up = s.child(s.child(up, "function"), "object") {
			inner := s.child(up, "function")
			if s.text(s.child(inner, "property")) == "route" && s.item(s.child(up, "arguments"), 1) < 0 && s.callableValue(first) {
				paths, object = []int{s.item(s.child(up, "arguments"), 0)}, s.child(inner, "object")
				break
			}
		}
	}
	handlers := slices.Collect(s.items(args))
	if paths == nil {
		if len(handlers) < 2 {
			return false
		}
		if len(handlers) > 2 && s.namesRoute(handlers[0], handlers[1]) {
			handlers = handlers[1:]
		}
		paths, handlers = handlers[:1], handlers[1:]
		if s.is(paths[0], "array") {
			paths = slices.Collect(s.items(paths[0]))
		}
	}
	at, sure, ok := s.servedBy(object)
	if !ok || !sure && !s.callable(handlers[len(handlers)-1]) && !slices.ContainsFunc(handlers, s.callable) {
		return false
	}
	for _, p := range paths {
		if text, known := s.url(p); known || s.is(p, "string") {
			s.addRoute(c, at, method, text, handlers)
		}
	}
	return true
}

// namesRoute reports whether what stands before a path is only the route's name, as in Koa's router.get("user", "/users/:id", …).
func (s *scan) namesRoute(first, second int) bool {
	name, named := s.str(first)
	path, known := s.str(second)
	return named && known && s.is(first, "string") && !strings.HasPrefix(name, "/") && name != "*" && strings.HasPrefix(path, "/")
}

// callableValue reports whether a node can be a handler: a function, or a name of something.
func (s *scan) callableValue(i int) bool {
	return s.callable(i) || s.is(i, "identifier", "member_expression", "call_expression")
}

// otherRoute reads fastify.route({method, url, handler}), app.on(method, path, handler) and app.openapi(route, …).
func (s *scan) otherRoute(c, f, args int, name string) bool {
	first := s.item(args, 0)
	handlers := slices.Collect(s.items(args))
	listed := name == "on" || len(handlers) > 2 && (name == "route" || name == "register") // by method and path
	if !listed && name != "openapi" && (name != "route" || !s.is(first, "object")) {
		return false
	}
	at, _, ok := s.servedBy(s.child(f, "object"))
	if !ok {
		return false
	}
	url, methods := -1, first
	switch {
	case name == "openapi":
		return s.openapiRoute(c, at, handlers)
	case name == "register": // Koa's router.register(path, methods, handler)
		url, methods, handlers = first, handlers[1], handlers[2:3]
	case !listed:
		if url = s.entry(first, "url"); url < 0 {
			url = s.entry(first, "path")
		}
		methods = s.entry(first, "method")
		handlers = []int{first}
		if h := s.entry(first, "handler"); h >= 0 {
			handlers = append(handlers, h)
		}
	case len(handlers) > 2:
		url, handlers = handlers[1], handlers[2:]
	}
	found := false
	for _, u := range s.each(url) {
		text, known := s.url(u)
		if !known {
			continue
		}
		found = true
		for _, m := range s.each(methods) {
			s.addRoute(c, at, s.methodOf(m), text, handlers)
		}
	}
	return found
}

// methodOf is the method that a value names, "*" if that is not known.
func (s *scan) methodOf(i int) string {
	text, known := s.str(i)
	if !known {
		return "*"
	}
	return strings.ToUpper(strings.ReplaceAll(text, "{}", "*"))
}

// each is what an array holds, or the one thing that is no array.
func (s *scan) each(i int) []int {
	if s.is(i, "array") {
		return slices.Collect(s.items(i))
	}
	return []int{i}
}

// addRoute adds the contract of one route.
func (s *scan) addRoute(c int, at served, method, text string, handlers []int) {
	contract := route(method, below(at.prefix, text))
	contract.Router, contract.Tail = at.router, at.part
	contract.Path, contract.Line = s.unit.Path, s.line(s.nodes[c].start)
	last := handlers[len(handlers)-1]
	if s.is(last, "object") && len(handlers) > 1 { // Elysia puts what it validates last
		last = handlers[len(handlers)-2]
	}
	contract.Handler, contract.Hash = s.handler(last)
	for _, h := range handlers {
		s.routeSchemas(h, &contract)
	}
	s.unit.Contracts = append(s.unit.Contracts, contract)
}

// handler is the name of what serves a route, and the hash of what is written on the spot.
func (s *scan) handler(i int) (name string, hash uint64) {
	h := sumStart
	s.tokens(i, nil, func(_ int, token string) { h = h.add(token) })
	for s.is(i, "call_expression") && s.item(s.child(i, "arguments"), 0) >= 0 { // asyncHandler(create)
		i = s.item(s.child(i, "arguments"), 0)
	}
	switch s.kind(i) {
	case "identifier":
		return s.nameOf(s.text(i), ""), uint64(h)
	case "member_expression":
		if object := s.child(i, "object"); s.is(object, "identifier") {
			return s.nameOf(s.text(object), s.text(s.child(i, "property"))), uint64(h)
		}
	}
	return "", uint64(h)
}

// nameOf is what a name of the file, and a member of it, stand for.
func (s *scan) nameOf(name, member string) string {
	if b, ok := s.bound[name]; ok {
		switch {
		case member == "":
			return target(b.module, b.name)
		case b.name == "*":
			return target(b.module, member)
		}
		return target(b.module, b.name+"."+member)
	}
	if member != "" {
		name += "." + member
	}
	if i, ok := s.index[s.id(name)]; ok {
		return s.unit.Symbols[i].ID
	}
	return ""
}

// routeSchemas reads what a route says of its input and output.
func (s *scan) routeSchemas(h int, contract *detect.Contract) {
	switch s.kind(h) {
	case "call_expression": // zValidator("json", schema), validate(schema)
		f := s.plain(s.child(h, "function"))
		if !strings.Contains(strings.ToLower(f), "valid") {
			return
		}
		args := slices.Collect(s.items(s.child(h, "arguments")))
		if len(args) == 0 {
			return
		}
		where := "body"
		if len(args) > 1 {
			where, _ = s.str(args[0])
		}
		contract.Inputs = joinSchemas(contract.Inputs, where, s.schemaText(args[len(args)-1]))
	case "object": // Fastify's and Elysia's options
		from := h
		if inner := s.entry(h, "schema"); inner >= 0 {
			from = inner
		}
		for _, key := range []string{"body", "query", "querystring", "params", "headers"} {
			if v := s.entry(from, key); v >= 0 {
				contract.Inputs = joinSchemas(contract.Inputs, key, s.schemaText(v))
			}
		}
		if v := s.entry(from, "response"); v >= 0 {
			contract.Outputs = joinSchemas(contract.Outputs, "response", s.schemaText(v))
		}
	}
}

func joinSchemas(have, where, schema string) string {
	if have != "" {
		have += "; "
	}
	return have + where + ": " + schema
}

// servedBy finds the router that an expression stands for. Sure says that it surely is one.
func (s *scan) servedBy(i int) (at served, sure, ok bool) {
	defer s.leave()
	if !s.enter() {
		return at, false, false
	}
	for left := valuesMax; left > 0 && i >= 0; left-- {
		switch s.kind(i) {
		case "call_expression": // a chain, or what makes a router
			f := s.child(i, "function")
			if !s.is(f, "member_expression") || s.makesRouter(i) {
				return s.madeHere(i, at)
			}
			name := s.text(s.child(f, "property"))
			object := s.child(f, "object")
			if name == "basePath" || name == "prefix" && !s.is(object, "identifier") { // those of names: [scan.prefixed]
				text, _ := s.url(s.item(s.child(i, "arguments"), 0))
				at.prefix = below(text, at.prefix)
			}
			i = object
			left++ // a chain is as long as it likes: the tree's depth bounds it
		case "new_expression":
			return s.madeHere(i, at)
		case "identifier":
			return s.namedRouter(i, at)
		case "parenthesized_expression", "await_expression", "non_null_expression":
			i = s.item(i, 0)
		default:
			return at, false, false
		}
	}
	return at, false, false
}

// makesRouter reports whether a call or new expression makes a router.
func (s *scan) makesRouter(i int) bool {
	f := s.child(i, "function")
	if s.is(i, "new_expression") {
		f = s.child(i, "constructor")
	}
	if s.is(f, "call_expression") { // require("express")()
		return routerMaker.MatchString(path.Base(s.required(f)))
	}
	if object := s.child(f, "object"); s.is(object, "call_expression") && s.required(object) != "" {
		return routerMaker.MatchString(s.text(s.child(f, "property"))) // require("express").Router()
	}
	name := s.text(f)
	return (s.is(f, "identifier") || s.is(f, "member_expression") && !strings.ContainsAny(name, "(\n")) &&
		routerMaker.MatchString(name[strings.LastIndexByte(name, '.')+1:])
}

// madeHere is a router at the place where it is made: it has the name of what it is assigned to.
func (s *scan) madeHere(i int, at served) (served, bool, bool) {
	if !s.makesRouter(i) {
		return at, false, false
	}
	at.part = routerPart.MatchString(s.text(s.child(i, "function")))
	if own := s.entry(s.item(s.child(i, "arguments"), 0), "prefix"); own >= 0 {
		text, _ := s.url(own)
		at.prefix = below(text, at.prefix)
	}
	for up := s.parent(i); up >= 0; up = s.parent(up) {
		switch s.kind(up) {
		case "variable_declarator":
			at.router = s.text(s.child(up, "name"))
			return at, true, true
		case "export_statement":
			at.router = "default"
			return at, true, true
		case "statement_block", "arguments":
			return at, true, true
		}
	}
	return at, true, true
}

// namedRouter is a router by its name: a constant, a parameter, or an import.
func (s *scan) namedRouter(i int, at served) (served, bool, bool) {
	name := s.text(i)
	if f := s.functionWith(i, name); f >= 0 {
		return s.paramRouter(f, name, at)
	}
	if value := s.valueOf(i, name); value >= 0 {
		root := value
		for s.is(root, "call_expression") && !s.makesRouter(root) && s.is(s.child(root, "function"), "member_expression") {
			root = s.child(s.child(root, "function"), "object")
		}
		if root = s.unwrap(root); s.is(root, "call_expression", "new_expression") && s.makesRouter(root) {
			inner, sure, ok := s.servedBy(value)
			inner.prefix, inner.router = below(s.prefixed(i, name, inner.prefix), at.prefix), name
			if at.prefix == "" {
				inner.prefix = strings.TrimSuffix(inner.prefix, "/")
			}
			return inner, sure, ok
		}
		return at, false, false
	}
	if b, ok := s.bound[name]; ok && routerName.MatchString(name) && !strings.Contains(b.module, "axios") {
		at.router, at.prefix = routerOf(b), below(s.prefixed(i, name, ""), at.prefix)
		return at, false, true
	}
	return at, false, false
}

func (s *scan) unwrap(i int) int {
	for s.is(i, "parenthesized_expression", "await_expression", "as_expression") {
		i = s.item(i, 0)
	}
	return i
}

// valueOf is the node that a name is set to, at the top of the file or in the function around, -1 if none is
// known.
func (s *scan) valueOf(i int, name string) int {
	if value, ok := s.values[name]; ok && !s.hidden(name, i) {
		return value
	}
	if s.made == nil {
		s.made = map[string][]int{}
		for c := range s.within(0) {
			if s.is(c, "variable_declarator") {
				left := s.text(s.child(c, "name"))
				s.made[left] = append(s.made[left], c)
			}
		}
	}
	list := s.made[name]
	last, _ := slices.BinarySearch(list, i)
	for _, d := range slices.Backward(list[max(0, last-valuesMax):last]) {
		block := s.parent(d)
		for block > 0 && !s.is(block, "statement_block") {
			block = s.parent(block)
		}
		if block > 0 && block < i && i < int(s.nodes[block].next) {
			return s.child(d, "value")
		}
	}
	return -1
}
