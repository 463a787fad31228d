package github

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"time"
)

// How long gh may take to give its token (a locked keyring keeps it waiting), and how long the answer to
// "who is this" counts for one token.
const (
	tokenTimeout = 10 * time.Second
	accountFor   = time.Minute
)

// Account is who is signed in. ID never changes; Login can.
type Account struct {
	Host  string
	ID    int64
	Login string
}

// Token is the credential that is used now: the endpoint's, or that of the person's gh. [ErrNoCLI] and
// [ErrNotSignedIn] are a person's to mend.
func (c *Client) Token(ctx context.Context) (string, error) {
	if c.endpoint.Token != nil {
		token, err := c.endpoint.Token(ctx)
		if err == nil && token == "" {
			err = ErrNotSignedIn
		}
		return token, err
	}
	path, err := exec.LookPath("gh")
	if err != nil {
		return "", fmt.Errorf("gh auth token: %w", ErrNoCLI)
	}
	ctx, cancel := context.WithTimeout(ctx, tokenTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, "auth", "token", "--hostname", c.endpoint.Host)
	cmd.Env = withoutTokens(os.Environ())
	cmd.WaitDelay = time.Second
	out, err := cmd.Output()
	token := strings.TrimSpace(string(out))
	switch {
	case ctx.Err() != nil:
		return "", fmt.Errorf("gh auth token: %w: it did not answer within %s", ErrTemporary, tokenTimeout)
	case err != nil || token == "":
		return "", fmt.Errorf("gh auth token: %w", ErrNotSignedIn)
	}
	return token, nil
}

// withoutTokens keeps a credential in the node's environment from standing for the person's sign-in.
func withoutTokens(env []string) []string {
	var out []string
	for _, e := range env {
		key, _, _ := strings.Cut(e, "=")
		switch key {
		case "GH_TOKEN", "GITHUB_TOKEN", "GH_ENTERPRISE_TOKEN", "GITHUB_ENTERPRISE_TOKEN", "GH_HOST", "GH_DEBUG":
			continue
		}
		out = append(out, e)
	}
	return out
}

// Whoami is the account of the token that is used now.
func (c *Client) Whoami(ctx context.Context) (Account, error) {
	token, err := c.Token(ctx)
	if err != nil {
		return Account{}, err
	}
	c.mu.Lock()
	account, fresh := c.account, c.token == token && time.Since(c.asked) < accountFor
	c.mu.Unlock()
	if fresh {
		return account, nil
	}
	var got struct {
		ID    int64  `json:"id"`
		Login string `json:"login"`
	}
	if err := c.rest(ctx, http.MethodGet, "user", "", &got); err != nil {
		return Account{}, err
	}
	if got.ID == 0 {
		return Account{}, errors.New("GET user: GitHub named no account")
	}
	account = Account{Host: c.endpoint.Host, ID: got.ID, Login: got.Login}
	c.mu.Lock()
	c.token, c.account, c.asked = token, account, time.Now()
	c.mu.Unlock()
	return account, nil
}
