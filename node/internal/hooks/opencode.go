package hooks

import (
	"encoding/json"
	"strings"
)

// openCodeDialect is that of parley's own plugin for opencode, which passes on what opencode's hooks get.
var openCodeDialect = dialect{silent: "{}", decode: decodeOpenCode, render: renderOpenCode}

var (
	openCodeEdits  = []string{"write", "edit", "multiedit", "patch", "apply_patch"}
	openCodeShells = []string{"bash"}
)

// openCodePayload is one hook's name with its input and output, as the plugin got them.
type openCodePayload struct {
	Hook      text `json:"hook"`
	Directory text `json:"directory"`
	Input     struct {
		Tool    text            `json:"tool"`
		Session text            `json:"sessionID"`
		Call    text            `json:"callID"`
		Args    json.RawMessage `json:"args"`
		Info    struct {
			ID        text `json:"id"`
			Directory text `json:"directory"`
			Parent    text `json:"parentID"`
		} `json:"info"`
	} `json:"input"`
	Output struct {
		Args  json.RawMessage `json:"args"`
		Parts []openCodePart  `json:"parts"`
	} `json:"output"`
}

type openCodePart struct{ kind, text string }

// UnmarshalJSON takes a part of a message that holds text; every other part is empty.
func (p *openCodePart) UnmarshalJSON(b []byte) error {
	var in struct{ Type, Text text }
	if json.Unmarshal(b, &in) == nil {
		p.kind, p.text = string(in.Type), string(in.Text)
	}
	return nil
}

func decodeOpenCode(c Call) (Event, string, bool) {
	var p openCodePayload
	if json.Unmarshal(c.Payload, &p) != nil {
		return Event{}, "", false
	}
	e := Event{Session: string(p.Input.Session), Cwd: string(p.Directory), Call: string(p.Input.Call)}
	if e.Session == "" {
		e.Session = string(p.Input.Info.ID)
	}
	if e.Cwd == "" {
		e.Cwd = c.Env["PWD"]
	}
	ok := true
	switch p.Hook {
	case "event:session.created":
		e.Kind, e.Source = Start, "startup"
		if d := string(p.Input.Info.Directory); d != "" {
			e.Cwd = d
		}
		if p.Input.Info.Parent != "" {
			e.Subagent = e.Session
		}
	case "chat.message":
		e.Kind, e.Prompt = Prompt, openCodeText(p.Output.Parts)
	case "tool.execute.before":
		ok = e.tool(BeforeEdit, BeforeShell, string(p.Input.Tool), p.Output.Args, openCodeEdits, openCodeShells)
	case "tool.execute.after":
		ok = e.tool(AfterEdit, AfterShell, string(p.Input.Tool), p.Input.Args, openCodeEdits, openCodeShells)
	case "event:tool.failed":
		ok = e.tool(FailedEdit, AfterShell, string(p.Input.Tool), p.Input.Args, openCodeEdits, openCodeShells)
	case "event:session.idle":
		e.Kind = TurnEnd
	case "event:session.deleted":
		e.Kind = End
	default:
		ok = false
	}
	return e, string(p.Hook), ok
}

func openCodeText(parts []openCodePart) string {
	var texts []string
	for _, p := range parts {
		if p.kind == "text" && p.text != "" {
			texts = append(texts, p.text)
		}
	}
	return strings.Join(texts, "\n")
}

// pluginAnswer is what the plugin carries out: it throws a block, and appends a context to a tool's output.
type pluginAnswer struct {
	Block   string `json:"block,omitempty"`
	Context string `json:"context,omitempty"`
}

func renderOpenCode(e Event, _ string, d Decision) (string, bool) {
	before := e.Kind == BeforeEdit || e.Kind == BeforeShell
	after := e.Kind == AfterEdit || e.Kind == AfterShell
	if d.Verdict == VerdictBlock {
		return encode(pluginAnswer{Block: d.Text}), before
	}
	return encode(pluginAnswer{Context: d.Text}), after
}
