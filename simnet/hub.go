package simnet

import (
	"errors"
	"math/rand/v2"
	"time"

	"github.com/parley-mesh/parley/ledger"
)

const (
	host   = "github.com"
	slug   = "acme/shop"
	repoID = 7
	me     = 1 // GitHub user id of the fleet's developer
	mate   = 2
	master = "master"
)

// errOutage is a passing failure of GitHub. It is never a verdict.
var errOutage = errors.New("GitHub does not answer")

// pull is one pull request.
type pull struct {
	number      uint64
	author      uint64
	ref         string
	base        string
	head        commit
	open        bool
	merged      bool
	gone        bool // GitHub does not find it any more
	mergeCommit commit
	maker       int  // computer that made the first head; -1: none of these
	denied      bool // its branch cannot be pushed to
	shown       commit
	lagUntil    time.Duration // until then its page shows an older head
	heads       [pathCount]bits
	past        []commit // every head that it had
}

// hubWrite is one applied change of GitHub that a computer made.
type hubWrite struct {
	who    *computer
	thread ledger.TID
	action string
	pull   uint64
	ref    string
	before ledger.OID // head of the pull request or its branch just before
	after  ledger.OID // push: the new head; merge: the head that was merged
}

// hub is GitHub: refs, pull requests, and a log of who changed what.
type hub struct {
	w      *World
	g      *git
	master commit
	pulls  []*pull

	outageUntil time.Duration
	flaky       int // of 1000 calls, so many fail

	published [pathCount]bits // every version that GitHub was ever given
	baseEver  [pathCount]bits // every version that the base branch ever reached
	onBase    bits            // every commit that the base branch ever reached
	commits   bits            // every commit that GitHub was ever given
}

func (h *hub) rand() *rand.Rand { return h.w.rng.hub }

// fails reports whether a call comes to nothing.
func (h *hub) fails() bool {
	return h.w.now < h.outageUntil || h.flaky > 0 && h.rand().IntN(1000) < h.flaky
}

func (h *hub) take(c commit) {
	d := &h.g.commits[c]
	h.commits.join(d.before)
	for i := range h.published {
		h.published[i].join(d.reach[i])
	}
}

// setMaster moves the base branch.
func (h *hub) setMaster(c commit) {
	h.take(c)
	h.master = c
	h.onBase.join(h.g.commits[c].before)
	for i := range h.baseEver {
		h.baseEver[i].join(h.g.commits[c].reach[i])
	}
}

// setHead moves a pull request's branch. Its page may lag behind.
func (h *hub) setHead(p *pull, c commit, lag time.Duration) {
	h.take(c)
	p.shown, p.lagUntil = p.head, h.w.now+lag
	p.head = c
	p.past = append(p.past, c)
	for i, b := range h.g.tree(c) {
		p.heads[i].set(int(b))
	}
}

func (h *hub) find(number uint64) *pull {
	if number == 0 || number > uint64(len(h.pulls)) {
		return nil
	}
	return h.pulls[number-1]
}

// page is the head that GitHub shows of a pull request.
func (h *hub) page(p *pull) commit {
	if h.w.now < p.lagUntil {
		return p.shown
	}
	return p.head
}

// add opens a pull request.
func (h *hub) add(author uint64, maker int, head commit) *pull {
	n := uint64(len(h.pulls) + 1)
	p := &pull{number: n, author: author, base: master, open: true, maker: maker, ref: "work-" + string(rune('a'+n%26))}
	h.pulls = append(h.pulls, p)
	h.setHead(p, head, 0)
	return p
}

// mergeOutcome is GitHub's answer to a merge.
type mergeOutcome int

const (
	mergeDone mergeOutcome = iota
	mergeAlready
	mergeMoved
	mergeConflicts
	mergeBlocked
)

// merge merges a pull request if its head is still sha.
func (h *hub) merge(p *pull, sha commit, compare bool) mergeOutcome {
	switch {
	case p.merged:
		return mergeAlready
	case !p.open:
		return mergeBlocked
	case compare && p.head != sha:
		return mergeMoved
	case p.base != master:
		return mergeBlocked
	}
	m := h.g.merge(h.master, p.head)
	if len(m.conflicts) > 0 {
		return mergeConflicts
	}
	h.land(p, m.tree)
	return mergeDone
}

// land puts a tree on the base branch by one of GitHub's three methods, and ends the pull request.
func (h *hub) land(p *pull, tree [pathCount]blob) {
	switch h.rand().IntN(3) {
	case 0: // merge commit
		p.mergeCommit = h.g.commit(tree, h.master, p.head)
	case 1: // squash
		p.mergeCommit = h.g.commit(tree, h.master)
	default: // rebase: the commits again, one after the other
		first := h.g.commit(*h.g.tree(h.master), h.master)
		p.mergeCommit = h.g.commit(tree, first)
	}
	h.setMaster(p.mergeCommit)
	p.merged, p.open = true, false
}

// push moves a pull request's branch if it stands where the pusher thinks. denied means that the account may not.
func (h *hub) push(p *pull, old, next commit, compare bool) (void string, denied bool) {
	switch {
	case p.denied:
		return "GitHub does not let this account push", true
	case compare && p.head != old:
		return "the branch has moved since the approval", false
	}
	h.setHead(p, next, h.lag())
	return "", false
}

func (h *hub) lag() time.Duration {
	if h.w.off("lag") || h.rand().IntN(4) > 0 {
		return 0
	}
	return time.Duration(h.rand().IntN(600)) * time.Second
}
