package worktree

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// change is one path that differs between the old and the new tip.
type change struct {
	path     string
	old, new Entry
}

// forward is a move of a local branch.
type forward struct {
	c        *Checkout
	base     string
	old, tip OID
	reason   string // for the reflog
}

func (f *forward) moveRef(ctx context.Context) error {
	_, err := f.c.git.must(ctx, call{args: []string{"update-ref", "-m", "parley: " + f.reason, "refs/heads/" + f.base, string(f.tip), string(f.old)}})
	return err
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

// changes lists what differs between two commits: attributes first, since they decide how the other files look,
// then deletions, since they make room.
func (r runner) changes(ctx context.Context, old, new OID) ([]change, error) {
	out, err := r.must(ctx, call{args: []string{"diff-tree", "-r", "-z", "--raw", "--no-renames", "--no-abbrev", string(old), string(new)}})
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
