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

// indexLockMark begins our index.lock. git's own lock never does, so a lock that a killed parley left is told
// from a person's. The branch and the commit that it is to move to follow, a line each.
const indexLockMark = "held by parley\n"

// The names of our working copies of the index, in the git directory so that a rename or a link moves them.
const (
	newIndex  = "parley.index"
	oldIndex  = "parley.index.old"
	markIndex = "parley.index.mark"
)

func (c *Checkout) gitFile(name string) string { return filepath.Join(c.gitDir, name) }

// lockIndex takes git's own lock of the index, so that no git command of a person can commit, check out or stage
// meanwhile.
func (c *Checkout) lockIndex(base string, tip OID) (release func() error, err error) {
	lock, marked := c.gitFile("index.lock"), c.gitFile(markIndex)
	if err := writeSynced(marked, []byte(indexLockMark+base+"\n"+string(tip)+"\n"), 0o600); err != nil {
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

// ownIndexLock reads what our lock is about; own is false for a person's lock or none.
func (c *Checkout) ownIndexLock() (base string, tip OID, own bool) {
	body, err := os.ReadFile(c.gitFile("index.lock"))
	rest, own := strings.CutPrefix(string(body), indexLockMark)
	if err != nil || !own {
		return "", "", false
	}
	lines := strings.Split(rest, "\n")
	if len(lines) != 3 {
		return "", "", false
	}
	return lines[0], OID(lines[1]), true
}

// healIndexLock ends what a killed parley held our lock for; the caller is the only parley, so its holder is
// dead, and nobody else has touched the index since. An index whose branch did not follow goes back.
func (c *Checkout) healIndexLock(ctx context.Context) error {
	if err := removeAny(c.gitFile(markIndex)); err != nil {
		return err
	}
	base, tip, own := c.ownIndexLock()
	if !own { // not ours any more, so neither is the index
		return removeAny(c.gitFile(newIndex), c.gitFile(newIndex+".lock"), c.gitFile(oldIndex))
	}
	at, err := c.LocalBranch(ctx, base)
	if err != nil {
		return err
	}
	if at != tip {
		if err := c.restoreIndex(); err != nil {
			return err
		}
	}
	return removeAny(c.gitFile(newIndex), c.gitFile(newIndex+".lock"), c.gitFile(oldIndex), c.gitFile("index.lock"))
}

// restoreIndex puts the index back that a move set aside, if it got that far.
func (c *Checkout) restoreIndex() error {
	err := os.Rename(c.gitFile(oldIndex), c.gitFile("index"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// removeAny removes files, in order, whether or not they are there.
func removeAny(files ...string) error {
	for _, f := range files {
		if err := os.Remove(f); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// moveIndexAndRef moves the index and then the branch, under the index lock. An index ahead of its branch shows
// the new content as staged, which loses nothing; the other order would show its reversal as staged.
func (f *forward) moveIndexAndRef(ctx context.Context, changes []change) (err error) {
	release, err := f.c.lockIndex(f.base, f.tip)
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
	if err := f.moveIndex(ctx, changes); err != nil {
		return fmt.Errorf("index: %w", err)
	}
	f.c.at("index")
	// From here on a shutdown must not leave the two apart.
	ctx = context.WithoutCancel(ctx)
	if err := f.moveRef(ctx); err != nil {
		at, unread := f.c.LocalBranch(ctx, f.base)
		if unread != nil {
			return errors.Join(err, unread)
		}
		if at != f.tip {
			return errors.Join(err, f.c.restoreIndex())
		}
	}
	f.c.at("ref")
	return removeAny(f.c.gitFile(oldIndex))
}

// moveIndex edits a copy of the index and renames it into place, if there is anything to edit. The former index
// is set aside first.
func (f *forward) moveIndex(ctx context.Context, changes []change) error {
	index, draft := f.c.gitFile("index"), f.c.gitFile(newIndex)
	if err := removeAny(draft, draft+".lock", f.c.gitFile(oldIndex)); err != nil {
		return err
	}
	body, err := os.ReadFile(index)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	fi, err := os.Stat(index)
	if err != nil {
		return err
	}
	if err := writeSynced(draft, body, fi.Mode().Perm()); err != nil {
		return err
	}
	f.c.at("draft")
	edited, err := f.editIndex(ctx, draft, changes)
	if err != nil || !edited {
		return errors.Join(err, removeAny(draft))
	}
	if err := os.Link(index, f.c.gitFile(oldIndex)); err != nil {
		return err
	}
	f.c.at("aside")
	if err := os.Rename(draft, index); err != nil {
		return err
	}
	return syncDir(f.c.gitDir)
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
