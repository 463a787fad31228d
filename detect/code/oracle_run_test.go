package code

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/parley-mesh/parley/detect"
)

// oracleApps are programs that tell their own routes when they are run: the files, and the one to start.
var oracleApps = []struct {
	name  string
	files map[string]string
}{
	{"hono", map[string]string{
		"a.mjs": `import { Hono } from 'hono';
import books, { shelves } from './b.mjs';
const P = '/v2';
const app = new Hono().basePath('/api');
app.get('/x/:id', (c) => c.text('')).post('/y', (c) => c.text(''));
app.get(P + '/sum', (c) => c.text('')).get(` + "`${P}/t/:a`" + `, (c) => c.text(''));
app.on(['GET', 'PUT'], '/both', (c) => c.text(''));
app.on('PURGE', ['/p1', '/p2'], (c) => c.text(''));
app.all('/all', (c) => c.text(''));
app.get('/opt/:id{[0-9]+}', (c) => c.text('')).get('/maybe/:id?', (c) => c.text(''));
app.route('/books', books);
app.route('/', shelves);
const deep = new Hono();
deep.get('/leaf', (c) => c.text(''));
const mid = new Hono();
mid.route('/mid', deep);
app.route('/top', mid);
export default app;
`,
		"b.mjs": `import { Hono } from 'hono';
const app = new Hono();
app.get('/', (c) => c.text('')).get('/:id', (c) => c.text('')).delete('/:id', (c) => c.text(''));
export const shelves = new Hono().basePath('/shelves').patch('/:a/:b', (c) => c.text(''));
export default app;
`,
		"main.mjs": `import app from './a.mjs';
console.log(JSON.stringify(app.routes.map((r) => r.method + ' ' + r.path)));
`,
	}},
	{"fastify", map[string]string{
		"r.mjs": `export default async function routes(fastify, options) {
  fastify.post('/refunds', async () => '');
  fastify.get('/refunds/:id', { schema: {} }, async () => '');
  fastify.register(nested, { prefix: '/n' });
}
async function nested(f) { f.get('/in', async () => ''); f.delete('/in/:a/:b', async () => ''); }
`,
		"main.mjs": `import Fastify from 'fastify';
import routes from './r.mjs';
const app = Fastify({ exposeHeadRoutes: false });
const told = [];
app.addHook('onRoute', (r) => { for (const m of [r.method].flat()) told.push(m + ' ' + r.url); });
app.register(routes, { prefix: '/v1' });
app.register(async (i) => { i.get('/in', async () => ''); i.put('/in/*', async () => ''); }, { prefix: '/w' });
app.route({ method: ['GET', 'HEAD'], url: '/r/:id', handler: async () => '' });
app.get('/plain', async () => '');
await app.ready();
console.log(JSON.stringify(told));
`,
	}},
}

// TestOracleRoutes holds the routes that are read against those that the framework itself has when it runs.
func TestOracleRoutes(t *testing.T) { // C4, C5
	dir := oracles(t)
	for _, app := range oracleApps {
		var told []string
		if err := json.Unmarshal([]byte(runNode(t, dir, app.files, "main.mjs")), &told); err != nil {
			t.Fatalf("%s: %v", app.name, err)
		}
		var want []string
		for _, route := range told {
			method, path, _ := strings.Cut(route, " ")
			whole, _ := routePath(path)
			want = append(want, strings.Replace(method, "ALL", "*", 1)+" "+whole)
		}
		slices.Sort(want)
		want = slices.Compact(want)
		got := ids(app.files)
		slices.Sort(got)
		t.Logf("%s: %d routes", app.name, len(want))
		if !slices.Equal(got, want) {
			t.Errorf("%s:\n got %q\nhas  %q", app.name, got, want)
		}
	}
}

// oracleSchemas are held against each other.
var oracleSchemas = []string{
	"z.string()", "z.number()", "z.boolean()", "z.string().nullable()", "z.string().optional()", "z.union([z.string(), z.number()])",
	"z.enum(['a', 'b'])", "z.enum(['a'])", "z.enum(['b', 'a'])", "z.literal('a')", "z.array(z.string())", "z.array(z.number())",
	"z.object({ a: z.string() })", "z.object({ a: z.string(), b: z.number() })", "z.object({ a: z.string(), b: z.number().optional() })",
	"z.object({ a: z.number() })", "z.object({ a: z.string().optional() })", "z.object({ a: z.string().nullable() })",
	"z.object({ a: z.enum(['a', 'b']) })", "z.object({ a: z.object({ c: z.string() }) })", "z.object({ a: z.object({ c: z.string(), d: z.number().optional() }) })",
	"z.object({ a: z.string() }).partial()", "z.object({ a: z.string(), b: z.number() }).pick({ a: true })", "z.object({ a: z.string() }).extend({ b: z.number() })",
	"z.object({ a: z.string(), b: z.number() }).omit({ b: true })", "z.record(z.string(), z.number())", "z.null()",
}

// zodScript asks zod about each pair: whether it takes all that the old one took and gives all that the old one gave (of
// the samples), and whether its own JSON schemas are the same.
const zodScript = `import { z } from 'zod';
const schemas = [%s];
const leaves = ['a', 'b', 'x', 1, true, null, undefined, ['a'], [1], { c: 'x' }, { c: 'x', d: 1 }, {}];
const samples = [...leaves, ...leaves.map((a) => ({ a })), ...leaves.flatMap((a) => [1, 'x', undefined].map((b) => ({ a, b }))), { q: 1 }, { q: 'x' }];
const run = (s, v) => { const r = s.safeParse(v); return r.success ? { value: r.data } : undefined; };
const json = (s) => JSON.stringify(z.toJSONSchema(s, { io: 'input' }));
const out = [];
for (const old of schemas) for (const now of schemas) {
  let takes = true, gives = true;
  for (const v of samples) {
    // What a schema does not name it drops: nobody is expected to have sent it.
    if (old.shape && v && Object.keys(v).some((k) => !(k in old.shape))) continue;
    const before = run(old, v), after = run(now, v);
    if (before && !after) takes = false;
    if (after && !run(old, after.value)) gives = false;
    if (before && after && old.shape && now.shape && Object.keys(old.shape).some((k) => !(k in now.shape))) gives = false;
  }
  out.push({ takes, gives, same: json(old) === json(now) });
}
console.log(JSON.stringify(out));
`

// TestOracleZod holds the verdicts on schemas against zod itself.
func TestOracleZod(t *testing.T) { // C4
	dir := oracles(t)
	script := strings.Replace(zodScript, "%s", strings.Join(oracleSchemas, ",\n"), 1)
	var wants []struct{ Takes, Gives, Same bool }
	if err := json.Unmarshal([]byte(runNode(t, dir, map[string]string{"a.mjs": script}, "a.mjs")), &wants); err != nil {
		t.Fatal(err)
	}
	count := map[string]int{}
	for i, want := range wants {
		old, now := oracleSchemas[i/len(oracleSchemas)], oracleSchemas[i%len(oracleSchemas)]
		const head = "import { z } from 'zod';\nexport const S = "
		d := compare(t, Project{}, map[string]string{"a.ts": head + old}, map[string]string{"a.ts": head + now})
		got := detect.Compatible
		for _, c := range d.Contracts {
			got = c.Verdict
		}
		kind := "agrees"
		breaks := !want.Takes || !want.Gives
		switch {
		case got == detect.CannotTell:
			kind = fmt.Sprintf("cannot tell (breaks: %t)", breaks)
		case breaks && got != detect.Breaking:
			kind = "missed"
		case !breaks && got == detect.Breaking:
			kind = "false"
		case want.Same && len(d.Contracts) > 0 && d.Contracts[0].Change > detect.Body:
			kind = "a change where zod's own schema has none"
		}
		if count[kind]++; kind != "agrees" {
			t.Logf("%s: %s => %s (takes %t, gives %t)", kind, old, now, want.Takes, want.Gives)
		}
	}
	t.Log(count)
	if count["missed"] > 0 {
		t.Errorf("%d breaks were missed", count["missed"])
	}
}
