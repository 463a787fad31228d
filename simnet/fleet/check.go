package fleet

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
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

// Holds says whether the two conflicting files in a checkout are as the base branch has them; other files
// may be of any age.
func (f *Fleet) Holds(checkout string) error {
	for _, path := range []string{"src/refund.ts", "run tests.sh"} {
		have, err := os.ReadFile(filepath.Join(checkout, filepath.FromSlash(path)))
		if err != nil {
			return err
		}
		if string(have) != onBase[path] {
			return fmt.Errorf("%s in %s is %q", path, checkout, have)
		}
	}
	return nil
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

// Published says whether GitHub was written exactly twice since [Fleet.Collide]: one push and
// one merge.
func (f *Fleet) Published() error {
	if got := f.Writes(); got != "push, merge" {
		return errors.Join(fmt.Errorf("the writes on GitHub are: %s", got), f.scene.GitHub.Err())
	}
	return nil
}

// Writes lists the kinds of what was written to GitHub since [Fleet.Collide].
func (f *Fleet) Writes() string {
	var kinds []string
	for _, w := range f.scene.GitHub.Writes()[f.begun:] {
		kinds = append(kinds, string(w.Kind))
	}
	return strings.Join(kinds, ", ")
}
