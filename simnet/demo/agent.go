package demo

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// agent is one scripted agent session. It does what a script says, and speaks as its kind does: the payloads of its
// hooks go to the real parley-hook, and it obeys the answers as that kind of agent would.
type agent struct {
	kind    string // claude, codex, gemini or opencode
	who     string // as the timeline calls it: "codex on desktop"
	at      int    // index of its computer
	dir     string // its working copy
	session string
	hook    string // the program
	home    string // of its computer
	calls   int
	ref     string   // S-…, once its computer names it
	intent  string   // INT-…, once it declared one
	told    []string // what its hooks told it, in order
	blocked []string // reasons of refused edits
	wrote   map[string]string
	say     func(format string, args ...any)
}

// answer is what a hook printed, in the words of any of the dialects.
type answer struct {
	Decision string `json:"decision"`
	Reason   string `json:"reason"`
	Block    string `json:"block"`
	Context  string `json:"context"`
	Specific struct {
		Decision string `json:"permissionDecision"`
		Reason   string `json:"permissionDecisionReason"`
		Context  string `json:"additionalContext"`
	} `json:"hookSpecificOutput"`
}

// refusal is why an edit must not be made, "" when it may.
func (a answer) refusal() string {
	switch {
	case a.Specific.Decision == "deny":
		return a.Specific.Reason
	case a.Decision == "deny" || a.Decision == "block":
		return a.Reason
	}
	return a.Block
}

// context is what the agent is told beside its work.
func (a answer) context() string {
	if a.Specific.Context != "" {
		return a.Specific.Context
	}
	return a.Context
}

// hookAgain is how often a moment is asked about anew when the node did not answer within the hook's 300 ms, which a
// busy machine takes for itself now and then.
const hookAgain = 200

// ask runs the hook for one moment and reads its answer.
func (a *agent) ask(ctx context.Context, payload map[string]any) (answer, error) {
	text, err := json.Marshal(payload)
	if err != nil {
		return answer{}, err
	}
	for range hookAgain {
		before := a.missed()
		c := exec.CommandContext(ctx, a.hook, a.kind, a.home)
		c.Dir, c.Stdin = a.dir, bytes.NewReader(text)
		c.Env = append(quietEnv(os.Environ()), "PWD="+a.dir)
		out, err := c.Output()
		if err != nil {
			return answer{}, fmt.Errorf("%s: its hook: %w", a.who, err)
		}
		if a.missed() > before { // an agent would go on here; the story waits
			if err := pause(ctx, 100*time.Millisecond); err != nil {
				return answer{}, err
			}
			continue
		}
		var ans answer
		if len(bytes.TrimSpace(out)) > 0 {
			err = json.Unmarshal(out, &ans)
		}
		if told := ans.context(); told != "" {
			a.told = append(a.told, told)
			a.say("is told: %s", firstLines(told))
		}
		return ans, err
	}
	return answer{}, fmt.Errorf("%w: %s: the node does not answer its hook", ErrBroken, a.who)
}

// missed is how much the hook has noted about answers that did not come.
func (a *agent) missed() int64 {
	info, err := os.Stat(filepath.Join(a.home, "hook-missed"))
	if err != nil {
		return 0
	}
	return info.Size()
}

// firstLines is a text on one line, cut to what a timeline can hold.
func firstLines(text string) string {
	line := strings.Join(strings.Fields(text), " ")
	if r := []rune(line); len(r) > 220 {
		return string(r[:220]) + " …"
	}
	return line
}

// start begins the session, with a prompt.
func (a *agent) start(ctx context.Context, prompt string) error {
	a.say("starts in %s: %q", filepath.Base(a.dir), prompt)
	begin := map[string]any{"hook_event_name": "SessionStart", "source": "startup"}
	if a.kind == "opencode" {
		begin = map[string]any{"hook": "event:session.created", "input": map[string]any{"info": map[string]any{"id": a.session, "directory": a.dir}}}
	}
	if _, err := a.ask(ctx, a.dressed(begin)); err != nil {
		return err
	}
	return a.prompt(ctx, prompt)
}

// prompt is a person's next words to the agent.
func (a *agent) prompt(ctx context.Context, text string) error {
	payload := map[string]any{"hook_event_name": "UserPromptSubmit", "prompt": text}
	switch a.kind {
	case "gemini":
		payload["hook_event_name"] = "BeforeAgent"
	case "opencode":
		payload = map[string]any{"hook": "chat.message", "output": map[string]any{"parts": []any{map[string]any{"type": "text", "text": text}}}}
	}
	_, err := a.ask(ctx, a.dressed(payload))
	return err
}

// next is the session's next moment at which it can be told something: opencode is told after a tool alone.
func (a *agent) next(ctx context.Context) error {
	if a.kind != "opencode" {
		return a.prompt(ctx, "Go on.")
	}
	a.calls++
	args, call := map[string]any{"command": "git status --short"}, fmt.Sprintf("call_%d", a.calls)
	before := map[string]any{"hook": "tool.execute.before", "input": map[string]any{"tool": "bash", "callID": call}, "output": map[string]any{"args": args}}
	if _, err := a.ask(ctx, a.dressed(before)); err != nil {
		return err
	}
	after := map[string]any{"hook": "tool.execute.after", "input": map[string]any{"tool": "bash", "callID": call, "args": args}, "output": map[string]any{"output": ""}}
	_, err := a.ask(ctx, a.dressed(after))
	return err
}

// end is the end of a turn and of the session.
func (a *agent) end(ctx context.Context) error {
	names := [2]string{"Stop", "SessionEnd"}
	switch a.kind {
	case "gemini":
		names[0] = "AfterAgent"
	case "opencode":
		names = [2]string{"event:session.idle", "event:session.deleted"}
	}
	for _, name := range names {
		key := "hook_event_name"
		if a.kind == "opencode" {
			key = "hook"
		}
		if _, err := a.ask(ctx, a.dressed(map[string]any{key: name, "reason": "other"})); err != nil {
			return err
		}
	}
	a.say("ends its session")
	return nil
}

// dressed adds what every payload of the dialect has.
func (a *agent) dressed(p map[string]any) map[string]any {
	if a.kind == "opencode" {
		p["directory"] = a.dir
		input, _ := p["input"].(map[string]any)
		if input == nil {
			input = map[string]any{}
			p["input"] = input
		}
		input["sessionID"] = a.session
		return p
	}
	p["session_id"], p["cwd"], p["transcript_path"] = a.session, a.dir, filepath.Join(a.home, a.session+".jsonl")
	switch a.kind {
	case "codex":
		p["model"], p["permission_mode"] = "stub", "bypassPermissions"
	case "gemini":
		p["timestamp"] = time.Now().UTC().Format(time.RFC3339Nano)
	default:
		p["permission_mode"] = "acceptEdits"
	}
	return p
}

// tool is the payload around an edit, before it and after it.
func (a *agent) tool(path, content string, after bool) map[string]any {
	file := filepath.Join(a.dir, filepath.FromSlash(path))
	call := fmt.Sprintf("call_%d", a.calls)
	switch a.kind {
	case "opencode":
		args := map[string]any{"content": content, "filePath": file}
		input := map[string]any{"tool": "write", "callID": call}
		if after {
			input["args"] = args
			return a.dressed(map[string]any{"hook": "tool.execute.after", "input": input, "output": map[string]any{"output": "Wrote file successfully."}})
		}
		return a.dressed(map[string]any{"hook": "tool.execute.before", "input": input, "output": map[string]any{"args": args}})
	case "gemini":
		p := map[string]any{"hook_event_name": "BeforeTool", "tool_name": "write_file", "tool_input": map[string]any{"file_path": file, "content": content}}
		if after {
			p["hook_event_name"], p["tool_response"] = "AfterTool", map[string]any{"llmContent": "Successfully wrote " + file}
		}
		return a.dressed(p)
	case "codex":
		patch := "*** Begin Patch\n*** Update File: " + file + "\n@@\n+…\n*** End Patch\n"
		return a.dressed(a.claudeTool("apply_patch", map[string]any{"command": patch}, call, after))
	}
	return a.dressed(a.claudeTool("Write", map[string]any{"file_path": file, "content": content}, call, after))
}

func (a *agent) claudeTool(name string, input map[string]any, call string, after bool) map[string]any {
	p := map[string]any{"hook_event_name": "PreToolUse", "tool_name": name, "tool_input": input, "tool_use_id": call}
	if after {
		p["hook_event_name"], p["tool_response"] = "PostToolUse", map[string]any{"type": "update"}
	}
	return p
}

// edit tries one edit, as an agent does: it asks first, and what is refused is not written. It reports whether it wrote.
func (a *agent) edit(ctx context.Context, path, content string) (bool, error) {
	a.calls++
	ans, err := a.ask(ctx, a.tool(path, content, false))
	if err != nil {
		return false, err
	}
	if why := ans.refusal(); why != "" {
		a.blocked = append(a.blocked, why)
		a.say("may not edit %s: %s", path, firstLines(why))
		return false, nil
	}
	a.say("edits %s", path)
	if err := a.put(path, content); err != nil {
		return false, err
	}
	_, err = a.ask(ctx, a.tool(path, content, true))
	return true, err
}

// put writes a file and remembers what it wrote.
func (a *agent) put(path, content string) error {
	file := filepath.Join(a.dir, filepath.FromSlash(path))
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	sum := sha256.Sum256([]byte(content))
	a.wrote[path] = "100644 " + hex.EncodeToString(sum[:])
	return os.WriteFile(file, []byte(content), 0o644)
}

// restore takes an edit back: the file is as the commit has it, or gone.
func (a *agent) restore(ctx context.Context, path string) error {
	text, err := git(ctx, a.dir, "show", "HEAD:"+path)
	if err != nil {
		a.say("takes %s back", path)
		delete(a.wrote, path)
		if err := os.Remove(filepath.Join(a.dir, filepath.FromSlash(path))); err != nil {
			return err
		}
		a.calls++
		_, err = a.ask(ctx, a.tool(path, "", true))
		return err
	}
	_, err = a.edit(ctx, path, text+"\n")
	return err
}

// parley runs a verb for this session, as an agent does in its shell.
func (a *agent) parley(ctx context.Context, program string, out any, args ...string) error {
	c := exec.CommandContext(ctx, program, append([]string{"--home", a.home}, args...)...)
	c.Dir, c.Env = a.dir, append(quietEnv(os.Environ()), "PARLEY_SESSION="+a.session)
	var text, errs bytes.Buffer
	c.Stdout, c.Stderr = &text, &errs
	if err := c.Run(); err != nil {
		return fmt.Errorf("%s: parley %s: %w: %s", a.who, strings.Join(args, " "), err, strings.TrimSpace(errs.String()))
	}
	if out == nil {
		return nil
	}
	return json.Unmarshal(text.Bytes(), out)
}
