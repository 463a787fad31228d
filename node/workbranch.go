package node

import (
	"context"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"time"

	"github.com/parley-mesh/parley/conflicts/overlap"
	"github.com/parley-mesh/parley/detect"
	"github.com/parley-mesh/parley/detect/repo"
	"github.com/parley-mesh/parley/lanes"
	"github.com/parley-mesh/parley/ledger"
	"github.com/parley-mesh/parley/node/internal/github"
	"github.com/parley-mesh/parley/node/internal/worktree"
)

// Bounds of what is published of pull requests.
const (
	pullsMax      = 100
	pullFilesMax  = 300
	pullBudget    = 5 * time.Minute
	branchesFirst = 20 * time.Second // after a start, when others are busier
)

// pushed is what was published of one pull request or branch.
type pushed struct {
	repo   *liveRepo
	head   worktree.OID
	landed bool // the base branch has all of it already
	says   ledger.Branch
	edits  map[string]*ledger.Edit
}

// branches publishes the open pull requests as sides while this is the main computer, until ctx ends.
func (l *live) branches(ctx context.Context) {
	published := map[ledger.ID]*pushed{}
	wait := branchesFirst
	for l.awaitActive(ctx) {
		if pause(ctx, wait); ctx.Err() != nil {
			return
		}
		wait = l.n.cfg.Timers.every().Scan
		role, claim := l.n.roster.get().Main()
		if role != lanes.RoleMain || claim.Device != l.n.id.Device() || !l.active() {
			clear(published)
			continue
		}
		l.publishAll(ctx, published)
	}
}

func (l *live) publishAll(ctx context.Context, published map[ledger.ID]*pushed) {
	for _, r := range l.repositories() {
		l.mu.Lock()
		active := l.activeIn(r)
		l.mu.Unlock()
		if !active {
			continue
		}
		if err := l.publishPulls(ctx, r, published); err != nil {
			l.n.slog.Debug("publish pull requests", "repository", r.slug, "error", err)
		}
	}
}

// publishPulls says what the open pull requests and the pushed branches of a repository change, and which are gone.
func (l *live) publishPulls(ctx context.Context, r *liveRepo, published map[ledger.ID]*pushed) error {
	ctx, cancel := context.WithTimeout(ctx, pullBudget)
	defer cancel()
	list, err := l.n.gh.OpenPulls(ctx, r.w.owner, r.w.name, r.w.baseBranch())
	if err != nil {
		return err
	}
	pulls := list.Pulls[:min(len(list.Pulls), pullsMax)]
	var numbers []uint64
	for _, p := range pulls {
		numbers = append(numbers, uint64(p.Number))
	}
	fetched, err := r.w.fetch(ctx, numbers...)
	if err != nil {
		return err
	}
	ring(l.fetched)
	g, err := repo.Open(ctx, r.w.mirror.Dir())
	if err != nil {
		return err
	}
	defer g.Close() // its directory is temporary
	who, there := l.authors(ctx), map[ledger.ID]bool{}
	one := func(name string, pull uint64, head worktree.OID, read func() (*pushed, error)) {
		id := ledger.BranchSide(r.Host, r.Repo, name)
		there[id] = true
		was := published[id]
		if head == "" || was != nil && was.head == head && was.says.Pull == pull {
			return
		}
		now, err := read()
		if err != nil {
			l.n.slog.Debug("read what was pushed", "name", name, "error", err)
			return
		}
		if now.landed {
			delete(there, id)
			return
		}
		l.publish(id, was, now)
		published[id] = now
	}
	for _, p := range pulls {
		head := fetched.Heads[uint64(p.Number)]
		one(pullName(p), uint64(p.Number), head, func() (*pushed, error) { return l.readPull(ctx, g, r, p, who, fetched.Base, head) })
	}
	heads, err := l.pushedBranches(ctx, r, list.Pulls)
	if err != nil {
		l.n.slog.Debug("list branches", "repository", r.slug, "error", err)
		l.keepBranches(r, there) // nobody knows whether they are gone
	}
	for _, h := range heads {
		one(h.Name, 0, h.Tip, func() (*pushed, error) { return l.readBranch(ctx, g, r, h, who, fetched.Base) })
	}
	for _, id := range l.gonePulls(r, there, published) {
		delete(published, id)
	}
	return nil
}

// branchBytesMax is how long the name of a branch in a record may be.
const branchBytesMax = 255

// pullName is what a pull request is called as a side: its branch, or its number where that is of another repository or
// longer than a record holds.
func pullName(p github.Pull) string {
	if p.CrossRepository || p.HeadRef == "" || p.HeadRef[0] == '#' || len(p.HeadRef) > branchBytesMax {
		return fmt.Sprintf("#%d", p.Number)
	}
	return p.HeadRef
}

var issueForm = regexp.MustCompile(`(?:[\w.-]+/[\w.-]+)?#\d+\b`)

// readPull finds out what a pull request changes, and whose it is.
func (l *live) readPull(ctx context.Context, g *repo.Repo, r *liveRepo, p github.Pull, who authors, base, head worktree.OID) (*pushed, error) {
	says := ledger.Branch{
		Name: pullName(p), Pull: uint64(p.Number), Author: uint64(max(p.AuthorID, 0)), Subjects: clipText(p.Title, ledger.TaskBytesMax),
		Issues: issuesOf(issueForm.FindAllString(p.Title, -1)), Of: who.accounts[p.AuthorID],
	}
	out, err := l.readPushed(ctx, g, r, says, base, head)
	if err != nil || out.says.Of != (ledger.TID{}) {
		return out, err
	}
	commits, err := r.w.mirror.Commits(ctx, base, head, commitsRead)
	if err == nil {
		out.says.Of = who.of(commits)
	}
	return out, err
}

// readPushed finds out what a head changes since it left the base branch.
func (l *live) readPushed(ctx context.Context, g *repo.Repo, r *liveRepo, says ledger.Branch, base, head worktree.OID) (*pushed, error) {
	fork, err := r.w.mirror.MergeBase(ctx, base, head)
	if err != nil {
		return nil, err
	}
	if fork == "" {
		fork = base
	}
	files, err := g.Changes(ctx, string(fork), string(head))
	if err != nil {
		return nil, err
	}
	files = files[:min(len(files), pullFilesMax)]
	layout, err := g.Layout(ctx, string(fork))
	if err != nil {
		return nil, err
	}
	d := &detect.Digest{Base: string(fork), Head: string(head), Files: files}
	if err := g.Read(ctx, d, codeReader(layout)); err != nil {
		return nil, err
	}
	says.Head, says.Base, says.Grammars = oid(head), oid(fork), d.Grammars
	out := &pushed{repo: r, head: head, edits: map[string]*ledger.Edit{}, says: says}
	id := ledger.BranchSide(r.Host, r.Repo, out.says.Name)
	for i := range d.Files {
		f := &d.Files[i]
		if ledger.Path(f.Path).Validate() == nil {
			out.edits[f.Path] = overlap.EditOf(id, f, &d.Delta, g.PrintsOf(f), editBytesMax)
		}
	}
	return out, nil
}

// publish writes what is new of a pull request.
func (l *live) publish(id ledger.ID, was, now *pushed) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if was == nil {
		was = &pushed{edits: map[string]*ledger.Edit{}}
		for path, e := range l.before[id] {
			was.edits[string(path)] = e
		}
	}
	if !reflect.DeepEqual(was.says, now.says) {
		if _, err := l.write(now.repo, &now.says); err != nil {
			l.failed("branch", err)
			return
		}
	}
	for _, path := range sortedKeys(now.edits) {
		if old := was.edits[path]; old != nil && reflect.DeepEqual(old, now.edits[path]) {
			continue
		}
		if _, err := l.write(now.repo, now.edits[path]); err != nil {
			l.failed("branch", err)
			return
		}
	}
	for _, path := range sortedKeys(was.edits) {
		if now.edits[path] == nil && was.edits[path].Op != ledger.EditBack {
			if _, err := l.write(now.repo, overlap.BackOf(id, path)); err != nil {
				l.failed("branch", err)
				return
			}
		}
	}
}

// gonePulls says of the sides that are no open pull requests any more that they are gone, and lists them.
func (l *live) gonePulls(r *liveRepo, there map[ledger.ID]bool, published map[ledger.ID]*pushed) (gone []ledger.ID) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.fold.Settle()
	for _, s := range l.fold.Sides() {
		branch := s.Kind == detect.Branch || s.Kind == detect.PullRequest
		if !branch || s.Place != r.Place || there[s.ID] || s.Phase == overlap.Ended || !slices.Contains(l.n.roster.get().Devices(), s.Device) {
			continue
		}
		says := ledger.Branch{Name: s.Ref, Gone: true}
		if was := published[s.ID]; was != nil {
			says = was.says
			says.Gone = true
		} else if d := l.fold.Digest(s.ID); d != nil {
			says.Head, says.Base = oid(d.Head), oid(d.Base)
		}
		if says.Head == "" || says.Base == "" || ledger.BranchSide(r.Host, r.Repo, says.Name) != s.ID {
			continue
		}
		if _, err := l.write(r, &says); err != nil {
			l.failed("branch", err)
			return gone
		}
		gone = append(gone, s.ID)
	}
	return gone
}
