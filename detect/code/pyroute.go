package code

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"github.com/parley-mesh/parley/detect"
)

// pythonContracts reads routes, mounts and requests.
func (s *scan) pythonContracts() {
	for c := range s.within(0) {
		switch s.kind(c) {
		case "decorator":
			if call := s.item(c, 0); s.is(call, "call") {
				s.decoratorRoute(c, call)
			}
		case "call":
			if !s.is(s.parent(c), "decorator") {
				s.routeCall(c)
				s.pythonRequest(c)
			}
		}
	}
}

// argument is an argument by its name, or by its place, -1 if there is none.
func (s *scan) argument(args int, name string, place int) int {
	for a := range s.items(args) {
		if s.is(a, "keyword_argument") {
			if s.text(s.child(a, "name")) == name {
				return s.child(a, "value")
			}
			continue
		}
		if place == 0 {
			return a
		}
		place--
	}
	return -1
}

// keyword is an argument that is given by name, -1 if there is none.
func (s *scan) keyword(args int, name string) int { return s.argument(args, name, 1<<30) }

// decoratorRoute reads @app.get("/x") and @app.route("/x", methods=[…]).
func (s *scan) decoratorRoute(c, call int) {
	f, args := s.child(call, "function"), s.child(call, "arguments")
	if !s.is(f, "attribute") {
		return
	}
	name := s.text(s.child(f, "attribute"))
	path, known := s.url(s.pathOf(args, 0))
	method, verb := verbs[name]
	switch name {
	case "trace":
		method, verb = "TRACE", true
	case "websocket", "websocket_route":
		method, verb = "GET", true // with which a websocket begins
	}
	if !known && path == "{}" || !verb && name != "route" && name != "api_route" {
		return
	}
	definition := s.child(s.parent(c), "definition")
	methods := []string{method}
	if !verb {
		methods = s.methodList(s.keyword(args, "methods"), "GET")
	}
	handler := ""
	if i, ok := s.owner[s.parent(c)]; ok {
		handler = s.unit.Symbols[i].ID
	}
	for _, m := range methods {
		contract := s.pythonRoute(m, path, s.child(f, "object"), c)
		contract.Handler = handler
		contract.Hash, _ = s.hashes(declared{index: -1, nodes: []int{definition}, name: -1}, "")
		s.pythonSchemas(definition, args, &contract)
		s.unit.Contracts = append(s.unit.Contracts, contract)
	}
}

func (s *scan) methodList(list int, standard string) (methods []string) {
	for m := range s.items(list) {
		if text, known := s.str(m); known {
			methods = append(methods, strings.ToUpper(text))
		}
	}
	if list < 0 {
		return []string{standard}
	}
	if methods == nil {
		return []string{"*"}
	}
	return methods
}

// pathOf is the argument that is a route's path: by one of the names that frameworks give it, or by its place.
func (s *scan) pathOf(args, place int) int {
	for _, name := range []string{"path", "rule", "uri"} {
		if v := s.keyword(args, name); v >= 0 {
			return v
		}
	}
	return s.argument(args, "", place)
}

// pythonRoute makes a contract with the prefix of its router, as far as this file says it.
func (s *scan) pythonRoute(method, path string, router, at int) detect.Contract {
	var name, prefix string
	part := false
	if router >= 0 {
		name, prefix = s.pythonRouter(router)
		part = s.routerPart(router)
	} else {
		name, prefix, part = s.hung(at)
	}
	contract := route(method, below(prefix, path))
	contract.Tail, contract.Router, contract.Path, contract.Line = part, name, s.unit.Path, s.line(s.nodes[at].start)
	return contract
}

// pythonSchemas reads what FastAPI takes and gives from the handler's own signature.
func (s *scan) pythonSchemas(definition, args int, c *detect.Contract) {
	fast := false
	for _, b := range s.unit.Imports {
		fast = fast || b.Module == "fastapi" || strings.HasPrefix(b.Module, "fastapi.")
	}
	if !fast || !s.is(definition, "function_definition") {
		return
	}
	fields := map[string]objectField{}
	list := s.child(definition, "parameters")
	for _, p := range s.pythonParams(list) {
		of := cmp.Or(p.Type, "?")
		if p.Kind == detect.Variadic || p.Kind == detect.KeywordVariadic || p.Name == "self" || s.depends(of) || slices.Contains([]string{"Request", "Response", "BackgroundTasks", "WebSocket"}, of) {
			continue
		}
		fields[p.Name] = objectField{of, p.Optional}
	}
	for p := range s.items(list) {
		if strings.HasPrefix(s.text(s.child(p, "value")), "Depends(") {
			delete(fields, s.text(s.child(p, "name")))
		}
	}
	if len(fields) > 0 {
		c.Inputs = "params: " + objectText(fields)
	}
	response := s.pythonType(s.keyword(args, "response_model"))
	if response == "" {
		response = s.pythonType(s.child(definition, "return_type"))
	}
	for _, part := range []string{"response_model_include", "response_model_exclude", "response_model_by_alias"} {
		if s.keyword(args, part) >= 0 {
			response = "'" + strings.ReplaceAll(response, "'", "") + "'" // not all of it
		}
	}
	if response != "" {
		c.Outputs = "response: " + response
	}
}

// depends reports whether the server itself gives what has a type: Annotated[…, Depends(…)], or a name of the file for that.
func (s *scan) depends(of string) bool {
	if value, ok := s.values[of]; ok && s.is(value, "subscript") {
		of = s.text(value)
	}
	return strings.Contains(of, "Depends(")
}

// routeCall reads routes and mounts that are calls of their own.
func (s *scan) routeCall(c int) {
	f, args := s.child(c, "function"), s.child(c, "arguments")
	object := s.child(f, "object")
	switch name := s.maker(c); name {
	case "Route", "WebSocketRoute", "APIRoute", "APIWebSocketRoute":
		s.callRoute(c, args, s.pathOf(args, 0), s.argument(args, "endpoint", 1), -1)
	case "add_api_route", "add_url_rule", "add_websocket_route", "add_api_websocket_route":
		handler := s.argument(args, "endpoint", 1)
		if v := s.keyword(args, "view_func"); v >= 0 {
			handler = v
		} else if name == "add_url_rule" {
			handler = s.argument(args, "view_func", 2)
		}
		s.callRoute(c, args, s.pathOf(args, 0), handler, object)
	case "add_route":
		path, handler := s.pathOf(args, 0), s.argument(args, "endpoint", 1)
		if !s.is(path, "string") { // Sanic puts the handler first
			path, handler = s.pathOf(args, 1), s.argument(args, "handler", 0)
		}
		s.callRoute(c, args, path, handler, object)
	case "include_router", "register_blueprint", "blueprint", "mount", "Mount":
		s.pythonMount(c, args, name, object)
	case "Blueprint":
		s.ownPrefix(c, args)
	case "group":
		s.blueprintGroup(c, args)
	case "Starlette", "Router", "FastAPI":
		s.pythonMount(c, args, name, c)
	}
}

// callRoute adds a route whose handler is an argument.
func (s *scan) callRoute(c, args, path, handler, router int) {
	text, known := s.url(path)
	if !known && text == "{}" {
		return
	}
	standard := "GET"
	served := s.viewClass(handler)
	switch {
	case served != "":
		standard = byHandler + "*"
	case s.is(handler, "identifier"):
		served, standard = s.nameOf(s.text(handler), ""), byHandler+standard
	case s.is(handler, "attribute") && s.is(s.child(handler, "object"), "identifier"):
		served, standard = s.nameOf(s.text(s.child(handler, "object")), s.text(s.child(handler, "attribute"))), byHandler+standard
	}
	methods := s.keyword(args, "methods")
	if methods < 0 {
		methods = s.classMethods(served)
	}
	for _, m := range s.methodList(methods, standard) {
		contract := s.pythonRoute(m, text, router, c)
		contract.Handler = served
		s.unit.Contracts = append(s.unit.Contracts, contract)
	}
}

// pythonMount reads app.include_router(router, prefix="/v1") and its like. Where the prefix is not known, what hangs there
// keeps the end of its path.
func (s *scan) pythonMount(c, args int, name string, object int) {
	router, prefix := s.argument(args, "router", 0), s.keyword(args, "prefix")
	switch name {
	case "mount", "Mount":
		router, prefix = s.argument(args, "app", 1), s.argument(args, "path", 0)
		if v := s.keyword(args, "routes"); v >= 0 {
			router = v
		}
	case "register_blueprint":
		router, prefix = s.argument(args, "blueprint", 0), s.keyword(args, "url_prefix")
	case "blueprint":
		prefix = s.keyword(args, "url_prefix")
	case "Starlette", "Router", "FastAPI":
		router, prefix = s.keyword(args, "routes"), -1
		if router < 0 && name == "Router" {
			router = s.argument(args, "routes", 0)
		}
	}
	prefixes := s.looped(prefix)
	for i, router := range s.looped(router) {
		if len(prefixes) > 0 && s.is(router, "identifier", "attribute", "call") && !pythonMade(s.maker(router)) {
			s.mountAt(c, router, prefixes[min(i, len(prefixes)-1)], object)
		}
	}
}

func pythonMade(maker string) bool { _, known := pythonMakers[maker]; return known }

var pythonClient = regexp.MustCompile(`(?i)^(?:self\.)?(?:requests|httpx|aiohttp|s|http|_?\w*client|_?\w*session|api)$`)

// pythonRequest reads requests.post(url), client.get(url), session.request("PUT", url).
func (s *scan) pythonRequest(c int) {
	f, args := s.child(c, "function"), s.child(c, "arguments")
	object, name := s.child(f, "object"), s.text(s.child(f, "attribute"))
	if s.is(f, "identifier") { // from requests import post
		b := s.bound[s.text(f)]
		if b.module != "requests" && b.module != "httpx" || s.hidden(s.text(f), f) {
			return
		}
		object, name = -1, b.name
	} else if !s.is(f, "attribute") {
		return
	}
	method, verb := verbs[name]
	url := s.argument(args, "url", 0)
	if name == "request" || name == "stream" {
		text, known := s.str(s.argument(args, "method", 0))
		if method, url = "*", s.argument(args, "url", 1); known {
			method = strings.ToUpper(text)
		}
	} else if !verb {
		return
	}
	base, sure, ok := "", true, true
	if object >= 0 {
		base, sure, ok = s.pythonBase(object)
	}
	if !ok {
		return
	}
	text, known := s.url(url)
	if !known {
		return
	}
	if base != "" && !strings.Contains(text, "://") && !strings.HasPrefix(text, "{}") {
		text = strings.TrimSuffix(base, "/") + "/" + strings.TrimPrefix(text, "/")
	}
	s.requested(c, method, text, sure)
}

// pythonBase is the base URL of a client, {} where it is not known.
func (s *scan) pythonBase(object int) (base string, sure, ok bool) {
	name := s.text(object)
	if len(name) > 60 {
		return "", false, false
	}
	if b, bound := s.bound[name]; bound && (b.module == "requests" || b.module == "httpx") && b.name == "*" {
		return "", true, true
	}
	made := object
	if !s.is(object, "call") {
		made = s.madeAs(object, name)
	}
	if base, sure, ok := s.pythonClientMade(made); ok {
		return base, sure, true
	}
	return s.outsideClient(object, pythonClient.MatchString(name))
}

// pythonClientMade is the base URL of the client that a call makes.
func (s *scan) pythonClientMade(made int) (base string, sure, ok bool) {
	if !s.is(made, "call") {
		return "", false, false
	}
	maker := s.text(s.child(made, "function"))
	args := s.child(made, "arguments")
	switch maker[strings.LastIndexByte(maker, '.')+1:] {
	case "Client", "AsyncClient", "ClientSession", "Session", "TestClient":
		v := s.keyword(args, "base_url")
		if v < 0 && strings.HasSuffix(maker, "ClientSession") {
			v = s.argument(args, "base_url", 0)
		}
		if v < 0 {
			return "", true, true
		}
		text, _ := s.url(v)
		return text, true, true
	}
	return "", false, false
}

// madeAs is the call that a name is set to: by the last assignment before, or by with … as.
func (s *scan) madeAs(at int, name string) int {
	if value, ok := s.values[name]; ok && !s.hidden(name, at) {
		return value
	}
	if s.made == nil {
		s.made = map[string][]int{}
		for c := range s.within(0) {
			switch s.kind(c) {
			case "assignment":
				if value := s.child(c, "right"); s.is(value, "call") {
					left := s.text(s.child(c, "left"))
					s.made[left] = append(s.made[left], value)
				}
			case "as_pattern":
				alias := s.text(s.child(c, "alias"))
				s.made[alias] = append(s.made[alias], s.item(c, 0))
			}
		}
	}
	list := s.made[name]
	if len(list) == 0 {
		return -1
	}
	n, _ := slices.BinarySearch(list, at)
	return list[max(0, n-1)]
}
