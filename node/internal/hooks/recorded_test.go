package hooks_test

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parley-mesh/parley/node/internal/hooks"
)

var update = flag.Bool("update", false, "write the expectations anew")

var agents = []hooks.Agent{hooks.Claude, hooks.Codex, hooks.Gemini, hooks.OpenCode, hooks.Cursor}

// always is a judge of one opinion.
type always hooks.Decision

func (a always) Judge(context.Context, hooks.Event) hooks.Decision { return hooks.Decision(a) }

// payloads are the lines of an agent's recording.
func payloads(t testing.TB, a hooks.Agent) []string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", string(a)+".jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSpace(string(text)), "\n")
}

// answer is what one payload alone gets from a judge of one opinion.
func answer(t *testing.T, a hooks.Agent, payload string, d hooks.Decision) string {
	return hooks.NewDoor(always(d)).Answer(t.Context(), hooks.Call{Agent: a, Payload: []byte(payload)}).Text
}

func TestEveryRecordedPayloadIsReadAndAnswered(t *testing.T) {
	for _, a := range agents {
		var got strings.Builder
		for i, payload := range payloads(t, a) {
			e, ok := hooks.Decode(hooks.Call{Agent: a, Payload: []byte(payload)})
			fmt.Fprintf(&got, "line %d\n", i+1)
			if !ok {
				got.WriteString("  nothing that concerns parley\n")
				continue
			}
			text, err := json.Marshal(e)
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(&got, "  event %s\n  allow %s\n  warn  %s\n  block %s\n", text, answer(t, a, payload, hooks.Allow()),
				answer(t, a, payload, hooks.Warn(`CF-9: "maya" edits <x>`)), answer(t, a, payload, hooks.Block("CF-9 is & stays blocked")))
		}
		golden := filepath.Join("testdata", string(a)+".txt")
		if *update {
			if err := os.WriteFile(golden, []byte(got.String()), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(golden)
		if err != nil {
			t.Fatal(err)
		}
		if got.String() != string(want) {
			t.Errorf("%s: got\n%swant\n%s", a, got.String(), want)
		}
	}
}
