package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// A layer says what some packages may import besides the standard library and
// each other. Patterns are those of the go command: "x" is one package, "x/..."
// is x and everything below it.
type layer struct {
	packages string
	pure     bool     // decides and never performs, see checkPurity
	support  bool     // helps tests, so it may import testing
	module   []string // packages of this module
	library  []string // prefixes of import paths of other modules
	tests    []string // as library, for its test files only
}

// deciders are the pure packages, which every adapter may know.
var deciders = []string{"ledger", "detect", "lanes", "conflicts/...", "node/core"}

// layers is the import table, lowest first. The longest matching pattern
// holds, and a package that no line names may not exist. Adapters do not know
// each other; only node and simnet put them together.
var layers = []layer{
	// Pure packages decide.
	{packages: "ledger", pure: true, library: []string{"github.com/fxamacker/cbor"}},
	{packages: "detect", pure: true, library: []string{"golang.org/x/text"}},
	{packages: "lanes", pure: true, module: []string{"ledger"}},
	{packages: "conflicts/...", pure: true, module: []string{"ledger", "detect", "lanes"}},
	{packages: "node/core", pure: true, module: deciders},

	// Adapters know one technology each.
	{
		packages: "ledger/disk", module: []string{"ledger"},
		library: []string{"github.com/dgraph-io/badger", "golang.org/x/sys"},
	},
	{packages: "ledger/logtest", support: true, module: []string{"ledger"}},
	{packages: "detect/policy", module: []string{"detect"}, library: []string{"go.yaml.in/yaml"}},
	{packages: "detect/repo", module: []string{"detect"}},
	{packages: "detect/code/...", module: []string{"detect"}, library: []string{"github.com/smacker/go-tree-sitter"}},
	{
		packages: "mesh/...", tests: []string{"google.golang.org/protobuf", "golang.org/x/sys"}, module: []string{"ledger", "lanes"},
		library: []string{"github.com/libp2p/go-libp2p", "github.com/libp2p/go-libp2p-pubsub", "github.com/libp2p/zeroconf", "github.com/multiformats", "github.com/quic-go/quic-go"},
	},
	{packages: "node/internal/trace", library: []string{"go.opentelemetry.io/otel"}}, // any adapter may say how long it takes
	{
		packages: "node/internal/github", module: append([]string{"node/internal/trace"}, deciders...),
		library: []string{"github.com/cli/go-gh", "github.com/gofri/go-github-ratelimit"},
	},
	{
		packages: "node/internal/worktree", module: append([]string{"node/internal/trace"}, deciders...),
		library: []string{"github.com/go-git/go-billy", "github.com/go-git/go-git", "golang.org/x/sys"},
		tests:   []string{"github.com/hanwen/go-fuse"},
	},
	{packages: "node/internal/agents", module: deciders, library: []string{"golang.org/x/sys"}},
	{packages: "node/internal/presence", module: deciders, library: []string{"filippo.io/age"}},
	{packages: "node/internal/sealed", module: deciders, library: []string{"filippo.io/age", "golang.org/x/crypto/ssh"}},
	{packages: "node/internal/watch", module: deciders, library: []string{"github.com/fsnotify/fsnotify"}},
	{packages: "node/internal/backup", module: deciders, library: []string{"filippo.io/age"}},
	{packages: "node/internal/passkey", library: []string{"github.com/go-webauthn/webauthn"}},
	{packages: "node/internal/notices", library: []string{"github.com/godbus/dbus"}},
	{packages: "node/internal/hooks", library: []string{"mvdan.cc/sh/v3/syntax"}, tests: []string{"github.com/pelletier/go-toml"}},
	{packages: "node/internal/install", tests: []string{"github.com/pelletier/go-toml"}},
	{packages: "node/internal/...", module: deciders},

	{packages: "node/help", module: deciders},

	// The shell performs.
	{
		packages: "node/api/...", module: append([]string{"node/internal/presence", "node/internal/hooks"}, deciders...),
		tests: []string{"github.com/pelletier/go-toml"},
	},
	{
		packages: "node/page", module: []string{"node/api", "node/help", "node/internal/presence"}, library: []string{"github.com/a-h/templ"},
		tests: []string{"github.com/chromedp"},
	},
	{
		packages: "node/api/mcp", module: []string{"node/api"},
		library: []string{"github.com/modelcontextprotocol/go-sdk", "github.com/google/jsonschema-go"},
	},
	{
		packages: "node",
		module:   []string{"ledger/...", "detect/...", "lanes", "conflicts/...", "mesh/...", "node/..."},
		library: []string{
			"github.com/pelletier/go-toml", "github.com/gofrs/flock", "github.com/adrg/xdg",
		},
	},

	{packages: "node/service"},

	// The simulator stands around it; its stand-ins are linked by the demo.
	{packages: "simnet/github", library: []string{"github.com/vektah/gqlparser"}, tests: []string{"..."}},
	{packages: "simnet/desk", tests: []string{"..."}},
	{
		packages: "simnet/memnet", support: true, module: []string{"mesh"}, tests: []string{"..."},
		library: []string{"github.com/libp2p/go-libp2p", "github.com/multiformats"},
	},
	{packages: "simnet", module: deciders},
	{packages: "simnet/...", support: true, module: []string{"..."}, tests: []string{"..."}},

	// Programs are thin.
	{
		packages: "cmd/parley", tests: []string{"golang.org/x/sys"}, module: []string{"node", "node/api/...", "node/help", "node/service", "detect/...", "simnet/..."},
		library: []string{"github.com/spf13/cobra", "github.com/spf13/pflag", "github.com/adrg/xdg", "github.com/cli/go-gh/v2/pkg/jq", "golang.org/x/term", "github.com/piglig/go-qr", "github.com/rivo/uniseg"},
	},
	{packages: "cmd/parley-hook"},
	{packages: "cmd/parley-sim", module: []string{"simnet"}},
	{packages: "cmd/tidy"},
}

// testLibraries are what any test file may import, besides every package of
// this module.
var testLibraries = []string{
	"github.com/rogpeppe/go-internal",       // testscript and txtar
	"pgregory.net/rapid",                    // properties
	"github.com/marcopolo/simnet",           // packets in virtual time
	"github.com/veraison/go-cose",           // a second opinion on signatures
	"github.com/getkin/kin-openapi",         // GitHub's own description of its API
	"github.com/santhosh-tekuri/jsonschema", // the policy's published schema
}

// checkLayers holds every import against the table.
func checkLayers(t *tree) (found []finding) {
	unknown := map[string]bool{}
	for _, s := range t.source {
		l, ok := layerOf(s.folder())
		if !ok {
			if !unknown[s.folder()] {
				unknown[s.folder()] = true
				found = append(found, finding{
					file: s.name, line: t.line(s.syntax.Package),
					message: fmt.Sprintf("package %s has no line in the table of cmd/tidy/layers.go", s.folder()),
				})
			}
			continue
		}
		for _, spec := range s.syntax.Imports {
			imported, _ := strconv.Unquote(spec.Path.Value) // the parser has checked it
			if !l.allows(t.module, imported, s.test) {
				found = append(found, finding{
					file: s.name, line: t.line(spec.Pos()),
					message: fmt.Sprintf("%s may not import %s", l.packages, strings.TrimPrefix(imported, t.module+"/")),
				})
			}
		}
	}
	return found
}

// layerOf returns the layer with the longest pattern that matches folder.
func layerOf(folder string) (best layer, ok bool) {
	for _, l := range layers {
		if matches(l.packages, folder) && len(l.packages) >= len(best.packages) {
			best, ok = l, true
		}
	}
	return best, ok
}

// allows reports whether a file of this layer may import a package.
func (l layer) allows(module, imported string, test bool) bool {
	within := func(patterns ...string) bool {
		return slices.ContainsFunc(patterns, func(p string) bool { return matches(p, imported) })
	}
	if inner, ok := strings.CutPrefix(imported, module+"/"); ok {
		imported = inner
		return test || within(l.module...) || within(l.packages)
	}
	if first, _, _ := strings.Cut(imported, "/"); !strings.Contains(first, ".") {
		return test || l.support || !within("testing/...")
	}
	under := func(prefixes []string) bool {
		return slices.ContainsFunc(prefixes, func(p string) bool { return within(p, p+"/...") })
	}
	return under(l.library) || test && (under(testLibraries) || under(l.tests))
}

// matches reports whether a pattern of the go command names a package.
func matches(pattern, pkg string) bool {
	tree, ok := strings.CutSuffix(pattern, "...")
	if !ok {
		return pattern == pkg
	}
	return strings.HasPrefix(pkg+"/", tree)
}
