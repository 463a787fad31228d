package node

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/parley-mesh/parley/conflicts/thread"
	"github.com/parley-mesh/parley/node/api"
	"github.com/parley-mesh/parley/node/core"
	"github.com/parley-mesh/parley/node/internal/presence"
	"github.com/parley-mesh/parley/node/internal/worktree"
)

// place is one checkout by the name of its repository.
type place struct {
	slug     string
	checkout *worktree.Checkout
}

// places opens the checkouts of the settings, for a home without a running node.
func (c Config) places(ctx context.Context) ([]place, error) {
	var out []place
	for _, r := range c.Repositories {
		checkout, err := worktree.OpenCheckout(ctx, worktree.Git{}, r.Checkout)
		if err != nil {
			return nil, translate(err)
		}
		out = append(out, place{r.Slug, checkout})
	}
	return out, nil
}

func (n *Node) places() []place {
	var out []place
	for _, w := range n.repos {
		out = append(out, place{w.slug, w.checkout})
	}
	return out
}

// Why it is not known who uses what is kept in a repository.
var (
	errNobodyNoted = errors.New("files are kept there, and it is not noted that this home alone did")
	errAway        = errors.New("cannot be looked at now, and may keep files there")
)

// OthersAt are the other homes of this computer whose nodes have written into a repository, by its shared git
// directory, and that are still set up. It is an error if another one that is not found may keep files there.
func (h Home) OthersAt(common string) ([]Home, error) {
	homes, err := worktree.Homes(common)
	keeps, unread := worktree.Keeps(common)
	if err := errors.Join(err, unread); err != nil {
		return nil, err
	}
	var out []Home
	own := false
	for _, dir := range homes {
		switch other := OpenHome(dir); {
		case other == h:
			own = true
		case !errors.Is(other.Check(), api.ErrNoHome):
			out = append(out, other)
		case keeps && !goneFor(other.Dir):
			err = errors.Join(err, fmt.Errorf("the home %s %w", other.Dir, errAway))
		}
	}
	if keeps && !own {
		err = errors.Join(err, errNobodyNoted)
	}
	return out, err
}

// mounts are where disks come and go.
var mounts = []string{"/media/", "/run/media/", "/mnt/", "/Volumes/"}

// goneFor reports whether it is certain that a home without settings is gone for good, and does not lie on a disk that
// is away: then its folder, or the one around it, is not there or empty.
func goneFor(dir string) bool {
	if slices.ContainsFunc(mounts, func(m string) bool { return strings.HasPrefix(dir, m) }) {
		return false
	}
	list, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		list, err = os.ReadDir(filepath.Dir(dir))
	}
	return err == nil && len(list) > 0
}

// LeaveRepository takes out of a shared git directory what parley put there, with all that is kept.
func LeaveRepository(common string) error { return worktree.Leave(common) }

// keptIn lists what was taken out of checkouts, newest first.
func keptIn(ctx context.Context, places []place) ([]api.KeptFile, error) {
	var out []api.KeptFile
	for _, p := range places {
		list, err := p.checkout.Kept(ctx)
		if err != nil {
			return nil, err
		}
		for _, k := range list {
			out = append(out, keptFile(p.slug, k))
		}
	}
	slices.SortStableFunc(out, func(a, b api.KeptFile) int { return b.At.Compare(a.At) })
	return out, nil
}

func keptFile(slug string, k worktree.KeptFile) api.KeptFile {
	return api.KeptFile{ID: k.ID, Repository: slug, Path: k.Path, At: k.When, Why: k.Why, File: k.File, Changed: k.Changed}
}

// keptContent is one kept file with its bytes.
func keptContent(ctx context.Context, places []place, id string) (api.KeptContent, error) {
	for _, p := range places {
		k, body, err := p.checkout.KeptNamed(ctx, id)
		if errors.Is(err, worktree.ErrNoRecord) {
			continue
		}
		return api.KeptContent{KeptFile: keptFile(p.slug, k), Content: body}, err
	}
	return api.KeptContent{}, fmt.Errorf("%s: %w", id, api.ErrNoKept)
}

// operationsIn lists what parley did in checkouts, newest first.
func operationsIn(ctx context.Context, places []place) ([]api.Operation, error) {
	var out []api.Operation
	for _, p := range places {
		list, err := p.checkout.Operations(ctx)
		if err != nil {
			return nil, err
		}
		for _, o := range list {
			op := api.Operation{ID: o.ID, Repository: p.slug, At: o.When, Kind: string(o.Kind), Why: o.Why, From: string(o.From), To: string(o.To), Undone: o.UndoneBy != ""}
			for _, c := range o.Changes {
				op.Paths = append(op.Paths, c.Path)
			}
			out = append(out, op)
		}
	}
	slices.SortStableFunc(out, func(a, b api.Operation) int { return b.At.Compare(a.At) })
	return out, nil
}

// Kept lists what was taken out of the checkouts.
func (r reader) Kept(ctx context.Context) ([]api.KeptFile, error) { return keptIn(ctx, r.n.places()) }

// KeptContent is one kept file with its bytes.
func (r reader) KeptContent(ctx context.Context, id string) (api.KeptContent, error) {
	return keptContent(ctx, r.n.places(), id)
}

// Operations lists what parley did in the checkouts.
func (r reader) Operations(ctx context.Context) ([]api.Operation, error) {
	return operationsIn(ctx, r.n.places())
}

// Kept lists what was taken out of the checkouts.
func (s *still) Kept(ctx context.Context) ([]api.KeptFile, error) {
	places, err := s.cfg.places(ctx)
	if err != nil {
		return nil, err
	}
	return keptIn(ctx, places)
}

// KeptContent is one kept file with its bytes.
func (s *still) KeptContent(ctx context.Context, id string) (api.KeptContent, error) {
	places, err := s.cfg.places(ctx)
	if err != nil {
		return api.KeptContent{}, err
	}
	return keptContent(ctx, places, id)
}

// Operations lists what parley did in the checkouts.
func (s *still) Operations(ctx context.Context) ([]api.Operation, error) {
	places, err := s.cfg.places(ctx)
	if err != nil {
		return nil, err
	}
	return operationsIn(ctx, places)
}

// Restore puts a kept file back. A conversation that decides about its path then leaves this computer's copies
// alone: a person has said that they count.
func (a actor) Restore(ctx context.Context, id string, p presence.Proof) (api.Outcome, error) {
	k, err := keptContent(ctx, a.n.places(), id)
	if err != nil {
		return api.Outcome{}, err
	}
	said, _, err := a.yield(ctx, api.RestoreAct(id), p, k.Repository, []string{k.Path}, false)
	if err != nil {
		return api.Outcome{}, err
	}
	err = patiently(ctx, func() error {
		_, err := a.n.workspaceNamed(k.Repository).checkout.Restore(ctx, id)
		return err
	})
	if err != nil {
		return api.Outcome{}, unchanged(err, said)
	}
	a.n.acted("", "put "+k.Path+" back as it was on "+stamp(k.At))
	return api.Outcome{Text: k.Path + " is back as it was on " + stamp(k.At) + said, Next: "parley op log"}, nil
}

// Undo takes one change back. A sync that is undone stays undone: it is paused for that repository.
func (a actor) Undo(ctx context.Context, id string, p presence.Proof) (api.Outcome, error) {
	all, err := operationsIn(ctx, a.n.places())
	if err != nil {
		return api.Outcome{}, err
	}
	i := slices.IndexFunc(all, func(o api.Operation) bool { return o.ID == id })
	if i < 0 {
		return api.Outcome{}, fmt.Errorf("%s: %w", id, api.ErrNoKept)
	}
	op := all[i]
	said, paused, err := a.yield(ctx, api.UndoAct(id), p, op.Repository, op.Paths, op.Kind == string(worktree.OpSync))
	if err != nil {
		return api.Outcome{}, err
	}
	var res worktree.UndoResult
	err = patiently(ctx, func() error {
		res, err = a.n.workspaceNamed(op.Repository).checkout.Undo(ctx, id)
		return err
	})
	if paused && res.Operation == "" {
		_, goOn := a.Sync(context.WithoutCancel(ctx), op.Repository, api.SyncResume) // nothing stays undone
		err = errors.Join(err, goOn)
	} else if paused {
		said += "; the master sync of " + op.Repository + " is paused (parley sync resume)"
	}
	if err != nil {
		return api.Outcome{}, unchanged(err, said)
	}
	a.n.acted("", undone(res))
	return api.Outcome{Text: undone(res) + said, Next: "parley op log"}, nil
}

// A person's act waits for what the node itself does in the checkout meanwhile.
const (
	busyMost  = 10 * time.Second
	busyAgain = 100 * time.Millisecond
)

func patiently(ctx context.Context, do func() error) error {
	until := time.Now().Add(busyMost)
	for {
		err := do()
		if !errors.Is(err, worktree.ErrBusy) || time.Now().After(until) {
			return err
		}
		select {
		case <-time.After(busyAgain):
		case <-ctx.Done():
			return err
		}
	}
}

// undone says what an undo did.
func undone(res worktree.UndoResult) string {
	var text []string
	if len(res.Restored) > 0 {
		text = append(text, "taken back: "+strings.Join(res.Restored, ", "))
	}
	if res.Moved {
		text = append(text, "the branch stands where it stood")
	}
	for _, l := range res.Left {
		text = append(text, "left alone: "+l.Path+": "+l.Why)
	}
	if res.Why != "" {
		text = append(text, res.Why)
	}
	return strings.Join(text, "; ")
}

// unchanged says that no file was put back, and what was decided for it all the same.
func unchanged(err error, said string) error {
	if said == "" {
		return err
	}
	return fmt.Errorf("%w%s all the same", err, said)
}

// yield checks a person's proof and lets whoever decides about the paths leave them alone from now on, so that
// what the person puts back is not replaced again. It says what changed, and whether the master sync was paused for it.
func (a actor) yield(ctx context.Context, act presence.Act, p presence.Proof, slug string, paths []string, pause bool) (said string, paused bool, err error) {
	_, err = a.n.change(ctx, func(n *Node) (api.Outcome, []core.Effect, error) {
		if err := n.persons.Check(act, p); err != nil {
			return api.Outcome{}, nil, err
		}
		var effects []core.Effect
		for _, path := range paths {
			why, _ := n.core.WhyPath(slug, path)
			if why.Thread == nil || why.Thread.State.Phase == thread.Closed {
				continue // a closed conversation takes nothing back
			}
			b := thread.Binds{Action: "keep", Repo: why.Thread.State.Open.Repo, Pull: why.Thread.State.Open.Pull}
			more, err := n.core.Ask(why.Thread.State.Ledger, b, string(p.Kind), n.wall())
			if err != nil {
				return api.Outcome{}, effects, err
			}
			effects = append(effects, more...)
			said = "; this computer keeps its copies until the final of " + why.Thread.State.Ref() + " is verified"
		}
		if pause {
			paused = !n.core.Paused(slug)
			more, _ := n.core.Pause(slug, true, n.wall())
			effects = append(effects, more...)
		}
		return api.Outcome{}, effects, nil
	})
	return said, paused, err
}
