package code

import (
	"slices"
	"testing"
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
