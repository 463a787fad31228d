package hooks

import "encoding/json"

// cursorDialect is that of Cursor's IDE and its command agent, as documented. Cursor fires several hooks for one
// call; parley installs the generic ones (preToolUse, postToolUse, postToolUseFailure) alone, and reads the others too.
var cursorDialect = dialect{silent: "{}", decode: decodeCursor, render: renderCursor}

var (
	cursorEdits  = []string{"Write", "Edit", "StrReplace", "ApplyPatch", "Delete", "EditNotebook"}
	cursorShells = []string{"Shell"}
)

type cursorPayload struct {
	Conversation text            `json:"conversation_id"`
	Session      text            `json:"session_id"`
	Moment       text            `json:"hook_event_name"`
	Roots        []text          `json:"workspace_roots"`
	Cwd          text            `json:"cwd"`
	Prompt       text            `json:"prompt"`
	Tool         text            `json:"tool_name"`
	Input        json.RawMessage `json:"tool_input"`
	Call         text            `json:"tool_use_id"`
	FilePath     text            `json:"file_path"`
	Command      text            `json:"command"`
	Reason       text            `json:"reason"`
	Loops        json.RawMessage `json:"loop_count"`
}

func decodeCursor(c Call) (Event, string, bool) {
	var p cursorPayload
	if json.Unmarshal(c.Payload, &p) != nil {
		return Event{}, "", false
	}
	e := Event{Session: string(p.Conversation), Cwd: string(p.Cwd), Call: string(p.Call)}
	if e.Session == "" {
		e.Session = string(p.Session)
	}
	if e.Cwd == "" && len(p.Roots) > 0 {
		e.Cwd = string(p.Roots[0])
	}
	ok := true
	switch p.Moment {
	case "sessionStart":
		e.Kind, e.Source = Start, "startup"
	case "beforeSubmitPrompt":
		e.Kind, e.Prompt = Prompt, string(p.Prompt)
	case "preToolUse":
		ok = e.tool(BeforeEdit, BeforeShell, string(p.Tool), p.Input, cursorEdits, cursorShells)
	case "postToolUse":
		ok = e.tool(AfterEdit, AfterShell, string(p.Tool), p.Input, cursorEdits, cursorShells)
	case "postToolUseFailure":
		ok = e.tool(FailedEdit, AfterShell, string(p.Tool), p.Input, cursorEdits, cursorShells)
	case "beforeShellExecution":
		e.Kind, e.Command = BeforeShell, string(p.Command)
	case "afterShellExecution":
		e.Kind, e.Command = AfterShell, string(p.Command)
	case "afterFileEdit":
		e.Kind, e.Paths = AfterEdit, []string{string(p.FilePath)}
		ok = p.FilePath != ""
	case "stop":
		e.Kind = TurnEnd
		e.Again = len(p.Loops) > 0 && string(p.Loops) != "0"
	case "sessionEnd":
		e.Kind, e.Source = End, string(p.Reason)
	default:
		ok = false
	}
	return e, string(p.Moment), ok
}

// cursorAnswer has the fields of several moments; each is read where it means something.
type cursorAnswer struct {
	Permission string `json:"permission,omitempty"`
	User       string `json:"user_message,omitempty"`
	Agent      string `json:"agent_message,omitempty"`
	Context    string `json:"additional_context,omitempty"`
	Followup   string `json:"followup_message,omitempty"`
}

func renderCursor(e Event, moment string, d Decision) (string, bool) {
	if d.Verdict == VerdictBlock {
		if e.Kind == TurnEnd {
			return encode(cursorAnswer{Followup: d.Text}), !e.Again
		}
		return encode(cursorAnswer{Permission: "deny", User: d.Text, Agent: d.Text}), true
	}
	return encode(cursorAnswer{Context: d.Text}), moment == "sessionStart" || moment == "postToolUse"
}
