package hooks_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/pelletier/go-toml/v2"

	"github.com/parley-mesh/parley/node/internal/hooks"
	"github.com/parley-mesh/parley/node/internal/install"
)

// moments are the names of what an agent's recording tells of.
func moments(t *testing.T, a hooks.Agent) map[string]bool {
	out := map[string]bool{}
	for _, payload := range payloads(t, a) {
		var p struct {
			Name string `json:"hook_event_name"`
			Hook string `json:"hook"`
		}
		if err := json.Unmarshal([]byte(payload), &p); err != nil {
			t.Fatal(err)
		}
		out[p.Name+p.Hook] = true
	}
	return out
}

func TestEveryMomentThatIsInstalledIsAmongThePayloads(t *testing.T) {
	dir := t.TempDir()
	o := install.Options{
		Home: dir, Node: dir, Hook: "/bin/parley-hook", Parley: "/bin/parley", Server: []string{"mcp"}, Env: func(string) string { return "" },
		TOML: func(text []byte) (m map[string]any, err error) { return m, toml.Unmarshal(text, &m) },
	}
	for _, a := range []hooks.Agent{hooks.Claude, hooks.Codex, hooks.Gemini, hooks.Cursor} { // opencode's plugin passes everything on
		changes, err := install.NewPlanner(o).Install(string(a))
		if err != nil {
			t.Fatal(err)
		}
		i := slices.IndexFunc(changes, func(c install.Change) bool {
			return strings.HasSuffix(c.Path, ".json") && strings.Contains(c.After, "parley-hook")
		})
		var settings struct{ Hooks map[string]json.RawMessage }
		if err := json.Unmarshal([]byte(changes[i].After), &settings); err != nil || len(settings.Hooks) < 6 {
			t.Fatalf("%s: %v, %v in %s", a, err, settings.Hooks, filepath.Base(changes[i].Path))
		}
		there := moments(t, a)
		for _, name := range slices.Sorted(maps.Keys(settings.Hooks)) {
			if !there[name] {
				t.Errorf("%s: %s is installed and no payload shows it", a, name)
			}
		}
	}
}

func TestMomentsAndToolsThatTheDocumentationNamesAreRead(t *testing.T) { // beside the recorded ones
	claude := func(moment, tool, in string) string {
		return fmt.Sprintf(`{"session_id":"s","cwd":"/r","hook_event_name":%q,"tool_name":%q,"tool_input":%s}`, moment, tool, in)
	}
	cursor := func(moment, more string) string {
		return fmt.Sprintf(`{"conversation_id":"s","generation_id":"g","hook_event_name":%q,"workspace_roots":["/r"]%s}`, moment, more)
	}
	openCode := func(hook, in, out string) string {
		return fmt.Sprintf(`{"hook":%q,"directory":"/r","input":%s,"output":%s}`, hook, in, out)
	}
	for _, c := range []struct {
		agent   hooks.Agent
		payload string
		want    string // kind, command and paths; "" no opinion
	}{
		{hooks.Claude, claude("PreToolUse", "Edit", `{"file_path":"/r/a","old_string":"x","new_string":"y"}`), "before-edit  /r/a"},
		{hooks.Claude, claude("PreToolUse", "MultiEdit", `{"file_path":"/r/a","edits":[]}`), "before-edit  /r/a"},
		{hooks.Claude, claude("PreToolUse", "NotebookEdit", `{"notebook_path":"/r/n.ipynb"}`), "before-edit  /r/n.ipynb"},
		{hooks.Claude, claude("PostToolUse", "Edit", `{"file_path":"/r/a"}`), "after-edit  /r/a"},
		{hooks.Claude, claude("PostToolUseFailure", "Bash", `{"command":"make"}`), "after-shell make "},
		{hooks.Claude, claude("PostToolUseFailure", "Edit", `{"file_path":"/r/a"}`), "failed-edit  /r/a"},
		{hooks.Claude, claude("PreToolUse", "mcp__files__write", `{"path":"/r/a"}`), ""},
		{hooks.Claude, `{"session_id":"s","cwd":"/r","hook_event_name":"SessionStart","source":"compact"}`, "start  "},
		{hooks.Claude, `{"session_id":"s","cwd":"/r","hook_event_name":"StopFailure"}`, "turn-end  "},
		{hooks.Codex, `{"session_id":"s","turn_id":"t","cwd":"/r","hook_event_name":"Interrupt"}`, "turn-end  "},
		{hooks.Codex, claude("PostToolUse", "apply_patch", `{"command":"*** Begin Patch\n*** Update File: a\n*** Move to: b\n@@\n*** End Patch"}`), "after-edit  a b"},
		{hooks.Codex, claude("PermissionRequest", "Bash", `{"command":"make"}`), ""},
		{hooks.Gemini, claude("BeforeTool", "replace", `{"file_path":"/r/a"}`), "before-edit  /r/a"},
		{hooks.Gemini, claude("BeforeTool", "run_shell_command", `{"command":"make"}`), "before-shell make "},
		{hooks.Gemini, claude("AfterTool", "run_shell_command", `{"command":"make"}`), "after-shell make "},
		{hooks.Gemini, `{"session_id":"s","cwd":"/r","hook_event_name":"AfterTool","tool_name":"replace","tool_input":{"file_path":"/r/a"},"tool_response":{"llmContent":"0 occurrences found","error":{"message":"0 occurrences found","type":"edit_no_occurrence_found"}}}`, "failed-edit  /r/a"},
		{hooks.Gemini, `{"session_id":"s","cwd":"/r","hook_event_name":"AfterTool","tool_name":"replace","tool_input":{"file_path":"/r/a"},"tool_response":{"llmContent":"done","error":null}}`, "after-edit  /r/a"},
		{hooks.Gemini, claude("BeforeTool", "read_file", `{"file_path":"/r/a"}`), ""},
		{hooks.OpenCode, openCode("tool.execute.before", `{"tool":"edit","sessionID":"s"}`, `{"args":{"filePath":"/r/a"}}`), "before-edit  /r/a"},
		{hooks.OpenCode, openCode("tool.execute.before", `{"tool":"bash","sessionID":"s"}`, `{"args":{"command":"make"}}`), "before-shell make "},
		{hooks.OpenCode, openCode("tool.execute.after", `{"tool":"bash","sessionID":"s","args":{"command":"make"}}`, `{}`), "after-shell make "},
		{hooks.OpenCode, openCode("event:tool.failed", `{"tool":"edit","sessionID":"s","args":{"filePath":"/r/a"}}`, `{}`), "failed-edit  /r/a"},
		{hooks.OpenCode, openCode("event:tool.failed", `{"tool":"bash","sessionID":"s","args":{"command":"make"}}`, `{}`), "after-shell make "},
		{hooks.OpenCode, openCode("event:session.deleted", `{"info":{"id":"s"}}`, `{}`), "end  "},
		{hooks.Cursor, cursor("preToolUse", `,"tool_name":"StrReplace","tool_input":"{\"path\":\"/r/a\"}"`), "before-edit  /r/a"},
		{hooks.Cursor, cursor("preToolUse", `,"tool_name":"Delete","tool_input":{"path":"/r/a"}`), "before-edit  /r/a"},
		{hooks.Cursor, cursor("postToolUseFailure", `,"tool_name":"Write","tool_input":{"file_path":"/r/a"},"failure_type":"permission_denied"`), "failed-edit  /r/a"},
		{hooks.Cursor, cursor("postToolUse", `,"tool_name":"Shell","tool_input":{"command":"make"}`), "after-shell make "},
		{hooks.Cursor, cursor("afterShellExecution", `,"command":"make","output":""`), "after-shell make "},
		{hooks.Cursor, cursor("afterFileEdit", `,"file_path":"/r/a","edits":[]`), "after-edit  /r/a"},
		{hooks.Cursor, cursor("beforeMCPExecution", `,"tool_name":"write","tool_input":"{}"`), ""},
		{hooks.Cursor, cursor("beforeReadFile", `,"file_path":"/r/a"`), ""},
	} {
		got := ""
		if e, ok := hooks.Decode(hooks.Call{Agent: c.agent, Payload: []byte(c.payload)}); ok {
			got = fmt.Sprintf("%s %s %s", e.Kind, e.Command, strings.Join(e.Paths, " "))
			if e.Session != "s" || e.Cwd != "/r" && e.Kind != hooks.End {
				t.Errorf("%s: %s is of %q in %q", c.agent, c.payload, e.Session, e.Cwd)
			}
		}
		if got != c.want {
			t.Errorf("%s: %s: got %q, want %q", c.agent, c.payload, got, c.want)
		}
	}
}

func TestATurnThatFailedIsNotPutOff(t *testing.T) { // there is nobody who would go on
	for _, moment := range []string{"StopFailure", "Interrupt"} {
		d := desk{t, hooks.NewDoor(always(hooks.Block("CF-9 waits"))), hooks.Claude}
		d.says(`{"session_id":"s","hook_event_name":"`+moment+`"}`, "")
	}
}

func TestAnEditOfMoreFilesThanAreReadSaysSo(t *testing.T) {
	for n, unread := range map[int]bool{1000: false, 1001: true, 3000: true} {
		var patch, touch strings.Builder
		patch.WriteString("*** Begin Patch\n")
		touch.WriteString("touch")
		for i := range n {
			fmt.Fprintf(&patch, "*** Delete File: a%d\n", i)
			fmt.Fprintf(&touch, " a%d", i)
		}
		for tool, command := range map[string]string{"apply_patch": patch.String(), "Bash": touch.String()} {
			in, err := json.Marshal(map[string]any{"session_id": "s", "cwd": "/r", "hook_event_name": "PreToolUse", "tool_name": tool, "tool_input": map[string]string{"command": command}})
			if err != nil {
				t.Fatal(err)
			}
			e, ok := hooks.Decode(hooks.Call{Agent: hooks.Codex, Payload: in})
			if !ok || e.Unread != unread || len(e.Paths) != min(n, 1000) {
				t.Errorf("%s of %d files: %d are read, unread %v", tool, n, len(e.Paths), e.Unread)
			}
		}
	}
}
