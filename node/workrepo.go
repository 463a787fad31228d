package node

import (
	"context"
	"slices"
	"strings"

	"github.com/parley-mesh/parley/node/internal/worktree"
)

// repoAt is the configured repository that a checkout is of, and the remote that says so: one with the same store of
// objects, else the one that origin names, else one that another remote names and that has history in common. A remote for
// taking single commits from elsewhere makes no checkout of that other repository.
func (l *live) repoAt(ctx context.Context, at worktree.Place) (*liveRepo, string) {
	repos := l.repositories()
	for _, r := range repos {
		if l.commonOf(r) == at.Common {
			return r, trunkOf(r, at)
		}
	}
	for _, remote := range at.Remotes {
		i := slices.IndexFunc(repos, func(r *liveRepo) bool { return r.named(worktree.RemoteSlug(remote.URL, r.Host)) })
		if i < 0 {
			continue
		}
		if remote.Name == "origin" || len(at.Remotes) == 1 {
			return repos[i], remote.Name
		}
		if shares, err := at.Shares(ctx, worktree.Git{}, remote.Name, repos[i].w.baseBranch()); err == nil && shares {
			return repos[i], remote.Name
		}
	}
	return nil, ""
}

func (l *live) commonOf(r *liveRepo) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return r.common
}

// named reports whether a name, as owner/name, is this repository's.
func (r *liveRepo) named(slug string) bool {
	return slug != "" && (strings.EqualFold(slug, r.slug) || strings.EqualFold(slug, r.w.repository().FullName))
}

// trunkOf is the remote of a configured checkout that names its repository, "" where none does.
func trunkOf(r *liveRepo, at worktree.Place) string {
	for _, remote := range at.Remotes {
		if r.named(worktree.RemoteSlug(remote.URL, r.Host)) {
			return remote.Name
		}
	}
	return ""
}
