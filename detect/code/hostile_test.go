package code

import (
	"fmt"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/parley-mesh/parley/detect"
)

// loops are files whose names are made of themselves, with the routes that they serve all the same.
var loops = map[string][]string{
	"def app(): return FastAPI()\napp = app()\n@app.get('/x')\ndef x(): pass\n":                                  {"GET /x"},
	"a = b()\nb = a()\n@a.get('/x')\ndef x(): pass\n@b.get('/y')\ndef y(): pass\n":                               {"GET /x", "GET /y"},
	"x = x.Y()\n@x.router.get('/x')\ndef f(): pass\n":                                                            {"GET /x"},
	"x = y.Y()\ny = x.X()\n@x.router.get('/x')\ndef f(): pass\n":                                                 {"GET /x"},
	"PREFIXES = []\nfor p in PREFIXES:\n  app.include_router(router, prefix=p)\n@app.get('/x')\ndef f(): pass\n": {"GET /x"},
	"for p in []: app.include_router(router, prefix=p)\n@app.get('/x')\ndef f(): pass\n":                         {"GET /x"},
	"for r, p in [(router,)]: app.include_router(r, prefix=p)\n@app.get('/x')\ndef f(): pass\n":                  {"GET /x"},
}

func TestNamesThatAreMadeOfThemselvesEnd(t *testing.T) { // C5
	for text, want := range sorted(loops) {
		if got := ids(map[string]string{"a.py": text}); !slices.Equal(got, want) {
			t.Errorf("%s\n got %q\nwant %q", text, got, want)
		}
	}
}

func addLoops(f *testing.F) {
	for text := range sorted(loops) {
		f.Add([]byte(text))
	}
}

func TestRoutesOfOneFileHaveAnEnd(t *testing.T) { // C5
	list := `{"/a"` + strings.Repeat(`, "/b"`, 99) + `}`
	u := New(Project{}).read("A.java", []byte("@RequestMapping("+list+")\nclass A {\n @GetMapping("+list+")\n void m() {}\n}\n"))
	if len(u.Contracts) != routesMax || u.Quality != detect.Recovered {
		t.Errorf("%d routes, quality %v", len(u.Contracts), u.Quality)
	}
	u = New(Project{}).read("A.java", []byte("@FeignClient @RequestMapping("+list+")\nclass A {\n @GetMapping("+list+")\n void m() {}\n}\n"))
	if len(u.References) > routesMax || u.Quality != detect.Recovered {
		t.Errorf("%d requests, quality %v", len(u.References), u.Quality)
	}
}

func TestMappingsOfSpringThatListNothing(t *testing.T) { // C5
	text := "@RequestMapping({})\nclass A {\n @RequestMapping(value = {}, method = {})\n void m() {}\n}\n"
	if got := ids(map[string]string{"A.java": text}); !slices.Equal(got, []string{"* /"}) {
		t.Errorf("%q", got)
	}
}

func TestConstantsOfFilesThatSpreadEnd(t *testing.T) { // C4
	files := map[string]string{"e.ts": "export const E = '';", "u.ts": "import { A } from './a';\nfetch(`${A}/x`)"}
	for _, name := range []string{"a", "b", "c", "d"} {
		next := string(name[0] + 1)
		files[name+".ts"] = fmt.Sprintf("import { %s as N } from './%s';\nexport const %s = `%s`;", strings.ToUpper(next), next, strings.ToUpper(name), strings.Repeat("${N}", 15))
	}
	if got := requestsOf(files, "u.ts"); got != "GET /x tail" {
		t.Errorf("%q", got)
	}
	files = map[string]string{
		"l.ts": "export const L = '/" + strings.Repeat("l", constantMax-10) + "';",
		"u.ts": "import { L } from './l';\nfetch(`${L}${L}/x`);\nfetch(`${L}${L}${L}${L}/x`)",
	}
	if got := requestsOf(files, "u.ts"); strings.Count(got, "GET") != 1 {
		t.Errorf("%q", got)
	}
}

func TestAttributesOfRustFindTheirFunction(t *testing.T) { // C5
	text := "#[inline]\n// why\n#[get(\"/a\")]\n/// what\n#[post(\"/b\")]\n#[must_use]\npub async fn f() {}\nfn g() {}\n"
	if got := ids(map[string]string{"a.rs": text}); !slices.Equal(got, []string{"GET /a", "POST /b"}) {
		t.Errorf("%q", got)
	}
	u := New(Project{}).read("a.rs", []byte(strings.Repeat("#[get(\"/a\")]\n", 10*attributesMax)+"fn f() {}\n"))
	if len(u.Contracts) != attributesMax {
		t.Errorf("%d routes", len(u.Contracts))
	}
}

func TestAPanicSpoilsOneFileOnly(t *testing.T) { // C5
	u := guarded("a/b.py", func() detect.Unit { panic("a fault of a reader") })
	if u.Path != "a/b.py" || u.Language != "py" || u.Quality != detect.Failed {
		t.Errorf("%+v", u)
	}
}

func TestAComparisonThatFailsSpoilsOneFileOnly(t *testing.T) { // C5
	r := New(Project{})
	before := readAll(r, map[string]string{"a.ts": "export function f() {}\n", "b.ts": "export function g() {}\nexport const k = 1;\n"})
	failing := func(paths ...string) func(before, after []detect.Unit) detect.Delta {
		return func(before, after []detect.Unit) detect.Delta {
			for _, u := range slices.Concat(before, after) {
				if u.Quality != detect.Failed && slices.Contains(paths, u.Path) {
					panic("a fault of the comparison")
				}
			}
			return r.compare(before, after)
		}
	}
	after := readAll(r, map[string]string{"a.ts": "export function f(a: string) {}\n", "b.ts": "export const k = 1;\n"})
	whole := r.Compare(before, after)
	if got := sparing(before, after, failing("none.ts")); !reflect.DeepEqual(got, whole) || len(got.Symbols) != 2 {
		t.Errorf("without a fault: %+v", got)
	}
	got := sparing(before, after, failing("b.ts"))
	if len(got.Symbols) != 1 || !reflect.DeepEqual(got.Symbols[0], whole.Symbols[0]) {
		t.Errorf("b.ts spoils more or less than itself: %+v", got)
	}
	both := func(before, after []detect.Unit) detect.Delta {
		if len(after) > 1 {
			panic("a fault of no file")
		}
		return r.compare(before, after)
	}
	if got := sparing(before, after, both); len(got.Symbols) != 0 {
		t.Errorf("of a comparison that never ended: %+v", got)
	}
}

func TestConstantsThatGrowWithoutEndTakeNoMemory(t *testing.T) { // C5
	long := "/" + strings.Repeat("x", 400_000)
	for name, text := range map[string]string{
		"a.ts": "const a = '" + long + "';\nconst b = `" + strings.Repeat("${a}", 1000) + "`;\nfetch(b);\n",
		"b.py": "import requests\na = '" + long + "'\nb = f'" + strings.Repeat("{a}", 1000) + "'\nrequests.get(b)\n",
		"a.go": "package a\n\nimport \"net/http\"\n\nconst a = \"" + long + "\"\nconst b = " + strings.Repeat("a + ", 10) + "a\nconst c = " +
			strings.Repeat("b + ", 10) + "b\n\nfunc f() { http.Get(c) }\n",
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		New(Project{}).Read(name, []byte(text))
		runtime.ReadMemStats(&after)
		if took := after.TotalAlloc - before.TotalAlloc; took > 40<<20 {
			t.Errorf("%s took %d MiB", name, took>>20)
		}
	}
}

func TestSchemasThatSpellAMarkOfTheirOwn(t *testing.T) { // C5
	for _, field := range []string{"z.literal('@mod:')", "z.literal('@mod:#')", "z.enum(['@mod:', 'b#'])"} {
		text := "import { z } from 'zod';\nexport const S = z.object({ a: " + field + " });\n"
		if d := compare(t, Project{}, nil, map[string]string{"a.ts": text}); len(d.Contracts) != 1 {
			t.Errorf("%s: %+v", field, d.Contracts)
		}
	}
}
