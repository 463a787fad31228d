package disk

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// lookingFree is what must stay free beside the copy that is looked at.
const lookingFree = 64 << 20

// OpenReadOnly opens a copy of a store whose node does not run, for looking. Badger's own read-only mode
// refuses a database that was not closed cleanly, as after kill -9, and opening it for writing would
// change it; so the few files are copied to a temporary directory, under the directory's lock, and Close
// removes them. A directory that is not there yet is an empty store. [ErrLocked] says that a node runs.
func OpenReadOnly(dir string) (*Store, error) { return openCopy(dir, false) }

func openCopy(dir string, unmended bool) (*Store, error) {
	s, err := look(dir, unmended)
	if err != nil {
		return nil, fmt.Errorf("look into ledger %s: %w", dir, err)
	}
	s.readOnly = true
	return s, nil
}

func look(dir string, unmended bool) (*Store, error) {
	unlock, err := lockDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return Open(Options{InMemory: true})
	}
	if err != nil {
		return nil, err
	}
	defer unlock()
	tmp, err := os.MkdirTemp("", "parley-ledger-")
	if err != nil {
		return nil, err
	}
	if err := copyFiles(dir, tmp); err != nil {
		return nil, errors.Join(err, os.RemoveAll(tmp))
	}
	s, err := Open(Options{Dir: tmp, MinFree: lookingFree, look: true, unmended: unmended})
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(tmp))
	}
	s.temporary = tmp
	return s, nil
}

func copyFiles(dir, to string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if !e.Type().IsRegular() || e.Name() == "LOCK" {
			continue
		}
		if free, known := freeBytes(to); known && free < lookingFree {
			return fmt.Errorf("%w: a copy of it does not fit in %s", ErrDiskLow, to)
		}
		if err := copySparse(filepath.Join(dir, e.Name()), filepath.Join(to, e.Name())); err != nil {
			return err
		}
	}
	return nil
}

// copySparse copies a file and leaves out blocks of zeros, of which Badger's logs mostly consist.
func copySparse(from, to string) (err error) {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	block, zeros := make([]byte, 64<<10), make([]byte, 64<<10)
	var size int64
	for {
		n, err := io.ReadFull(in, block)
		if n > 0 && string(block[:n]) != string(zeros[:n]) {
			if _, err := out.WriteAt(block[:n], size); err != nil {
				return err
			}
		}
		size += int64(n)
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return out.Truncate(size)
		}
		if err != nil {
			return err
		}
	}
}
