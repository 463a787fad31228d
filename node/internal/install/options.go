package install

import (
	"path/filepath"
	"strings"
)

// The agents that can be set up.
const (
	Claude   = "claude"
	Codex    = "codex"
	Gemini   = "gemini"
	OpenCode = "opencode"
	Cursor   = "cursor"
)

// Names are the agents, in the order in which they are told.
var Names = []string{Claude, Codex, Gemini, OpenCode, Cursor}

// Options say what to write, and where. Every path is absolute.
type Options struct {
	Home    string   // the person's home
	Node    string   // the node's home: the hooks ask its socket
	Own     string   // the home of a server whose arguments name none
	Hook    string   // the program that hooks start
	Parley  string   // the program that serves MCP
	Server  []string // its arguments
	Project string   // settings of the project in this directory; "": the person's own
	// Env is the environment, for the variables with which agents move their settings.
	Env func(string) string
	// TOML reads a TOML text.
	TOML func(text []byte) (map[string]any, error)
	// Trust marks parley's hooks as trusted for Codex, in a person's place.
	Trust bool
}

// file is one file of an agent's settings that parley writes into.
type file struct {
	path string
	what string // of parley's that stands there
	root string // where the file must really be, links followed
	// users are the agents that use a file in which no home is named: it stays while one of them has parley.
	users []string
	// put adds parley's part to a text; "" with exists false for a file that is not there.
	put func(text string, exists bool) (string, error)
	// take is the text without parley's part, as far as it is of a home that is meant; gone: without it there would be no file.
	take func(text string, of homes) (rest string, gone bool, err error)
}

// moved is a directory that an environment variable may name, else one in the person's home.
func (o Options) moved(variable string, name ...string) string {
	if dir := o.Env(variable); filepath.IsAbs(dir) {
		return dir
	}
	return filepath.Join(append([]string{o.Home}, name...)...)
}

// dir is where an agent keeps its settings.
func (o Options) dir(agent string) string {
	if o.Project != "" {
		return filepath.Join(o.Project, "."+agent)
	}
	switch agent {
	case Claude:
		return o.moved("CLAUDE_CONFIG_DIR", ".claude")
	case Codex:
		return o.moved("CODEX_HOME", ".codex")
	case OpenCode:
		return filepath.Join(o.moved("XDG_CONFIG_HOME", ".config"), "opencode")
	}
	return filepath.Join(o.Home, "."+agent)
}

// base is the directory that an agent's settings must stay in, links followed.
func (o Options) base(agent string) string {
	dir := o.dir(agent)
	switch {
	case o.Project != "":
		return o.Project
	case inside(o.Home, dir):
		return o.Home
	}
	return dir
}

// inside reports whether a path is a directory or lies in it.
func inside(dir, path string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// files are those of one agent; nil for a name that is no agent's. The order is that of writing.
func (o Options) files(agent string, now func(path string) (string, bool)) []file {
	var out []file
	switch agent {
	case Claude:
		out = o.claudeFiles()
	case Codex:
		out = o.codexFiles(now)
	case Gemini:
		out = o.geminiFiles()
	case OpenCode:
		out = o.openCodeFiles(now)
	case Cursor:
		out = o.cursorFiles()
	default:
		return nil
	}
	out = append(out, o.skillFiles(agent)...)
	for i := range out {
		out[i].root = o.base(agent)
		if !inside(out[i].root, out[i].path) {
			out[i].root = o.Home
		}
	}
	return out
}
