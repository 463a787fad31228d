package node

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"sync"

	"github.com/pelletier/go-toml/v2"

	"github.com/parley-mesh/parley/node/api"
	"github.com/parley-mesh/parley/node/core"
)

// SyncConflicts is the one standing conversation (P1).
const SyncConflicts = "sync-conflicts"

// Route is where a standing conversation goes on this computer: to a desk session's command, and whether it
// is on. It stands in routes.toml, which the program writes; without an entry [desk] of the settings counts.
type Route struct {
	// Argv is the command and its arguments; empty: the one of the settings.
	Argv []string `toml:"argv,omitempty"`
	// Off says that nothing is woken here.
	Off bool `toml:"off,omitempty"`
}

// RoutesPath is the file of the routes.
func (h Home) RoutesPath() string { return h.path("routes.toml") }

// Route reads where the standing conversation goes.
func (h Home) Route() (Route, error) {
	text, err := os.ReadFile(h.RoutesPath())
	if errors.Is(err, fs.ErrNotExist) {
		return Route{}, nil
	}
	if err != nil {
		return Route{}, err
	}
	var all map[string]Route
	if err := toml.Unmarshal(text, &all); err != nil {
		return Route{}, fmt.Errorf("%s: %w: %v", h.RoutesPath(), api.ErrConfig, err)
	}
	return all[SyncConflicts], nil
}

// SetRoute writes where the standing conversation goes.
func (h Home) SetRoute(r Route) error {
	if len(r.Argv) > 0 && r.Argv[0] == "" {
		return fmt.Errorf("route %s: %w: want a command", SyncConflicts, api.ErrUsage)
	}
	text, err := toml.Marshal(map[string]Route{SyncConflicts: r})
	if err != nil {
		return err
	}
	return writePrivate(h.RoutesPath(), text)
}

// Resolve is the desk that a route leads to; without a command nothing is routed.
func (r Route) Resolve(d DeskConfig) DeskConfig {
	switch {
	case r.Off:
		d.Argv = nil
	case len(r.Argv) > 0:
		d.Argv = slices.Clone(r.Argv)
	}
	return d
}

// routing is the route as the running node has it.
type routing struct {
	mu   sync.Mutex
	r    Route
	desk DeskConfig
}

func (r *routing) set(route Route, d DeskConfig) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.r, r.desk = route, route.Resolve(d)
}

func (r *routing) now() DeskConfig {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.desk
}

func (r *routing) on() bool { return len(r.now().Argv) > 0 }

// missing is what the route lacks, each with its fix (P10).
func (r *routing) missing() []core.Missing {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.r.Off:
		return []core.Missing{{What: "the conversation " + SyncConflicts + " is switched off on this computer", Fix: "parley route " + SyncConflicts + " on"}}
	case len(r.desk.Argv) == 0:
		return []core.Missing{{What: "no session routes the conversation " + SyncConflicts + " on this computer", Fix: "parley route " + SyncConflicts + " -- COMMAND"}}
	}
	return nil
}

// reroute reads the route again, after a person has changed it.
func (n *Node) reroute() error {
	route, err := n.home.Route()
	if err != nil {
		return err
	}
	n.route.set(route, n.cfg.Desk)
	return nil
}
