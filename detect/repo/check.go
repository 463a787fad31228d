package repo

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/parley-mesh/parley/detect"
)

// Options say what is checked.
type Options struct {
	Which
	Base   string        // what everything is merged into; "" for the trunk
	Order  bool          // look for the order of merging, too
	Reader detect.Reader // nil: nothing is said about code
	Cache  Cache         // of what the reader reads; nil: nothing is kept
}

// Result is what was found in one repository.
type Result struct {
	Base    Tip           `json:"base"`
	Guessed bool          `json:"base_guessed"` // nobody named the base, and nothing but what is checked out suggests it
	Sides   []Tip         `json:"sides"`
	Left    int           `json:"left_out"`        // sides that were too many
	Remote  int           `json:"remote_branches"` // branches of remotes that were not asked for
	Fetched int           `json:"pull_requests"`   // whose refs are here, if they were asked for
	Merged  []Tip         `json:"merged"`          // sides whose work the base has already, by whatever way
	Unread  []Unread      `json:"not_read"`        // what was there and could not be looked at
	Pairs   []Pair        `json:"pairs"`
	Order   []Step        `json:"order,omitzero"` // nil when nobody asked for it
	Asked   int           `json:"merges_tried"`   // pairs for which git had to be asked
	Report  detect.Report `json:"-"`
	digests []*detect.Digest
	made    map[string]bool // paths of files that programs make
}

// Tip is one side, as it was when it was looked at.
type Tip struct {
	Ref    string `json:"ref"`
	Label  string `json:"label"`
	Commit string `json:"commit"`
	Files  int    `json:"files"` // how many it changed
}

// Unread is a worktree, or a changed file, of which less is known than of others.
type Unread struct {
	Ref  string `json:"ref"`            // the side, or the worktree's directory
	Path string `json:"path,omitempty"` // the file
	Why  string `json:"why"`
}

// Pair is two sides, or a side and the base.
type Pair struct {
	A         string               `json:"a"`
	B         string               `json:"b"`
	Merge     string               `json:"merge"` // clean, conflict or unknown
	Why       string               `json:"why,omitempty"`
	Conflicts []detect.GitConflict `json:"conflicts"`
	// Regenerate is those of the conflicting paths that a program makes again, so that nobody merges them by hand.
	Regenerate []string `json:"regenerate"`
	Severity   string   `json:"severity,omitempty"` // of the loudest finding between the two
	// Stale says that git's conflicts are one side's with the base, which the other side contains: they are told
	// once, as that side's.
	Stale bool `json:"stale,omitempty"`
	tried bool // git was asked
}

var outcomes = map[detect.Outcome]string{detect.Merges: "clean", detect.Conflicts: "conflict", detect.Unknown: "unknown"}

// pair is the work on two sides; the side -1 is the base.
type pair struct {
	i, j int
	base base
	with detect.Meeting
	git  detect.Merge // git's answer; with.Git leaves out what is told elsewhere
	tree string
}

// Check finds everything between the sides.
func (r *Repo) Check(ctx context.Context, rules *detect.Rules, o Options) (*Result, error) {
	r.reader, r.cache = o.Reader, o.Cache
	name, trunk, guessed, err := r.into(ctx, o.Base)
	if err != nil {
		return nil, err
	}
	result := &Result{Guessed: guessed, Base: Tip{Ref: name, Label: name, Commit: trunk}, Sides: []Tip{}, Merged: []Tip{}, Unread: []Unread{}, Pairs: []Pair{}}
	tips, err := r.tips(ctx, o.Which, result)
	if err != nil {
		return nil, err
	}
	heads, here := []string{trunk}, folds(ctx, r.git)
	for i := range tips {
		tips[i].Folds = tips[i].Folds || here // who merges branches gets their files on this disk
		heads = append(heads, tips[i].head)
	}
	if err := r.load(ctx, heads); err != nil {
		return nil, err
	}
	if len(o.Names) == 0 {
		tips = slices.DeleteFunc(tips, func(t tip) bool { return r.graph.has(trunk, t.head) })
	}
	digests, err := r.digests(ctx, tips, trunk)
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(digests, func(a, b *detect.Digest) int {
		return detect.CompareRefs(a.Side.Ref, b.Side.Ref)
	})
	result.digests = digests
	if len(o.Names) == 0 {
		if err := r.leaveOutMerged(ctx, result); err != nil {
			return nil, err
		}
	}
	for _, d := range result.digests {
		result.Sides = append(result.Sides, tipOf(d))
	}
	if err := r.meetings(ctx, rules, result); err != nil {
		return nil, err
	}
	result.nameUnread()
	if o.Order {
		result.Order, err = r.order(ctx, result)
	}
	return result, err
}

// nameUnread lists the changed files that are code and were not read as such: what they declare is not known.
func (r *Result) nameUnread() {
	for _, d := range r.digests {
		for _, f := range d.Files {
			switch f.Quality {
			case detect.Failed:
				r.Unread = append(r.Unread, Unread{d.Side.Ref, f.Path, "not read as code: it is no text, or nested too deeply"})
			case detect.TimedOut:
				r.Unread = append(r.Unread, Unread{d.Side.Ref, f.Path, "not read as code: it is larger than 1 MiB, or took too long"})
			}
		}
	}
}

func tipOf(d *detect.Digest) Tip { return Tip{d.Side.Ref, d.Side.Label(), d.Head, len(d.Files)} }

// Into is what a check merges into: the base that was named, else the trunk.
func (r *Repo) Into(ctx context.Context, base string) (name, commit string, err error) {
	name, commit, _, err = r.into(ctx, base)
	return name, commit, err
}

func (r *Repo) into(ctx context.Context, base string) (name, commit string, guessed bool, err error) {
	if base == "" {
		return r.trunk(ctx)
	}
	commit, err = r.Resolve(ctx, base)
	return base, commit, false, err
}

// meetings holds every side against every other, and against the base.
func (r *Repo) meetings(ctx context.Context, rules *detect.Rules, result *Result) error {
	pairs, err := r.pairs(ctx, result)
	if err != nil {
		return err
	}
	ask, err := r.prune(ctx, result, pairs)
	if err != nil {
		return err
	}
	if err := r.askAndRead(ctx, result, ask); err != nil {
		return err
	}
	for k := range pairs {
		pairs[k].git = *pairs[k].with.Git
	}
	leaveOutStale(result, pairs)
	if err := r.declarations(ctx, result, ask); err != nil {
		return err
	}
	parties := make([]*detect.Party, len(result.digests))
	for i, d := range result.digests {
		parties[i] = rules.Party(d)
	}
	trunk := rules.Party(&detect.Digest{Side: detect.Side{Ref: result.Base.Ref, Kind: detect.Branch}, Head: result.Base.Commit})
	result.made = madeIn(result.digests)
	report := detect.Together(parties)
	for _, p := range parties {
		report.Add(detect.Alone(p))
	}
	for _, p := range pairs {
		a, b := trunk, parties[p.j]
		if p.i >= 0 {
			a = parties[p.i]
		}
		found := detect.Meet(a, b, p.with)
		report.Add(found)
		view := Pair{A: a.Side.Ref, B: b.Side.Ref, Merge: outcomes[p.git.Outcome], Why: p.git.Why, Regenerate: []string{}}
		view.Conflicts = append([]detect.GitConflict{}, p.git.Conflicts...)
		for _, c := range view.Conflicts {
			if isMade(c.Path, result.made) {
				view.Regenerate = append(view.Regenerate, c.Path)
			}
		}
		view.tried = p.tree != "" || p.git.Why != ""
		view.Stale = p.git.Outcome == detect.Conflicts && p.with.Git.Outcome != detect.Conflicts
		if len(found.Findings) > 0 {
			view.Severity = found.Findings[0].Severity.String()
		}
		result.Pairs = append(result.Pairs, view)
	}
	report.Sort()
	result.Report = report
	return nil
}

// head is the commit of a side, or of the base.
func (r *Result) head(i int) string {
	if i < 0 {
		return r.Base.Commit
	}
	return r.digests[i].Head
}

// pairs finds the merge base of every two sides, and of each with the base.
func (r *Repo) pairs(ctx context.Context, result *Result) (pairs []pair, err error) {
	for j := range result.digests {
		for i := -1; i < j; i++ {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			p := pair{i: i, j: j, base: r.graph.meet(result.head(i), result.head(j))}
			p.with.Base = p.base.commit
			pairs = append(pairs, p)
		}
	}
	return pairs, nil
}

// prune answers for the pairs that cannot conflict or cannot be told, and returns those about which git has to be asked.
func (r *Repo) prune(ctx context.Context, result *Result, pairs []pair) (ask []*pair, err error) {
	var spans []span
	for _, p := range pairs {
		for _, side := range []int{p.i, p.j} {
			if p.base.commit != "" && !result.own(side, p.base.commit) {
				spans = append(spans, span{p.base.commit, result.head(side)})
			}
		}
	}
	slices.SortFunc(spans, func(a, b span) int { return strings.Compare(a.base+a.head, b.base+b.head) })
	changed, err := r.changes(ctx, withoutRenames, slices.Compact(spans))
	if err != nil {
		return nil, err
	}
	for _, d := range result.digests {
		if len(d.Unreadable) == 0 {
			changed[span{d.Base, d.Head}] = renamesApart(d.Files)
		}
	}
	for k := range pairs {
		p := &pairs[k]
		a, okA := changed[span{p.base.commit, result.head(p.i)}]
		b, okB := changed[span{p.base.commit, result.head(p.j)}]
		p.with.FilesA, p.with.FilesB = r.withOwn(result, p.i, p.base.commit, a), r.withOwn(result, p.j, p.base.commit, b)
		switch {
		case p.base.cut:
			p.with.Git = &detect.Merge{Why: cutOff}
		case okA && okB && !p.base.many && !canConflict(a, b):
			p.with.Git = &detect.Merge{Outcome: detect.Merges}
		default:
			ask = append(ask, p)
		}
	}
	result.Asked = len(ask)
	return ask, nil
}

// askAndRead lets git merge while the contents of the sides are read: neither needs the other.
func (r *Repo) askAndRead(ctx context.Context, result *Result, ask []*pair) error {
	asked := make(chan error, 1)
	go func() { asked <- r.askGit(ctx, ask, result.head) }()
	err := r.understand(ctx, result.digests, result.Base.Commit)
	return errors.Join(err, <-asked)
}

// leaveOutStale takes conflicts out of a pair that one side has with the base already, on paths that the other side
// did not touch itself.
func leaveOutStale(result *Result, pairs []pair) {
	base := make([]map[string]bool, len(result.digests))
	own := make([]map[string]bool, len(result.digests))
	for j, d := range result.digests {
		own[j] = map[string]bool{}
		for _, f := range d.Files {
			own[j][f.Path], own[j][f.Old()] = true, true
		}
	}
	for k := range pairs {
		if p := &pairs[k]; p.i < 0 {
			base[p.j] = map[string]bool{}
			for _, c := range p.git.Conflicts {
				base[p.j][c.Path] = true
			}
		}
	}
	for k := range pairs {
		p := &pairs[k]
		if p.i < 0 || p.git.Outcome != detect.Conflicts {
			continue
		}
		kept := slices.DeleteFunc(slices.Clone(p.git.Conflicts), func(c detect.GitConflict) bool {
			return base[p.i][c.Path] && !own[p.j][c.Path] || base[p.j][c.Path] && !own[p.i][c.Path]
		})
		m := p.git
		if m.Conflicts = kept; len(kept) == 0 {
			m.Outcome = detect.Merges
		}
		p.with.Git = &m
	}
}

// withOwn is a side's changes since the pair's base: its own digest's, with renames and what else is known of the
// files, where that is the same base.
func (r *Repo) withOwn(result *Result, i int, base string, files []detect.File) []detect.File {
	if result.own(i, base) {
		return result.digests[i].Files
	}
	return files
}

// own reports whether a side's digest is counted from that base.
func (r *Result) own(i int, base string) bool { return i >= 0 && r.digests[i].Base == base }

// mergesPerRun bounds how much git says at once.
const mergesPerRun = 200

func (r *Repo) askGit(ctx context.Context, pairs []*pair, head func(int) string) error {
	for some := range slices.Chunk(pairs, mergesPerRun) {
		commits := make([][2]string, len(some))
		for i, p := range some {
			commits[i] = [2]string{head(p.i), head(p.j)}
		}
		answers, err := r.mergeAll(ctx, commits)
		if err != nil {
			return fmt.Errorf("merge the sides: %w", err)
		}
		for i, m := range answers {
			some[i].with.Git, some[i].tree = &m.Merge, m.tree
		}
	}
	return nil
}
