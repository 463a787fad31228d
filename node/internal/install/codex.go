package install

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
)

// codexHandler is a hook of Codex, with its fields in the order of their names, as the hash of its trust wants.
type codexHandler struct {
	Async   bool   `json:"async"`
	Command string `json:"command"`
	Timeout int    `json:"timeout"`
	Type    string `json:"type"`
}

// codexHook is one moment at which Codex asks.
type codexHook struct {
	event, label, matcher string
	seconds               int
}

// codexHooks: Codex cuts the time at a session's end to three seconds, and says so each time it has to.
var codexHooks = []codexHook{
	{"SessionStart", "session_start", "", hookTime},
	{"UserPromptSubmit", "user_prompt_submit", "", hookTime},
	{"PreToolUse", "pre_tool_use", "Bash|apply_patch", hookTime},
	{"PostToolUse", "post_tool_use", "Bash|apply_patch", hookTime},
	{"Stop", "stop", "", hookTime},
	{"SessionEnd", "session_end", "", 3},
}

func (o Options) codexHandler(h codexHook) codexHandler {
	return codexHandler{Command: o.command(Codex), Timeout: h.seconds, Type: "command"}
}

// codexEntry is the entry of one hook of Codex.
type codexEntry struct {
	entry
	label string
}

func (o Options) codexEntries() (out []codexEntry) {
	type handler struct {
		Type    string `json:"type"`
		Command string `json:"command"`
		Timeout int    `json:"timeout"`
	}
	for _, h := range codexHooks {
		c := o.codexHandler(h)
		out = append(out, codexEntry{group(h.event, h.matcher, encode(handler{c.Type, c.Command, c.Timeout})), h.label})
	}
	return out
}

// codexFiles: the hooks stand in hooks.json, behind those of others, since Codex knows a trusted hook by its
// place; the server and the trust stand between two marks in config.toml.
func (o Options) codexFiles(now func(string) (string, bool)) []file {
	var entries []entry
	for _, e := range o.codexEntries() {
		entries = append(entries, e.entry)
	}
	hooks := jsonFile(join(o.dir(Codex), "hooks.json"), "hooks", entries)
	config := join(o.dir(Codex), "config.toml")
	return []file{hooks, {
		path: config, what: "MCP server",
		put: func(text string, exists bool) (string, error) {
			after, there := now(hooks.path)
			after, err := hooks.put(after, there)
			if err != nil {
				return "", err
			}
			return o.putCodex(text, exists, after, hooks.path)
		},
		take: func(text string, of homes) (string, bool, error) {
			if !of.has(o.codexHome(text)) {
				return text, false, nil
			}
			if _, err := o.TOML([]byte(text)); err != nil {
				return "", false, err
			}
			text = freed(text, o.ownTable(hooks.path, nil))
			from, _, found := blockAt(text)
			rest, _ := cutBlock(text)
			if _, err := o.TOML([]byte(rest)); err != nil {
				return "", false, fmt.Errorf("without parley's part: %w", err)
			}
			return rest, found && from == 0 && rest == "", nil
		},
	}}
}

// codexHome is the home of the server in parley's part of a config.toml; "" without one.
func (o Options) codexHome(text string) string {
	block, ok := blockOf(text)
	if !ok {
		return ""
	}
	var part struct {
		Servers map[string]struct{ Args []string } `json:"mcp_servers"`
	}
	if all, err := o.TOML([]byte(block)); err != nil || json.Unmarshal([]byte(encode(all)), &part) != nil {
		return ""
	}
	server, ok := part.Servers[serverName]
	if !ok {
		return ""
	}
	return o.every().served(server.Args)
}

// putCodex adds the block of parley to config.toml. Trust that was given before, for hooks as they now are, stays.
func (o Options) putCodex(text string, exists bool, hooks, hooksPath string) (string, error) {
	if _, err := o.TOML([]byte(text)); err != nil {
		return "", err
	}
	trust, err := o.codexTrust(hooks, hooksPath)
	if err != nil {
		return "", err
	}
	text = freed(text, o.ownTable(hooksPath, trust))
	block, _ := blockOf(text)
	rest, _ := cutBlock(text)
	others, err := o.TOML([]byte(rest))
	if err != nil {
		return "", err
	}
	if servers, ok := others["mcp_servers"].(map[string]any); ok && servers[serverName] != nil {
		return "", fmt.Errorf("mcp_servers.%s is there already and is not parley's", serverName)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "[mcp_servers.%s]\ncommand = %s\nargs = %s\n", serverName, encode(o.Parley), tomlList(o.Server))
	for _, t := range trust {
		if trustedHash(others, t.key) != "" {
			continue // Codex's own file says something about it: a person decides there
		}
		lines := fmt.Sprintf("\n[hooks.state.%s]\ntrusted_hash = %s\n", encode(t.key), encode(t.hash))
		if o.Trust || strings.Contains(strings.ReplaceAll(block, "\r\n", "\n"), lines) {
			b.WriteString(lines)
		}
	}
	out := putBlock(text, b.String(), exists)
	if _, err := o.TOML([]byte(out)); err != nil {
		return "", fmt.Errorf("parley's part does not fit: %w", err)
	}
	return out, nil
}

func tomlList(words []string) string {
	var out []string
	for _, w := range words {
		out = append(out, encode(w))
	}
	return "[" + strings.Join(out, ", ") + "]"
}

// trusted is one hook of parley as Codex remembers its trust.
type trusted struct{ key, hash string }

// codexTrust is what Codex would remember of parley's hooks in a hooks.json.
func (o Options) codexTrust(text, path string) ([]trusted, error) {
	d, err := open(text)
	if err != nil {
		return nil, err
	}
	var out []trusted
	for _, h := range codexHooks {
		list, err := d.at([]string{"hooks", h.event})
		if err != nil {
			return nil, err
		}
		if list == nil {
			continue
		}
		for g, i := range list.items {
			ours, _ := handlers(d, i)
			for _, at := range ours {
				hash, err := codexHash(h.label, alone(d, i, at))
				if err != nil {
					return nil, err
				}
				out = append(out, trusted{fmt.Sprintf("%s:%s:%d:%d", path, h.label, g, at), hash})
			}
		}
	}
	return out, nil
}

// codexHash is what Codex compares: the hash of a hook's meaning, with sorted names and no spaces.
func codexHash(label, group string) (string, error) {
	var g struct {
		Matcher *string `json:"matcher"`
		Hooks   []struct {
			Type, Command string
			Timeout       int
			Async         bool
		} `json:"hooks"`
	}
	if err := json.Unmarshal([]byte(group), &g); err != nil {
		return "", err
	}
	meaning := struct {
		Event   string         `json:"event_name"`
		Hooks   []codexHandler `json:"hooks"`
		Matcher *string        `json:"matcher,omitempty"`
	}{Event: label, Matcher: g.Matcher}
	for _, h := range g.Hooks[:1] {
		meaning.Hooks = append(meaning.Hooks, codexHandler{h.Async, h.Command, h.Timeout, h.Type})
	}
	sum := sha256.Sum256([]byte(encode(meaning)))
	return "sha256:" + hex.EncodeToString(sum[:]), nil
}

// trustedHash is what a config.toml remembers about one hook, "" for nothing.
func trustedHash(config map[string]any, key string) string {
	hooks, _ := config["hooks"].(map[string]any)
	state, _ := hooks["state"].(map[string]any)
	one, _ := state[key].(map[string]any)
	hash, _ := one["trusted_hash"].(string)
	return hash
}
