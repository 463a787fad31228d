package node

import (
	"context"
	"crypto/sha256"
	"errors"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/parley-mesh/parley/detect"
	"github.com/parley-mesh/parley/detect/code"
	"github.com/parley-mesh/parley/detect/repo"
	"github.com/parley-mesh/parley/ledger"
	"github.com/parley-mesh/parley/node/core"
	"github.com/parley-mesh/parley/node/internal/watch"
	"github.com/parley-mesh/parley/node/internal/worktree"
)

// How a checkout is looked at: a moment after the doorbell, since programs write in several steps; by the clock too,
// oftener where not all of it is watched.
const (
	bellWait    = 30 * time.Millisecond
	lookEvery   = 5 * time.Minute
	lookPartial = 30 * time.Second
	lookShare   = 20 // looking by the clock takes at most so small a part of the time
	lookRetry   = 20 * time.Second
	spotsMax    = 24
	spotIdle    = time.Hour
)

// spot is one checkout of a configured repository, any of its working trees or clones, that is only looked at. Its
// fields behind the first group belong to the lock of [live].
type spot struct {
	l     *live
	at    worktree.Place
	repo  *liveRepo
	own   bool           // a person configured it
	name  [16]byte       // as records call it
	kicks chan struct{}  // holds one signal: look
	stop  func()         // ends its goroutine
	desk  *repo.Desk     // its goroutine's alone
	bell  *watch.Bell    // its goroutine's alone
	trunk map[string]tip // its goroutine's alone: what the default branch's tip has at paths that differ from the base
	tip   worktree.OID   // its goroutine's alone: that tip

	gone     bool
	files    []string       // of the base
	digest   *detect.Digest // as it was seen last
	used     time.Time
	paths    map[string]bool // that may have changed, besides what the bell tells
	whole    bool            // anything may have changed
	looks    uint64          // how often it was looked at
	looked   chan struct{}   // closed by the next look
	base     string
	head     string
	branch   string
	grammar  string
	folds    bool
	touched  map[string]*touch // by path: who said that it edits there
	held     map[string]map[*session]*heldEdit
	prints   map[uint64]string // the path that a fingerprint was first seen with
	worker   *session          // the person's own work here; nil: none
	again    time.Time         // when something that was put off is due
	over     bool              // it was told that there is too much
	partial  bool              // not all of it is watched
	failed   string            // why it could not be looked at last
	lookedAt time.Time         // when all of it was
	took     time.Duration     // by that look
	turns    uint64            // of the node's own writing, at that look
}

// tip is what one commit has at a path.
type tip struct {
	blob string
	mode uint32
}

// located says when a directory was found to be of no repository that is looked after.
type located struct{ at time.Time }

// locatedFor is how long it counts that a directory is of no interest.
const locatedFor = time.Minute

// topOf is the nearest directory at or above one that has an entry .git; "" where there is none.
func topOf(dir string) string {
	for {
		if exists(filepath.Join(dir, ".git")) {
			return dir
		}
		up := filepath.Dir(dir)
		if up == dir {
			return ""
		}
		dir = up
	}
}

// spotAt is the spot that a directory lies in; nil where it is of no configured repository. It may run git, so the caller
// does not hold the lock.
func (l *live) spotAt(ctx context.Context, dir string) *spot {
	if dir == "" || !filepath.IsAbs(dir) {
		return nil
	}
	top := topOf(worktree.Real(dir))
	if top == "" {
		return nil
	}
	l.mu.Lock()
	s, known := l.spots[top], l.located[top]
	l.mu.Unlock()
	switch {
	case s != nil:
		return s
	case !known.at.IsZero() && l.n.wall().Sub(known.at) < locatedFor:
		return nil
	}
	at, err := worktree.Locate(ctx, worktree.Git{}, top)
	if ctx.Err() != nil {
		return nil // time was up: nothing is known of it
	}
	var r *liveRepo
	if err == nil {
		r, at.Trunk = l.repoAt(ctx, at)
	}
	if ctx.Err() != nil {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if r == nil || at.Top != top {
		if len(l.located) > 1000 {
			clear(l.located)
		}
		l.located[top] = located{at: l.n.wall()}
		return nil
	}
	return l.open(at, r)
}

// open begins to look at a checkout. The caller holds the lock.
func (l *live) open(at worktree.Place, r *liveRepo) *spot {
	if s := l.spots[at.Top]; s != nil {
		return s
	}
	if len(l.spots) >= spotsMax || l.ctx == nil || !l.activeIn(r) {
		return nil
	}
	sum := sha256.Sum256(slices.Concat([]byte("parley-checkout/1\x00"), deviceBytes(l.n.id.Device()), []byte(at.Top)))
	ctx, stop := context.WithCancel(l.ctx)
	s := &spot{
		l: l, at: at, repo: r, name: [16]byte(sum[:16]), kicks: make(chan struct{}, 1), stop: stop, used: l.n.wall(), paths: map[string]bool{}, whole: true,
		looked: make(chan struct{}), touched: map[string]*touch{}, held: map[string]map[*session]*heldEdit{}, prints: map[uint64]string{},
	}
	s.branch = at.Branch()
	l.resume(s)
	l.spots[at.Top] = s
	l.n.work.Go(func() { s.run(ctx) })
	return s
}

// resume takes up what earlier processes said of the paths of a checkout, for the sessions that go on in it.
func (l *live) resume(s *spot) {
	for _, key := range l.sessionKeys() {
		o := l.sessions[key]
		if o.top != s.at.Top || o.ended || o.spot != nil {
			continue
		}
		s.takeUp(o)
	}
}

// takeUp takes up what earlier processes said of the paths of a checkout for one session. The caller holds the lock.
func (s *spot) takeUp(o *session) {
	o.spot = s
	if o.key.agent == "" {
		s.worker = o
	}
	for path, e := range s.l.before[o.id] {
		if e.Op == ledger.EditBack {
			continue
		}
		if s.held[string(path)] == nil {
			s.held[string(path)] = map[*session]*heldEdit{}
		}
		s.held[string(path)][o] = &heldEdit{edit: e}
		for _, p := range e.Prints {
			s.prints[p] = string(path)
		}
	}
}

func deviceBytes(d ledger.Device) []byte { return d[:] }

// kick lets a spot be looked at: at some paths, or at all of it.
func (s *spot) kick(paths ...string) {
	for _, p := range paths {
		s.paths[p] = true
	}
	if len(paths) == 0 {
		s.whole = true
	}
	s.used = s.l.n.wall()
	ring(s.kicks)
}

// within is a path below the top of a spot, slash-separated; false for one that lies elsewhere.
func (s *spot) within(file string) (string, bool) {
	rel, err := filepath.Rel(s.at.Top, file)
	if err != nil {
		return "", false
	}
	rel = filepath.ToSlash(rel)
	return rel, rel != "." && rel != ".." && !strings.HasPrefix(rel, "../") && ledger.Path(rel).Validate() == nil
}

// run looks whenever there is reason to, until ctx ends.
func (s *spot) run(ctx context.Context) {
	defer s.close()
	wait := time.Duration(0)
	for {
		if s.pause(ctx, wait) != nil {
			return
		}
		if err := s.look(ctx); err != nil && ctx.Err() == nil {
			s.fail(err)
			wait = lookRetry
			if s.retire() {
				return
			}
			continue
		}
		if s.retire() {
			return
		}
		wait = s.wait()
	}
}

// pause waits for a kick, the bell, or that long.
func (s *spot) pause(ctx context.Context, wait time.Duration) error {
	t := time.NewTimer(wait)
	defer t.Stop()
	var rings <-chan struct{}
	if s.bell != nil {
		rings = s.bell.C()
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	case <-s.kicks:
	case <-rings:
	}
	pause(ctx, bellWait)
	return ctx.Err()
}

// wait is how long nothing need be looked at.
func (s *spot) wait() time.Duration {
	s.l.mu.Lock()
	defer s.l.mu.Unlock()
	wait := s.every()
	if !s.again.IsZero() {
		wait = min(wait, max(s.again.Sub(s.l.n.wall()), time.Millisecond))
	}
	return wait
}

// every is how often all of it is looked at by the clock. The caller holds the lock.
func (s *spot) every() time.Duration {
	if s.partial {
		return max(lookPartial, lookShare*s.took)
	}
	return max(lookEvery, lookShare*s.took)
}

// retire ends a spot that nobody works in any more, or that is gone.
func (s *spot) retire() bool {
	gone := !exists(filepath.Join(s.at.Top, ".git"))
	s.l.mu.Lock()
	defer s.l.mu.Unlock()
	idle := !s.own && s.l.n.wall().Sub(s.used) > spotIdle && !s.l.worksIn(s)
	if !gone && !idle {
		return false
	}
	s.gone = true
	delete(s.l.spots, s.at.Top)
	s.l.leave(s)
	return true
}

func (s *spot) close() {
	s.stop()
	if s.bell != nil {
		_ = s.bell.Close() // nothing is lost
	}
	if s.desk != nil {
		_ = s.desk.Close() // its directory is temporary
	}
	s.l.mu.Lock()
	defer s.l.mu.Unlock()
	if s.l.spots[s.at.Top] == s {
		delete(s.l.spots, s.at.Top)
	}
}

// fail notes why a spot cannot be looked at, once until it can.
func (s *spot) fail(err error) {
	if s.desk != nil {
		_ = s.desk.Close() // it is opened anew
		s.desk = nil
	}
	s.l.n.slog.Debug("look at a checkout", "top", s.at.Top, "error", err)
	s.l.mu.Lock()
	defer s.l.mu.Unlock()
	s.whole = true
	if s.failed != err.Error() && !errors.Is(err, repo.ErrEmpty) {
		s.failed = err.Error()
		s.l.n.log.add(core.Note{Level: "warn", Kind: "live", Who: s.l.n.cfg.Name, Text: "could not look at " + s.at.Top + ": " + err.Error()})
	}
}

// look finds out what changed and says it.
func (s *spot) look(ctx context.Context) error {
	turns := s.repo.w.checkout.Turns()
	paths, whole := s.reasons(turns)
	began := time.Now()
	if !whole && len(paths) == 0 && s.desk != nil {
		s.due() // only something that was put off
		return nil
	}
	state, err := s.stand(ctx, whole)
	if err != nil {
		return err
	}
	if whole {
		paths = nil
	}
	digest, err := s.desk.Digest(ctx, paths...)
	if err != nil {
		return err
	}
	s.l.mu.Lock()
	defer s.l.mu.Unlock()
	if turns%2 == 1 || s.repo.w.checkout.Turns() != turns {
		s.kick() // half of a sync is nobody's edit
		return nil
	}
	s.failed, s.partial = "", s.bell == nil || s.bell.Partial()
	if whole {
		s.took = time.Since(began)
	}
	if state != nil {
		s.head, s.branch, s.base = string(state.Head), state.Branch, s.desk.Base()
	}
	s.folds, s.grammar = digest.Side.Folds, digest.Grammars
	s.observed(digest)
	s.looks++
	close(s.looked)
	s.looked = make(chan struct{})
	return nil
}

// reasons are what the bell and the kicks tell. After the node itself wrote, its branch may stand elsewhere.
func (s *spot) reasons(turns uint64) (paths []string, whole bool) {
	if s.bell != nil {
		paths, whole = s.bell.Take()
	}
	s.l.mu.Lock()
	defer s.l.mu.Unlock()
	now := s.l.n.wall()
	whole = whole || s.whole || s.turns != turns || now.Sub(s.lookedAt) >= s.every()
	for p := range s.paths {
		paths = append(paths, p)
	}
	s.whole, s.paths = false, map[string]bool{}
	if whole {
		s.lookedAt, s.turns = now, turns
	}
	slices.Sort(paths)
	paths = slices.DeleteFunc(slices.Compact(paths), func(p string) bool { return path.Clean(p) != p })
	return paths, whole
}

// stand opens the desk if need be, and anew where the base has moved. Where HEAD is, is asked when anything may have
// changed.
func (s *spot) stand(ctx context.Context, whole bool) (*worktree.CheckoutState, error) {
	if s.desk != nil && !whole {
		return nil, nil
	}
	state, err := s.at.Stands(ctx, worktree.Git{})
	if err != nil {
		return nil, err
	}
	branch := s.repo.w.baseBranch()
	seen, err := s.repo.w.mirror.Tip(ctx, branch)
	if err != nil {
		return nil, err
	}
	base, trunk, err := s.at.Fork(ctx, worktree.Git{}, branch, seen)
	if err != nil {
		return nil, err
	}
	if s.desk != nil && s.desk.Base() == string(base) && s.tip == trunk {
		return &state, nil
	}
	if s.desk != nil {
		_ = s.desk.Close() // another takes its place
		s.desk = nil
	}
	if s.desk, err = repo.OpenDesk(ctx, s.at.Top, repo.DeskOptions{Base: string(base), Reader: codeReader}); err != nil {
		s.desk = nil
		return nil, err
	}
	if err := s.readTrunk(ctx, string(base), string(trunk)); err != nil {
		return nil, err
	}
	files, err := s.at.Files(ctx, worktree.Git{}, base)
	if err != nil {
		return nil, err
	}
	s.l.mu.Lock()
	s.files = files
	s.l.mu.Unlock()
	s.tip = trunk
	s.watch(ctx)
	return &state, nil
}

func codeReader(l *repo.Layout) detect.Reader {
	return code.New(code.Project{Has: l.Has, Folder: l.Folder, GoModules: l.GoModules, Packages: l.Packages, Aliases: l.Aliases})
}

// readTrunk learns what the default branch's tip has at the paths where it differs from the base: what stands there in the
// checkout too has landed.
func (s *spot) readTrunk(ctx context.Context, base, trunk string) error {
	s.trunk = map[string]tip{}
	if trunk == base || trunk == "" {
		return nil
	}
	files, err := s.desk.Repo().Changes(ctx, base, trunk)
	if err != nil {
		return err
	}
	for _, f := range files {
		s.trunk[f.Path] = tip{f.Blob, f.Mode}
		if f.From != "" {
			s.trunk[f.From] = tip{}
		}
	}
	return nil
}

// watch puts up the doorbell, if it is not there. Without one the clock has to do.
func (s *spot) watch(ctx context.Context) {
	if s.bell != nil {
		return
	}
	ignored, err := s.at.Ignored(ctx, worktree.Git{})
	if err != nil {
		s.l.n.slog.Debug("list ignored directories", "top", s.at.Top, "error", err)
	}
	skip := map[string]bool{}
	for _, dir := range ignored {
		skip[dir] = true
	}
	git := []string{s.at.GitDir}
	if s.at.Common != s.at.GitDir {
		git = append(git, s.at.Common)
	}
	bell, err := watch.Open(s.at.Top, git, func(rel string) bool { return skip[rel] || heavy[path.Base(rel)] })
	if err != nil {
		s.l.n.slog.Debug("watch", "top", s.at.Top, "error", err)
		return
	}
	s.bell = bell
}

// heavy are directories that are ignored nearly everywhere and may come at any time.
var heavy = map[string]bool{"node_modules": true, "__pycache__": true, ".venv": true, ".tox": true, ".gradle": true, ".next": true}

// sortedKeys are the keys of a map in order.
func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
