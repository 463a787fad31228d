package code

import (
	"encoding/json"
	"go/ast"
	"go/build"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parley-mesh/parley/detect"
)

// release is one version of a Go module: where apidiff's data of it is, and its own packages' files.
type release struct {
	api   string
	files map[string]string
}

// unpack gets a module's version from the module proxy and lets apidiff read it.
func unpack(t *testing.T, tool, module, version string) (r release) {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "go", "mod", "download", "-json", module+"@"+version).Output()
	if err != nil {
		t.Fatalf("%s@%s: %v %s", module, version, err, out)
	}
	var at struct{ Dir string }
	if err := json.Unmarshal(out, &at); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir() // the module cache is read-only, and apidiff completes go.mod
	if err := os.CopyFS(dir, os.DirFS(at.Dir)); err != nil {
		t.Fatal(err)
	}
	r.api, r.files = filepath.Join(t.TempDir(), "api"), map[string]string{}
	cmd := exec.CommandContext(t.Context(), tool, "-m", "-w", r.api, module)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "GOFLAGS=-mod=mod")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s@%s: %v %s", module, version, err, out)
	}
	err = fs.WalkDir(os.DirFS(dir), ".", func(name string, d fs.DirEntry, err error) error {
		switch base := path.Base(name); {
		case err != nil || name == ".":
			return err
		case d.IsDir() && (base == "internal" || base == "testdata" || base == "vendor" || base[0] == '.' || base[0] == '_' || holds(dir, name, "go.mod")):
			return fs.SkipDir
		case d.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go"):
			return nil
		}
		if fits, err := build.Default.MatchFile(filepath.Join(dir, path.Dir(name)), path.Base(name)); err != nil || !fits {
			return err
		}
		text, err := os.ReadFile(filepath.Join(dir, name))
		r.files[name] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func holds(dir, folder, name string) bool {
	_, err := os.Stat(filepath.Join(dir, folder, name))
	return err == nil
}

// told is what apidiff says breaks: names of packages' folders and declarations, with its words.
func told(t *testing.T, tool string, old, now release) map[string]string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), tool, "-m", "-incompatible", old.api, now.api).Output()
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]string{}
	for line := range strings.Lines(string(out)) {
		line, item := strings.CutPrefix(strings.TrimSpace(line), "- ")
		if !item || strings.HasPrefix(line, "package ") {
			continue // a package that is gone takes all that it had with it
		}
		folder := ""
		if rest, below := strings.CutPrefix(line, "./"); below {
			slash := strings.LastIndexByte(rest[:strings.IndexByte(rest, ':')], '/') + 1
			dot := slash + strings.IndexByte(rest[slash:], '.')
			folder, line = rest[:dot]+"/", rest[dot+1:]
		}
		names[folder+labels([]byte(line))[0]] = line
	}
	return names
}

// TestAgreesWithApidiffOnReleases lets golang.org/x/exp/cmd/apidiff and this package judge the same releases:
// PARLEY_RELEASES="module@old..new module@old..new".
func TestAgreesWithApidiffOnReleases(t *testing.T) { // C4
	pairs := strings.Fields(os.Getenv("PARLEY_RELEASES"))
	if len(pairs) == 0 {
		t.Skip("PARLEY_RELEASES names no pairs of releases")
	}
	tool, err := exec.LookPath("apidiff")
	if err != nil {
		t.Skip("apidiff is not here: go install golang.org/x/exp/cmd/apidiff@latest")
	}
	for _, pair := range pairs {
		t.Run(pair, func(t *testing.T) {
			module, versions, _ := strings.Cut(pair, "@")
			before, after, both := strings.Cut(versions, "..")
			if !both {
				t.Fatalf("%s: want module@old..new", pair)
			}
			old, now := unpack(t, tool, module, before), unpack(t, tool, module, after)
			againstApidiff(t, module, told(t, tool, old, now), old, now)
		})
	}
}

func againstApidiff(t *testing.T, module string, wanted map[string]string, old, now release) {
	t.Helper()
	d := compare(t, Project{GoModules: map[string]string{"": module}}, old.files, now.files)
	said := map[string]detect.SymbolChange{}
	for _, c := range d.Symbols {
		id := c.Symbol.ID
		if c.From != "" {
			id = c.From
		}
		file, name, _ := strings.Cut(strings.TrimPrefix(id, "sym:go:"), "#")
		if folder := path.Dir(file); folder != "." {
			name = folder + "/" + name
		}
		if was, twice := said[name]; !twice || was.Verdict != detect.Breaking {
			said[name] = c
		}
	}
	var agree, open, missed int
	for name, words := range sorted(wanted) {
		switch c, there := said[name]; {
		case there && c.Verdict == detect.Breaking:
			agree++
		case there && c.Verdict == detect.CannotTell && c.Change != detect.Body:
			open++
		case strings.HasSuffix(words, "old is comparable, new is not"), promoted(name, old.files):
			missed++
			t.Logf("needs the whole program: %s: %s", name, words)
		default:
			t.Errorf("missed: %s: %s", name, words)
		}
	}
	for name, c := range sorted(said) {
		folder, plain := path.Split(name)
		outer, _, _ := strings.Cut(plain, ".")
		_, itself := wanted[name]
		_, around := wanted[folder+outer]
		if c.Verdict == detect.Breaking && exportedName(plain) && !itself && !around && hasPackage(now.files, folder) {
			t.Errorf("ours alone: %s: %v", name, c.Why)
		}
	}
	t.Logf("%s: %d agreed, %d cannot tell, %d need the whole program", module, agree, open, missed)
}

// promoted reports whether no file declares a field, so that the struct has it from what it embeds.
func promoted(name string, files map[string]string) bool {
	field := name[strings.LastIndexByte(name, '.')+1:]
	for file, text := range files {
		if strings.HasPrefix(name, path.Dir(file)+"/") && strings.Contains(text, "\t"+field+" ") {
			return false
		}
	}
	return strings.Contains(path.Base(name), ".")
}

// exportedName reports whether others could use a qualified name.
func exportedName(name string) bool {
	for part := range strings.SplitSeq(name, ".") {
		if !ast.IsExported(part) {
			return false
		}
	}
	return true
}

// hasPackage reports whether a folder still has a package; of one that is gone apidiff names no declarations.
func hasPackage(files map[string]string, folder string) bool {
	for name := range files {
		if dir, _ := path.Split(name); dir == folder {
			return true
		}
	}
	return false
}
