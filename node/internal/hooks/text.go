package hooks

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// Limits of an event and of a decision.
const (
	sessionBytesMax = 256
	pathsMax        = 1000
	pathBytesMax    = 4096
	textBytesMax    = 64 << 10
	// textUnitsMax keeps a context below the 10,000 UTF-16 units that agents take before they put it aside into
	// a file, with room for what they write around it.
	textUnitsMax = 9000
)

// bounded is the event without what no later reader should have to bear.
func (e Event) bounded() Event {
	e.Paths = slices.DeleteFunc(e.Paths, func(p string) bool {
		return p == "" || len(p) > pathBytesMax || strings.ContainsRune(p, 0)
	})
	e.Unread = e.Unread || len(e.Paths) > pathsMax
	e.Paths = e.Paths[:min(len(e.Paths), pathsMax)]
	e.Command, e.Prompt = head(e.Command, textBytesMax), head(e.Prompt, textBytesMax)
	e.Call, e.Source, e.Subagent = head(e.Call, sessionBytesMax), head(e.Source, sessionBytesMax), head(e.Subagent, sessionBytesMax)
	if len(e.Cwd) > pathBytesMax {
		e.Cwd = ""
	}
	return e
}

// head is the first bytes of a text, whole characters.
func head(s string, most int) string {
	if len(s) <= most {
		return s
	}
	for most > 0 && !utf8.RuneStart(s[most]) {
		most--
	}
	return s[:most]
}

// normal is the decision as far as it means something at this moment.
func (d Decision) normal(e Event) Decision {
	if strings.TrimSpace(d.Text) == "" {
		return Allow()
	}
	switch d.Verdict {
	case VerdictWarn:
		return d
	case VerdictBlock:
		if e.Kind == BeforeEdit || e.Kind == BeforeShell || e.Kind == TurnEnd {
			return d
		}
		d.Verdict = VerdictWarn
		return d
	}
	return Allow()
}

const cutMark = " … (cut)"

// cut is the decision with as much text as agents take.
func (d Decision) cut() Decision {
	units := 0
	for i, c := range d.Text {
		units += max(1, utf16.RuneLen(c))
		if units > textUnitsMax {
			d.Text = d.Text[:i] + cutMark
			break
		}
	}
	return d
}

// text is a string of a payload; any other value in its place reads as "".
type text string

// UnmarshalJSON takes what is there.
func (t *text) UnmarshalJSON(b []byte) error {
	var s string
	if json.Unmarshal(b, &s) == nil {
		*t = text(s)
	}
	return nil
}

// flag is a truth value of a payload; any other value in its place reads as false.
type flag bool

// UnmarshalJSON takes what is there.
func (f *flag) UnmarshalJSON(b []byte) error {
	*f = string(b) == "true"
	return nil
}

// encode writes an answer as agents read it: nothing escaped that need not be.
func encode[T any](v T) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if e.Encode(v) != nil { // strings alone: cannot be
		return ""
	}
	return strings.TrimSuffix(b.String(), "\n")
}
