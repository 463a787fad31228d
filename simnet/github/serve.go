package github

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"
)

// maxBody bounds the body of an API request, in octets.
const maxBody = 10 << 20

// hourly is the number of requests a login has in an hour, as the rate limit headers tell it. Only a [Fault] enforces it.
const hourly = 5000

// Fault answers in place of the server, Times times (1 when 0), git requests too. An empty Method, PathPrefix or GraphQL matches everything.
type Fault struct {
	Method     string
	PathPrefix string // of the API path, without /api/v3
	GraphQL    string // part of the request body; matches GraphQL requests only
	After      bool   // do the work first, so the answer hides that it was done
	Status     int    // 0 drops the connection
	Header     map[string]string
	Body       string
	Times      int
	Hang       time.Duration // waited before the answer, until the caller gives up
}

// Logged is one request as it was answered.
type Logged struct {
	Method, Path, Query string // Path is without /api/v3; Query is the body of a GraphQL request
	Login               string
	Status              int
	Conditional         bool // it carried If-None-Match
}

// Fault adds a fault to the next requests that match.
func (s *Server) Fault(f Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f.Times = max(f.Times, 1)
	s.faults = append(s.faults, &f)
}

// Log lists the requests answered by this process.
func (s *Server) Log() []Logged {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.log)
}

// site is the pair of addresses a caller knows the stand-in by.
type site struct{ web, api string }

// ServeHTTP tells the API from git by host, as GitHub does: api.* is the API, github.com and github.localhost are git, and every other
// host is a GitHub Enterprise Server with /api/v3 and /api/graphql and git beside them. It also answers as a plain HTTP proxy, for these hosts
// alone.
func (s *Server) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	host := req.Host
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	if req.URL.IsAbs() && !proxied(host) {
		http.Error(w, "this proxy serves the stand-in for GitHub alone", http.StatusForbidden)
		return
	}
	scheme := "http"
	if req.TLS != nil {
		scheme = "https"
	}
	path := req.URL.Path
	web, isAPI := strings.CutPrefix(host, "api.")
	enterprise := site{web: scheme + "://" + req.Host, api: scheme + "://" + req.Host + "/api/v3"}
	switch {
	case isAPI:
		s.serveAPI(w, req, site{web: scheme + "://" + web, api: scheme + "://" + host}, path)
	case host == "github.localhost" || host == "github.com":
		s.serveGit(w, req)
	case path == "/api/graphql":
		s.serveAPI(w, req, enterprise, "/graphql")
	case path == "/api/v3" || strings.HasPrefix(path, "/api/v3/"):
		s.serveAPI(w, req, enterprise, "/"+strings.TrimPrefix(strings.TrimPrefix(path, "/api/v3"), "/"))
	default:
		s.serveGit(w, req)
	}
}

// proxied lists the hosts the server answers for when it is asked as a proxy.
func proxied(host string) bool {
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || host == "github.localhost" || host == "api.github.localhost" || err == nil && ip.IsLoopback()
}

// exchange is one API request and the answer being written to it.
type exchange struct {
	site   site
	user   *User // nil for a stranger
	body   []byte
	header http.Header
	status int
	answer bytes.Buffer
}

// Header, WriteHeader and Write make an exchange an [http.ResponseWriter].
func (x *exchange) Header() http.Header { return x.header }

// WriteHeader sets the status.
func (x *exchange) WriteHeader(status int) { x.status = status }

// Write adds to the answer.
func (x *exchange) Write(b []byte) (int, error) { return x.answer.Write(b) }

// doc is a JSON object, list an array of them.
type (
	doc  map[string]any
	list []doc
)

func (x *exchange) reply(status int, d doc) { answerJSON(x, status, d) }

// answerJSON writes v without the escapes meant for HTML.
func answerJSON[T doc | list](x *exchange, status int, v T) {
	x.header.Set("Content-Type", "application/json; charset=utf-8")
	x.status = status
	enc := json.NewEncoder(&x.answer)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		x.status = http.StatusInternalServerError
	}
}

func (x *exchange) fail(status int, message string) {
	x.reply(status, doc{"message": message, "documentation_url": "https://docs.github.com/rest", "status": strconv.Itoa(status)})
}

func (x *exchange) notFound() { x.fail(http.StatusNotFound, "Not Found") }

// serveAPI answers REST and GraphQL: credentials, faults, conditional requests, limits and the log are the same for both.
func (s *Server) serveAPI(w http.ResponseWriter, req *http.Request, at site, path string) {
	body, err := io.ReadAll(http.MaxBytesReader(w, req.Body, maxBody))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	x := &exchange{site: at, body: body, header: http.Header{}, status: http.StatusOK}
	f := s.faultFor(req.Method, path, body)
	if f != nil && !hang(req, f.Hang) {
		return
	}
	if f == nil || f.After {
		inner := req.Clone(req.Context())
		inner.URL.Path, inner.URL.RawPath = path, ""
		s.answer(x, inner)
	}
	if f != nil {
		x.fault(f)
	}
	s.finish(x, req, path, f != nil)
	x.send(w)
}

// send passes the answer on; status 0 drops the connection, as net/http has it.
func (x *exchange) send(w http.ResponseWriter) {
	if x.status == 0 {
		panic(http.ErrAbortHandler)
	}
	maps.Copy(w.Header(), x.header)
	w.WriteHeader(x.status)
	w.Write(x.answer.Bytes())
}

func (s *Server) faultFor(method, path string, body []byte) *Fault {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := slices.IndexFunc(s.faults, func(f *Fault) bool {
		return f.Times > 0 && (f.Method == "" || f.Method == method) && strings.HasPrefix(path, f.PathPrefix) &&
			(f.GraphQL == "" || path == "/graphql" && bytes.Contains(body, []byte(f.GraphQL)))
	})
	if i < 0 {
		return nil
	}
	s.faults[i].Times--
	return s.faults[i]
}

// hang waits for d and reports whether the caller is still there.
func hang(req *http.Request, d time.Duration) bool {
	if d == 0 {
		return true
	}
	select {
	case <-time.After(d):
		return true
	case <-req.Context().Done():
		return false
	}
}

func (x *exchange) fault(f *Fault) {
	x.answer.Reset()
	x.header = http.Header{}
	x.header.Set("Content-Type", "application/json; charset=utf-8")
	for k, v := range f.Header {
		x.header.Set(k, v)
	}
	x.status = f.Status
	x.answer.WriteString(f.Body)
}

// answer does the work of one request.
func (s *Server) answer(x *exchange, req *http.Request) {
	s.enter()
	defer s.leave()
	user, ok := s.caller(req)
	x.user = user
	switch {
	case s.broken != nil:
		x.fail(http.StatusInternalServerError, s.broken.Error())
	case !ok:
		x.fail(http.StatusUnauthorized, "Bad credentials")
	case req.URL.Path == "/graphql" && user == nil:
		x.fail(http.StatusUnauthorized, "This endpoint requires you to be authenticated.")
	default:
		s.routes.ServeHTTP(x, req)
	}
}

// finish adds what every answer carries. An answer the caller already has becomes 304 and costs nothing.
func (s *Server) finish(x *exchange, req *http.Request, path string, faulty bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	login := x.user.login()
	if req.Method == http.MethodGet && x.status == http.StatusOK && !faulty {
		x.condition(req, login)
	}
	if x.status != http.StatusNotModified && !faulty {
		s.used[login]++
	}
	entry := Logged{
		Method: req.Method, Path: path, Query: req.URL.RawQuery, Login: login, Status: x.status,
		Conditional: req.Header.Get("If-None-Match") != "",
	}
	resource := "core"
	if path == "/graphql" {
		resource, entry.Query = "graphql", string(x.body)
	}
	s.log = append(s.log, entry)
	h := x.header
	h.Set("X-RateLimit-Resource", resource)
	h.Set("X-RateLimit-Limit", strconv.Itoa(hourly))
	if h.Get("X-RateLimit-Remaining") == "" {
		h.Set("X-RateLimit-Remaining", strconv.Itoa(hourly-s.used[login]))
		h.Set("X-RateLimit-Used", strconv.Itoa(s.used[login]))
		h.Set("X-RateLimit-Reset", strconv.FormatInt(s.Now().Add(time.Hour).Unix(), 10))
	}
	if x.user != nil {
		h.Set("X-OAuth-Scopes", "repo, read:org, gist, workflow")
	}
	h.Set("X-GitHub-Media-Type", "github.v3; format=json")
	h.Set("X-GitHub-Request-Id", fmt.Sprintf("STAND:%d", len(s.log)))
}

// condition gives the answer its entity tag, and 304 for its body when the caller named that tag.
func (x *exchange) condition(req *http.Request, login string) {
	tag := fmt.Sprintf(`W/"%x"`, sha256.Sum256([]byte(login+" "+req.URL.String()+" "+x.answer.String())))
	x.header.Set("ETag", tag)
	x.header.Set("Cache-Control", "private, max-age=60, s-maxage=60")
	x.header.Set("Vary", "Accept, Authorization, Cookie, X-GitHub-OTP")
	if req.Header.Get("If-None-Match") == tag {
		x.status = http.StatusNotModified
		x.answer.Reset()
	}
}
