package node

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/parley-mesh/parley/node/api"
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
	res, err := w.checkout.SyncMaster(ctx, w.mirror, n.syncRequest(ctx, w, e, fetched.Base, dir))
	if err == nil {
		w.judged(res, fetched.Base)
	}
	return res, fetched.Base, err
}

// syncRequest is what a master sync is to do. dir is for its scratch and its turn.
func (n *Node) syncRequest(ctx context.Context, w *workspace, e core.SyncMaster, tip worktree.OID, dir string) worktree.SyncRequest {
	r := worktree.SyncRequest{
		Base: w.baseBranch(), Tip: tip, Bring: e.Bring, Scratch: filepath.Join(dir, "scratch"),
		Hold:   func(path string) bool { return slices.Contains(e.Hold, path) || n.held.has(e.Slug, path) },
		Known:  func(path string) (*worktree.Known, error) { return w.mirror.Known(ctx, tip, 0, path) },
		Failed: func(own string) string { return w.failed(own, tip) },
	}
	if len(w.tests) > 0 {
		r.Test = func(ctx context.Context, dir string) error {
			return agents.Test(ctx, agents.Template{Argv: w.tests}, dir)
		}
	}
	if e.Settle {
		reserved := true // one turn is; own commits and own edits may each take one
		r.Settle = func(ctx context.Context, s worktree.Settling) (worktree.OID, error) {
			if !reserved {
				if err := n.reserveTurn(ctx); err != nil {
					return "", err
				}
			}
			reserved = false
			return n.settle(ctx, w, e, s, filepath.Join(dir, "turn"))
		}
	}
	return r
}

// reserveTurn counts one more turn, durably, before the desk is woken for it.
func (n *Node) reserveTurn(ctx context.Context) error {
	_, err := n.change(ctx, func(n *Node) (api.Outcome, []core.Effect, error) {
		effects, err := n.core.ReserveTurn(n.wall())
		return api.Outcome{}, effects, err
	})
	return err
}

// failed is why this own work and this tip failed their tests the last time, "" if they did not.
func (w *workspace) failed(own string, tip worktree.OID) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.unfit.own == own && w.unfit.tip == tip {
		return w.unfit.why
	}
	return ""
}

// judged remembers what the tests said. Own work that stands in the way without a conflict failed them.
func (w *workspace) judged(res worktree.SyncResult, tip worktree.OID) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.unfit = unfit{}
	if res.Own != "" && len(res.Conflicts) == 0 {
		w.unfit = unfit{res.Own, tip, res.Why}
	}
}

// holding is the paths that threads hold, for the master syncs that run beside the loop.
type holding struct {
	mu    sync.Mutex
	paths map[string][]string // by repository; each sorted
}

func (h *holding) set(slug string, paths []string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.paths == nil {
		h.paths = map[string][]string{}
	}
	h.paths[slug] = paths
}

func (h *holding) has(slug, path string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	_, held := slices.BinarySearch(h.paths[slug], path)
	return held
}

// hold tells the master syncs what threads hold by now: a conversation may begin in the middle of one.
func (n *Node) hold() {
	for _, w := range n.repos {
		n.held.set(w.slug, n.core.Held(w.slug))
	}
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
