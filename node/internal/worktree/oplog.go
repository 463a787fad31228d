package worktree

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// opsDir holds one file for every operation, a JSON value a line: first what it is, then what it did, path by
// path. It is called .open until the operation has ended.
const (
	opsDir    = "ops"
	openOp    = ".open"
	endedOp   = ".json"
	keptDays  = 90 // how long what was taken out, and what is told of it, stays (D-22)
	dayLength = 24 * time.Hour
)

// OperationKind says what parley did in a checkout.
type OperationKind string

// The kinds of operation.
const (
	OpReplace OperationKind = "replace" // a thread's version was put into place
	OpSync    OperationKind = "sync"    // the base branch was brought to GitHub's
	OpRestore OperationKind = "restore" // a person put kept content back
	OpUndo    OperationKind = "undo"    // a person took an operation back
)

// Operation is one change that parley made in a checkout. It can be taken back as a whole.
type Operation struct {
	ID       string
	When     time.Time
	Kind     OperationKind
	Why      string // for people
	Changes  []OperationChange
	Branch   string // the branch that moved; empty when none did
	From, To OID    // the tips that it moved between
	Undoes   string // the operation that this one took back
	UndoneBy string // the operation that took this one back last; empty while it stands
	Unended  bool   // the person went elsewhere while it was under way, so the branch did not follow the files
}

// OperationChange is what an operation did to one path. The zero Entry stands for no file.
type OperationChange struct {
	Path     string
	Old, New Entry
	Kept     string // the kept file that holds what was there; empty when nothing was
}

// opHead is the first line of an operation's file.
type opHead struct {
	ID       string        `json:"id"`
	Kind     OperationKind `json:"kind"`
	Why      string        `json:"why"`
	When     time.Time     `json:"when"`
	Worktree string        `json:"worktree"`
	Branch   string        `json:"branch,omitempty"`
	From     OID           `json:"from,omitempty"`
	To       OID           `json:"to,omitempty"`
	Undoes   string        `json:"undoes,omitempty"`
	Staged   []stagedMove  `json:"staged,omitempty"`
	Joined   []apartFile   `json:"joined,omitempty"` // brought together, and no longer apart once it is complete
	Parted   []apartFile   `json:"parted,omitempty"` // apart again once it is complete
}

// stagedMove is an index entry of the person's own that follows its working file.
type stagedMove struct {
	Path string `json:"path"`
	Old  Entry  `json:"old"`
	New  Entry  `json:"new"`
}

// opStep says that a name moved.
type opStep struct {
	Path string `json:"path"`
	Kept string `json:"kept,omitempty"` // the name of the kept file
	Old  Entry  `json:"old"`
	New  Entry  `json:"new"`
	Sum  string `json:"sum,omitempty"` // SHA-256 of the bytes that were put there; empty for a deletion
}

type opLine struct {
	Op    *opHead `json:"op,omitempty"`
	Step  *opStep `json:"step,omitempty"`
	Ended string  `json:"ended,omitempty"`
}

// opUnended is written as the last line where the person went elsewhere in the middle.
const opUnended = "elsewhere"

// journal is the record of one operation.
type journal struct {
	c       *Checkout
	head    opHead
	steps   []opStep
	unended bool
	name    string // of the file, without its ending
}

// begin puts a new operation on disk. Nothing of it has happened yet.
func (c *Checkout) begin(head opHead) (*journal, error) {
	if err := os.MkdirAll(c.workArea(opsDir), 0o700); err != nil {
		return nil, err
	}
	name := newID()
	head.ID, head.When, head.Worktree = shortID(name), time.Now().UTC(), c.top
	j := &journal{c: c, head: head, name: name}
	if err := j.append(opLine{Op: &head}); err != nil {
		return nil, errors.Join(err, removeAny(j.file(openOp)))
	}
	return j, syncDir(c.workArea(opsDir))
}

func (j *journal) file(ending string) string { return j.c.workArea(opsDir, j.name+ending) }

func (j *journal) append(l opLine) error { return appendOp(j.file(openOp), l) }

// appendOp adds a line. What a killed writer left of a line stays a line of its own, which nobody can read.
func appendOp(file string, l opLine) error {
	b, err := json.Marshal(l)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(file, os.O_CREATE|os.O_APPEND|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	b = append(b, '\n')
	if fi, err := f.Stat(); err == nil && fi.Size() > 0 {
		last := make([]byte, 1)
		if _, err := f.ReadAt(last, fi.Size()-1); err == nil && last[0] != '\n' {
			b = append([]byte("\n"), b...)
		}
	}
	_, err = f.Write(b)
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// noteStep tells the operation that the names have moved, before the record of the move goes.
func (c *Checkout) noteStep(r record, id string) error {
	if r.Op == "" {
		return nil
	}
	file := c.workArea(opsDir, r.Op+openOp)
	if _, err := os.Lstat(file); errors.Is(err, fs.ErrNotExist) {
		return nil // it was ended without this step
	}
	s := opStep{Path: r.Path, New: r.Want, Sum: r.Ours}
	if r.Before != "" {
		s.Kept, s.Old = id, Entry{Mode: r.Mode, OID: r.Blob}
	}
	return appendOp(file, opLine{Step: &s})
}

// readOp reads an operation's file. A line that was not written to its end is not there.
func (c *Checkout) readOp(file string) (*journal, error) {
	body, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	name := filepath.Base(file)
	j := &journal{c: c, name: strings.TrimSuffix(name, filepath.Ext(name))}
	seen := map[string]bool{}
	for line := range bytes.Lines(body) {
		var l opLine
		if json.Unmarshal(line, &l) != nil {
			continue
		}
		switch {
		case l.Op != nil:
			j.head = *l.Op
		case l.Step != nil && (l.Step.Kept == "" || !seen[l.Step.Kept]):
			seen[l.Step.Kept] = true
			j.steps = append(j.steps, *l.Step)
		case l.Ended != "":
			j.unended = l.Ended == opUnended
		}
	}
	return j, nil
}

// reload reads what the replacements told since the operation began.
func (j *journal) reload() error {
	now, err := j.c.readOp(j.file(openOp))
	if err == nil {
		j.steps = now.steps
	}
	return err
}

// end closes the operation. One that did nothing leaves no trace.
func (j *journal) end(moved bool) error {
	if err := j.reload(); err != nil {
		return err
	}
	if len(j.steps) == 0 && !moved {
		return removeAny(j.file(openOp))
	}
	if err := os.Rename(j.file(openOp), j.file(endedOp)); err != nil {
		return err
	}
	return syncDir(j.c.workArea(opsDir))
}

// Operations lists what parley did in this working tree, newest first. It reaches back 90 days.
func (c *Checkout) Operations(ctx context.Context) ([]Operation, error) {
	all, err := c.journals(ctx, endedOp)
	if err != nil {
		return nil, fmt.Errorf("operations: %w", err)
	}
	list := make([]Operation, 0, len(all))
	undone := map[string]string{}
	for _, j := range slices.Backward(all) {
		op := j.operation()
		op.UndoneBy = undone[op.ID]
		if op.Undoes != "" && op.UndoneBy == "" {
			if _, seen := undone[op.Undoes]; !seen {
				undone[op.Undoes] = op.ID
			}
		}
		list = append(list, op)
	}
	return list, nil
}

// journals reads the operations of this working tree whose files end so, oldest first.
func (c *Checkout) journals(ctx context.Context, ending string) ([]*journal, error) {
	files, err := filepath.Glob(filepath.Join(globQuote(c.workArea(opsDir)), "*"+ending))
	if err != nil {
		return nil, err
	}
	slices.Sort(files) // their names begin with the time
	var list []*journal
	for _, f := range files {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		j, err := c.readOp(f)
		if err != nil {
			return nil, err
		}
		if j.head.Worktree == c.top || j.head.ID == "" && ending == openOp {
			list = append(list, j)
		}
	}
	return list, nil
}

func (j *journal) operation() Operation {
	h := j.head
	op := Operation{
		ID: h.ID, When: h.When, Kind: h.Kind, Why: h.Why, Branch: h.Branch, From: h.From, To: h.To, Undoes: h.Undoes,
		Unended: j.unended,
	}
	if j.unended {
		op.Branch, op.From, op.To = "", "", ""
	}
	for _, s := range j.steps {
		op.Changes = append(op.Changes, OperationChange{Path: s.Path, Old: s.Old, New: s.New, Kept: shortID(s.Kept)})
	}
	return op
}

// shortID is the name by which people call a kept file or an operation: the end of its file's name.
func shortID(name string) string { return name[strings.LastIndexByte(name, '-')+1:] }

// healOperations ends what a killed parley had begun in this working tree; the replacements are healed already.
// A sync whose branch did not follow its files is taken back, so that the checkout is as it was before.
func (c *Checkout) healOperations(ctx context.Context) error {
	open, err := c.journals(ctx, openOp)
	if err != nil || len(open) == 0 {
		return err
	}
	for _, j := range open {
		if err := c.healOperation(ctx, j); err != nil {
			return fmt.Errorf("end operation %s: %w", j.head.ID, err)
		}
	}
	return nil
}

func (c *Checkout) healOperation(ctx context.Context, j *journal) error {
	switch {
	case j.head.ID == "": // it was not begun
		return removeAny(j.file(openOp))
	case j.head.Branch == "" && j.head.Kind == OpSync:
		return c.healJoin(ctx, j)
	case j.head.Branch == "":
		return c.complete(j, false)
	}
	at, err := c.LocalBranch(ctx, j.head.Branch)
	if err != nil {
		return err
	}
	if moved, err := c.wentTo(ctx, j.head, at); err != nil {
		return err
	} else if moved {
		return c.complete(j, true)
	}
	st, err := c.State(ctx)
	switch {
	case err != nil:
		return err
	case st.Busy != "":
		return nil // the next one sees to it
	case st.Branch != j.head.Branch || st.Head != j.head.From:
		return j.leave()
	}
	return c.rollBack(ctx, st, j)
}

// healJoin ends a sync that moved no branch: it is complete once its files are apart no more.
func (c *Checkout) healJoin(ctx context.Context, j *journal) error {
	if joined, err := c.joined(j.head); err != nil {
		return err
	} else if joined {
		return j.end(false)
	}
	st, err := c.State(ctx)
	if err != nil || st.Busy != "" {
		return err
	}
	return c.rollBack(ctx, st, j)
}

// wentTo: the branch was moved, and stands there or has gone on from there.
func (c *Checkout) wentTo(ctx context.Context, h opHead, at OID) (bool, error) {
	if at == h.To || at == h.From || at == "" {
		return at == h.To, nil
	}
	has, err := c.git.hasCommit(ctx, h.To)
	if err != nil || !has {
		return false, err
	}
	back, err := c.git.isAncestor(ctx, h.To, h.From) // then its being an ancestor proves nothing
	if err != nil || back {
		return false, err
	}
	return c.git.isAncestor(ctx, h.To, at)
}

// leave ends an operation in whose middle the person went elsewhere: the files are theirs now.
func (j *journal) leave() error {
	if len(j.steps) > 0 {
		if err := j.append(opLine{Ended: opUnended}); err != nil {
			return err
		}
	}
	return j.end(false)
}

// pruneOperations forgets operations that began before the given time.
func (c *Checkout) pruneOperations(ctx context.Context, before time.Time) error {
	all, err := c.journals(ctx, endedOp)
	if err != nil {
		return err
	}
	for _, j := range all {
		if j.head.When.Before(before) {
			if err := os.Remove(j.file(endedOp)); err != nil {
				return err
			}
		}
	}
	return nil
}
