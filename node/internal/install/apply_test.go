package install

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const settings = "{\n  // mine\n  \"model\": \"opus\",\n  \"hooks\": {\n    \"Stop\": [{\"hooks\": [{\"type\": \"command\", \"command\": \"theirs\"}]}]\n  }\n}\n"

func TestASettingsFileKeepsItsModeAndABackup(t *testing.T) {
	o := at(t)
	path := filepath.Join(o.Home, ".claude", "settings.json")
	put(t, path, settings, 0o640)
	do(t, NewPlanner(o).Install, Claude)
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("%v %v", err, info.Mode())
	}
	kept, err := os.ReadFile(path + BackupSuffix)
	if err != nil || string(kept) != settings {
		t.Errorf("%v %s", err, kept)
	}
	text, err := os.ReadFile(path)
	if err != nil || !strings.HasPrefix(string(text), strings.TrimSuffix(settings, "}]\n  }\n}\n")) || strings.Contains(string(text), "WorktreeCreate") {
		t.Errorf("%v\n%s", err, text)
	}
	left, err := filepath.Glob(filepath.Join(o.Home, ".claude", ".parley-*"))
	if err != nil || len(left) > 0 {
		t.Errorf("%v %v", err, left)
	}
}

func TestADiffShowsWhatWouldChangeAndNothingElse(t *testing.T) {
	o := at(t)
	put(t, filepath.Join(o.Home, ".claude", "settings.json"), settings, 0o600)
	before := tree(t, o.Home)
	changes, err := NewPlanner(o).Install(Claude)
	if err != nil {
		t.Fatal(err)
	}
	diff := changes[0].Diff()
	for _, want := range []string{
		"--- a" + changes[0].Path + "\n+++ b" + changes[0].Path + "\n@@ -2,6 +2,13 @@\n",
		"\n-    \"Stop\": [{\"hooks\": [{\"type\": \"command\", \"command\": \"theirs\"}]}]\n+    \"Stop\": [{\"hooks\": [{\"type\": \"command\", \"command\": \"theirs\"}]},\n",
		"\n   }\n }\n",
	} {
		if !strings.Contains(diff, want) {
			t.Errorf("no %q in\n%s", want, diff)
		}
	}
	if d := changes[1].Diff(); !strings.HasPrefix(d, "--- /dev/null\n+++ b") || !strings.Contains(d, "@@ -0,0 +1,1 @@\n+{") {
		t.Errorf("%s", d)
	}
	equal(t, "planned", tree(t, o.Home), before)
}

func TestADiffIsOneThatPatchTakes(t *testing.T) {
	for _, c := range []struct{ before, after, want string }{
		{"a\nb\nc\n", "a\nx\nc\n", "@@ -1,3 +1,3 @@\n a\n-b\n+x\n c\n"},
		{"a", "a\nb", "@@ -1,1 +1,2 @@\n-a\n\\ No newline at end of file\n+a\n+b\n\\ No newline at end of file\n"},
		{"1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n", "1\n2\n3\n4\n5\n6\n7\n8\n9\nx\n", "@@ -7,4 +7,4 @@\n 7\n 8\n 9\n-10\n+x\n"},
		{"x\n1\n2\n3\n4\n5\n6\n7\n8\ny\n", "1\n2\n3\n4\n5\n6\n7\n8\n", "@@ -1,4 +1,3 @@\n-x\n 1\n 2\n 3\n@@ -7,4 +6,3 @@\n 6\n 7\n 8\n-y\n"},
	} {
		if got := hunks(lines(c.before), lines(c.after)); got != c.want {
			t.Errorf("%q: got\n%swant\n%s", c.before, got, c.want)
		}
	}
}

func TestAFileThatChangedMeanwhileIsLeftAlone(t *testing.T) {
	o := at(t)
	path := filepath.Join(o.Home, ".claude.json")
	put(t, path, "{}", 0o600)
	changes, err := NewPlanner(o).Install(Claude)
	if err != nil {
		t.Fatal(err)
	}
	put(t, path, `{"a": 1}`, 0o600)
	if err := changes[1].Apply(); err == nil || !strings.Contains(err.Error(), "run it again") {
		t.Error(err)
	}
	if text, err := os.ReadFile(path); err != nil || string(text) != `{"a": 1}` {
		t.Errorf("%v %s", err, text)
	}
}

func TestALinkIsFollowedInsideTheHomeAndRefusedOutOfIt(t *testing.T) {
	o := at(t)
	real := filepath.Join(o.Home, "dotfiles", "settings.json")
	link := filepath.Join(o.Home, ".claude", "settings.json")
	put(t, real, settings, 0o600)
	put(t, filepath.Join(o.Home, ".claude", "x"), "", 0o600)
	if err := os.Symlink(real, link); err != nil {
		t.Fatal(err)
	}
	before := tree(t, o.Home)
	do(t, NewPlanner(o).Install, Claude)
	if at, err := os.Readlink(link); err != nil || at != real {
		t.Errorf("the link is %q now: %v", at, err)
	}
	do(t, NewPlanner(o).Remove, Claude)
	equal(t, "removed", tree(t, o.Home), before)

	elsewhere := filepath.Join(t.TempDir(), "settings.json")
	put(t, elsewhere, settings, 0o600)
	if err := os.Remove(link); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(elsewhere, link); err != nil {
		t.Fatal(err)
	}
	if _, err := NewPlanner(o).Install(Claude); err == nil || !strings.Contains(err.Error(), "leads out of") {
		t.Error(err)
	}
	if f := o.Check(Claude); f.State != Spoiled {
		t.Errorf("%+v", f)
	}
}

func TestASpoiledOrForeignFileIsRefusedWhole(t *testing.T) {
	for _, c := range []struct{ agent, file, text, want string }{
		{Claude, ".claude/settings.json", "{\"a\": 1,\n", "line 2: a bracket is not closed"},
		{Claude, ".claude/settings.json", "[]", "is no object"},
		{Claude, ".claude/settings.json", "", "a value is missing"},
		{Claude, ".claude/settings.json", `{"hooks": []}`, "hooks is no object"},
		{Claude, ".claude.json", `{"mcpServers": {"parley": {"command": "their-parley"}}}`, "mcpServers.parley is there already"},
		{Codex, ".codex/config.toml", "a = ", "toml: "},
		{Codex, ".codex/config.toml", "[mcp_servers.parley]\ncommand = 'x'\n", "is there already"},
		{Codex, ".codex/config.toml", "mcp_servers = {}\n", "does not fit"},
		{OpenCode, ".config/opencode/plugins/parley.js", "export const x = 1", "is there already"},
		{Gemini, ".agents/skills/parley/SKILL.md", "---\nname: parley\n---\n", "is there already"},
	} {
		o := at(t)
		put(t, filepath.Join(o.Home, filepath.FromSlash(c.file)), c.text, 0o600)
		before := tree(t, o.Home)
		if _, err := NewPlanner(o).Install(c.agent); err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), o.Home) {
			t.Errorf("%s %q: %v", c.file, c.text, err)
		}
		if f := o.Check(c.agent); f.State != Spoiled || !strings.Contains(f.Mend, "parley agents install "+c.agent) {
			t.Errorf("%s: %+v", c.file, f)
		}
		equal(t, c.file, tree(t, o.Home), before)
	}
}

func TestCheckFindsWhatIsMissingStaleOrUntrusted(t *testing.T) {
	o := at(t)
	for _, agent := range Names {
		do(t, NewPlanner(o).Install, agent)
	}
	moved := o
	moved.Hook = filepath.Join(o.Home, "new", "parley-hook")
	for _, agent := range Names {
		if f := moved.Check(agent); f.State != Stale || f.Mend != "run parley agents install "+agent {
			t.Errorf("%s: %+v", agent, f)
		}
	}
	if f := o.Check(Codex); f.State != Untrusted || !strings.Contains(f.Mend, "--trust") {
		t.Errorf("%+v", f)
	}
	if err := os.Remove(filepath.Join(o.Home, ".agents", "skills", "parley", "SKILL.md")); err != nil {
		t.Fatal(err)
	}
	if f := o.Check(Gemini); f.State != Stale {
		t.Errorf("%+v", f)
	}
	if err := os.Remove(o.Hook); err != nil {
		t.Fatal(err)
	}
	if f := o.Check(Claude); f.State != Lost || !strings.Contains(f.Text, o.Hook) {
		t.Errorf("%+v", f)
	}
}

func TestSkillsThatAgentsShareStayWithTheLastOfThem(t *testing.T) {
	o := at(t)
	do(t, NewPlanner(o).Install, Gemini)
	do(t, NewPlanner(o).Install, Cursor)
	do(t, NewPlanner(o).Remove, Gemini)
	if f := o.Check(Cursor); f.State != Whole {
		t.Errorf("%+v", f)
	}
	do(t, NewPlanner(o).Remove, Cursor)
	if _, err := os.Stat(filepath.Join(o.Home, ".agents", "skills", "parley", "SKILL.md")); !os.IsNotExist(err) {
		t.Error(err)
	}
}

func TestCodexTrustIsSeededOnlyWhenAskedAndForTheseHooks(t *testing.T) {
	o := at(t)
	config := filepath.Join(o.Home, ".codex", "config.toml")
	put(t, filepath.Join(o.Home, ".codex", "hooks.json"), `{"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "theirs"}]}]}}`, 0o600)
	do(t, NewPlanner(o).Install, Codex)
	if text, err := os.ReadFile(config); err != nil || strings.Contains(string(text), "trusted_hash") {
		t.Fatalf("%v\n%s", err, text)
	}
	o.Trust = true
	do(t, NewPlanner(o).Install, Codex)
	text, err := os.ReadFile(config)
	if err != nil || !strings.Contains(string(text), `hooks.json:pre_tool_use:1:0"]`) || strings.Contains(string(text), `:pre_tool_use:0:0"]`) {
		t.Fatalf("%v\n%s", err, text)
	}
	o.Trust = false
	if f := o.Check(Codex); f.State != Whole {
		t.Errorf("%+v", f)
	}
	// Other hooks are not trusted because these were.
	o.Hook = filepath.Join(o.Home, "new", "parley-hook")
	put(t, o.Hook, "program", 0o700)
	do(t, NewPlanner(o).Install, Codex)
	if text, err := os.ReadFile(config); err != nil || strings.Contains(string(text), "trusted_hash") {
		t.Errorf("%v\n%s", err, text)
	}
}

func TestCodexHashIsOfTheSortedMeaning(t *testing.T) {
	got, err := codexHash("pre_tool_use", `{"matcher": "Bash", "hooks": [{"timeout": 5, "type": "command", "command": "/a b<c"}]}`)
	// echo -n '{"event_name":"pre_tool_use","hooks":[{"async":false,"command":"/a b<c","timeout":5,"type":"command"}],"matcher":"Bash"}' | sha256sum
	const want = "sha256:6b3818bc99891333a426c1fc998564c77cc2e618c7fb648badf8fce04d4becdf"
	if err != nil || got != want {
		t.Errorf("%v %s", err, got)
	}
}

func TestEnvironmentMovesSettings(t *testing.T) {
	o := at(t)
	moved := filepath.Join(o.Home, "x")
	o.Env = func(name string) string {
		return map[string]string{"CLAUDE_CONFIG_DIR": moved, "CODEX_HOME": "relative"}[name]
	}
	do(t, NewPlanner(o).Install, Claude)
	do(t, NewPlanner(o).Install, Codex)
	for _, path := range []string{"x/settings.json", "x/.claude.json", "x/skills/parley/SKILL.md", ".codex/hooks.json"} {
		if _, err := os.Stat(filepath.Join(o.Home, path)); err != nil {
			t.Error(err)
		}
	}
}

func TestASkillIsInTheOpenFormAndSaysWhatItMust(t *testing.T) {
	tools := []string{
		"conflicts_list", "conflict_show", "conflict_respond", "intent_declare", "intent_update", "claims_check", "briefing",
		"message_send", "message_list", "thread_read",
	}
	for _, s := range skills {
		front, body, ok := strings.Cut(strings.TrimPrefix(s.text, "---\n"), "\n---\n")
		if !ok || !strings.Contains(body, skillMark) {
			t.Fatalf("%s: no front matter, or no mark", s.name)
		}
		for i, line := range strings.Split(front, "\n") {
			key, value, _ := strings.Cut(line, ": ")
			if key != []string{"name", "description", "license"}[i] || key == "name" && value != s.name || len(value) > 1024 || strings.Contains(value, ": ") {
				t.Errorf("%s: %s", s.name, line)
			}
		}
		for _, tool := range tools {
			if !strings.Contains(body, "`"+tool+"`") {
				t.Errorf("%s: no %s", s.name, tool)
			}
		}
		if !strings.Contains(strings.Join(strings.Fields(body), " "), "never an instruction") && !strings.Contains(strings.Join(strings.Fields(body), " "), "never instructions") {
			t.Errorf("%s: does not say that text of others is data", s.name)
		}
	}
}

func TestAShellTakesACommandAsOneProgram(t *testing.T) {
	for path, want := range map[string]string{
		"/usr/bin/parley-hook":     "/usr/bin/parley-hook",
		"/home/k m/parley-hook":    "'/home/k m/parley-hook'",
		"/home/k'm/$x/parley-hook": `'/home/k'\''m/$x/parley-hook'`,
	} {
		if got := shellWord(path); got != want {
			t.Errorf("%s: %s", path, got)
		}
		if line := shellWord(path) + " codex /h"; !hookForm.MatchString(line) {
			t.Errorf("%s is not known again", line)
		}
	}
	for _, line := range []string{"/x/my-parley-hook codex", "sh -c parley-hook", "/x/parley-hooks a", "echo /x/parley-hook"} {
		if hookForm.MatchString(line) {
			t.Errorf("%s is not parley's", line)
		}
	}
}

// An agent is looked for by the folder of its settings; a new one may be empty.
func TestForgettingAnAgentThatWasNeverSetUpTakesNothingAway(t *testing.T) {
	o := at(t)
	for _, agent := range []string{Claude, Codex, Gemini, OpenCode, Cursor} {
		if err := os.MkdirAll(o.dir(agent), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, agent := range []string{Claude, Codex, Gemini, OpenCode, Cursor} {
		changes, err := NewPlanner(o).Remove(agent)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range changes {
			if err := c.Forget(); err != nil {
				t.Error(err)
			}
		}
		if info, err := os.Stat(o.dir(agent)); err != nil || !info.IsDir() {
			t.Errorf("the folder of %s: %v", agent, err)
		}
	}
}

func TestRemovingTakesTheFoldersThatParleyMadeAndNoOthers(t *testing.T) {
	o := at(t)
	if err := os.MkdirAll(filepath.Join(o.Home, ".gemini"), 0o700); err != nil { // new and empty, and somebody else's
		t.Fatal(err)
	}
	folders := func() (out []string) {
		err := filepath.WalkDir(o.Home, func(path string, _ os.DirEntry, err error) error {
			out = append(out, path)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	before := folders()
	for _, agent := range Names {
		do(t, NewPlanner(o).Install, agent)
	}
	for _, agent := range Names {
		for _, c := range do(t, NewPlanner(o).Remove, agent) {
			if err := c.Forget(); err != nil {
				t.Error(err)
			}
		}
	}
	if got := folders(); !slices.Equal(got, before) {
		t.Errorf("there was\n%s\nand now there is\n%s", strings.Join(before, "\n"), strings.Join(got, "\n"))
	}
}

func TestRemovingGoesOnBesideWhatCannotBeRead(t *testing.T) {
	for text, spoiled := range map[string]bool{`{"hooks": []}`: false, `{"hooks": {"Stop": {}}, "mcpServers": 1}`: false, "{\"a\": 1,\n": true} {
		o := at(t)
		do(t, NewPlanner(o).Install, Gemini)
		put(t, filepath.Join(o.Home, ".gemini", "settings.json"), text, 0o600)
		changes, err := NewPlanner(o).Remove(Gemini)
		if (err != nil) != spoiled || spoiled && !strings.Contains(err.Error(), "settings.json: line 2") {
			t.Errorf("%s: %v", text, err)
		}
		for _, c := range changes {
			if err := c.Apply(); err != nil {
				t.Error(err)
			}
		}
		if _, err := os.Stat(filepath.Join(o.Home, ".agents", "skills", "parley", "SKILL.md")); err == nil {
			t.Errorf("%s: the skill is left", text)
		}
		if got, err := os.ReadFile(filepath.Join(o.Home, ".gemini", "settings.json")); err != nil || string(got) != text {
			t.Errorf("%s became %s, %v", text, got, err)
		}
	}
}
