package worktree

import (
	"context"
	"errors"
	"fmt"
	"slices"
)

// settle lets somebody settle a merge of theirs into head that git cannot make, and returns the tree. Without a
// Settle, or where its result will not do, the sync ends with what conflicts.
func (s *syncing) settle(ctx context.Context, head, theirs OID, v Verdict, why string) (OID, error) {
	paths := v.paths()
	have, err := s.seen().Entries(ctx, head, paths)
	if err != nil {
		return "", err
	}
	s.res.Conflicts, s.res.Own = paths, ownID(have, "")
	other, err := s.seen().Entries(ctx, theirs, paths)
	if err != nil {
		return "", err
	}
	conflict := s.res.Own + ownID(other, "")
	if entries, known := s.settled[conflict]; known { // in a round that ended for another reason
		return s.asSettled(ctx, v.Tree, paths, entries)
	}
	if s.r.Settle == nil {
		return "", s.unsettled(why)
	}
	scratch, err := s.b.scratch(ctx, head, "settle")
	if err != nil {
		return "", err
	}
	entries, err := s.settleIn(ctx, scratch, theirs, v)
	if gone := scratch.Close(); err == nil {
		err = gone
	}
	switch {
	case stopped(ctx) != nil:
		return "", stopped(ctx)
	case errors.Is(err, errUnsettled):
		return "", s.unsettled(why + " " + sentence(err))
	case err != nil:
		return "", err
	}
	s.settled[conflict] = entries
	return s.asSettled(ctx, v.Tree, paths, entries)
}

// asSettled is what git laid out with the settled entries in it.
func (s *syncing) asSettled(ctx context.Context, laid OID, paths []string, entries map[string]Entry) (OID, error) {
	s.res.Settled = append(s.res.Settled, paths...)
	s.res.Conflicts, s.res.Own = nil, ""
	return s.b.treeWith(ctx, laid, entries)
}

// unsettled ends the sync: own copies stay, visibly.
func (s *syncing) unsettled(why string) error {
	for _, path := range s.res.Conflicts {
		s.keep(path, why)
	}
	s.res.Merged, s.res.Settled = nil, nil
	return s.stop(why)
}

var errUnsettled = errors.New("the conflict is not settled")

func sentence(err error) string { return "It could not be settled: " + oneLine(err.Error()) + "." }

// paths are those that conflict; where git names no file, those that its messages are about.
func (v Verdict) paths() []string {
	var list []string
	for _, f := range v.Files {
		list = append(list, f.Path)
	}
	if len(list) == 0 {
		for _, m := range v.Messages {
			if structural(m) != "" {
				list = append(list, m.Paths...)
			}
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// settleIn hands the merge over and takes the result to the bench: all that differs from what git laid out.
func (s *syncing) settleIn(ctx context.Context, scratch *Scratch, theirs OID, v Verdict) (map[string]Entry, error) {
	if err := scratch.SetIdentity(ctx, "parley", "parley@localhost"); err != nil {
		return nil, err
	}
	if _, err := scratch.StartMerge(ctx, theirs); err != nil {
		return nil, err
	}
	commit, err := s.r.Settle(ctx, Settling{
		Scratch: scratch, Head: scratch.head, Theirs: theirs, Files: v.Files, Paths: s.res.Conflicts, Own: s.res.Own,
	})
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errUnsettled, err)
	}
	if err := s.b.take(ctx, scratch, commit, scratch.head, theirs); err != nil {
		return nil, fmt.Errorf("%w: %w", errUnsettled, err)
	}
	differ, err := s.check(ctx, scratch.head, theirs, v.Tree, commit)
	if err != nil {
		return nil, err
	}
	entries := map[string]Entry{}
	for _, ch := range differ {
		entries[ch.path] = ch.new
	}
	return entries, nil
}

// check judges what came back: it must contain both sides, settle every conflict and leave held paths alone. It
// returns what differs from what git laid out.
func (s *syncing) check(ctx context.Context, head, theirs, laid, commit OID) ([]change, error) {
	for _, side := range []OID{head, theirs} {
		grown, err := s.b.git.isAncestor(ctx, side, commit)
		if err != nil {
			return nil, err
		}
		if !grown {
			return nil, fmt.Errorf("%w: the result is %w of %s", errUnsettled, ErrNotDescendant, side)
		}
	}
	differ, err := s.b.git.changes(ctx, laid, commit)
	if err != nil {
		return nil, err
	}
	paths := slices.Clone(s.res.Conflicts)
	for _, ch := range differ {
		if s.hold(ch.path) {
			return nil, fmt.Errorf("%w: the result changes %s, which a thread holds", errUnsettled, ch.path)
		}
		if !slices.Contains(paths, ch.path) {
			paths = append(paths, ch.path)
		}
	}
	marked, err := s.seen().HasMarkers(ctx, commit, paths, head, theirs)
	if err != nil {
		return nil, err
	}
	if len(marked) > 0 {
		return nil, fmt.Errorf("%w: conflict markers are left in %q", errUnsettled, marked)
	}
	return differ, nil
}
