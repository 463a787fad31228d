package disk

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/dgraph-io/badger/v4"
)

// openOrSalvage opens the database of the locked directory. One that Badger cannot read, for another
// reason than the system's, is moved aside for a new one.
func (s *Store) openOrSalvage() error {
	if err := setEmptyFilesAside(s.o.Dir); err != nil {
		return err
	}
	err := s.tryOpen()
	if err == nil {
		return nil
	}
	if strings.Contains(err.Error(), "Another process is using this Badger database") {
		return ErrLocked
	}
	if ofSystem(err) {
		return err
	}
	s.salvaged, err = moveAside(s.o.Dir)
	if err != nil {
		return err
	}
	s.unlock()
	s.unlock = func() {}
	unlock, err := lockDir(s.o.Dir)
	if err != nil {
		return err
	}
	s.unlock = unlock
	return s.tryOpen()
}

// tryOpen takes a panic over damaged files for an error.
func (s *Store) tryOpen() (err error) {
	defer func() {
		if fault := recover(); fault != nil {
			err = fmt.Errorf("unreadable: %v", fault)
		}
	}()
	s.db, err = badger.Open(s.badger())
	return err
}

// ofSystem reports whether an error tells of the machine rather than of the database: no file handles
// left, no permission. Badger passes on the text of such errors and drops their type.
func ofSystem(err error) bool {
	for _, n := range []syscall.Errno{
		syscall.EACCES, syscall.EPERM, syscall.EROFS, syscall.EMFILE, syscall.ENFILE, syscall.ENOMEM,
		syscall.ENOSPC, syscall.EDQUOT, syscall.EIO,
	} {
		if strings.Contains(err.Error(), n.Error()) {
			return true
		}
	}
	return false
}

// moveAside renames a directory and makes an empty one in its place.
func moveAside(dir string) (string, error) {
	aside := fmt.Sprintf("%s.unreadable-%d", dir, time.Now().UnixNano())
	if err := os.Rename(dir, aside); err != nil {
		return "", err
	}
	return aside, os.MkdirAll(dir, 0o700)
}

// setEmptyFilesAside renames files that a crash left without a byte; Badger refuses to start over them.
func setEmptyFilesAside(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if ext := filepath.Ext(e.Name()); ext != ".mem" && ext != ".vlog" {
			continue
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		if info.Mode().IsRegular() && info.Size() == 0 {
			path := filepath.Join(dir, e.Name())
			if err := os.Rename(path, path+".empty"); err != nil {
				return err
			}
		}
	}
	return nil
}
