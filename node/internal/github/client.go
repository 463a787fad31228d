// Package github asks GitHub's API, with the sign-in of the person's own gh, who is signed in, which pull
// requests are open and what became of one; and it merges what a person approved (D-23). DESIGN.md tells more.
//
// Invariants:
//  1. The account is always that of the very token used, and every answer is GitHub's of that moment.
//  2. What GitHub did not clearly say is [ErrTemporary]: it says nothing about a pull request.
//  3. GitHub's "mergeable" is passed on as it is and decides nothing.
//  4. A merge names the head that it is for, and every doubtful answer is read back before it is believed.
package github

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"sync"
	"time"

	"github.com/cli/go-gh/v2/pkg/api"
)

// Client speaks to one GitHub. It may be used from many goroutines.
type Client struct {
	at    Endpoint
	base  *http.Transport
	pause time.Duration // before a doubtful merge is looked at again

	asking sync.Mutex // one gh at a time; guards the two below
	told   string
	toldAt time.Time

	mu    sync.Mutex
	now   *session // of the token used last
	first int      // pull requests in one page of the list

	merging sync.Mutex // GitHub wants changes one at a time
}

// requestMax is the time of one request, waits for a rate limit included.
const requestMax = 30 * time.Second

// New makes a client. It asks nobody anything yet.
func New(e Endpoint) (*Client, error) {
	if err := e.Validate(); err != nil {
		return nil, err
	}
	base, err := e.transport()
	if err != nil {
		return nil, err
	}
	return &Client{at: e, base: base, pause: time.Second, first: pageMax}, nil
}

// Close ends the idle connections.
func (c *Client) Close() { c.base.CloseIdleConnections() }

// session is what belongs to one token: another account has other limits, other rights and another name.
type session struct {
	token string
	rest  *api.RESTClient
	query *api.GraphQLClient

	mu   sync.Mutex
	me   Account
	meAt time.Time
}

func (c *Client) session(ctx context.Context) (*session, error) {
	token, err := c.Token(ctx)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.now != nil && c.now.token == token {
		return c.now, nil
	}
	transport := chain(c.base)
	options := func() api.ClientOptions {
		// go-gh writes the token into the map that it is given, so that no two clients may share one.
		return api.ClientOptions{
			Host: c.at.Host, APIHost: c.at.apiHost(), AuthToken: token, Transport: transport, Timeout: requestMax,
			CheckRedirect: follow, LogIgnoreEnv: true, Headers: map[string]string{"User-Agent": "parley"},
		}
	}
	s := &session{token: token}
	if s.rest, err = api.NewRESTClient(options()); err != nil {
		return nil, fmt.Errorf("github client: %w", err)
	}
	if s.query, err = api.NewGraphQLClient(options()); err != nil {
		return nil, fmt.Errorf("github client: %w", err)
	}
	c.now = s
	return s, nil
}

// get reads path into out.
func get[T any](ctx context.Context, c *Client, path string, out *T) error {
	s, err := c.session(ctx)
	if err != nil {
		return err
	}
	return c.settle(ctx, s.rest.DoWithContext(ctx, http.MethodGet, path, nil, out))
}

// settle classifies an error. A refused token is forgotten, and the caller's own cancelling stays what it is.
func (c *Client) settle(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil {
		return fmt.Errorf("%w: %w", ErrTemporary, ctx.Err())
	}
	if err = classify(err); errors.Is(err, ErrNotSignedIn) {
		c.forget()
	}
	return err
}

var (
	namePart = regexp.MustCompile(`^[A-Za-z0-9_.-]+$`)
	fullForm = regexp.MustCompile(`^[A-Za-z0-9_.-]+/[A-Za-z0-9_.-]+$`)
	oidForm  = regexp.MustCompile(`^([0-9a-f]{40}|[0-9a-f]{64})$`)
)

// reposPath is the API path of a repository.
func reposPath(owner, name string) (string, error) {
	for _, part := range []string{owner, name} {
		if !namePart.MatchString(part) || part == "." || part == ".." {
			return "", fmt.Errorf("repository %q/%q: not a name", owner, name)
		}
	}
	return "repos/" + owner + "/" + name, nil
}
