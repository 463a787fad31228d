package worktree

import (
	"context"
	"fmt"
	"strings"
)

// Push moves branch at the remote from old to new, where both are commits of the mirror. It adds to the branch
// and never rewrites it: new must descend from old, and the remote must still stand at old. Errors:
// ErrNotDescendant (nothing was sent), ErrStale, ErrProtected, ErrDenied, ErrTemporary; after ErrTemporary ask
// RemoteTip, the push may have arrived.
func (m *Mirror) Push(ctx context.Context, branch string, old, new OID) error {
	if err := m.push(ctx, branch, old, new); err != nil {
		return fmt.Errorf("push %s to %s: %w", new, branch, err)
	}
	return nil
}

func (m *Mirror) push(ctx context.Context, branch string, old, new OID) error {
	if err := validBranch(branch); err != nil {
		return err
	}
	grown, err := m.IsAncestor(ctx, old, new)
	if err != nil {
		return err
	}
	if !grown || old == new {
		return fmt.Errorf("%w of %s", ErrNotDescendant, old)
	}
	ref := "refs/heads/" + branch
	c, err := m.remote.reach(ctx, call{args: []string{
		"push", "--porcelain", "--no-verify", "--no-signed", "--recurse-submodules=no",
		"--force-with-lease=" + ref + ":" + string(old), m.remote.URL, string(new) + ":" + ref,
	}})
	if err != nil {
		return err
	}
	a, err := m.git.ask(ctx, c)
	if err != nil {
		return err
	}
	if a.code == 0 {
		return nil
	}
	for line := range strings.Lines(string(a.stdout)) {
		if why, rejected := strings.CutPrefix(line, "!"); rejected {
			return rejection(strings.TrimSpace(why), a.stderr)
		}
	}
	return a.refusal(c)
}

// rejection reads the porcelain line of a ref that was not updated.
func rejection(line, stderr string) error {
	text := strings.ToLower(line + "\n" + stderr)
	has := func(words ...string) bool {
		for _, w := range words {
			if strings.Contains(text, w) {
				return true
			}
		}
		return false
	}
	kind := ErrDenied
	switch {
	case has("stale info", "non-fast-forward", "fetch first", "failed to update ref", "cannot lock ref", "incorrect old value"):
		kind = ErrStale
	case has("gh006", "gh013", "protected branch", "rule violations", "hook declined"):
		kind = ErrProtected
	case has("unpacker error", "internal error", "internal server error", "timed out"):
		kind = ErrTemporary
	}
	return fmt.Errorf("%w: %s", kind, oneLine(line+"\n"+stderr))
}
