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

// agentVerbs are the rows of the table about coding agents.
var agentVerbs = []Verb{
	{
		Name: "agents install", Summary: "let coding agents ask parley before they edit", Who: Agent, Where: Local,
		Help: "Writes parley's hooks, its MCP server and its skills into the agents' settings: claude, codex, gemini, opencode,\n" +
			"cursor, and those of [agents.NAME] in config.toml. Without a name: every agent that is found here; all: every\n" +
			"one. What others wrote stays as it is, to the byte, and how a file was is kept beside it.\n" +
			"Codex runs hooks only after a person has trusted them: press that in codex, in /hooks. --trust does it from\n" +
			"here, for parley's own hooks, and asks your passphrase.",
	},
	{
		Name: "agents check", Summary: "find out whether the agents still ask parley", Who: Agent, Where: Local, Reads: true,
		Help: "One row per agent; a fault comes with the command that mends it. The exit status is 1 on a fault.",
	},
	{
		Name: "agents remove", Summary: "take parley out of the agents' settings", Who: Agent, Where: Local,
		Help: "The files are then as they would be without parley. Without a name: every agent that is found here.",
	},
	{Name: "hook", Summary: "ask about one moment of an agent's session", Who: Agent, Where: Node, Step: true, Method: "POST", Path: "/v1/hook/{id}"},
}

// withAgents puts the verbs about coding agents before the doctor.
func withAgents(verbs []Verb) []Verb {
	at := slices.IndexFunc(verbs, func(v Verb) bool { return v.Name == "doctor" })
	return slices.Concat(verbs[:at], agentVerbs, verbs[at:])
}

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
