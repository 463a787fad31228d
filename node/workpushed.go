package node

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/parley-mesh/parley/conflicts/overlap"
	"github.com/parley-mesh/parley/detect"
	"github.com/parley-mesh/parley/detect/repo"
	"github.com/parley-mesh/parley/ledger"
	"github.com/parley-mesh/parley/node/internal/github"
	"github.com/parley-mesh/parley/node/internal/worktree"
)

// Bounds of what is published of branches without a pull request: the newest ones, of the last weeks.
const (
	branchesMax  = 50
	branchesAge  = 4 * 7 * 24 * time.Hour
	commitsRead  = 200 // of one branch, to find out whose it is
	subjectsSaid = 5
)

// pushedBranches are the branches that are sides of their own, as GitHub has them now: not merged, not old, without an open
// pull request, and of which no session here has a working copy that says more.
func (l *live) pushedBranches(ctx context.Context, r *liveRepo, pulls []github.Pull) ([]worktree.Head, error) {
	if err := r.w.fetchHeads(ctx); err != nil {
		return nil, err
	}
	heads, err := r.w.mirror.Unmerged(ctx, r.w.baseBranch(), branchesMax)
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.fold.Settle()
	taken := map[string]bool{r.w.baseBranch(): true}
	for _, p := range pulls {
		if !p.CrossRepository {
			taken[p.HeadRef] = true
		}
	}
	for _, s := range l.fold.Sides() {
		if s.Place == r.Place && (s.Kind == detect.Session || s.Kind == detect.Intent) && (s.Phase == overlap.Working || s.Phase == overlap.Idle) {
			taken[s.Branch] = true
		}
	}
	now := l.n.wall()
	return slices.DeleteFunc(heads, func(h worktree.Head) bool {
		return taken[h.Name] || now.Sub(h.At) > branchesAge || len(h.Name) > 255 || strings.HasPrefix(h.Name, "#")
	}), nil
}

func (w *workspace) fetchHeads(ctx context.Context) error {
	w.fetching.Lock()
	defer w.fetching.Unlock()
	return w.mirror.FetchHeads(ctx)
}

// readBranch finds out what a branch changes that the base branch has not, and whose it is.
func (l *live) readBranch(ctx context.Context, g *repo.Repo, r *liveRepo, h worktree.Head, who authors, base worktree.OID) (*pushed, error) {
	commits, err := r.w.mirror.Commits(ctx, base, h.Tip, commitsRead)
	if err != nil {
		return nil, err
	}
	var subjects []string
	for _, c := range commits[:min(len(commits), subjectsSaid)] {
		subjects = append(subjects, c.Subject)
	}
	if len(commits) > subjectsSaid {
		subjects = append(subjects, "…")
	}
	text := clipText(strings.Join(subjects, "; "), ledger.TaskBytesMax)
	says := ledger.Branch{Name: h.Name, Subjects: text, Issues: issuesOf(issueForm.FindAllString(text, -1)), Of: who.of(commits)}
	out, err := l.readPushed(ctx, g, r, says, base, h.Tip)
	if err != nil {
		return nil, err
	}
	differs, err := g.Changes(ctx, string(base), string(h.Tip))
	if err != nil {
		return nil, fmt.Errorf("read branch %s: %w", h.Name, err)
	}
	there := map[string]bool{}
	for _, f := range differs {
		there[f.Path] = true
	}
	for path := range out.edits {
		if !there[path] {
			delete(out.edits, path) // it has landed, as a squashed merge does
		}
	}
	out.landed = len(out.edits) == 0
	return out, nil
}

// keepBranches lets the branches that were published stay sides.
func (l *live) keepBranches(r *liveRepo, there map[ledger.ID]bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.fold.Settle()
	for _, s := range l.fold.Sides() {
		if s.Place == r.Place && s.Kind == detect.Branch {
			there[s.ID] = true
		}
	}
}

// authors are whose accounts and addresses are whose: this developer's own and those of lanes.
type authors struct {
	accounts  map[int64]ledger.TID
	addresses map[string]ledger.TID
}

// authors are those that this computer knows. An address is known by what a person confirmed, for themselves or for a
// lane; an account by what the developer's own gh said.
func (l *live) authors(ctx context.Context) authors {
	own := l.n.roster.get()
	out := authors{map[int64]ledger.TID{}, map[string]ledger.TID{}}
	if me, err := l.n.gh.Whoami(ctx); err == nil && me.ID != 0 {
		out.accounts[me.ID] = own.Fleet
	}
	address := func(fleet ledger.TID) {
		email := own.Email(fleet)
		if email == "" {
			return
		}
		if _, two := out.addresses[email]; two {
			fleet = ledger.TID{} // of two developers it names neither
		}
		out.addresses[email] = fleet
	}
	address(own.Fleet)
	for _, lane := range l.n.lanes.get() {
		address(lane.Peer)
		if a := lane.Account; a != nil && a.Host == l.n.cfg.GitHub.Host {
			out.accounts[int64(a.User)] = lane.Peer
		}
	}
	return out
}

// of is the developer who wrote all of some commits; zero where that is nobody known.
func (a authors) of(commits []worktree.Commit) (fleet ledger.TID) {
	for i, c := range commits {
		by := a.addresses[strings.ToLower(c.Email)]
		if by == (ledger.TID{}) || i > 0 && by != fleet {
			return ledger.TID{}
		}
		fleet = by
	}
	return fleet
}
