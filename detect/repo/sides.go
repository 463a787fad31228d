package repo

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/parley-mesh/parley/detect"
)

// Which says whose work is looked at.
type Which struct {
	Names        []string // branches, commits, "#42" or directories of worktrees; none stands for all that is local
	Remotes      bool     // the branches of remotes too, as they were last fetched
	PullRequests bool     // pull requests whose refs are here
	Max          int      // at most so many, the ones worked on last; 0 for any number
}

// tip is one side as git knows it.
type tip struct {
	detect.Side
	head string
	time uint64 // of the last commit
	here bool   // a local branch
}

// refFormat is what is asked about each ref.
const refFormat = "%(refname)%00%(objectname)%00%(authorname)%00%(authoremail:trim)%00%(committerdate:unix)%00%(objecttype)"

// pullRefs are where pull requests are found that somebody fetched, from the most to the least usual.
var pullRefs = regexp.MustCompile(`^refs/(?:pull/(\d+)/head|remotes/[^/]+/pull/(\d+)(?:/head)?|remotes/[^/]+/pr/(\d+)(?:/head)?)$`)

// tips lists the sides that are asked for, and counts in the result what was left out.
func (r *Repo) tips(ctx context.Context, which Which, result *Result) (list []tip, err error) {
	for _, name := range which.Names {
		t, err := r.named(ctx, name)
		if err != nil {
			return nil, err
		}
		list = once(list, t)
	}
	if len(list) > 0 {
		return list, nil
	}
	out, err := r.out(ctx, nil, "for-each-ref", "--format="+refFormat, "refs/heads/", "refs/pull/", "refs/remotes/")
	if err != nil {
		return nil, err
	}
	everything := Which{Remotes: true, PullRequests: which.PullRequests}
	seen := map[string]bool{result.Base.Ref: true}
	for line := range strings.Lines(out) {
		t, ok := parseRef(strings.TrimRight(line, "\n"), everything)
		if ok && t.Kind == detect.PullRequest {
			result.Fetched++
		}
		if !ok || seen[t.Ref] || r.known(list, t) {
			continue
		}
		seen[t.Ref] = true
		if !t.here && t.Kind == detect.Branch && !which.Remotes {
			result.Remote++
			continue
		}
		list = append(list, t)
	}
	if list, err = r.worktrees(ctx, list, result); err != nil {
		return nil, err
	}
	slices.SortStableFunc(list, func(a, b tip) int { return cmp.Compare(b.time, a.time) })
	if which.Max > 0 && len(list) > which.Max {
		list, result.Left = list[:which.Max], len(list)-which.Max
	}
	return list, nil
}

// once adds a side to those that are named. One that is named twice is one side: a working copy, if it is one, and not its branch.
func once(list []tip, t tip) []tip {
	i := slices.IndexFunc(list, func(o tip) bool { return o.Ref == t.Ref })
	switch {
	case i < 0:
		return append(list, t)
	case t.Kind == detect.Worktree:
		list[i] = t
	}
	return list
}

// known reports whether a remote's branch or a pull request is one that is here already, at the same commit.
func (r *Repo) known(list []tip, t tip) bool {
	return !t.here && slices.ContainsFunc(list, func(o tip) bool { return o.head == t.head })
}

// parseRef makes a side of a ref, if it is one that is asked for.
func parseRef(line string, which Which) (tip, bool) {
	f := strings.Split(line, "\x00")
	if len(f) != 6 || f[5] != "commit" {
		return tip{}, false
	}
	t := tip{head: f[1], Side: detect.Side{Name: f[2], User: strings.ToLower(f[3]), Kind: detect.Branch}}
	t.time, _ = strconv.ParseUint(f[4], 10, 64)
	if m := pullRefs.FindStringSubmatch(f[0]); m != nil {
		t.Ref, t.Kind = "#"+cmp.Or(m[1], m[2], m[3]), detect.PullRequest
		return t, which.PullRequests
	}
	short, here := strings.CutPrefix(f[0], "refs/heads/")
	t.here = here
	if !here {
		if short, here = strings.CutPrefix(f[0], "refs/remotes/"); !here || !which.Remotes || strings.HasSuffix(short, "/HEAD") {
			return tip{}, false
		}
	}
	t.Ref, t.Branch = short, short
	return t, true
}

// named is the side that a person names: a directory is the working copy there, unless a branch has its name.
func (r *Repo) named(ctx context.Context, name string) (tip, error) {
	if strings.TrimSpace(name) == "" {
		return tip{}, fmt.Errorf("%q: %w", name, ErrNoRevision)
	}
	_, err := r.Resolve(ctx, "refs/heads/"+name)
	if info, missing := os.Stat(name); errors.Is(err, ErrNoRevision) && missing == nil && info.IsDir() {
		t, err := r.worktreeAt(ctx, name)
		if err == nil && t.head == "" {
			err = fmt.Errorf("directory %s: %w of this repository", name, ErrNoRevision)
		}
		return t, err
	}
	for _, ref := range candidates(name) {
		commit, err := r.Resolve(ctx, ref)
		if errors.Is(err, ErrNoRevision) {
			continue
		}
		if err != nil {
			return tip{}, err
		}
		out, err := r.line(ctx, "log", "-1", "--format=%an%x00%ae%x00%ct", commit)
		if err != nil {
			return tip{}, err
		}
		f := strings.Split(out, "\x00")
		t := tip{head: commit, Side: detect.Side{Ref: name, Branch: name, Kind: detect.Branch}}
		if len(f) == 3 {
			t.Name, t.User = f[0], strings.ToLower(f[1])
			t.time, _ = strconv.ParseUint(f[2], 10, 64)
		}
		if name[0] == '#' {
			t.Kind, t.Branch = detect.PullRequest, ""
		}
		return t, nil
	}
	return tip{}, fmt.Errorf("%s: %w", name, ErrNoRevision)
}

// candidates are the refs that a name may mean, the likeliest first.
func candidates(name string) []string {
	if n, ok := strings.CutPrefix(name, "#"); ok {
		return []string{"refs/pull/" + n + "/head", "refs/remotes/origin/pull/" + n + "/head", "refs/remotes/origin/pull/" + n, "refs/remotes/origin/pr/" + n}
	}
	return []string{"refs/heads/" + name, name, "refs/remotes/origin/" + name}
}

// worktrees adds uncommitted work: a working copy takes the place of the branch that it has checked out. Where none is, and
// nothing else leads to what is committed there, that is work too.
func (r *Repo) worktrees(ctx context.Context, list []tip, result *Result) ([]tip, error) {
	out, err := r.out(ctx, nil, "worktree", "list", "--porcelain", "-z")
	if err != nil {
		return nil, err
	}
	for record := range strings.SplitSeq(out, "\x00\x00") {
		dir, bare := "", false
		for f := range strings.SplitSeq(record, "\x00") {
			if d, ok := strings.CutPrefix(f, "worktree "); ok {
				dir = d
			}
			bare = bare || f == "bare" || strings.HasPrefix(f, "prunable")
		}
		if dir == "" || bare {
			continue
		}
		if _, err := os.Stat(dir); errors.Is(err, os.ErrNotExist) {
			continue // a locked one may stand on a disk that is not there
		}
		if dir == r.common { // of a submodule git lists that, and not where people work
			if dir, err = topOf(ctx, r.git, dir); err != nil {
				return nil, err
			}
		}
		t, err := r.worktreeAt(ctx, dir)
		if err != nil {
			return nil, err
		}
		switch {
		case t.head == "":
			result.Unread = append(result.Unread, Unread{Ref: dir, Why: "nothing is committed there yet"})
		case t.Kind == detect.Worktree:
			list = append(slices.DeleteFunc(list, func(o tip) bool { return o.Ref == t.Ref }), t)
		case t.Branch == "":
			if own, err := r.nobodyElses(ctx, t.head); err != nil {
				return nil, err
			} else if own {
				list = append(list, t)
			}
		}
	}
	return list, nil
}

// nobodyElses reports whether no ref leads to a commit.
func (r *Repo) nobodyElses(ctx context.Context, commit string) (bool, error) {
	refs, err := r.line(ctx, "for-each-ref", "--count=1", "--contains="+commit, "refs/heads/", "refs/remotes/", "refs/tags/", "refs/pull/")
	return refs == "", err
}

// branchOf is the branch that a working copy has checked out, or that is being rebased there; "" for none.
func branchOf(ctx context.Context, there git) (string, error) {
	if branch, err := there.line(ctx, "symbolic-ref", "--quiet", "--short", "HEAD"); err == nil {
		return branch, nil
	}
	files, err := there.line(ctx, "rev-parse", "--path-format=absolute", "--git-path", "rebase-merge/head-name", "--git-path", "rebase-apply/head-name")
	if err != nil {
		return "", err
	}
	for file := range strings.Lines(files) {
		ref, err := os.ReadFile(strings.TrimRight(file, "\n"))
		if branch, ok := strings.CutPrefix(strings.TrimSpace(string(ref)), "refs/heads/"); ok && err == nil {
			return branch, nil
		}
	}
	return "", nil
}

// dirty says in sentences that a side is more than its branch.
const dirty = "with uncommitted work"

// worktreeAt is the side of one working copy; without uncommitted work it is the branch.
func (r *Repo) worktreeAt(ctx context.Context, dir string) (tip, error) {
	there := r.git
	there.dir = dir
	there, _, err := there.tame(ctx) // it may have settings of its own
	if err != nil {
		return tip{}, fmt.Errorf("worktree %s: %w", dir, err)
	}
	branch, err := branchOf(ctx, there)
	if err != nil {
		return tip{}, fmt.Errorf("worktree %s: %w", dir, err)
	}
	t := tip{Side: detect.Side{Ref: branch, Branch: branch, Kind: detect.Branch, Checkout: dir, Folds: folds(ctx, there)}}
	if branch == "" {
		t.Ref = dir // its last part may well be the name of a branch
	}
	a, err := there.ask(ctx, nil, "log", "-1", "--format=%H%x00%T%x00%an%x00%ae%x00%ct", "HEAD", "--")
	if err != nil {
		return tip{}, fmt.Errorf("worktree %s: %w", dir, err)
	}
	f := strings.Split(strings.TrimRight(string(a.out), "\n"), "\x00")
	if a.code != 0 || len(f) != 5 {
		return t, nil // nothing is committed: there is nothing to compare
	}
	t.head, t.Name, t.User = f[0], f[2], strings.ToLower(f[3])
	t.time, _ = strconv.ParseUint(f[4], 10, 64)
	tree, err := r.snapshot(ctx, there, f[1])
	if err != nil {
		return tip{}, fmt.Errorf("worktree %s: %w", dir, err)
	}
	if tree == f[1] {
		return t, nil
	}
	head := t.head
	t.Kind, t.Agent = detect.Worktree, dirty
	if name, err := there.line(ctx, "config", "user.name"); err == nil {
		t.Name = name
	}
	if email, err := there.line(ctx, "config", "user.email"); err == nil {
		t.User = strings.ToLower(email)
	}
	t.head, err = r.commit(ctx, tree, head)
	return t, err
}

func folds(ctx context.Context, there git) bool {
	ignores, _ := there.line(ctx, "config", "--type=bool", "core.ignoreCase") // not set: it tells names apart
	return ignores == "true"
}

// snapshot is the tree of what stands in a working copy, ignored files left out: clean, if nothing differs. The copy's own
// index is only read.
func (r *Repo) snapshot(ctx context.Context, there git, clean string) (string, error) {
	paths, err := there.line(ctx, "rev-parse", "--path-format=absolute", "--show-toplevel", "--git-path", "index")
	if err != nil {
		return "", err
	}
	top, index, ok := strings.Cut(paths, "\n")
	if !ok {
		return "", errors.New("git names no index")
	}
	there.dir = top
	status, err := there.ask(ctx, nil, "status", "--porcelain", "-z", "--untracked-files=normal", "--no-renames", "--ignore-submodules=dirty")
	if err != nil {
		return "", err
	}
	if status.code == 0 && len(status.out) == 0 && !status.complains() {
		return clean, nil
	}
	temporary, err := os.CreateTemp(r.scratch, "index-")
	if err != nil {
		return "", err
	}
	_ = temporary.Close() // it is empty
	err = copyIndex(temporary.Name(), index)
	none := errors.Is(err, os.ErrNotExist)
	if none {
		err = os.Remove(temporary.Name())
	}
	if err != nil {
		return "", err
	}
	there = there.with("GIT_INDEX_FILE=" + temporary.Name())
	if _, err := there.out(ctx, nil, "add", "--all", "--ignore-errors", "."); err != nil {
		return "", err
	}
	if none { // nothing was ever checked out there, so nothing that is missing was deleted
		if files, err := there.out(ctx, nil, "ls-files", "-z"); err != nil || files == "" {
			return clean, err
		}
	}
	return there.line(ctx, "write-tree", "--missing-ok") // a partial clone has not all of them
}

// copyIndex copies an index with its time: git looks again at files that are not older than their index.
func copyIndex(to, from string) error {
	content, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	info, err := os.Stat(from)
	if err != nil {
		return err
	}
	if err := os.WriteFile(to, content, 0o600); err != nil {
		return err
	}
	return os.Chtimes(to, time.Time{}, info.ModTime())
}
