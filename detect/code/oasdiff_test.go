package code

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parley-mesh/parley/detect"
)

const oasdiff = "github.com/oasdiff/oasdiff@v1.37.0"

// bodies are what a route asks for: as zod writes it, and as OpenAPI does.
var bodies = []struct{ zod, open string }{
	{"z.object({ a: z.string() })", `{"type":"object","required":["a"],"properties":{"a":{"type":"string"}}}`},
	{"z.object({ a: z.string().optional() })", `{"type":"object","properties":{"a":{"type":"string"}}}`},
	{"z.object({ a: z.string().nullable() })", `{"type":"object","required":["a"],"properties":{"a":{"type":["string","null"]}}}`},
	{"z.object({ a: z.number() })", `{"type":"object","required":["a"],"properties":{"a":{"type":"number"}}}`},
	{"z.object({ a: z.boolean() })", `{"type":"object","required":["a"],"properties":{"a":{"type":"boolean"}}}`},
	{"z.object({ a: z.array(z.string()) })", `{"type":"object","required":["a"],"properties":{"a":{"type":"array","items":{"type":"string"}}}}`},
	{"z.object({ a: z.array(z.number()) })", `{"type":"object","required":["a"],"properties":{"a":{"type":"array","items":{"type":"number"}}}}`},
	{"z.object({ a: z.enum(['x', 'y']) })", `{"type":"object","required":["a"],"properties":{"a":{"type":"string","enum":["x","y"]}}}`},
	{"z.object({ a: z.enum(['x']) })", `{"type":"object","required":["a"],"properties":{"a":{"type":"string","enum":["x"]}}}`},
	{"z.object({ a: z.string(), b: z.number() })", `{"type":"object","required":["a","b"],"properties":{"a":{"type":"string"},"b":{"type":"number"}}}`},
	{"z.object({ a: z.string(), b: z.number().optional() })", `{"type":"object","required":["a"],"properties":{"a":{"type":"string"},"b":{"type":"number"}}}`},
	{"z.object({ a: z.object({ c: z.string() }) })", `{"type":"object","required":["a"],"properties":{"a":{"type":"object","required":["c"],"properties":{"c":{"type":"string"}}}}}`},
	{
		"z.object({ a: z.object({ c: z.string(), d: z.number().optional() }) })",
		`{"type":"object","required":["a"],"properties":{"a":{"type":"object","required":["c"],"properties":{"c":{"type":"string"},"d":{"type":"number"}}}}}`,
	},
	{
		"z.object({ a: z.object({ c: z.string(), d: z.number() }) })",
		`{"type":"object","required":["a"],"properties":{"a":{"type":"object","required":["c","d"],"properties":{"c":{"type":"string"},"d":{"type":"number"}}}}}`,
	},
}

// queries are what a route takes in its URL: as FastAPI writes it, and as OpenAPI does.
var queries = []struct{ python, open string }{
	{"", ``},
	{"a: int", `{"name":"a","in":"query","required":true,"schema":{"type":"integer"}}`},
	{"a: int = 1", `{"name":"a","in":"query","schema":{"type":"integer"}}`},
	{"a: str", `{"name":"a","in":"query","required":true,"schema":{"type":"string"}}`},
	{"a: float", `{"name":"a","in":"query","required":true,"schema":{"type":"number"}}`},
	{"a: int, b: str", `{"name":"a","in":"query","required":true,"schema":{"type":"integer"}},{"name":"b","in":"query","required":true,"schema":{"type":"string"}}`},
	{"a: int, b: str = ''", `{"name":"a","in":"query","required":true,"schema":{"type":"integer"}},{"name":"b","in":"query","schema":{"type":"string"}}`},
	{"b: str = '', *, a: int", `{"name":"b","in":"query","schema":{"type":"string"}},{"name":"a","in":"query","required":true,"schema":{"type":"integer"}}`},
}

// api is one state of an API in the three languages.
type api struct{ hono, fast, open strings.Builder }

func newAPI() *api {
	var a api
	a.hono.WriteString("import { Hono } from 'hono';\nimport { zValidator } from '@hono/zod-validator';\nimport { z } from 'zod';\nconst app = new Hono();\n")
	a.fast.WriteString("from fastapi import FastAPI\napp = FastAPI()\n")
	return &a
}

func (a *api) operation(path, method, inside string) {
	fmt.Fprintf(&a.open, `,%q:{%q:{%s"responses":{"200":{"description":"ok"}}}}`, path, method, inside)
}

func (a *api) body(path, zod, open string) {
	fmt.Fprintf(&a.hono, "app.post('%s', zValidator('json', %s), (c) => c.text(''));\n", path, zod)
	a.operation(path, "post", `"requestBody":{"required":true,"content":{"application/json":{"schema":`+open+`}}},`)
}

func (a *api) query(path, python, open string) {
	fmt.Fprintf(&a.fast, "@app.get('%s')\ndef f%s(%s): pass\n", path, strings.ReplaceAll(path, "/", "_"), python)
	a.operation(path, "get", `"parameters":[`+open+`],`)
}

func (a *api) files() map[string]string {
	return map[string]string{"a.ts": a.hono.String(), "a.py": a.fast.String()}
}

func (a *api) document() string {
	return `{"openapi":"3.1.0","info":{"title":"t","version":"1"},"paths":{` + strings.TrimPrefix(a.open.String(), ",") + "}}"
}

// apiPairs writes every pair of bodies and queries, and routes that go, move and come, into two states of one API.
func apiPairs() (old, now *api, what map[string]string) {
	old, now, what = newAPI(), newAPI(), map[string]string{}
	for i, a := range bodies {
		for j, b := range bodies {
			path := fmt.Sprintf("/body/%d/%d", i, j)
			old.body(path, a.zod, a.open)
			now.body(path, b.zod, b.open)
			what["POST "+path] = a.zod + " => " + b.zod
		}
	}
	for i, a := range queries {
		for j, b := range queries {
			path := fmt.Sprintf("/query/%d/%d", i, j)
			old.query(path, a.python, a.open)
			now.query(path, b.python, b.open)
			what["GET "+path] = a.python + " => " + b.python
		}
	}
	old.query("/gone", "", "")
	now.query("/come", "a: int", queries[1].open)
	old.body("/left", bodies[0].zod, bodies[0].open)
	now.body("/arrived", bodies[3].zod, bodies[3].open)
	for _, route := range []string{"GET /gone", "GET /come", "POST /left", "POST /arrived"} {
		what[route] = route
	}
	return old, now, what
}

// oasdiffBreaks asks for the routes that break.
func oasdiffBreaks(t *testing.T, old, now string) map[string][]string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"old.json": old, "now.json": now} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c := exec.CommandContext(t.Context(), "go", "run", oasdiff, "breaking", "--format", "json", "old.json", "now.json")
	c.Dir = dir
	out, err := c.Output()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok && len(out) == 0 {
		t.Fatalf("oasdiff: %v\n%s", err, exit.Stderr)
	}
	var found []struct {
		ID, Operation, Path string
		Level               int
	}
	if err := json.Unmarshal(out, &found); err != nil {
		t.Fatalf("oasdiff: %v\n%s", err, out[:min(len(out), 500)])
	}
	all := map[string][]string{}
	for _, f := range found {
		if f.Level == 3 { // an error, not a warning
			all[f.Operation+" "+f.Path] = append(all[f.Operation+" "+f.Path], f.ID)
		}
	}
	return all
}

// TestOracleOasdiff holds verdicts on routes against oasdiff's rules:
//
//	PARLEY_OASDIFF=1 go test ./detect/code -run Oasdiff -v
func TestOracleOasdiff(t *testing.T) { // C4
	if os.Getenv("PARLEY_OASDIFF") == "" {
		t.Skip("PARLEY_OASDIFF is not set: oasdiff is downloaded and built, which takes minutes")
	}
	old, now, what := apiPairs()
	wants := oasdiffBreaks(t, old.document(), now.document())
	got := map[string]detect.ContractChange{}
	for _, c := range compare(t, Project{}, old.files(), now.files()).Contracts {
		got[strings.TrimPrefix(c.Contract.ID, "http:")] = c
		if c.From != "" {
			got[strings.TrimPrefix(c.From, "http:")] = c
			delete(got, strings.TrimPrefix(c.Contract.ID, "http:")) // who comes breaks nobody
		}
	}
	count := map[string]int{}
	for route, change := range sorted(what) {
		c, ok := got[route]
		if !ok {
			c.Verdict = detect.Compatible
		}
		kind := "agrees"
		switch breaks := len(wants[route]) > 0; {
		case c.Verdict == detect.CannotTell:
			kind = fmt.Sprintf("cannot tell (breaks: %t)", breaks)
		case breaks && c.Verdict != detect.Breaking:
			kind = "missed"
		case !breaks && c.Verdict == detect.Breaking:
			kind = "said by us alone"
		}
		if count[kind]++; kind != "agrees" {
			t.Logf("%s: %s %s: oasdiff %q, here %q", kind, route, change, wants[route], c.Why)
		}
	}
	t.Log(count)
	if count["missed"] > 0 {
		t.Errorf("%d breaks were missed", count["missed"])
	}
}
