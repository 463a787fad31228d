package code

import (
	"path"
	"strings"

	"github.com/parley-mesh/parley/detect"
)

// nextRoutes reads what Next.js serves because of where a file stands: app/**/route.ts and pages/api/**.
func (s *scan) nextRoutes() {
	stem := strings.TrimSuffix(s.unit.Path, path.Ext(s.unit.Path))
	parts := strings.Split(stem, "/")
	for i := range parts {
		switch {
		case parts[i] == "app" && parts[len(parts)-1] == "route":
			s.appRoute(nextPath(parts[i+1 : len(parts)-1]))
			return
		case parts[i] == "pages" && i+1 < len(parts)-1 && parts[i+1] == "api":
			rest := parts[i+1:]
			if rest[len(rest)-1] == "index" {
				rest = rest[:len(rest)-1]
			}
			s.pageRoute(nextPath(rest))
			return
		}
	}
}

// nextPath leaves out groups and slots, which are no part of a URL.
func nextPath(parts []string) string {
	var kept []string
	for _, p := range parts {
		if !(strings.HasPrefix(p, "(") && strings.HasSuffix(p, ")")) && !strings.HasPrefix(p, "@") {
			kept = append(kept, p)
		}
	}
	return "/" + strings.Join(kept, "/")
}

func (s *scan) addFileRoute(method, file, symbol string, at int) {
	contract := route(method, file)
	contract.Path, contract.Line, contract.Handler = s.unit.Path, s.line(s.nodes[max(at, 0)].start), symbol
	s.unit.Contracts = append(s.unit.Contracts, contract)
}

func (s *scan) appRoute(file string) {
	for i := range s.unit.Symbols {
		sym := &s.unit.Symbols[i]
		switch name := nameOf(sym.ID); name {
		case "GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS":
			if sym.Exported {
				s.addFileRoute(name, file, sym.ID, s.known[i].nodes[0])
			}
		}
	}
	for _, e := range s.unit.Exports { // export { handler as GET, handler as POST }
		if verbs[strings.ToLower(e.Local)] == e.Local && s.seen[s.id(e.Local)] == 0 && e.Local != "" {
			handler := s.nameOf(e.Name, "")
			if e.Module != "" {
				handler = target(e.Module, e.Name)
			}
			s.addFileRoute(e.Local, file, handler, 0)
		}
	}
}

// pageRoute reads a page of the API, whose one function looks at the method by itself.
func (s *scan) pageRoute(file string) {
	handler := ""
	for i := range s.unit.Symbols {
		if nameOf(s.unit.Symbols[i].ID) == "default" {
			handler = s.unit.Symbols[i].ID
		}
	}
	for _, e := range s.unit.Exports {
		if e.Local == "default" {
			handler = s.nameOf(e.Name, "")
		}
	}
	methods := map[string]bool{}
	for c := range s.within(0) {
		if !s.is(c, "string") {
			continue
		}
		method := strings.Trim(s.text(c), `"'`)
		compared := s.is(s.parent(c), "binary_expression") && strings.HasSuffix(s.plain(s.child(s.parent(c), "left")), ".method") ||
			s.is(s.parent(c), "switch_case")
		if compared && method != "" && verbs[strings.ToLower(method)] == method {
			methods[method] = true
		}
	}
	if len(methods) == 0 && handler != "" {
		methods["*"] = true
	}
	for method := range sorted(methods) {
		s.addFileRoute(method, file, handler, 0)
	}
}

// urlMax bounds the target of a request, in octets.
const urlMax = 1000

// requested adds a use of a route.
func (s *scan) requested(at int, method, url string, sure bool) {
	to, tail, ok := "url:"+method+" "+url, false, true
	if strings.IndexByte(url, markOpen) < 0 {
		to, tail, ok = request(method, url)
	}
	if !ok || len(to) > urlMax {
		return
	}
	s.unit.References = append(s.unit.References, detect.Reference{
		Kind: detect.Request, Target: to, Tail: tail, Sure: sure && !tail, In: s.in(at), Path: s.unit.Path,
		Line: s.line(s.nodes[at].start),
	})
}
