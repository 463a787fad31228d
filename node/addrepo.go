package node

import (
	"os"
	"slices"

	"github.com/pelletier/go-toml/v2"
)

// AddRepository adds a checkout to the settings and leaves everything else in the file as its person wrote it. A
// running node sees it at its next start.
func (h Home) AddRepository(r RepositoryConfig) error {
	text, err := os.ReadFile(h.ConfigPath())
	if err != nil {
		return err
	}
	more, err := toml.Marshal(struct {
		Repositories []RepositoryConfig `toml:"repository"`
	}{[]RepositoryConfig{r}})
	if err != nil {
		return err
	}
	text = slices.Concat(text, []byte("\n"), more)
	if _, err := parseConfig(h.ConfigPath(), text); err != nil {
		return err
	}
	return writePrivate(h.ConfigPath(), text)
}
