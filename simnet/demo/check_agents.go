package demo

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"

	"github.com/parley-mesh/parley/node/api"
	"github.com/parley-mesh/parley/simnet/github"
)

func contains(text, words string) bool { return strings.Contains(text, words) }

// mergeFile reports whether git merges two files with a base in common.
func mergeFile(ctx context.Context, dir, base, ours, theirs string) (clean bool, err error) {
	f, err := os.CreateTemp("", "parley-base-")
	if err != nil {
		return false, err
	}
	defer os.Remove(f.Name())
	if _, err := f.WriteString(base); err != nil {
		return false, errors.Join(err, f.Close())
	}
	if err := f.Close(); err != nil {
		return false, err
	}
	c := exec.CommandContext(ctx, "git", "-C", dir, "merge-file", "-p", "-q", ours, f.Name(), theirs)
	c.Env = withoutGit(os.Environ())
	err = c.Run()
	exit, failed := errors.AsType[*exec.ExitError](err)
	switch {
	case err == nil:
		return true, nil
	case failed && exit.ExitCode() > 0 && exit.ExitCode() < 128:
		return false, nil // the number of conflicts
	}
	return false, err
}

// check looks at the end of the day with git and the file system, and at what the agents heard.
func (d *day) check(ctx context.Context) error {
	d.printf("\nChecking:")
	var broken []error
	check := func(what string, err error) {
		if err != nil {
			broken = append(broken, fmt.Errorf("%s: %w", what, err))
			d.printf("  ✗ %s: %v", what, err)
			return
		}
		d.printf("  ✓ %s", what)
	}
	check("every kind of conflict arose, and is closed on all computers", d.everyKind(ctx))
	check("who had to wait was the newcomer, and nobody else ever", d.onlyNewcomersWaited())
	check("each working copy holds exactly what its agent was let write", d.filesAreTheAgents(ctx))
	check("the base branch's checkouts were never touched", d.checkoutsClean(ctx))
	check("nothing was written to GitHub", d.nothingPushed())
	if len(broken) > 0 {
		return fmt.Errorf("%w: %w", ErrBroken, errors.Join(broken...))
	}
	return nil
}

// everyKind holds the history of each computer against the seven kinds.
func (d *day) everyKind(ctx context.Context) error {
	kinds := map[string]bool{}
	for i, m := range d.machines {
		err := d.client(i, func(c *api.Client) error {
			all, err := c.Conflicts(ctx, api.ConflictQuery{All: true})
			for _, c := range all {
				kinds[c.Kind] = true
				if live(c) {
					err = errors.Join(err, fmt.Errorf("%s is %s at %s", c.Ref, c.Status, m.name))
				}
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	want := []string{"contract_break", "dependency_order", "duplicate_work", "path_overlap", "protected_path", "symbol_overlap", "textual_merge"}
	if have := slices.Sorted(maps.Keys(kinds)); !slices.Equal(have, want) {
		return fmt.Errorf("the kinds were %s", strings.Join(have, ", "))
	}
	return nil
}

// onlyNewcomersWaited compares the refusals that agents met with those that the script foresees.
func (d *day) onlyNewcomersWaited() error {
	for i, a := range d.agents {
		may := i == fee || i == penny
		if n := len(a.blocked); n != d.refused[a.who] || n > 0 != may {
			return fmt.Errorf("%s was refused %d edits: %s", a.who, n, strings.Join(a.blocked, "; "))
		}
	}
	return nil
}

// filesAreTheAgents compares each working copy with its commit and what its agent wrote since.
func (d *day) filesAreTheAgents(ctx context.Context) error {
	var wrong []error
	for _, a := range d.agents {
		want, err := committed(ctx, a.dir)
		if err != nil {
			return err
		}
		maps.Copy(want, a.wrote)
		have, err := files(a.dir)
		if err != nil {
			return err
		}
		delete(have, ".git") // of a worktree: a file that leads to the repository
		if err := differ(want, have); err != nil {
			wrong = append(wrong, fmt.Errorf("%s: %w", a.who, err))
		}
	}
	return errors.Join(wrong...)
}

// committed is every file of a working copy's commit.
func committed(ctx context.Context, dir string) (map[string]string, error) {
	archive, err := os.MkdirTemp("", "parley-commit-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(archive)
	if _, err := git(ctx, dir, "--work-tree", archive, "restore", "--source=HEAD", "--worktree", "--", "."); err != nil {
		return nil, err
	}
	return files(archive)
}

func (d *day) checkoutsClean(ctx context.Context) error {
	for i, m := range d.machines {
		status, err := git(ctx, d.checkout(i), "status", "--porcelain")
		if err != nil || status != "" {
			return errors.Join(err, fmt.Errorf("%s: %q", m.name, status))
		}
	}
	return nil
}

// nothingPushed reads the stand-in's log, which belongs to one process at a time.
func (d *day) nothingPushed() error {
	d.github.stop()
	server, err := github.New(d.path("github"))
	if err != nil {
		return err
	}
	if n := len(server.Writes()); n > 0 {
		return fmt.Errorf("%d writes", n)
	}
	return nil
}
