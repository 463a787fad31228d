package node

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/parley-mesh/parley/ledger"
	"github.com/parley-mesh/parley/ledger/disk"
	"github.com/parley-mesh/parley/node/core"
	"github.com/parley-mesh/parley/node/internal/github"
	"github.com/parley-mesh/parley/node/internal/worktree"
)

// workspace is one configured repository: the person's checkout, the node's own mirror, and what GitHub
// calls it.
type workspace struct {
	slug     string
	owner    string
	name     string
	checkout *worktree.Checkout
	mirror   *worktree.Mirror
	fetching sync.Mutex // one fetch at a time; the next may use its answer

	mu    sync.Mutex
	known github.Repository
	unfit unfit // the combination that failed its tests last

	base  string   // configured base branch; empty: GitHub's default
	tests []string // command that judges a combination of own work and GitHub's; empty: nothing is tested
}

// unfit is a combination of own work and GitHub's that failed its tests: it is not tested again until one of the
// two has changed.
type unfit struct {
	own string
	tip worktree.OID
	why string
}

// repoPrefix is where GitHub's answer about a repository is kept, so that a node starts without it.
const repoPrefix = "repo/"

func (n *Node) openWorkspace(ctx context.Context, r *RepositoryConfig) (*workspace, error) {
	owner, name, ok := strings.Cut(r.Slug, "/")
	if !ok {
		return nil, fmt.Errorf("repository %q: want owner/name", r.Slug)
	}
	w := &workspace{slug: r.Slug, owner: owner, name: name, base: r.Base, tests: r.Test}
	if value, err := n.store.Get([]byte(repoPrefix + r.Slug)); err == nil && value != nil {
		if json.Unmarshal(value, &w.known) != nil {
			w.known = github.Repository{}
		}
	}
	// The id is what a repository is known by; its name may have changed since it was configured.
	if o, m, ok := strings.Cut(w.known.FullName, "/"); ok && w.known.ID != 0 {
		w.owner, w.name = o, m
	}
	var err error
	if w.checkout, err = worktree.OpenCheckout(ctx, worktree.Git{}, r.Checkout); err != nil {
		return nil, err
	}
	w.checkout.Home = n.home.Dir
	if err := w.checkout.NoteHome(); err != nil {
		n.slog.Warn("note the home in a checkout", "repository", r.Slug, "error", err)
	}
	remote := n.remote(n.cfg.GitHub.cloneURL(w.owner, w.name))
	if w.mirror, err = worktree.OpenMirror(ctx, worktree.Git{}, n.home.MirrorDir(owner, name), remote); err != nil {
		return nil, err
	}
	return w, nil
}

// workspaceOf finds the repository that a thread is about, by GitHub's numeric id.
func (n *Node) workspaceOf(host string, id uint64) (*workspace, error) {
	for _, w := range n.repos {
		if host == n.cfg.GitHub.Host && w.repository().ID == int64(id) {
			return w, nil
		}
	}
	return nil, fmt.Errorf("repository %d on %s is not configured on this computer", id, host)
}

func (w *workspace) repository() github.Repository {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.known
}

// baseBranch is the branch that stands for the document's master.
func (w *workspace) baseBranch() string {
	if w.base != "" {
		return w.base
	}
	return w.repository().DefaultBranch
}

// identify asks GitHub what the repository is, once a start and whenever a scan runs. Once it is known it is
// asked for by its id: a repository that was renamed or transferred stays the same one (case 28).
func (n *Node) identify(ctx context.Context, w *workspace) (core.Repository, error) {
	var r github.Repository
	var err error
	if id := w.repository().ID; id != 0 {
		r, err = n.gh.RepositoryByID(ctx, id)
	} else {
		r, err = n.gh.Repository(ctx, w.owner, w.name)
	}
	if errors.Is(err, github.ErrNotFound) {
		return core.Repository{}, noRepository(w.slug)
	}
	if err != nil {
		return core.Repository{}, err
	}
	w.mu.Lock()
	changed := w.known.ID != r.ID || w.known.DefaultBranch != r.DefaultBranch || w.known.FullName != r.FullName
	w.known = r
	w.mu.Unlock()
	if changed {
		if value, err := json.Marshal(r); err == nil {
			if _, err := n.store.Apply(disk.Batch{Put: []disk.Pair{{Key: []byte(repoPrefix + w.slug), Value: value}}}); err != nil {
				return core.Repository{}, err
			}
		}
	}
	if !strings.EqualFold(r.FullName, w.owner+"/"+w.name) {
		n.log.add(core.Note{Level: "warn", Kind: "repository", Who: n.cfg.Name, Text: w.slug + " is called " + r.FullName + " now; the node starts over with that name"})
		n.startOver()
	}
	return n.coreRepository(w), nil
}

func (n *Node) coreRepository(w *workspace) core.Repository {
	return core.Repository{Slug: w.slug, Host: n.cfg.GitHub.Host, ID: uint64(w.repository().ID), Base: w.baseBranch()}
}

// identifyAll tells the core what is known of each repository, and asks GitHub until it has answered.
func (n *Node) identifyAll(ctx context.Context) {
	for _, w := range n.repos {
		if w.repository().ID != 0 {
			n.send(ctx, n.coreRepository(w))
		}
		n.work.Go(func() {
			for wait := n.cfg.Timers.every().Retry; ; wait = min(2*wait, 15*time.Minute) {
				if r, err := n.identify(ctx, w); err == nil {
					n.send(ctx, r)
					ring(n.live.fetched)
					return
				} else if missing, ok := n.missing(err); ok {
					n.send(ctx, core.Scanned{Slug: w.slug, Missing: missing})
				} else if w.repository().ID == 0 {
					n.send(ctx, core.Scanned{Slug: w.slug, Err: err.Error()})
				}
				select {
				case <-time.After(wait):
				case <-ctx.Done():
					return
				}
			}
		})
	}
}

// fetch brings the base branch and pull request heads. Only one runs at a time for a repository.
func (w *workspace) fetch(ctx context.Context, pulls ...uint64) (worktree.Fetched, error) {
	w.fetching.Lock()
	defer w.fetching.Unlock()
	return w.mirror.Fetch(ctx, w.baseBranch(), pulls)
}

// noRepository is a repository that GitHub does not know by that name, or does not show to this account.
type noRepository string

func (r noRepository) Error() string {
	return "GitHub knows no repository " + string(r) + ", or does not show it to this account"
}

// missing says whether an error is a prerequisite that a person has to see to (P10). A passing outage is
// none.
func (n *Node) missing(err error) ([]core.Missing, bool) {
	unknown, none := errors.AsType[noRepository](err)
	switch {
	case none:
		return []core.Missing{{What: unknown.Error(), Fix: "correct slug in " + n.home.ConfigPath() + " and start the node again, or run gh auth login as somebody who may see it"}}, true
	case errors.Is(err, github.ErrNoCLI):
		return []core.Missing{{What: "the GitHub CLI is not installed", Fix: "install gh (https://cli.github.com), then run gh auth login"}}, true
	case errors.Is(err, github.ErrNotSignedIn):
		return []core.Missing{{What: "the GitHub CLI is not signed in to " + n.cfg.GitHub.Host, Fix: "gh auth login --hostname " + n.cfg.GitHub.Host}}, true
	}
	return nil, false
}

// oid is a git object id as git prints it, in the form of records. The adapters return valid ids; an
// empty one is the absent object.
func oid[T ~string](s T) ledger.OID {
	v, err := ledger.ParseOID(string(s))
	if err != nil {
		return ""
	}
	return v
}

func hexOID(o ledger.OID) worktree.OID { return worktree.OID(o.String()) }
