package worktree

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// replacedBy begins the reason of everything that a replacement displaced.
const replacedBy = "replaced by "

// taken ends a replacement that went through: what was displaced is kept, and the operation told.
func (r *replacement) taken() error {
	if err := r.keep(replacedBy + r.describe()); err != nil {
		return err
	}
	return r.told()
}

// told lets the operation know and removes the record.
func (r *replacement) told() error {
	if err := r.c.noteStep(r.note, r.id); err != nil {
		return err
	}
	r.c.at("told")
	return os.Remove(r.noteFile())
}

// kept keeps what was displaced by a replacement that did not go through.
func (r *replacement) kept(why string) error {
	if err := r.keep(why); err != nil {
		return err
	}
	return os.Remove(r.noteFile())
}

// keep moves what was displaced into the kept directory. The note is there before the file, and the record stays,
// so that a killed parley finds its way at every point.
func (r *replacement) keep(why string) error {
	r.note.Why = why
	note := r.note
	note.Beside = ""
	kept := r.c.workArea(keptDir)
	if err := writeRecord(filepath.Join(kept, r.id+".json"), note); err != nil {
		return err
	}
	r.c.at("noted")
	into, err := os.Open(kept)
	if err != nil {
		return err
	}
	err = moveNew(r.tdir, r.name, into, r.id)
	if errors.Is(err, errOtherDevice) {
		err = r.carry(filepath.Join(kept, r.id))
	}
	err = errors.Join(err, r.dirSync(), into.Sync(), into.Close())
	if err != nil {
		return err
	}
	r.c.at("kept")
	return nil
}

func (r *replacement) dirSync() error {
	if r.dir == nil {
		return r.tdir.Sync()
	}
	return r.sync()
}

// carry copies the displaced file to another file system.
func (r *replacement) carry(to string) error {
	body, fi, err := readRegular(r.tmp, r.name)
	if err != nil {
		return err // it stays where it is, under its record
	}
	if err := writeSynced(to, body, fi.Mode().Perm()); err != nil {
		return err
	}
	return r.tmp.Remove(r.name)
}

// excludeBeside makes sure that nobody's `git add -A` picks up a temporary file in the working tree.
func (c *Checkout) excludeBeside() error {
	file := filepath.Join(c.common, "info", "exclude")
	body, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for line := range strings.Lines(string(body)) {
		if strings.TrimSpace(line) == besidePattern {
			return nil
		}
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
		return err
	}
	if len(body) > 0 && body[len(body)-1] != '\n' {
		body = append(body, '\n')
	}
	return writeSynced(file, append(body, besidePattern+"\n"...), 0o666)
}

// healReplacements ends every replacement of this working tree that a killed parley left.
func (c *Checkout) healReplacements(ctx context.Context) error {
	left, err := os.ReadDir(c.workArea(tmpDir))
	if err != nil {
		return err
	}
	records := map[string]bool{}
	for _, e := range left {
		if id, ok := strings.CutSuffix(e.Name(), ".json"); ok {
			records[id] = true
		}
	}
	var errs []error
	for _, e := range left {
		name := e.Name()
		id, isRecord := strings.CutSuffix(name, ".json")
		switch {
		case isRecord:
			if err := c.healOne(id); err != nil {
				errs = append(errs, fmt.Errorf("end replacement %s: %w", id, err))
			}
		case !records[name]: // written, but never in place
			errs = append(errs, os.Remove(c.workArea(tmpDir, name)))
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return errors.Join(errs...)
}

// healOne decides by content what the temporary file of a killed replacement is: our own new version that never
// got into place, the displaced version that was known, or one that was written in the last moment and belongs
// back.
func (c *Checkout) healOne(id string) error {
	r := &replacement{c: c, id: id}
	var err error
	if r.note, err = readRecord(r.noteFile()); err != nil {
		return err
	}
	if r.note.Worktree != c.top {
		return nil
	}
	r.want, r.name, r.was.Path = r.note.Want, id, r.note.Path
	open := func() (*os.Root, error) { return os.OpenRoot(c.workArea(tmpDir)) }
	if s, err := c.openSpot(r.note.Path, false); err == nil {
		r.at = s
		defer func() { _ = s.close() }() // read-only handles
		if r.dir, err = handle(s.parent()); err != nil {
			return err
		}
		defer func() { _ = r.dir.Close() }()
	}
	if r.note.Beside != "" {
		if r.at == nil {
			return os.Remove(r.noteFile()) // its directory is gone, and the file with it
		}
		r.name = r.note.Beside
		open = func() (*os.Root, error) { return r.at.parent().OpenRoot(".") }
	}
	if r.tmp, err = open(); err != nil {
		return err
	}
	defer func() { _ = r.tmp.Close() }()
	if r.tdir, err = handle(r.tmp); err != nil {
		return err
	}
	defer func() { _ = r.tdir.Close() }()
	return r.heal()
}

func (r *replacement) heal() error {
	sum, err := sumIn(r.tmp, r.name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return r.ended() // nothing was staged, or all was done
	case err != nil:
		return err
	case sum != "" && sum == r.note.Ours && !r.onlyModeDiffers():
		return r.discard()
	case sum != "" && sum == r.note.Before:
		r.note.Displaced = sum
		return r.taken()
	}
	r.note.Blob, r.note.Mode, r.note.Displaced = "", "", sum
	if back, err := r.mayGoBack(); err != nil {
		return err
	} else if back {
		err := r.putBack(nil)
		return err
	}
	return r.kept("written in the last moment before parley stopped")
}

// ended tells the operation of a move that was complete but for the telling.
func (r *replacement) ended() error {
	if r.note.Before == "" {
		if in, err := r.mayGoBack(); err != nil || !in {
			return errors.Join(err, os.Remove(r.noteFile()))
		}
		return r.told()
	}
	note, err := readRecord(filepath.Join(r.c.workArea(keptDir), r.id+".json"))
	if errors.Is(err, fs.ErrNotExist) || err == nil && !strings.HasPrefix(note.Why, replacedBy) {
		return os.Remove(r.noteFile())
	}
	if err != nil {
		return err
	}
	if _, err := os.Lstat(filepath.Join(r.c.workArea(keptDir), r.id)); err != nil {
		return os.Remove(r.noteFile())
	}
	return r.told()
}

// onlyModeDiffers: the old and the new version have the same bytes, and the temporary file is the old one by its
// executable bit.
func (r *replacement) onlyModeDiffers() bool {
	if r.note.Ours != r.note.Before {
		return false
	}
	fi, err := r.tmp.Lstat(r.name)
	return err == nil && r.c.workMode(fi, Entry{}, Entry{}) != r.want.Mode
}

// mayGoBack: the path still holds what we put there.
func (r *replacement) mayGoBack() (bool, error) {
	if r.at == nil {
		return false, nil
	}
	if r.want.Absent() {
		return !r.at.there, nil
	}
	sum, err := sumIn(r.at.parent(), r.at.name)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return sum == r.note.Ours, err
}
