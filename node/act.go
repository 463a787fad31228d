package node

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/parley-mesh/parley/conflicts/thread"
	"github.com/parley-mesh/parley/ledger"
	"github.com/parley-mesh/parley/node/api"
	"github.com/parley-mesh/parley/node/core"
	"github.com/parley-mesh/parley/node/internal/agents"
	"github.com/parley-mesh/parley/node/internal/github"
	"github.com/parley-mesh/parley/node/internal/worktree"
)

// act performs one action of a thread. The outside world is looked at before anything is changed.
func (n *Node) act(ctx context.Context, e core.Do) core.Input {
	switch a := e.Action.(type) {
	case thread.Replace:
		return n.replace(ctx, e, a)
	case thread.Wake:
		return n.wake(ctx, e, a)
	case thread.Write:
		return n.write(ctx, e, a)
	case thread.Tell:
		return n.tellMain(ctx, e, a)
	}
	panic(fmt.Sprintf("node: action %T has no performer", e.Action))
}

// errOverruled ends a replacement that is not wanted any more.
var errOverruled = errors.New("it was decided otherwise meanwhile")

// replace puts a published version of one file into the checkout.
func (n *Node) replace(ctx context.Context, e core.Do, a thread.Replace) core.Input {
	out := core.Replaced{Thread: e.Thread, File: a.File}
	took, err := n.replaceFile(ctx, e.State, a)
	out.Took = took
	if err != nil {
		out.Err = err.Error()
	}
	return out
}

func (n *Node) replaceFile(ctx context.Context, s *thread.State, a thread.Replace) (bool, error) {
	w, err := n.workspaceOf(s.Open.Host, s.Open.Repo)
	if err != nil {
		return false, err
	}
	state, err := w.checkout.State(ctx)
	if err != nil {
		return false, err
	}
	if state.Branch != s.Open.Base && state.Branch != w.baseBranch() {
		return false, fmt.Errorf("the checkout no longer stands on %s", s.Open.Base)
	}
	f := s.Open.Files[a.File]
	fetched, err := w.fetch(ctx, s.Open.Pull)
	if err != nil {
		return false, err
	}
	known, err := w.knownSets(ctx, fetched.Base, s.Open, thread.Yes, s.Open.Files...)
	if err != nil {
		return false, err
	}
	want := worktree.Entry{}
	if a.Want != "" {
		want = worktree.Entry{Mode: "100644", OID: hexOID(a.Want)}
		if a.Executable {
			want.Mode = "100755"
		}
	}
	why := "The interim of " + s.Ref() + "."
	if s.Final != nil {
		why = "The final of " + s.Ref() + "."
	}
	// A person may have put a file back since this was asked for.
	_, err = n.ask(ctx, func(n *Node) (api.Outcome, []core.Effect, error) {
		if !n.core.StillWants(s.Ledger, s) {
			return api.Outcome{}, nil, errOverruled
		}
		return api.Outcome{}, nil, nil
	})
	if err != nil {
		return false, err
	}
	outcome, err := w.checkout.Replace(ctx, why, string(f.Path), known[string(f.Path)], want)
	return outcome == worktree.Took, err
}

// wake spends the reserved turn on the desk.
func (n *Node) wake(ctx context.Context, e core.Do, a thread.Wake) core.Input {
	turn := thread.Turn{For: a.For, Round: e.State.Round, Head: a.Head, Tip: a.Tip}
	err := n.runDesk(ctx, e, a, &turn)
	switch {
	case err == nil:
	case errors.Is(err, agents.ErrGaveUp):
		turn.GaveUp = true
	case ctx.Err() != nil:
		turn.Interrupted = true
	default:
		turn.Failed, turn.Words = true, err.Error()
	}
	return core.Turned{Thread: e.Thread, Decide: a.Decide, Turn: turn}
}

func (n *Node) runDesk(ctx context.Context, e core.Do, a thread.Wake, turn *thread.Turn) error {
	w, err := n.workspaceOf(e.State.Open.Host, e.State.Open.Repo)
	if err != nil {
		return err
	}
	dir := filepath.Join(n.home.DeskDir(), e.Thread.Short())
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	scratch, err := w.mirror.Scratch(ctx, hexOID(a.Head), filepath.Join(dir, "scratch"))
	if err != nil {
		return err
	}
	defer scratch.Close()
	if !a.Decide {
		if _, err := scratch.StartMerge(ctx, hexOID(a.Tip)); err != nil {
			return err
		}
	}
	result, err := agents.Run(ctx, n.route.now().template(), n.task(e, a, scratch.Dir), dir)
	turn.Words = result.Words
	if err != nil {
		return err
	}
	if a.Decide {
		for _, i := range result.Pick {
			turn.Pick = append(turn.Pick, uint64(i))
		}
		return nil
	}
	commit := worktree.OID(result.Commit)
	if err := scratch.Import(ctx, commit, w.mirror); err != nil {
		return err
	}
	if err := n.checkResult(ctx, w, e.State.Open, a, commit); err != nil {
		return err
	}
	turn.Commit, turn.Tests = oid(commit), testsCode(result.Tests)
	return nil
}

// checkResult refuses a result that would not settle the conflict: it must descend from the head (case 61),
// merge cleanly into the base, and hold no conflict marker that neither side has (D-18).
func (n *Node) checkResult(ctx context.Context, w *workspace, o *ledger.Open, a thread.Wake, commit worktree.OID) error {
	if descends, err := w.mirror.IsAncestor(ctx, hexOID(a.Head), commit); err != nil || !descends {
		return errors.Join(err, fmt.Errorf("the desk's result %s does not descend from the pull request's head %s", commit, a.Head))
	}
	v, err := w.mirror.Try(ctx, hexOID(a.Tip), commit)
	if err != nil {
		return err
	}
	if !v.Clean {
		return fmt.Errorf("the desk's result %s does not merge cleanly into %s", commit, o.Base)
	}
	var paths []string
	for _, f := range o.Files {
		paths = append(paths, string(f.Path))
	}
	marked, err := w.mirror.HasMarkers(ctx, commit, paths, hexOID(a.Head), hexOID(a.Tip))
	if err != nil {
		return err
	}
	if len(marked) > 0 {
		return fmt.Errorf("the desk's result has new conflict markers in %s", marked[0])
	}
	return nil
}

func testsCode(tests agents.Tests) uint64 {
	switch tests {
	case agents.TestsPassed:
		return ledger.TestsPassed
	case agents.TestsFailed:
		return ledger.TestsAccepted
	}
	return ledger.TestsNone
}

func (n *Node) task(e core.Do, a thread.Wake, scratch string) agents.Task {
	o := e.State.Open
	task := agents.Task{
		Kind: agents.Merge, Thread: e.Thread.String(), Pull: o.Pull, Base: o.Base,
		Repository: agents.Repository{Host: o.Host, Slug: o.Slug, ID: o.Repo},
		Turn:       e.Turn, Turns: e.Allow, Deadline: e.Until, Head: a.Head.String(), Tip: a.Tip.String(), Scratch: scratch,
	}
	if a.Decide {
		task.Kind = agents.Decide
	}
	for _, f := range o.Files {
		mode := "100644"
		if f.Mode == ledger.ModeExecutable {
			mode = "100755"
		}
		task.Files = append(task.Files, agents.NewFile(string(f.Path), mode, f.Base.String(), f.Master.String(), f.Pull.String()))
	}
	return task
}

// write performs one approved change on GitHub. What GitHub has is read first, so that a repeat after a
// crash finds what it did before; a doubtful answer is read again later.
func (n *Node) write(ctx context.Context, e core.Do, a thread.Write) core.Input {
	out := core.Written{Thread: e.Thread, Binds: a.Binds}
	w, err := n.workspaceOf(e.State.Open.Host, e.State.Open.Repo)
	if err != nil {
		out.Unknown = true
		return out
	}
	if a.Binds.Action == "push" {
		out.Void, out.Denied, err = n.push(ctx, w, a.Binds)
	} else {
		out.Void, err = n.merge(ctx, w, e, a.Binds)
	}
	out.Unknown = err != nil
	return out
}

// push updates the pull request's branch, exactly from the head that the approval saw (P15).
func (n *Node) push(ctx context.Context, w *workspace, b thread.Binds) (void string, denied bool, err error) {
	p, err := n.gh.Pull(ctx, w.owner, w.name, int(b.Pull))
	if err != nil {
		return "", false, err
	}
	switch {
	case p.HeadRepo == "":
		return "the pull request's repository is gone", false, nil
	case p.HeadRef != b.Ref:
		return "the pull request comes from another branch now", false, nil
	}
	to := w.mirror
	if p.CrossRepository {
		to = w.mirror.At(n.remote(p.HeadRepo))
	}
	now, err := to.RemoteTip(ctx, b.Ref)
	switch {
	case errors.Is(err, worktree.ErrNoBranch):
		return "the branch " + b.Ref + " is gone", false, nil
	case err != nil:
		return "", false, err
	case oid(now) == b.New:
		return "", false, nil
	case oid(now) != b.Old:
		return "the branch has moved since the approval", false, nil
	}
	err = to.Push(ctx, b.Ref, hexOID(b.Old), hexOID(b.New))
	for _, refusal := range []error{worktree.ErrStale, worktree.ErrDenied, worktree.ErrProtected, worktree.ErrNotDescendant} {
		if errors.Is(err, refusal) {
			return err.Error(), errors.Is(err, worktree.ErrDenied), nil
		}
	}
	return "", false, err
}

// merge merges the pull request, if the verified result still holds at this moment.
func (n *Node) merge(ctx context.Context, w *workspace, e core.Do, b thread.Binds) (void string, err error) {
	l := looking{n: n, s: e.State, open: e.State.Open}
	if err := l.run(ctx); err != nil {
		return "", err
	}
	switch p := l.out.Pull; {
	case p.Merged && p.Head == b.New:
		return "", nil
	case p.Merged:
		return "the pull request was merged with another head", nil
	case p.Gone || !p.Open:
		return "the pull request is not open any more", nil
	case l.out.Ready != thread.Yes:
		return l.out.ReadyWhy, nil
	}
	res, err := n.gh.Merge(ctx, w.owner, w.name, int(b.Pull), b.New.String(), cmp.Or(b.Method, w.repository().Method()))
	if err != nil {
		return "", err
	}
	switch res.Outcome {
	case github.Merged, github.AlreadyMerged:
		return "", nil
	case github.HeadMoved:
		return "the pull request was pushed to since the approval", nil
	case github.Conflicts:
		return "GitHub says that it conflicts", nil
	case github.Blocked:
		return "GitHub refuses it: " + res.Reason, nil
	}
	return "", fmt.Errorf("merge %s#%d: GitHub did not say what became of it", w.slug, b.Pull)
}
