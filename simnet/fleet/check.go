package fleet

import (
	"errors"
	"fmt"
	"strings"
)

// Adopted says whether a checkout holds exactly what GitHub's base branch holds, by git alone.
func (f *Fleet) Adopted(checkout string) error {
	tip, err := git(f.scene.Repo.Dir, "rev-parse", "refs/heads/"+base)
	if err != nil {
		return err
	}
	have, err := git(checkout, "rev-parse", "HEAD")
	if err != nil {
		return err
	}
	if have != tip {
		return fmt.Errorf("%s stands on %s, and GitHub's %s on %s", checkout, have, base, tip)
	}
	changes, err := git(checkout, "status", "--porcelain")
	if err == nil && changes != "" {
		err = fmt.Errorf("%s differs from its commit: %s", checkout, changes)
	}
	return err
}

// Untouched says whether a checkout stands on the pull request's branch as its author left it.
func (f *Fleet) Untouched(checkout string) error {
	branch, err := git(checkout, "symbolic-ref", "--short", "HEAD")
	if err != nil {
		return err
	}
	changes, err := git(checkout, "status", "--porcelain")
	if err == nil && (branch != head || changes != "") {
		err = fmt.Errorf("%s stands on %s with changes %q", checkout, branch, changes)
	}
	return err
}

// Published says whether GitHub was written exactly twice since the pull request was opened: one push and
// one merge.
func (f *Fleet) Published() error {
	var kinds []string
	for _, w := range f.scene.GitHub.Writes()[f.scene.begun:] {
		kinds = append(kinds, string(w.Kind))
	}
	if got := strings.Join(kinds, ", "); got != "push, merge" {
		return errors.Join(fmt.Errorf("the writes on GitHub are: %s", got), f.scene.GitHub.Err())
	}
	return nil
}
