package code

import (
	"path"
	"slices"
	"testing"
)

func TestURLsWithConstantsOfOtherFiles(t *testing.T) { // C4
	config := "export const API = '/v1';\nconst inner = '/in';\nexport { inner as outer };\nexport const ROUTES = { users: '/users', deep: { one: `${API}/one` } } as const;\nexport const unknown = process.env.X;\nexport enum Paths { Users = '/v1/e', Odd = 3 }\nexport const FROZEN = Object.freeze({ users: '/frozen' });\nexport default '/d';"
	client := "import axios from 'axios';\nimport { API } from './config';\nexport const api = axios.create({ baseURL: `https://a.b${API}` });\nexport const backend = axios.create({ baseURL: '/backend/' });\nexport default axios.create({ baseURL: '/whole' });\nexport const list = new Map();\nexport const someApi = () => 1;\nexport const gotApi = axios.create({ baseURL: '/got' });"
	for text, want := range map[string]string{
		"import { API } from './config';\nfetch(`${API}/users/${id}`)":                               "GET /v1/users/{}",
		"import { API as A } from './config';\nfetch(A + '/users', { method: 'PUT' })":               "PUT /v1/users",
		"import { outer } from './config';\nfetch(`${outer}/x`)":                                     "GET /in/x",
		"import { ROUTES } from './config';\nfetch(ROUTES.users)":                                    "GET /users",
		"import * as cfg from './config';\nfetch(cfg.ROUTES.deep.one + '/x')":                        "GET /v1/one/x",
		"import { API } from './barrel';\nfetch(API)":                                                "GET /v1",
		"import { Paths } from './config';\nfetch(`${Paths.Users}/x`)":                               "GET /v1/e/x",
		"import { Paths } from './config';\nfetch(Paths['Users'])":                                   "GET /v1/e",
		"import { Paths } from './config';\nfetch(Paths.Odd)":                                        "",
		"import { Paths } from './config';\nfetch(Paths[users])":                                     "",
		"import { FROZEN } from './config';\nfetch(FROZEN.users)":                                    "GET /frozen",
		"import { gotApi } from './client';\ngotApi('users', { method: 'put' })":                     "PUT /got/users",
		"import { someApi } from './client';\nsomeApi('users')":                                      "",
		"import { unknown } from './config';\nfetch(`${unknown}/users`)":                             "GET /users tail",
		"import { API } from './nowhere';\nfetch(`${API}/users`)":                                    "GET /users tail",
		"import { API } from './nowhere';\nfetch(API)":                                               "",
		"import { API } from './config';\nfunction f(API) { fetch(`${API}/users`) }":                 "GET /users tail",
		"import { api } from './client';\napi.post('/refunds', x)":                                   "POST /v1/refunds",
		"import { backend } from './client';\nbackend.get('users')":                                  "GET /backend/users",
		"import backend from './client';\nbackend.get('users')":                                      "GET /whole/users",
		"import * as all from './client';\nall.backend.delete('/users/1')":                           "DELETE /backend/users/1",
		"import { api } from './client';\napi.get('https://c.d/other')":                              "GET /other",
		"import { api } from './client';\nimport { ROUTES } from './config';\napi.get(ROUTES.users)": "GET /v1/users",
		"import { list } from './client';\nlist.get('/x')":                                           "",
		"import { cache } from './nowhere';\ncache.get('/x')":                                        "",
		"fetch('/x\x02\x03');\nfetch('\x02=mod:\x03/y')":                                             "",
		"import { api } from './nowhere';\napi.get('/x')":                                            "GET /x tail",
	} {
		files := map[string]string{"web/a.ts": text, "web/config.ts": config, "web/client.ts": client, "web/barrel.ts": "export * from './config';"}
		if got := requestsOf(files, "web/a.ts"); got != want {
			t.Errorf("%s\n got %q\nwant %q", text, got, want)
		}
	}
}

func TestURLsOfPythonWithConstantsOfOtherFiles(t *testing.T) { // C4
	config := "API = 'https://a.b/v1'\nV = f'{API}/two'\n"
	client := "import httpx\nfrom .config import API\nclient = httpx.Client(base_url=API)\nbackend = httpx.AsyncClient(base_url='/b')\nthings = {}\n"
	for text, want := range map[string]string{
		"import requests\nfrom .config import API\nrequests.get(f'{API}/users/{id}')": "GET /v1/users/{}",
		"import requests\nfrom . import config\nrequests.put(config.V + '/x')":        "PUT /v1/two/x",
		"from app.client import client\nclient.post('/refunds')":                      "POST /v1/refunds",
		"from app import client\nclient.backend.get('/users')":                        "GET /b/users",
		"from app.client import backend as b\nasync def f():\n  await b.get('/u')":    "GET /b/u",
		"from app.client import things\nthings.get('/u')":                             "",
	} {
		files := map[string]string{"app/a.py": text, "app/config.py": config, "app/client.py": client, "app/__init__.py": ""}
		if got := requestsOf(files, "app/a.py"); got != want {
			t.Errorf("%s\n got %q\nwant %q", text, got, want)
		}
	}
}

// A constant that is its own, by way of another file, ends.
func TestConstantsOfFilesInACircleEnd(t *testing.T) {
	files := map[string]string{
		"a.ts": "import { B } from './b';\nexport const A = `${B}${B}`;\nfetch(`${A}/x`)",
		"b.ts": "import { A } from './a';\nexport const B = `${A}${A}`;",
	}
	if got := requestsOf(files, "a.ts"); got != "GET /x tail" {
		t.Errorf("%q", got)
	}
}

// A package of Go is a folder: which of its files declares a name nobody knows before they are read.
func TestThePackagesOfTheNamesOfGoAreAskedFor(t *testing.T) { // C4
	files := map[string]string{
		"a.go":            "package p\n",
		"own.go":          "package p\nfunc register(r chi.Router) {}\n",
		"own_test.go":     "package p\n",
		"paths/paths.go":  "package paths\nconst Refunds = \"/v1\"\n",
		"users/new.go":    "package users\nimport \"acme.com/shop/store\"\nfunc New() *store.Users { return nil }\n",
		"store/users.go":  "package store\ntype Users struct{}\n",
		"store/routes.go": "package store\nimport \"github.com/go-chi/chi/v5\"\nfunc (*Users) Routes() chi.Router { return nil }\n",
		"other/other.go":  "package other\n",
	}
	p := Project{GoModules: map[string]string{"": "acme.com/shop"}, Folder: func(folder string) (names []string) {
		for name := range sorted(files) {
			if path.Dir(name) == folder || folder == "" && path.Dir(name) == "." {
				names = append(names, name)
			}
		}
		return names
	}}
	const head = "package p\nimport (\"net/http\"; \"github.com/go-chi/chi/v5\"; \"acme.com/shop/paths\"; \"acme.com/shop/users\"; \"acme.com/shop/other\"; \"example.com/far\")\n"
	for text, want := range map[string][]string{
		"func f() { http.Get(paths.Refunds) }":                                   {"paths/paths.go"},
		"func f() { http.Get(far.Refunds); other.Call() }":                       nil,
		"func f(r chi.Router) { register(r) }":                                   {"own.go"},
		"func f(r chi.Router) { register(r) }\nfunc register(r chi.Router) {}":   nil,
		"func f(r chi.Router) { u := users.New(); r.Mount(\"/u\", u.Routes()) }": {"store/routes.go", "store/users.go", "users/new.go"},
		"func f(r chi.Router) { r.Get(paths.Refunds, h) }":                       {"paths/paths.go"},
	} {
		files["a.go"] = head + text
		r := New(p)
		have := map[string]string{"a.go": files["a.go"]}
		var asked []string
		for {
			more := r.Outside(readAll(r, have))
			if len(more) == 0 {
				break
			}
			for _, name := range more {
				have[name] = files[name]
			}
			asked = append(asked, more...)
		}
		if slices.Sort(asked); !slices.Equal(asked, want) {
			t.Errorf("%s: %q", text, asked)
		}
	}
}
