package worktree

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"
)

// SyncRequest is what SyncMaster is to do.
type SyncRequest struct {
	Base string // the local branch, named as at GitHub
	Tip  OID    // where it stands at GitHub; a commit of the mirror

	// Hold names the paths that a thread holds now. Their working files stay as they are, and nothing of them goes
	// into a merge. It may change its answer while the sync runs: what it says last, before anything is written,
	// counts. Nil holds none.
	Hold func(path string) bool
	// Bring also brings together the files that the branch moved past while they were held (SyncResult.Apart), on
	// the version that they are based on. Without it they stay as they are: a person asks for it.
	Bring bool
	// Known is asked only for content that is in neither of the two tips. Nil knows nothing more.
	Known func(path string) (*Known, error)
	// Scratch is a directory for this call alone: what is in it goes. Empty: a temporary one.
	Scratch string
	// Test judges the combination of own work and GitHub's in a directory of its own, before any of it is taken.
	// It is called only if there is own work. Nil tests nothing.
	Test func(ctx context.Context, dir string) error
	// Failed tells why nothing was taken (SyncResult.Why) when Test judged this own work (SyncResult.Own) with this
	// tip before, so that it need not run again; empty: it did not fail. Nil remembers nothing.
	Failed func(own string) string
	// Settle is called where git cannot merge (a counted turn of an agent). It returns a commit of the scratch that
	// descends from both sides. Nil: own copies stay and nothing moves.
	Settle func(ctx context.Context, t Settling) (OID, error)
}

// Settling is a merge that git cannot make, laid out in a scratch, which begins at the own side.
type Settling struct {
	Scratch *Scratch
	Head    OID // the own work
	Theirs  OID // what is being merged into it
	Files   []Conflict
	Paths   []string // that conflict
	Own     string   // as in SyncResult
}

// KeptOwn is a path whose own copy stays where it is, and why, as a sentence.
type KeptOwn struct{ Path, Why string }

// SyncResult is what a sync of the base branch did. Either all of GitHub's was taken, together with all own work,
// or nothing moved and Why says what stands in the way.
type SyncResult struct {
	From, To OID      // where the local branch stood, and stands now
	Moved    bool     // it moved
	Replaced int      // working files that changed
	Merged   []string // paths where own work and GitHub's changes were put together
	Settled  []string // paths of conflicts that Settle settled
	Held     []string // changed paths whose working file stays, because Hold said so
	Kept     []KeptOwn
	// Apart lists own copies that are based on an older version than the branch has, since a thread held them
	// while the branch moved. A commit of one undoes GitHub's change there; Bring ends that.
	Apart     []string
	Conflicts []string // paths that git cannot merge and nobody settled
	// Own names the own work that stands in the way, by its content. Together with the tip it names the obstacle,
	// so that the same work is not given to an agent, or to a test that takes long, twice for the same tip.
	Own       string
	Operation string // the operation that can be taken back; empty when nothing moved
	Why       string // why nothing moved, as a sentence; empty when it moved or GitHub has nothing new
	Rewritten bool   // GitHub's branch lost commits that it had, and the local branch still has them
}

// errStop ends a sync whose result is complete.
var errStop = errors.New("nothing is taken")

// SyncMaster brings the local base branch to where GitHub has it, together with what this computer has of its own
// (P0, D-21). Nothing own: the branch is moved forward. Own commits are merged in a commit that is never pushed,
// uncommitted edits are merged file by file and stay uncommitted. All of it is put together and tested aside; then
// the working files go first, one by one and each by the rules of Replace, then the index, then the branch. Until
// the last step the checkout is one in which somebody has edited files, and a call that is ended in the middle, by
// whatever, leaves it as it was or is taken back by the next. What was displaced is kept.
//
// A checkout that stands on another branch keeps its files; the branch moves alone, and only forward (D-10).
// Errors: ErrBusy (try again later). That nothing could be taken is no error.
func (c *Checkout) SyncMaster(ctx context.Context, m *Mirror, r SyncRequest) (SyncResult, error) {
	if err := c.pruneDaily(ctx, time.Now()); err != nil {
		return SyncResult{}, fmt.Errorf("sync %s: %w", r.Base, err)
	}
	res, err := c.syncMaster(ctx, m, r)
	if err != nil {
		return res, fmt.Errorf("sync %s: %w", r.Base, err)
	}
	return res, nil
}

func (c *Checkout) syncMaster(ctx context.Context, m *Mirror, r SyncRequest) (res SyncResult, err error) {
	var b *bench
	defer func() {
		if b != nil {
			err = errors.Join(err, b.close())
		}
	}()
	settled := map[string]map[string]Entry{}
	const rounds = 4 // a person may write to a file between the look at it and the end
	for range rounds {
		s := &syncing{
			c: c, m: m, r: r, b: b, settled: settled,
			held: map[string]bool{}, own: map[string]Entry{}, looked: map[string]Three{}, stays: map[string]bool{},
			apart: map[string]apartFile{}, bases: map[string]Entry{},
		}
		again, err := s.round(ctx)
		b = s.b
		if err != nil && !errors.Is(err, errStop) {
			return s.res, err
		}
		if !again {
			return s.res, nil
		}
	}
	return SyncResult{}, fmt.Errorf("%w: its files are being written all the time", ErrBusy)
}

// pruneDaily ends the time of what was kept 90 days ago (D-22).
func (c *Checkout) pruneDaily(ctx context.Context, now time.Time) error {
	if fi, err := os.Stat(c.workArea("pruned")); err == nil && now.Sub(fi.ModTime()).Abs() < dayLength {
		return nil
	}
	if err := os.MkdirAll(c.workArea(), 0o700); err != nil {
		return err
	}
	if err := c.PruneKept(ctx, now.Add(-keptDays*dayLength)); err != nil {
		return err
	}
	return os.WriteFile(c.workArea("pruned"), nil, 0o600)
}

// syncing is one attempt.
type syncing struct {
	c  *Checkout
	m  *Mirror
	r  SyncRequest
	b  *bench // set as soon as anything is to be made
	st CheckoutState

	local  OID      // where the branch stands
	grows  bool     // it is an ancestor of the tip
	still  bool     // GitHub has nothing new
	merged OID      // the commit that the branch goes to
	moves  []change // what differs between the two

	held     map[string]bool             // what Hold said in this attempt
	looked   map[string]Three            // every path that was looked at
	stays    map[string]bool             // paths that are not written: held, or not part of this checkout
	own      map[string]Entry            // what the person has there, uncommitted
	apart    map[string]apartFile        // files that the branch has passed and no thread holds
	bases    map[string]Entry            // what those of them that are brought together are based on
	joins    []apartFile                 // those
	settled  map[string]map[string]Entry // what earlier rounds settled, by conflict
	combined OID                         // tree of merged with the own edits
	steps    []change                    // from the working files to combined
	staged   []stagedMove
	res      SyncResult
}

// hold: the working file stays, since a thread holds it, or since it is left apart. It is the same for a path all
// through an attempt.
func (s *syncing) hold(path string) bool {
	if _, apart := s.apart[path]; apart && !s.r.Bring {
		return true
	}
	if s.r.Hold == nil {
		return false
	}
	held, asked := s.held[path]
	if !asked {
		held = s.r.Hold(path)
		s.held[path] = held
	}
	return held
}

// stop ends the sync with a sentence.
func (s *syncing) stop(why string) error {
	s.res.Why = why
	return errStop
}

// round looks, puts together, tests and takes. The lock is not held but for the taking: an agent's turn lasts
// long, and threads may replace files meanwhile.
func (s *syncing) round(ctx context.Context) (again bool, err error) {
	release, err := s.c.exclusive(ctx) // ends what a killed parley left
	if err != nil {
		return false, err
	}
	release()
	for _, step := range []func(context.Context) error{s.stand, s.part, s.join, s.look, s.combine, s.test} {
		if err := step(ctx); err != nil {
			return false, err
		}
	}
	return s.take(ctx)
}

// bench is made when it is first needed.
func (s *syncing) bench(ctx context.Context) (err error) {
	if s.b == nil {
		s.b, err = newBench(ctx, s.c, s.m, s.r.Scratch)
	}
	return err
}

// git sees all commits of this attempt.
func (s *syncing) git() runner {
	if s.b != nil {
		return s.b.git
	}
	return s.m.git
}

// seen is the mirror as git sees it.
func (s *syncing) seen() *Mirror { return &Mirror{dir: s.m.dir, git: s.git()} }

// stand finds out how the local branch and GitHub's stand to each other.
func (s *syncing) stand(ctx context.Context) (err error) {
	if s.local, err = s.c.LocalBranch(ctx, s.r.Base); err != nil {
		return err
	}
	s.res.From, s.res.To = s.local, s.local
	switch {
	case s.local == "":
		return s.stop("There is no local branch " + s.r.Base + ".")
	case s.local == s.r.Tip:
		s.still = true
		if all, err := s.c.readApart(); err != nil || len(all) == 0 {
			return cmp.Or(err, errStop)
		}
	}
	if s.st, err = s.c.State(ctx); err != nil {
		return err
	}
	if s.still && (s.st.Branch != s.r.Base || s.st.Busy != "" && !s.r.Bring) {
		return errStop
	}
	if s.st.Busy != "" {
		return fmt.Errorf("%w: %s is going on", ErrBusy, s.st.Busy)
	}
	if s.still {
		return nil
	}
	published, err := s.m.CommitExists(ctx, s.local)
	if err != nil {
		return err
	}
	if published {
		if s.grows, err = s.m.IsAncestor(ctx, s.local, s.r.Tip); err != nil {
			return err
		}
	}
	if !s.grows {
		if err := s.diverged(ctx, published); err != nil {
			return err
		}
	}
	switch {
	case s.st.Branch == s.r.Base:
		return nil
	case s.still:
		return errStop
	}
	return s.elsewhere(ctx)
}

// diverged looks at a local branch that cannot simply move forward.
func (s *syncing) diverged(ctx context.Context, published bool) error {
	if err := s.bench(ctx); err != nil {
		return err
	}
	ahead, err := s.b.git.isAncestor(ctx, s.r.Tip, s.local)
	if err != nil {
		return err
	}
	if ahead {
		s.still = true
		return nil
	}
	if published {
		// As the head of a pull request it is own work. Otherwise the base branch had it once and has dropped it, and
		// a merge would bring back what was dropped.
		out, err := s.m.git.line(ctx, "for-each-ref", "--count=1", "--contains="+string(s.local), refSeen, refPull)
		if err != nil {
			return err
		}
		if out == "" {
			s.res.Rewritten = true
			return s.stop("GitHub's " + s.r.Base + " was rewritten; the local branch stays until a person decides.")
		}
	}
	return nil
}

// elsewhere moves the ref of a branch that this checkout does not stand on.
func (s *syncing) elsewhere(ctx context.Context) error {
	if !s.grows {
		return s.stop("The local " + s.r.Base + " has commits that are not on GitHub, and another branch is checked out.")
	}
	release, err := s.c.exclusive(ctx)
	if err != nil {
		return err
	}
	defer release()
	where, err := s.c.standsElsewhere(ctx, s.r.Base)
	if err != nil {
		return err
	}
	if where != "" {
		return s.stop(s.r.Base + " is checked out in " + where + ".")
	}
	f := &forward{c: s.c, base: s.r.Base, old: s.local, tip: s.r.Tip, reason: "fast-forward"}
	if err := s.c.bringObjects(ctx, s.m, s.r.Tip); err != nil {
		return err
	}
	j, err := s.c.begin(opHead{Kind: OpSync, Why: s.reason(), Branch: s.r.Base, From: s.local, To: s.r.Tip})
	if err != nil {
		return err
	}
	if err := f.moveRef(ctx); err != nil {
		return errors.Join(err, j.end(false))
	}
	s.res.To, s.res.Moved, s.res.Operation = s.r.Tip, true, j.head.ID
	if err := j.end(true); err != nil {
		return err
	}
	return errStop
}

func (s *syncing) reason() string {
	if s.still {
		return "Own files were brought together with GitHub's " + s.r.Base + "."
	}
	if s.grows {
		return s.r.Base + " was brought to GitHub's."
	}
	return s.r.Base + " was merged with GitHub's."
}

// test runs the test command on the combination, if there is own work in it.
func (s *syncing) test(ctx context.Context) error {
	if s.r.Test == nil || (s.grows || s.still) && len(s.own) == 0 {
		return nil
	}
	if s.r.Failed != nil {
		if why := s.r.Failed(ownID(s.own, s.local)); why != "" {
			return s.testFailed(why)
		}
	}
	// Held files are part of what the checkout will be, though of no merge.
	held := map[string]Entry{}
	for path, t := range s.looked {
		if s.stays[path] && t.Odd == "" && (t.Work.Absent() || t.Work.regular()) && s.hold(path) {
			e, err := s.keepOnBench(ctx, t)
			if err != nil {
				return err
			}
			held[path] = e
		}
	}
	tree, err := s.b.treeWith(ctx, s.combined, held)
	if err != nil {
		return err
	}
	head, err := s.b.commit(ctx, tree, "the combination", s.merged)
	if err != nil {
		return err
	}
	scratch, err := s.b.scratch(ctx, head, "test")
	if err != nil {
		return err
	}
	failed := s.r.Test(ctx, scratch.Dir)
	if err := scratch.Close(); err != nil {
		return err
	}
	if err := stopped(ctx); err != nil {
		return err
	}
	if failed == nil {
		return nil
	}
	return s.testFailed("The tests fail on the combination: " + oneLine(failed.Error()))
}

// testFailed ends the sync with why, which is what the tests said.
func (s *syncing) testFailed(why string) error {
	s.res.Own, s.res.Merged, s.res.Settled = ownID(s.own, s.local), nil, nil
	for _, path := range s.ownPaths() {
		s.keep(path, "The tests fail on the combination with GitHub's changes.")
	}
	return s.stop(why)
}

func (s *syncing) ownPaths() []string {
	var list []string
	for path := range s.own {
		list = append(list, path)
	}
	slices.Sort(list)
	return list
}
