package github

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	gh "github.com/cli/go-gh/v2"
)

const (
	askMax   = 10 * time.Second // of one gh; a locked keyring waits for ever
	tokenAge = 10 * time.Second // for which gh is not asked again
)

// steering are variables by which the environment of a daemon would speak louder than the person's sign-in.
var steering = []string{
	"GH_TOKEN", "GITHUB_TOKEN", "GH_ENTERPRISE_TOKEN", "GITHUB_ENTERPRISE_TOKEN", "GH_HOST", "GH_DEBUG",
	"GH_FORCE_TTY", "GH_REPO",
}

// Token is the token that is used now, for git to use the same. The errors are ErrNoCLI, ErrNotSignedIn and
// ErrTemporary.
func (c *Client) Token(ctx context.Context) (string, error) {
	if c.at.Token == nil {
		return c.tokenOfGH(ctx)
	}
	token, err := c.at.Token(ctx)
	if err != nil {
		return "", fmt.Errorf("token for %s: %w", c.at.Host, classify(err))
	}
	return token, checkToken(token)
}

func checkToken(token string) error {
	if token == "" || strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return fmt.Errorf("%w: the token is empty or not one word", ErrNotSignedIn)
	}
	return nil
}

// tokenOfGH remembers for a moment what gh said, so that one look does not run it five times.
func (c *Client) tokenOfGH(ctx context.Context) (string, error) {
	c.asking.Lock()
	defer c.asking.Unlock()
	if c.told != "" && time.Since(c.toldAt) < tokenAge {
		return c.told, nil
	}
	token, err := askGH(ctx, c.at.Host)
	if err != nil {
		c.told = ""
		return "", fmt.Errorf("token for %s: %w", c.at.Host, err)
	}
	c.told, c.toldAt = token, time.Now()
	return token, nil
}

// forget makes gh be asked again, after GitHub has refused a token.
func (c *Client) forget() {
	c.asking.Lock()
	c.told = ""
	c.asking.Unlock()
}

// askGH runs gh auth token. Without --secure-storage it answers for the account of this person's gh folder;
// with it, for whichever account the keyring has active.
func askGH(ctx context.Context, host string) (string, error) {
	path, err := gh.Path()
	if errors.Is(err, exec.ErrNotFound) {
		return "", ErrNoCLI
	}
	if err != nil {
		return "", fmt.Errorf("%w: find gh: %w", ErrTemporary, err)
	}
	within, cancel := context.WithTimeout(ctx, askMax)
	defer cancel()
	cmd := exec.CommandContext(within, path, "auth", "token", "--hostname", host)
	cmd.WaitDelay = time.Second
	cmd.Env = slices.DeleteFunc(os.Environ(), func(e string) bool {
		key, _, _ := strings.Cut(e, "=")
		return slices.Contains(steering, strings.ToUpper(key))
	})
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err = cmd.Run()
	switch {
	case err == nil:
		token := strings.TrimSpace(stdout.String())
		return token, checkToken(token)
	case ctx.Err() != nil:
		return "", fmt.Errorf("%w: %w", ErrTemporary, ctx.Err())
	case within.Err() != nil:
		return "", fmt.Errorf("%w: gh auth token did not answer within %s", ErrTemporary, askMax)
	case errors.Is(err, os.ErrNotExist):
		return "", ErrNoCLI
	case strings.Contains(stderr.String(), "no oauth token"):
		return "", ErrNotSignedIn
	}
	return "", fmt.Errorf("%w: gh auth token: %w: %s", ErrTemporary, err, firstLine(stderr.String()))
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	return line[:min(len(line), 200)]
}
