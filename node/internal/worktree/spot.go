package worktree

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
	"syscall"
)

// spot is a path of the working tree, reached from the top by directory handles without following a link. What
// happens to the names on the way afterwards cannot lead it elsewhere.
type spot struct {
	roots []*os.Root // the top and every directory on the way; the last one is the parent
	names []string   // their names; names[0] is the top's
	name  string
	there bool // something is at the path
}

// oddError says why a path is not treated as an ordinary file.
type oddError Oddity

func (e oddError) Error() string { return string(e) }

// openSpot walks to the parent of p. os.Root alone is not enough: it follows links that stay inside, and a link
// to .git stays inside. With create set, missing directories are made; without, they are fs.ErrNotExist.
func (c *Checkout) openSpot(p string, create bool) (*spot, error) {
	top, err := os.OpenRoot(c.top)
	if err != nil {
		return nil, err
	}
	s := &spot{roots: []*os.Root{top}, names: []string{"."}, name: path.Base(p)}
	if dir := path.Dir(p); dir != "." {
		for name := range strings.SplitSeq(dir, "/") {
			if err := s.enter(name, create); err != nil {
				return nil, errors.Join(err, s.close())
			}
		}
	}
	if s.there, err = exactly(s.parent(), s.name); err != nil {
		return nil, errors.Join(err, s.close())
	}
	return s, nil
}

func (s *spot) parent() *os.Root { return s.roots[len(s.roots)-1] }

func (s *spot) close() error {
	var errs []error
	for _, r := range s.roots {
		errs = append(errs, r.Close())
	}
	return errors.Join(errs...)
}

// enter goes one directory down.
func (s *spot) enter(name string, create bool) error {
	parent := s.parent()
	there, err := exactly(parent, name)
	if err != nil {
		return err
	}
	if !there && create {
		if err := parent.Mkdir(name, 0o777); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
	} else if !there {
		return fs.ErrNotExist
	}
	want, err := parent.Lstat(name)
	if err != nil {
		return err
	}
	if want.Mode()&fs.ModeSymlink != 0 {
		return oddError(OddSymlink)
	}
	if !want.IsDir() {
		return fs.ErrNotExist // a file stands where the directory would be
	}
	sub, err := parent.OpenRoot(name)
	if err != nil {
		return err
	}
	s.roots, s.names = append(s.roots, sub), append(s.names, name)
	got, err := sub.Stat(".")
	if err != nil {
		return err
	}
	if !os.SameFile(want, got) {
		return oddError(OddMoving)
	}
	if _, err := sub.Lstat(".git"); err == nil {
		return oddError(OddNested)
	}
	return nil
}

// exactly reports whether the directory has this name, byte for byte. A name that a case-insensitive file
// system would take for it is an oddity, and so is one that this file system does take for it, by whatever rule.
func exactly(dir *os.Root, name string) (bool, error) {
	for range 2 { // a file may appear between the listing and the question
		found, err := listed(dir, name)
		if found || err != nil {
			return found, err
		}
		switch err := lookUp(dir, name); {
		case errors.Is(err, fs.ErrNotExist):
			return false, nil
		case err != nil:
			return false, err
		}
	}
	return false, oddError(OddFolded)
}

// lookUp asks the file system for a name. The tests put one in its place that folds and normalizes names.
var lookUp = func(dir *os.Root, name string) error {
	_, err := dir.Lstat(name)
	return err
}

func listed(dir *os.Root, name string) (bool, error) {
	d, err := dir.Open(".")
	if err != nil {
		return false, err
	}
	names, err := d.Readdirnames(-1)
	if err := errors.Join(err, d.Close()); err != nil {
		return false, err
	}
	found := false
	for _, n := range names {
		switch {
		case n == name:
			found = true
		case strings.EqualFold(n, name):
			return false, oddError(OddTwin)
		}
	}
	return found, nil
}

// maxFile is the size over which a working file is left alone.
const maxFile = 256 << 20

// readRegular reads a file that must be a regular one, and none that a link leads to.
func readRegular(dir *os.Root, name string) ([]byte, fs.FileInfo, error) {
	want, err := dir.Lstat(name)
	if err != nil {
		return nil, nil, err
	}
	switch {
	case want.Mode()&fs.ModeSymlink != 0:
		return nil, want, oddError(OddSymlink)
	case want.IsDir():
		return nil, want, oddError(OddDirectory)
	case !want.Mode().IsRegular():
		return nil, want, oddError(OddSpecial)
	case want.Size() > maxFile:
		return nil, want, oddError(OddTooLarge)
	}
	// Should it become a pipe in this moment, opening it must not wait for a writer.
	f, err := dir.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, nil, err
	}
	got, err := f.Stat()
	if err == nil && !os.SameFile(want, got) {
		err = oddError(OddMoving)
	}
	var body []byte
	if err == nil {
		body, err = io.ReadAll(io.LimitReader(f, maxFile+1))
	}
	return body, got, errors.Join(err, f.Close())
}

// pruneEmpty removes the directories that a deletion left empty, as git does. The file is gone already, so a
// directory that cannot be removed is no failure.
func (s *spot) pruneEmpty() {
	for i := len(s.roots) - 1; i > 0; i-- {
		if s.roots[i-1].Remove(s.names[i]) != nil {
			return
		}
	}
}

// pruneAround removes the directories that a deletion before a crash left empty.
func (c *Checkout) pruneAround(p string) error {
	s, err := c.openSpot(p, false)
	if _, odd := errors.AsType[oddError](err); odd || errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	s.pruneEmpty()
	return s.close()
}

// handle opens the directory itself for the calls that take handles.
func handle(dir *os.Root) (*os.File, error) {
	f, err := dir.Open(".")
	if err != nil {
		return nil, fmt.Errorf("open directory: %w", err)
	}
	return f, nil
}
