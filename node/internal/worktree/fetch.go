package worktree

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Fetched is what one Fetch brought.
type Fetched struct {
	Base    OID            // where the base branch stands at GitHub
	Heads   map[uint64]OID // the head of every pull request asked for that GitHub still names
	Missing []uint64       // pull requests without a head at GitHub, ascending
	Forced  bool           // the base branch was rewritten since the Fetch before: the old tip is no ancestor of the new
	Was     OID            // where the base branch stood at the Fetch before, if it was rewritten since
}

// Fetch brings the base branch and the heads of the given pull requests. A pull request that GitHub does not
// name is reported, not an error. Every head ever seen stays in the mirror, since it belongs to what GitHub has
// (D-9). Errors: ErrTemporary, ErrDenied, ErrNoBranch.
func (m *Mirror) Fetch(ctx context.Context, base string, pulls []uint64) (Fetched, error) {
	if err := validBranch(base); err != nil {
		return Fetched{}, fmt.Errorf("fetch: %w", err)
	}
	m.write.Lock()
	defer m.write.Unlock()
	pulls = slices.Compact(slices.Sorted(slices.Values(pulls)))
	const attempts = 3 // a ref may vanish between the listing and the fetch
	var err error
	for range attempts {
		var missing []uint64
		missing, err = m.fetchOnce(ctx, base, pulls)
		if err == nil {
			return m.takeStock(ctx, base, pulls, missing)
		}
		if !errors.Is(err, errVanished) {
			break
		}
	}
	return Fetched{}, fmt.Errorf("fetch %s: %w", base, err)
}

var errVanished = errors.New("a ref vanished meanwhile")

// fetchOnce asks what there is and fetches what differs.
func (m *Mirror) fetchOnce(ctx context.Context, base string, pulls []uint64) (missing []uint64, err error) {
	branch := "refs/heads/" + base
	names := []string{branch}
	for _, n := range pulls {
		names = append(names, pullRef(n))
	}
	there, err := m.remoteRefs(ctx, names)
	if err != nil {
		return nil, err
	}
	if there[branch] == "" {
		return nil, fmt.Errorf("%s: %w", base, ErrNoBranch)
	}
	have, err := m.refs(ctx, "refs/parley/")
	if err != nil {
		return nil, err
	}
	var want strings.Builder
	add := func(src, dst string) {
		if there[src] != have[dst] {
			fmt.Fprintf(&want, "+%s:%s\n", src, dst)
		}
	}
	add(branch, refBase+base)
	for _, n := range pulls {
		if there[pullRef(n)] == "" {
			missing = append(missing, n)
			continue
		}
		add(pullRef(n), refPull+strconv.FormatUint(n, 10))
	}
	if want.Len() == 0 {
		return missing, nil
	}
	return missing, m.bring(ctx, want.String())
}

func pullRef(n uint64) string { return fmt.Sprintf("refs/pull/%d/head", n) }

// bring fetches the refspecs and lets the commit graph follow.
func (m *Mirror) bring(ctx context.Context, refspecs string) error {
	c, err := m.remote.reach(ctx, call{
		args: []string{
			"fetch", "-q", "--stdin", "--no-tags", "--no-auto-maintenance", "--no-write-fetch-head",
			"--no-recurse-submodules", "--no-show-forced-updates", m.remote.URL,
		},
		stdin: strings.NewReader(refspecs),
	})
	if err != nil {
		return err
	}
	a, err := m.git.ask(ctx, c)
	if err != nil {
		return err
	}
	if strings.Contains(a.stderr, "couldn't find remote ref") {
		return fmt.Errorf("%w: %s", errVanished, oneLine(a.stderr))
	}
	if a.code != 0 {
		return a.refusal(c)
	}
	// The graph only makes later questions cheap; without it they are answered all the same.
	_, _ = m.git.ask(ctx, call{args: []string{"commit-graph", "write", "--reachable", "--split", "--changed-paths", "--no-progress"}})
	return nil
}

// takeStock reads what the mirror holds now, remembers every head and tells whether the base was rewritten.
func (m *Mirror) takeStock(ctx context.Context, base string, pulls, missing []uint64) (Fetched, error) {
	have, err := m.refs(ctx, "refs/parley/")
	if err != nil {
		return Fetched{}, fmt.Errorf("fetch %s: %w", base, err)
	}
	f := Fetched{Base: have[refBase+base], Heads: map[uint64]OID{}, Missing: missing}
	remember := map[string]OID{refWas + base: f.Base}
	for _, n := range pulls {
		if slices.Contains(missing, n) {
			continue
		}
		number := strconv.FormatUint(n, 10)
		f.Heads[n] = have[refPull+number]
		remember[refSeen+number+"/"+string(f.Heads[n])] = f.Heads[n]
	}
	if was := have[refWas+base]; was != "" && was != f.Base {
		grown, err := m.IsAncestor(ctx, was, f.Base)
		if err != nil {
			return Fetched{}, fmt.Errorf("fetch %s: %w", base, err)
		}
		if !grown {
			f.Forced, f.Was = true, was
			remember[refRewritten+string(was)+"/"+base] = was
		}
	}
	maps.DeleteFunc(remember, func(name string, oid OID) bool { return have[name] == oid })
	if err := m.setRefs(ctx, remember); err != nil {
		return Fetched{}, fmt.Errorf("fetch %s: %w", base, err)
	}
	return f, nil
}

// Rewrites lists the former tips of a branch that its rewritten history no longer has, in the order of their ids.
// The list stands over restarts, and the mirror keeps those commits; a tip goes from it when the branch has it again.
func (m *Mirror) Rewrites(ctx context.Context, branch string) ([]OID, error) {
	if err := validBranch(branch); err != nil {
		return nil, fmt.Errorf("rewrites: %w", err)
	}
	refs, err := m.refs(ctx, "refs/parley/")
	if err != nil {
		return nil, fmt.Errorf("rewrites of %s: %w", branch, err)
	}
	var gone []OID
	for name, tip := range refs {
		if name != refRewritten+string(tip)+"/"+branch {
			continue
		}
		back, err := m.IsAncestor(ctx, tip, refs[refBase+branch])
		if err != nil {
			return nil, fmt.Errorf("rewrites of %s: %w", branch, err)
		}
		if !back {
			gone = append(gone, tip)
		}
	}
	slices.Sort(gone)
	return gone, nil
}

// remoteRefs asks the remote where the named refs stand. A ref that it does not have is not in the answer.
func (m *Mirror) remoteRefs(ctx context.Context, names []string) (map[string]OID, error) {
	refs, err := m.listRemote(ctx, names...)
	// A pattern also matches the tail of a longer name.
	maps.DeleteFunc(refs, func(name string, _ OID) bool { return !slices.Contains(names, name) })
	return refs, err
}

// listRemote asks the remote which refs match patterns, and where they stand.
func (m *Mirror) listRemote(ctx context.Context, patterns ...string) (map[string]OID, error) {
	c, err := m.remote.reach(ctx, call{args: append([]string{"ls-remote", "-q", "--refs", m.remote.URL}, patterns...)})
	if err != nil {
		return nil, err
	}
	a, err := m.git.ask(ctx, c)
	if err != nil {
		return nil, err
	}
	if a.code != 0 {
		return nil, a.refusal(c)
	}
	refs := map[string]OID{}
	for line := range strings.Lines(string(a.stdout)) {
		oid, name, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		if OID(oid).Valid() {
			refs[name] = OID(oid)
		}
	}
	return refs, nil
}

// RemoteTip asks the remote where a branch stands. Errors: ErrNoBranch, ErrTemporary, ErrDenied.
func (m *Mirror) RemoteTip(ctx context.Context, branch string) (OID, error) {
	if err := validBranch(branch); err != nil {
		return "", fmt.Errorf("remote tip: %w", err)
	}
	ref := "refs/heads/" + branch
	refs, err := m.remoteRefs(ctx, []string{ref})
	if err != nil {
		return "", fmt.Errorf("remote tip of %s: %w", branch, err)
	}
	if refs[ref] == "" {
		return "", fmt.Errorf("remote tip of %s: %w", branch, ErrNoBranch)
	}
	return refs[ref], nil
}

// Heads lists every head of a pull request that this mirror ever fetched.
func (m *Mirror) Heads(ctx context.Context, pull uint64) ([]OID, error) {
	refs, err := m.refs(ctx, refSeen+strconv.FormatUint(pull, 10)+"/")
	if err != nil {
		return nil, fmt.Errorf("heads of pull request %d: %w", pull, err)
	}
	return slices.Sorted(maps.Values(refs)), nil
}

// Tidy packs what many fetches brought. Nothing is removed, so scratches may be open meanwhile; once a month is
// enough.
func (m *Mirror) Tidy(ctx context.Context) error {
	m.write.Lock()
	defer m.write.Unlock()
	if _, err := m.git.must(ctx, call{args: []string{"gc", "-q", "--no-prune"}}); err != nil {
		return fmt.Errorf("tidy mirror: %w", err)
	}
	m.read.close()
	return nil
}
