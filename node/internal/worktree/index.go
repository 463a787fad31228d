package worktree

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// indexLockMark is what our index.lock says. git's own lock never does, so a lock that a killed parley left is
// told from a person's.
const indexLockMark = "held by parley\n"

// The names of our working copies of the index, in the git directory so that a rename moves them.
const (
	newIndex = "parley.index"
	oldIndex = "parley.index.old"
)

// lockIndex takes git's own lock of the index, so that no git command of a person can commit, check out or stage
// meanwhile.
func (c *Checkout) lockIndex() (release func() error, err error) {
	lock := filepath.Join(c.gitDir, "index.lock")
	marked := filepath.Join(c.gitDir, newIndex+".mark")
	if err := writeSynced(marked, []byte(indexLockMark), 0o600); err != nil {
		return nil, err
	}
	// A link appears with its content, and not at all if the name is taken.
	err = os.Link(marked, lock)
	if gone := os.Remove(marked); err == nil {
		err = gone
	}
	if errors.Is(err, fs.ErrExist) {
		return nil, fmt.Errorf("%w: a git command is going on", ErrBusy)
	}
	if err != nil {
		return nil, err
	}
	return func() error { return os.Remove(lock) }, nil
}

func (c *Checkout) ownIndexLock() bool {
	body, err := os.ReadFile(filepath.Join(c.gitDir, "index.lock"))
	return err == nil && string(body) == indexLockMark
}

// healIndexLock removes our own lock; the caller is the only parley, so its holder is dead. What it was about is
// completed by the next fast-forward.
func (c *Checkout) healIndexLock() error {
	if !c.ownIndexLock() {
		return nil
	}
	return os.Remove(filepath.Join(c.gitDir, "index.lock"))
}

// moveIndexAndRef moves the index and then the branch, under the index lock. An index ahead of its branch shows
// the new content as staged, which loses nothing; the other order would show its reversal as staged.
func (f *forward) moveIndexAndRef(ctx context.Context, changes []change) (err error) {
	release, err := f.c.lockIndex()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, release()) }()
	f.c.at("locked")
	st, err := f.c.State(ctx)
	if err != nil {
		return err
	}
	if st.Branch != f.base || st.Head != f.old {
		return fmt.Errorf("%w: the branch moved meanwhile", ErrBusy)
	}
	moved, err := f.moveIndex(ctx, changes)
	if err != nil {
		return fmt.Errorf("index: %w", err)
	}
	f.c.at("index")
	if err := f.moveRef(ctx); err != nil {
		return errors.Join(err, f.restoreIndex(moved))
	}
	f.c.at("ref")
	_ = os.Remove(filepath.Join(f.c.gitDir, oldIndex)) // only a spare copy
	return nil
}

// moveIndex edits a copy of the index and renames it into place. It reports whether there was anything to edit.
func (f *forward) moveIndex(ctx context.Context, changes []change) (bool, error) {
	index, draft := filepath.Join(f.c.gitDir, "index"), filepath.Join(f.c.gitDir, newIndex)
	for _, left := range []string{draft, draft + ".lock"} {
		if err := os.Remove(left); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return false, err
		}
	}
	body, err := os.ReadFile(index)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	fi, err := os.Stat(index)
	if err != nil {
		return false, err
	}
	for _, file := range []string{draft, filepath.Join(f.c.gitDir, oldIndex)} {
		if err := writeSynced(file, body, fi.Mode().Perm()); err != nil {
			return false, err
		}
	}
	edited, err := f.editIndex(ctx, draft, changes)
	if err != nil || !edited {
		return false, errors.Join(err, os.Remove(draft))
	}
	if err := os.Rename(draft, index); err != nil {
		return false, err
	}
	return true, syncDir(f.c.gitDir)
}

func (f *forward) restoreIndex(moved bool) error {
	if !moved {
		return nil
	}
	return os.Rename(filepath.Join(f.c.gitDir, oldIndex), filepath.Join(f.c.gitDir, "index"))
}

// editIndex moves those entries from the old tip's to the new one's that a person has not staged something else
// for.
func (f *forward) editIndex(ctx context.Context, draft string, changes []change) (bool, error) {
	env := []string{"GIT_INDEX_FILE=" + draft}
	paths := make([]string, len(changes))
	for i, ch := range changes {
		paths[i] = ch.path
	}
	have, err := f.c.indexEntries(ctx, paths, env)
	if err != nil {
		return false, err
	}
	var lines strings.Builder
	flags := map[string][]string{}
	for _, ch := range changes {
		e := have[ch.path]
		if e.odd == OddUnmerged || e.Entry != ch.old {
			continue
		}
		if ch.new.Absent() {
			fmt.Fprintf(&lines, "0 %s\t%s\x00", strings.Repeat("0", len(f.tip)), ch.path)
			continue
		}
		fmt.Fprintf(&lines, "%s %s\t%s\x00", ch.new.Mode, ch.new.OID, ch.path)
		if e.flag != "" {
			flags[e.flag] = append(flags[e.flag], ch.path)
		}
	}
	if lines.Len() == 0 {
		return false, nil
	}
	if _, err := f.c.git.must(ctx, call{args: []string{"update-index", "-z", "--index-info"}, stdin: strings.NewReader(lines.String()), env: env}); err != nil {
		return false, err
	}
	for _, flag := range slices.Sorted(maps.Keys(flags)) {
		in := strings.NewReader(strings.Join(flags[flag], "\x00") + "\x00")
		if _, err := f.c.git.must(ctx, call{args: []string{"update-index", "-z", flag, "--stdin"}, stdin: in, env: env}); err != nil {
			return false, err
		}
	}
	// Exit 1 says that some file differs from the index, which is as may be.
	_, err = f.c.git.ask(ctx, call{args: []string{"update-index", "-q", "--refresh"}, env: env})
	return true, err
}
