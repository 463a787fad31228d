package worktree

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
)

// holdsNone: no file stays for a thread's sake or apart.
func (s *syncing) holdsNone() bool { return s.r.Hold == nil && len(s.apart) == 0 }

// join finds the commit that the branch goes to: GitHub's own, or a merge of the own commits with it. At a path
// that is held the merge has what GitHub has.
func (s *syncing) join(ctx context.Context) error {
	if s.merged = s.r.Tip; s.still {
		s.merged = s.local
		return nil
	}
	if s.grows {
		return nil
	}
	head, err := s.withoutHeld(ctx)
	if err != nil {
		return err
	}
	v, err := s.b.merge(ctx, head, s.r.Tip)
	if err != nil {
		return err
	}
	if v.Unrelated {
		return s.stop("The local branch and GitHub's have no common commit.")
	}
	tree := v.Tree
	if !v.Clean {
		tree, err = s.settle(ctx, head, s.r.Tip, v, "Commits of this computer conflict with GitHub's changes.")
		if err != nil {
			return err
		}
	}
	if tree, err = s.heldAs(ctx, tree, s.r.Tip); err != nil {
		return err
	}
	s.merged, err = s.b.commit(ctx, tree, "Merge "+s.r.Base+" from GitHub", s.local, s.r.Tip)
	return err
}

// withoutHeld is the local tip without the own commits' changes to held paths.
func (s *syncing) withoutHeld(ctx context.Context) (OID, error) {
	fork, err := s.seen().MergeBase(ctx, s.local, s.r.Tip)
	if err != nil || fork == "" || s.holdsNone() {
		return s.local, err
	}
	tree, err := s.heldAs(ctx, s.local, fork)
	if err != nil || tree == s.local {
		return s.local, err
	}
	return s.b.commit(ctx, tree, "own commits without the held files", s.local)
}

// heldAs is a tree with everything at held paths as another one has it.
func (s *syncing) heldAs(ctx context.Context, tree, as OID) (OID, error) {
	if s.holdsNone() {
		return tree, nil
	}
	differ, err := s.git().changes(ctx, tree, as)
	if err != nil {
		return "", err
	}
	held := map[string]Entry{}
	for _, ch := range differ {
		if s.hold(ch.path) {
			held[ch.path] = ch.new
		}
	}
	if len(held) == 0 {
		return tree, nil
	}
	return s.b.treeWith(ctx, tree, held)
}

// look reads every working file that GitHub's changes or the person's own touch, and sorts them.
func (s *syncing) look(ctx context.Context) error {
	var err error
	if s.moves, err = s.git().changes(ctx, s.local, s.merged); err != nil {
		return err
	}
	if why := notOurs(s.moves); why != "" {
		return s.stop(why)
	}
	moving := map[string]change{}
	paths := make([]string, 0, len(s.moves))
	for _, ch := range s.moves {
		moving[ch.path] = ch
		paths = append(paths, ch.path)
	}
	modified, err := s.c.modified(ctx)
	if err != nil {
		return err
	}
	for _, p := range union(modified, s.apart) {
		if _, too := moving[p]; !too {
			paths = append(paths, p)
		}
	}
	for some := range slices.Chunk(paths, pathsPerCall) {
		found, err := s.c.inspect(ctx, s.local, some)
		if err != nil {
			return err
		}
		for _, t := range found {
			ch, moves := moving[t.Path]
			if !moves {
				ch = change{path: t.Path, old: t.Head, new: t.Head}
			}
			if err := s.sort(ctx, t, ch, moves); err != nil {
				return err
			}
		}
	}
	if len(s.res.Kept) > 0 {
		return s.stop("Some files cannot be brought together with GitHub's changes.")
	}
	return nil
}

// union is a sorted list with the paths of a map in it.
func union[T any](list []string, more map[string]T) []string {
	list = slices.AppendSeq(list, maps.Keys(more))
	slices.Sort(list)
	return slices.Compact(list)
}

// modified lists tracked paths whose working file or index entry is not the last commit's.
func (c *Checkout) modified(ctx context.Context) ([]string, error) {
	set := map[string]bool{}
	for _, args := range [][]string{
		{"diff-files", "--name-only", "-z", "--no-renames", "--ignore-submodules"},
		{"diff-index", "--cached", "--name-only", "-z", "--no-renames", "--ignore-submodules", "HEAD"},
	} {
		out, err := c.git.must(ctx, call{args: args})
		if err != nil {
			return nil, err
		}
		for _, p := range splitZero(out) {
			set[p] = true
		}
	}
	return slices.Sorted(maps.Keys(set)), nil
}

// sort decides what the working file at a path is: not to be touched, one of the two tips', published, or own.
func (s *syncing) sort(ctx context.Context, t Three, ch change, moves bool) error {
	kept := t
	kept.body = nil
	s.looked[t.Path] = kept
	if s.hold(t.Path) {
		s.stays[t.Path] = true
		if _, apart := s.apart[t.Path]; moves && !apart {
			s.res.Held = append(s.res.Held, t.Path)
		}
		return nil
	}
	switch {
	case t.Odd == OddMoving:
		return fmt.Errorf("%w: %s is %s", ErrBusy, t.Path, t.Odd)
	case s.bringing(t.Path):
		return s.sortApart(ctx, t, ch)
	case !moves && t.Odd != "":
		return nil // it stays as it is, whatever it is
	case t.Odd == OddSkipped && t.Work.Absent():
		s.stays[t.Path] = true // it is not here and does not come
		return nil
	case t.Odd == OddDirectory: // its files may be on their way out
		return nil
	case t.Odd != "":
		s.keep(t.Path, fmt.Sprintf("It is %s.", t.Odd))
		return nil
	}
	follows := t.Index != ch.old && t.Index != ch.new
	if follows && moves && t.Index != t.Work {
		s.keep(t.Path, "A part of the own changes is staged; commit or unstage it.")
		return nil
	}
	own, err := s.isOwn(t, ch, moves)
	if err != nil {
		return err
	}
	if own {
		s.own[t.Path], err = s.keepOnBench(ctx, t)
	}
	if follows && moves && err == nil {
		s.staged = append(s.staged, stagedMove{Path: t.Path, Old: t.Index})
	}
	return err
}

func (s *syncing) keep(path, why string) { s.res.Kept = append(s.res.Kept, KeptOwn{path, why}) }

// isOwn: it is in neither of the tips, and GitHub does not have it.
func (s *syncing) isOwn(t Three, ch change, moves bool) (bool, error) {
	switch {
	case t.holds(ch.old), t.holds(ch.new):
		return false, nil
	case !moves || s.r.Known == nil || t.Work.Absent() && ch.old.Absent():
		return true, nil
	case t.Index != ch.old && t.Index != ch.new:
		return true, nil // staged on purpose
	}
	k, err := s.r.Known(t.Path)
	if err != nil || k == nil {
		return true, err
	}
	if t.Work.Absent() {
		return !k.absent, nil
	}
	return !t.workKnown(k), nil
}

// keepOnBench stores what git would record for a working file. It is read again, and must be what was looked at.
func (s *syncing) keepOnBench(ctx context.Context, t Three) (Entry, error) {
	if err := s.bench(ctx); err != nil || t.Work.Absent() {
		return Entry{}, err
	}
	if t.body == nil {
		again := Three{Path: t.Path, Index: t.Index, Head: t.Head}
		if err := s.c.inspectWork(ctx, &again); err != nil {
			return Entry{}, err
		}
		if again.sum != t.sum {
			return Entry{}, fmt.Errorf("%w: %s is being written", ErrBusy, t.Path)
		}
		t.body = again.body
	}
	if t.Work.OID == t.Raw { // exactly a blob, whatever the filters would make of it
		oid, err := s.b.storeRaw(ctx, t.body)
		return Entry{Mode: t.Work.Mode, OID: oid}, err
	}
	oid, err := s.b.store(ctx, t.Path, t.body)
	return Entry{Mode: t.Work.Mode, OID: oid}, err
}

// combine puts the own edits and the new commit together and lists what is to be written.
func (s *syncing) combine(ctx context.Context) error {
	before := s.local
	s.combined = s.merged
	if len(s.own) > 0 {
		if err := s.bench(ctx); err != nil {
			return err
		}
		var err error
		if before, err = s.b.treeWith(ctx, s.local, s.own); err != nil {
			return err
		}
		if s.combined, err = s.merge(ctx, before); err != nil {
			return err
		}
	}
	differ, err := s.git().changes(ctx, before, s.combined)
	if err != nil {
		return err
	}
	if why := notOurs(differ); why != "" {
		return s.stop(why)
	}
	for _, ch := range differ {
		if !s.stays[ch.path] {
			s.steps = append(s.steps, ch)
		}
	}
	return s.finishPlan(ctx)
}

// merge is the tree of the new commit with the own edits in it.
func (s *syncing) merge(ctx context.Context, edits OID) (OID, error) {
	head, theirs, err := s.sides(ctx, edits)
	if err != nil {
		return "", err
	}
	v, err := s.b.merge(ctx, head, theirs)
	if err != nil {
		return "", err
	}
	tree := v.Tree
	if !v.Clean {
		tree, err = s.settle(ctx, head, theirs, v, "Changes of this computer conflict with GitHub's.")
		if err != nil {
			return "", err
		}
	}
	return s.heldAs(ctx, tree, s.merged)
}

// finishPlan looks at paths that only the combination writes, lets the person's staged entries follow their
// files, and says what was merged.
func (s *syncing) finishPlan(ctx context.Context) error {
	wanted := map[string]Entry{}
	for _, ch := range s.steps {
		wanted[ch.path] = ch.new
		_, own := s.own[ch.path]
		if own {
			s.res.Merged = append(s.res.Merged, ch.path)
		}
		if _, seen := s.looked[ch.path]; seen {
			continue
		}
		found, err := s.c.inspect(ctx, s.local, []string{ch.path})
		if err != nil {
			return err
		}
		t := found[0]
		if t.Odd != "" && t.Odd != OddDirectory || !t.holds(ch.old) {
			s.keep(ch.path, "Something else is in its place.")
			continue
		}
		t.body = nil
		s.looked[ch.path] = t
	}
	if len(s.res.Kept) > 0 {
		return s.stop("Some files cannot be brought together with GitHub's changes.")
	}
	staged := s.staged[:0]
	for _, m := range s.staged {
		if want, moves := wanted[m.Path]; moves {
			m.New = want
			staged = append(staged, m)
		}
	}
	s.staged = staged
	return nil
}

// ownID names own work by its content.
func ownID(own map[string]Entry, extra OID) string {
	h := sha256.New()
	fmt.Fprintln(h, extra)
	for _, path := range slices.Sorted(maps.Keys(own)) {
		fmt.Fprintf(h, "%s %s %q\n", own[path].Mode, own[path].OID, path)
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}
