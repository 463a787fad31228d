package install

import (
	"os"
	"runtime"
	"strings"
)

// mcp is the server as most agents want it.
type mcp struct {
	Type    string   `json:"type,omitempty"`
	Command string   `json:"command"`
	Args    []string `json:"args"`
}

// hookTime is how many seconds an agent may wait for the hook before it goes on: the hook itself ends after 0.3.
const hookTime = 5

// claudeFiles hold exec-form hooks: a program with arguments, which no shell reads. WorktreeCreate is left alone,
// since a hook there takes the place of git's own work.
func (o Options) claudeFiles() []file {
	type handler struct {
		Type    string   `json:"type"`
		Command string   `json:"command"`
		Args    []string `json:"args"`
		Timeout int      `json:"timeout"`
	}
	hook := func(event, matcher string, seconds int) entry {
		return group(event, matcher, encode(handler{"command", o.Hook, []string{Claude, o.Node}, seconds}))
	}
	const tools = "Write|Edit|MultiEdit|NotebookEdit|Bash"
	hooks := []entry{
		hook("SessionStart", "", hookTime), hook("UserPromptSubmit", "", hookTime),
		hook("PreToolUse", tools, hookTime), hook("PostToolUse", tools, hookTime), hook("PostToolUseFailure", tools, hookTime),
		hook("Stop", "", hookTime), hook("SessionEnd", "", 1),
	}
	servers := []entry{server([]string{"mcpServers"}, encode(mcp{"stdio", o.Parley, o.Server}))}
	if o.Project != "" {
		return []file{
			jsonFile(join(o.Project, ".claude", "settings.local.json"), "hooks", hooks),
			jsonFile(join(o.Project, ".mcp.json"), "MCP server", servers),
		}
	}
	state := join(o.Home, ".claude.json")
	if dir := o.dir(Claude); dir != join(o.Home, ".claude") {
		state = join(dir, ".claude.json")
	}
	return []file{
		jsonFile(join(o.dir(Claude), "settings.json"), "hooks", hooks),
		jsonFile(state, "MCP server", servers),
	}
}

// geminiFiles: times are milliseconds, and hooks have names, since Gemini shows them.
func (o Options) geminiFiles() []file {
	type handler struct {
		Type    string `json:"type"`
		Name    string `json:"name"`
		Command string `json:"command"`
		Timeout int    `json:"timeout"`
	}
	hook := func(event, matcher, name string) entry {
		return group(event, matcher, encode(handler{"command", "parley:" + name, o.command(Gemini), hookTime * 1000}))
	}
	const tools = "write_file|replace|run_shell_command"
	return []file{jsonFile(join(o.dir(Gemini), "settings.json"), "hooks, MCP server", []entry{
		hook("SessionStart", "", "start"), hook("BeforeAgent", "", "prompt"),
		hook("BeforeTool", tools, "before-edit"), hook("AfterTool", tools, "after-edit"),
		hook("AfterAgent", "", "turn-end"), hook("SessionEnd", "", "end"),
		server([]string{"mcpServers"}, encode(mcp{"", o.Parley, o.Server})),
	})}
}

// cursorFiles hold the generic hooks around a tool alone: Cursor fires the special ones as well.
func (o Options) cursorFiles() []file {
	type handler struct {
		Command string `json:"command"`
		Timeout int    `json:"timeout"`
		Matcher string `json:"matcher,omitempty"`
	}
	// The two spaces before the colon mark the member as parley's: it goes with the last hooks.
	const version = `"version"  : 1`
	entries := []entry{{
		spot: spot{ours: func(d *document, i item) bool { return d.text[i.start:i.value.end] == version && !d.others() }},
		text: version, lone: true,
	}}
	hook := func(event, matcher string) {
		entries = append(entries, entry{
			spot: spot{path: []string{"hooks", event}, array: true, ours: isHandler},
			text: encode(handler{o.command(Cursor), hookTime, matcher}),
		})
	}
	const tools = "Write|Delete|Shell"
	hook("sessionStart", "")
	hook("beforeSubmitPrompt", "")
	hook("preToolUse", tools)
	hook("postToolUse", tools)
	hook("postToolUseFailure", tools)
	hook("stop", "")
	hook("sessionEnd", "")
	return []file{
		jsonFile(join(o.dir(Cursor), "hooks.json"), "hooks", entries),
		jsonFile(join(o.dir(Cursor), "mcp.json"), "MCP server", []entry{server([]string{"mcpServers"}, encode(mcp{"", o.Parley, o.Server}))}),
	}
}

// openCodeFiles are a plugin of parley's own and the server's entry.
func (o Options) openCodeFiles(now func(string) (string, bool)) []file {
	type local struct {
		Type    string   `json:"type"`
		Command []string `json:"command"`
		Enabled bool     `json:"enabled"`
	}
	dir := o.dir(OpenCode)
	settings := join(dir, "opencode.json")
	if o.Project != "" {
		settings = join(o.Project, "opencode.json")
	}
	if _, there := now(settings + "c"); there {
		settings += "c"
	}
	plugin := strings.NewReplacer(`"@HOOK@"`, encode(o.Hook), `"@HOME@"`, encode(o.Node)).Replace(pluginText)
	return []file{
		ownFile(join(dir, "plugins", "parley.js"), "plugin", pluginMark, plugin),
		jsonFile(settings, "MCP server", []entry{server([]string{"mcp"}, encode(local{"local", append([]string{o.Parley}, o.Server...), true}))}),
	}
}

// command is the hook as one line for a shell.
func (o Options) command(agent string) string {
	return shellWord(o.Hook) + " " + agent + " " + shellWord(o.Node)
}

const plainRunes = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+:@%,="

// shellWord is a word as the system's shell takes it.
func shellWord(s string) string {
	plain := plainRunes
	if os.PathSeparator == '\\' {
		plain += `\`
	}
	if strings.Trim(s, plain) == "" && s != "" {
		return s
	}
	if runtime.GOOS == "windows" {
		return `"` + s + `"`
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
