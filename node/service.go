package node

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/pelletier/go-toml/v2"

	"github.com/parley-mesh/parley/node/api"
)

// Surroundings are where the programs lie that a node needs, as its person saw them when the service was
// installed. A service is started without a shell, so it would not find most of them. They stand in
// service.toml, which the program writes.
type Surroundings struct {
	// Program is the absolute path of parley.
	Program string `toml:"program"`
	// Git and Gh are the absolute paths of both; Gh is "" where it was not there.
	Git string `toml:"git"`
	Gh  string `toml:"gh,omitempty"`
	// Path are the folders in which programs are looked for, agents among them, in this order.
	Path []string `toml:"path"`
	// Made are the folders that were made for the service's definition, the innermost first.
	Made []string `toml:"made,omitempty"`
}

// SurroundingsPath is the file of the surroundings.
func (h Home) SurroundingsPath() string { return h.path("service.toml") }

// Surroundings reads them; os.ErrNotExist when no service was installed.
func (h Home) Surroundings() (Surroundings, error) {
	var s Surroundings
	text, err := os.ReadFile(h.SurroundingsPath())
	if err != nil {
		return s, err
	}
	if err := toml.Unmarshal(text, &s); err != nil {
		return s, api.WithHint(fmt.Errorf("%s: %w: %v", h.SurroundingsPath(), api.ErrConfig, err), "run parley service install")
	}
	return s, nil
}

// SetSurroundings keeps them.
func (h Home) SetSurroundings(s Surroundings) error {
	text, err := toml.Marshal(s)
	if err != nil {
		return err
	}
	return writePrivate(h.SurroundingsPath(), text)
}

// ForgetSurroundings takes them away; what is not there is forgotten already.
func (h Home) ForgetSurroundings() error {
	if err := os.Remove(h.SurroundingsPath()); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
