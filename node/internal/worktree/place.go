package worktree

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Place is where a directory lies: a working tree of some repository, which is only looked at.
type Place struct {
	Top     string // of the working tree, absolute, links resolved
	GitDir  string // of this working tree
	Common  string // what all working trees of the repository share
	Remotes []NamedRemote
	// Trunk is the remote whose default branch work in this working tree leaves and comes back to; "" is origin.
	Trunk string
}

// NamedRemote is one remote as a person configured it. In a [Place] origin comes first, then upstream, then the others by
// their names.
type NamedRemote struct{ Name, URL string }

// Locate finds the working tree that a directory lies in. Errors: ErrNoGit, ErrNotRepository.
func Locate(ctx context.Context, git Git, dir string) (Place, error) {
	g := git.theirs(dir)
	c := call{args: []string{"rev-parse", "--path-format=absolute", "--show-toplevel", "--absolute-git-dir", "--git-common-dir"}}
	a, err := g.ask(ctx, c)
	if err != nil {
		return Place{}, fmt.Errorf("locate %s: %w", dir, err)
	}
	lines := strings.Split(strings.TrimRight(string(a.stdout), "\n"), "\n")
	if a.code != 0 || len(lines) != 3 {
		return Place{}, fmt.Errorf("%s %w", dir, ErrNotRepository)
	}
	p := Place{Top: Real(lines[0]), GitDir: Real(lines[1]), Common: Real(lines[2])}
	if p.Remotes, err = remotes(ctx, g); err != nil {
		return Place{}, fmt.Errorf("locate %s: %w", dir, err)
	}
	return p, nil
}

func remotes(ctx context.Context, g runner) ([]NamedRemote, error) {
	a, err := g.ask(ctx, call{args: []string{"config", "-z", "--get-regexp", `^remote\..*\.url$`}})
	if err != nil {
		return nil, err
	}
	if a.code > 1 { // 1: there is none
		return nil, errors.New(oneLine(a.stderr))
	}
	var out []NamedRemote
	for entry := range strings.SplitSeq(strings.TrimSuffix(string(a.stdout), "\x00"), "\x00") {
		if key, url, ok := strings.Cut(entry, "\n"); ok {
			out = append(out, NamedRemote{strings.TrimSuffix(strings.TrimPrefix(key, "remote."), ".url"), url})
		}
	}
	slices.SortStableFunc(out, func(a, b NamedRemote) int {
		return cmp.Or(cmp.Compare(remoteRank(a.Name), remoteRank(b.Name)), strings.Compare(a.Name, b.Name))
	})
	return out, nil
}

func remoteRank(name string) int {
	if i := slices.Index([]string{"origin", "upstream"}, name); i >= 0 {
		return i
	}
	return 2
}

// Shares reports whether what is checked out has history in common with a branch of a remote, as it was last fetched.
func (p Place) Shares(ctx context.Context, git Git, remote, branch string) (bool, error) {
	a, err := git.theirs(p.Top).ask(ctx, call{args: []string{"merge-base", "HEAD", "refs/remotes/" + remote + "/" + branch}})
	return err == nil && a.code == 0, err
}

// Real is a path without links, as far as it is there.
func Real(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	if dir := filepath.Dir(path); dir != path {
		return filepath.Join(Real(dir), filepath.Base(path))
	}
	return filepath.Clean(path)
}

// RemoteSlug is the repository that a remote's URL names on a host, as owner/name; "" where it names none there.
func RemoteSlug(url, host string) string {
	rest := url
	if _, after, ok := strings.Cut(url, "://"); ok {
		rest = after
	} else if before, after, ok := strings.Cut(url, ":"); ok && !strings.Contains(before, "/") {
		rest = before + "/" + after // as scp writes it
	}
	where, path, ok := strings.Cut(rest, "/")
	if !ok {
		return ""
	}
	where = where[strings.LastIndexByte(where, '@')+1:]
	if name, _, port := strings.Cut(where, ":"); port && !strings.Contains(host, ":") {
		where = name
	}
	path = strings.TrimSuffix(strings.Trim(path, "/"), ".git")
	if !strings.EqualFold(where, host) || strings.Count(path, "/") != 1 {
		return ""
	}
	return path
}

// Branch is the branch that HEAD is on, "" for none; it costs no git.
func (p Place) Branch() string {
	head, err := os.ReadFile(filepath.Join(p.GitDir, "HEAD"))
	if err != nil {
		return ""
	}
	branch, _ := strings.CutPrefix(strings.TrimSpace(string(head)), "ref: refs/heads/")
	if branch == strings.TrimSpace(string(head)) {
		return ""
	}
	return branch
}

// Stands reads where a working tree stands.
func (p Place) Stands(ctx context.Context, git Git) (CheckoutState, error) {
	c := &Checkout{top: p.Top, gitDir: p.GitDir, git: git.theirs(p.Top)}
	return c.State(ctx)
}

// Fork is where the work of a working tree left the default branch, and where that branch stands as it was last
// fetched: the remote's where there is one, else the local one. Seen is where the node's own mirror saw it last, "" for
// nowhere: it counts where the working tree has it and it is the newer one, since SyncMaster moves the local branch and
// leaves the person's record of the remote as it is. Where there is no such branch, or no common history, both are what
// HEAD is on, so that only uncommitted work counts.
func (p Place) Fork(ctx context.Context, git Git, branch string, seen OID) (base, trunk OID, err error) {
	c := &Checkout{top: p.Top, git: git.theirs(p.Top)}
	for _, ref := range []string{"refs/remotes/" + cmp.Or(p.Trunk, "origin") + "/" + branch, "refs/heads/" + branch} {
		if branch == "" {
			break
		}
		if trunk, err = c.commit(ctx, ref); err != nil || trunk != "" {
			break
		}
	}
	if err == nil && trunk != "" && seen != "" && seen != trunk {
		trunk, err = c.newer(ctx, trunk, seen)
	}
	if err != nil {
		return "", "", err
	}
	head, err := c.commit(ctx, "HEAD")
	if err != nil || trunk == "" {
		return head, head, err
	}
	a, err := c.git.ask(ctx, call{args: []string{"merge-base", string(head), string(trunk)}})
	if err != nil {
		return "", "", err
	}
	first, _, _ := strings.Cut(string(a.stdout), "\n")
	if base = OID(first); !base.Valid() {
		return head, head, nil
	}
	return base, trunk, nil
}

// newer is the second commit if it is here and descends from the first, else the first.
func (c *Checkout) newer(ctx context.Context, known, seen OID) (OID, error) {
	a, err := c.git.ask(ctx, call{args: []string{"merge-base", "--is-ancestor", string(known), string(seen)}})
	if err != nil || a.code != 0 { // 1: it does not; 128: it is not here
		return known, err
	}
	return seen, nil
}

// Ignored lists the directories that git ignores as a whole, slash-separated and below the top.
func (p Place) Ignored(ctx context.Context, git Git) ([]string, error) {
	out, err := git.theirs(p.Top).must(ctx, call{args: []string{"ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--directory"}})
	if err != nil {
		return nil, err
	}
	var dirs []string
	for entry := range strings.SplitSeq(string(out), "\x00") {
		if dir, ok := strings.CutSuffix(entry, "/"); ok {
			dirs = append(dirs, dir)
		}
	}
	return dirs, nil
}

// Files lists the paths of a commit.
func (p Place) Files(ctx context.Context, git Git, commit OID) ([]string, error) {
	out, err := git.theirs(p.Top).must(ctx, call{args: []string{"ls-tree", "-r", "-z", "--full-tree", "--name-only", string(commit)}})
	if err != nil {
		return nil, err
	}
	return strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00"), nil
}
