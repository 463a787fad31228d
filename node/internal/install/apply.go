package install

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// BackupSuffix ends the name of the copy that is left beside a file, of how it was before the last change.
const BackupSuffix = ".parley-backup"

// Apply makes the change, whole or not at all. It refuses when the file has changed since it was planned: agents
// write some of these files themselves.
func (c Change) Apply() error {
	if c.Same() {
		return nil
	}
	if err := c.apply(); err != nil {
		return fmt.Errorf("%s: %w", c.Path, err)
	}
	return nil
}

func (c Change) apply() error {
	dir := filepath.Dir(c.real)
	if err := c.unchanged(); err != nil {
		return err
	}
	if c.Gone {
		if err := c.backup(); err != nil {
			return err
		}
		if err := os.Remove(c.real); err != nil {
			return err
		}
		return c.made.drop(dir)
	}
	if err := c.made.make(dir); err != nil {
		return err
	}
	if err := c.backup(); err != nil {
		return err
	}
	return write(c.real, c.After, c.mode, c.unchanged)
}

// unchanged holds the file against what was planned for.
func (c Change) unchanged() error {
	text, err := os.ReadFile(c.real)
	switch {
	case errors.Is(err, fs.ErrNotExist) && !c.Exists:
		return nil
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return err
	case err != nil || !c.Exists || string(text) != c.Before:
		return fmt.Errorf("was changed by somebody else just now: run it again")
	}
	return nil
}

func (c Change) backup() error {
	if !c.Exists || c.Before == "" {
		return nil
	}
	return write(c.real+BackupSuffix, c.Before, c.mode, func() error { return nil })
}

// write puts a text in a file's place; ready is asked last.
func write(path, text string, mode fs.FileMode, ready func() error) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".parley-*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // gone already once it was renamed
	_, err = f.WriteString(text)
	if err = errors.Join(err, f.Chmod(mode), f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := ready(); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

// Forget takes away what is left beside the file after it was given back: the copy of how it was, and the folders
// that parley made for it and that are empty. Beside a file that stays for another agent nothing is taken away.
func (c Change) Forget() error {
	if c.stays {
		return nil
	}
	err := os.Remove(c.real + BackupSuffix)
	switch never := errors.Is(err, fs.ErrNotExist); {
	case never && c.made.lost():
		return nil // parley did not change it, as far as anybody can tell
	case err != nil && !never:
		return err
	}
	if _, err := os.Stat(c.real); !errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return c.made.drop(filepath.Dir(c.real))
}
