package github

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"sync"

	"github.com/gofri/go-github-ratelimit/v2/github_ratelimit"

	"github.com/parley-mesh/parley/node/internal/trace"
)

const (
	answerMax = 16 << 20 // bytes of one answer
	keptMax   = 256      // answers kept for asking again
	keptBytes = 1 << 20  // of one kept answer
)

// resend gives each attempt of a request its own body, since the limiter below go-gh sends a request again.
type resend struct{ next http.RoundTripper }

func (r resend) RoundTrip(req *http.Request) (resp *http.Response, err error) {
	ctx, end := trace.Within(req.Context(), "GitHub "+req.Method+" "+req.URL.Path)
	defer func() { end(err) }()
	req = req.WithContext(ctx)
	if req.GetBody != nil {
		body, err := req.GetBody()
		if err != nil {
			return nil, err
		}
		req = req.Clone(req.Context())
		req.Body = body
	}
	return r.next.RoundTrip(req)
}

// conditional asks again with the entity tag of the last answer, which costs nothing of the rate limit when
// nothing has changed. It serves one token. Unlike a cache it never answers by itself: mergeability and heads
// are always GitHub's word of this moment.
type conditional struct {
	next http.RoundTripper

	mu    sync.Mutex
	kept  map[string]kept // by URL
	order []string        // of kept, oldest first
}

type kept struct {
	tag    string
	header http.Header
	body   []byte
}

// chain is every transport below go-gh for one token.
func chain(base http.RoundTripper) http.RoundTripper {
	return &conditional{next: github_ratelimit.New(resend{base}), kept: map[string]kept{}}
}

func (c *conditional) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.Method != http.MethodGet {
		return bounded(c.next.RoundTrip(req))
	}
	url := req.URL.String()
	c.mu.Lock()
	last, ok := c.kept[url]
	c.mu.Unlock()
	if ok {
		req = req.Clone(req.Context())
		req.Header.Set("If-None-Match", last.tag)
	}
	resp, err := bounded(c.next.RoundTrip(req))
	switch {
	case err != nil:
		return nil, err
	case resp.StatusCode == http.StatusNotModified && ok:
		resp.Body.Close()
		return last.again(req), nil
	case resp.StatusCode != http.StatusOK || resp.Header.Get("ETag") == "":
		return resp, nil
	}
	body, err := io.ReadAll(resp.Body)
	resp.Body.Close()
	if err != nil {
		return nil, fmt.Errorf("read answer: %w", err)
	}
	k := kept{tag: resp.Header.Get("ETag"), header: resp.Header, body: body}
	c.keep(url, k)
	return k.again(req), nil
}

func (c *conditional) keep(url string, k kept) {
	if len(k.body) > keptBytes {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, ok := c.kept[url]; !ok {
		c.order = append(c.order, url)
	}
	c.kept[url] = k
	if len(c.order) > keptMax {
		delete(c.kept, c.order[0])
		c.order = c.order[1:]
	}
}

// again is the kept answer as if it had just been sent.
func (k kept) again(req *http.Request) *http.Response {
	h := k.header.Clone()
	h.Set("Content-Length", strconv.Itoa(len(k.body)))
	return &http.Response{
		Status: "200 OK", StatusCode: http.StatusOK, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: h, Body: io.NopCloser(bytes.NewReader(k.body)), ContentLength: int64(len(k.body)), Request: req,
	}
}

// bounded ends an answer that is longer than any of GitHub's.
func bounded(resp *http.Response, err error) (*http.Response, error) {
	if err != nil {
		return nil, err
	}
	resp.Body = http.MaxBytesReader(nil, resp.Body, answerMax)
	return resp, nil
}

// follow lets a reader be sent on within the same host. Go would turn a redirected write into a read, and a
// repository that has moved must be told, not passed over.
func follow(req *http.Request, via []*http.Request) error {
	first := via[0]
	if first.Method != http.MethodGet || req.URL.Scheme != first.URL.Scheme || req.URL.Host != first.URL.Host {
		return http.ErrUseLastResponse
	}
	if len(via) > 5 {
		return fmt.Errorf("sent on %d times", len(via))
	}
	return nil
}
