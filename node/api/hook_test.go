package api_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/parley-mesh/parley/node/internal/hooks"
)

// Judge blocks every edit and says whose it was.
func (m *memory) Judge(ctx context.Context, e hooks.Event) hooks.Decision {
	if _, bound := ctx.Deadline(); !bound || e.Kind != hooks.BeforeEdit {
		return hooks.Allow()
	}
	return hooks.Block(fmt.Sprintf("%s %s %s %s", e.Agent, e.Session, e.Paths[0], e.Wake.Socket))
}

func TestAHookIsAnsweredInItsAgentsDialect(t *testing.T) {
	s := serve(t)
	edit := func(content string) string {
		return `{"session_id":"s","hook_event_name":"PreToolUse","tool_name":"Write","tool_input":{"file_path":"/a","content":"` + content + `"}}`
	}
	const deny = `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"claude s /a "}}`
	for _, c := range []struct{ agent, body, want string }{
		{"claude", edit("x"), deny},
		{"claude", edit(strings.Repeat("x", 1<<20)), deny}, // longer than other requests may be
		{"claude", edit(strings.Repeat("x", 10<<20)), ""},
		{"claude", "spoiled", ""},
		{"gemini", "spoiled", "{}"},
		{"cursor", `{"conversation_id":"s","hook_event_name":"preToolUse","tool_name":"Write","tool_input":{"file_path":"b"}}`, `{"permission":"deny","user_message":"cursor s b ","agent_message":"cursor s b "}`},
		{"NOBODY", edit("x"), ""},
	} {
		insist(t, func() string {
			status, got := s.raw(t, http.MethodPost, "/v1/hook/"+c.agent, c.body)
			if status != http.StatusOK {
				t.Errorf("%s: %d", c.agent, status)
			}
			return got
		}, c.want)
	}
}

func TestAHookPassesOnlyNamedVariables(t *testing.T) {
	s := serve(t)
	client := http.Client{Transport: &http.Transport{DialContext: s.dial, DisableKeepAlives: true}, Timeout: patience}
	insist(t, func() string {
		body := `{"session_id":"s","hook_event_name":"PreToolUse","tool_name":"Write","tool_input":{"file_path":"/a"}}`
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://parley/v1/hook/claude", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Add("Parley-Env", "CLAUDE_CODE_MESSAGING_SOCKET=/run/c=1.sock")
		req.Header.Add("Parley-Env", "PATH=/bin")
		resp, err := client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		if resp.Header.Get("Parley-Hook") != "1" {
			t.Error("an answer that the hook would not take for one")
		}
		answer, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		return string(answer)
	}, `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"claude s /a /run/c=1.sock"}}`)
}
