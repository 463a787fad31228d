package hooks

import (
	"encoding/json"
	"strings"
)

// geminiDialect is that of Gemini CLI. An empty answer would be looked for on standard error, so no opinion is
// said.
var geminiDialect = dialect{silent: "{}", decode: decodeGemini, render: renderGemini}

var (
	geminiEdits  = []string{"write_file", "replace"}
	geminiShells = []string{"run_shell_command"}
)

func decodeGemini(c Call) (Event, string, bool) {
	var p claudePayload
	if json.Unmarshal(c.Payload, &p) != nil {
		return Event{}, "", false
	}
	e := Event{Session: string(p.Session), Cwd: string(p.Cwd)}
	ok := true
	switch p.Moment {
	case "SessionStart":
		e.Kind, e.Source = Start, string(p.Source)
	case "BeforeAgent":
		e.Kind, e.Prompt = Prompt, withoutContext(string(p.Prompt))
	case "BeforeTool":
		ok = e.tool(BeforeEdit, BeforeShell, string(p.Tool), p.Input, geminiEdits, geminiShells)
	case "AfterTool":
		edit := AfterEdit
		if p.failed() {
			edit = FailedEdit
		}
		ok = e.tool(edit, AfterShell, string(p.Tool), p.Input, geminiEdits, geminiShells)
	case "AfterAgent":
		e.Kind, e.Again = TurnEnd, bool(p.Again)
	case "SessionEnd":
		e.Kind, e.Source = End, string(p.Reason)
	default:
		ok = false
	}
	return e, string(p.Moment), ok
}

// failed reports whether the answer of a tool of Gemini names an error.
func (p claudePayload) failed() bool {
	var of struct {
		Error json.RawMessage `json:"error"`
	}
	return json.Unmarshal(p.Response, &of) == nil && len(of.Error) > 0 && string(of.Error) != "null"
}

// withoutContext is a prompt without what hooks said at the session's start, which Gemini puts before it.
func withoutContext(prompt string) string {
	for {
		rest, ok := strings.CutPrefix(prompt, "<hook_context>")
		if !ok {
			return prompt
		}
		_, rest, ok = strings.Cut(rest, "</hook_context>")
		if !ok {
			return prompt
		}
		prompt = strings.TrimLeft(rest, "\r\n")
	}
}

// geminiAngles stand for the signs that Gemini would turn into HTML's names for them.
var geminiAngles = strings.NewReplacer("<", "‹", ">", "›")

func renderGemini(e Event, moment string, d Decision) (string, bool) {
	switch {
	case d.Verdict == VerdictBlock:
		return encode(hookOutput{Decision: "deny", Reason: d.Text}), e.Kind != TurnEnd || !e.Again
	case e.Kind == BeforeEdit || e.Kind == BeforeShell || e.Kind == TurnEnd || e.Kind == End:
		return "", false
	}
	return encode(hookOutput{Specific: &hookDetail{Event: moment, Context: geminiAngles.Replace(d.Text)}}), true
}
