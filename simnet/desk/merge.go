package desk

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// merge settles the merge that is under way in the scratch, begins it where there is none, and returns the commit.
func merge(ctx context.Context, t task) (string, error) {
	r := repository{dir: t.Scratch}
	if head, err := r.line(ctx, "rev-parse", "HEAD"); err != nil {
		return "", err
	} else if head != t.Head {
		return "", fmt.Errorf("scratch %s: stands on %s and not on %s", t.Scratch, head, t.Head)
	}
	merging, err := r.begin(ctx, t.Tip)
	if err != nil {
		return "", err
	}
	if merging == "" {
		return t.Head, nil // it holds the base branch already
	}
	if merging != t.Tip {
		return "", fmt.Errorf("scratch %s: merges %s and not %s", t.Scratch, merging, t.Tip)
	}
	list, err := r.conflicts(ctx)
	if err != nil {
		return "", err
	}
	for _, c := range list {
		if err := r.settle(ctx, c); err != nil {
			return "", fmt.Errorf("settle %q: %w", c.path, err)
		}
	}
	message := fmt.Sprintf("Merge %s into pull request %d\n\n%s\n", t.Base, t.Pull, wordsMerge)
	if _, err := r.run(ctx, []byte(message), "commit", "-q", "--no-verify", "--cleanup=verbatim", "-F", "-"); err != nil {
		return "", err
	}
	return r.line(ctx, "rev-parse", "HEAD")
}

// begin starts the merge of tip unless one is under way. It returns the commit being merged, "" when there is
// nothing to merge.
func (r repository) begin(ctx context.Context, tip string) (string, error) {
	if merging, err := r.mergeHead(ctx); merging != "" || err != nil {
		return merging, err
	}
	_, code, err := r.ask(ctx, nil, "merge", "-q", "--no-commit", "--no-ff", "--no-edit", tip)
	if err != nil && code != 1 {
		return "", err
	}
	merging, readErr := r.mergeHead(ctx)
	if merging == "" && err != nil {
		return "", err
	}
	return merging, readErr
}

// settle puts the rule's version of a path into the index and the working tree. The bytes go into git as they
// are: no filter or line ending setting touches them on the way.
func (r repository) settle(ctx context.Context, c conflict) error {
	s, err := r.choose(ctx, c)
	if err != nil {
		return err
	}
	entry := fmt.Sprintf("%s %s 0\t%s\x00", s.mode, s.oid, c.path)
	if s.absent() {
		entry = fmt.Sprintf("0 %s\t%s\x00", strings.Repeat("0", len(c.stage[1].oid)), c.path)
	}
	if _, err := r.run(ctx, []byte(entry), "update-index", "-z", "--index-info"); err != nil {
		return err
	}
	if s.absent() {
		return os.RemoveAll(filepath.Join(r.dir, filepath.FromSlash(c.path)))
	}
	_, err = r.run(ctx, []byte(c.path+"\x00"), "checkout-index", "-f", "-q", "-z", "--stdin")
	return err
}

// choose is the rule: of two texts the lines of both, the base branch's first; a file that one side deleted stays; anything else is as
// the pull request has it.
func (r repository) choose(ctx context.Context, c conflict) (side, error) {
	base, ours, theirs := c.stage[1], c.stage[2], c.stage[3]
	switch {
	case ours.absent():
		return theirs, nil
	case theirs.absent() || !ours.plain() || !theirs.plain():
		return ours, nil
	}
	if !base.plain() {
		base = side{}
	}
	var text [3][]byte
	for i, s := range []side{theirs, base, ours} {
		var err error
		if text[i], err = r.blob(ctx, s); err != nil {
			return side{}, err
		}
		if isBinary(text[i]) {
			return ours, nil
		}
	}
	union, err := r.union(ctx, text)
	if err != nil {
		return side{}, err
	}
	oid, err := r.run(ctx, union, "hash-object", "-w", "--stdin")
	return side{mode: executable(base, ours, theirs), oid: strings.TrimSpace(string(oid))}, err
}

// union merges two texts by their base, which is the one in the middle. Where they differ it keeps the lines of
// both, those of the first before those of the last.
func (r repository) union(ctx context.Context, text [3][]byte) ([]byte, error) {
	dir, err := os.MkdirTemp("", "parley-desk-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	args := []string{"merge-file", "-p", "-q", "--union"}
	for i, name := range []string{"first", "base", "last"} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, text[i], 0o600); err != nil {
			return nil, err
		}
		args = append(args, path)
	}
	out, err := r.run(ctx, nil, args...)
	if err != nil {
		return nil, err
	}
	if markers(out) > markers(text[0])+markers(text[2]) {
		return nil, fmt.Errorf("the union holds conflict markers")
	}
	return out, nil
}

// isBinary is git's own test.
func isBinary(b []byte) bool { return bytes.IndexByte(b[:min(len(b), 8000)], 0) >= 0 }

// markers counts the lines that look like git's conflict markers.
func markers(b []byte) int {
	n := 0
	for line := range bytes.Lines(b) {
		for _, m := range []string{"<<<<<<<", "=======", ">>>>>>>"} {
			if rest, ok := bytes.CutPrefix(line, []byte(m)); ok && (len(rest) == 0 || bytes.IndexByte([]byte(" \r\n"), rest[0]) >= 0) {
				n++
			}
		}
	}
	return n
}

// executable merges the modes as git does; of two new files either bit counts.
func executable(base, ours, theirs side) string {
	switch {
	case ours.mode == theirs.mode:
		return ours.mode
	case base.absent():
		return "100755"
	case ours.mode == base.mode:
		return theirs.mode
	}
	return ours.mode
}
