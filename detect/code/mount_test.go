package code

import (
	"slices"
	"testing"

	"github.com/parley-mesh/parley/detect"
)

// routeChanges are what becomes of the routes from one state to another.
func routeChanges(t *testing.T, before, after map[string]string) (all []string) {
	t.Helper()
	names := map[detect.Change]string{detect.Body: "body", detect.Added: "added", detect.Moved: "moved", detect.SignatureChanged: "changed", detect.Removed: "removed"}
	for _, c := range compare(t, Project{}, before, after).Contracts {
		text := names[c.Change] + " " + c.Contract.ID[len("http:"):] + " of " + c.Contract.Path
		if c.Verdict == detect.CannotTell {
			text += "?"
		}
		all = append(all, text)
	}
	return all
}

func TestMountsThatComeGoAndChange(t *testing.T) { // C4
	express := "import { Router } from 'express'\nconst r = Router()\nr.get('/users', list)\nexport default r\n"
	hono := "import { Hono } from 'hono'\nconst r = new Hono()\nr.get('/users', list)\nexport default r\n"
	server := func(mount string) string {
		return "import express from 'express'\nimport users from './users'\nconst app = express()\n" + mount
	}
	for _, c := range []struct {
		users, before, after string
		want                 []string
	}{
		{express, "app.use('/v1', users)", "app.use('/v2', users)", []string{"moved GET /v2/users of server.ts"}},
		{express, "", "app.use('/v1', users)", []string{"added GET /v1/users of server.ts"}},
		{hono, "", "app.use('/v1', users)", []string{"moved GET /v1/users of server.ts?"}},
		{express, "app.use('/v1', users)", "", []string{"added GET /users of users.ts", "removed GET /v1/users of server.ts"}},
		{express, "app.use('/v1', users)", "app.use('/v1', users)\napp.use('/v2', users)", []string{"added GET /v2/users of server.ts"}},
	} {
		got := routeChanges(t, map[string]string{"users.ts": c.users, "server.ts": server(c.before)}, map[string]string{"users.ts": c.users, "server.ts": server(c.after)})
		if !slices.Equal(got, c.want) {
			t.Errorf("%s to %s:\n got %q\nwant %q", c.before, c.after, got, c.want)
		}
	}
}

func TestWhatATestMountsIsNoPlaceOfARouter(t *testing.T) { // C4
	got := ids(map[string]string{
		"users.ts":      "import { Router } from 'express'\nconst r = Router()\nr.get('/users', list)\nexport default r\n",
		"users.test.ts": "import express from 'express'\nimport users from './users'\nconst app = express()\napp.use('/x', users)\napp.get('/own', list)\n",
		"server.ts":     "import express from 'express'\nimport users from './users'\nconst app = express()\napp.use('/v1', users)\n",
	})
	if want := []string{"GET /own", "GET /v1/users"}; !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

func TestConstantsOfOtherFilesInRoutes(t *testing.T) { // C4
	for name, c := range map[string]struct {
		files map[string]string
		want  []string
	}{
		"express": {map[string]string{
			"paths.ts": "export const USERS = '/users'\nexport const V1_PREFIX = '/v1'\nexport const PATHS = { one: '/users/:id' }\nexport function check() {}\n",
			"users.ts": "import { Router } from 'express'\nimport { USERS, PATHS } from './paths'\nconst r = Router()\nr.get(USERS, list)\nr.put(PATHS.one, put)\nr.get(`${USERS}/all`, all)\nexport default r\n",
			"app.ts":   "import express from 'express'\nimport users from './users'\nimport { V1_PREFIX, check } from './paths'\nconst app = express()\napp.use(V1_PREFIX, users)\napp.use(check, users)\n",
		}, []string{"GET /users", "GET /users/all", "GET /v1/users", "GET /v1/users/all", "PUT /users/{}", "PUT /v1/users/{}"}},
		"fastapi": {map[string]string{
			"paths.py": "USERS = '/users'\nPREFIX = '/v1'\n",
			"users.py": "from fastapi import APIRouter\nfrom paths import USERS\nimport paths\nrouter = APIRouter(prefix=paths.PREFIX)\n@router.get(USERS)\ndef users(): pass\n@router.get(USERS + '/{id}')\ndef user(id: int): pass\n",
			"app.py":   "from fastapi import FastAPI\nfrom users import router\nfrom paths import PREFIX\napp = FastAPI()\napp.include_router(router, prefix='/api')\n",
		}, []string{"GET /api/v1/users", "GET /api/v1/users/{}"}},
		"not at hand": {map[string]string{
			"users.ts": "import { Router } from 'express'\nimport { USERS } from './paths'\nconst r = Router()\nr.get(USERS, list)\nr.get(`${USERS}/all`, all)\nr.get('/own', own)\n",
		}, []string{"GET /all", "GET /own"}},
	} {
		if got := ids(c.files); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q", name, got)
		}
	}
}

func TestAPrefixOfAScriptThatIsNotKnownLeavesTheEndOfThePath(t *testing.T) { // C4, C5
	const head = "import express from 'express'\nimport users from './users'\nimport routes from './users'\nimport { API, check, nothing } from './config'\nimport * as config from './config'\nconst app = express()\n"
	for text, want := range map[string]string{
		"app.use('/v1', users)":                        "GET /v1/users",
		"app.use(process.env.BASE_PATH, users)":        "GET /users tail",
		"app.use(`${process.env.BASE}`, users)":        "GET /users tail",
		"app.use('/v1' + version(), users)":            "GET /{}/users",
		"app.use(basePath(), users)":                   "GET /users tail",
		"app.use(/^\\/api/, users)":                    "GET /users tail",
		"app.use(helmet(), users)":                     "GET /users",
		"app.use(check, users)":                        "GET /users",
		"app.use(routes)":                              "GET /users",
		"app.use(config.basePath, users)":              "GET /users tail",
		"app.use(API, users)":                          "GET /api/users",
		"app.use(config.API, users)":                   "GET /api/users",
		"app.register(users, { prefix: config.x })":    "GET /users tail",
		"app.register(users, { prefix })":              "GET /users tail",
		"app.register(users, { prefix: API })":         "GET /api/users",
		"app.register(users, { other: API })":          "GET /users",
		"users.prefix('/k');\napp.use(users.routes())": "GET /k/users",
		"const v1 = new Router({ prefix: nothing });\nv1.use('/in', users);\napp.use(v1)":     "GET /in/users tail",
		"const v1 = new Router();\nv1.use(nothing.path, users);\napp.use('/v1', v1)":          "GET /users tail",
		"const v1 = new Hono().basePath('/b');\nv1.route(API, users);\napp.use('/v1', v1)":    "GET /v1/b/api/users",
		"const v1 = new Hono().basePath(base());\nv1.route('/x', users);\napp.use('/v1', v1)": "GET /x/users tail",
	} {
		files := map[string]string{
			"app.ts":    head + text,
			"users.ts":  "import { Hono } from 'hono'\nconst r = new Hono()\nr.get('/users', list)\nexport default r\n",
			"config.ts": "export const API = '/api'\nexport const nothing = load()\n",
		}
		if got := endings(files); !slices.Equal(got, []string{want}) {
			t.Errorf("%s\n got %q\nwant %q", text, got, want)
		}
	}
}

func TestRoutersThatModulesOfCommonJSAre(t *testing.T) { // C4, C5
	const users = "const r = express.Router();\nr.get('/x', list);\n"
	for exported, want := range map[string]string{
		"module.exports = r":            "GET /users/x",
		"module.exports = { users: r }": "GET /x tail",
	} {
		got := endings(map[string]string{"app.js": "const app = express();\nconst users = require('./users');\napp.use('/users', users);", "users.js": users + exported})
		if !slices.Equal(got, []string{want}) {
			t.Errorf("%s: %q", exported, got)
		}
	}
}
