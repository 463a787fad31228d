package install

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// MadeFile is the file in the node's home that lists the folders which parley made for agents' settings, one a line: only
// those are taken away again once they are empty.
const MadeFile = "agents-made"

// folders is the list of the folders that a node made.
type folders struct{ path string }

func (m folders) list() []string {
	text, err := os.ReadFile(m.path)
	if err != nil {
		return nil // without it nothing is known to be parley's
	}
	return strings.FieldsFunc(string(text), func(r rune) bool { return r == '\n' })
}

func (m folders) save(dirs []string) error {
	if len(dirs) == 0 {
		if err := os.Remove(m.path); err != nil && !os.IsNotExist(err) {
			return err
		}
		return nil
	}
	return write(m.path, strings.Join(dirs, "\n")+"\n", 0o600, func() error { return nil })
}

// make makes a folder and those above it that are not there, and remembers them.
func (m folders) make(dir string) error {
	dirs, all := m.list(), []string{}
	for at := dir; ; at = filepath.Dir(at) {
		if _, err := os.Stat(at); err == nil || filepath.Dir(at) == at {
			break
		}
		all = append(all, at)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	for _, at := range all {
		if !slices.Contains(dirs, at) && !strings.ContainsRune(at, '\n') {
			dirs = append(dirs, at)
		}
	}
	if len(all) == 0 {
		return nil
	}
	return m.save(dirs)
}

// lost reports whether the home is gone, and with it what it knew.
func (m folders) lost() bool {
	_, err := os.Stat(filepath.Dir(m.path))
	return os.IsNotExist(err)
}

// guessed is how many folders above a file that was parley's are taken for its own where nobody knows any more: those of a
// skill, of the skills, and of the agent.
const guessed = 3

// drop takes a folder away that parley made and that is empty, and so on upwards.
func (m folders) drop(dir string) error {
	if m.lost() {
		for range guessed {
			if os.Remove(dir) != nil {
				break
			}
			dir = filepath.Dir(dir)
		}
		return nil
	}
	dirs := m.list()
	before := len(dirs)
	for slices.Contains(dirs, dir) {
		if err := os.Remove(dir); err != nil && !os.IsNotExist(err) {
			break // others use it
		}
		dirs = slices.DeleteFunc(dirs, func(at string) bool { return at == dir })
		dir = filepath.Dir(dir)
	}
	if len(dirs) == before {
		return nil
	}
	return m.save(dirs)
}
