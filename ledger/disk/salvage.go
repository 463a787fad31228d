package disk

import (
	"errors"
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
	if s.o.look {
		return fmt.Errorf("%w: %v", errDamaged, err)
	}
	return s.salvage()
}

// errDamaged means that files cannot be read, or not as what they have to be.
var errDamaged = errors.New("damaged")

// damaged says so of an error in reading, unless it tells of the machine.
func damaged(err error) error {
	if ofSystem(err) {
		return err
	}
	return fmt.Errorf("%w: %w", errDamaged, err)
}

// salvage moves the closed database aside and opens a new one in its place.
func (s *Store) salvage() (err error) {
	if err := s.room(); err != nil {
		return fmt.Errorf("it is damaged and cannot be begun anew: %w", err)
	}
	if s.salvaged, err = moveAside(s.o.Dir); err != nil {
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

func (s *Store) tryOpen() error {
	return guarded(func() (err error) {
		s.db, err = badger.Open(s.badger())
		return err
	})
}

// guarded takes a panic for damage: Badger trusts lengths in files that it should have checked.
func guarded(read func() error) (err error) {
	defer func() {
		if fault := recover(); fault != nil {
			err = fmt.Errorf("%w: %v", errDamaged, fault)
		}
	}()
	return read()
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
