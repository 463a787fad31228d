package github

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/cli/go-gh/v2/pkg/api"
)

// Outcome is what became of a merge. The zero Outcome says nothing.
type Outcome int

// The outcomes. Every one is GitHub's clear word; without it, Merge returns ErrTemporary.
const (
	Merged        Outcome = iota + 1 // by this call
	AlreadyMerged                    // with the very head, before this call
	HeadMoved                        // the head is another one, open or merged: the approval is void
	Conflicts                        // GitHub finds that it conflicts
	Blocked                          // GitHub refuses it; Reason has its words
)

// String names the outcome.
func (o Outcome) String() string {
	names := []string{"unknown", "merged", "already merged", "head moved", "conflicts", "blocked"}
	if o < 0 || int(o) >= len(names) {
		return names[0]
	}
	return names[o]
}

// MergeResult is what a merge came to.
type MergeResult struct {
	Outcome Outcome
	Commit  string // merged: what the base became
	Reason  string // blocked: why, in GitHub's words
}

// pressesMax is how often one call presses the merge button.
const pressesMax = 3

// Merge merges pull request n at exactly this head, by method merge, squash or rebase. It looks before and
// after each press of the button, since a refusal may hide that the merge was done and an outage that it was;
// it may therefore be called again. ErrTemporary says that the outcome is not known.
func (c *Client) Merge(ctx context.Context, owner, name string, n int, head, method string) (MergeResult, error) {
	if !slices.Contains([]string{"merge", "squash", "rebase"}, method) || !oidForm.MatchString(head) {
		return MergeResult{}, fmt.Errorf("merge %s/%s#%d: method %q, head %q: not known", owner, name, n, method, head)
	}
	c.merging.Lock()
	defer c.merging.Unlock()
	m := merge{c: c, owner: owner, name: name, n: n, head: head, method: method}
	for try := range pressesMax {
		if err := c.rest(ctx, time.Duration(try)*c.pause); err != nil {
			return MergeResult{}, err
		}
		if done, err := m.look(ctx); done != nil || err != nil {
			return orZero(done), err
		}
		if done, err := m.press(ctx); done != nil || err != nil {
			return orZero(done), err
		}
	}
	if err := c.rest(ctx, c.pause); err != nil {
		return MergeResult{}, err
	}
	if done, err := m.look(ctx); done != nil || err != nil {
		return orZero(done), err
	}
	return MergeResult{}, fmt.Errorf("merge %s/%s#%d: %w: %w", owner, name, n, ErrTemporary, m.doubt)
}

func orZero(r *MergeResult) MergeResult {
	if r == nil {
		return MergeResult{}
	}
	return *r
}

// rest waits, or returns why not.
func (c *Client) rest(ctx context.Context, d time.Duration) error {
	if d == 0 {
		return nil
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("%w: %w", ErrTemporary, ctx.Err())
	}
}

// merge is one call of Merge.
type merge struct {
	c            *Client
	owner, name  string
	n            int
	head, method string
	doubt        error // what the last press said, which decided nothing; nil before the first
	refused      bool  // the last press said that it cannot be merged
}

// look settles the merge by how the pull request is. nil means that the button is to be pressed.
func (m *merge) look(ctx context.Context) (*MergeResult, error) {
	p, err := m.c.pull(ctx, m.owner, m.name, m.n)
	switch {
	case err != nil:
		return nil, err
	case p.Merged && p.Head.SHA != m.head:
		return &MergeResult{Outcome: HeadMoved, Reason: "it was merged with another head"}, nil
	case p.Merged && m.doubt != nil:
		return &MergeResult{Outcome: Merged, Commit: p.MergeCommit}, nil
	case p.Merged:
		return &MergeResult{Outcome: AlreadyMerged, Commit: p.MergeCommit}, nil
	case p.State != "open":
		return &MergeResult{Outcome: Blocked, Reason: "the pull request is closed"}, nil
	case p.Head.SHA != m.head:
		return &MergeResult{Outcome: HeadMoved}, nil
	case m.refused && p.Mergeable != nil && !*p.Mergeable:
		return &MergeResult{Outcome: Conflicts}, nil
	}
	return nil, nil
}

// press presses the button once. nil means that the answer settles nothing.
func (m *merge) press(ctx context.Context) (*MergeResult, error) {
	m.refused = false
	s, err := m.c.session(ctx)
	if err != nil {
		return nil, err
	}
	body, err := json.Marshal(map[string]string{"sha": m.head, "merge_method": m.method})
	if err != nil {
		return nil, err
	}
	path, err := reposPath(m.owner, m.name)
	if err != nil {
		return nil, err
	}
	var a struct {
		Merged bool   `json:"merged"`
		SHA    string `json:"sha"`
	}
	err = s.rest.DoWithContext(ctx, http.MethodPut, fmt.Sprintf("%s/pulls/%d/merge", path, m.n), bytes.NewReader(body), &a)
	if err == nil && a.Merged && oidForm.MatchString(a.SHA) {
		return &MergeResult{Outcome: Merged, Commit: a.SHA}, nil
	}
	if err == nil {
		m.doubt = errors.New("an answer that tells nothing")
		return nil, nil
	}
	return m.weigh(m.c.settle(ctx, err), err)
}

// weigh tells a clear refusal from one that another look has to explain.
func (m *merge) weigh(class, err error) (*MergeResult, error) {
	m.doubt = class
	refusal, ok := errors.AsType[*api.HTTPError](err)
	switch {
	case errors.Is(class, ErrNotSignedIn), errors.Is(class, ErrRenamed):
		return nil, fmt.Errorf("merge %s/%s#%d: %w", m.owner, m.name, m.n, class)
	case errors.Is(class, ErrNotFound):
		return &MergeResult{Outcome: Blocked, Reason: "this account may not merge here"}, nil
	case errors.Is(class, ErrTemporary) || !ok:
		return nil, nil
	}
	words := strings.ReplaceAll(refusal.Message, "\n", " ")
	switch {
	case refusal.StatusCode == http.StatusConflict:
		return &MergeResult{Outcome: HeadMoved}, nil
	case strings.Contains(words, "Base branch was modified"):
		return nil, nil
	case refusal.StatusCode == http.StatusMethodNotAllowed && strings.Contains(words, "not mergeable"):
		m.refused = true
		return nil, nil
	}
	return &MergeResult{Outcome: Blocked, Reason: words}, nil
}
