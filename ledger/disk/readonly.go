package disk

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// OpenReadOnly opens a copy of a store whose node does not run, for looking. Badger's own read-only mode
// refuses a database that was not closed cleanly, as after kill -9, and opening it for writing would
// change it; so the few files are copied to a temporary directory, which Close removes. A directory that
// is not there yet is an empty store. [ErrLocked] while a node runs on it is the caller's to avoid: a copy
// made meanwhile may be torn, and is then refused or short.
func OpenReadOnly(dir string) (*Store, error) {
	tmp, err := os.MkdirTemp("", "parley-ledger-")
	if err != nil {
		return nil, err
	}
	s, err := openCopy(dir, tmp)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("look into ledger %s: %w", dir, err), os.RemoveAll(tmp))
	}
	s.temporary = tmp
	return s, nil
}

func openCopy(dir, tmp string) (*Store, error) {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for _, e := range entries {
		if !e.Type().IsRegular() || e.Name() == "LOCK" {
			continue
		}
		content, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			return nil, err
		}
		if err := os.WriteFile(filepath.Join(tmp, e.Name()), content, 0o600); err != nil {
			return nil, err
		}
	}
	return Open(Options{Dir: tmp})
}
