package code

import (
	"maps"
	"slices"
	"testing"
)

func TestAProjectIsReadFromItsManifests(t *testing.T) { // C4
	files := map[string]string{
		"go.mod":                        "module example.com/m\n\ngo 1.26\n",
		"tools/go.mod":                  "module \"example.com/tools\"\n",
		"package.json":                  `{"name": "root"}`,
		"packages/billing/package.json": `{"name": "@acme/billing", "main": "x"}`,
		"web/tsconfig.json":             "{ // ours\n \"compilerOptions\": { \"baseUrl\": \".\", /* b */ \"paths\": { \"@/*\": [\"src/*\"], }, }, }",
		"core/Cargo.toml":               "[package]\nname = \"core-lib\"\n",
		"bad/package.json":              "{{",
		"src/a.ts":                      "",
	}
	p := Discover(slices.Collect(maps.Keys(files)), func(path string) []byte { return []byte(files[path]) })
	if !maps.Equal(p.GoModules, map[string]string{"": "example.com/m", "tools": "example.com/tools"}) ||
		!maps.Equal(p.Packages, map[string]string{"@acme/billing": "packages/billing", "core-lib": "core"}) ||
		!maps.Equal(p.Aliases, map[string]string{"@/": "web/src"}) || !p.Has("src/a.ts") || p.Has("src/b.ts") {
		t.Errorf("%+v", p)
	}
	if got := p.goPackage("tools/x"); got != "example.com/tools/x" {
		t.Error(got)
	}
}
