package github

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"regexp"
	"strings"
	"time"

	"github.com/cli/go-gh/v2/pkg/auth"
)

// localHost is the one host that is spoken to in plain http, and on this computer only.
const localHost = "github.localhost"

// Endpoint is how GitHub's API is reached (D-23).
type Endpoint struct {
	Host   string // github.com, a GitHub Enterprise host, or github.localhost: plain http to this computer
	Addr   string // loopback host:port that stands for the network, for tests and demos; "" asks the name service
	Proxy  string // http(s) URL of a proxy, unless Addr is set; "" uses none, whatever the environment says
	CAFile string // certificates in PEM to trust besides the system's
	// Token gives the token for each use; nil asks the person's own gh for it.
	Token       func(ctx context.Context) (string, error)
	NoKeepAlive bool // one connection for each request
}

var hostForm = regexp.MustCompile(`^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$`)

// Validate tells what is wrong with an endpoint.
func (e Endpoint) Validate() error {
	if !hostForm.MatchString(e.Host) {
		return fmt.Errorf("github host %q: want a name without a port", e.Host)
	}
	if n := auth.NormalizeHostname(e.Host); n != e.Host {
		return fmt.Errorf("github host %q: write %s", e.Host, n)
	}
	if e.Addr != "" {
		addr, err := netip.ParseAddrPort(e.Addr)
		if err != nil || !addr.Addr().IsLoopback() || addr.Port() == 0 {
			return fmt.Errorf("github address %q: want a loopback address and a port", e.Addr)
		}
	}
	if e.Proxy != "" {
		if u, err := url.Parse(e.Proxy); err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
			return fmt.Errorf("github proxy: want http://host:port")
		}
	}
	return nil
}

// apiHost is the host of the API. It is given to go-gh, which would otherwise read it from gh's settings once
// and never again.
func (e Endpoint) apiHost() string {
	if auth.IsEnterprise(e.Host) {
		return e.Host
	}
	return "api." + e.Host
}

// cloneURL is where git finds a repository. It follows from the host, never from an answer: a token goes there.
func (e Endpoint) cloneURL(fullName string) string {
	scheme := "https://"
	if e.Host == localHost {
		scheme = "http://"
	}
	return scheme + e.Host + "/" + fullName + ".git"
}

// transport makes the innermost transport.
func (e Endpoint) transport() (*http.Transport, error) {
	dialer := &net.Dialer{Timeout: 10 * time.Second}
	t := &http.Transport{
		ForceAttemptHTTP2: true, TLSHandshakeTimeout: 10 * time.Second, ResponseHeaderTimeout: 30 * time.Second,
		MaxIdleConnsPerHost: 4, IdleConnTimeout: 90 * time.Second, DisableKeepAlives: e.NoKeepAlive, DialContext: dialer.DialContext,
	}
	switch addr := e.Addr; {
	case addr != "":
		t.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) { return dialer.DialContext(ctx, "tcp", addr) }
	case e.Host == localHost:
		t.DialContext = func(ctx context.Context, _, to string) (net.Conn, error) {
			return dialer.DialContext(ctx, "tcp", "127.0.0.1"+to[strings.LastIndexByte(to, ':'):])
		}
	case e.Proxy != "":
		u, err := url.Parse(e.Proxy)
		if err != nil {
			return nil, fmt.Errorf("github proxy: %w", err)
		}
		t.Proxy = http.ProxyURL(u)
	}
	if e.CAFile == "" {
		return t, nil
	}
	roots, err := x509.SystemCertPool()
	if err != nil {
		roots = x509.NewCertPool()
	}
	pem, err := os.ReadFile(e.CAFile)
	if err != nil {
		return nil, fmt.Errorf("github certificates: %w", err)
	}
	if !roots.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("github certificates %s: no certificate in it", e.CAFile)
	}
	t.TLSClientConfig = &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}
	return t, nil
}
