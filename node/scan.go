package node

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/parley-mesh/parley/ledger"
	"github.com/parley-mesh/parley/node/core"
	"github.com/parley-mesh/parley/node/internal/github"
	"github.com/parley-mesh/parley/node/internal/worktree"
)

// scanBudget is "about nine minutes": a run works through as many pull requests as it can, each saved as
// it goes, and the next run takes up the rest (P11).
const scanBudget = 9 * time.Minute

// trialMax is the time of one trial merge.
const trialMax = 30 * time.Second

// scan runs once over a repository's open pull requests.
func (n *Node) scan(ctx context.Context, e core.Scan) core.Input {
	out := core.Scanned{Slug: e.Slug}
	w := n.workspaceNamed(e.Slug)
	if w == nil {
		return out
	}
	out.Missing = n.route.missing()
	ctx, cancel := context.WithTimeout(ctx, scanBudget)
	defer cancel()
	s := scanning{n: n, w: w, e: e, untold: map[uint64]string{}}
	err := s.run(ctx, len(out.Missing) == 0)
	out.Open, out.Untold = s.open, s.untold
	// A paused master sync says nothing of a rewritten base, and neither does one of a former start.
	lost, unread := w.checkout.Lost(ctx, w.mirror, w.baseBranch())
	out.Rewritten, out.Stood = len(lost) > 0, unread == nil
	if missing, ok := n.missing(err); ok {
		out.Missing = append(out.Missing, missing...)
	} else if err != nil {
		out.Err = err.Error()
	}
	return out
}

func (n *Node) workspaceNamed(slug string) *workspace {
	for _, w := range n.repos {
		if w.slug == slug {
			return w
		}
	}
	return nil
}

// scanning is one run.
type scanning struct {
	n      *Node
	w      *workspace
	e      core.Scan
	me     int64 // GitHub's id of the account that is signed in here
	open   []uint64
	untold map[uint64]string // by pull request: why git could not tell
}

func (s *scanning) run(ctx context.Context, mayOpen bool) error {
	me, err := s.n.gh.Whoami(ctx)
	if err != nil {
		return err
	}
	repo, err := s.n.identify(ctx, s.w)
	if err != nil {
		return err
	}
	s.n.send(ctx, repo)
	s.me = me.ID
	list, err := s.n.gh.OpenPulls(ctx, s.w.owner, s.w.name, repo.Base)
	if err != nil {
		return err
	}
	s.open = []uint64{}
	var wanted []github.Pull
	for _, p := range list.Pulls {
		number := uint64(p.Number)
		s.open = append(s.open, number)
		known := s.e.Known[number]
		judged := known.Head == oid(p.HeadOID) && known.Tip == oid(list.BaseTip) && known.Verdict != core.VerdictConversation
		mine := p.AuthorID == me.ID || slices.Contains(s.e.Teammates, uint64(p.AuthorID))
		if mine && !judged && !slices.Contains(s.e.Running, number) {
			wanted = append(wanted, p)
		}
	}
	if !mayOpen {
		return nil
	}
	s.n.send(ctx, core.Prepared{Slug: s.w.slug})
	if len(wanted) == 0 {
		return nil
	}
	// What GitHub already calls conflicting comes first; its word decides nothing else (P7).
	slices.SortStableFunc(wanted, func(a, b github.Pull) int { return rank(a) - rank(b) })
	return s.tryAll(ctx, repo, wanted)
}

func rank(p github.Pull) int {
	if p.Mergeable == "CONFLICTING" {
		return 0
	}
	return 1
}

func (s *scanning) tryAll(ctx context.Context, repo core.Repository, wanted []github.Pull) error {
	var numbers []uint64
	for _, p := range wanted {
		numbers = append(numbers, uint64(p.Number))
	}
	fetched, err := s.w.fetch(ctx, numbers...)
	if err != nil {
		return err
	}
	var first error
	for _, p := range wanted {
		if ctx.Err() != nil {
			return nil // the next run takes up the rest: what has a verdict is not tried again
		}
		if head := fetched.Heads[uint64(p.Number)]; string(head) != p.HeadOID {
			s.untold[uint64(p.Number)] = "GitHub's list and its branches disagree; it is catching up"
			continue
		}
		trial, err := s.try(ctx, repo, p, fetched.Base)
		if err != nil && ctx.Err() != nil {
			return nil // the run's time is over; that says nothing about the pull request
		}
		if err != nil {
			s.untold[uint64(p.Number)] = err.Error()
			first = errors.Join(first, err)
			continue
		}
		s.n.send(ctx, trial)
	}
	return first
}

// try asks git for one merge. Git's not knowing is an error here and never a verdict.
func (s *scanning) try(ctx context.Context, repo core.Repository, p github.Pull, tip worktree.OID) (*core.Trial, error) {
	if s.n.trying != nil {
		s.n.trying(uint64(p.Number))
	}
	within, cancel := context.WithTimeout(ctx, trialMax)
	defer cancel()
	head := worktree.OID(p.HeadOID)
	t := &core.Trial{Repo: repo, Pull: uint64(p.Number), Title: p.Title, Head: oid(head), Tip: oid(tip), Author: uint64(p.AuthorID), Teammate: p.AuthorID != s.me}
	v, err := s.w.mirror.Try(within, tip, head)
	if err != nil {
		return nil, err
	}
	switch j := v.Judge(); j.Kind {
	case worktree.Clean:
		t.Verdict = core.VerdictClean
	case worktree.Person:
		t.Verdict, t.Reason = core.VerdictPerson, j.Reason
	case worktree.Conversation:
		t.Verdict = core.VerdictConversation
		if err := s.describe(within, t, v, tip, head); err != nil {
			return nil, err
		}
	}
	return t, nil
}

// describe fills in what an open says about the conflict.
func (s *scanning) describe(ctx context.Context, t *core.Trial, v worktree.Verdict, tip, head worktree.OID) error {
	fork, err := s.w.mirror.MergeBase(ctx, tip, head)
	if err != nil {
		return err
	}
	t.MergeBase = oid(fork)
	for _, c := range v.Files {
		mode := uint64(ledger.ModePlain)
		if c.Stage[2].Mode == "100755" {
			mode = ledger.ModeExecutable
		}
		t.Files = append(t.Files, ledger.File{Path: ledger.Path(c.Path), Base: oid(c.Stage[1].OID), Master: oid(c.Stage[2].OID), Pull: oid(c.Stage[3].OID), Mode: mode})
	}
	slices.SortFunc(t.Files, func(a, b ledger.File) int {
		if a.Path < b.Path {
			return -1
		}
		return 1
	})
	// Other computers answer only for own pull requests, and a scan looks at no others.
	own, err := s.w.checkout.Authored(ctx, head)
	if err != nil {
		return err
	}
	if t.Teammate {
		return nil // nobody here made it
	}
	if own {
		t.Made = append(t.Made, s.n.id.Device())
	}
	t.Made = append(t.Made, s.n.mesh.AskMade(ctx, t.Repo.ID, t.Pull, t.Head)...)
	return nil
}

// made answers another computer of the fleet: did this clone make the head of a pull request?
func (n *Node) made(ctx context.Context, repo, pull uint64, head ledger.OID) bool {
	for _, w := range n.repos {
		if uint64(w.repository().ID) == repo {
			made, err := w.checkout.Authored(ctx, hexOID(head))
			return err == nil && made
		}
	}
	return false
}
