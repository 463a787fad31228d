package install

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pelletier/go-toml/v2"
	"pgregory.net/rapid"
)

// at is a person's home with the programs of parley in it.
func at(t testing.TB) Options {
	t.Helper()
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	o := options(home)
	if err := os.MkdirAll(o.Node, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, program := range []string{o.Hook, o.Parley} {
		put(t, program, "program", 0o700)
	}
	return o
}

func options(home string) Options {
	return Options{
		Home: home, Node: filepath.Join(home, "node's home"),
		Hook: filepath.Join(home, "bin", "parley-hook"), Parley: filepath.Join(home, "bin", "parley"), Server: []string{"mcp"},
		Env: func(string) string { return "" },
		TOML: func(text []byte) (map[string]any, error) {
			var m map[string]any
			err := toml.Unmarshal(text, &m)
			return m, err
		},
	}
}

func put(t testing.TB, path, text string, mode os.FileMode) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
}

// tree is every file below a directory, with its mode, without backups.
func tree(t testing.TB, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.Walk(dir, func(path string, info os.FileInfo, err error) error {
		if err != nil || info.IsDir() || strings.HasSuffix(path, BackupSuffix) || filepath.Base(path) == MadeFile {
			return err
		}
		text, err := os.ReadFile(path)
		out[path] = info.Mode().Perm().String() + string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func equal(t testing.TB, when string, got, want map[string]string) {
	t.Helper()
	for path := range got {
		if _, ok := want[path]; !ok {
			t.Errorf("%s: %s is new", when, path)
		}
	}
	for path, text := range want {
		if got[path] != text {
			t.Errorf("%s: %s: got\n%s\nwant\n%s", when, path, got[path], text)
		}
	}
}

// do plans and applies.
func do(t testing.TB, plan func(string) ([]Change, error), agent string) []Change {
	t.Helper()
	changes, err := plan(agent)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range changes {
		if err := c.Apply(); err != nil {
			t.Fatal(err)
		}
	}
	return changes
}

func TestWhatIsInstalledIsWholeAndRemovedWithoutATrace(t *testing.T) {
	for _, agent := range Names {
		for _, project := range []bool{false, true} {
			o := at(t)
			if project {
				o.Project = filepath.Join(o.Home, "repo")
				put(t, filepath.Join(o.Project, "main.go"), "package main", 0o644)
			}
			before := tree(t, o.Home)
			if f := o.Check(agent); f.State != Absent {
				t.Errorf("%s: %+v", agent, f)
			}
			do(t, NewPlanner(o).Install, agent)
			f := o.Check(agent)
			if agent == Codex && f.State == Untrusted {
				o.Trust = true
				do(t, NewPlanner(o).Install, agent)
				o.Trust = false
				f = o.Check(agent)
			}
			if f.State != Whole || !f.OK() {
				t.Errorf("%s: %+v", agent, f)
			}
			whole := tree(t, o.Home)
			for _, c := range do(t, NewPlanner(o).Install, agent) {
				if !c.Same() || c.Diff() != "" {
					t.Errorf("%s: installed twice, %s changes:\n%s", agent, c.Path, c.Diff())
				}
			}
			equal(t, agent+" again", tree(t, o.Home), whole)
			do(t, NewPlanner(o).Remove, agent)
			equal(t, agent+" removed", tree(t, o.Home), before)
		}
	}
}

func TestForeignSettingsComeBackToTheByte(t *testing.T) { // any foreign JSON with comments, any agent
	rapid.Check(t, func(r *rapid.T) {
		nl := rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(r, "nl")
		text := foreign{r, nl}.file([]string{"SessionStart", "PreToolUse", "Stop", "BeforeTool", "preToolUse", "stop"})
		for _, agent := range Names {
			for _, f := range options("/home/kim").files(agent, nowhere) {
				if !strings.HasSuffix(f.path, ".json") {
					continue
				}
				with, err := f.put(text, true)
				if err != nil {
					if !strings.Contains(err.Error(), " is no ") {
						r.Fatalf("%s: %v in\n%s", f.path, err, text)
					}
					continue
				}
				if _, err := parse(with); err != nil {
					r.Fatalf("%s: %v in\n%s", f.path, err, with)
				}
				if again, err := f.put(with, true); err != nil || again != with {
					r.Fatalf("%s: put twice: %v\n%s\nbecame\n%s", f.path, err, with, again)
				}
				rest, gone, err := f.take(with, homes{})
				if err != nil || gone || rest != text {
					r.Fatalf("%s: %v, gone %v: %q\nbecame\n%q\nand\n%q", f.path, err, gone, text, with, rest)
				}
			}
		}
	})
}

func TestOddSettingsComeBackToTheByte(t *testing.T) {
	for _, text := range []string{
		"{}", "{\n}", "{ }", "{/**/}", "{ // note\n}", "\ufeff{}\n", "{\"a\":1}", "{\"a\":1,}", "{\r\n\t\"a\": 1\r\n}\r\n",
		`{"hooks":{}}`, `{"hooks":{"Stop":[]}}`, `{"hooks": {"PreToolUse": [1], "Stop": []}}`, `{"hooks":{"preToolUse":[{}],"stop":[],"BeforeTool":[1],"AfterAgent":[]}}`,
		"{\"mcpServers\": {\n}, \"mcp\": {} // theirs\n}", "{\"hooks\": {\"Stop\": [1 // one\n, // two\n]}}",
	} {
		for _, agent := range Names {
			for _, f := range options("/home/kim").files(agent, nowhere) {
				if !strings.HasSuffix(f.path, ".json") {
					continue
				}
				with, err := f.put(text, true)
				if err != nil {
					t.Fatalf("%s: %q: %v", f.path, text, err)
				}
				if rest, gone, err := f.take(with, homes{}); err != nil || gone || rest != text {
					t.Errorf("%s: %v, gone %v: %q\nbecame\n%q\nand\n%q", f.path, err, gone, text, with, rest)
				}
			}
		}
	}
}

func nowhere(string) (string, bool) { return "", false }

func TestForeignTOMLComesBackToTheByte(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		nl := rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(r, "nl")
		var b strings.Builder
		for i, n := 0, rapid.IntRange(0, 6).Draw(r, "lines"); i < n; i++ {
			b.WriteString(rapid.SampledFrom([]string{"", "# note", "  # >>> parley", "a" + string(rune('a'+i)) + " = [1, 2] # c", "x" + string(rune('a'+i)) + ` = "\"#"`, "\t"}).Draw(r, "line"))
			if i < n-1 || rapid.Bool().Draw(r, "last") {
				b.WriteString(nl)
			}
		}
		if rapid.Bool().Draw(r, "table") {
			b.WriteString(nl + "[mcp_servers.other] # theirs" + nl + `command = "x"`)
		}
		text := b.String()
		o := options("/home/kim")
		o.Trust = rapid.Bool().Draw(r, "trust")
		f := o.codexFiles(nowhere)[1]
		with, err := f.put(text, true)
		if err != nil {
			r.Fatal(err)
		}
		if again, err := f.put(with, true); err != nil || again != with {
			r.Fatalf("put twice: %v\n%s\nbecame\n%s", err, with, again)
		}
		if rest, gone, err := f.take(with, homes{}); err != nil || gone || rest != text {
			r.Fatalf("%v: %q became %q", err, text, rest)
		}
	})
}

func TestWhatOthersAddLaterStays(t *testing.T) {
	o := options("/home/kim")
	for _, agent := range Names {
		for _, f := range o.files(agent, nowhere) {
			if !strings.HasSuffix(f.path, ".json") {
				continue
			}
			with, err := f.put("", false)
			if err != nil {
				t.Fatal(err)
			}
			if !json.Valid([]byte(with)) {
				t.Errorf("%s: no JSON:\n%s", f.path, with)
			}
			// The agent writes the file anew, and a person adds something.
			var all map[string]any
			if err := json.Unmarshal([]byte(with), &all); err != nil {
				t.Fatal(err)
			}
			all["theirs"] = 1
			anew, err := json.MarshalIndent(all, "", "\t")
			if err != nil {
				t.Fatal(err)
			}
			if again, err := f.put(string(anew), true); err != nil || again != string(anew) {
				t.Errorf("%s: written anew by its agent, it is changed: %v\n%s\n%s", f.path, err, anew, again)
			}
			rest, gone, err := f.take(string(anew), homes{})
			if err != nil || gone || !strings.Contains(rest, `"theirs": 1`) || strings.Contains(rest, "bin/parley") {
				t.Errorf("%s: %v\n%s", f.path, err, rest)
			}
		}
	}
}
