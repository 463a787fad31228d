package hooks

import (
	"encoding/json"
	"slices"
)

// neutralDialect is for any other agent: it sends an [Event] and reads a [Decision], both as JSON.
var neutralDialect = dialect{silent: `{"verdict":"allow"}`, decode: decodeNeutral, render: renderNeutral}

var kinds = []Kind{Start, Prompt, BeforeEdit, BeforeShell, AfterEdit, FailedEdit, AfterShell, TurnEnd, End}

func decodeNeutral(c Call) (Event, string, bool) {
	var e Event
	if json.Unmarshal(c.Payload, &e) != nil || !slices.Contains(kinds, e.Kind) {
		return Event{}, "", false
	}
	if e.Cwd == "" {
		e.Cwd = c.Env["PWD"]
	}
	return e, "", true
}

func renderNeutral(e Event, _ string, d Decision) (string, bool) {
	if d.Verdict == VerdictBlock && e.Kind == TurnEnd && e.Again {
		return "", false
	}
	return encode(d), true
}
