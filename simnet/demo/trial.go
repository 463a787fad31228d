package demo

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
)

// conflicted asks git, before any node runs, in which files the two branches conflict. A demo of branches
// that merge cleanly ends here, in one clear line.
func (s *stage) conflicted(ctx context.Context, bare string) ([]string, error) {
	c := exec.CommandContext(ctx, "git", "--git-dir", bare, "merge-tree", "--write-tree", "-z", "--name-only", "--no-messages",
		"refs/heads/"+s.Base, "refs/heads/"+s.Head)
	c.Env = append(withoutGit(os.Environ()), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null", "LC_ALL=C")
	out, err := c.Output()
	if err == nil {
		return nil, fmt.Errorf("%s and %s: %w", s.Base, s.Head, ErrClean)
	}
	if exit, ok := errors.AsType[*exec.ExitError](err); !ok || exit.ExitCode() != 1 || len(out) == 0 {
		return nil, fmt.Errorf("git could not try to merge %s into %s: %w", s.Head, s.Base, err)
	}
	parts := strings.Split(strings.TrimRight(string(out), "\x00"), "\x00")
	return parts[1:], nil // the first is the tree
}
