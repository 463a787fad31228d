package node

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/parley-mesh/parley/node/internal/install"
)

// homeNames are the patterns of everything that parley puts into a home, at its top.
var homeNames = []string{
	ConfigFile, "identity.key", "identity.key.*", "approval.age", "approval.pub", "recovery.pub", "fleet",
	"data", "mirrors", "desk", "routes.toml", "log.jsonl", "log.jsonl.1", "hook-missed", "lock", "pid", "parley.sock",
	"passkeys.json", "page-port", "open.html", "mcp.token", install.MadeFile, "notices.toml", "notices.json",
	"service.toml", "service.err", "parley*-task.xml", ".tmp-*",
}

// Contents tells what parley put into the home apart from what else lies there: people name folders as a home that
// hold other things, too. Both are whole paths in the order of their names.
func (h Home) Contents() (own, others []string, err error) {
	entries, err := os.ReadDir(h.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil
	}
	for _, e := range entries {
		path := h.path(e.Name())
		switch {
		case !slices.ContainsFunc(homeNames, func(pattern string) bool { ok, _ := filepath.Match(pattern, e.Name()); return ok }):
			others = append(others, path)
		case e.Name() == "data":
			inside, beside := h.ledgers()
			own, others = append(own, inside...), append(others, beside...)
		default:
			own = append(own, path)
		}
	}
	return own, others, err
}

// ledgers is the folder of the data, if nothing but the ledgers is in it, and what could not be read of them.
func (h Home) ledgers() (own, others []string) {
	entries, err := os.ReadDir(h.path("data")) // one that cannot be read is not deleted either
	for _, e := range entries {
		path := h.path("data", e.Name())
		if e.Name() == "ledger" || strings.HasPrefix(e.Name(), "ledger.unreadable-") {
			own = append(own, path)
		} else {
			others = append(others, path)
		}
	}
	if err == nil && len(others) == 0 {
		own = []string{h.path("data")}
	}
	return own, others
}
