package hooks

import (
	"encoding/json"
	"slices"
)

// claudeDialect is that of Claude Code, which Codex has taken over. No opinion is no output: Codex takes a key
// that it does not know for a failed hook.
var claudeDialect = dialect{decode: decodeClaude, render: renderClaude}

// claudePayload is what of a payload concerns parley.
type claudePayload struct {
	Session text            `json:"session_id"`
	Cwd     text            `json:"cwd"`
	Moment  text            `json:"hook_event_name"`
	Source  text            `json:"source"`
	Reason  text            `json:"reason"`
	Prompt  text            `json:"prompt"`
	Tool    text            `json:"tool_name"`
	Input   json.RawMessage `json:"tool_input"`
	Call    text            `json:"tool_use_id"`
	Agent   text            `json:"agent_id"`
	Again   flag            `json:"stop_hook_active"`
	// Response is what a tool came to: an object in Claude Code and Gemini, a text in Codex.
	Response json.RawMessage `json:"tool_response"`
	// Cursor is there when Cursor runs Claude's hooks as well as its own; those answer then.
	Cursor text `json:"cursor_version"`
}

// toolInput is what tools of several agents are called with.
type toolInput struct {
	FilePath     text `json:"file_path"`
	NotebookPath text `json:"notebook_path"`
	Camel        text `json:"filePath"`
	Path         text `json:"path"`
	TargetFile   text `json:"target_file"`
	Command      text `json:"command"`
	Patch        text `json:"patchText"`
}

// input reads the arguments of a tool; some agents send them as a string that holds JSON.
func input(raw json.RawMessage) toolInput {
	var in toolInput
	var inner string
	if json.Unmarshal(raw, &inner) == nil {
		raw = []byte(inner)
	}
	_ = json.Unmarshal(raw, &in) // what is not understood is not there
	return in
}

// files are the paths that a tool was called with.
func (in toolInput) files() []string {
	var out []string
	for _, p := range []text{in.FilePath, in.NotebookPath, in.Camel, in.TargetFile, in.Path} {
		if p != "" && !slices.Contains(out, string(p)) {
			out = append(out, string(p))
		}
	}
	return out
}

// tools of Claude Code and of Codex.
var (
	claudeEdits  = []string{"Write", "Edit", "MultiEdit", "NotebookEdit", "apply_patch"}
	claudeShells = []string{"Bash"}
)

func decodeClaude(c Call) (Event, string, bool) {
	var p claudePayload
	if json.Unmarshal(c.Payload, &p) != nil || p.Cursor != "" {
		return Event{}, "", false
	}
	e := Event{
		Session: string(p.Session), Cwd: string(p.Cwd), Subagent: string(p.Agent), Call: string(p.Call),
		Wake: Wake{
			Socket: c.Env["CLAUDE_CODE_MESSAGING_SOCKET"], Token: c.Env["CLAUDE_CODE_MESSAGING_TOKEN"],
			Attended: c.Env["CLAUDE_CODE_SESSION_ATTENDED"] == "1",
		},
	}
	ok := true
	switch p.Moment {
	case "SessionStart":
		e.Kind, e.Source = Start, string(p.Source)
	case "UserPromptSubmit":
		e.Kind, e.Prompt = Prompt, string(p.Prompt)
	case "PreToolUse":
		ok = e.tool(BeforeEdit, BeforeShell, string(p.Tool), p.Input, claudeEdits, claudeShells)
	case "PostToolUse":
		ok = e.tool(AfterEdit, AfterShell, string(p.Tool), p.Input, claudeEdits, claudeShells)
	case "PostToolUseFailure":
		ok = e.tool(FailedEdit, AfterShell, string(p.Tool), p.Input, claudeEdits, claudeShells)
	case "Stop":
		e.Kind, e.Again = TurnEnd, bool(p.Again)
	case "StopFailure", "Interrupt":
		e.Kind, e.Again = TurnEnd, true // nobody would go on
	case "SessionEnd":
		e.Kind, e.Source = End, string(p.Reason)
	default:
		ok = false
	}
	return e, string(p.Moment), ok
}

// tool fills in what a tool was called with; false: it neither edits nor runs commands.
func (e *Event) tool(edit, shell Kind, name string, raw json.RawMessage, edits, shells []string) bool {
	in := input(raw)
	switch {
	case slices.Contains(shells, name):
		e.Kind, e.Command = shell, string(in.Command)
		e.Paths = append(patchPaths(e.Command), shellPaths(e.Command)...)
		return e.Command != ""
	case slices.Contains(edits, name):
		e.Kind, e.Paths = edit, in.files()
		for _, patch := range []text{in.Command, in.Patch} {
			e.Paths = append(e.Paths, patchPaths(string(patch))...)
		}
		return len(e.Paths) > 0
	}
	return false
}

// hookOutput answers a moment of Claude Code, Codex and Gemini.
type hookOutput struct {
	Decision string      `json:"decision,omitempty"`
	Reason   string      `json:"reason,omitempty"`
	Specific *hookDetail `json:"hookSpecificOutput,omitempty"`
}

type hookDetail struct {
	Event   string `json:"hookEventName"`
	Verdict string `json:"permissionDecision,omitempty"`
	Reason  string `json:"permissionDecisionReason,omitempty"`
	Context string `json:"additionalContext,omitempty"`
}

func renderClaude(e Event, moment string, d Decision) (string, bool) {
	switch {
	case d.Verdict == VerdictBlock && e.Kind == TurnEnd:
		return encode(hookOutput{Decision: "block", Reason: d.Text}), !e.Again
	case e.Kind == TurnEnd || e.Kind == End:
		return "", false
	case d.Verdict == VerdictBlock:
		return encode(hookOutput{Specific: &hookDetail{Event: moment, Verdict: "deny", Reason: d.Text}}), true
	}
	return encode(hookOutput{Specific: &hookDetail{Event: moment, Context: d.Text}}), true
}
