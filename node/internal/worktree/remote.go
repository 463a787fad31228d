package worktree

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"strings"
)

// Remote is a repository at GitHub and how to reach it (D-23).
type Remote struct {
	URL    string                                    // https, ssh, or http to this computer alone; never with a password in it
	Token  func(ctx context.Context) (string, error) // asked for each time; nil: no credentials
	Proxy  string                                    // proxy URL; empty: none, whatever the environment says
	CAFile string                                    // certificates to trust; empty: the system's
}

// tokenVariable carries the token to the credential helper. It stands in the environment of the one git
// process that needs it, never in an argument or a URL.
const tokenVariable = "PARLEY_GIT_TOKEN"

const tokenHelper = `!f() { test "$1" = get || exit 0; echo username=x-access-token; echo "password=$` + tokenVariable + `"; }; f`

// parse checks the URL. Plain http goes to this computer only (D-23).
func (r Remote) parse() (*url.URL, error) {
	u, err := url.Parse(r.URL)
	if err != nil {
		return nil, fmt.Errorf("remote url: %w: not a URL", ErrRefused)
	}
	refuse := func(why string) (*url.URL, error) {
		return nil, fmt.Errorf("remote %s: %w: %s", u.Redacted(), ErrRefused, why)
	}
	if _, secret := u.User.Password(); secret || u.User != nil && u.Scheme != "ssh" {
		return refuse("credentials do not belong into a URL")
	}
	if u.Hostname() == "" || strings.HasPrefix(u.Hostname(), "-") {
		return refuse("no host")
	}
	switch {
	case u.Scheme == "https", u.Scheme == "ssh":
	case u.Scheme == "http" && loopback(u.Hostname()):
	case u.Scheme == "http":
		return refuse("plain http leaves this computer")
	default:
		return refuse("only https and ssh are spoken")
	}
	return u, nil
}

func loopback(host string) bool {
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	if ip := net.ParseIP(host); ip != nil {
		return ip.IsLoopback()
	}
	return host == "localhost" || strings.HasSuffix(host, ".localhost")
}

// reach completes a call that speaks to the remote: transport, proxy, certificates and credentials.
func (r Remote) reach(ctx context.Context, c call) (call, error) {
	u, err := r.parse()
	if err != nil {
		return call{}, err
	}
	c.config = append(c.config, "protocol."+u.Scheme+".allow=always", "http.proxy="+r.Proxy, "http.followRedirects=false",
		"http.lowSpeedLimit=1000", "http.lowSpeedTime=60", "http.emptyAuth=false", "credential.helper=")
	c.env = append(c.env, "GIT_SSH_COMMAND=ssh -oBatchMode=yes -oControlMaster=no")
	if r.CAFile != "" {
		c.config = append(c.config, "http.sslCAInfo="+r.CAFile)
	}
	if r.Token == nil || u.Scheme == "ssh" {
		return c, nil
	}
	token, err := r.Token(ctx)
	if err != nil {
		return call{}, fmt.Errorf("token for %s: %w", u.Host, err)
	}
	if token == "" || strings.ContainsAny(token, "\r\n\x00") {
		return call{}, fmt.Errorf("token for %s: %w: empty or not one line", u.Host, ErrDenied)
	}
	c.config = append(c.config, "credential."+u.Scheme+"://"+u.Host+".helper="+tokenHelper)
	c.env = append(c.env, tokenVariable+"="+token)
	return c, nil
}

// Phrases by which git, curl, ssh and GitHub tell a refusal from an outage. They hold under LC_ALL=C.
var (
	protectedWords = []string{"GH006", "GH013", "protected branch", "repository rule violations"}
	deniedWords    = []string{
		"authentication failed", "could not read username", "could not read password",
		"terminal prompts disabled", "returned error: 401", "returned error: 403", "returned error: 404",
		"permission denied", "permission to", "repository not found", "not found", "invalid username or password",
		"host key verification failed",
	}
	temporaryWords = []string{
		"could not resolve", "failed to connect", "couldn't connect", "connection refused",
		"connection reset", "connection timed out", "operation timed out", "timed out", "network is unreachable",
		"no route to host", "early eof", "rpc failed", "hung up unexpectedly", "unexpected disconnect", "returned error: 5",
		"returned error: 429", "empty reply from server", "operation too slow", "ssl_read", "ssl_error_syscall",
		"gnutls_handshake", "recv failure", "send failure", "proxy connect aborted", "transfer closed",
		"connection closed", "temporary failure", "internal server error",
	}
)

// refusal turns the complaint of a git that spoke to a remote into one of the sentinel errors.
func (a answer) refusal(c call) error {
	text := strings.ToLower(a.stderr)
	for _, kind := range []struct {
		words []string
		err   error
	}{{protectedWords, ErrProtected}, {temporaryWords, ErrTemporary}, {deniedWords, ErrDenied}} {
		for _, w := range kind.words {
			if strings.Contains(text, strings.ToLower(w)) {
				return fmt.Errorf("git %s: %w: %s", c.args[0], kind.err, oneLine(a.stderr))
			}
		}
	}
	return a.fail(c)
}

// validBranch is git's rule for a branch name, strict enough that the name is safe in a refspec and as an
// argument.
func validBranch(name string) error {
	bad := name == "" || len(name) > 255 || name == "@" || name == "HEAD" || strings.HasPrefix(name, "-") ||
		strings.ContainsAny(name, " ~^:?*[\\\x7f") || strings.Contains(name, "..") || strings.Contains(name, "@{")
	for _, r := range name {
		bad = bad || r < 0x20
	}
	for part := range strings.SplitSeq(name, "/") {
		bad = bad || part == "" || strings.HasPrefix(part, ".") || strings.HasSuffix(part, ".") || strings.HasSuffix(part, ".lock")
	}
	if bad {
		return fmt.Errorf("branch %q: %w: not a branch name", name, ErrRefused)
	}
	return nil
}
