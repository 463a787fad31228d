package github

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
)

// Account is who is signed in. The ID never changes, the login may.
type Account struct {
	Host  string
	ID    int64
	Login string
}

// meAge is how long a token's account is not asked for again.
const meAge = time.Minute

// Whoami asks for the account of the very token in use. The errors are ErrNoCLI, ErrNotSignedIn and
// ErrTemporary.
func (c *Client) Whoami(ctx context.Context) (Account, error) {
	s, err := c.session(ctx)
	if err != nil {
		return Account{}, fmt.Errorf("who am I: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.me.ID != 0 && time.Since(s.meAt) < meAge {
		return s.me, nil
	}
	var answer struct {
		ID    int64  `json:"id"`
		Login string `json:"login"`
	}
	if err := c.settle(ctx, s.rest.DoWithContext(ctx, "GET", "user", nil, &answer)); err != nil {
		return Account{}, fmt.Errorf("who am I: %w", err)
	}
	if answer.ID <= 0 || answer.Login == "" {
		return Account{}, fmt.Errorf("who am I: %w: an answer without an account", ErrTemporary)
	}
	s.me, s.meAt = Account{Host: c.at.Host, ID: answer.ID, Login: answer.Login}, time.Now()
	return s.me, nil
}

// Repository is a repository as the account sees it. The ID never changes, the names may.
type Repository struct {
	ID            int64
	Owner, Name   string
	FullName      string // owner/name
	DefaultBranch string
	CloneURL      string
	// MergeAllowed, SquashAllowed and RebaseAllowed are the ways of the merge button. GitHub tells them to those
	// who may push; to anybody else a plain merge is assumed.
	MergeAllowed, SquashAllowed, RebaseAllowed bool
	Push                                       bool // the account may push
}

// Method is the way to merge: a plain merge where the repository allows it, since then the approved commit
// itself lands on the base branch.
func (r Repository) Method() string {
	switch {
	case r.MergeAllowed || !r.SquashAllowed && !r.RebaseAllowed:
		return "merge"
	case r.SquashAllowed:
		return "squash"
	}
	return "rebase"
}

// Repository reads a repository. A repository that has moved is ErrRenamed and says its new name. ErrNotFound
// also stands for one that the account may not see; GitHub does not tell the two apart.
func (c *Client) Repository(ctx context.Context, owner, name string) (Repository, error) {
	fail := func(err error) (Repository, error) {
		return Repository{}, fmt.Errorf("repository %s/%s: %w", owner, name, err)
	}
	path, err := reposPath(owner, name)
	if err != nil {
		return Repository{}, err
	}
	var a repositoryAnswer
	if err := get(ctx, c, path, &a); err != nil {
		return fail(err)
	}
	if err := a.mustBe(owner, name); err != nil {
		return fail(err)
	}
	return a.repository(c.at), nil
}

// RepositoryByID reads the repository that has this id, whatever its name is now: after ErrRenamed it tells the
// new one. ErrNotFound also stands for one that the account may not see.
func (c *Client) RepositoryByID(ctx context.Context, id int64) (Repository, error) {
	fail := func(err error) (Repository, error) {
		return Repository{}, fmt.Errorf("repository %d: %w", id, err)
	}
	if id <= 0 {
		return fail(errors.New("not an id"))
	}
	var a repositoryAnswer
	if err := get(ctx, c, fmt.Sprintf("repositories/%d", id), &a); err != nil {
		return fail(err)
	}
	if a.ID != id || !fullForm.MatchString(a.FullName) {
		return fail(fmt.Errorf("%w: an answer about another repository", ErrTemporary))
	}
	return a.repository(c.at), nil
}

// repositoryAnswer is a repository in REST's words.
type repositoryAnswer struct {
	repoRef
	DefaultBranch string `json:"default_branch"`
	Merge         *bool  `json:"allow_merge_commit"`
	Squash        bool   `json:"allow_squash_merge"`
	Rebase        bool   `json:"allow_rebase_merge"`
	Permissions   struct {
		Push bool `json:"push"`
	} `json:"permissions"`
}

func (a repositoryAnswer) repository(at Endpoint) Repository {
	r := Repository{
		ID: a.ID, FullName: a.FullName, DefaultBranch: a.DefaultBranch, CloneURL: at.cloneURL(a.FullName),
		MergeAllowed: a.Merge == nil || *a.Merge, SquashAllowed: a.Squash, RebaseAllowed: a.Rebase, Push: a.Permissions.Push,
	}
	r.Owner, r.Name, _ = strings.Cut(a.FullName, "/")
	return r
}

// repoRef is a repository inside an answer.
type repoRef struct {
	ID       int64  `json:"id"`
	FullName string `json:"full_name"`
}

// mustBe refuses a repository that answers under another name: what was asked for is gone from there.
func (r repoRef) mustBe(owner, name string) error {
	switch {
	case r.ID <= 0 || !fullForm.MatchString(r.FullName):
		return fmt.Errorf("%w: an answer without a repository", ErrTemporary)
	case !strings.EqualFold(r.FullName, owner+"/"+name):
		return fmt.Errorf("%w: %s", ErrRenamed, r.FullName)
	}
	return nil
}
