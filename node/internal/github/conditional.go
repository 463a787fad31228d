package github

import (
	"bytes"
	"crypto/sha256"
	"io"
	"net/http"
	"sync"
)

// Bounds of what is kept for conditional requests.
const (
	keptAnswers   = 256
	keptBodyBytes = 1 << 20
)

// conditional asks again with the ETag of the last answer. GitHub does not charge an answer of 304, and
// unlike its max-age an ETag is never stale.
type conditional struct {
	next http.RoundTripper

	mu    sync.Mutex
	kept  map[[32]byte]answer
	order [][32]byte // oldest first
}

type answer struct {
	etag   string
	status int
	header http.Header
	body   []byte
}

func newConditional(next http.RoundTripper) *conditional {
	return &conditional{next: next, kept: map[[32]byte]answer{}}
}

// RoundTrip sends a request, and answers a GET from what is kept when GitHub says that it still holds.
func (c *conditional) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Method != http.MethodGet || r.Header.Get("If-None-Match") != "" {
		return c.next.RoundTrip(r)
	}
	// The same page reads differently to another account.
	key := sha256.Sum256([]byte(r.URL.String() + "\n" + r.Header.Get("Authorization") + "\n" + r.Header.Get("Accept")))
	c.mu.Lock()
	have, ok := c.kept[key]
	c.mu.Unlock()
	if ok {
		r = r.Clone(r.Context())
		r.Header.Set("If-None-Match", have.etag)
	}
	resp, err := c.next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	if ok && resp.StatusCode == http.StatusNotModified {
		resp.Body.Close()
		return have.response(r), nil
	}
	if resp.StatusCode == http.StatusOK && resp.Header.Get("ETag") != "" {
		return c.keep(key, resp)
	}
	return resp, nil
}

func (a answer) response(r *http.Request) *http.Response {
	return &http.Response{Status: http.StatusText(a.status), StatusCode: a.status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: a.header.Clone(), Body: io.NopCloser(bytes.NewReader(a.body)), ContentLength: int64(len(a.body)), Request: r}
}

func (c *conditional) keep(key [32]byte, resp *http.Response) (*http.Response, error) {
	body, err := io.ReadAll(io.LimitReader(resp.Body, keptBodyBytes+1))
	if err != nil {
		resp.Body.Close()
		return nil, err
	}
	if len(body) > keptBodyBytes {
		resp.Body = struct {
			io.Reader
			io.Closer
		}{io.MultiReader(bytes.NewReader(body), resp.Body), resp.Body}
		return resp, nil
	}
	resp.Body.Close()
	a := answer{resp.Header.Get("ETag"), resp.StatusCode, resp.Header.Clone(), body}
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, ok := c.kept[key]; !ok {
		c.order = append(c.order, key)
	}
	c.kept[key] = a
	if len(c.order) > keptAnswers {
		delete(c.kept, c.order[0])
		c.order = c.order[1:]
	}
	return a.response(resp.Request), nil
}
