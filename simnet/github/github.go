// Package github is a stand-in for GitHub: its REST and GraphQL answers over real bare git repositories, with git's own smart HTTP
// beside them. It imports no testing package, so a program may serve it as well as a test.
//
// It keeps the habits of GitHub that clients trip over:
//   - whether a pull request merges is worked out late: REST says null and GraphQL UNKNOWN until then, and the answer is thrown away
//     whenever the head or the base moves;
//   - refs/pull/N/head follows the head; refs/pull/N/merge is written by a clean trial merge only and so goes stale on a conflict;
//   - base.sha and baseRefOid tell the base at the last push to the head, not the base's tip;
//   - 405 has many reasons, 409 guards the head, 422 answers update-branch for three causes;
//   - answers carry entity tags, rate limits and page links, and a caller may be told any [Fault].
//
// What git holds is the truth. A hook in every repository notes each branch that moves, in the same breath as git moves it, and the
// server takes its own changes from those notes too; everything else lives in one JSON file beside the repositories. A server killed
// at any moment therefore goes on correctly from the same folder.
package github

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/vektah/gqlparser/v2/ast"
)

// Server is the stand-in; it answers HTTP and may be used from many goroutines. Make one with [New].
type Server struct {
	// MergeDelay is how long the answer whether a pull request merges takes. Set it before the first request.
	MergeDelay time.Duration
	// GraphQLWaits makes GraphQL work mergeability out before it answers, as github.com was seen to do. Set it before the first request.
	GraphQLWaits bool
	// Now is the clock, time.Now unless replaced before the first request.
	Now func() time.Time

	dir    string
	schema *ast.Schema
	routes *http.ServeMux

	mu      sync.Mutex
	changed bool  // the JSON file is behind
	broken  error // why the folder cannot be trusted any more
	lastID  int64
	users   []*User
	tokens  map[string]*User
	repos   []*Repo
	moved   map[string]int64 // the numbers of repositories by the names they had, owner/name in lower case
	writes  []Write
	faults  []*Fault
	log     []Logged
	used    map[string]int // requests charged, by login
	missing map[string]int // GraphQL fields asked for and not known, by Type.field
}

// User is an account: a person or, with Org, an organization. It never changes.
type User struct {
	ID    int64
	Login string
	Name  string
	Org   bool
}

// New serves the folder dir, making it where needed. A folder served before goes on where it stood.
func New(dir string) (*Server, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("open stand-in %s: %w", dir, err)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("open stand-in %s: %w", dir, err)
	}
	schema, err := loadSchema()
	if err != nil {
		return nil, fmt.Errorf("open stand-in %s: %w", dir, err)
	}
	s := &Server{
		Now: time.Now, dir: dir, schema: schema, lastID: 1000, tokens: map[string]*User{}, moved: map[string]int64{},
		used: map[string]int{}, missing: map[string]int{},
	}
	s.routes = s.newRoutes()
	if err := s.load(); err != nil {
		return nil, fmt.Errorf("open stand-in %s: %w", dir, err)
	}
	s.enter()
	defer s.leave()
	for _, r := range s.repos {
		if err := s.settle(r); err != nil {
			return nil, fmt.Errorf("open stand-in %s: %w", dir, err)
		}
	}
	return s, s.broken
}

// enter locks the server and takes in whatever git noted since; leave stores what changed and unlocks.
func (s *Server) enter() {
	s.mu.Lock()
	s.takeIn()
}

func (s *Server) leave() {
	if s.changed {
		s.save()
	}
	s.mu.Unlock()
}

// Err tells why the folder cannot be trusted any more, nil while it can. Once it cannot, every request is answered with status 500.
func (s *Server) Err() error {
	s.enter()
	defer s.leave()
	return s.broken
}

func (s *Server) newID() int64 {
	s.lastID++
	s.changed = true
	return s.lastID
}

// AddUser adds a person who may sign in with token. For a login that exists it adds the token only; an empty token adds none.
func (s *Server) AddUser(login, token string) *User {
	return s.addAccount(login, token, false)
}

// AddOrg adds an organization. Nobody can let maintainers edit a branch of a fork it owns.
func (s *Server) AddOrg(login string) *User {
	return s.addAccount(login, "", true)
}

func (s *Server) addAccount(login, token string, org bool) *User {
	s.enter()
	defer s.leave()
	u := s.user(login)
	if u == nil {
		u = &User{ID: s.newID(), Login: login, Name: login, Org: org}
		s.users = append(s.users, u)
	}
	if token != "" {
		s.tokens[token] = u
		s.changed = true
	}
	return u
}

// Revoke makes a token worthless, as a sign-out does.
func (s *Server) Revoke(token string) {
	s.enter()
	defer s.leave()
	delete(s.tokens, token)
	s.changed = true
}

// User finds an account by login, nil when there is none.
func (s *Server) User(login string) *User {
	s.enter()
	defer s.leave()
	return s.user(login)
}

func (s *Server) user(login string) *User {
	i := slices.IndexFunc(s.users, func(u *User) bool { return strings.EqualFold(u.Login, login) })
	if i < 0 {
		return nil
	}
	return s.users[i]
}

// caller reads who sent a request; ok is false for credentials that are worth nothing.
func (s *Server) caller(req *http.Request) (u *User, ok bool) {
	header := req.Header.Get("Authorization")
	if header == "" {
		return nil, true
	}
	kind, token, _ := strings.Cut(header, " ")
	if strings.EqualFold(kind, "basic") {
		_, token, _ = req.BasicAuth()
	}
	u, ok = s.tokens[strings.TrimSpace(token)]
	return u, ok
}

func (u *User) nodeID() string { return fmt.Sprintf("U_%d", u.ID) }

// login is the caller's name for the log, empty for a stranger.
func (u *User) login() string {
	if u == nil {
		return ""
	}
	return u.Login
}
