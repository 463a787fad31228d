package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/parley-mesh/parley/node"
	"github.com/parley-mesh/parley/node/api"
)

const commandTimeout = 10 * time.Second

// output runs a command and returns what it prints, without the last line end.
func output(ctx context.Context, name string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, commandTimeout)
	defer cancel()
	c := exec.CommandContext(ctx, name, args...)
	c.Env = append(os.Environ(), "LC_ALL=C", "GIT_TERMINAL_PROMPT=0", "GH_PROMPT_DISABLED=1")
	var said bytes.Buffer
	c.Stderr = &said
	out, err := c.Output()
	if err != nil {
		last, _, _ := strings.Cut(strings.TrimSpace(said.String()), "\n")
		return "", errors.Join(fmt.Errorf("%s: %w", last, err), ctx.Err())
	}
	return strings.TrimRight(string(out), "\n"), nil
}

func checkGit(ctx context.Context) error {
	_, err := node.CheckGit(ctx)
	return err
}

// checkGh says whether the person's own sign-in can be used; [api.ErrNoGh], [api.ErrSignIn]. It does not ask
// GitHub, which may be out of reach just now.
func checkGh(ctx context.Context, config node.Config) error {
	if config.GitHub.TokenFile != "" {
		if !exists(config.GitHub.TokenFile) {
			return fmt.Errorf("token file %s: %w", config.GitHub.TokenFile, os.ErrNotExist)
		}
		return nil
	}
	_, err := output(ctx, "gh", "auth", "token", "--hostname", config.GitHub.Host)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, exec.ErrNotFound):
		return api.ErrNoGh
	}
	err = fmt.Errorf("gh on %s: %w", config.GitHub.Host, api.ErrSignIn)
	return api.WithHint(err, "run gh auth login --hostname "+config.GitHub.Host)
}

// checkoutAt is the top of the working tree at a path; [api.ErrNotRepository].
func checkoutAt(ctx context.Context, path string) (string, error) {
	top, err := output(ctx, "git", "-C", absolute(path), "rev-parse", "--show-toplevel")
	if err != nil || top == "" {
		return "", fmt.Errorf("checkout %s: %w", path, api.ErrNotRepository)
	}
	return absolute(top), nil
}

// remoteOf is the repository that a checkout belongs to: that of the remote "upstream", where pull requests
// of a fork go, else "origin", else the only one.
func remoteOf(ctx context.Context, top string) (host, slug string, err error) {
	said, err := output(ctx, "git", "-C", top, "remote")
	if err != nil {
		return "", "", fmt.Errorf("remotes of %s: %w", top, err)
	}
	remotes := strings.Fields(said)
	for _, name := range []string{"upstream", "origin"} {
		if slices.Contains(remotes, name) {
			remotes = []string{name}
		}
	}
	if len(remotes) != 1 {
		return "", "", notOnGitHub("checkout " + top + ": has no remote named origin")
	}
	address, err := output(ctx, "git", "-C", top, "remote", "get-url", remotes[0])
	if err != nil {
		return "", "", fmt.Errorf("remote %s of %s: %w", remotes[0], top, err)
	}
	if host, slug = parseRemote(address); slug == "" {
		return "", "", notOnGitHub(fmt.Sprintf("checkout %s: remote %s, %q, names no repository on GitHub", top, remotes[0], hideUser(address)))
	}
	return host, slug, nil
}

// notOnGitHub is a checkout whose repository on GitHub cannot be told.
type notOnGitHub string

// Error is the text.
func (e notOnGitHub) Error() string { return string(e) }

// Unwrap is [api.ErrNotRepository].
func (e notOnGitHub) Unwrap() error { return api.ErrNotRepository }

var (
	scpForm  = regexp.MustCompile(`^(?:[^@/:]+@)?([A-Za-z0-9.-]{2,}):/?([^/:]+/[^/]+?)(?:\.git)?/?$`)
	pathForm = regexp.MustCompile(`^/([^/]+/[^/]+?)(?:\.git)?/?$`)
)

// parseRemote reads host and owner/name out of the forms of remote that GitHub offers; "" where it is none.
func parseRemote(address string) (host, slug string) {
	if u, err := url.Parse(address); err == nil && u.Host != "" {
		m := pathForm.FindStringSubmatch(u.Path)
		if m == nil {
			return "", ""
		}
		host = u.Host
		if u.Scheme == "ssh" || u.Scheme == "git" {
			host = u.Hostname()
		}
		return knownHost(host), m[1]
	}
	if m := scpForm.FindStringSubmatch(address); m != nil {
		return knownHost(m[1]), m[2]
	}
	return "", ""
}

// knownHost undoes GitHub's other name, for SSH through port 443.
func knownHost(host string) string {
	host = strings.ToLower(host)
	if host == "ssh.github.com" {
		return "github.com"
	}
	return host
}

// hideUser keeps a token that somebody put into a remote out of messages.
func hideUser(address string) string {
	if u, err := url.Parse(address); err == nil && u.User != nil {
		u.User = nil
		return u.String()
	}
	return address
}
