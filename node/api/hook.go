package api

import (
	"context"
	"io"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/parley-mesh/parley/node/internal/hooks"
)

// hookTime is how long a judge has: less than the 300 ms after which the hook lets its agent go on.
const hookTime = 250 * time.Millisecond

// Headers between cmd/parley-hook and the node.
const (
	hookHeader = "Parley-Hook" // of every answer: without it the hook takes nothing for an answer
	hookEnv    = "Parley-Env"  // NAME=VALUE, once for each variable
	// hookSeen says what becomes of an answer. A request with "later" promises one with "now" on the same connection
	// once the answer was printed, if the answer says "wanted".
	hookSeen = "Parley-Seen"
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
// so is the answer, which may be empty. What is not understood has no opinion and is no error. What an answer tells
// counts as told once the hook says that it printed it; an older hook says nothing, and counts while it is there.
func (s *Server) hook() http.Handler {
	door := hooks.NewDoor(s.Judge)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		line, _ := r.Context().Value(lineKey{}).(*hookLine)
		if line != nil && r.Header.Get(hookSeen) == "now" {
			line.take().Seen()
			w.WriteHeader(http.StatusNoContent)
			return
		}
		ctx, cancel := context.WithTimeout(r.Context(), hookTime)
		defer cancel()
		within, end := s.span(ctx, "hook")
		reply := door.Answer(within, hookCall(r))
		end(nil)
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Cache-Control", "no-store")
		w.Header().Set(hookHeader, "1")
		w.Header().Set("Content-Length", strconv.Itoa(len(reply.Text)))
		if line != nil && reply.Wanted() && r.Header.Get(hookSeen) == "later" {
			w.Header().Set(hookSeen, "wanted")
			line.wait(reply)
			io.WriteString(w, reply.Text) // a hook that has gone is no error: its connection ends
			return
		}
		if _, err := io.WriteString(w, reply.Text); err != nil || r.Context().Err() != nil {
			reply.Lost()
		} else {
			reply.Seen()
		}
	})
}

// hookCall is the hook that a request is about.
func hookCall(r *http.Request) hooks.Call {
	c := hooks.Call{Agent: hooks.Agent(r.PathValue("id")), Env: map[string]string{}}
	if payload, err := io.ReadAll(r.Body); err == nil { // else it is too long, or broke off
		c.Payload = payload
	}
	for _, line := range r.Header.Values(hookEnv) {
		if name, value, ok := strings.Cut(line, "="); ok && slices.Contains(hooks.Variables, name) {
			c.Env[name] = value
		}
	}
	return c
}

// hookLine is one connection, with the answer on it of which the hook has not said yet that it was printed.
type hookLine struct {
	mu    sync.Mutex
	reply hooks.Reply
}

type lineKey struct{}

// take hands the answer out.
func (l *hookLine) take() hooks.Reply {
	l.mu.Lock()
	defer l.mu.Unlock()
	reply := l.reply
	l.reply = hooks.Reply{}
	return reply
}

func (l *hookLine) wait(reply hooks.Reply) {
	l.take().Lost() // one that nobody asked about any more
	l.mu.Lock()
	defer l.mu.Unlock()
	l.reply = reply
}

// hookLines lets a server know its connections: an answer on one that ends is lost, unless its hook said otherwise.
func hookLines(server *http.Server) {
	var lines sync.Map // by connection
	server.ConnContext = func(ctx context.Context, c net.Conn) context.Context {
		line := &hookLine{}
		lines.Store(c, line)
		return context.WithValue(ctx, lineKey{}, line)
	}
	server.ConnState = func(c net.Conn, state http.ConnState) {
		if state != http.StateClosed && state != http.StateHijacked {
			return
		}
		if line, ok := lines.LoadAndDelete(c); ok {
			line.(*hookLine).take().Lost()
		}
	}
}

// bodyMax is how long the body of a request may be.
func bodyMax(r *http.Request) int64 {
	if strings.HasPrefix(r.URL.Path, "/v1/hook/") {
		return hooks.PayloadBytesMax
	}
	return requestBytesMax
}
