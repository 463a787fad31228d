package code

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/parley-mesh/parley/detect"
)

// ids are those of the routes of a state of a repository.
func ids(files map[string]string) (all []string) {
	r := New(Project{})
	units := readAll(r, files)
	for id, c := range sorted(newResolver(&r.project, units).linked(units)) {
		if c.Kind == detect.RouteContract {
			all = append(all, id[len("http:"):])
		}
	}
	return all
}

// scriptApps are applications of the frameworks of scripts, each with the routes that it serves.
var scriptApps = []struct {
	name  string
	files map[string]string
	want  []string
}{
	{"express", map[string]string{
		"app.js":     "const express = require('express');\nconst app = express();\napp.get('/health', (req, res) => res.send('ok'));\napp.use('/v1', auth, require('./refunds'));\napp.route('/book').get(list).post(create);\nfetcher.get('/not/a/route', opts);",
		"refunds.js": "const router = require('express').Router();\nrouter.post('/refunds/:id(\\\\d+)', validate, create);\nmodule.exports = router;",
	}, []string{"GET /book", "GET /health", "POST /book", "POST /v1/refunds/{}"}},
	{"express modules", map[string]string{
		"src/app.ts":            "import express, { Router } from 'express';\nimport refunds from './routes/refunds.js';\nimport { users } from './routes';\nconst app = express();\nconst v1 = Router();\nv1.use('/refunds', refunds);\nv1.use(users);\napp.use('/v1', v1);",
		"src/routes/refunds.ts": "import { Router } from 'express';\nimport * as ctrl from '../ctrl';\nconst r = Router();\nr.get('/', ctrl.list);\nr.delete('/:id', ctrl.remove);\nexport default r;",
		"src/routes/index.ts":   "import { Router } from 'express';\nexport const users = Router();\nconst P = '/users';\nusers.get(`${P}/:id`, (a, b) => {});",
	}, []string{"DELETE /v1/refunds/{}", "GET /v1/refunds", "GET /v1/users/{}"}},
	{"hono", map[string]string{
		"a.ts": "import { Hono } from 'hono';\nimport book from './b';\nconst app = new Hono().basePath('/api');\napp.get('/x/:id', (c) => c.text('')).post('/y', zValidator('json', S), (c) => 1);\napp.route('/books', book);\napp.on(['GET', 'POST'], '/both', (c) => 1);\nexport default app;",
		"b.ts": "import { Hono } from 'hono';\nconst app = new Hono();\napp.get('/', list).get('/:id', one);\nexport default app;",
	}, []string{"GET /api/books", "GET /api/books/{}", "GET /api/both", "GET /api/x/{}", "POST /api/both", "POST /api/y"}},
	{"koa", map[string]string{
		"a.js": "const Koa = require('koa');\nconst Router = require('@koa/router');\nconst app = new Koa();\nconst router = new Router({ prefix: '/v2' });\nconst sub = new Router();\nsub.del('/:a/:b', async (ctx) => {});\nrouter.get('/z', handler);\nrouter.use('/sub', sub.routes());\napp.use(router.routes());",
	}, []string{"DELETE /v2/sub/{}/{}", "GET /v2/z"}},
	{"koa with names", map[string]string{
		"a.js": "const Router = require('@koa/router');\nconst r = new Router();\nr.get('user', '/users/:id', h);\nr.get('/a', mid, h);\nr.get('*', '/never', h);",
	}, []string{"GET /a", "GET /users/{}", "GET /{}"}},
	{"koa, prefixes and register", map[string]string{
		"a.js": "const Router = require('@koa/router');\nconst r = new Router({ prefix: '/v0' });\nr.get('/before', h);\nr.prefix('/v1');\nr.register('/all/:id', ['get', 'PUT'], h);\nr.register('/one', ['post'], [mid, h], { name: 'x' });\nr.register('/list', listed, h);\nthing.prefix('/no');\nr.register(plugin, { prefix: '/p' });\nr.register('/none', [], h);",
	}, []string{"* /v1/list", "GET /v1/all/{}", "GET /v1/v0/before", "POST /v1/one", "PUT /v1/all/{}"}},
	{"koa, a prefix of another's", map[string]string{
		"a.js": "const Router = require('koa-router');\nconst r = new Router();\nconst s = new Router();\nr.get('/x', h);\ns.get('/y', h);\nr.prefix(PREFIX);\ns.prefix('/v1').get('/z', h);\nfunction f(s) { s.prefix('/no') }\nfunction g() { const s = new Router(); s.prefix('/no') }",
	}, []string{"GET /v1/y", "GET /v1/z", "GET /x"}},
	{"express, several paths", map[string]string{
		"app.js": "const app = express();\nconst r = require('./r');\nconst v = require('./v');\napp.use(['/a', '/b/:x'], auth, r);\napp.use([auth, v]);\napp.use([PATH, '/c'], v);",
		"r.js":   "const r = express.Router();\nr.get('/x', h);\nmodule.exports = r;",
		"v.js":   "const v = express.Router();\nv.get('/y', h);\nmodule.exports = v;",
	}, []string{"GET /a/x", "GET /b/{}/x", "GET /c/y", "GET /y"}},
	{"fastify's plugins of CommonJS", map[string]string{
		"app.js": "const app = require('fastify')();\napp.register(require('./a'), { prefix: '/a' });\napp.register(require('./b'), { prefix: '/b' });\napp.register(require('./c'), { prefix: '/c' });",
		"a.js":   "module.exports = async function (fastify, opts) {\n fastify.get('/x', async () => 1);\n};",
		"b.js":   "const fp = require('fastify-plugin');\nmodule.exports = fp(async (fastify) => {\n fastify.post('/y', async () => 1);\n});",
		"c.js":   "async function routes(fastify) {\n fastify.put('/z', async () => 1);\n}\nmodule.exports = routes;",
	}, []string{"GET /a/x", "POST /b/y", "PUT /c/z"}},
	{"fastify", map[string]string{
		"a.ts": "import Fastify from 'fastify';\nimport routes from './r';\nconst app = Fastify();\napp.register(routes, { prefix: '/v1' });\napp.register(async (i) => { i.get('/in', h) }, { prefix: '/w' });\napp.route({ method: ['GET', 'HEAD'], url: '/r/:id', handler: h });",
		"r.ts": "export default async function routes(fastify: FastifyInstance) {\n fastify.post('/refunds', { schema: { body: B } }, async (req) => {});\n}",
	}, []string{"GET /r/{}", "GET /w/in", "HEAD /r/{}", "POST /v1/refunds"}},
	{"fastify in one file", map[string]string{
		"a.js": "export default async function routes(fastify) { fastify.register(nested, { prefix: '/n' }) }\nasync function nested(f) { f.get('/in', async () => 1) }",
	}, []string{"GET /n/in"}},
	{"hono, several paths", map[string]string{
		"a.ts": "import { Hono } from 'hono';\nconst app = new Hono();\napp.on('PURGE', ['/a', '/b/:x'], (c) => 1);",
	}, []string{"PURGE /a", "PURGE /b/{}"}},
	{"elysia", map[string]string{
		"a.ts": "import { Elysia, t } from 'elysia';\nconst users = new Elysia({ prefix: '/users' }).get('/:id', ({ params }) => 1, { params: t.Object({}) });\nnew Elysia().use(users).group('/v1', (app) => app.post('/x', () => 1).group('/y', (app) => app.get('/z', () => 2))).listen(3);",
	}, []string{"GET /users/{}", "GET /v1/y/z", "POST /v1/x"}},
	{"elysia, one by one", map[string]string{
		"a.ts": "import { Elysia } from 'elysia';\nnew Elysia({ prefix: '/v1' }).route('GET', '/one', () => 1).route('m-search', '/two/:id', h, { body: B }).route('/three', h).group('/g', (app) => app.route('POST', '/in', h));",
	}, []string{"GET /v1/one", "M-SEARCH /v1/two/{}", "POST /v1/g/in"}},
	{"hono with openapi", map[string]string{
		"a.ts":      "import { OpenAPIHono, createRoute } from '@hono/zod-openapi';\nimport { remote, remove } from './routes';\nconst one = createRoute({ method: 'get', path: '/x/{id}', request: { params: P }, responses: {} });\nconst app = new OpenAPIHono().basePath('/api');\napp.openapi(one, (c) => c.text('')).openapi(createRoute({ method: 'post', path: '/y' }), h);\napp.openapi(remote, h);\napp.openapi(remove, h);\napp.openapi(unknown, h);\nclient.openapi(createRoute({ method: 'get', path: '/no' }), h);",
		"routes.ts": "import { createRoute } from '@hono/zod-openapi';\nexport const remote = createRoute({ method: 'put', path: '/far/{id}', responses: {} });\nexport const remove = createRoute({ method: 'delete', path: remote, responses: {} });",
	}, []string{"GET /api/x/{}", "POST /api/y", "PUT /api/far/{}"}},
	{"next", map[string]string{
		"web/src/app/(shop)/api/items/[id]/route.ts": "export async function GET(req: Request) {}\nexport const POST = handler;\nfunction PUT() {}",
		"app/docs/[[...slug]]/route.js":              "import { h } from './h';\nexport { h as GET };",
		"pages/api/refunds/[id].ts":                  "export default function handler(req, res) { if (req.method === 'POST') {} else if (req.method === 'GET') {} }",
		"pages/api/index.ts":                         "const h = (q, r) => {};\nexport default h;",
	}, []string{"* /api", "GET /api/items/{}", "GET /api/refunds/{}", "GET /docs/{}", "POST /api/items/{}", "POST /api/refunds/{}"}},
}

func TestRoutesOfEveryFramework(t *testing.T) { // C4, C5
	for _, c := range scriptApps {
		if got := ids(c.files); !slices.Equal(got, c.want) {
			t.Errorf("%s:\n got %q\nwant %q", c.name, got, c.want)
		}
	}
}

func TestLongChainsOfRoutesAreReadWhole(t *testing.T) { // C5
	const n = 60
	hono, axum := "import { Hono } from 'hono';\nexport const app = new Hono()", "fn main() {\n let app = Router::new()"
	for i := range n {
		hono += fmt.Sprintf("\n  .get('/r%d', (c) => c.text(''))", i)
		axum += fmt.Sprintf("\n  .route(\"/r%d\", get(h))", i)
	}
	for path, text := range map[string]string{"a.ts": hono, "src/main.rs": axum + ";\n}"} {
		if got := ids(map[string]string{path: text}); len(got) != n {
			t.Errorf("%s: %d routes of %d: %q", path, len(got), n, got)
		}
	}
}

// requestsOf are the requests of one file among others.
func requestsOf(files map[string]string, path string) string {
	r := New(Project{})
	var all []string
	for _, ref := range r.Compare(nil, readAll(r, files)).References {
		if ref.Kind == detect.Request && ref.Path == path {
			text := ref.Target[len("http:"):]
			if ref.Tail {
				text += " tail"
			}
			all = append(all, text)
		}
	}
	return strings.Join(all, ", ")
}

// scriptCalls are scripts with the requests that they make.
var scriptCalls = []struct{ text, want string }{
	{"fetch('/v1/refunds', { method: 'POST' })", "POST /v1/refunds"},
	{"fetch('/v1/refunds?x=1')", "GET /v1/refunds"},
	{"fetch('https://api.acme.com/v1/refunds')", "GET /v1/refunds"},
	{"const V = '/v1';\nfetch(`${V}/refunds/${id}`, { method: 'DELETE' })", "DELETE /v1/refunds/{}"},
	{"fetch(`${process.env.API}/v1/refunds`)", "GET /v1/refunds tail"},
	{"fetch(BASE + '/v1/refunds/' + id, options)", "* /v1/refunds/{} tail"},
	{"const o = { method: 'PUT' };\nfetch('/x', o)", "PUT /x"},
	{"fetch(new URL('/v1/x', base))", "GET /v1/x tail"},
	{"const R = { refunds: { one: '/v1/r/1' } } as const;\nfetch(R.refunds.one)", "GET /v1/r/1"},
	{"fetch(url)", ""},
	{"function f(fetch) { fetch('/x') }", ""},
	{"import axios from 'axios';\naxios.post('/v1/refunds', body)", "POST /v1/refunds"},
	{"import axios from 'axios';\naxios({ url: '/v1/x', method: 'put' })", "PUT /v1/x"},
	{"import axios from 'axios';\nconst api = axios.create({ baseURL: 'https://a.b/v1' });\napi.get(`/refunds/${id}`)", "GET /v1/refunds/{}"},
	{"import { api } from './client';\napi.post('/refunds', x)", "POST /refunds tail"},
	{"import ky from 'ky';\nconst k = ky.extend({ prefixUrl: '/v1' });\nk.delete('refunds/1')", "DELETE /v1/refunds/1"},
	{"window.fetch('/v1/r', { method: 'post' })", "POST /v1/r"},
	{"globalThis.fetch('/v1/r')", "GET /v1/r"},
	{"db.fetch('/v1/r')", ""},
	{"import axios from 'axios';\naxios.get('/x', { baseURL: '/v1' })", "GET /v1/x"},
	{"import axios from 'axios';\naxios.post('/x', { baseURL: 1 }, { baseURL: '/v1/' })", "POST /v1/x"},
	{"import axios from 'axios';\naxios.defaults.baseURL = '/v1';\naxios.get('/x')", "GET /x tail"},
	{"import ky from 'ky';\nky('v1/x', { method: 'post', prefixUrl: '/api' })", "POST /api/v1/x"},
	{"import got from 'got';\ngot.post('https://x.y/v1/z', { json: {} })", "POST /v1/z"},
	{"import got from 'got';\ngot('https://x.y/v1/z', { method: 'PATCH' })", "PATCH /v1/z"},
	{"class S { constructor(private http: HttpClient) {}\n m() { return this.http.get<R>('/v1/r') } }", "GET /v1/r"},
	{"class S { private http = inject(HttpClient);\n m() { return this.http.post('/v1/r', 1) } }", "POST /v1/r tail"},
	{"import got from 'got';\nconst g = got.extend({ prefixUrl: 'https://a.b/v1' });\ng('r')", "GET /v1/r"},
	{"import got from 'got';\nconst g = got.extend({ prefixUrl: 'https://a.b/v1' });\ng('r', { method: 'post' })", "POST /v1/r"},
	{"import got from 'got';\ngot.extend({ prefixUrl: '/v1' })('r/' + id)", "GET /v1/r/{}"},
	{"import got from 'got';\ngot.extend({ prefixUrl: '/v1' }).post('r')", "POST /v1/r"},
	{"import got from 'got';\ngot.extend({ prefixUrl: BASE })('r')", "GET /r tail"},
	{"import got from 'got';\ngot.extend({ retry: 2 }).extend({ prefixUrl: '/v1' })('r')", "GET /v1/r"},
	{"import axios from 'axios';\nconst a = axios.create({ baseURL: '/v1' });\na('/r', { method: 'put' })", "PUT /v1/r"},
	{"import axios from 'axios';\nconst a = axios.create({ baseURL: '/v1' });\na({ url: '/r', method: 'put' })", "PUT /v1/r"},
	{"const g = thing.extend({ prefixUrl: '/v1' });\ng('r')", ""},
	{"thing.extend({ prefixUrl: '/v1' })('r')", ""},
	{"client('/v1/r')", ""},
	{"enum Paths { Refunds = '/v1/refunds', One = `/v1/one`, N = 3 }\nfetch(Paths.Refunds)", "GET /v1/refunds"},
	{"enum Paths { Refunds = '/v1/refunds' }\nfetch(Paths['Refunds'] + `/${id}`)", "GET /v1/refunds/{}"},
	{"const enum P { R = '/v1/r' }\nfetch(`${P.R}/x`, { method: 'PUT' })", "PUT /v1/r/x"},
	{"enum P { R = '/v1/r', 'S-T' = '/st' }\nfetch(P['S-T'])", "GET /st"},
	{"enum P { R = '/v1/r' }\nfetch(P.Other)", ""},
	{"enum P { R = '/v1/r' }\nfunction f(P) { fetch(P.R) }", ""},
	{"enum P { R, S = R + 1 }\nfetch(P.S)", ""},
	{"const R = { a: '/v1/a' } as const;\nfetch(R['a'])", "GET /v1/a"},
	{"const R = { a: '/v1/a' } as const;\nfetch(R[a])", ""},
	{"const R = Object.freeze({ a: '/v1/a' });\nfetch(R.a)", "GET /v1/a"},
	{"const R = <const>{ a: '/v1/a' };\nfetch(R.a)", "GET /v1/a"},
	{"const R = other({ a: '/v1/a' });\nfetch(R.a)", ""},
	{"fetch(`/v1/r${q ? '?a=1' : ''}`)", "GET /v1/r"},
	{"fetch(`/v1/r${q ? `?a=${q}` : ''}`)", "GET /v1/r"},
	{"fetch(`/v1/r${q && '?a=1'}`)", "GET /v1/r"},
	{"fetch(`/v1/r` + (q ? '?a=1' : ''))", "GET /v1/r"},
	{"fetch(`/v1/r${q ? '' : '#x'}`)", "GET /v1/r"},
	{"fetch(`/v1/r${q ? '/1' : ''}`)", "GET /v1/{} tail"},
	{"fetch(`/v1/r${q ? '?a' : b}`)", "GET /v1/{} tail"},
	{"fetch(`/v1/r${query}`)", "GET /v1/{} tail"},
	{"fetch(`/v1/r/${id}`)", "GET /v1/r/{}"},
	{"fetch(`/v1/r-${id}/x`)", "GET /v1/{}/x"},
	{"fetch(q ? '?a=1' : '#b')", ""},
	{"fetch(`/v1/r/${q ? 'a' : 'b'}`)", "GET /v1/r/{}"},
	{"fetch(`/v1/r/${q ? 'a' : 'a'}/x`)", "GET /v1/r/a/x"},
	{"const q = x ? '?a=1' : '';\nfetch(`/v1/r${q}`)", "GET /v1/r"},
	{"cache.get('/x')", ""},
	{"map.delete('/x')", ""},
}

func TestHTTPCallsAreRead(t *testing.T) { // C4
	for _, c := range scriptCalls {
		if got := requestsOf(map[string]string{"web/a.ts": c.text}, "web/a.ts"); got != c.want {
			t.Errorf("%s\n got %q\nwant %q", c.text, got, c.want)
		}
	}
}

func TestRoutesOfPython(t *testing.T) { // C4, C5
	cases := []struct {
		name  string
		files map[string]string
		want  []string
	}{
		{"fastapi", map[string]string{
			"app/main.py":            "from fastapi import FastAPI\nfrom app.routers import refunds\nfrom .users import router as users\napp = FastAPI()\napp.include_router(refunds.router, prefix='/v1')\napp.include_router(users)\n@app.get('/health')\ndef health(): pass\napp.add_api_route('/add', health, methods=['POST'])\n",
			"app/routers/refunds.py": "from fastapi import APIRouter\nrouter = APIRouter(prefix='/refunds')\n@router.post('/{refund_id:int}')\nasync def create(refund_id: int): pass\n@router.api_route('/x', methods=['GET', 'PUT'])\ndef x(): pass\n",
			"app/users.py":           "from fastapi import APIRouter\nrouter = APIRouter()\n@router.delete('/users/{id}')\ndef d(id): pass\n",
		}, []string{"DELETE /users/{}", "GET /health", "GET /v1/refunds/x", "POST /add", "POST /v1/refunds/{}", "PUT /v1/refunds/x"}},
		{"flask", map[string]string{
			"app.py": "from flask import Flask\nfrom bp import bp, other\ndef create():\n    app = Flask(__name__)\n    app.register_blueprint(bp)\n    app.register_blueprint(other, url_prefix='/o')\n    return app\n",
			"bp.py":  "from flask import Blueprint\nbp = Blueprint('b', __name__, url_prefix='/v1')\nother = Blueprint('o', __name__, url_prefix='/lost')\n@bp.route('/r/<int:id>', methods=['POST', 'GET'])\ndef r(id): pass\n@other.route('/')\ndef o(): pass\n@bp.get('/g')\ndef g(): pass\nbp.add_url_rule('/u', view_func=g)\n",
		}, []string{"GET /o", "GET /v1/g", "GET /v1/r/{}", "GET /v1/u", "POST /v1/r/{}"}},
		{"sanic and quart", map[string]string{
			"a.py": "from sanic import Sanic, Blueprint\napp = Sanic('x')\nbp = Blueprint('b', url_prefix='/b')\n@bp.get('/<name:str>')\nasync def h(r, name): pass\napp.blueprint(bp)\napp.add_route(h, '/added', methods=['PUT'])\n@app.route('/q')\nasync def q(): pass\n",
		}, []string{"GET /b/{}", "GET /q", "PUT /added"}},
		{"sanic's groups", map[string]string{
			"app.py":    "from sanic import Sanic\nfrom groups import api, late\napp = Sanic('x')\napp.blueprint(api)\napp.blueprint(late, url_prefix='/l')\n",
			"groups.py": "from sanic import Blueprint\nfrom b import one, two\nthree = Blueprint('t', url_prefix='/t')\nv1 = Blueprint.group(two, [three], url_prefix='/v1')\napi = Blueprint.group(one, v1, url_prefix='/api')\nlate = Blueprint.group(four, url_prefix=PREFIX)\nrest = Blueprint.group(five)\nnone = Red.group(three, url_prefix='/no')\nfour = Blueprint('f')\nfive = Blueprint('g', url_prefix='/g')\n@three.get('/x')\ndef x(r): pass\n@four.get('/y')\ndef y(r): pass\n@five.get('/z')\ndef z(r): pass\n",
			"b.py":      "from sanic import Blueprint\none = Blueprint('one', url_prefix='/one')\ntwo = Blueprint('two', url_prefix='/two')\n@one.get('/<id:int>')\ndef a(r, id): pass\n@two.post('/')\ndef b(r): pass\n",
		}, []string{"GET /api/one/{}", "GET /api/v1/t/x", "GET /g/z", "GET /y", "POST /api/v1/two"}},
		{"starlette", map[string]string{
			"a.py": "from starlette.applications import Starlette\nfrom starlette.routing import Route, Mount\ndef h(r): pass\nsub = Starlette(routes=[Route('/s', h)])\napp = Starlette(routes=[Route('/', h), Mount('/v1', routes=[Route('/u/{id:int}', endpoint=h, methods=['POST'])])])\n",
		}, []string{"GET /", "GET /s", "POST /v1/u/{}"}},
	}
	for _, c := range cases {
		if got := ids(c.files); !slices.Equal(got, c.want) {
			t.Errorf("%s:\n got %q\nwant %q", c.name, got, c.want)
		}
	}
}

func TestParametersOfARouteBreakThoseWhoSendThem(t *testing.T) { // C4
	const head = "from fastapi import FastAPI\nfrom .deps import SessionDep\nLocalDep = Annotated[Session, Depends(get_db)]\napp = FastAPI()\n@app.get('/x')\n"
	for _, c := range []struct {
		old, now string
		want     detect.Verdict
	}{
		{"", "a: int", detect.Breaking},
		{"", "a: int = 1", detect.Compatible},
		{"a: int", "", detect.Breaking},
		{"a: int", "a: str", detect.Compatible},
		{"a: str", "a: int", detect.Breaking},
		{"a", "a: int", detect.CannotTell},
		{"", "self, *args", detect.Compatible},
		{"", "db: SessionDep", detect.CannotTell},
		{"a: int", "a: int, db: SessionDep", detect.CannotTell},
		{"a: int, db: SessionDep", "a: int", detect.CannotTell},
		{"", "a: int, db: SessionDep", detect.Breaking},
		{"", "db: LocalDep", detect.Compatible},
		{"a: int", "a: int, db: LocalDep", detect.Compatible},
		{"", "a: int, db: LocalDep", detect.Breaking},
		{"", "a: Optional[UUID]", detect.Breaking},
		{"", "a: Annotated[list[str], Query()]", detect.Breaking},
		{"", "a", detect.Breaking},
	} {
		d := compare(t, Project{}, map[string]string{"a.py": head + "def f(" + c.old + "): pass\n"}, map[string]string{"a.py": head + "def f(" + c.now + "): pass\n"})
		got := detect.Compatible
		for _, change := range d.Contracts {
			got = change.Verdict
		}
		if got != c.want {
			t.Errorf("(%s) to (%s): %v, want %v: %+v", c.old, c.now, got, c.want, d.Contracts)
		}
	}
}

func TestHTTPCallsOfPythonAreRead(t *testing.T) { // C4
	cases := []struct{ text, want string }{
		{"import requests\nrequests.post('https://a.b/v1/refunds', json={})", "POST /v1/refunds"},
		{"import requests\nBASE = 'https://a.b/v1'\nrequests.get(f'{BASE}/refunds/{id}')", "GET /v1/refunds/{}"},
		{"import requests\nrequests.get(BASE + '/refunds')", "GET /refunds tail"},
		{"import requests\nrequests.request('PUT', '/x/%s' % id)", "PUT /x/{}"},
		{"import requests as r\nr.delete('/x/{}'.format(id))", "DELETE /x/{}"},
		{"import httpx\nclient = httpx.Client(base_url='https://a.b/v1')\nclient.get('/refunds')", "GET /v1/refunds"},
		{"import httpx\nasync def f():\n  async with httpx.AsyncClient() as c:\n    await c.patch('https://a.b/v1/r')", "PATCH /v1/r"},
		{"async def f(session):\n  async with session.post('/v1/r') as resp: pass", "POST /v1/r tail"},
		{"d = {}\nd.get('/x')", ""},
		{"from requests import post as send\nsend('https://a.b/v1/r')", "POST /v1/r"},
		{"from httpx import request\nrequest('PUT', 'https://a.b/v1/r')", "PUT /v1/r"},
		{"from mine import post\npost('/v1/r')", ""},
		{"from requests import post\ndef f(post):\n  post('/v1/r')", ""},
	}
	for _, c := range cases {
		if got := requestsOf(map[string]string{"a.py": c.text}, "a.py"); got != c.want {
			t.Errorf("%s\n got %q\nwant %q", c.text, got, c.want)
		}
	}
}

func TestRoutesOfGo(t *testing.T) { // C5
	cases := []struct {
		name  string
		files map[string]string
		want  []string
	}{
		{"net/http", map[string]string{
			"a.go": "package p\nimport \"net/http\"\nfunc f(s *S) {\n mux := http.NewServeMux()\n mux.HandleFunc(\"POST /v1/refunds/{id}\", create)\n mux.Handle(\"GET api.acme.com/x/{rest...}\", http.HandlerFunc(h))\n http.HandleFunc(\"/old\", h)\n mux.HandleFunc(\"/{$}\", h)\n}",
		}, []string{"* /", "* /old", "GET /x/{}", "POST /v1/refunds/{}"}},
		{"chi", map[string]string{
			"m/a.go": "package m\nimport \"github.com/go-chi/chi/v5\"\nfunc Routes() chi.Router {\n r := chi.NewRouter()\n r.Use(mw)\n r.Get(\"/health\", h)\n r.Route(\"/v1\", func(r chi.Router) {\n  r.With(auth).Post(\"/refunds\", create)\n  r.Group(func(r chi.Router) { r.Delete(\"/refunds/{id:[0-9]+}\", del) })\n  register(r)\n })\n r.Mount(\"/sub\", sub())\n return r\n}",
			"m/b.go": "package m\nimport \"github.com/go-chi/chi/v5\"\nfunc register(r chi.Router) { r.MethodFunc(\"PUT\", \"/late\", h) }\nfunc sub() *chi.Mux { r := chi.NewRouter(); r.Get(\"/s\", h); return r }",
		}, []string{"DELETE /v1/refunds/{}", "GET /health", "GET /sub/s", "POST /v1/refunds", "PUT /v1/late"}},
		{"methods that are listed", map[string]string{
			"gin.go":   "package p\nimport \"github.com/gin-gonic/gin\"\nfunc f(m string) {\n r := gin.Default()\n r.Match([]string{\"GET\", \"POST\"}, \"/gin\", h)\n r.Match(listed, \"/listed\", h)\n r.Handle(m, \"/some\", h)\n re.Match([]string{\"GET\"}, \"/no\", h)\n}",
			"echo.go":  "package p\nimport (\"net/http\"; \"github.com/labstack/echo/v4\")\nfunc f() {\n e := echo.New()\n e.Group(\"/v1\").Match([]string{http.MethodPut, \"patch\"}, \"/echo\", one, mw)\n}",
			"fiber.go": "package p\nimport \"github.com/gofiber/fiber/v3\"\nfunc f() {\n app := fiber.New()\n app.Add([]string{\"GET\"}, \"/fiber\", h)\n app.Add(\"PUT\", \"/two\", h)\n}",
		}, []string{"* /listed", "* /some", "GET /fiber", "GET /gin", "PATCH /v1/echo", "POST /gin", "PUT /two", "PUT /v1/echo"}},
		{"gin", map[string]string{
			"a.go": "package p\nimport \"github.com/gin-gonic/gin\"\nfunc f() {\n r := gin.Default()\n v1 := r.Group(\"/v1\")\n { v1.POST(\"/refunds/:id\", mw, create) }\n r.Handle(\"GET\", \"/h\", h)\n r.Any(\"/any\", h)\n}",
		}, []string{"* /any", "GET /h", "POST /v1/refunds/{}"}},
		{"echo", map[string]string{
			"a.go": "package p\nimport \"github.com/labstack/echo/v4\"\ntype S struct { e *echo.Echo }\nfunc (s *S) routes() {\n g := s.e.Group(\"/v1\", mw)\n g.GET(\"/r/:id\", s.get, mw)\n s.e.Add(\"PATCH\", \"/p\", s.get)\n s.router.GET(\"/x\", h)\n}",
		}, []string{"GET /v1/r/{}", "GET /x", "PATCH /p"}},
		{"fiber", map[string]string{
			"a.go": "package p\nimport \"github.com/gofiber/fiber/v2\"\nconst base = \"/api\"\nfunc f() {\n app := fiber.New()\n api := app.Group(base)\n api.Get(\"/r/:id\", h)\n app.Route(\"/v2\", func(r fiber.Router) { r.Post(\"/x\", h) })\n}",
		}, []string{"GET /api/r/{}", "POST /v2/x"}},
		{"gorilla", map[string]string{
			"a.go": "package p\nimport \"github.com/gorilla/mux\"\nfunc f() {\n r := mux.NewRouter()\n s := r.PathPrefix(\"/v1\").Subrouter()\n s.HandleFunc(\"/r/{id:[0-9]+}\", h).Methods(\"GET\", \"PUT\")\n r.Methods(\"POST\").Path(\"/p\").HandlerFunc(h)\n s.Handle(\"/any\", h)\n}",
		}, []string{"* /v1/any", "GET /v1/r/{}", "POST /p", "PUT /v1/r/{}"}},
	}
	for _, c := range cases {
		if got := ids(c.files); !slices.Equal(got, c.want) {
			t.Errorf("%s:\n got %q\nwant %q", c.name, got, c.want)
		}
	}
}

func TestHTTPCallsOfGoAreRead(t *testing.T) { // C4
	cases := []struct{ text, want string }{
		{`http.Get("https://a.b/v1/r")`, "GET /v1/r"},
		{`http.Post(base+"/v1/r", "application/json", nil)`, "POST /v1/r tail"},
		{`u := fmt.Sprintf("%s/v1/r/%d", base, 1); http.NewRequest(http.MethodDelete, u, nil)`, "DELETE /v1/r/{} tail"},
		{`const root = "https://a.b/v1"; http.NewRequestWithContext(ctx, "PUT", root+"/r", nil)`, "PUT /v1/r"},
		{`client.Get("https://a.b/v1/r?x=1")`, "GET /v1/r"},
		{`cache.Get("/v1/r")`, ""},
		{`u, err := url.JoinPath("https://a.b/", "v1", "refunds"); http.Get(u)`, "GET /v1/refunds"},
		{`u, err := url.JoinPath(base, "v1", "refunds", id); http.Get(u)`, "GET /v1/refunds/{} tail"},
		{`u, err := url.JoinPath(base, "/v1/", "/r/"); err, u = f(); http.Get(u)`, ""},
		{`u, err := url.Parse("https://a.b/v1"); http.Get(u.JoinPath("r", id).String())`, "GET /v1/r/{}"},
		{`u, _ := url.Parse(base); v := u.JoinPath("v1", "r"); http.NewRequest("PUT", v.String(), nil)`, "PUT /v1/r tail"},
		{`http.Get(base.JoinPath("v1", "r").String())`, "GET /v1/r tail"},
		{`http.Get(base.Join("v1", "r").String())`, ""},
		{`http.Get(c.base.JoinPath("v1", "r").String())`, "GET /v1/r tail"},
		{`http.Get(thing.String())`, ""},
		{`c.hc.Get("https://a.b/v1/r")`, "GET /v1/r"},
		{`c.hc.Post(c.base+"/v1/r", "", nil)`, "POST /v1/r tail"},
		{`c.other.Get("/v1/r")`, ""},
		{`d.hc.Get("https://a.b/v1/r")`, "GET /v1/r"},
		{`d.cache.Get("/v1/r")`, ""},
		{`e.hc.Get("/v1/r")`, ""},
		{`u, err := url.JoinPath("https://a.b/v1", parts...); http.Get(u)`, ""},
		{`http.Get("https://a.b" + path.Join("/v1", "r"))`, "GET /v1/r"},
		{`http.Get("https://a.b" + path.Join("/v1", parts...))`, ""},
		{`u := &url.URL{Scheme: "https", Host: host, Path: "/v1/r"}; http.Get(u.String())`, "GET /v1/r"},
		{`u, _ := url.Parse("https://a.b/v1"); u.Path += "/r"; http.Get(u.String())`, ""},
		{`u, _ := url.Parse("https://a.b/v1"); u.RawQuery = q.Encode(); http.Get(u.String())`, "GET /v1"},
		{`in.Get("https://a.b/v1/r")`, "GET /v1/r"},
		{`hc := &http.Client{}; hc.Head("https://a.b/v1/r")`, "HEAD /v1/r"},
		{`http.DefaultClient.Get("https://a.b/v1/r")`, "GET /v1/r"},
		{`http.DefaultTransport.Get("https://a.b/v1/r")`, ""},
	}
	for _, c := range cases {
		text := "package p\nimport (\"net/http\"; \"net/url\"; \"path\"; \"fmt\")\ntype C struct { hc *http.Client; other *Cache; base *url.URL }\nfunc (c *C) f(in http.Client, d *D, e *E) { " + c.text + " }\n"
		files := map[string]string{"p/a.go": text, "p/d.go": "package p\nimport \"net/http\"\ntype D struct { hc http.Client; cache *Cache }\n"}
		if got := requestsOf(files, "p/a.go"); got != c.want {
			t.Errorf("%s\n got %q\nwant %q", c.text, got, c.want)
		}
	}
}

func TestARouterThatHangsOutOfSightGivesTheEndOfItsPaths(t *testing.T) { // C4
	cases := []struct {
		path, text string
		tail       bool
	}{
		{"a.ts", "const r = express.Router();\nr.get('/x', (a, b) => 1);\nexport default r;", true},
		{"a.ts", "const r = express.Router();\nr.get('/x', (a, b) => 1);\nconst app = express();\napp.use('/v1', r);", false},
		{"a.ts", "const app = express();\napp.get('/x', (a, b) => 1);", false},
		{"a.ts", "export default async function (fastify: FastifyInstance) { fastify.get('/x', async () => 1) }", true},
		{"a.py", "r = APIRouter()\n@r.get('/x')\ndef x(): pass", true},
		{"a.py", "app = FastAPI()\n@app.get('/x')\ndef x(): pass", false},
		{"a.go", "package p\nimport \"github.com/go-chi/chi\"\nfunc f(r chi.Router) { r.Get(\"/x\", h) }", true},
		{"a.go", "package p\nimport \"github.com/go-chi/chi\"\nfunc main() { r := chi.NewRouter(); r.Get(\"/x\", h) }", false},
	}
	for _, c := range cases {
		d := compare(t, Project{}, nil, map[string]string{c.path: c.text})
		if len(d.Contracts) != 1 || d.Contracts[0].Contract.Tail != c.tail {
			t.Errorf("%s\n%+v", c.text, d.Contracts)
		}
	}
}
