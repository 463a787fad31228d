package worktree

import (
	"context"
	"errors"
	"fmt"
	"slices"
)

// UndoResult is what taking an operation back did.
type UndoResult struct {
	Operation string    // the undo itself, which can be taken back too; empty when nothing changed
	Restored  []string  // paths that have again what they had before
	Left      []KeptOwn // paths that were left alone, and why
	Moved     bool      // the branch stands where it stood before
	Why       string    // why nothing was done, as a sentence
}

// Undo takes an operation back: every file that still holds what the operation put there gets what was there
// before, and a branch that the operation moved goes back with its index entries. A branch that has moved on since
// stays, and the files with it: on their own they would undo changes of GitHub's at the next commit. What is
// displaced is kept, and what the person has written since is left alone. Errors: ErrNoRecord, ErrBusy, ErrRefused.
func (c *Checkout) Undo(ctx context.Context, id string) (UndoResult, error) {
	res, err := c.undo(ctx, id)
	if err != nil {
		return res, fmt.Errorf("undo %s: %w", id, err)
	}
	return res, nil
}

func (c *Checkout) undo(ctx context.Context, id string) (UndoResult, error) {
	release, err := c.exclusive(ctx)
	if err != nil {
		return UndoResult{}, err
	}
	defer release()
	all, err := c.journals(ctx, endedOp)
	if err != nil {
		return UndoResult{}, err
	}
	i := slices.IndexFunc(all, func(j *journal) bool { return j.head.ID == id })
	if i < 0 {
		return UndoResult{}, fmt.Errorf("%w in %s", ErrNoRecord, c.top)
	}
	st, err := c.State(ctx)
	if err != nil {
		return UndoResult{}, err
	}
	if st.Busy != "" {
		return UndoResult{}, fmt.Errorf("%w: %s is going on", ErrBusy, st.Busy)
	}
	u := &undoing{c: c, st: st, of: all[i]}
	if err := u.run(ctx); err != nil && !errors.Is(err, errStop) {
		return u.res, err
	}
	return u.res, nil
}

// undoing is one run of Undo.
type undoing struct {
	c   *Checkout
	st  CheckoutState
	of  *journal
	j   *journal
	res UndoResult
}

func (u *undoing) stop(why string) error {
	u.res.Why = why
	return errStop
}

func (u *undoing) run(ctx context.Context) error {
	h := u.of.head
	if h.Branch == "" || u.of.unended {
		if err := u.c.writable(u.st); err != nil {
			return err
		}
		return u.files(ctx, opHead{Kind: OpUndo, Why: "Taken back: " + h.Why, Undoes: h.ID, Joined: h.Parted, Parted: h.Joined})
	}
	at, err := u.c.LocalBranch(ctx, h.Branch)
	switch {
	case err != nil:
		return err
	case at != h.To:
		return u.stop("The branch " + h.Branch + " has moved on since; take back what came later first.")
	}
	head := opHead{
		Kind: OpUndo, Why: "Taken back: " + h.Why, Undoes: h.ID, Branch: h.Branch, From: h.To, To: h.From,
		Joined: h.Parted, Parted: h.Joined,
	}
	for _, m := range h.Staged {
		head.Staged = append(head.Staged, stagedMove{Path: m.Path, Old: m.New, New: m.Old})
	}
	if u.st.Branch != h.Branch {
		return u.elsewhere(ctx, head)
	}
	return u.files(ctx, head)
}

// elsewhere moves back a branch that this checkout does not stand on.
func (u *undoing) elsewhere(ctx context.Context, head opHead) (err error) {
	if len(u.of.steps) > 0 {
		return u.stop("The checkout does not stand on " + head.Branch + " any more.")
	}
	where, err := u.c.standsElsewhere(ctx, head.Branch)
	if err != nil {
		return err
	}
	if where != "" {
		return u.stop(head.Branch + " is checked out in " + where + ".")
	}
	if u.j, err = u.c.begin(head); err != nil {
		return err
	}
	f := &forward{c: u.c, base: head.Branch, old: head.From, tip: head.To, reason: "undo"}
	if err := f.moveRef(ctx); err != nil {
		return errors.Join(err, u.j.end(false))
	}
	u.res.Moved, u.res.Operation = true, u.j.head.ID
	return u.j.end(true)
}

// files takes the files back, then the index and the branch.
func (u *undoing) files(ctx context.Context, head opHead) (err error) {
	var entries []change
	if head.Branch != "" {
		if entries, err = u.c.git.changes(ctx, head.From, head.To); err != nil {
			return err
		}
		if len(u.of.steps) == 0 && len(entries) > 0 {
			return u.stop("The operation moved the branch alone; the files were put there by another operation, or another branch was checked out.")
		}
	}
	for _, m := range head.Staged {
		entries = append(entries, change{path: m.Path, old: m.Old, new: m.New})
	}
	if u.j, err = u.c.begin(head); err != nil {
		return err
	}
	if err := u.write(ctx, head, entries); err != nil {
		u.res = UndoResult{}
		return errors.Join(err, u.c.healOperation(context.WithoutCancel(ctx), u.j))
	}
	if err := u.c.complete(u.j, u.res.Moved); err != nil {
		return err
	}
	if len(u.res.Restored) > 0 || u.res.Moved {
		u.res.Operation = u.j.head.ID
	} else if len(u.res.Left) > 0 {
		u.res.Why = "Nothing could be taken back."
	}
	return nil
}

func (u *undoing) write(ctx context.Context, head opHead, entries []change) error {
	for _, s := range slices.Backward(u.of.steps) {
		done, why, err := u.c.takeBack(ctx, u.st, s, u.j.name)
		switch {
		case err != nil:
			return fmt.Errorf("%s: %w", s.Path, err)
		case why != "":
			u.res.Left = append(u.res.Left, KeptOwn{s.Path, why})
		case done == Took:
			u.res.Restored = append(u.res.Restored, s.Path)
		}
		u.c.at("back")
	}
	if head.Branch == "" {
		return nil
	}
	u.c.at("files")
	f := &forward{c: u.c, base: head.Branch, old: head.From, tip: head.To, reason: "undo"}
	if err := f.moveIndexAndRef(ctx, entries); err != nil {
		return err
	}
	u.res.Moved = true
	return nil
}
