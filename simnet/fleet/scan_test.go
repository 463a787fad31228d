package fleet

import (
	"fmt"
	"maps"
	"sync"
	"testing"
	"time"

	"github.com/parley-mesh/parley/node"
	"github.com/parley-mesh/parley/simnet/github"
)

// trials counts the trial merges of each pull request, and lets those of some be slow.
type trials struct {
	mu   sync.Mutex
	of   map[uint64]int
	slow map[uint64]time.Duration
}

func (r *trials) trying(pull uint64) {
	r.mu.Lock()
	r.of[pull]++
	slow := r.slow[pull]
	r.mu.Unlock()
	<-time.After(slow)
}

func (r *trials) counted() map[uint64]int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return maps.Clone(r.of)
}

// propose opens a pull request with some files from the checkout of nobody in the fleet.
func (s *Scene) propose(by *github.User, branch string, files content) uint64 {
	s.t.Helper()
	dir := s.checkout(elsewhere)
	s.git(dir, "checkout", "-q", "-b", branch, "origin/"+base)
	s.write(dir, files)
	s.commit(dir, branch)
	s.push(dir, branch)
	s.git(dir, "checkout", "-q", base)
	p, err := s.GitHub.OpenPull(by, s.Repo, base, s.Repo, branch, branch, false)
	if err != nil {
		s.t.Fatal(err)
	}
	return uint64(p.Number)
}

func TestAScanOpensWhatConflictsAndTriesNothingTwice(t *testing.T) { // P6, P7, P8, P11, P12
	t.Parallel()
	s := NewScene(t)
	s.Clone("desktop")
	s.Clone(elsewhere)
	other := s.GitHub.AddUser("lee", "")
	s.GitHub.Invite(s.Repo, other, github.WriteAccess)
	for _, branch := range []string{"part", "later"} {
		s.propose(s.kim, branch, onPull)
	}
	s.propose(other, "theirs", onPull)
	for i := range 4 {
		s.propose(s.kim, fmt.Sprintf("clean%d", i), content{fmt.Sprintf("notes/%d.md", i): "a note\n"})
	}
	s.Play(func(t *testing.T, f *Fleet) {
		c := f.Add("desktop", node.Timers{})
		runs := &trials{of: map[uint64]int{}, slow: map[uint64]time.Duration{}}
		for clean := uint64(4); clean <= 7; clean++ {
			runs.slow[clean] = 4 * time.Minute
		}
		c.Trying = runs.trying
		c.Open()
		f.Collide()
		c.TakeMain()
		f.scanned(t, c, runs)
	})
}

// scanned follows the runs of a main computer over pull requests that were there before it: two conflict, one
// is somebody else's, four merge cleanly.
func (f *Fleet) scanned(t *testing.T, c *Computer, runs *trials) {
	t.Helper()
	ref := func(n uint64) string { return fmt.Sprintf("%s#%d", slug, n) }
	f.Until("all that conflicts is opened at once", 30*time.Second, time.Second, func() bool {
		return c.Phase(ref(1)) != "" && c.Phase(ref(2)) != ""
	})
	<-time.After(14 * time.Minute) // the run's nine minutes end while the third clean one is tried
	if got, want := runs.counted(), map[uint64]int{1: 1, 2: 1, 4: 1, 5: 1, 6: 1}; !maps.Equal(got, want) {
		t.Errorf("the first run tried %v, want %v", got, want)
	}
	c.wantWhy(ref(4), "merges cleanly")
	c.wantWhy(ref(6), "not looked at yet")
	f.Until("the next run takes up the rest", 30*time.Minute, time.Minute, func() bool { return runs.counted()[7] == 1 })
	<-time.After(2 * time.Hour)
	if got, want := runs.counted(), map[uint64]int{1: 1, 2: 1, 4: 1, 5: 1, 6: 2, 7: 1}; !maps.Equal(got, want) {
		t.Errorf("without any change the runs tried %v, want %v", got, want)
	}
	if at := c.Phase(ref(3)); at != "" {
		t.Errorf("a pull request of somebody else's is %s", at)
	}
	c.wantWhy(ref(3), "not one of your open pull requests")

	f.scene.ways[c.Name].cut.Store(true)
	<-time.After(20 * time.Minute)
	c.wantWhy(ref(4), "could not tell")
	f.scene.ways[c.Name].cut.Store(false)

	s := *f.scene
	s.t = t
	dir := s.checkout(elsewhere)
	s.write(dir, content{"notes/0.md": "another note\n"})
	s.commit(dir, "Note")
	s.push(dir, base)
	f.Until("the base branch has moved, and the clean one that conflicts now is opened", time.Hour, time.Minute, func() bool { return c.Phase(ref(4)) != "" })
}
