package node

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"strings"

	"github.com/parley-mesh/parley/node/internal/agents"
	"github.com/parley-mesh/parley/node/internal/github"
	"github.com/parley-mesh/parley/node/internal/worktree"
)

// endpoint is how GitHub's API is reached.
func (g GitHubConfig) endpoint() github.Endpoint {
	return github.Endpoint{Host: g.Host, Addr: g.Addr, Proxy: g.Proxy, CAFile: g.CAFile, Token: g.token()}
}

// token reads the configured token file; nil leaves it to the person's own gh.
func (g GitHubConfig) token() func(context.Context) (string, error) {
	if g.TokenFile == "" {
		return nil
	}
	return func(context.Context) (string, error) {
		text, err := os.ReadFile(g.TokenFile)
		if err != nil {
			return "", fmt.Errorf("read the token: %w", err)
		}
		return strings.TrimSpace(string(text)), nil
	}
}

// remote is how git reaches a repository at GitHub: the same host, credentials, proxy and certificates as
// the API (D-23).
func (n *Node) remote(cloneURL string) worktree.Remote {
	g := n.cfg.GitHub
	return worktree.Remote{URL: cloneURL, Token: n.gh.Token, Proxy: g.Proxy, CAFile: g.CAFile}
}

// cloneURL is where git finds a repository. It follows from the configuration, never from a record.
func (g GitHubConfig) cloneURL(owner, name string) string {
	u := url.URL{Scheme: "https", Host: g.Host, Path: "/" + owner + "/" + name + ".git"}
	if strings.HasSuffix(g.Host, ".localhost") {
		u.Scheme = "http" // this computer alone; the adapters refuse any other plain http
	}
	return u.String()
}

// template is the desk's command.
func (d DeskConfig) template() agents.Template {
	return agents.Template{Argv: d.Argv, Timeout: d.Timeout.Duration, Env: d.Env}
}
