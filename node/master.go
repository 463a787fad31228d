package node

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/parley-mesh/parley/node/core"
	"github.com/parley-mesh/parley/node/internal/agents"
	"github.com/parley-mesh/parley/node/internal/worktree"
)

// syncMaster brings the checkout to the base branch as GitHub has it, together with what this computer has of
// its own (P0).
func (n *Node) syncMaster(ctx context.Context, e core.SyncMaster) core.Input {
	out := core.MasterSynced{Slug: e.Slug}
	w := n.workspaceNamed(e.Slug)
	if w == nil {
		return out
	}
	res, tip, err := n.syncCheckout(ctx, w, e)
	if err != nil {
		out.Err = err.Error()
		return out
	}
	out.From, out.Tip, out.To, out.Moved = oid(res.From), oid(tip), oid(res.To), res.Moved
	out.Merged, out.Conflicts, out.Own = append(res.Merged, res.Settled...), res.Conflicts, res.Own
	out.Why, out.Apart = res.Why, res.Apart
	lost, unread := w.checkout.Lost(ctx, w.mirror, w.baseBranch())
	out.Rewritten = res.Rewritten || unread == nil && len(lost) > 0
	for _, k := range res.Kept {
		out.Kept = append(out.Kept, core.KeptOwn{Path: k.Path, Why: k.Why})
	}
	if e.Settle && len(res.Conflicts) > 0 {
		out.Settled = res.Why
	}
	return out
}

func (n *Node) syncCheckout(ctx context.Context, w *workspace, e core.SyncMaster) (worktree.SyncResult, worktree.OID, error) {
	fetched, err := w.fetch(ctx)
	if err != nil {
		return worktree.SyncResult{}, "", err
	}
	dir := filepath.Join(n.home.DeskDir(), "master", w.dirName())
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return worktree.SyncResult{}, "", err
	}
	r := worktree.SyncRequest{
		Base: w.baseBranch(), Tip: fetched.Base, Bring: e.Bring, Scratch: filepath.Join(dir, "scratch"),
		Hold:  func(path string) bool { return slices.Contains(e.Hold, path) },
		Known: func(path string) (*worktree.Known, error) { return w.mirror.Known(ctx, fetched.Base, 0, path) },
	}
	if len(w.tests) > 0 {
		r.Test = func(ctx context.Context, dir string) error {
			return agents.Test(ctx, agents.Template{Argv: w.tests}, dir)
		}
	}
	if e.Settle {
		r.Settle = func(ctx context.Context, s worktree.Settling) (worktree.OID, error) {
			return n.settle(ctx, w, e, s, filepath.Join(dir, "turn"))
		}
	}
	res, err := w.checkout.SyncMaster(ctx, w.mirror, r)
	if w.unfit = (unfit{}); err == nil && res.Own != "" && len(res.Conflicts) == 0 {
		w.unfit = unfit{res.Own, fetched.Base, res.Why}
	}
	return res, fetched.Base, err
}

// dirName is a directory name of the repository's own.
func (w *workspace) dirName() string { return strings.ReplaceAll(w.slug, "/", "_") }

// settle spends the reserved turn: the desk merges own work that git cannot merge. No pull request is about it
// yet, so the task names none.
func (n *Node) settle(ctx context.Context, w *workspace, e core.SyncMaster, s worktree.Settling, dir string) (worktree.OID, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	task := agents.Task{
		Kind: agents.Merge, Base: w.baseBranch(), Turn: 1, Turns: 1, Deadline: e.Until,
		Repository: agents.Repository{Host: n.cfg.GitHub.Host, Slug: w.slug, ID: uint64(w.repository().ID)},
		Head:       string(s.Head), Tip: string(s.Theirs), Scratch: s.Scratch.Dir,
	}
	for _, f := range s.Files {
		mode := f.Stage[2].Mode
		if mode == "" {
			mode = f.Stage[3].Mode
		}
		task.Files = append(task.Files, agents.NewFile(f.Path, mode, string(f.Stage[1].OID), string(f.Stage[3].OID), string(f.Stage[2].OID)))
	}
	result, err := agents.Run(ctx, n.route.now().template(), task, dir)
	if err != nil {
		if result.Words != "" {
			err = fmt.Errorf("%w: %s", err, result.Words)
		}
		return "", err
	}
	return worktree.OID(result.Commit), nil
}
