package worktree

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
)

// take brings the combination into the checkout: files, index, branch. Again says that somebody has written to a
// file since it was looked at; then nothing has changed.
func (s *syncing) take(ctx context.Context) (again bool, err error) {
	release, err := s.c.exclusive(ctx)
	if err != nil {
		return false, err
	}
	defer release()
	if same, err := s.stillSo(ctx); err != nil || !same {
		return true, err
	}
	if err := s.bring(ctx); err != nil {
		return false, err
	}
	s.c.at("brought")
	now, err := s.lookAgain(ctx)
	if err != nil || now == nil {
		return true, err
	}
	head := opHead{Kind: OpSync, Why: s.reason(), Joined: s.joins}
	if !s.still {
		head.Branch, head.From, head.To, head.Staged = s.r.Base, s.local, s.merged, s.staged
		if err := s.pass(ctx); err != nil {
			return false, err
		}
	}
	j, err := s.c.begin(head)
	if err != nil {
		return false, err
	}
	if err := s.write(ctx, j, now); err != nil {
		return s.failed(ctx, j, err)
	}
	if err := s.c.complete(j, !s.still); err != nil {
		return false, err
	}
	s.res.To, s.res.Moved = s.merged, !s.still
	if s.res.Moved || len(j.steps) > 0 {
		s.res.Operation = j.head.ID
	}
	if s.r.Bring {
		s.res.Apart = nil
	}
	return false, nil
}

// stillSo: the checkout stands where it stood, and threads hold what they held.
func (s *syncing) stillSo(ctx context.Context) (bool, error) {
	st, err := s.c.State(ctx)
	if err != nil {
		return false, err
	}
	if st.Busy != "" {
		return false, fmt.Errorf("%w: %s is going on", ErrBusy, st.Busy)
	}
	for _, ch := range s.steps {
		if s.hold(ch.path) {
			return false, nil
		}
	}
	for path, held := range s.held {
		if s.r.Hold(path) != held {
			return false, nil
		}
	}
	return st == s.st, nil
}

// bring copies the new commits into the person's repository. No ref, FETCH_HEAD or setting of theirs changes.
func (s *syncing) bring(ctx context.Context) error {
	if err := s.c.bringObjects(ctx, s.m, s.r.Tip); err != nil {
		return err
	}
	if s.b == nil {
		return nil
	}
	var blobs []OID
	for _, ch := range s.steps {
		if !ch.new.Absent() {
			blobs = append(blobs, ch.new.OID)
		}
	}
	return s.b.bring(ctx, s.merged, []OID{s.local, s.r.Tip}, blobs)
}

// bringObjects fetches a commit of the mirror without naming it.
func (c *Checkout) bringObjects(ctx context.Context, m *Mirror, commit OID) error {
	_, err := c.git.must(ctx, call{
		args: []string{
			"fetch", "-q", "--no-tags", "--no-write-fetch-head", "--no-auto-maintenance", "--refmap=",
			"--no-recurse-submodules", "--no-prune", m.dir, string(commit),
		},
		config: []string{"protocol.file.allow=always"},
	})
	return err
}

// lookAgain reads every file that is to be written, before the first one is, so that a changed .gitattributes
// does not make the others look modified. Nil says that one is not what it was.
func (s *syncing) lookAgain(ctx context.Context) ([]Three, error) {
	paths := make([]string, len(s.steps))
	for i, ch := range s.steps {
		paths[i] = ch.path
	}
	all := make([]Three, 0, len(paths))
	for start := 0; start < len(paths); start += pathsPerCall {
		found, err := s.c.inspect(ctx, s.local, paths[start:min(start+pathsPerCall, len(paths))])
		if err != nil {
			return nil, err
		}
		for _, t := range found {
			t.body = nil // the sum suffices to recognize it
			was := s.looked[t.Path]
			if t.sum != was.sum || t.Work != was.Work || t.Index != was.Index || t.Odd != was.Odd {
				return nil, nil
			}
			all = append(all, t)
		}
	}
	return all, nil
}

// write moves the files and then the branch.
func (s *syncing) write(ctx context.Context, j *journal, now []Three) error {
	for i, ch := range s.steps {
		if err := s.writeFile(ctx, j, ch, now[i]); err != nil {
			return &pathError{ch.path, err}
		}
	}
	s.c.at("files")
	if s.still {
		return nil
	}
	entries := s.moves
	for _, m := range s.staged {
		entries = append(entries, change{path: m.Path, old: m.Old, new: m.New})
	}
	f := &forward{c: s.c, base: s.r.Base, old: s.local, tip: s.merged, reason: "fast-forward"}
	if !s.grows {
		f.reason = "merge with GitHub's"
	}
	return f.moveIndexAndRef(ctx, entries)
}

func (s *syncing) writeFile(ctx context.Context, j *journal, ch change, t Three) error {
	if t.Odd == OddDirectory { // its files may have gone since it was looked at
		again, err := s.c.inspect(ctx, s.local, []string{ch.path})
		if err != nil {
			return err
		}
		t = again[0]
	}
	done, err := s.c.put(ctx, s.st, t, putting{want: ch.new, mirror: s.m, op: j.name})
	switch {
	case err != nil:
		return err
	case done == Took:
		s.res.Replaced++
	case ch.new.Absent():
		err = s.c.pruneAround(ch.path)
	}
	s.c.at("file")
	return err
}

// pathError is why a file could not be written.
type pathError struct {
	path string
	err  error
}

func (e *pathError) Error() string { return e.path + ": " + e.err.Error() }
func (e *pathError) Unwrap() error { return e.err }

// failed takes back what was done so far and decides what it means.
func (s *syncing) failed(ctx context.Context, j *journal, why error) (again bool, err error) {
	s.res.Replaced, s.res.Merged = 0, nil
	if err := s.c.healOperation(context.WithoutCancel(ctx), j); err != nil {
		return false, errors.Join(why, err)
	}
	at, on := errors.AsType[*pathError](why)
	switch {
	case on && errors.Is(why, ErrUnknownContent):
		return true, nil
	case on && (errors.Is(why, ErrRefused) || errors.Is(why, fs.ErrPermission)):
		s.keep(at.path, oneLine(at.err.Error())+".")
		return false, s.stop("Some files cannot be written here.")
	}
	return false, why
}

// rollBack takes back the files of an operation whose branch did not follow. What somebody has written since
// stays; it is in no commit yet, so no change of GitHub's is undone by it.
func (c *Checkout) rollBack(ctx context.Context, st CheckoutState, j *journal) error {
	if err := j.reload(); err != nil {
		return err
	}
	for i := len(j.steps) - 1; i >= 0; i-- {
		_, _, err := c.takeBack(ctx, st, j.steps[i], "")
		// What cannot be written stays as it is too: nothing may keep a checkout from being used.
		if err != nil && (errors.Is(err, ErrBusy) || stopped(ctx) != nil) {
			return fmt.Errorf("%s: %w", j.steps[i].Path, err)
		}
		c.at("back")
	}
	return removeAny(j.file(openOp))
}

// takeBack puts at a path what a step displaced, if what the step put there is still there. Else it says why not.
func (c *Checkout) takeBack(ctx context.Context, st CheckoutState, s opStep, op string) (Outcome, string, error) {
	all, err := c.inspect(ctx, st.Head, []string{s.Path})
	if err != nil {
		return 0, "", err
	}
	t := all[0]
	switch {
	case t.Odd == OddDirectory && s.Sum == "" || t.Odd != "" && t.Odd != OddMoving && t.Odd != OddDirectory:
		return 0, fmt.Sprintf("It is %s.", t.Odd), nil
	case t.sum != s.Sum, s.Sum != "" && t.Work.Mode != s.New.Mode:
		return 0, "It was changed since.", nil
	}
	p := putting{want: s.Old, op: op}
	if s.Kept != "" {
		var gone bool
		if p.raw, p.want, gone, err = c.keptBytes(s.Kept); err != nil || gone {
			return 0, "What was there is not kept any more.", err
		}
	}
	done, err := c.put(ctx, st, t, p)
	if errors.Is(err, ErrUnknownContent) || errors.Is(err, ErrRefused) {
		return 0, oneLine(err.Error()) + ".", nil
	}
	return done, "", err
}
