//go:build cgo

package repo

import (
	"testing"

	"github.com/parley-mesh/parley/detect"
	"github.com/parley-mesh/parley/detect/code"
)

// layout is where the files of the trunk lie.
func (s *shop) layout() *Layout {
	s.Helper()
	r := s.open()
	_, trunk, err := r.Trunk(s.Context())
	if err != nil {
		s.Fatal(err)
	}
	layout, err := r.Layout(s.Context(), trunk)
	if err != nil {
		s.Fatal(err)
	}
	return layout
}

// What a URL is made of may stand in a file that nobody changed.
func TestUnchangedFilesAreReadForTheURLsOfChangedOnes(t *testing.T) { // C4
	s := newShop(t)
	s.branch("main", "",
		"web/config.ts", "export const API = '/v1'\n",
		"web/index.ts", "export { API } from './config'\n",
		"web/page.ts", "export {}\n",
		"server.ts", "import express from 'express'\nconst app = express()\napp.get('/v1/users/:id', (req, res) => res.send(''))\n")
	s.branch("server", "main", "server.ts", "import express from 'express'\nconst app = express()\n")
	s.branch("web", "main", "web/page.ts", "import { API } from './index'\nexport const load = (id: string) => fetch(`${API}/users/${id}`)\n")
	layout := s.layout()
	result := s.check(Options{Reader: code.New(code.Project{Has: layout.Has})})
	found := 0
	for _, f := range result.Report.Findings {
		if f.Kind == detect.ContractBreak && f.About[0] == "http:GET /v1/users/{}" {
			found++
		}
	}
	if found != 1 {
		t.Errorf("%+v", result.Report.Findings)
	}
	s.git("checkout", "-q", "-f", "main")
	d := s.desk(DeskOptions{Base: "main", Reader: func(l *Layout) detect.Reader { return code.New(code.Project{Has: l.Has}) }})
	s.write("web/page.ts", "import { API } from './index'\nexport const load = (id: string) => fetch(`${API}/users/${id}`)\n")
	refs := s.digest(d, "web/page.ts").References
	for _, ref := range refs {
		if ref.Kind == detect.Request && ref.Target == "http:GET /v1/users/{}" && ref.Sure {
			return
		}
	}
	t.Errorf("the desk: %+v", refs)
}

// A package of Go is all files of a folder.
func TestUnchangedPackagesAreReadForTheRoutesAndURLsOfGo(t *testing.T) { // C4
	s := newShop(t)
	s.branch("main", "",
		"go.mod", "module acme.com/shop\n",
		"paths/paths.go", "package paths\nconst Users = \"/v1/users\"\n",
		"server.go", "package main\nimport (\"net/http\"; \"acme.com/shop/paths\")\nfunc main() { http.HandleFunc(\"GET \"+paths.Users, list) }\n",
		"client/client.go", "package client\n")
	s.branch("server", "main", "server.go", "package main\nfunc main() {}\n")
	s.branch("client", "main", "client/client.go", "package client\nimport (\"net/http\"; \"acme.com/shop/paths\")\nfunc Load() { http.Get(base + paths.Users) }\n")
	layout := s.layout()
	result := s.check(Options{Reader: code.New(code.Project{Has: layout.Has, Folder: layout.Folder, GoModules: layout.GoModules})})
	for _, f := range result.Report.Findings {
		if f.Kind == detect.ContractBreak && f.About[0] == "http:GET /v1/users" {
			return
		}
	}
	t.Errorf("%+v", result.Report.Findings)
}

// What a mount says of the routes of a file that nobody changed is said of the file that mounts.
func TestAMountThatChangesMovesTheRoutesOfUnchangedFiles(t *testing.T) { // C4
	s := newShop(t)
	users := "import { Router } from 'express'\nconst router = Router()\nrouter.get('/users/:id', (req, res) => res.send(''))\nexport default router\n"
	s.branch("main", "",
		"api/users.ts", users, "api/index.ts", "export { default as users } from './users'\n",
		"server.ts", "import express from 'express'\nimport { users } from './api'\nconst app = express()\napp.use('/v1', users)\n",
		"web/page.ts", "export {}\n")
	s.branch("server", "main", "server.ts", "import express from 'express'\nimport { users } from './api'\nconst app = express()\napp.use('/v2', users)\n")
	s.branch("web", "main", "web/page.ts", "export const load = (id: string) => fetch(`/v1/users/${id}`)\n")
	r := s.open()
	base, head := s.git("rev-parse", "main"), s.git("rev-parse", "server")
	layout, err := r.Layout(t.Context(), base)
	if err != nil {
		t.Fatal(err)
	}
	d := &detect.Digest{Base: base, Head: head}
	if d.Files, err = r.Changes(t.Context(), base, head); err != nil {
		t.Fatal(err)
	}
	if err := r.Read(t.Context(), d, code.New(code.Project{Has: layout.Has})); err != nil {
		t.Fatal(err)
	}
	if len(d.Contracts) != 1 || d.Contracts[0].From != "http:GET /v1/users/{}" || d.Contracts[0].Contract.ID != "http:GET /v2/users/{}" ||
		d.Contracts[0].Contract.Path != "server.ts" || d.Contracts[0].Verdict != detect.Breaking {
		t.Errorf("%+v", d.Contracts)
	}
	result := s.check(Options{Reader: code.New(code.Project{Has: layout.Has})})
	for _, f := range result.Report.Findings {
		if f.Kind == detect.ContractBreak && f.About[0] == "http:GET /v1/users/{}" && f.Severity == detect.Warn {
			return
		}
	}
	t.Errorf("%+v", result.Report.Findings)
}
