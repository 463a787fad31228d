package code

import (
	"testing"

	"github.com/parley-mesh/parley/detect"
)

func TestZodSchemasInNormalForm(t *testing.T) { // C4
	const head = "import { z } from 'zod';\nconst Base = z.object({ id: z.string().uuid(), n: z.number().min(1).optional(), e: z.enum(['b', 'a']) });\n"
	cases := []struct{ text, want string }{
		{"export const S = Base", `{e: "a" | "b"; id: string; n?: number}`},
		{"export const S = Base.extend({ x: z.array(z.string().nullable()) }).strict()", `{e: "a" | "b"; id: string; n?: number; x: (string | null)[]}`},
		{"export const S = Base.merge(z.object({ id: z.number() }))", `{e: "a" | "b"; id: number; n?: number}`},
		{"export const S = Base.pick({ id: true })", `{id: string}`},
		{"export const S = Base.omit({ id: true, e: true })", `{n?: number}`},
		{"export const S = Base.partial()", `{e?: "a" | "b"; id?: string; n?: number}`},
		{"export const S = Base.partial({ id: true }).refine((x) => x)", `{e: "a" | "b"; id?: string; n?: number}`},
		{"export const S = Base.required()", `{e: "a" | "b"; id: string; n: number}`},
		{"export const S = z.union([z.string(), z.object({ a: Base.shape.id })])", `string | {a: string}`},
		{"export const S = z.discriminatedUnion('k', [z.object({ k: z.literal('a') }), z.object({ k: z.literal('b') })])", `{k: "a"} | {k: "b"}`},
		{"export const S = z.object({ in: z.object({ deep: z.coerce.number().default(1) }) })", `{in: {deep?: number}}`},
		{"export const S = z.object({ ...Base.shape, r: z.record(z.string(), z.date()) })", `{e: "a" | "b"; id: string; n?: number; r: Record<string, Date>}`},
		{"export const S = z.string().transform(Number)", `string`},
		{"const K = ['x', 'y'] as const;\nexport const S = z.enum(K)", `"x" | "y"`},
		{"export const S = Base.extend({ x: z.string() }) satisfies z.ZodType<T>", `{e: "a" | "b"; id: string; n?: number; x: string}`},
		{"export const S = (z.object({ a: z.string() }) as z.ZodType<T>)", `{a: string}`},
		{"export const S = Base.keyof()", `"e" | "id" | "n"`},
		{"export const S = Base.pick({ id: true }).keyof().optional()", `"id" | undefined`},
		{"export const S = z.object({ a: z.object({ b: z.string() }).nullable(), c: z.array(z.object({ d: z.string() })), e: z.string() }).deepPartial()", `{a?: {b?: string} | null; c?: {d?: string}[]; e?: string}`},
		{"export const S = z.object({ v: z.string(), get kids() { return z.array(S) }, get up() { return S.optional() } })", `{kids: S[]; up?: S; v: string}`},
		{"export const S = z.object({ get a() { return Base.pick({ id: true }) }, get b() { if (x) return Base; return Other } })", `{a: {id: string}; b: ?}`},
		{"export const S = z.object({ kids: z.lazy(() => z.array(S)) })", `{kids: S[]}`},
		{"const A = z.object({ get b() { return z.array(B) } });\nconst B = z.object({ get a() { return A.nullable() } });\nexport const S = A", `{b: {a: A | null}[]}`},
		{"import { O } from './o';\nexport const S = O.keyof()", `@mod:./o#O.keyof()`},
		{"import { O } from './o';\nexport const S = O.extend({ a: z.string() })", `@mod:./o#O.extend({a: string})`},
	}
	for _, c := range cases {
		u := New(Project{}).Read("a.ts", []byte(head+c.text))
		if len(u.Contracts) != 1 || u.Contracts[0].Inputs != c.want || u.Contracts[0].ID != "zod:ts:a.ts#S" {
			t.Errorf("%s\n got %+v\nwant %s", c.text, u.Contracts, c.want)
		}
	}
}

func TestASchemaThatIsTheDefaultExportIsRead(t *testing.T) { // C4
	for text, want := range map[string]string{
		"import { z } from 'zod';\nexport default z.object({ a: z.string() })":                       "{a: string}",
		"import { z } from 'zod';\nconst S = z.object({ a: z.string() });\nexport default S.keyof()": `"a"`,
		"import { z } from './other';\nexport default z.object({ a: z.string() })":                   "",
		"export default { a: 1 }": "",
	} {
		u := New(Project{}).Read("a.ts", []byte(text))
		got := ""
		if len(u.Contracts) == 1 && u.Contracts[0].ID == "zod:ts:a.ts#default" {
			got = u.Contracts[0].Inputs
		}
		if got != want {
			t.Errorf("%s\n got %+v\nwant %s", text, u.Contracts, want)
		}
	}
}

func TestASchemaOfAnotherFileIsFollowed(t *testing.T) { // C4
	files := map[string]string{
		"o.ts": "import { z } from 'zod';\nexport const O = z.object({ id: z.string(), n: z.number() })",
		"a.ts": "import { z } from 'zod';\nimport { O } from './o';\nexport const S = O.omit({ n: true }).extend({ a: z.string() })\nexport const T = O.keyof()",
	}
	d := compare(t, Project{}, nil, files)
	if len(d.Contracts) != 3 || d.Contracts[1].Contract.Inputs != `"id" | "n"` || d.Contracts[0].Contract.Inputs != "{a: string; id: string}" {
		t.Errorf("%+v", d.Contracts)
	}
}

func TestContractChangesHaveTheirVerdicts(t *testing.T) { // C4
	zod := func(s string) string { return "import { z } from 'zod';\nexport const S = " + s }
	app := func(s string) string { return "const app = express();\nfunction h() { return 1 }\n" + s }
	cases := []struct {
		old, now, id string
		change       detect.Change
		want         detect.Verdict
	}{
		{zod("z.object({ a: z.string() })"), zod("z.object({ a: z.string(), b: z.string().optional() })"), "zod:ts:a.ts#S", detect.SignatureChanged, fine},
		{zod("z.object({ a: z.string() })"), zod("z.object({ a: z.string(), b: z.string() })"), "zod:ts:a.ts#S", detect.SignatureChanged, breaks},
		{zod("z.object({ a: z.string() })"), zod("z.object({})"), "zod:ts:a.ts#S", detect.SignatureChanged, breaks},
		{zod("z.object({ a: z.string() })"), zod("z.object({ a: z.number() })"), "zod:ts:a.ts#S", detect.SignatureChanged, breaks},
		{zod("z.object({ a: z.object({ b: z.string() }) })"), zod("z.object({ a: z.object({}) })"), "zod:ts:a.ts#S", detect.SignatureChanged, breaks},
		{zod("z.object({ a: z.string().optional() })"), zod("z.object({ a: z.string() })"), "zod:ts:a.ts#S", detect.SignatureChanged, breaks},
		{zod("z.object({ a: z.string() })"), zod("z.object({ a: z.string().optional() })"), "zod:ts:a.ts#S", detect.SignatureChanged, breaks},
		{zod("z.object({ a: z.string() })"), zod("z.object({ a: z.string().nullable() })"), "zod:ts:a.ts#S", detect.SignatureChanged, breaks},
		{zod("z.object({ a: z.string().optional() })"), zod("z.object({ a: z.string().nullable() })"), "zod:ts:a.ts#S", detect.SignatureChanged, breaks},
		{zod("z.object({ a: z.string(), b: z.string() }).keyof()"), zod("z.object({ a: z.string() }).keyof()"), "zod:ts:a.ts#S", detect.SignatureChanged, breaks},
		{zod("z.object({ a: z.string(), get k() { return z.array(S) } })"), zod("z.object({ a: z.string() })"), "zod:ts:a.ts#S", detect.SignatureChanged, breaks},
		{zod("z.object({ get k() { return z.array(S) } })"), zod("z.object({ get k() { return z.array(S).optional() } })"), "zod:ts:a.ts#S", detect.SignatureChanged, breaks},
		{zod("z.object({ get k() { return z.array(S) } })"), zod("z.object({ k: z.lazy(() => z.array(S)) })"), "zod:ts:a.ts#S", detect.Body, open},
		{zod("z.object({ get k() { x(); return A } })"), zod("z.object({ get k() { return z.string() } })"), "zod:ts:a.ts#S", detect.SignatureChanged, open},
		{zod("z.object({ a: z.object({ b: z.string() }) }).deepPartial()"), zod("z.object({ a: z.object({ b: z.number() }) }).deepPartial()"), "zod:ts:a.ts#S", detect.SignatureChanged, breaks},
		{zod("z.enum(['a', 'b'])"), zod("z.enum(['a'])"), "zod:ts:a.ts#S", detect.SignatureChanged, breaks},
		{zod("z.object({ a: z.string().min(1) })"), zod("z.object({ a: z.string().min(2) })"), "zod:ts:a.ts#S", detect.Body, open},
		{zod("z.object({ a: z.string() })"), "", "zod:ts:a.ts#S", detect.Removed, breaks},
		{app("app.get('/a', h)"), app(""), "http:GET /a", detect.Removed, breaks},
		{app("app.get('/a', h)"), app("app.get('/b', h)"), "http:GET /b", detect.Moved, breaks},
		{app("app.get('/a', h)"), app("app.post('/a', h)"), "http:POST /a", detect.Moved, breaks},
		{app("app.get('/a/:x', h)"), app("app.get('/a/:y', h)"), "", 0, 0},
		{app("app.get('/a', (q, r) => 1)"), app("app.get('/a', (q, r) => 2)"), "http:GET /a", detect.Body, fine},
		{app("app.get('/a', h)"), app("app.get('/a', h)\napp.get('/b', h)"), "http:GET /b", detect.Added, fine},
		{
			app("app.post('/a', { schema: { body: z.object({ a: z.string() }) } }, h)"),
			app("app.post('/a', { schema: { body: z.object({ a: z.string(), b: z.string() }) } }, h)"), "http:POST /a", detect.SignatureChanged, open,
		},
	}
	for _, c := range cases {
		d := compare(t, Project{}, map[string]string{"a.ts": c.old}, map[string]string{"a.ts": c.now})
		switch {
		case c.id == "" && len(d.Contracts) == 0:
		case len(d.Contracts) != 1 || d.Contracts[0].Contract.ID != c.id || d.Contracts[0].Change != c.change || d.Contracts[0].Verdict != c.want:
			t.Errorf("%s\n=> %s\n got %+v\nwant %s %v %v", c.old, c.now, d.Contracts, c.id, c.change, c.want)
		}
	}
}
