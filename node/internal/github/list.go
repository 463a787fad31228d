package github

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/cli/go-gh/v2/pkg/api"
)

const (
	pageMax  = 50  // pull requests in a page; with a hundred GitHub runs into its own time limit
	pageMin  = 5   // below which a page that is too slow is an outage
	pagesMax = 400 // in one list
)

// openPulls lists the open pull requests into a base branch. Mergeability is asked for because asking makes
// GitHub work it out; in the order of creation a list does not shift while pull requests are updated.
const openPulls = `query OpenPulls($owner: String!, $name: String!, $base: String!, $ref: String!, $first: Int!, $after: String) {
  repository(owner: $owner, name: $name) {
    databaseId
    nameWithOwner
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

// Pull is an open pull request in a list.
type Pull struct {
	Number              int
	Title               string
	HeadOID, HeadRef    string
	HeadRepo            string // owner/name; "" when it was deleted or may not be seen
	CrossRepository     bool   // it comes from a fork
	MaintainerCanModify bool
	Draft               bool
	Mergeable           string // MERGEABLE, CONFLICTING or UNKNOWN; wrong both ways, good for an order of work only
	AuthorLogin         string // "" for a deleted account
	AuthorID            int64  // 0 for a deleted account
}

// List is the open pull requests into a base branch, oldest first.
type List struct {
	BaseTip string // commit that the base branch was at
	Pulls   []Pull
}

// listAnswer is the answer to openPulls.
type listAnswer struct {
	Repository *struct {
		DatabaseID    int64
		NameWithOwner string
		Ref           *struct{ Target struct{ OID string } }
		PullRequests  struct {
			PageInfo struct {
				HasNextPage bool
				EndCursor   string
			}
			Nodes []struct {
				Number              int
				Title               string
				HeadRefOID          string
				HeadRefName         string
				Mergeable           string
				IsDraft             bool
				IsCrossRepository   bool
				MaintainerCanModify bool
				HeadRepository      *struct{ NameWithOwner string }
				Author              *struct {
					Login      string
					DatabaseID int64
				}
			}
		}
	}
}

// OpenPulls lists the open pull requests into base. ErrNotFound stands for a missing base branch too.
func (c *Client) OpenPulls(ctx context.Context, owner, name, base string) (List, error) {
	fail := func(err error) (List, error) {
		return List{}, fmt.Errorf("list pull requests of %s/%s into %s: %w", owner, name, base, err)
	}
	if _, err := reposPath(owner, name); err != nil {
		return List{}, err
	}
	var l List
	seen := map[int]bool{}
	after := ""
	for range pagesMax {
		a, err := c.page(ctx, owner, name, base, after)
		if err != nil {
			return fail(err)
		}
		r := a.Repository
		if r == nil { // GitHub says that one is missing by an error
			return fail(fmt.Errorf("%w: an answer without a repository", ErrTemporary))
		}
		if err := (repoRef{r.DatabaseID, r.NameWithOwner}).mustBe(owner, name); err != nil {
			return fail(err)
		}
		if r.Ref == nil {
			return fail(ErrNotFound)
		}
		l.BaseTip = r.Ref.Target.OID
		for _, p := range a.pulls() {
			if !seen[p.Number] {
				seen[p.Number] = true
				l.Pulls = append(l.Pulls, p)
			}
		}
		next := r.PullRequests.PageInfo
		if !next.HasNextPage {
			return l, l.check()
		}
		if next.EndCursor == "" || next.EndCursor == after {
			return fail(fmt.Errorf("%w: a list without an end", ErrTemporary))
		}
		after = next.EndCursor
	}
	return fail(fmt.Errorf("more than %d pages", pagesMax))
}

func (a listAnswer) pulls() []Pull {
	var list []Pull
	for _, n := range a.Repository.PullRequests.Nodes {
		p := Pull{
			Number: n.Number, Title: n.Title, HeadOID: n.HeadRefOID, HeadRef: n.HeadRefName, CrossRepository: n.IsCrossRepository,
			MaintainerCanModify: n.MaintainerCanModify, Draft: n.IsDraft, Mergeable: n.Mergeable,
		}
		if n.HeadRepository != nil {
			p.HeadRepo = n.HeadRepository.NameWithOwner
		}
		if n.Author != nil {
			p.AuthorLogin, p.AuthorID = n.Author.Login, n.Author.DatabaseID
		}
		list = append(list, p)
	}
	return list
}

// check refuses ids that are none.
func (l List) check() error {
	bad := slices.IndexFunc(l.Pulls, func(p Pull) bool { return p.Number <= 0 || !oidForm.MatchString(p.HeadOID) })
	if bad >= 0 {
		return fmt.Errorf("list pull requests: %w: pull request %d has head %q", ErrTemporary, l.Pulls[bad].Number, l.Pulls[bad].HeadOID)
	}
	if !oidForm.MatchString(l.BaseTip) {
		return fmt.Errorf("list pull requests: %w: the base branch is at %q", ErrTemporary, l.BaseTip)
	}
	return nil
}

// page reads one page. One that takes GitHub too long is asked for again at half the length, and the length
// that went well is kept.
func (c *Client) page(ctx context.Context, owner, name, base, after string) (listAnswer, error) {
	s, err := c.session(ctx)
	if err != nil {
		return listAnswer{}, err
	}
	for {
		first := c.pageLength()
		vars := map[string]any{"owner": owner, "name": name, "base": base, "ref": "refs/heads/" + base, "first": first, "after": nil}
		if after != "" {
			vars["after"] = after
		}
		var a listAnswer
		err := beyondList(s.query.DoWithContext(ctx, openPulls, vars, &a))
		if err == nil || !slow(err) || first <= pageMin || ctx.Err() != nil {
			return a, c.settle(ctx, err)
		}
		c.shorten(first)
	}
}

// beyondList is the error of a list without those about a field of one pull request. GitHub sends that field as
// null and everything else as it is: a fork in an organization that the account may not see, for one, must not
// hide the pull requests of everybody else.
func beyondList(err error) error {
	e, ok := errors.AsType[*api.GraphQLError](err)
	if !ok || len(e.Errors) == 0 || slices.ContainsFunc(e.Errors, func(item api.GraphQLErrorItem) bool { return !ofOnePull(item) }) {
		return err
	}
	return nil
}

// ofOnePull reports whether an error is about what a pull request names outside the repository.
func ofOnePull(item api.GraphQLErrorItem) bool {
	p := item.Path
	return (item.Type == "FORBIDDEN" || item.Type == "NOT_FOUND") && len(p) >= 5 && p[0] == "repository" && p[1] == "pullRequests" &&
		p[2] == "nodes" && p[4] == "headRepository"
}

func (c *Client) pageLength() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.first
}

func (c *Client) shorten(from int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.first = min(c.first, max(from/2, pageMin))
}

// slow reports whether GitHub ran out of its own time.
func slow(err error) bool {
	if e, ok := errors.AsType[*api.HTTPError](err); ok {
		return e.StatusCode == http.StatusBadGateway || e.StatusCode == http.StatusGatewayTimeout
	}
	e, ok := errors.AsType[*api.GraphQLError](err)
	return ok && slices.ContainsFunc(e.Errors, tooSlow) && !strings.Contains(e.Error(), "RATE_LIMIT")
}
