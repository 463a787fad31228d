package hooks_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"unicode/utf16"

	"github.com/parley-mesh/parley/node/internal/hooks"
)

// script is a judge that answers by the moment.
type script map[hooks.Kind]hooks.Decision

func (s script) Judge(_ context.Context, e hooks.Event) hooks.Decision { return s[e.Kind] }

// desk sends payloads of one agent through one door.
type desk struct {
	t     *testing.T
	door  *hooks.Door
	agent hooks.Agent
}

func (d desk) says(payload, want string) {
	d.t.Helper()
	got := d.door.Answer(d.t.Context(), hooks.Call{Agent: d.agent, Payload: []byte(payload)}).Text
	if got != want {
		d.t.Errorf("%s: got %q, want %q", payload, got, want)
	}
}

func geminiLine(session, moment, more string) string {
	return fmt.Sprintf(`{"session_id":%q,"cwd":"/r","hook_event_name":%q%s}`, session, moment, more)
}

const geminiWrite = `,"tool_name":"write_file","tool_input":{"file_path":"/r/a"}`

func TestWhatAnAgentCannotBeToldNowItIsToldNext(t *testing.T) {
	d := desk{t, hooks.NewDoor(script{hooks.BeforeEdit: hooks.Warn("maya edits a")}), hooks.Gemini}
	d.says(geminiLine("s1", "BeforeTool", geminiWrite), "{}")
	d.says(geminiLine("s1", "BeforeTool", geminiWrite), "{}") // the same again is told once
	d.says(geminiLine("s2", "AfterTool", geminiWrite), "{}")  // another session is told nothing
	d.says(geminiLine("s1", "AfterTool", geminiWrite), `{"hookSpecificOutput":{"hookEventName":"AfterTool","additionalContext":"maya edits a"}}`)
	d.says(geminiLine("s1", "AfterTool", geminiWrite), "{}")
	d.says(geminiLine("s1", "BeforeTool", geminiWrite), "{}")
	d.says(geminiLine("s1", "SessionEnd", ""), "{}")
	d.says(geminiLine("s1", "AfterTool", geminiWrite), "{}") // nothing outlives a session
}

func TestATurnsEndIsPutOffAtMostOnce(t *testing.T) {
	j := script{hooks.TurnEnd: hooks.Block("CF-9 waits")}
	d := desk{t, hooks.NewDoor(j), hooks.Claude}
	d.says(`{"session_id":"s","hook_event_name":"Stop","stop_hook_active":false}`, `{"decision":"block","reason":"CF-9 waits"}`)
	d.says(`{"session_id":"s","hook_event_name":"Stop","stop_hook_active":true}`, "")
	d.says(`{"session_id":"s","hook_event_name":"UserPromptSubmit","prompt":"x"}`,
		`{"hookSpecificOutput":{"hookEventName":"UserPromptSubmit","additionalContext":"CF-9 waits"}}`)
}

func TestWhatIsNotUnderstoodHasNoOpinion(t *testing.T) {
	big := `{"session_id":"s","hook_event_name":"PreToolUse","tool_name":"Write","tool_input":{"file_path":"/a","content":"` + strings.Repeat("x", 10<<20) + `"}}`
	for _, a := range append(agents, "other") {
		d := desk{t, hooks.NewDoor(always(hooks.Block("no"))), a}
		for _, payload := range []string{
			"", "{", "null", "[]", "1", `"x"`, "\x00\xff", `{}`, big,
			`{"session_id":"s","hook_event_name":"Unheard","hook":"unheard","kind":"unheard","session":"s"}`,
			`{"session_id":7,"hook_event_name":"PreToolUse","tool_name":"Write","tool_input":{"file_path":"/a"}}`,
			`{"session_id":"s","hook_event_name":"PreToolUse","tool_name":"Write","tool_input":{"file_path":["/a"]}}`,
			`{"session_id":"s","hook_event_name":"PreToolUse","tool_name":"Read","tool_input":{"file_path":"/a"}}`,
			`{"session_id":"s","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":""}}`,
			`{"session_id":"` + strings.Repeat("s", 300) + `","hook_event_name":"Stop"}`,
		} {
			d.says(payload, hooks.Silence(a))
		}
	}
	for _, a := range []hooks.Agent{"", "Claude", "../x", "a b", hooks.Agent(strings.Repeat("a", 40))} {
		desk{t, hooks.NewDoor(always(hooks.Block("no"))), a}.says(`{"kind":"before-edit","session":"s","paths":["a"]}`, "")
	}
}

func TestNoJudgeAndAnEmptyReasonAllow(t *testing.T) {
	const edit = `{"session_id":"s","hook_event_name":"PreToolUse","tool_name":"Write","tool_input":{"file_path":"/a"}}`
	for _, j := range []hooks.Judge{nil, always(hooks.Decision{}), always(hooks.Block(" \n")), always(hooks.Decision{Verdict: "ask", Text: "x"})} {
		desk{t, hooks.NewDoor(j), hooks.Claude}.says(edit, "")
	}
}

func TestCursorRunningClaudesHooksIsAnsweredOnce(t *testing.T) {
	d := desk{t, hooks.NewDoor(always(hooks.Block("no"))), hooks.Claude}
	d.says(`{"session_id":"s","hook_event_name":"PreToolUse","tool_name":"Write","tool_input":{"file_path":"/a"},"cursor_version":"3"}`, "")
}

func TestAContextFitsIntoWhatAgentsTake(t *testing.T) {
	d := hooks.NewDoor(always(hooks.Warn(strings.Repeat("😀<\"", 9000))))
	for _, a := range []hooks.Agent{hooks.Claude, hooks.Gemini} {
		out := d.Answer(t.Context(), hooks.Call{Agent: a, Payload: []byte(geminiLine("s", "SessionStart", ""))}).Text
		var got struct {
			Specific struct{ AdditionalContext string } `json:"hookSpecificOutput"`
		}
		if err := json.Unmarshal([]byte(out), &got); err != nil {
			t.Fatal(err)
		}
		units := len(utf16.Encode([]rune(got.Specific.AdditionalContext)))
		if units >= 10000 || units < 8000 || !strings.HasSuffix(got.Specific.AdditionalContext, "(cut)") {
			t.Errorf("%s: %d units", a, units)
		}
	}
}

func TestAnEventIsBounded(t *testing.T) {
	var patch strings.Builder
	patch.WriteString("*** Begin Patch\n")
	for i := range 3000 {
		fmt.Fprintf(&patch, "*** Delete File: f%d\n", i)
	}
	patch.WriteString("*** Delete File: " + strings.Repeat("x", 5000) + "\n")
	in, err := json.Marshal(map[string]any{
		"session_id": "s", "hook_event_name": "PreToolUse", "tool_name": "apply_patch",
		"tool_input": map[string]string{"command": patch.String()},
	})
	if err != nil {
		t.Fatal(err)
	}
	e, ok := hooks.Decode(hooks.Call{Agent: hooks.Codex, Payload: in})
	if !ok || len(e.Paths) != 1000 {
		t.Errorf("%v %d paths", ok, len(e.Paths))
	}
	e, ok = hooks.Decode(hooks.Call{Agent: hooks.Claude, Payload: []byte(geminiLine("s", "UserPromptSubmit", `,"prompt":"`+strings.Repeat("é", 60<<10)+`"`))})
	if !ok || len(e.Prompt) > 64<<10 || !strings.HasSuffix(e.Prompt, "é") {
		t.Errorf("%v %d bytes of a prompt", ok, len(e.Prompt))
	}
}

func TestHowASessionIsWokenComesFromItsEnvironment(t *testing.T) {
	e, ok := hooks.Decode(hooks.Call{
		Agent: hooks.Claude, Payload: []byte(`{"session_id":"s","hook_event_name":"SessionStart"}`),
		Env: map[string]string{"CLAUDE_CODE_MESSAGING_SOCKET": "/run/c.sock", "CLAUDE_CODE_SESSION_ATTENDED": "1"},
	})
	if !ok || e.Wake != (hooks.Wake{Socket: "/run/c.sock", Attended: true}) {
		t.Errorf("%v %+v", ok, e.Wake)
	}
}

func TestAnyOtherAgentSpeaksTheNeutralDialect(t *testing.T) {
	d := desk{t, hooks.NewDoor(script{hooks.BeforeEdit: hooks.Block("CF-9"), hooks.TurnEnd: hooks.Block("CF-9")}), "my-agent"}
	d.says(`{"agent":"claude","kind":"before-edit","session":"s","paths":["a"]}`, `{"verdict":"block","text":"CF-9"}`)
	d.says(`{"kind":"turn-end","session":"s","again":true}`, `{"verdict":"warn","text":"CF-9"}`)
	d.says(`{"kind":"start","session":"s"}`, `{"verdict":"allow"}`)
	e, _ := hooks.Decode(hooks.Call{Agent: "my-agent", Payload: []byte(`{"agent":"claude","kind":"start","session":"s"}`)})
	if e.Agent != "my-agent" {
		t.Errorf("takes itself for %s", e.Agent)
	}
}

func TestManySessionsAtOnceKeepApart(t *testing.T) {
	door := hooks.NewDoor(script{hooks.BeforeEdit: hooks.Warn("maya edits a")})
	var all sync.WaitGroup
	for i := range 50 {
		all.Go(func() {
			d, session := desk{t, door, hooks.Gemini}, fmt.Sprint("s", i)
			d.says(geminiLine(session, "BeforeTool", geminiWrite), "{}")
			d.says(geminiLine(session, "AfterTool", geminiWrite), `{"hookSpecificOutput":{"hookEventName":"AfterTool","additionalContext":"maya edits a"}}`)
		})
	}
	all.Wait()
}

func TestOfTooManySessionsTheLongestSilentIsForgotten(t *testing.T) {
	d := desk{t, hooks.NewDoor(script{hooks.BeforeEdit: hooks.Warn("w")}), hooks.Gemini}
	for i := range 257 {
		d.says(geminiLine(fmt.Sprint("s", i), "BeforeTool", geminiWrite), "{}")
	}
	d.says(geminiLine("s0", "AfterTool", geminiWrite), "{}")
	d.says(geminiLine("s1", "AfterTool", geminiWrite), `{"hookSpecificOutput":{"hookEventName":"AfterTool","additionalContext":"w"}}`)
}
