package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parley-mesh/parley/node"
)

// A home is whatever folder a person names: their own one, too.
func TestUninstallDeletesNothingElseThatLiesInAHome(t *testing.T) {
	home := node.OpenHome(t.TempDir())
	own := []string{"config.toml", "identity.key.ab12", "data/ledger/000001.vlog", "data/ledger.unreadable-5/x", "mirrors/acme/shop.git/HEAD", "desk/x", ".tmp-17", "service.err"}
	theirs := []string{"thesis.tex", "data/survey.csv", ".ssh/id_ed25519"}
	for _, name := range append(own, theirs...) {
		file := filepath.Join(home.Dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	said, notes := printed(t, func(a *app) {
		if err := a.erase(doomedHome(home)); err != nil {
			t.Error(err)
		}
	})
	for _, name := range theirs {
		if text, err := os.ReadFile(filepath.Join(home.Dir, name)); string(text) != name {
			t.Errorf("%s: %q %v", name, text, err)
		}
	}
	for _, name := range own {
		if exists(filepath.Join(home.Dir, name)) {
			t.Errorf("%s stays", name)
		}
	}
	if strings.Contains(said, "Deleted "+home.Dir) || !strings.Contains(notes, home.Dir+" stays") {
		t.Errorf("it says that all is gone:\n%s%s", said, notes)
	}
}
