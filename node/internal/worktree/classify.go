package worktree

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Class is what a computer says about its copy of a conflicted file. The numbers are those of the ack record.
type Class int

// The classes. The author's own (5) is not decided by content, so it is not among them.
const (
	Unpublished    Class = 0 // the copy holds own lines, is not text or cannot be read: object
	MastersCopy    Class = 1
	PullsCopy      Class = 2
	OtherPublished Class = 3
	NotHere        Class = 4 // no such file, or nothing that parley replaces
	NoOwnLines     Class = 6 // unpublished, but every line of it is published: agreed to, never replaced
)

// Versions are the two copies in question; "" means deleted there.
type Versions struct{ Master, Pull OID }

// Classify judges a path for a thread about the base branch. For a checkout that stands on another branch, or
// detached, only the local base branch counts (D-10). ownLines is the number of different lines that no known
// version has; it is 0 for content that is not text.
func (c *Checkout) Classify(ctx context.Context, known *Known, path string, want Versions, base string) (Class, int, error) {
	class, lines, err := c.classify(ctx, known, path, want, base)
	if err != nil {
		return Unpublished, 0, fmt.Errorf("classify %s: %w", path, err)
	}
	return class, lines, nil
}

func (c *Checkout) classify(ctx context.Context, known *Known, path string, want Versions, base string) (Class, int, error) {
	st, err := c.State(ctx)
	if err != nil {
		return 0, 0, err
	}
	if st.Branch != base {
		return c.classifyBranch(ctx, known, path, want, base)
	}
	all, err := c.inspect(ctx, st.Head, []string{path})
	if err != nil {
		return 0, 0, err
	}
	t := all[0]
	switch {
	case t.Odd == OddTooLarge:
		return Unpublished, 0, nil
	case t.Odd == OddMoving:
		return 0, 0, fmt.Errorf("%w: it is %s", ErrBusy, t.Odd)
	case t.Odd == OddSkipped && t.Work.Absent():
		return NotHere, 0, nil
	case t.Odd != "" && t.Odd != OddUnmerged && t.Odd != OddSkipped && t.Odd != OddAssumed:
		return NotHere, 0, nil
	case t.Head.Absent() && t.Index.Absent() && t.Work.Absent():
		return NotHere, 0, nil
	case t.Odd == "" && t.unknown(known) == "":
		return want.class(t.Work.OID, t.Raw), 0, nil
	}
	return c.ownLines(ctx, known, t)
}

// class says which published copy it is.
func (v Versions) class(ids ...OID) Class {
	for _, id := range ids {
		switch id {
		case v.Master:
			return MastersCopy
		case v.Pull:
			return PullsCopy
		}
	}
	return OtherPublished
}

// classifyBranch judges the local base branch, which nobody has checked out here.
func (c *Checkout) classifyBranch(ctx context.Context, known *Known, path string, want Versions, base string) (Class, int, error) {
	tip, err := c.LocalBranch(ctx, base)
	if err != nil || tip == "" {
		return NotHere, 0, err
	}
	found, err := c.git.entries(ctx, string(tip), []string{path})
	if err != nil {
		return 0, 0, err
	}
	e := found[path]
	switch {
	case e.Absent(), !e.regular():
		return NotHere, 0, nil
	case known.hasEntry(e):
		return want.class(e.OID), 0, nil
	}
	return c.ownLines(ctx, known, Three{Path: path, Head: e})
}

// ownLines tells NoOwnLines from Unpublished: it looks at each of the three that is not known.
func (c *Checkout) ownLines(ctx context.Context, known *Known, t Three) (Class, int, error) {
	own := map[string]struct{}{}
	for _, read := range []struct {
		skip bool
		body func() ([]byte, error)
	}{
		{t.Head.Absent() || known.Has(t.Head.OID), func() ([]byte, error) { return c.blob(ctx, t.Head.OID) }},
		{t.Index.Absent() || known.Has(t.Index.OID), func() ([]byte, error) { return c.blob(ctx, t.Index.OID) }},
		{t.Work.Absent() || known.Has(t.Work.OID) || known.Has(t.Raw), func() ([]byte, error) { return c.clean(ctx, t.Path, t.body) }},
	} {
		if read.skip {
			continue
		}
		body, err := read.body()
		if err != nil {
			return 0, 0, err
		}
		if !isText(body) {
			return Unpublished, 0, nil
		}
		for line := range splitLines(body) {
			published, err := known.Line(ctx, line)
			if err != nil {
				return 0, 0, err
			}
			if !published {
				own[string(line)] = struct{}{}
			}
		}
	}
	if len(own) > 0 {
		return Unpublished, len(own), nil
	}
	return NoOwnLines, 0, nil
}

func (c *Checkout) blob(ctx context.Context, blob OID) ([]byte, error) {
	return c.git.must(ctx, call{args: []string{"cat-file", "blob", string(blob)}})
}

// clean is the content that git would record for these bytes at the path. git tells it only by storing it, so
// it is stored aside and read back.
func (c *Checkout) clean(ctx context.Context, path string, body []byte) (_ []byte, err error) {
	aside, err := os.MkdirTemp("", "parley-clean-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(aside)) }()
	env := []string{"GIT_OBJECT_DIRECTORY=" + aside, "GIT_ALTERNATE_OBJECT_DIRECTORIES=" + alternate(filepath.Join(c.common, "objects"))}
	out, err := c.git.must(ctx, call{args: []string{"hash-object", "-w", "--stdin", "--path=" + path}, stdin: bytes.NewReader(body), env: env})
	if err != nil {
		return nil, err
	}
	return c.git.must(ctx, call{args: []string{"cat-file", "blob", strings.TrimSpace(string(out))}, env: env})
}
