package node

import (
	"context"
	"strings"
	"time"

	"github.com/parley-mesh/parley/conflicts/overlap"
	"github.com/parley-mesh/parley/detect"
	"github.com/parley-mesh/parley/detect/policy"
	"github.com/parley-mesh/parley/detect/repo"
	"github.com/parley-mesh/parley/node/core"
	"github.com/parley-mesh/parley/node/internal/worktree"
)

// policyEvery is how often it is looked whether the fetched default branch has moved.
const policyEvery = 30 * time.Second

// policyInForce is the policy at the tip of the default branch as it was last fetched (D-25). One that does not hold
// leaves the last one that did in force.
type policyInForce struct {
	rules  *detect.Rules // nil: the default
	commit string        // where it was read; "" before that
	fault  string        // why what stands there now does not hold
}

// policies keeps the policies in force until ctx ends, and looks where it is switched on for a repository and nowhere else.
func (l *live) policies(ctx context.Context) {
	for l.awaitActive(ctx) {
		changed := l.switched.Changed()
		l.watchOwn(ctx)
		l.locked(l.stopSpots)
		for _, r := range l.repositories() {
			l.readPolicy(ctx, r)
		}
		t := time.NewTimer(policyEvery)
		select {
		case <-ctx.Done():
		case <-changed:
		case <-l.fetched:
		case <-t.C:
		}
		t.Stop()
	}
}

func (l *live) repositories() []*liveRepo {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]*liveRepo(nil), l.repos...)
}

// readPolicy reads a repository's policy anew if the default branch has moved.
func (l *live) readPolicy(ctx context.Context, r *liveRepo) {
	dir, tip, err := l.defaultTip(ctx, r)
	l.mu.Lock()
	was := r.policy
	l.mu.Unlock()
	if err != nil || tip == "" || string(tip) == was.commit {
		return
	}
	content, there, err := fileAt(ctx, dir, string(tip), detect.PolicyPath)
	if err != nil {
		l.n.slog.Debug("read the policy", "repository", r.slug, "error", err)
		return
	}
	next := policyInForce{commit: string(tip)}
	if there {
		next = l.judgePolicy(r, was, next, content)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	r.policy = next
	l.fold.SetRepo(overlap.Repo{Place: r.Place, Slug: r.slug, Rules: next.rules})
	ring(l.news)
}

func (l *live) judgePolicy(r *liveRepo, was, next policyInForce, content []byte) policyInForce {
	p, err := policy.Parse(content)
	if err == nil {
		next.rules, err = detect.NewRules(p)
	}
	if err != nil {
		next.rules, next.fault = was.rules, err.Error()
		l.n.log.add(core.Note{Level: "warn", Kind: "policy", Who: l.n.cfg.Name, Text: r.slug + ": the policy on the default branch does not hold, the one before stays in force: " + strings.TrimSpace(err.Error())})
	}
	return next
}

// defaultTip is the tip of the default branch as the node fetched it last; before its first fetch, as the person did.
func (l *live) defaultTip(ctx context.Context, r *liveRepo) (dir string, tip worktree.OID, err error) {
	if tip, err = r.w.mirror.Tip(ctx, r.w.baseBranch()); err != nil || tip != "" {
		return r.w.mirror.Dir(), tip, err
	}
	at, err := worktree.Locate(ctx, worktree.Git{}, r.w.checkout.Dir())
	if err != nil {
		return "", "", err
	}
	at.Trunk = trunkOf(r, at)
	_, tip, err = at.Fork(ctx, worktree.Git{}, r.w.baseBranch(), "")
	return at.Top, tip, err
}

func fileAt(ctx context.Context, dir, commit, path string) ([]byte, bool, error) {
	g, err := repo.Open(ctx, dir)
	if err != nil {
		return nil, false, err
	}
	defer g.Close() // its directory is temporary
	return g.File(ctx, commit, path)
}
