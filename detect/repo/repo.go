// Package repo reads one git repository: who works in it, what each of them changed, and what git says about
// merging them. It writes nothing to the repository: neither objects nor index, HEAD or refs; what git makes on
// the way goes into a directory that [Repo.Close] removes.
package repo

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/parley-mesh/parley/detect"
)

// Repo is one repository.
type Repo struct {
	git
	merger  git // as git, away from the working copy where drivers of it would be run
	scratch string
	common  string          // the directory that all worktrees share
	shallow map[string]bool // commits behind which the history is cut off
	graph   graph
	reader  detect.Reader // nil: nothing is known about code
	cache   Cache         // nil: nothing is kept
	mu      sync.Mutex    // of units and made
	units   map[unitKey]detect.Unit
	made    map[unitKey]detect.Made
}

type unitKey struct{ path, blob string }

// ErrNoRepository is said of a directory in which no git repository is found.
var ErrNoRepository = errors.New("not a git repository")

// ErrForeign is said of a repository that git does not open, because its directory belongs to somebody else.
var ErrForeign = errors.New("git does not open it: its directory belongs to another user")

// ErrNoRevision is said of a name that is no commit.
var ErrNoRevision = errors.New("no such branch or commit")

// ErrEmpty is said of a repository in which nothing is committed yet.
var ErrEmpty = errors.New("nothing is committed yet")

// ErrBroken is said of a repository that git finds and cannot read: a fault in its settings, as a rule.
var ErrBroken = errors.New("git cannot read it")

// Open finds the repository of a directory; [ErrNoRepository], [ErrForeign], [ErrBroken].
func Open(ctx context.Context, dir string) (*Repo, error) {
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return nil, errors.Join(fmt.Errorf("open %s: %w", dir, ErrNoRepository), err)
	}
	g := newGit(dir)
	a, err := g.ask(ctx, nil, "rev-parse", "--path-format=absolute", "--git-common-dir", "--git-path", "objects")
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", dir, err)
	}
	paths := strings.Split(strings.TrimRight(string(a.out), "\n"), "\n")
	switch {
	case strings.Contains(a.stderr, "dubious ownership"):
		return nil, fmt.Errorf("open %s: %w", foreign(a.stderr, dir), ErrForeign)
	case a.code != 0 && !strings.Contains(a.stderr, "not a git repository"):
		return nil, fmt.Errorf("open %s: %w: %s", dir, ErrBroken, a.says())
	case a.code != 0 || len(paths) != 2:
		return nil, fmt.Errorf("open %s: %w", dir, ErrNoRepository)
	}
	scratch, err := os.MkdirTemp("", "parley-check-")
	if err != nil {
		return nil, err
	}
	r := &Repo{scratch: scratch, common: paths[0], units: map[unitKey]detect.Unit{}, made: map[unitKey]detect.Made{}}
	if err := os.Mkdir(filepath.Join(scratch, "objects"), 0o700); err != nil {
		return nil, errors.Join(err, r.Close())
	}
	if g.dir, err = topOf(ctx, g, paths[0]); err != nil {
		return nil, errors.Join(fmt.Errorf("open %s: %w", dir, err), r.Close())
	}
	r.git = g.with("GIT_OBJECT_DIRECTORY="+filepath.Join(scratch, "objects"), "GIT_ALTERNATE_OBJECT_DIRECTORIES="+quotePath(paths[1]))
	if err := r.calm(ctx, dir, paths[0]); err != nil {
		return nil, errors.Join(err, r.Close())
	}
	if r.shallow, err = readShallow(filepath.Join(paths[0], "shallow")); err != nil {
		return nil, errors.Join(err, r.Close())
	}
	return r, nil
}

// topOf is where git is run: at the top of the working copy, because below it git takes and names paths from there, and
// inside its own directory it answers only half of what it is asked. A bare repository has no better place than the one that was named.
func topOf(ctx context.Context, g git, common string) (string, error) {
	dirs := []string{g.dir}
	if filepath.Base(common) == ".git" {
		dirs = append(dirs, filepath.Dir(common))
	}
	for _, g.dir = range dirs {
		a, err := g.ask(ctx, nil, "rev-parse", "--path-format=absolute", "--show-toplevel")
		if err != nil {
			return "", err
		}
		if top, ok := strings.CutSuffix(string(a.out), "\n"); ok && a.code == 0 {
			return top, nil
		}
	}
	return dirs[0], nil
}

// foreign is the directory that git complains about: the top of the repository, as safe.directory wants it.
func foreign(said, dir string) string {
	_, rest, _ := strings.Cut(said, "repository at '")
	if top, _, ok := strings.Cut(rest, "'"); ok {
		return top
	}
	return dir
}

// calm keeps programs of the repository's settings from being run. git puts the three versions of a file that has a
// merge driver where it works, so that merges have a directory of their own then.
func (r *Repo) calm(ctx context.Context, dir, gitDir string) error {
	tamed, drivers, err := r.tame(ctx)
	r.git, r.merger = tamed, tamed
	if err != nil || !drivers {
		return err
	}
	r.merger.dir = filepath.Join(r.scratch, "merge")
	r.merger = r.merger.with("GIT_DIR="+gitDir, "GIT_WORK_TREE="+r.merger.dir)
	if err := os.Mkdir(r.merger.dir, 0o700); err != nil {
		return fmt.Errorf("open %s: %w", dir, err)
	}
	return nil
}

// Close removes what git made.
func (r *Repo) Close() error { return os.RemoveAll(r.scratch) }

// quotePath is a directory as git takes it in a list of them.
func quotePath(dir string) string {
	if strings.ContainsRune(dir, os.PathListSeparator) || strings.HasPrefix(dir, `"`) {
		return strconv.Quote(dir)
	}
	return dir
}

func readShallow(path string) (map[string]bool, error) {
	b, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	cutOff := map[string]bool{}
	for commit := range strings.FieldsSeq(string(b)) {
		cutOff[commit] = true
	}
	return cutOff, err
}

// Resolve is the commit that a name stands for; [ErrNoRevision].
func (r *Repo) Resolve(ctx context.Context, name string) (string, error) {
	a, err := r.ask(ctx, nil, "rev-parse", "--verify", "--quiet", "--end-of-options", name+"^{commit}")
	if err != nil {
		return "", err
	}
	if a.code != 0 {
		return "", fmt.Errorf("%s: %w", name, ErrNoRevision)
	}
	return strings.TrimSpace(string(a.out)), nil
}

// Trunk is the branch that everything is merged into: the remote's default branch as it was last fetched, else
// main or master, else what is checked out; [ErrEmpty]. The names are
// as short as people write them.
func (r *Repo) Trunk(ctx context.Context) (name, commit string, err error) {
	name, commit, _, err = r.trunk(ctx)
	return name, commit, err
}

// trunk is as Trunk; guessed says that it is what happens to be checked out.
func (r *Repo) trunk(ctx context.Context) (name, commit string, guessed bool, err error) {
	out, err := r.out(ctx, nil, append([]string{"for-each-ref", "--format=%(refname)%00%(symref)"}, trunks...)...)
	if err != nil {
		return "", "", false, err
	}
	here, err := r.ask(ctx, nil, "symbolic-ref", "--quiet", "HEAD")
	if err != nil {
		return "", "", false, err
	}
	there := map[string]string{"HEAD": cmp.Or(strings.TrimSpace(string(here.out)), "HEAD")} // the refs, and what they are called
	for line := range strings.Lines(out) {
		ref, to, _ := strings.Cut(strings.TrimRight(line, "\n"), "\x00")
		if there[ref] = ref; ref == trunks[0] && to != "" {
			there[ref] = to
		}
	}
	for _, ref := range append(slices.Clip(trunks), "HEAD") {
		if there[ref] == "" {
			continue
		}
		commit, err := r.Resolve(ctx, there[ref])
		if err == nil {
			return strings.TrimPrefix(strings.TrimPrefix(there[ref], "refs/heads/"), "refs/remotes/"), commit, ref == "HEAD", nil
		}
		if !errors.Is(err, ErrNoRevision) {
			return "", "", false, err
		}
	}
	return "", "", false, fmt.Errorf("repository %s: %w", r.dir, ErrEmpty)
}

// trunks are the refs that may be the trunk, the likeliest first.
var trunks = []string{"refs/remotes/origin/HEAD", "refs/remotes/origin/main", "refs/remotes/origin/master", "refs/heads/main", "refs/heads/master"}

// File is one file of a commit; false when there is none. One that is there and cannot be read is an error.
func (r *Repo) File(ctx context.Context, commit, path string) ([]byte, bool, error) {
	entry, err := r.out(ctx, nil, "--literal-pathspecs", "ls-tree", "-z", "--full-tree", commit, "--", path)
	if err != nil || entry == "" {
		return nil, false, err
	}
	content, err := r.out(ctx, nil, "cat-file", "blob", commit+":"+path)
	return []byte(content), err == nil, err
}
