package api

import (
	"context"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/parley-mesh/parley/node/internal/hooks"
)

// hookTime is how long a judge has: less than the 300 ms after which the hook lets its agent go on.
const hookTime = 250 * time.Millisecond

// Headers between cmd/parley-hook and the node.
const (
	hookHeader = "Parley-Hook" // of every answer: without it the hook takes nothing for an answer
	hookEnv    = "Parley-Env"  // NAME=VALUE, once for each variable
)

// hookVerbs are the rows of the table about agents' hooks.
var hookVerbs = []Verb{
	{Name: "hook", Summary: "ask about one moment of an agent's session", Who: Agent, Where: Node, Step: true, Method: "POST", Path: "/v1/hook/{id}"},
}

// withHooks puts the verbs about agents' hooks at the end.
func withHooks(verbs []Verb) []Verb { return slices.Concat(verbs, hookVerbs) }

// hook answers what cmd/parley-hook prints: {id} is the agent, the body is the agent's payload as it stands, and
// so is the answer, which may be empty. What is not understood has no opinion and is no error.
func (s *Server) hook() http.Handler {
	door := hooks.NewDoor(s.Judge)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), hookTime)
		defer cancel()
		payload, err := io.ReadAll(r.Body)
		c := hooks.Call{Agent: hooks.Agent(r.PathValue("id")), Payload: payload, Env: map[string]string{}}
		if err != nil {
			c.Payload = nil // too long, or broken off
		}
		for _, line := range r.Header.Values(hookEnv) {
			if name, value, ok := strings.Cut(line, "="); ok && slices.Contains(hooks.Variables, name) {
				c.Env[name] = value
			}
		}
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Cache-Control", "no-store")
		w.Header().Set(hookHeader, "1")
		answer := door.Answer(ctx, c)
		w.Header().Set("Content-Length", strconv.Itoa(len(answer)))
		io.WriteString(w, answer) // a hook that has gone is no error
	})
}

// bodyMax is how long the body of a request may be.
func bodyMax(r *http.Request) int64 {
	if strings.HasPrefix(r.URL.Path, "/v1/hook/") {
		return hooks.PayloadBytesMax
	}
	return requestBytesMax
}
