package code

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// pythonApps are applications of Python, each with what its framework said it serves.
var pythonApps = []string{"fastapi", "flask", "starlette"}

// application reads the sources of one of them, and its list.
func application(t *testing.T, name string) (files map[string]string, list string) {
	t.Helper()
	root := os.DirFS(filepath.Join("testdata", "served", name))
	files = map[string]string{}
	for _, pattern := range []string{"*.py", "*/*.py", "*/*/*.py", "served.txt"} {
		found, err := fs.Glob(root, pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range found {
			content, err := fs.ReadFile(root, path)
			if err != nil {
				t.Fatal(err)
			}
			files[path] = string(content)
		}
	}
	list = files["served.txt"]
	delete(files, "served.txt")
	return files, list
}

// TestRoutesAreThoseThatAreServed holds what is read from sources against what the frameworks serve from them.
func TestRoutesAreThoseThatAreServed(t *testing.T) { // C4, C5
	for _, name := range pythonApps {
		files, list := application(t, name)
		var want []string
		for line := range strings.Lines(list) {
			method, path, _ := strings.Cut(strings.TrimSpace(line), " ")
			whole, _ := routePath(path)
			want = append(want, method+" "+whole)
		}
		slices.Sort(want)
		want = slices.Compact(want)
		got := ids(files)
		slices.Sort(got)
		for _, route := range want {
			if !slices.Contains(got, route) {
				t.Errorf("%s: %s is not found", name, route)
			}
		}
		for _, route := range got {
			if !slices.Contains(want, route) {
				t.Errorf("%s: %s is not served", name, route)
			}
		}
	}
}

// TestOracleServedRoutes runs the applications: PARLEY_PYTHON=/usr/bin/python3 go test ./detect/code -run Served -v, with
// Debian's python3-fastapi and python3-flask.
func TestOracleServedRoutes(t *testing.T) { // C4, C5
	python := os.Getenv("PARLEY_PYTHON")
	if python == "" {
		t.Skip("PARLEY_PYTHON does not name a Python that has fastapi, starlette and flask")
	}
	for _, name := range pythonApps {
		_, want := application(t, name)
		c := exec.CommandContext(t.Context(), python, "routes.py", name)
		c.Dir = filepath.Join("testdata", "served")
		got, err := c.Output()
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		t.Logf("%s: %d routes", name, strings.Count(want, "\n"))
		if string(got) != want {
			t.Errorf("%s serves\n%s\nand not\n%s", name, got, want)
		}
	}
}

func TestAPrefixThatIsNotKnownLeavesTheEndOfThePath(t *testing.T) { // C4, C5
	files := map[string]string{
		"main.py": "from fastapi import FastAPI\nfrom a import router\nfrom conf import settings\napp = FastAPI()\napp.include_router(router, prefix=settings.API)\n",
		"a.py":    "from web import Routes\nfrom fastapi import APIRouter\nrouter = APIRouter(prefix='/a')\nother = Routes(prefix='/o')\n@router.get('/x')\ndef x(): pass\n@other.get('/y')\ndef y(): pass\n",
		"b.py":    "from web import Routes\nrouter = Routes()\nrouter.include_router(main, prefix='/b')\n@router.get('/z')\ndef z(): pass\n",
		"c.py":    "from sanic import Sanic, Blueprint\none = Blueprint('one', url_prefix='/one')\ntwo = Blueprint('two', url_prefix='/two')\nthree = Blueprint('three', url_prefix=load())\nfour = Blueprint('four', url_prefix='/four', version=2)\napp.blueprint(Blueprint.group(one, url_prefix=load()))\napp.blueprint(two, url_prefix=load())\napp.blueprint(three)\napp.blueprint(four)\n@one.get('/k')\ndef k(r): pass\n@two.get('/l')\ndef l(r): pass\n@three.get('/m')\ndef m(r): pass\n@four.get('/n')\ndef n(r): pass\n",
		"d.py":    "from fastapi import FastAPI, APIRouter\nrouter = APIRouter(prefix=load())\nwhole = APIRouter(prefix='/whole')\napp = FastAPI()\napp.include_router(router, prefix='/v1')\napp.include_router(whole, prefix='/v1')\n@router.get('/p')\ndef p(): pass\n@whole.get('/q')\ndef q(): pass\n",
	}
	want := []string{
		"GET /a/x tail", "GET /four/n tail", "GET /l tail", "GET /m tail", "GET /o/y", "GET /one/k tail", "GET /p tail", "GET /v1/whole/q", "GET /z",
	}
	if got := endings(files); !slices.Equal(got, want) {
		t.Errorf("\n got %q\nwant %q", got, want)
	}
}
