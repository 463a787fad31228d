package github

import (
	"context"
	"fmt"
)

// PullState is a pull request at this moment.
type PullState struct {
	State               string // open or closed; a merged one is closed
	Merged              bool
	MergeCommit         string // what the base became by the merge; "" unless merged
	HeadOID, HeadRef    string
	HeadRepo            string // clone URL; "" when the repository was deleted
	BaseRef             string
	CrossRepository     bool // it comes from a fork, also one that was deleted
	Draft               bool
	MaintainerCanModify bool
	AuthorID            int64 // 0 for a deleted account
	AuthorLogin         string
}

// pullAnswer is a pull request in REST's words.
type pullAnswer struct {
	Number              int    `json:"number"`
	State               string `json:"state"`
	Merged              bool   `json:"merged"`
	MergeCommit         string `json:"merge_commit_sha"` // of an open one: a trial merge, never to be used
	Mergeable           *bool  `json:"mergeable"`        // nil: not worked out
	Draft               bool   `json:"draft"`
	MaintainerCanModify bool   `json:"maintainer_can_modify"`
	User                *struct {
		ID    int64  `json:"id"`
		Login string `json:"login"`
	} `json:"user"`
	Head struct {
		SHA  string   `json:"sha"`
		Ref  string   `json:"ref"`
		Repo *repoRef `json:"repo"` // null when it was deleted, whatever GitHub's own description says
	} `json:"head"`
	Base struct {
		Ref  string  `json:"ref"`
		Repo repoRef `json:"repo"`
	} `json:"base"`
}

// Pull reads pull request n. ErrNotFound stands for a repository that the account may not see, too.
func (c *Client) Pull(ctx context.Context, owner, name string, n int) (PullState, error) {
	a, err := c.pull(ctx, owner, name, n)
	if err != nil {
		return PullState{}, err
	}
	p := PullState{
		State: a.State, Merged: a.Merged, HeadOID: a.Head.SHA, HeadRef: a.Head.Ref, BaseRef: a.Base.Ref, Draft: a.Draft,
		MaintainerCanModify: a.MaintainerCanModify, CrossRepository: true,
	}
	if a.Merged {
		p.MergeCommit = a.MergeCommit
	}
	if a.User != nil {
		p.AuthorID, p.AuthorLogin = a.User.ID, a.User.Login
	}
	if r := a.Head.Repo; r != nil {
		p.HeadRepo, p.CrossRepository = c.at.cloneURL(r.FullName), r.ID != a.Base.Repo.ID
	}
	return p, nil
}

func (c *Client) pull(ctx context.Context, owner, name string, n int) (pullAnswer, error) {
	fail := func(err error) (pullAnswer, error) {
		return pullAnswer{}, fmt.Errorf("pull request %s/%s#%d: %w", owner, name, n, err)
	}
	path, err := reposPath(owner, name)
	if err != nil {
		return pullAnswer{}, err
	}
	var a pullAnswer
	if err := get(ctx, c, fmt.Sprintf("%s/pulls/%d", path, n), &a); err != nil {
		return fail(err)
	}
	if err := a.Base.Repo.mustBe(owner, name); err != nil {
		return fail(err)
	}
	return a, a.check(n)
}

// check refuses an answer that is not about pull request n.
func (a pullAnswer) check(n int) error {
	odd := a.Number != n || a.State != "open" && a.State != "closed" || !oidForm.MatchString(a.Head.SHA) || a.Base.Ref == "" ||
		a.Merged && !oidForm.MatchString(a.MergeCommit) || a.Head.Repo != nil && !fullForm.MatchString(a.Head.Repo.FullName)
	if odd {
		return fmt.Errorf("pull request %d: %w: an odd answer", n, ErrTemporary)
	}
	return nil
}
