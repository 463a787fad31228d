package worktree

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// ErrNoRecord: there is nothing of that id, or no longer.
var ErrNoRecord = errors.New("there is no record of it")

// keptBytes reads a kept file as it is now: a program that still had it open may have written to it.
func (c *Checkout) keptBytes(name string) (body []byte, e Entry, gone bool, err error) {
	file := c.workArea(keptDir, name)
	note, err := readRecord(file + ".json")
	if errors.Is(err, fs.ErrNotExist) {
		return nil, e, true, nil
	}
	if err != nil {
		return nil, e, false, err
	}
	dir, err := os.OpenRoot(filepath.Dir(file))
	if err != nil {
		return nil, e, false, err
	}
	defer func() { err = errors.Join(err, dir.Close()) }()
	body, fi, err := readRegular(dir, name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, e, true, nil
	}
	if err != nil {
		return nil, e, false, err
	}
	if body == nil {
		body = []byte{}
	}
	e = Entry{Mode: note.Mode, OID: note.Blob}
	if e.Mode == "" { // nobody knew it
		e.Mode = c.workMode(fi, Entry{}, Entry{})
	}
	if e.Absent() || sumOf(body) != note.Displaced {
		e.OID = c.blobID(body)
	}
	return body, e, false, nil
}

// KeptNamed finds a kept file by its id and reads its content as it is now. Errors: ErrNoRecord.
func (c *Checkout) KeptNamed(ctx context.Context, id string) (KeptFile, []byte, error) {
	list, err := c.Kept(ctx)
	if err != nil {
		return KeptFile{}, nil, err
	}
	for _, k := range list {
		if k.ID != id {
			continue
		}
		body, _, gone, err := c.keptBytes(filepath.Base(k.File))
		if err == nil && gone {
			err = ErrNoRecord
		}
		if err != nil {
			return KeptFile{}, nil, fmt.Errorf("kept file %s: %w", id, err)
		}
		return k, body, nil
	}
	return KeptFile{}, nil, fmt.Errorf("kept file %s: %w in %s", id, ErrNoRecord, c.top)
}

// Restore puts kept content back at its path, with the executable bit that it had. What stands there now, known or
// not, is kept in turn, and the kept content stays where it is, so nothing is lost by any number of restorings.
// Errors: ErrNoRecord (also for what was taken out of another working tree), ErrBusy, ErrRefused (something that is
// no ordinary file stands at the path or on the way to it, or the checkout does not stand on its base branch),
// ErrUnknownContent (somebody wrote to the path in this moment). With each of them nothing has changed.
func (c *Checkout) Restore(ctx context.Context, id string) (Outcome, error) {
	done, err := c.restore(ctx, id)
	if err != nil {
		return 0, fmt.Errorf("restore %s: %w", id, err)
	}
	return done, nil
}

func (c *Checkout) restore(ctx context.Context, id string) (Outcome, error) {
	release, err := c.exclusive(ctx)
	if err != nil {
		return 0, err
	}
	defer release()
	k, _, err := c.KeptNamed(ctx, id)
	if err != nil {
		return 0, err
	}
	body, want, gone, err := c.keptBytes(filepath.Base(k.File))
	if err != nil || gone {
		return 0, errors.Join(err, ErrNoRecord)
	}
	st, err := c.State(ctx)
	if err == nil {
		err = c.writable(st)
	}
	if err != nil {
		return 0, err
	}
	all, err := c.inspect(ctx, st.Head, []string{k.Path})
	if err != nil {
		return 0, err
	}
	why := "Kept content was put back: " + k.Path + "."
	return c.logged(opHead{Kind: OpRestore, Why: why}, func(op string) (Outcome, error) {
		return c.put(ctx, st, all[0], putting{want: want, raw: body, op: op})
	})
}
