package worktree

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// refHead + branch is where a branch stood at GitHub when all of them were last fetched.
const refHead = "refs/parley/head/"

// HeadsMax is of how many branches a repository may be whose branches are fetched.
const HeadsMax = 5000

// ErrManyBranches says that a repository has more branches than are fetched.
var ErrManyBranches = errors.New("too many branches")

// Head is one branch as it was last fetched.
type Head struct {
	Name string
	Tip  OID
	At   time.Time // of the commit
}

// FetchHeads brings every branch that GitHub has and forgets those that are gone. Errors: ErrManyBranches, ErrTemporary,
// ErrDenied.
func (m *Mirror) FetchHeads(ctx context.Context) error {
	m.write.Lock()
	defer m.write.Unlock()
	there, err := m.remoteHeads(ctx)
	if err != nil {
		return fmt.Errorf("fetch branches: %w", err)
	}
	have, err := m.refs(ctx, refHead)
	if err != nil {
		return fmt.Errorf("fetch branches: %w", err)
	}
	var gone, want strings.Builder
	for ref, tip := range have {
		name := strings.TrimPrefix(ref, refHead)
		if there[name] == "" {
			fmt.Fprintf(&gone, "delete %s %s\n", ref, tip)
		}
	}
	for name, tip := range there {
		if have[refHead+name] != tip {
			fmt.Fprintf(&want, "+refs/heads/%s:%s%s\n", name, refHead, name)
		}
	}
	if gone.Len() > 0 { // first: a may have become a/b
		if _, err := m.git.must(ctx, call{args: []string{"update-ref", "--stdin"}, stdin: strings.NewReader(gone.String())}); err != nil {
			return fmt.Errorf("fetch branches: %w", err)
		}
	}
	if want.Len() == 0 {
		return nil
	}
	if err := m.bring(ctx, want.String()); err != nil {
		return fmt.Errorf("fetch branches: %w", err)
	}
	return nil
}

// remoteHeads asks the remote where its branches stand.
func (m *Mirror) remoteHeads(ctx context.Context) (map[string]OID, error) {
	refs, err := m.listRemote(ctx, "refs/heads/*")
	if err != nil {
		return nil, err
	}
	heads := map[string]OID{}
	for ref, oid := range refs {
		name, branch := strings.CutPrefix(ref, "refs/heads/")
		if branch && validBranch(name) == nil {
			heads[name] = oid
		}
	}
	if len(heads) > HeadsMax {
		return nil, fmt.Errorf("%w: %d", ErrManyBranches, len(heads))
	}
	return heads, nil
}

// Unmerged lists the branches of the last [Mirror.FetchHeads] that have something that the base branch has not, newest
// commit first, at most so many.
func (m *Mirror) Unmerged(ctx context.Context, base string, most int) ([]Head, error) {
	if err := validBranch(base); err != nil {
		return nil, fmt.Errorf("unmerged branches: %w", err)
	}
	out, err := m.git.must(ctx, call{args: []string{
		"for-each-ref", "--sort=-committerdate", "--count=" + strconv.Itoa(most), "--no-merged=" + refBase + base, "--format=%(objectname) %(committerdate:unix) %(refname)", refHead,
	}})
	if err != nil {
		return nil, fmt.Errorf("unmerged branches: %w", err)
	}
	var heads []Head
	for line := range strings.Lines(string(out)) {
		tip, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		at, ref, _ := strings.Cut(rest, " ")
		seconds, err := strconv.ParseInt(at, 10, 64)
		if err != nil {
			continue // no commit
		}
		heads = append(heads, Head{strings.TrimPrefix(ref, refHead), OID(tip), time.Unix(seconds, 0)})
	}
	return heads, nil
}

// Commit is who wrote one commit, and what it says that it does.
type Commit struct{ Email, Subject string }

// Commits are those that a branch has and the base has not, merges left out, newest first, at most so many.
func (m *Mirror) Commits(ctx context.Context, base, tip OID, most int) ([]Commit, error) {
	if !base.Valid() || !tip.Valid() {
		return nil, fmt.Errorf("commits of %q since %q: not commits", tip, base)
	}
	out, err := m.git.must(ctx, call{args: []string{"log", "--no-merges", "-z", "--max-count=" + strconv.Itoa(most), "--format=%ae%n%s", string(base) + ".." + string(tip)}})
	if err != nil {
		return nil, fmt.Errorf("commits of %s: %w", tip, err)
	}
	var list []Commit
	for entry := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		if email, subject, ok := strings.Cut(entry, "\n"); ok {
			list = append(list, Commit{email, strings.TrimSpace(subject)})
		}
	}
	return list, nil
}
