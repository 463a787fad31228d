package worktree

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// FFResult is what a fast-forward did.
type FFResult struct {
	From     OID      // where the local base branch stood: the base for merging what is in Kept
	Moved    bool     // the local base branch now stands at the tip
	Kept     []string // changed paths whose working file stays, because it holds own work or is not replaceable
	Held     []string // changed paths whose working file stays, because hold said so
	Replaced int      // working files brought to the tip
	Why      string   // why nothing moved, as a sentence; empty when it moved or stood there already
}

// change is one path that differs between the old and the new tip.
type change struct {
	path     string
	old, new Entry
}

// FastForward brings the local base branch to tip, a commit of the mirror, if that only adds commits (P0). In a
// checkout that stands on base the working files go first, one by one and each by the rules of Replace, then the
// index, then the branch. A path for which hold says true keeps its working file, and so does one with content
// that known does not have; known is asked only for content that is in neither of the two tips. In a checkout
// that stands elsewhere the branch alone moves (D-10).
//
// Killed at any point, it is completed by being called again. Errors: ErrBusy (try again later).
func (c *Checkout) FastForward(ctx context.Context, base string, tip OID, mirror *Mirror,
	hold func(path string) bool, known func(path string) (*Known, error),
) (FFResult, error) {
	res, err := c.fastForward(ctx, base, tip, mirror, hold, known)
	if err != nil {
		return res, fmt.Errorf("fast-forward %s: %w", base, err)
	}
	return res, nil
}

func (c *Checkout) fastForward(ctx context.Context, base string, tip OID, mirror *Mirror,
	hold func(string) bool, known func(string) (*Known, error),
) (FFResult, error) {
	release, err := c.exclusive(ctx)
	if err != nil {
		return FFResult{}, err
	}
	defer release()
	old, err := c.LocalBranch(ctx, base)
	if err != nil || old == tip {
		return FFResult{}, err
	}
	if old == "" {
		return FFResult{Why: "There is no local branch " + base + "."}, nil
	}
	if why, err := mirror.growsTo(ctx, old, tip); err != nil || why != "" {
		return FFResult{Why: why}, err
	}
	st, err := c.State(ctx)
	if err != nil {
		return FFResult{}, err
	}
	if st.Busy != "" {
		return FFResult{}, fmt.Errorf("%w: %s is going on", ErrBusy, st.Busy)
	}
	f := &forward{c: c, base: base, old: old, tip: tip, mirror: mirror, st: st, hold: hold, known: known, res: FFResult{From: old}}
	if st.Branch != base {
		return f.moveElsewhere(ctx)
	}
	return f.moveHere(ctx)
}

// growsTo tells why old cannot simply be followed by tip, or "".
func (m *Mirror) growsTo(ctx context.Context, old, tip OID) (string, error) {
	has, err := m.CommitExists(ctx, old)
	if err != nil {
		return "", err
	}
	if !has {
		return "This computer has commits that are not on GitHub.", nil
	}
	grows, err := m.IsAncestor(ctx, old, tip)
	if err != nil || grows {
		return "", err
	}
	return "The local branch and GitHub's have both moved on.", nil
}

// forward is one run of FastForward.
type forward struct {
	c        *Checkout
	base     string
	old, tip OID
	mirror   *Mirror
	st       CheckoutState
	hold     func(string) bool
	known    func(string) (*Known, error)
	res      FFResult
}

// moveElsewhere moves the ref of a branch that nobody has checked out.
func (f *forward) moveElsewhere(ctx context.Context) (FFResult, error) {
	where, err := f.c.standsElsewhere(ctx, f.base)
	if err != nil {
		return FFResult{}, err
	}
	if where != "" {
		return FFResult{Why: f.base + " is checked out in " + where + "."}, nil
	}
	if err := f.bringObjects(ctx); err != nil {
		return FFResult{}, err
	}
	err = f.moveRef(ctx)
	f.res.Moved = err == nil
	return f.res, err
}

// standsElsewhere finds another working tree of the repository that has the branch checked out or is rebasing
// it.
func (c *Checkout) standsElsewhere(ctx context.Context, base string) (string, error) {
	out, err := c.git.must(ctx, call{args: []string{"worktree", "list", "--porcelain", "-z"}})
	if err != nil {
		return "", err
	}
	dir := ""
	for line := range strings.SplitSeq(string(out), "\x00") {
		if d, ok := strings.CutPrefix(line, "worktree "); ok {
			dir = d
		}
		if line == "branch refs/heads/"+base {
			return dir, nil
		}
	}
	heads, err := filepath.Glob(filepath.Join(globQuote(c.common), "worktrees", "*", "rebase-*", "head-name"))
	if err != nil {
		return "", err
	}
	heads = append(heads, filepath.Join(c.common, "rebase-merge", "head-name"), filepath.Join(c.common, "rebase-apply", "head-name"))
	for _, h := range heads {
		name, err := os.ReadFile(h)
		if err == nil && strings.TrimSpace(string(name)) == "refs/heads/"+base {
			return "a rebase", nil
		}
	}
	return "", nil
}

// bringObjects copies the new commits from the mirror. No ref, FETCH_HEAD or setting of the person's changes.
func (f *forward) bringObjects(ctx context.Context) error {
	c := call{
		args: []string{
			"fetch", "-q", "--no-tags", "--no-write-fetch-head", "--no-auto-maintenance", "--refmap=",
			"--no-recurse-submodules", "--no-prune", f.mirror.dir, string(f.tip),
		},
		config: []string{"protocol.file.allow=always"},
	}
	_, err := f.c.git.must(ctx, c)
	return err
}

func (f *forward) moveRef(ctx context.Context) error {
	_, err := f.c.git.must(ctx, call{args: []string{"update-ref", "-m", "parley: fast-forward", "refs/heads/" + f.base, string(f.tip), string(f.old)}})
	return err
}

// moveHere brings working files, index and branch forward, in this order. Until the branch moves, the checkout
// is one in which a person happens to have the new content already.
func (f *forward) moveHere(ctx context.Context) (FFResult, error) {
	changes, err := f.mirror.changes(ctx, f.old, f.tip)
	if err != nil {
		return FFResult{}, err
	}
	if why := notOurs(changes); why != "" {
		return FFResult{Why: why}, nil
	}
	if err := f.bringObjects(ctx); err != nil {
		return FFResult{}, err
	}
	f.c.at("brought")
	if err := f.moveFiles(ctx, changes); err != nil {
		return f.res, err
	}
	f.c.at("files")
	if err := f.moveIndexAndRef(ctx, changes); err != nil {
		return f.res, err
	}
	f.res.Moved = true
	return f.res, nil
}

// changes lists what differs between two commits: attributes first, since they decide how the other files look,
// then deletions, since they make room.
func (m *Mirror) changes(ctx context.Context, old, new OID) ([]change, error) {
	out, err := m.git.must(ctx, call{args: []string{"diff-tree", "-r", "-z", "--raw", "--no-renames", "--no-abbrev", string(old), string(new)}})
	if err != nil {
		return nil, err
	}
	var list []change
	fields := splitZero(out)
	for i := 0; i+1 < len(fields); i += 2 {
		was, is, err := parseRaw(fields[i])
		if err != nil {
			return nil, err
		}
		list = append(list, change{path: fields[i+1], old: was, new: is})
	}
	slices.SortStableFunc(list, func(a, b change) int { return cmp.Compare(a.turn(), b.turn()) })
	return list, nil
}

func (ch change) turn() int {
	switch {
	case path.Base(ch.path) == ".gitattributes":
		return 0
	case ch.new.Absent():
		return 1
	}
	return 2
}

// notOurs finds a change that parley leaves to a person's own git: moving past it file by file would leave a
// working tree that undoes it at the next commit.
func notOurs(changes []change) string {
	for _, ch := range changes {
		for _, e := range []Entry{ch.old, ch.new} {
			switch {
			case e.Absent() || e.regular():
			case e.Mode == modeSubmodule:
				return "The submodule " + ch.path + " changes; pull by hand."
			default:
				return "The symbolic link " + ch.path + " changes; pull by hand."
			}
		}
		if ValidPath(ch.path) != nil {
			return fmt.Sprintf("The name %q is not written by parley; pull by hand.", ch.path)
		}
	}
	return ""
}

// moveFiles brings the working files to the tip. All are looked at before the first one moves, so that a changed
// .gitattributes does not make the others look modified.
func (f *forward) moveFiles(ctx context.Context, changes []change) error {
	var all []Three
	for some := range slices.Chunk(changes, pathsPerCall) {
		paths := make([]string, len(some))
		for i, ch := range some {
			paths[i] = ch.path
		}
		found, err := f.c.inspect(ctx, f.old, paths)
		if err != nil {
			return err
		}
		for _, t := range found {
			t.body = nil // the sum suffices to recognize it
			all = append(all, t)
		}
	}
	for i, ch := range changes {
		if err := f.moveFile(ctx, ch, all[i]); err != nil {
			return err
		}
	}
	return nil
}

func (f *forward) moveFile(ctx context.Context, ch change, t Three) error {
	switch {
	case f.hold != nil && f.hold(ch.path):
		f.res.Held = append(f.res.Held, ch.path)
		return nil
	case t.Odd == OddSkipped && t.Work.Absent(): // sparse: it is not here and does not come
		return nil
	case t.Index != ch.old && t.Index != ch.new: // own staged work
		f.res.Kept = append(f.res.Kept, ch.path)
		return nil
	}
	if t.Odd == OddDirectory { // its files may have been deleted since it was looked at
		again, err := f.c.inspect(ctx, f.old, []string{ch.path})
		if err != nil {
			return err
		}
		t = again[0]
	}
	k, err := f.knownOf(ch, t)
	if err != nil {
		return err
	}
	done, err := f.c.replace(ctx, f.st, t, k, ch.new)
	switch {
	case errors.Is(err, ErrUnknownContent), errors.Is(err, ErrRefused):
		f.res.Kept = append(f.res.Kept, ch.path)
		return nil
	case err != nil:
		return fmt.Errorf("%s: %w", ch.path, err)
	case done == Took:
		f.res.Replaced++
	case ch.new.Absent():
		err = f.c.pruneAround(ch.path)
	}
	f.c.at("file")
	return err
}

// knownOf is a known set that suffices for t: the two tips where they explain it, else the whole history.
func (f *forward) knownOf(ch change, t Three) (*Known, error) {
	k := &Known{path: ch.path, mirror: f.mirror, modes: map[OID][]string{}}
	k.add(ch.old)
	k.add(ch.new)
	k.absent = ch.new.Absent()
	if f.known == nil || t.Odd != "" || t.unknown(k) == "" {
		return k, nil
	}
	full, err := f.known(ch.path)
	if err != nil || full == nil {
		return k, err
	}
	return full, nil
}
