package hooks_test

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/parley-mesh/parley/node/internal/hooks"
)

// fuzz holds for any payload of one agent: the answer is silence or JSON that asks nobody, and an event keeps
// its bounds.
func fuzz(f *testing.F, a hooks.Agent) {
	for _, p := range payloads(f, a) {
		f.Add([]byte(p))
	}
	f.Fuzz(func(t *testing.T, payload []byte) {
		c := hooks.Call{Agent: a, Payload: payload}
		for _, d := range []hooks.Decision{hooks.Allow(), hooks.Warn("<w>\xff"), hooks.Block("b\x00")} {
			out := hooks.NewDoor(always(d)).Answer(t.Context(), c).Text
			if out != hooks.Silence(a) && !json.Valid([]byte(out)) || strings.Contains(out, `"ask"`) {
				t.Errorf("%q", out)
			}
			if d.Verdict == hooks.VerdictAllow && out != hooks.Silence(a) {
				t.Errorf("allowing says %q", out)
			}
		}
		e, ok := hooks.Decode(c)
		if !ok {
			return
		}
		if e.Session == "" || len(e.Session) > 256 || len(e.Paths) > 1000 || len(e.Command) > 64<<10 || !utf8.ValidString(e.Prompt) {
			t.Errorf("%+v", e)
		}
		if (e.Kind == hooks.BeforeEdit || e.Kind == hooks.AfterEdit) && a != "other" && len(e.Paths) == 0 {
			t.Errorf("an edit of nothing: %+v", e)
		}
	})
}

func FuzzClaude(f *testing.F) { fuzz(f, hooks.Claude) }

func FuzzCodex(f *testing.F) { fuzz(f, hooks.Codex) }

func FuzzGemini(f *testing.F) { fuzz(f, hooks.Gemini) }

func FuzzOpenCode(f *testing.F) { fuzz(f, hooks.OpenCode) }

func FuzzCursor(f *testing.F) { fuzz(f, hooks.Cursor) }
