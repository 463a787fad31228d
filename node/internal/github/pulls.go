package github

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/cli/go-gh/v2/pkg/api"
)

// Repository is what GitHub calls a repository.
type Repository struct {
	ID            int64  `json:"id"` // survives renames and transfers
	Name          string `json:"name"`
	FullName      string `json:"full_name"`
	DefaultBranch string `json:"default_branch"`
	CloneURL      string `json:"clone_url"`
	MergeAllowed  *bool  `json:"allow_merge_commit"` // absent for an account without push rights
	SquashAllowed *bool  `json:"allow_squash_merge"`
	RebaseAllowed *bool  `json:"allow_rebase_merge"`
}

// Method is how a pull request is merged here: by a merge commit where that is allowed, since it keeps the
// tested commit.
func (r Repository) Method() string {
	switch {
	case r.MergeAllowed == nil || *r.MergeAllowed:
		return "merge"
	case r.SquashAllowed == nil || *r.SquashAllowed:
		return "squash"
	}
	return "rebase"
}

// Repository asks for a repository by its present name.
func (c *Client) Repository(ctx context.Context, owner, name string) (Repository, error) {
	var r Repository
	err := c.rest(ctx, http.MethodGet, fmt.Sprintf("repos/%s/%s", owner, name), "", &r)
	return r, err
}

// PullState is one pull request as GitHub shows it now.
type PullState struct {
	Number              int
	State               string // "open" or "closed"
	Merged              bool
	MergeCommit         string // once merged
	HeadOID             string
	HeadRef             string
	HeadRepo            string // clone URL; "" when the fork is gone
	BaseRef             string
	CrossRepository     bool
	Draft               bool
	MaintainerCanModify bool
	AuthorID            int64
	AuthorLogin         string
}

// pullJSON is the part of GitHub's answer that is used. Pointers stand for what GitHub may send as null.
type pullJSON struct {
	Number         int     `json:"number"`
	State          string  `json:"state"`
	Merged         bool    `json:"merged"`
	MergeCommitSHA *string `json:"merge_commit_sha"`
	Draft          bool    `json:"draft"`
	MaintainerMay  bool    `json:"maintainer_can_modify"`
	User           *struct {
		ID    int64  `json:"id"`
		Login string `json:"login"`
	} `json:"user"`
	Head branchJSON `json:"head"`
	Base branchJSON `json:"base"`
}

type branchJSON struct {
	Ref  string `json:"ref"`
	SHA  string `json:"sha"`
	Repo *struct {
		ID       int64  `json:"id"`
		CloneURL string `json:"clone_url"`
	} `json:"repo"`
}

// Pull asks for one pull request.
func (c *Client) Pull(ctx context.Context, owner, name string, n int) (PullState, error) {
	var p pullJSON
	if err := c.rest(ctx, http.MethodGet, fmt.Sprintf("repos/%s/%s/pulls/%d", owner, name, n), "", &p); err != nil {
		return PullState{}, err
	}
	out := PullState{Number: p.Number, State: p.State, Merged: p.Merged, HeadOID: p.Head.SHA, HeadRef: p.Head.Ref, BaseRef: p.Base.Ref,
		Draft: p.Draft, MaintainerCanModify: p.MaintainerMay, CrossRepository: true}
	if p.Merged && p.MergeCommitSHA != nil {
		out.MergeCommit = *p.MergeCommitSHA
	}
	if p.User != nil {
		out.AuthorID, out.AuthorLogin = p.User.ID, p.User.Login
	}
	if p.Head.Repo != nil {
		out.HeadRepo = p.Head.Repo.CloneURL
		out.CrossRepository = p.Base.Repo == nil || p.Base.Repo.ID != p.Head.Repo.ID
	}
	return out, nil
}

// pullsPerPage is how many pull requests one page of the list asks for; GitHub answers larger ones with a
// server's error now and then, and a smaller page is tried then. pagesMax bounds one list.
const (
	pullsPerPage = 50
	pullsAtLeast = 5
	pagesMax     = 200
)

// listQuery lists the open pull requests into a branch. mergeable is asked for because that starts GitHub's
// own computation; it decides nothing.
const listQuery = `query OpenPulls($owner: String!, $name: String!, $base: String!, $ref: String!, $first: Int!, $after: String) {
  repository(owner: $owner, name: $name) {
    ref(qualifiedName: $ref) { target { oid } }
    pullRequests(states: OPEN, baseRefName: $base, first: $first, after: $after, orderBy: {field: CREATED_AT, direction: ASC}) {
      pageInfo { hasNextPage endCursor }
      nodes {
        number title headRefOid headRefName mergeable isDraft isCrossRepository maintainerCanModify
        headRepository { nameWithOwner }
        author { login ... on User { databaseId } ... on Bot { databaseId } }
      }
    }
  }
}`

// Pull is one open pull request of the list.
type Pull struct {
	Number              int
	Title               string
	HeadOID             string
	HeadRef             string
	HeadRepo            string // owner/name; "" when the fork is gone
	CrossRepository     bool
	MaintainerCanModify bool
	Draft               bool
	Mergeable           string // MERGEABLE, CONFLICTING or UNKNOWN: a hint
	AuthorLogin         string // "" for a deleted account
	AuthorID            int64
}

// List is the open pull requests into one branch.
type List struct {
	BaseTip string
	Pulls   []Pull
}

// listJSON is GitHub's answer to listQuery.
type listJSON struct {
	Repository *struct {
		Ref *struct {
			Target struct{ OID string } `json:"target"`
		} `json:"ref"`
		PullRequests struct {
			PageInfo struct {
				HasNextPage bool
				EndCursor   string
			} `json:"pageInfo"`
			Nodes []struct {
				Number              int
				Title               string
				HeadRefOid          string
				HeadRefName         string
				Mergeable           string
				IsDraft             bool
				IsCrossRepository   bool
				MaintainerCanModify bool
				HeadRepository      *struct{ NameWithOwner string }
				Author              *struct {
					Login      string
					DatabaseID int64 `json:"databaseId"`
				}
			}
		} `json:"pullRequests"`
	} `json:"repository"`
}

// OpenPulls lists the open pull requests into a branch, oldest first.
func (c *Client) OpenPulls(ctx context.Context, owner, name, base string) (List, error) {
	var out List
	after := ""
	for range pagesMax {
		page, err := c.page(ctx, owner, name, base, after)
		if err != nil {
			return out, fmt.Errorf("list the pull requests of %s/%s: %w", owner, name, err)
		}
		r := page.Repository
		if r == nil {
			return out, fmt.Errorf("list the pull requests of %s/%s: %w", owner, name, ErrNotFound)
		}
		if r.Ref != nil {
			out.BaseTip = r.Ref.Target.OID
		}
		for _, n := range r.PullRequests.Nodes {
			p := Pull{Number: n.Number, Title: n.Title, HeadOID: n.HeadRefOid, HeadRef: n.HeadRefName, CrossRepository: n.IsCrossRepository,
				MaintainerCanModify: n.MaintainerCanModify, Draft: n.IsDraft, Mergeable: n.Mergeable}
			if n.HeadRepository != nil {
				p.HeadRepo = n.HeadRepository.NameWithOwner
			}
			if n.Author != nil {
				p.AuthorLogin, p.AuthorID = n.Author.Login, n.Author.DatabaseID
			}
			out.Pulls = append(out.Pulls, p)
		}
		if !r.PullRequests.PageInfo.HasNextPage {
			return out, nil
		}
		after = r.PullRequests.PageInfo.EndCursor
	}
	return out, nil
}

// page asks for one page, of half the size after each server's error; the size that worked is remembered.
func (c *Client) page(ctx context.Context, owner, name, base, after string) (listJSON, error) {
	token, err := c.Token(ctx)
	if err != nil {
		return listJSON{}, err
	}
	client, err := api.NewGraphQLClient(c.options(token))
	if err != nil {
		return listJSON{}, err
	}
	for {
		c.mu.Lock()
		size := c.pageSize
		c.mu.Unlock()
		vars := map[string]any{"owner": owner, "name": name, "base": base, "ref": "refs/heads/" + base, "first": size}
		if after != "" {
			vars["after"] = after
		}
		var out listJSON
		err := client.DoWithContext(ctx, listQuery, vars, &out)
		if err == nil {
			return out, nil
		}
		if !tooLarge(err) || size <= pullsAtLeast {
			return out, explain(err)
		}
		c.mu.Lock()
		c.pageSize = max(pullsAtLeast, size/2)
		c.mu.Unlock()
	}
}

func tooLarge(err error) bool {
	text := err.Error()
	return strings.Contains(text, "HTTP 502") || strings.Contains(text, "HTTP 504")
}

// lookAgain is the wait before a doubtful merge is looked at again.
const lookAgain = time.Second
