// Package github asks GitHub through go-gh: who is signed in, which pull requests are open, what became of
// one, and, once a person has approved it, a merge.
//
// Invariants:
//  1. The account is always that of the very token used. Nothing is cached by go-gh, and its tokens are
//     never looked up by go-gh: both outlive a sign-out.
//  2. An outage, a limit or a server's error is [ErrTemporary]: it says nothing about a pull request.
//  3. GitHub's "mergeable" is passed on as it is and decides nothing.
//  4. A merge names the head that it is for, and every doubtful answer is read back before it is believed.
package github

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/cli/go-gh/v2/pkg/api"
	"github.com/gofri/go-github-ratelimit/v2/github_ratelimit"
)

// Errors that callers branch on. All are wrapped with the operation and its object.
var (
	ErrNoCLI       = errors.New("the GitHub CLI is not installed")
	ErrNotSignedIn = errors.New("the GitHub CLI is not signed in")
	ErrNotFound    = errors.New("GitHub does not show it to this account")
	ErrRenamed     = errors.New("the repository has another name now")
	ErrTemporary   = errors.New("GitHub cannot be reached or does not answer now")
)

// requestTimeout bounds one request.
const requestTimeout = 30 * time.Second

// Endpoint is where GitHub is and how its API is reached.
type Endpoint struct {
	Host   string // github.com, a GitHub Enterprise host, or github.localhost for plain http on this machine
	Addr   string // host:port that is dialled in place of the host; loopback alone
	CAFile string // certificates in PEM that are trusted besides the system's
	// Token gives the credential; nil asks the person's own gh each time.
	Token       func(context.Context) (string, error)
	NoKeepAlive bool
}

// Validate says what is wrong with an endpoint.
func (e Endpoint) Validate() error {
	if e.Host == "" || strings.ContainsAny(e.Host, ":/ ") {
		return fmt.Errorf("GitHub host %q: want a name without a port", e.Host)
	}
	if e.Addr != "" {
		host, _, err := net.SplitHostPort(e.Addr)
		if ip := net.ParseIP(host); err != nil || ip == nil || !ip.IsLoopback() {
			return fmt.Errorf("GitHub address %q: want a loopback address with a port", e.Addr)
		}
	}
	if strings.HasSuffix(e.Host, ".localhost") && e.Addr == "" {
		return fmt.Errorf("GitHub host %q: plain http needs a loopback address", e.Host)
	}
	return nil
}

// Client asks one GitHub. Its methods may be called from several goroutines.
type Client struct {
	endpoint  Endpoint
	transport http.RoundTripper

	mu       sync.Mutex
	pageSize int
	token    string // the one that account belongs to
	account  Account
	asked    time.Time
}

// New makes a client. It asks nothing yet.
func New(e Endpoint) (*Client, error) {
	if err := e.Validate(); err != nil {
		return nil, err
	}
	base, err := e.transport()
	if err != nil {
		return nil, err
	}
	return &Client{endpoint: e, transport: newConditional(github_ratelimit.New(base)), pageSize: pullsPerPage}, nil
}

func (e Endpoint) transport() (*http.Transport, error) {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.DisableKeepAlives = e.NoKeepAlive
	if e.Addr != "" {
		t.Proxy = nil
		t.DialContext = func(ctx context.Context, network, _ string) (net.Conn, error) {
			return (&net.Dialer{Timeout: 10 * time.Second}).DialContext(ctx, network, e.Addr)
		}
	}
	if e.CAFile != "" {
		pem, err := os.ReadFile(e.CAFile)
		if err != nil {
			return nil, err
		}
		pool, err := x509.SystemCertPool()
		if err != nil {
			pool = x509.NewCertPool()
		}
		if !pool.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("certificates %s: none can be read", e.CAFile)
		}
		t.TLSClientConfig = &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}
	}
	return t, nil
}

// options is what go-gh's clients are made with: everything given, so that it looks nothing up.
func (c *Client) options(token string) api.ClientOptions {
	return api.ClientOptions{Host: c.endpoint.Host, AuthToken: token, Transport: guard{c.transport}, Timeout: requestTimeout,
		LogIgnoreEnv: true, Headers: map[string]string{}}
}

// guard refuses what must not be followed: a redirect of anything but a GET would lose its method.
type guard struct{ next http.RoundTripper }

// RoundTrip sends a request.
func (g guard) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := g.next.RoundTrip(r)
	if err == nil && resp.StatusCode >= 300 && resp.StatusCode < 400 && resp.StatusCode != http.StatusNotModified && r.Method != http.MethodGet {
		resp.Body.Close()
		return nil, ErrRenamed
	}
	return resp, err
}

// rest sends one REST request. path is relative to the API.
func (c *Client) rest(ctx context.Context, method, path, body string, into any) error {
	token, err := c.Token(ctx)
	if err != nil {
		return err
	}
	client, err := api.NewRESTClient(c.options(token))
	if err != nil {
		return fmt.Errorf("%s %s: %w", method, path, err)
	}
	if err := client.DoWithContext(ctx, method, path, strings.NewReader(body), into); err != nil {
		return fmt.Errorf("%s %s: %w", method, path, explain(err))
	}
	return nil
}

// explain gives an error of go-gh or the network its meaning.
func explain(err error) error {
	if errors.Is(err, ErrRenamed) {
		return ErrRenamed
	}
	if h, ok := errors.AsType[*api.HTTPError](err); ok {
		return explainHTTP(h)
	}
	if g, ok := errors.AsType[*api.GraphQLError](err); ok {
		return explainGraphQL(g)
	}
	if _, ok := errors.AsType[net.Error](err); ok || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
		return fmt.Errorf("%w: %v", ErrTemporary, err)
	}
	return fmt.Errorf("%w: %v", ErrTemporary, err)
}

func explainHTTP(h *api.HTTPError) error {
	limited := h.Headers.Get("Retry-After") != "" || h.Headers.Get("X-Ratelimit-Remaining") == "0"
	switch {
	case h.StatusCode == http.StatusUnauthorized:
		return fmt.Errorf("%w: %s", ErrNotSignedIn, h.Message)
	case h.StatusCode == http.StatusNotFound:
		return ErrNotFound
	case h.StatusCode >= 300 && h.StatusCode < 400:
		return ErrRenamed
	case h.StatusCode >= 500, h.StatusCode == http.StatusTooManyRequests, h.StatusCode == http.StatusForbidden && limited:
		return fmt.Errorf("%w: HTTP %d %s", ErrTemporary, h.StatusCode, h.Message)
	}
	return h
}

func explainGraphQL(g *api.GraphQLError) error {
	for _, e := range g.Errors {
		switch e.Type {
		case "NOT_FOUND":
			return ErrNotFound
		case "RATE_LIMITED", "RATE_LIMIT":
			return fmt.Errorf("%w: %s", ErrTemporary, e.Message)
		}
	}
	return g
}

// Temporary reports whether an error says nothing but "not now".
func Temporary(err error) bool { return errors.Is(err, ErrTemporary) }
