package code

import (
	"slices"
	"strings"
	"testing"

	"github.com/parley-mesh/parley/detect"
)

// endings are the routes of a state of a repository, those of which only the end is known marked as such.
func endings(files map[string]string) (all []string) {
	r := New(Project{GoModules: map[string]string{"": "acme.com/shop"}})
	units := readAll(r, files)
	for id, c := range sorted(newResolver(&r.project, units).linked(units)) {
		text := id[len("http:"):]
		if c.Tail {
			text += " tail"
		}
		all = append(all, text)
	}
	return all
}

func TestHandlersOfGoBelowAPrefixThatIsStripped(t *testing.T) { // C4, C5
	const std = "package p\nimport \"net/http\"\nfunc main() {\n root, api := http.NewServeMux(), http.NewServeMux()\n api.HandleFunc(\"GET /refunds\", h)\n"
	const chi = "package p\nimport (\"net/http\"; \"github.com/go-chi/chi/v5\")\nfunc main() {\n r, api := chi.NewRouter(), http.NewServeMux()\n api.HandleFunc(\"GET /refunds\", h)\n"
	const own = "\n}\nfunc shop() http.Handler {\n mux := http.NewServeMux()\n mux.HandleFunc(\"GET /own\", h)\n return http.StripPrefix(\"/api\", mux)\n}\n"
	const plain = "\n}\nfunc shop() *http.ServeMux {\n mux := http.NewServeMux()\n mux.HandleFunc(\"GET /api/own\", h)\n return mux\n}\n"
	for text, want := range map[string][]string{
		std + "root.Handle(\"/api/\", http.StripPrefix(\"/api\", api))\n}":                                                                     {"GET /api/refunds"},
		std + "root.Handle(\"/api/v1/\", http.StripPrefix(\"/api\", auth(api)))\n}":                                                            {"GET /api/refunds"},
		std + "root.Handle(\"/api/\", auth(http.StripPrefix(\"/api\", api)))\n}":                                                               {"GET /api/refunds"},
		std + "root.Handle(\"/v1/\", api)\nhttp.Handle(\"/api/\", http.StripPrefix(\"/api\", root))\n}":                                        {"GET /api/refunds"},
		std + "root.Handle(\"/\", api)\n}":                                                                                                     {"GET /refunds"},
		std + "http.Handle(\"/api/\", http.StripPrefix(\"/api/\", api))\n}":                                                                    {"GET /api/refunds"},
		std + "http.ListenAndServe(addr, http.StripPrefix(\"/api\", api))\n}":                                                                  {"GET /api/refunds"},
		std + "low := http.StripPrefix(\"/v1\", api)\nroot.Handle(\"/v1/\", low)\nhttp.Handle(\"/api/\", http.StripPrefix(\"/api\", root))\n}": {"GET /api/v1/refunds"},
		std + "root.Handle(base+\"/\", http.StripPrefix(base, api))\n}":                                                                        {"GET /refunds tail"},
		std + "root.Handle(\"/static/\", http.StripPrefix(\"/static\", http.FileServer(dir)))\n}":                                              {"* /static", "GET /refunds"},
		std + "root.Handle(\"/api/\", mine.StripPrefix(\"/api\", h))\n}":                                                                       {"* /api", "GET /refunds"},
		std + "root.Handle(\"/api/\", shop())" + own:                                                                                           {"* /api", "GET /api/own", "GET /refunds"},
		chi + "r.Mount(\"/api\", http.StripPrefix(\"/api\", api))\n}":                                                                          {"GET /api/refunds"},
		chi + "r.Handle(\"/api/*\", http.StripPrefix(\"/api\", api))\n}":                                                                       {"GET /api/refunds"},
		chi + "r.Mount(\"/api\", api)\n}":                                                                                                      {"GET /refunds"},
		chi + "r.Route(\"/v1\", func(r chi.Router) { r.Mount(\"/api\", http.StripPrefix(\"/v1/api\", api)) })\n}":                              {"GET /v1/api/refunds"},
		chi + "r.Mount(\"/api\", http.StripPrefix(\"/other\", api))\n}":                                                                        {"GET /other/refunds tail"},
		chi + "r.Mount(\"/api\", shop())" + plain:                                                                                              {"GET /api/own", "GET /refunds"},
	} {
		if got := endings(map[string]string{"a.go": text}); !slices.Equal(got, want) {
			t.Errorf("%s\n got %q\nwant %q", text, got, want)
		}
	}
}

func TestRoutersOfGoThatMethodsGive(t *testing.T) { // C4, C5
	const head = "package m\nimport \"github.com/go-chi/chi/v5\"\n"
	const users = "package m\nimport \"github.com/go-chi/chi/v5\"\ntype Users struct{}\nfunc NewUsers(db DB) (*Users, error) { return nil, nil }\nfunc MakeUsers() *Users { return nil }\nfunc Any() any { return nil }\nfunc (u *Users) register(r chi.Router) { r.Put(\"/all\", u.all) }\nfunc (u *Users) Routes() chi.Router { r := chi.NewRouter(); r.Get(\"/{id}\", u.one); return r }\n"
	for text, want := range map[string]string{
		"import \"acme.com/shop/m\"\nfunc main() { r := chi.NewRouter(); x := m.MakeUsers(); r.Mount(\"/users\", x.Routes()) }":              "GET /users/{}, PUT /all tail",
		"func f(x *Users) { r := chi.NewRouter(); r.Mount(\"/users\", x.Routes()) }":                                                         "GET /users/{}, PUT /all tail",
		"func f() { r := chi.NewRouter(); x := Users{}; r.Mount(\"/users\", x.Routes()) }":                                                   "GET /users/{}, PUT /all tail",
		"func f() { r := chi.NewRouter(); r.Mount(\"/users\", Users{}.Routes()) }":                                                           "GET /users/{}, PUT /all tail",
		"func f() { r := chi.NewRouter(); r.Mount(\"/users\", (&Users{}).Routes()) }":                                                        "GET /users/{}, PUT /all tail",
		"func f() { r := chi.NewRouter(); r.Mount(\"/users\", MakeUsers().Routes()) }":                                                       "GET /users/{}, PUT /all tail",
		"func f() { r := chi.NewRouter(); x := MakeUsers(); r.Mount(\"/users\", x.Routes()) }":                                               "GET /users/{}, PUT /all tail",
		"func f() { r := chi.NewRouter(); x, err := NewUsers(db); r.Mount(\"/users\", x.Routes()) }":                                         "GET /users/{}, PUT /all tail",
		"type S struct { users *Users }\nfunc (s *S) f() { r := chi.NewRouter(); r.Mount(\"/users\", s.users.Routes()) }":                    "GET /users/{}, PUT /all tail",
		"func f(x *Users) { r := chi.NewRouter(); r.Route(\"/v1\", func(r chi.Router) { x.register(r) }); r.Mount(\"/users\", x.Routes()) }": "GET /users/{}, PUT /v1/all",
		"func f() { r := chi.NewRouter(); x := Any(); x.register(r); r.Mount(\"/users\", x.Routes()) }":                                      "GET /{} tail, PUT /all tail",
		"type Al = Users\nfunc f(x *Al) { r := chi.NewRouter(); r.Mount(\"/users\", x.gone.Routes()) }":                                      "GET /{} tail, PUT /all tail",
		"func f() { r := chi.NewRouter(); x := other(); r.Mount(\"/users\", x.Routes()) }":                                                   "GET /{} tail, PUT /all tail",
		"func f(x *Users) { r := chi.NewRouter(); r.Mount(\"/users\", x.Others()) }":                                                         "GET /{} tail, PUT /all tail",
	} {
		file := "m/a.go"
		if text[0] == 'i' {
			file = "a.go"
		}
		if got := endings(map[string]string{file: head + text, "m/users.go": users}); strings.Join(got, ", ") != want {
			t.Errorf("%s\n got %q\nwant %q", text, got, want)
		}
	}
}

func TestRoutersOfGoThatAreMadeOfThemselvesEnd(t *testing.T) { // C5
	const head = "package p\nimport \"github.com/go-chi/chi/v5\"\n"
	for text, want := range map[string][]string{
		"var x = x.f()\nfunc main() { r := chi.NewRouter(); r.Get(\"/a\", h); r.Mount(\"/x\", x.f()) }":             {"GET /a"},
		"var x = y.f()\nvar y = x.f()\nfunc main() { r := chi.NewRouter(); r.Get(\"/a\", x.g) }":                    {"GET /a"},
		"func f() T { return T{} }\nfunc main() { r := chi.NewRouter(); r.Get(\"/a\", f().f().f().g) }":             {"GET /a"},
		"func main() { r := chi.NewRouter(); r.Mount(\"/a\", r); r.Get(\"/a\", h) }":                                {"GET /a"},
		"func main() { a, b := chi.NewRouter(), chi.NewRouter(); a.Mount(\"/b\", b); b.Mount(\"/a\", a) }":          nil,
		"func f() chi.Router { r := chi.NewRouter(); r.Get(\"/a\", h); r.Mount(\"/f\", http.StripPrefix()) ; f() }": {"GET /a"},
	} {
		if got := endings(map[string]string{"a.go": head + text}); !slices.Equal(got, want) {
			t.Errorf("%s\n got %q\nwant %q", text, got, want)
		}
	}
}

func TestConstantsOfOtherFilesOfGo(t *testing.T) { // C4, C5
	const head = "package p\nimport (\"net/http\"; \"fmt\"; \"acme.com/shop/paths\"; \"example.com/other\")\n"
	files := map[string]string{
		"paths/a.go":      "package paths\nimport (\"fmt\"; \"acme.com/shop/paths/base\")\nconst (\n Refunds = \"/v1/refunds\"\n Deep = base.V2 + \"/deep\"\n low = \"/low\"\n Low = low\n)\nvar Users = fmt.Sprintf(\"%s/users\", Root)\nvar Loaded = load()\n",
		"paths/b.go":      "package paths\nconst Root = \"https://a.b/v3\"\n",
		"paths/base/c.go": "package base\nconst V2 = \"/v2\"\n",
		"p/own.go":        "package p\nconst own = \"/own\"\ntype T struct{}\nconst Low = low\n",
	}
	for text, want := range map[string]struct {
		requests string
		routes   []string
	}{
		"func f() { http.Get(paths.Refunds + \"/1\") }":                                                                        {"GET /v1/refunds/1", nil},
		"func f() { http.Get(fmt.Sprintf(\"%s%s/%s\", base, paths.Refunds, id)) }":                                             {"GET /v1/refunds/{} tail", nil},
		"func f() { http.Get(paths.Deep) }":                                                                                    {"GET /v2/deep", nil},
		"func f() { http.Get(paths.Low) }":                                                                                     {"GET /low", nil},
		"func f() { http.Get(paths.Users) }":                                                                                   {"GET /v3/users", nil},
		"func f() { http.Get(own + \"/x\") }":                                                                                  {"GET /own/x", nil},
		"func f() { http.Get(paths.Loaded + \"/x\") }":                                                                         {"GET /x tail", nil},
		"func f() { http.Get(paths.None + \"/x\") }":                                                                           {"GET /x tail", nil},
		"func f() { http.Get(other.Refunds + \"/x\") }":                                                                        {"GET /x tail", nil},
		"func f() { http.Get(paths.Refunds() + \"/x\") }":                                                                      {"GET /x tail", nil},
		"func f(own string) { http.Get(own + \"/x\") }":                                                                        {"GET /x tail", nil},
		"func f(paths S) { http.Get(paths.Refunds + \"/x\") }":                                                                 {"GET /x tail", nil},
		"func main() { http.HandleFunc(\"POST \" + paths.Refunds, h) }":                                                        {"", []string{"POST /v1/refunds"}},
		"func main() { http.HandleFunc(paths.Refunds + \"/{id}\", h) }":                                                        {"", []string{"* /v1/refunds/{}"}},
		"func main() { http.HandleFunc(own, h) }":                                                                              {"", []string{"* /own"}},
		"func main() { http.HandleFunc(other.Path, h) }":                                                                       {"", nil},
		"func main() { http.HandleFunc(other.Path + \"/x\", h) }":                                                              {"", []string{"* /x tail"}},
		"func main() { m := http.NewServeMux(); m.HandleFunc(\"/x\", h); http.Handle(own+\"/\", http.StripPrefix(own, m)) }":   {"", []string{"* /own/x"}},
		"func main() { m := http.NewServeMux(); m.HandleFunc(\"/x\", h); http.Handle(none+\"/\", http.StripPrefix(none, m)) }": {"", []string{"* /x tail"}},
	} {
		files["p/a.go"] = head + text
		r := New(Project{GoModules: map[string]string{"": "acme.com/shop"}})
		var requests []string
		for _, ref := range r.Compare(nil, readAll(r, files)).References {
			if ref.Kind == detect.Request {
				requests = append(requests, ref.Target[len("http:"):]+map[bool]string{true: " tail"}[ref.Tail])
			}
		}
		if got, routes := strings.Join(requests, ", "), endings(files); got != want.requests || !slices.Equal(routes, want.routes) {
			t.Errorf("%s\n got %q %q\nwant %q", text, got, routes, want)
		}
	}
}

func TestConstantsOfAModuleWithoutADomain(t *testing.T) { // C4
	r := New(Project{GoModules: map[string]string{"": "shop"}})
	units := readAll(r, map[string]string{
		"a.go":     "package p\nimport (\"net/http\"; \"shop/x\"; \"os\")\nfunc main() { http.HandleFunc(x.Users, h); http.HandleFunc(os.DevNull, h) }\n",
		"x/own.go": "package x\nconst Users = \"/users\"\n",
	})
	if got := newResolver(&r.project, units).linked(units); len(got) != 1 || got["http:* /users"].Tail || got["http:* /users"].ID == "" {
		t.Errorf("%v", got)
	}
}
