package github

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Repo is a repository. Its exported fields never change; what does is asked of the server.
type Repo struct {
	ID      int64
	Owner   *User
	Name    string
	Dir     string // the bare git repository
	Default string // the default branch

	parent    *Repo // nil for no fork
	pulls     []*Pull
	noted     int64   // octets of git's notes taken in
	announced []Write // moves git has announced and neither made nor given up
	settings  settings
}

// settings is what may change of a repository, stored as it is.
type settings struct {
	Private       bool
	Created       time.Time
	Collaborators map[string]Access // by login in lower case
	Rules         map[string]Rule   // by branch
	Methods       []Method
}

// Access is what an account may do in a repository.
type Access string

// The kinds of access. Everybody reads a public repository, its owner is its admin.
const (
	NoAccess       Access = ""
	ReadAccess     Access = "read"
	WriteAccess    Access = "write"
	MaintainAccess Access = "maintain"
	AdminAccess    Access = "admin"
)

// Method is a way to merge.
type Method string

// The three ways of GitHub's merge button.
const (
	Merge  Method = "MERGE"
	Squash Method = "SQUASH"
	Rebase Method = "REBASE"
)

// Rule protects a branch.
type Rule struct {
	Reviews    int  // approving reviews a merge needs
	MergeQueue bool // merges go through the queue only
	PullsOnly  bool // nobody may push
}

// ErrExists is the answer to making a repository that is already there.
var ErrExists = errors.New("repository exists")

// AddRepo makes a public repository. from is a git folder to copy the branches of, empty for none; an empty defaultBranch is master.
func (s *Server) AddRepo(owner *User, name, from, defaultBranch string) (*Repo, error) {
	s.enter()
	defer s.leave()
	return s.addRepo(owner, name, from, defaultBranch)
}

func (s *Server) addRepo(owner *User, name, from, defaultBranch string) (*Repo, error) {
	if !validName(owner.Login) || !validName(name) {
		return nil, fmt.Errorf("add repository %q of %q: not a name GitHub has", name, owner.Login)
	}
	if s.repo(owner.Login, name) != nil {
		return nil, fmt.Errorf("add %s/%s: %w", owner.Login, name, ErrExists)
	}
	id := s.newID()
	dir := s.repoDir(id)
	// A folder of a number nobody has is what a server killed in the middle of AddRepo left.
	if err := os.RemoveAll(dir); err != nil {
		return nil, fmt.Errorf("add %s/%s: %w", owner.Login, name, err)
	}
	if defaultBranch == "" {
		defaultBranch = "master"
	}
	b, err := newBare(dir, defaultBranch)
	if err != nil {
		return nil, err
	}
	if from != "" {
		if err := b.seed(from, "+refs/heads/*:refs/heads/*"); err != nil {
			return nil, err
		}
	}
	r := &Repo{ID: id, Owner: owner, Name: name, Dir: dir, Default: defaultBranch, settings: settings{
		Created:       s.Now(),
		Collaborators: map[string]Access{}, Rules: map[string]Rule{}, Methods: []Method{Merge, Squash, Rebase},
	}}
	s.repos = append(s.repos, r)
	return r, nil
}

// validName keeps names to what GitHub allows, so none leads out of the folder.
func validName(name string) bool {
	return name != "" && name != "." && name != ".." && !strings.ContainsFunc(name, func(c rune) bool {
		return (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && !strings.ContainsRune("-_.", c)
	})
}

// seed fetches without leaving a note of a write.
func (b bare) seed(from, refspec string) error {
	_, err := b.run(invocation{args: []string{"fetch", "-q", "--", from, refspec}, env: []string{"STANDIN_SEED=1"}})
	return err
}

func (s *Server) repoDir(id int64) string {
	return filepath.Join(s.dir, "repositories", fmt.Sprintf("%d.git", id))
}

// Fork copies a repository to another account.
func (s *Server) Fork(of *Repo, owner *User) (*Repo, error) {
	s.enter()
	defer s.leave()
	r, err := s.addRepo(owner, of.Name, of.Dir, of.Default)
	if err != nil {
		return nil, fmt.Errorf("fork %s: %w", of.FullName(), err)
	}
	r.parent = of
	return r, nil
}

// DeleteRepo deletes a repository. Pull requests from it stay open, their head repository unknown.
func (s *Server) DeleteRepo(r *Repo) error {
	s.enter()
	defer s.leave()
	s.repos = slices.DeleteFunc(s.repos, func(x *Repo) bool { return x == r })
	for p := range s.allPulls() {
		if p.head == r {
			p.head = nil
		}
	}
	s.changed = true
	if err := os.RemoveAll(r.Dir); err != nil {
		return fmt.Errorf("delete %s: %w", r.FullName(), err)
	}
	return nil
}

// Repo finds a repository by name, nil when there is none.
func (s *Server) Repo(owner, name string) *Repo {
	s.enter()
	defer s.leave()
	return s.repo(owner, name)
}

func (s *Server) repo(owner, name string) *Repo {
	return s.repoWhere(func(r *Repo) bool { return strings.EqualFold(r.Owner.Login, owner) && strings.EqualFold(r.Name, name) })
}

func (s *Server) repoWhere(match func(*Repo) bool) *Repo {
	i := slices.IndexFunc(s.repos, match)
	if i < 0 {
		return nil
	}
	return s.repos[i]
}

// Rename gives a repository another name and returns it in place of r, which is of no use any more. The number stays, and who asks for the old
// name is sent on.
func (s *Server) Rename(r *Repo, name string) (*Repo, error) {
	s.enter()
	defer s.leave()
	if !validName(name) {
		return nil, fmt.Errorf("rename %s to %q: not a name GitHub has", r.FullName(), name)
	}
	if s.repo(r.Owner.Login, name) != nil {
		return nil, fmt.Errorf("rename %s to %s: %w", r.FullName(), name, ErrExists)
	}
	renamed := *r
	renamed.Name = name
	for i, other := range s.repos {
		if other == r {
			s.repos[i] = &renamed
		}
		if other.parent == r {
			other.parent = &renamed
		}
	}
	for p := range s.allPulls() {
		if p.base == r {
			p.base = &renamed
		}
		if p.head == r {
			p.head = &renamed
		}
	}
	s.moved[strings.ToLower(r.FullName())] = r.ID
	s.changed = true
	return &renamed, nil
}

// movedRepo finds what a name no repository has any more was the name of.
func (s *Server) movedRepo(owner, name string) *Repo {
	return s.repoByID(s.moved[strings.ToLower(owner+"/"+name)])
}

// Invite gives an account access to a repository; [NoAccess] takes it away.
func (s *Server) Invite(r *Repo, u *User, a Access) {
	s.enter()
	defer s.leave()
	r.settings.Collaborators[strings.ToLower(u.Login)] = a
	s.changed = true
}

// Hide makes a repository private: only those with access know that it exists.
func (s *Server) Hide(r *Repo) {
	s.enter()
	defer s.leave()
	r.settings.Private = true
	s.changed = true
}

// Protect sets the rule of a branch.
func (s *Server) Protect(r *Repo, branch string, rule Rule) {
	s.enter()
	defer s.leave()
	r.settings.Rules[branch] = rule
	s.changed = true
}

// Allow sets the ways to merge.
func (s *Server) Allow(r *Repo, methods ...Method) {
	s.enter()
	defer s.leave()
	r.settings.Methods = slices.Clone(methods)
	s.changed = true
}

// FullName is owner/name.
func (r *Repo) FullName() string { return r.Owner.Login + "/" + r.Name }

func (r *Repo) nodeID() string { return fmt.Sprintf("R_%d", r.ID) }
func (r *Repo) bare() bare     { return bare(r.Dir) }

// access is what u may do here; nil is a stranger.
func (r *Repo) access(u *User) Access {
	if u == r.Owner {
		return AdminAccess
	}
	if a := r.settings.Collaborators[strings.ToLower(u.login())]; u != nil && a != NoAccess {
		return a
	}
	if r.settings.Private {
		return NoAccess
	}
	return ReadAccess
}

func (a Access) writes() bool { return a == WriteAccess || a == MaintainAccess || a == AdminAccess }

// protected lists the refs nobody may push, for the update hook.
func (r *Repo) protected() []string {
	var refs []string
	for branch, rule := range r.settings.Rules {
		if rule.PullsOnly {
			refs = append(refs, "refs/heads/"+branch)
		}
	}
	slices.Sort(refs)
	return refs
}

// pushable tells what u may push to r: every branch, or only those whose open pull requests from a person's fork let the maintainers of
// the base edit them. An organization's fork never does, whatever maintainer_can_modify says.
func (s *Server) pushable(u *User, r *Repo) (all bool, only []string) {
	if u == nil {
		return false, nil
	}
	if r.access(u).writes() {
		return true, nil
	}
	for p := range s.allPulls() {
		if p.head == r && !p.now.Closed && p.now.MaintainerCanModify && !r.Owner.Org && p.base.access(u).writes() {
			only = append(only, "refs/heads/"+p.now.HeadRef)
		}
	}
	return false, only
}

func (s *Server) mayPush(u *User, r *Repo, branch string) bool {
	all, only := s.pushable(u, r)
	return all || slices.Contains(only, "refs/heads/"+branch)
}
