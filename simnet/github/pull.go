package github

import (
	"fmt"
	"iter"
	"time"
)

// Pull is a pull request. Its exported fields never change; the rest is in [Server.PullState].
type Pull struct {
	ID     int64
	Number int
	Author *User

	base  *Repo
	head  *Repo // nil once the fork is deleted
	now   PullState
	trial trial
}

// PullState is a pull request at one moment.
type PullState struct {
	Title, Body         string
	Draft               bool
	Closed, Merged      bool // a merged pull request is closed as well
	BaseRef, BaseOID    string
	HeadRef, HeadOID    string // BaseOID is the base at the last push to the head, not its tip
	CrossRepository     bool
	MaintainerCanModify bool
	MergeOID            string // what the base became by the merge
	MergedBy            string // login, empty for a merge by push
	Approvals           int

	CreatedAt, UpdatedAt, ClosedAt, MergedAt time.Time
}

// trial is the last trial merge of a pull request. It holds for one pair of commits.
type trial struct {
	base, head string
	due        time.Time // when the answer may be given
	done       bool
	clean      bool
	commit     string // what refs/pull/N/merge became
}

// OpenPull opens a pull request; the branches must exist. A person's fork lets the base's maintainers edit the head branch.
func (s *Server) OpenPull(author *User, base *Repo, baseRef string, head *Repo, headRef, title string, draft bool) (*Pull, error) {
	s.enter()
	defer s.leave()
	return s.openPull(author, base, baseRef, head, headRef, title, draft)
}

func (s *Server) openPull(author *User, base *Repo, baseRef string, head *Repo, headRef, title string, draft bool) (*Pull, error) {
	now := s.Now()
	p := &Pull{Number: len(base.pulls) + 1, Author: author, base: base, head: head, now: PullState{
		Title: title, Draft: draft,
		BaseRef: baseRef, BaseOID: base.bare().tip(baseRef), HeadRef: headRef, HeadOID: head.bare().tip(headRef),
		CrossRepository: head != base, MaintainerCanModify: head != base, CreatedAt: now, UpdatedAt: now,
	}}
	if p.now.BaseOID == "" || p.now.HeadOID == "" {
		return nil, fmt.Errorf("open pull request %s:%s to %s:%s: no such branch", head.FullName(), headRef, base.FullName(), baseRef)
	}
	if err := p.followHead(); err != nil {
		return nil, err
	}
	p.ID = s.newID()
	base.pulls = append(base.pulls, p)
	return p, nil
}

// PullState tells how pull request n of r stands, false when there is none.
func (s *Server) PullState(r *Repo, n int) (PullState, bool) {
	s.enter()
	defer s.leave()
	p := r.pull(n)
	if p == nil {
		return PullState{}, false
	}
	return p.now, true
}

// Approve adds an approving review.
func (s *Server) Approve(p *Pull) {
	s.enter()
	defer s.leave()
	p.now.Approvals++
	s.changed = true
}

// MarkReady ends the draft state.
func (s *Server) MarkReady(p *Pull) {
	s.enter()
	defer s.leave()
	p.now.Draft = false
	s.changed = true
}

// ClosePull closes a pull request without merging it.
func (s *Server) ClosePull(p *Pull) {
	s.enter()
	defer s.leave()
	s.close(p)
}

func (s *Server) close(p *Pull) {
	p.now.Closed, p.now.ClosedAt, p.now.UpdatedAt = true, s.Now(), s.Now()
	s.changed = true
}

func (r *Repo) pull(n int) *Pull {
	if n < 1 || n > len(r.pulls) {
		return nil
	}
	return r.pulls[n-1]
}

// allPulls goes through the pull requests of every repository.
func (s *Server) allPulls() iter.Seq[*Pull] {
	return func(yield func(*Pull) bool) {
		for _, r := range s.repos {
			for _, p := range r.pulls {
				if !yield(p) {
					return
				}
			}
		}
	}
}

func (p *Pull) nodeID() string { return fmt.Sprintf("PR_%d", p.ID) }
func (p *Pull) rule() Rule     { return p.base.settings.Rules[p.now.BaseRef] }
func (p *Pull) baseTip() string {
	return p.base.bare().tip(p.now.BaseRef)
}

// headOwner names whose branch the head is, the author once the fork is gone.
func (p *Pull) headOwner() *User {
	if p.head == nil {
		return p.Author
	}
	return p.head.Owner
}

// followHead brings refs/pull/N/head, and its commits, into the base repository.
func (p *Pull) followHead() error {
	if p.head != p.base {
		if err := p.base.bare().seed(p.head.Dir, p.now.HeadOID); err != nil {
			return err
		}
	}
	_, err := p.base.bare().git("update-ref", fmt.Sprintf("refs/pull/%d/head", p.Number), p.now.HeadOID)
	return err
}

// refsMoved brings the open pull requests of and from r up to date.
func (s *Server) refsMoved(r *Repo) error {
	for p := range s.allPulls() {
		if p.now.Closed || p.head != r && p.base != r {
			continue
		}
		if err := s.follow(p, p.head == r); err != nil {
			return err
		}
	}
	return nil
}

// follow applies what the branches say: a deleted head closes, a moved head is followed, a head the base contains is merged.
func (s *Server) follow(p *Pull, headMoved bool) error {
	base := p.baseTip()
	if headMoved {
		head := p.head.bare().tip(p.now.HeadRef)
		if head == "" {
			s.close(p)
			return nil
		}
		if head != p.now.HeadOID {
			p.now.HeadOID, p.now.BaseOID, p.now.UpdatedAt = head, base, s.Now()
			s.changed = true
			if err := p.followHead(); err != nil {
				return err
			}
		}
	}
	if p.now.HeadOID != p.now.BaseOID && base != "" && p.base.bare().contains(base, p.now.HeadOID) {
		s.merged(p, base, "", s.Now())
	}
	return nil
}

func (s *Server) merged(p *Pull, oid, login string, at time.Time) {
	p.now.Merged, p.now.Closed, p.now.MergeOID, p.now.MergedBy = true, true, oid, login
	p.now.MergedAt, p.now.ClosedAt, p.now.UpdatedAt = at, at, at
	s.changed = true
}

// tryMerge answers whether p merges, starting the work when the answer is not known for its present commits. Without wait, nil means
// that the work goes on.
func (s *Server) tryMerge(p *Pull, wait bool) (*trial, error) {
	base := p.baseTip()
	if p.trial.base != base || p.trial.head != p.now.HeadOID {
		p.trial = trial{base: base, head: p.now.HeadOID, due: s.Now().Add(s.MergeDelay)}
	}
	if p.trial.done {
		return &p.trial, nil
	}
	if !wait && s.Now().Before(p.trial.due) {
		return nil, nil
	}
	tree, clean, err := p.base.bare().mergeTree(base, p.now.HeadOID)
	if err != nil {
		return nil, err
	}
	if clean {
		message := fmt.Sprintf("Merge %s into %s", p.now.HeadOID, base)
		p.trial.commit, err = p.base.bare().commitTree(commit{tree: tree, message: message, parents: []string{base, p.now.HeadOID}})
		if err != nil {
			return nil, err
		}
		if _, err := p.base.bare().git("update-ref", fmt.Sprintf("refs/pull/%d/merge", p.Number), p.trial.commit); err != nil {
			return nil, err
		}
	}
	p.trial.done, p.trial.clean = true, clean
	return &p.trial, nil
}

// mergeState is REST's mergeable (nil while unknown) and mergeable_state.
func (s *Server) mergeState(p *Pull) (mergeable *bool, state string, err error) {
	if p.now.Closed {
		return nil, "unknown", nil
	}
	t, err := s.tryMerge(p, false)
	switch {
	case err != nil || t == nil:
		return nil, "unknown", err
	case !t.clean:
		return &t.clean, "dirty", nil
	case p.now.Draft:
		return &t.clean, "draft", nil
	case p.rule().Reviews > p.now.Approvals:
		return &t.clean, "blocked", nil
	}
	return &t.clean, "clean", nil
}
