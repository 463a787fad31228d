package code

import (
	"bytes"
	"regexp"
	"strings"
)

var fetchName = regexp.MustCompile(`^(?:(?:window|globalThis|self)\.)?(?:fetch|\$fetch|ofetch|useFetch|nodeFetch|axios|ky|got)$`)

// plainCall reads fetch(url, options), axios({…}), ky(url), got(url), and calls of what their extend and create make.
func (s *scan) plainCall(c, f, args int) {
	name := s.text(f)
	switch {
	case s.is(f, "call_expression"): // got.extend({…})("x")
		if base, sure, ok := s.madeClient(f); ok {
			s.fetchCall(c, args, base, sure)
		}
	case len(name) < 40 && fetchName.MatchString(name) && !s.hidden(name, f):
		s.fetchCall(c, args, "", true)
	case s.is(f, "identifier"):
		if value := s.unwrap(s.valueOf(f, name)); value >= 0 {
			if base, sure, ok := s.madeClient(value); ok {
				s.fetchCall(c, args, base, sure)
			}
		} else if to := s.imported(f); to != "" && clientName.MatchString(name) {
			s.fetchCall(c, args, mark(markClient, to), true)
		}
	}
}

// fetchCall reads the arguments of fetch and its like. Made is the base URL of what is called, if it has one.
func (s *scan) fetchCall(c, args int, made string, sure bool) {
	first, options := s.item(args, 0), s.item(args, 1)
	base := ""
	if s.is(first, "object") { // axios({ url, method, baseURL })
		options, first = first, s.entry(first, "url")
		base = s.baseOf(options)
	}
	url, known := s.url(first)
	if !known {
		return
	}
	if base == "" && s.is(options, "object") && !strings.Contains(url, "://") { // ky("x", { prefixUrl })
		base = s.baseOf(options)
	}
	if base == "" && made != "" && !strings.Contains(url, "://") {
		base = strings.TrimSuffix(made, "/") + "/"
	}
	if base != "" {
		url = strings.TrimPrefix(url, "/")
	}
	s.requested(c, s.methodIn(options, "GET"), base+url, sure)
}

// methodIn is the method that options name: the default where they name none, * where they are not known.
func (s *scan) methodIn(options int, standard string) string {
	defer s.leave()
	if !s.enter() {
		return "*"
	}
	switch {
	case options < 0:
		return standard
	case !s.is(options, "object"):
		value := s.unwrap(options)
		if s.is(value, "identifier") {
			if v := s.valueOf(value, s.text(value)); s.is(v, "object") {
				return s.methodIn(v, standard)
			}
		}
		return "*"
	}
	m := s.entry(options, "method")
	if m < 0 {
		if s.has(options, "spread_element") {
			return "*"
		}
		return standard
	}
	text, known := s.str(m)
	if !known {
		return "*"
	}
	return strings.ToUpper(text)
}

// baseOf is the base URL that options name, "" for none.
func (s *scan) baseOf(options int) string {
	for _, key := range []string{"baseURL", "prefixUrl", "baseUrl", "prefix"} {
		if v := s.entry(options, key); v >= 0 {
			text, _ := s.url(v)
			return strings.TrimSuffix(text, "/") + "/"
		}
	}
	return ""
}

// clientCall reads axios.post(url), client.get(url), this.http.delete(url) and axios.request({…}).
func (s *scan) clientCall(c, f, args int, method string) {
	object := s.child(f, "object")
	base, sure, ok := s.client(object)
	if !ok {
		return
	}
	first := s.item(args, 0)
	if method == "" { // request
		if s.is(first, "object") {
			if own := s.baseOf(first); own != "" {
				base = own
			}
			method, first = s.methodIn(first, "GET"), s.entry(first, "url")
		} else if text, known := s.str(first); known && verbs[strings.ToLower(text)] != "" { // http.request("GET", url)
			method, first = strings.ToUpper(text), s.item(args, 1)
		} else {
			method = s.methodIn(s.item(args, 1), "GET")
		}
	}
	url, known := s.url(first)
	if !known || s.callable(s.item(args, 1)) {
		return
	}
	if own := s.ownBase(args, method); own != "" {
		base = own
	}
	if !strings.Contains(url, "://") && base != "" {
		url = strings.TrimSuffix(base, "/") + "/" + strings.TrimPrefix(url, "/")
		if strings.HasPrefix(url, "{}/{}/") {
			url = url[len("{}/"):]
		}
	}
	s.requested(c, method, url, sure)
}

// ownBase is the base URL in the options of one call, which stand last: axios.get("x", { baseURL }), axios.post("x", body, { baseURL }).
func (s *scan) ownBase(args int, method string) string {
	at := 1
	if method == "POST" || method == "PUT" || method == "PATCH" {
		at = 2
	}
	if options := s.item(args, at); s.is(options, "object") {
		return s.baseOf(options)
	}
	return ""
}

// client is the base URL of a client of HTTP: known where the file makes it, {} where it comes from elsewhere.
func (s *scan) client(i int) (base string, sure, ok bool) {
	defer s.leave()
	if !s.enter() {
		return "", false, false
	}
	i = s.unwrap(i)
	name := s.text(i)
	switch s.kind(i) {
	case "identifier":
		b := s.bound[name]
		if strings.HasPrefix(b.module, ".") || strings.HasPrefix(b.module, "@/") {
			return s.outsideClient(i, clientName.MatchString(name))
		}
		if fetchName.MatchString(name) || b.module == "axios" || b.module == "ky" || b.module == "got" {
			if bytes.Contains(s.src, []byte(name+".defaults.baseURL")) {
				return "{}", false, true // whatever the base is by then
			}
			return "", true, true
		}
		if value := s.unwrap(s.valueOf(i, name)); value >= 0 {
			return s.madeClient(value)
		}
		return s.outsideClient(i, clientName.MatchString(name))
	case "member_expression": // this.http, clients.http
		if s.imported(i) != "" {
			return s.outsideClient(i, false)
		}
		property := s.text(s.child(i, "property"))
		if s.is(s.child(i, "object"), "this") && clientName.MatchString(property) {
			if s.typed(i, property, "HttpClient") {
				return "", true, true
			}
			return "{}", false, true
		}
	case "call_expression":
		return s.madeClient(i)
	}
	return "", false, false
}

// outsideClient marks a client that another file may make. Likely says that it is called as clients are.
func (s *scan) outsideClient(i int, likely bool) (base string, sure, ok bool) {
	to := s.imported(i)
	switch {
	case to == "":
		return "{}", false, likely
	case likely:
		return mark(markLikely, to), true, true
	}
	return mark(markClient, to), true, true
}

// madeClient reads axios.create({ baseURL }), ky.extend({ prefixUrl }), got.extend({ … }).
func (s *scan) madeClient(value int) (base string, sure, ok bool) {
	f := s.child(value, "function")
	if !s.is(value, "call_expression") || !s.is(f, "member_expression") {
		if s.is(value, "call_expression") && s.text(f) == "inject" { // Angular's inject(HttpClient)
			return "", true, s.text(s.item(s.child(value, "arguments"), 0)) == "HttpClient"
		}
		return "", false, false
	}
	inner, sure, ok := s.client(s.child(f, "object"))
	switch s.text(s.child(f, "property")) {
	case "create", "extend":
		if own := s.baseOf(s.item(s.child(value, "arguments"), 0)); own != "" {
			return own, true, ok
		}
		return inner, sure, ok
	}
	return "", false, false
}

// typed reports whether a member of the class around is declared with a type.
func (s *scan) typed(i int, member, of string) bool {
	for up := i; up >= 0; up = s.parent(up) {
		k, ok := s.owner[up]
		if !ok {
			continue
		}
		if m, ok := s.index[s.unit.Symbols[k].ID+"."+member]; ok {
			return s.unit.Symbols[m].Signature.Result == of
		}
	}
	return false
}
