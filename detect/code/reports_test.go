package code

import (
	"reflect"
	"testing"

	"github.com/parley-mesh/parley/detect"
)

// Reports about comparisons of routes and schemas, as they are in code instead of in OpenAPI.
func TestPublicReportsOfRoutesAndSchemas(t *testing.T) { // C4
	zod := "import { z } from 'zod';\nexport const S = "
	app := "import express from 'express';\nconst app = express();\n"
	for _, c := range []struct {
		report, old, now string
		change           detect.Change // 0: nothing changed
		verdict          detect.Verdict
	}{
		{"oasdiff#215", app + "app.get('/a/:id', h);", app + "app.get('/a/:key', h);", 0, 0},
		{"oasdiff#378", app + "app.get('/v1/a/:id', h);", app + "const r = express.Router();\nr.get('/:id', h);\napp.use('/v1/a', r);", 0, 0},
		{"oasdiff#549", zod + "z.object({ a: z.string() })", zod + "z.object({ a: z.string(), b: z.string().default('x') })", detect.SignatureChanged, fine},
		{"oasdiff#1110", zod + "z.object({ a: z.string() })", zod + "z.object({ a: z.string(), b: z.string() })", detect.SignatureChanged, breaks},
		{"oasdiff#398", zod + "z.object({ a: z.string() })", zod + "z.object({ a: z.string().nullable() })", detect.SignatureChanged, breaks},
		{"oasdiff#103", zod + "z.object({ a: z.string() })", zod + "z.object({ a: z.string().optional() })", detect.SignatureChanged, breaks},
		{"oasdiff#281", zod + "z.object({ a: z.string() }).extend({})", zod + "z.object({ a: z.string() }).extend({ b: z.number() })", detect.SignatureChanged, breaks},
	} {
		d := compare(t, Project{}, map[string]string{"a.ts": c.old}, map[string]string{"a.ts": c.now})
		var got detect.ContractChange
		if len(d.Contracts) > 0 {
			got = d.Contracts[0]
		}
		if len(d.Contracts) > 1 || got.Change != c.change || got.Verdict != c.verdict {
			t.Errorf("%s: %+v", c.report, d.Contracts)
		}
	}
}

// Aliases and constraints of Go have made other comparisons wrong, or end in a panic (go#60911, go#79224).
func TestPublicReportsOfGoTypes(t *testing.T) { // C4
	for _, c := range []struct {
		report, old, now string
		want             detect.Verdict
	}{
		{"go#60911", "package p\ntype N interface{ ~int | ~int64 }\nfunc F[T N](T) {}", "package p\ntype N interface{ ~int64 | ~int }\nfunc F[T N](T) {}", 0},
		{"go#79224", "package p\ntype A = B\ntype B struct{ X int }\nfunc F(A) {}", "package p\ntype A = B\ntype B struct{ X int }\nfunc F(B) {}", fine},
		{"go#79224, generic", "package p\ntype A[T any] = []T\nfunc F(A[int]) {}", "package p\ntype A[T any] = []T\nfunc F(A[string]) {}", breaks},
	} {
		d := compare(t, Project{}, map[string]string{"a.go": c.old}, map[string]string{"a.go": c.now})
		if got := change(d, "F"); got.Verdict != c.want && !(c.want != 0 && got.Verdict == detect.CannotTell) {
			t.Errorf("%s: %+v", c.report, d.Symbols)
		}
	}
}

// A tree that grew by edits differs from a fresh one (tree-sitter#4001), and a parser that hit its limit spoils the next
// file: whatever was read before, a file says the same.
func TestWhatWasReadBeforeDoesNotMatter(t *testing.T) { // C5
	r := New(Project{})
	for name, text := range sorted(seeds) {
		want := New(Project{}).Read(name, []byte(text))
		r.Read(name, []byte(text[:len(text)/2]))
		r.Read("a.tsx", []byte("const a = <b c={d(e"))
		if got := r.Read(name, []byte(text)); !reflect.DeepEqual(got, want) {
			t.Errorf("%s reads differently after other files", name)
		}
	}
}
