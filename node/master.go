package node

import (
	"context"
	"slices"

	"github.com/parley-mesh/parley/node/core"
	"github.com/parley-mesh/parley/node/internal/worktree"
)

// syncMaster brings the checkout to the base branch as GitHub has it.
func (n *Node) syncMaster(ctx context.Context, e core.SyncMaster) core.Input {
	out := core.MasterSynced{Slug: e.Slug}
	w := n.workspaceNamed(e.Slug)
	if w == nil {
		return out
	}
	fetched, err := w.fetch(ctx)
	if err != nil {
		out.Err = err.Error()
		return out
	}
	known := func(path string) (*worktree.Known, error) { return w.mirror.Known(ctx, fetched.Base, 0, path) }
	hold := func(path string) bool { return slices.Contains(e.Hold, path) }
	res, err := w.checkout.FastForward(ctx, w.baseBranch(), fetched.Base, w.mirror, hold, known)
	if err != nil {
		out.Err = err.Error()
		return out
	}
	out.Tip, out.Moved, out.Why = oid(fetched.Base), res.Moved, res.Why
	for _, p := range res.Kept {
		out.Kept = append(out.Kept, core.KeptOwn{Path: p, Why: "it holds own work"})
	}
	return out
}
