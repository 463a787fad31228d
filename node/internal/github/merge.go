package github

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/cli/go-gh/v2/pkg/api"
)

// Outcome is what became of a merge.
type Outcome int

// The outcomes. The zero value is none of them.
const (
	Merged        Outcome = iota + 1
	AlreadyMerged         // with this head, before this call
	HeadMoved             // it was pushed to; nothing was merged
	Conflicts             // GitHub cannot merge it
	Blocked               // a rule of the repository is against it
)

// MergeResult is an outcome with the commit, or GitHub's words.
type MergeResult struct {
	Outcome Outcome
	Commit  string
	Reason  string
}

// pressesMax is how often a merge is asked for while GitHub says that the base branch has just moved.
const pressesMax = 3

// Merge merges a pull request whose head is still head. It looks before each press and after each doubtful
// answer, so that a merge that GitHub made without saying so is found. An outcome that stays unknown is
// [ErrTemporary].
func (c *Client) Merge(ctx context.Context, owner, name string, n int, head, method string) (MergeResult, error) {
	body, err := json.Marshal(map[string]string{"sha": head, "merge_method": method})
	if err != nil {
		return MergeResult{}, err
	}
	pressed := false
	for range pressesMax {
		p, err := c.Pull(ctx, owner, name, n)
		if err != nil {
			return MergeResult{}, err
		}
		if done, ok := settled(p, head, pressed); ok {
			return done, nil
		}
		var got struct {
			SHA    string `json:"sha"`
			Merged bool   `json:"merged"`
		}
		err = c.rest(ctx, http.MethodPut, fmt.Sprintf("repos/%s/%s/pulls/%d/merge", owner, name, n), string(body), &got)
		pressed = true
		if err == nil && got.Merged {
			return MergeResult{Outcome: Merged, Commit: got.SHA}, nil
		}
		if done, ok := refusal(err); ok {
			return done, nil
		}
		if err != nil && !again(err) {
			return MergeResult{}, err
		}
		select {
		case <-time.After(lookAgain):
		case <-ctx.Done():
			return MergeResult{}, fmt.Errorf("merge pull request %d: %w: %v", n, ErrTemporary, ctx.Err())
		}
	}
	p, err := c.Pull(ctx, owner, name, n)
	if err != nil {
		return MergeResult{}, err
	}
	if done, ok := settled(p, head, pressed); ok {
		return done, nil
	}
	return MergeResult{}, fmt.Errorf("merge pull request %d: %w: its outcome is unknown", n, ErrTemporary)
}

// settled is what the look at a pull request already decides.
func settled(p PullState, head string, pressed bool) (MergeResult, bool) {
	switch {
	case p.Merged && p.HeadOID == head && pressed:
		return MergeResult{Outcome: Merged, Commit: p.MergeCommit}, true
	case p.Merged && p.HeadOID == head:
		return MergeResult{Outcome: AlreadyMerged, Commit: p.MergeCommit}, true
	case p.HeadOID != head:
		return MergeResult{Outcome: HeadMoved}, true
	case p.State != "open":
		return MergeResult{Outcome: Blocked, Reason: "the pull request is closed"}, true
	}
	return MergeResult{}, false
}

// refusal reads GitHub's no. One status stands for several reasons, so its words decide.
func refusal(err error) (MergeResult, bool) {
	h, ok := errors.AsType[*api.HTTPError](err)
	if !ok {
		return MergeResult{}, false
	}
	switch {
	case h.StatusCode == http.StatusConflict:
		return MergeResult{Outcome: HeadMoved, Reason: h.Message}, true
	case h.StatusCode == http.StatusMethodNotAllowed && strings.Contains(h.Message, "Base branch was modified"):
		return MergeResult{}, false
	case h.StatusCode == http.StatusMethodNotAllowed && strings.Contains(h.Message, "not mergeable"):
		return MergeResult{Outcome: Conflicts, Reason: h.Message}, true
	case h.StatusCode == http.StatusMethodNotAllowed, h.StatusCode == http.StatusForbidden, h.StatusCode == http.StatusUnprocessableEntity:
		return MergeResult{Outcome: Blocked, Reason: h.Message}, true
	}
	return MergeResult{}, false
}

// again reports whether pressing once more may help: the base had moved, or GitHub's answer was lost.
func again(err error) bool {
	h, ok := errors.AsType[*api.HTTPError](err)
	return ok && h.StatusCode == http.StatusMethodNotAllowed || Temporary(err)
}
