package node

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/parley-mesh/parley/conflicts/thread"
	"github.com/parley-mesh/parley/ledger"
	"github.com/parley-mesh/parley/node/core"
	"github.com/parley-mesh/parley/node/internal/github"
	"github.com/parley-mesh/parley/node/internal/worktree"
)

// look observes what the outside world says about a thread. Any failure is a passing one: it is told, and
// nothing is concluded from it.
func (n *Node) look(ctx context.Context, e core.Look) core.Input {
	l := looking{n: n, s: e.State, open: e.State.Open}
	if err := l.run(ctx); err != nil {
		return core.Looked{Thread: e.Thread, Err: err.Error()}
	}
	return core.Looked{Thread: e.Thread, Look: l.out}
}

// looking is one observation in the making.
type looking struct {
	n     *Node
	s     *thread.State
	open  *ledger.Open
	w     *workspace
	tip   worktree.OID
	head  worktree.OID // pull request head as fetched; "" when GitHub no longer names it
	paths []string
	out   thread.Look
}

func (l *looking) run(ctx context.Context) error {
	var err error
	if l.w, err = l.n.workspaceOf(l.open.Host, l.open.Repo); err != nil {
		return err
	}
	l.out.At, l.out.For = l.n.wall(), l.s.Head()
	if l.s.Ready != nil {
		l.out.ForReady = l.s.Ready.ID
	}
	for _, f := range l.open.Files {
		l.paths = append(l.paths, string(f.Path))
	}
	if err := l.lookAtGitHub(ctx); err != nil || l.out.Pull.Gone {
		return err
	}
	for _, step := range []func(context.Context) error{l.verifyOpen, l.lookHere, l.tryMerge, l.verifyReady, l.verifyFinal} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

// lookAtGitHub reads the pull request and fetches the two branches. GitHub's pages lag behind its
// branches; while the two disagree nothing can be told.
func (l *looking) lookAtGitHub(ctx context.Context) error {
	p, err := l.n.gh.Pull(ctx, l.w.owner, l.w.name, int(l.open.Pull))
	if errors.Is(err, github.ErrNotFound) {
		return l.gone(ctx, err)
	}
	if err != nil {
		return err
	}
	l.out.Pull = thread.Pull{
		Known: true, Open: p.State == "open" && !p.Merged, Merged: p.Merged, MergeCommit: oid(p.MergeCommit),
		Head: oid(p.HeadOID), HeadRef: p.HeadRef, Base: p.BaseRef,
	}
	fetched, err := l.w.fetch(ctx, l.open.Pull)
	if err != nil {
		return err
	}
	l.tip, l.head = fetched.Base, fetched.Heads[l.open.Pull]
	l.out.Tip, l.out.Method = oid(l.tip), l.w.repository().Method()
	if l.out.Base, err = l.renamed(ctx); err != nil {
		return err
	}
	if l.out.Pull.Open && oid(l.head) != l.out.Pull.Head {
		return fmt.Errorf("pull request %d: GitHub shows head %s and serves %s; it is catching up", l.open.Pull, p.HeadOID, l.head)
	}
	return nil
}

// renamed is what the open's base branch is called now, "" while it has its name (case 27): GitHub points
// pull requests at the new name, and the old one is gone.
func (l *looking) renamed(ctx context.Context) (string, error) {
	now := l.w.baseBranch()
	if now == l.open.Base || l.out.Pull.Base != now {
		return "", nil
	}
	if _, err := l.w.mirror.RemoteTip(ctx, l.open.Base); !errors.Is(err, worktree.ErrNoBranch) {
		return "", err
	}
	grew, err := l.w.mirror.IsAncestor(ctx, hexOID(l.open.BaseHead), l.tip)
	if err != nil || !grew {
		return "", err
	}
	return now, nil
}

// base is the base branch by its present name.
func (l *looking) base() string { return cmp.Or(l.out.Base, l.open.Base) }

// gone tells a pull request that is no more from one that this account may not see: GitHub says the same
// of both, so only a repository that it still shows makes a verdict.
func (l *looking) gone(ctx context.Context, notFound error) error {
	if _, err := l.n.gh.Repository(ctx, l.w.owner, l.w.name); err != nil {
		return errors.Join(notFound, err)
	}
	l.out.Pull = thread.Pull{Known: true, Gone: true}
	return nil
}

// verifyOpen checks everything that the open says against what was fetched from GitHub.
func (l *looking) verifyOpen(ctx context.Context) error {
	base, head, fork := hexOID(l.open.BaseHead), hexOID(l.open.Head), hexOID(l.open.MergeBase)
	on, err := l.w.mirror.IsAncestor(ctx, base, l.tip)
	if err != nil || !on {
		return l.unverified("the base commit it names is not on "+l.base(), err)
	}
	for _, commit := range []worktree.OID{head, fork} {
		have, err := l.w.mirror.CommitExists(ctx, commit)
		if err != nil {
			return err
		}
		if !have {
			l.out.Open, l.out.OpenWhy = thread.CannotTell, "a commit that it names has not been fetched from GitHub"
			return nil
		}
	}
	onBase, err := l.w.mirror.Entries(ctx, base, l.paths)
	if err != nil {
		return err
	}
	onHead, err := l.w.mirror.Entries(ctx, head, l.paths)
	if err != nil {
		return err
	}
	for _, f := range l.open.Files {
		b, h := onBase[string(f.Path)], onHead[string(f.Path)]
		if oid(b.OID) != f.Master || b.Mode != fmt.Sprintf("%o", f.Mode) || oid(h.OID) != f.Pull {
			l.out.Open, l.out.OpenWhy = thread.No, "the versions it names of "+string(f.Path)+" are not those on GitHub"
			return nil
		}
	}
	l.out.Open = thread.Yes
	return nil
}

func (l *looking) unverified(why string, err error) error {
	l.out.Open, l.out.OpenWhy = thread.No, why
	return err
}

// lookHere classifies each file of the thread in this computer's checkout.
func (l *looking) lookHere(ctx context.Context) error {
	state, err := l.w.checkout.State(ctx)
	if err != nil {
		return err
	}
	l.out.OnBase, l.out.Busy = state.Branch == l.base(), state.Busy
	if err := l.account(ctx); err != nil {
		return err
	}
	onTip, err := l.w.mirror.Entries(ctx, l.tip, l.paths)
	if err != nil {
		return err
	}
	known, err := l.w.knownSets(ctx, l.tip, l.open, l.out.Open, l.open.Files...)
	if err != nil {
		return err
	}
	for _, f := range l.open.Files {
		file, err := l.file(ctx, f, onTip[string(f.Path)], known[string(f.Path)])
		if err != nil {
			return err
		}
		l.out.Files = append(l.out.Files, file)
	}
	return nil
}

func (l *looking) file(ctx context.Context, f ledger.File, tip worktree.Entry, known *worktree.Known) (thread.File, error) {
	path := string(f.Path)
	out := thread.File{Tip: oid(tip.OID), Executable: tip.Mode == "100755"}
	class, lines, err := l.w.checkout.Classify(ctx, known, path, worktree.Versions{Master: tip.OID, Pull: hexOID(f.Pull)}, l.base())
	if err != nil {
		return out, err
	}
	out.Class, out.Lines = ledger.Class(class), lines
	three, err := l.w.checkout.Inspect(ctx, path)
	if err != nil {
		return out, err
	}
	out.Here = oid(three.Work.OID)
	out.Replaceable = l.out.OnBase && three.Odd == "" && known.Has(three.Head.OID) && known.Has(three.Index.OID) && known.Has(three.Work.OID)
	return out, nil
}

// knownSets is what GitHub has of each path (D-9): everything on the base branch, every head seen of the pull
// request, and the versions of a verified open.
func (w *workspace) knownSets(ctx context.Context, tip worktree.OID, o *ledger.Open, verified thread.Verdict, files ...ledger.File) (map[string]*worktree.Known, error) {
	var paths []string
	extra := map[string][]worktree.OID{}
	for _, f := range files {
		path := string(f.Path)
		paths = append(paths, path)
		for _, blob := range []ledger.OID{f.Base, f.Master, f.Pull} {
			if blob != "" && verified == thread.Yes {
				extra[path] = append(extra[path], hexOID(blob))
			}
		}
	}
	return w.mirror.KnownAll(ctx, tip, o.Pull, paths, extra)
}

// account says whether the pull request is of the account signed in here, and whether this computer made it
// (D-11): then this clone made the head commit too.
func (l *looking) account(ctx context.Context) error {
	me, err := l.n.gh.Whoami(ctx)
	if err != nil {
		return err
	}
	if l.out.Account = thread.No; me.ID != int64(l.open.Author) {
		return nil
	}
	l.out.Account = thread.Yes
	l.out.Author, err = l.w.checkout.Authored(ctx, hexOID(l.open.Head))
	return err
}

// tryMerge asks git whether the pull request merges into the base branch as both now are.
func (l *looking) tryMerge(ctx context.Context) error {
	if !l.out.Pull.Open || l.head == "" {
		return nil
	}
	v, err := l.w.mirror.Try(ctx, l.tip, l.head)
	if err != nil {
		return err
	}
	l.out.HeadClean = thread.No
	if v.Clean {
		l.out.HeadClean = thread.Yes
	}
	fork, err := l.w.mirror.MergeBase(ctx, l.tip, l.head)
	if err != nil {
		return err
	}
	l.out.HeadBase = oid(fork)
	if l.out.HeadFiles, err = l.blobs(ctx, l.head); err != nil || !v.Clean || oid(l.head) == l.open.Head {
		return err
	}
	return l.markers(ctx, l.head)
}

// blobs is each file's version in a commit, in the order of the open.
func (l *looking) blobs(ctx context.Context, commit worktree.OID) ([]ledger.OID, error) {
	entries, err := l.w.mirror.Entries(ctx, commit, l.paths)
	if err != nil {
		return nil, err
	}
	out := make([]ledger.OID, len(l.paths))
	for i, p := range l.paths {
		out[i] = oid(entries[p].OID)
	}
	return out, nil
}

// verifyReady checks a final-ready: the head is what GitHub has, it merges cleanly, it holds the named
// versions without new conflict markers, and no conflicted file has moved on the base since it was tested.
func (l *looking) verifyReady(ctx context.Context) error {
	r := l.s.Ready
	if r == nil || !l.out.Pull.Open {
		return nil
	}
	refuse := func(why string) error {
		l.out.Ready, l.out.ReadyWhy = thread.No, why
		return nil
	}
	switch {
	case r.Head != l.out.Pull.Head:
		return refuse("the pull request was pushed to since it was tested")
	case l.out.HeadClean != thread.Yes:
		return refuse("the updated pull request does not merge cleanly")
	}
	for i, f := range r.Files {
		if l.out.HeadFiles[i] != f.Blob {
			return refuse("it does not hold the version it names of " + l.paths[i])
		}
	}
	then, err := l.blobs(ctx, hexOID(r.BaseHead))
	if err != nil {
		return err
	}
	for i := range l.paths {
		if l.out.Files[i].Tip != then[i] {
			return refuse(l.paths[i] + " changed on " + l.base() + " since it was tested")
		}
	}
	if len(l.out.Marked) > 0 {
		return refuse("it has new conflict markers in " + l.paths[l.out.Marked[0]])
	}
	l.out.Ready = thread.Yes
	return nil
}

// markers finds the files of a commit with conflict markers that neither side of the conflict has (D-18).
func (l *looking) markers(ctx context.Context, commit worktree.OID) error {
	found, err := l.w.mirror.HasMarkers(ctx, commit, l.paths, hexOID(l.open.Head), hexOID(l.open.BaseHead))
	if err != nil {
		return err
	}
	for i, path := range l.paths {
		if slices.Contains(found, path) {
			l.out.Marked = append(l.out.Marked, i)
		}
	}
	return nil
}

// verifyFinal checks a final, and what a merged pull request published: the commit is on the base branch
// that this computer fetched itself, and holds exactly the named versions.
func (l *looking) verifyFinal(ctx context.Context) error {
	if !l.out.Pull.Merged {
		l.out.FinalWhy = "GitHub does not show the pull request as merged"
		return nil
	}
	merged := hexOID(l.out.Pull.MergeCommit)
	on, err := l.onBase(ctx, merged)
	if err != nil || !on {
		l.out.FinalWhy = "the merge commit is not on " + l.base()
		return err
	}
	if l.out.Published, err = l.blobs(ctx, merged); err != nil || l.s.Final == nil {
		return err
	}
	f := l.s.Final
	commit := hexOID(f.Commit)
	if on, err = l.onBase(ctx, commit); err != nil || !on {
		l.out.Final, l.out.FinalWhy = thread.No, "the commit it names is not on "+l.base()
		return err
	}
	if on, err = l.w.mirror.IsAncestor(ctx, merged, commit); err != nil || !on {
		l.out.Final, l.out.FinalWhy = thread.No, "the commit it names does not hold the merge"
		return err
	}
	named, err := l.blobs(ctx, commit)
	if err != nil {
		return err
	}
	for i, v := range f.Files {
		if named[i] != v.Blob {
			l.out.Final, l.out.FinalWhy = thread.No, "the version it names of "+l.paths[i]+" is not the one in the commit"
			return nil
		}
	}
	l.out.Final = thread.Yes
	return l.markers(ctx, commit)
}

// onBase reports whether a commit is on the fetched base branch. One that was never fetched is not.
func (l *looking) onBase(ctx context.Context, commit worktree.OID) (bool, error) {
	have, err := l.w.mirror.CommitExists(ctx, commit)
	if err != nil || !have {
		return false, err
	}
	return l.w.mirror.IsAncestor(ctx, commit, l.tip)
}
