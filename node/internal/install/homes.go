package install

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// homes are the nodes' homes that something of parley's may belong to, since several may be on one computer. What names
// no home belongs to all of them.
type homes struct {
	only  string          // "": every home
	own   string          // of a server whose arguments name none
	found map[string]bool // if not nil, the homes that were asked about
}

// every are all homes, this is the one that is meant.
func (o Options) every() homes { return homes{own: o.Own} }
func (o Options) this() homes  { return homes{only: o.Node, own: o.Own} }

func (h homes) has(home string) bool {
	if home != "" && h.found != nil {
		h.found[home] = true
	}
	return h.only == "" || home == "" || sameDir(home, h.only)
}

// served is the home of parley's MCP server, by its arguments.
func (h homes) served(args []string) string {
	if len(args) > 1 && args[0] == "--home" {
		return args[1]
	}
	return h.own
}

func sameDir(a, b string) bool {
	if filepath.Clean(a) == filepath.Clean(b) {
		return true
	}
	x, errX := os.Stat(a)
	y, errY := os.Stat(b)
	return errX == nil && errY == nil && os.SameFile(x, y)
}

// Others are the homes besides this one that an agent asks, by their names.
func (o Options) Others(agent string) []string {
	of := o.every()
	of.found = map[string]bool{}
	NewPlanner(o).present(agent, of)
	return slices.DeleteFunc(slices.Sorted(maps.Keys(of.found)), func(home string) bool { return sameDir(home, o.Node) })
}

// besides finds out about an agent that asks another home.
func (o Options) besides(f Finding, agent, home string) Finding {
	f.State, f.Text = Other, "asks the home "+home+", and not this one"
	switch _, err := os.Stat(home); {
	case err != nil:
		f.State, f.Text = Stale, "asks the home "+home+", which is not there"
	case NewPlanner(o).present(agent, o.this()):
		f.State, f.Text = Stale, "asks the home "+home+", too"
	}
	return f
}

// unquoted is the word that a shell reads in what [shellWord] wrote.
func unquoted(s string) string {
	if len(s) < 2 || s[0] != s[len(s)-1] {
		return s
	}
	switch s[0] {
	case '"':
		return s[1 : len(s)-1]
	case '\'':
		return strings.ReplaceAll(s[1:len(s)-1], `'\''`, "'")
	}
	return s
}
