package worktree

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
)

// apartDir holds, for every working tree, which of its files the branch has passed, and what they are based on.
const apartDir = "apart"

// apartFile is a working file that stayed while the branch moved past it. At the next commit it would undo what
// GitHub changed there, unless it is brought together with that; the base is what a merge of the two needs.
type apartFile struct {
	Path   string `json:"path"`
	Branch string `json:"branch"`
	Base   Entry  `json:"base"` // what the branch had when it first passed the file
}

func (c *Checkout) apartName() string { return c.workArea(apartDir, sumOf([]byte(c.top))[:16]+".json") }

// readApart reads what is remembered for this working tree, by path.
func (c *Checkout) readApart() (map[string]apartFile, error) {
	all := map[string]apartFile{}
	body, err := os.ReadFile(c.apartName())
	if errors.Is(err, fs.ErrNotExist) {
		return all, nil
	}
	var list []apartFile
	if err == nil {
		err = json.Unmarshal(body, &list)
	}
	if err != nil {
		return nil, fmt.Errorf("read what own files are based on: %w", err)
	}
	for _, a := range list {
		all[a.Path] = a
	}
	return all, nil
}

// changeApart edits what is remembered, all or nothing. The caller has the lock.
func (c *Checkout) changeApart(edit func(all map[string]apartFile)) error {
	all, err := c.readApart()
	if err != nil {
		return err
	}
	before := maps.Clone(all)
	if edit(all); maps.Equal(before, all) {
		return nil
	}
	list := make([]apartFile, 0, len(all))
	for _, path := range slices.Sorted(maps.Keys(all)) {
		list = append(list, all[path])
	}
	body, err := json.Marshal(list)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(c.workArea(apartDir), 0o700); err != nil {
		return err
	}
	draft := c.apartName() + ".new"
	if err := writeSynced(draft, body, 0o600); err != nil {
		return err
	}
	if err := os.Rename(draft, c.apartName()); err != nil {
		return err
	}
	return syncDir(c.workArea(apartDir))
}

// complete ends an operation that has done all it was to do: what it brought together is apart no more, and what
// it took apart again is.
func (c *Checkout) complete(j *journal, moved bool) error {
	if err := j.reload(); err != nil {
		return err
	}
	wrote := map[string]bool{}
	for _, s := range j.steps {
		wrote[s.Path] = true
	}
	err := c.changeApart(func(all map[string]apartFile) {
		for _, a := range j.head.Joined {
			if j.head.Kind == OpSync || wrote[a.Path] {
				delete(all, a.Path)
			}
		}
		for _, a := range j.head.Parted {
			if wrote[a.Path] {
				all[a.Path] = a
			}
		}
	})
	if err != nil {
		return err
	}
	c.at("forgot")
	return j.end(moved)
}

// joined: an operation that moves no branch is complete once none of its files is remembered any more.
func (c *Checkout) joined(h opHead) (bool, error) {
	all, err := c.readApart()
	if err != nil {
		return false, err
	}
	return !slices.ContainsFunc(h.Joined, func(a apartFile) bool { _, is := all[a.Path]; return is }), nil
}

// part finds the files that the branch has passed and that still differ from it: they are brought together with
// it if that is asked for, and else left as if they were held. What has become one with the branch, or was
// committed by the person, is forgotten.
func (s *syncing) part(ctx context.Context) error {
	all, err := s.c.readApart()
	if err != nil {
		return err
	}
	maps.DeleteFunc(all, func(_ string, a apartFile) bool { return a.Branch != s.r.Base })
	gone, err := s.noMoreApart(ctx, all)
	if err != nil {
		return err
	}
	if len(gone) > 0 {
		if err := s.forget(ctx, gone); err != nil {
			return err
		}
	}
	for _, path := range slices.Sorted(maps.Keys(all)) {
		if a := all[path]; !slices.Contains(gone, a) && (s.r.Hold == nil || !s.r.Hold(path)) {
			s.apart[path] = a
			s.res.Apart = append(s.res.Apart, path)
		}
	}
	if s.still && (!s.r.Bring || len(s.apart) == 0) {
		return errStop
	}
	return nil
}

// noMoreApart lists the remembered files that are what the branch has, whose base is, or that own commits changed.
func (s *syncing) noMoreApart(ctx context.Context, all map[string]apartFile) (gone []apartFile, err error) {
	paths := slices.Sorted(maps.Keys(all))
	if len(paths) == 0 {
		return nil, nil
	}
	fork, err := s.fork(ctx)
	if err != nil || fork == "" {
		return nil, err
	}
	was, err := s.git().entries(ctx, string(fork), paths)
	if err != nil {
		return nil, err
	}
	found, err := s.c.inspect(ctx, s.local, paths)
	if err != nil {
		return nil, err
	}
	for _, t := range found {
		a := all[t.Path]
		if t.Odd == "" && t.holds(t.Head) || a.Base == t.Head || was[t.Path] != t.Head {
			gone = append(gone, a)
		}
	}
	return gone, nil
}

// fork is the last published commit that the local branch has in common with GitHub's.
func (s *syncing) fork(ctx context.Context) (OID, error) {
	if s.grows || s.local == s.r.Tip {
		return s.local, nil
	}
	return s.seen().MergeBase(ctx, s.local, s.r.Tip)
}

// forget takes files from what is remembered, unless something else is remembered of them by now.
func (s *syncing) forget(ctx context.Context, gone []apartFile) error {
	release, err := s.c.exclusive(ctx)
	if err != nil {
		return err
	}
	defer release()
	return s.c.changeApart(func(all map[string]apartFile) {
		for _, a := range gone {
			if all[a.Path] == a {
				delete(all, a.Path)
			}
		}
	})
}

// pass remembers the held files that the branch is about to move past. What is remembered of a file already
// stays: its own work is based on that. The branch that does not follow after all makes the entry say nothing.
func (s *syncing) pass(ctx context.Context) error {
	var paths []string
	for _, ch := range s.moves {
		if s.stays[ch.path] && s.hold(ch.path) && !s.looked[ch.path].holds(ch.new) {
			paths = append(paths, ch.path)
		}
	}
	if len(paths) == 0 {
		return nil
	}
	fork, err := s.fork(ctx)
	if err != nil || fork == "" {
		return err
	}
	was, err := s.git().entries(ctx, string(fork), paths)
	if err != nil {
		return err
	}
	err = s.c.changeApart(func(all map[string]apartFile) {
		for _, path := range paths {
			if a, is := all[path]; !is || a.Branch != s.r.Base {
				all[path] = apartFile{Path: path, Branch: s.r.Base, Base: was[path]}
			}
		}
	})
	s.c.at("passed")
	return err
}

// bringing: the file is to be brought together with the branch that has passed it.
func (s *syncing) bringing(path string) bool {
	_, apart := s.apart[path]
	return apart && s.r.Bring && !s.hold(path)
}

// sortApart takes a file that is to be brought together as own work on its own base. A version that GitHub has is
// no own work: it gives way.
func (s *syncing) sortApart(ctx context.Context, t Three, ch change) error {
	a := s.apart[t.Path]
	s.joins = append(s.joins, a)
	switch {
	case t.Odd != "":
		s.keep(t.Path, fmt.Sprintf("It is %s.", t.Odd))
		return nil
	case t.Index != t.Head && t.Index != ch.new:
		s.keep(t.Path, "The own changes are staged; commit or unstage them.")
		return nil
	case t.holds(ch.new):
		return nil
	}
	own, err := s.isOwn(t, change{path: t.Path, old: a.Base, new: ch.new}, true)
	if err != nil {
		return err
	}
	e, err := s.keepOnBench(ctx, t)
	if err != nil {
		return err
	}
	s.own[t.Path], s.bases[t.Path] = e, a.Base
	if !own {
		s.bases[t.Path] = e
		return nil
	}
	return s.baseIsHere(ctx, a)
}

// baseIsHere keeps a file whose base is in none of the repositories any more.
func (s *syncing) baseIsHere(ctx context.Context, a apartFile) error {
	if a.Base.Absent() {
		return nil
	}
	said, err := s.b.git.ask(ctx, call{args: []string{"cat-file", "-e", string(a.Base.OID)}})
	if err == nil && said.code != 0 {
		s.keep(a.Path, "The version that it is based on is not there any more.")
	}
	return err
}

// sides are the two commits whose merge is the new content: the person's own work and the branch. They meet in a
// commit that has, of every file that the branch has passed, what it is based on.
func (s *syncing) sides(ctx context.Context, edits OID) (own, theirs OID, err error) {
	const what = "own changes that are not committed"
	if len(s.bases) == 0 {
		own, err = s.b.commit(ctx, edits, what, s.local)
		return own, s.merged, err
	}
	tree, err := s.b.treeWith(ctx, s.local, s.bases)
	if err != nil {
		return "", "", err
	}
	base, err := s.b.commit(ctx, tree, "what the own changes are based on", s.local)
	if err != nil {
		return "", "", err
	}
	if own, err = s.b.commit(ctx, edits, what, base); err != nil {
		return "", "", err
	}
	if tree, err = s.b.treeWith(ctx, s.merged, nil); err != nil {
		return "", "", err
	}
	theirs, err = s.b.commit(ctx, tree, s.r.Base+" as at GitHub", base, s.merged)
	return own, theirs, err
}
