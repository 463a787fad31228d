package api_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/parley-mesh/parley/node/api"
	"github.com/parley-mesh/parley/node/internal/hooks"
	"github.com/parley-mesh/parley/node/internal/install"
)

// hookPatience is for whole processes on a busy machine.
const hookPatience = 90 * time.Second

// opinions is a judge that blocks one file and warns of another.
type opinions struct{ failed *atomic.Bool } // an edit failed; nil: nobody asks

func (o opinions) Judge(_ context.Context, e hooks.Event) hooks.Decision {
	what := e.Command
	if len(e.Paths) > 0 {
		what = e.Paths[0]
	}
	switch before := e.Kind == hooks.BeforeEdit || e.Kind == hooks.BeforeShell; {
	case before && strings.HasSuffix(what, "blocked"):
		return hooks.Block("maya holds " + what + " in " + e.Cwd)
	case before && strings.HasSuffix(what, "near"):
		return hooks.Warn("maya edits beside " + what)
	case e.Kind == hooks.FailedEdit:
		if o.failed != nil {
			o.failed.Store(true)
		}
		return hooks.Warn("nothing became of " + what)
	}
	return hooks.Allow()
}

// judging is a home whose node has opinions.
func judging(t *testing.T, o opinions) string {
	t.Helper()
	home := private(t)
	l, err := api.Listen(api.SocketPath(home))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- (&api.Server{Judge: o}).Serve(ctx, l) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return home
}

// hookProgram builds cmd/parley-hook. Its sources are read, since what a test reads is what go test compares before it
// takes an old result for a new one.
func hookProgram(t *testing.T) string {
	t.Helper()
	sources, err := filepath.Glob("../../cmd/parley-hook/*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range sources {
		if _, err := os.ReadFile(s); err != nil {
			t.Fatal(err)
		}
	}
	path := filepath.Join(t.TempDir(), "parley-hook")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", path, "../../cmd/parley-hook").CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	return path
}

// insist runs something until it says what it should: on a machine that is too busy a hook has no opinion.
func insist(t *testing.T, run func() string, want string) {
	t.Helper()
	for end := time.Now().Add(hookPatience); ; {
		got := run()
		if got == want {
			return
		}
		if time.Now().After(end) {
			t.Errorf("%q, want %q", got, want)
			return
		}
	}
}

func TestAnAgentsProcessIsToldWhatTheNodeDecides(t *testing.T) {
	hook, home := hookProgram(t), judging(t, opinions{})
	for _, c := range []struct{ agent, payload, want string }{
		{
			"claude", `{"session_id":"s","cwd":"/r","hook_event_name":"PreToolUse","tool_name":"Edit","tool_input":{"file_path":"/r/blocked"}}`,
			`{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"maya holds /r/blocked in /r"}}`,
		},
		{
			"codex", `{"session_id":"s","cwd":"/r","hook_event_name":"PreToolUse","tool_name":"apply_patch","tool_input":{"command":"*** Begin Patch\n*** Update File: near\n*** End Patch"}}`,
			`{"hookSpecificOutput":{"hookEventName":"PreToolUse","additionalContext":"maya edits beside near"}}`,
		},
		{"gemini", `{"session_id":"s","hook_event_name":"BeforeTool","tool_name":"replace","tool_input":{"file_path":"free"}}`, "{}"},
		{"my-agent", `{"kind":"before-edit","session":"s","paths":["near"]}`, `{"verdict":"warn","text":"maya edits beside near"}`},
	} {
		insist(t, func() string {
			cmd := exec.CommandContext(t.Context(), hook, c.agent, home)
			cmd.Stdin = strings.NewReader(c.payload)
			out, err := cmd.Output()
			if err != nil {
				t.Error(err)
			}
			return string(out)
		}, c.want)
	}
}

// harness runs the plugin as opencode does and prints what came of a write.
const harness = `
import { Parley } from "./parley.mjs"
const h = await Parley({ directory: "/r" })
await h.event({ event: { type: "session.created", properties: { info: { id: "s", directory: "/r" } } } })
await h.event({ event: { type: "unheard" } })
await h["chat.message"]({ sessionID: "s" }, { parts: [{ type: "text", text: "go" }, { type: "file" }] })
const call = { tool: "write", sessionID: "s", callID: "c" }
const args = { filePath: process.argv[2], content: "x".repeat(5000000) }
const part = (tool, callID, status) => ({ type: "tool", sessionID: "s", tool, callID, state: { status, input: args, error: "no" } })
if (process.argv[2].endsWith("failed")) {
  for (const p of [part("edit", "1", "running"), part("edit", "1", "error"), part("edit", "1", "error"), part("read", "2", "error"), { type: "text" }]) {
    await h.event({ event: { type: "message.part.updated", properties: { part: p } } })
  }
}
try {
  await h["tool.execute.before"](call, { args })
  const out = { output: "written" }
  await h["tool.execute.after"]({ ...call, args }, out)
  console.log(out.output)
} catch (e) {
  console.log("thrown: " + e.message)
}
`

func TestThePluginThrowsABlockAndAppendsAWarning(t *testing.T) {
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("node is not here")
	}
	hook, home := hookProgram(t), judging(t, opinions{})
	dir := t.TempDir()
	o := install.Options{Home: dir, Node: home, Hook: hook, Parley: "/bin/parley", Server: []string{"mcp"}, Env: func(string) string { return "" }}
	changes, err := install.NewPlanner(o).Install(install.OpenCode)
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"parley.mjs": changes[0].After, "run.mjs": harness} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for file, want := range map[string]string{
		"/r/free":    "written\n",
		"/r/near":    "written\n\nmaya edits beside /r/near\n",
		"/r/blocked": "thrown: maya holds /r/blocked in /r\n",
		"/r/failed":  "written\n\nnothing became of /r/failed\n",
	} {
		insist(t, func() string {
			ctx, cancel := context.WithTimeout(t.Context(), hookPatience)
			defer cancel()
			out, err := exec.CommandContext(ctx, node, filepath.Join(dir, "run.mjs"), file).CombinedOutput()
			if err != nil {
				t.Errorf("%v\n%s", err, out)
			}
			return string(out)
		}, want)
	}
	o.Hook = filepath.Join(dir, "gone")
	changes, err = install.NewPlanner(o).Install(install.OpenCode)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "parley.mjs"), []byte(changes[0].After), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.CommandContext(t.Context(), node, filepath.Join(dir, "run.mjs"), "/r/blocked").CombinedOutput(); err != nil || string(out) != "written\n" {
		t.Errorf("without its hook: %v %s", err, out)
	}
}
