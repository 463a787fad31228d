package node

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/parley-mesh/parley/conflicts/overlap"
	"github.com/parley-mesh/parley/ledger"
	"github.com/parley-mesh/parley/mesh"
	"github.com/parley-mesh/parley/node/internal/worktree"
)

func TestARecordThatComesAgainBeforeItIsStoredCountsOnce(t *testing.T) { // D-5
	p := newSharing(t)
	first, gap, late := p.works(p.kim, laneRepo, thisWeek()), p.works(p.kim, laneRepo, thisWeek()), p.works(p.kim, laneRepo, thisWeek())
	for _, r := range []*ledger.Record{first, late, late, late, first, gap, late} {
		if err := p.keepWork([]*ledger.Record{r}); err != nil {
			t.Fatal(err)
		}
	}
	if held, err := p.store.Record(late.ID); err != nil || held == nil {
		t.Fatalf("the late one is not held: %v", err)
	}
	if has := p.workBook.has(first.Ledger, p.kim.device()); has.records != 3 || has.bytes != len(first.Wire)+len(gap.Wire)+len(late.Wire) {
		t.Errorf("three records count as %+v", has)
	}
	if n := len(p.workBook.ledgers[first.Ledger].pending); n != 0 {
		t.Errorf("%d are still on their way", n)
	}
}

func TestALaneReadsNoConversationInLiveWork(t *testing.T) {
	p := newSharing(t)
	on := p.share(p.kim, laneRepo)
	p.share(p.maya, laneRepo)
	r := p.worksFor(p.kim, on, laneRepo)
	if err := p.keepWork([]*ledger.Record{r}); err != nil {
		t.Fatal(err)
	}
	heads, err := p.view().Heads(r.Ledger)
	if err != nil || len(heads) != 1 {
		t.Fatalf("%d chains pass, %v", len(heads), err)
	}
	if _, read := p.Node.opens.seen[r.Ledger]; read {
		t.Error("all of a week's live work was read to tell how far it is held")
	}
}

func TestSilentSessionsMakeRoomForANewOne(t *testing.T) {
	p := newSharing(t)
	l, now := p.live, time.Now()
	p.wall = func() time.Time { return now }
	at := &spot{l: l, at: worktree.Place{Top: "/shop"}, repo: &liveRepo{Place: overlap.Place{Repo: laneRepo}}}
	fill := func(silent time.Duration) {
		clear(l.sessions)
		for i := range sessionsMax {
			key := sessionKey{"claude", fmt.Sprint(i)}
			l.sessions[key] = &session{key: key, repo: at.repo, top: "/shop", seen: now.Add(-silent)}
		}
	}
	fill(time.Minute)
	if l.session(sessionKey{"claude", "new"}, at) != nil {
		t.Error("a session that is at work was given up")
	}
	fill(silentFor + time.Minute)
	if l.session(sessionKey{"claude", "new"}, at) == nil || len(l.sessions) != sessionsMax {
		t.Errorf("agents that were killed take up all room: %d sessions", len(l.sessions))
	}
}

func TestWhatASessionWasToldIsStoredWithoutARecord(t *testing.T) {
	p := newSharing(t)
	ctx, cancel := context.WithCancel(t.Context())
	var works sync.WaitGroup
	works.Go(func() { p.live.store(ctx) })
	defer works.Wait()
	defer cancel()
	p.live.mu.Lock()
	p.live.keep("live/test", true)
	p.live.mu.Unlock()
	eventually(t, "it is on disk", func() bool {
		value, err := p.store.Get([]byte("live/test"))
		return err == nil && value != nil
	})
}

func TestALedgerThatCouldNotBeReadIsReadAgain(t *testing.T) {
	homes, dirs := newCrew(t, 1)
	c := runCrewed(t, homes[0], dirs[0])
	c.looked()
	c.live.mu.Lock()
	c.live.heardOf[ledger.TID{7}] = true // as after an error: nothing rings for it
	c.live.mu.Unlock()
	eventually(t, "it is read", func() bool {
		c.live.mu.Lock()
		defer c.live.mu.Unlock()
		return len(c.live.heardOf) == 0
	})
}

func TestACheckoutThatThereWasNoTimeToLookAtIsFoundLater(t *testing.T) { // a busy computer
	homes, dirs := newCrew(t, 1)
	c := runCrewed(t, homes[0], dirs[0])
	c.looked()
	other := t.TempDir() + "/other"
	git(t, c.dir, "worktree", "add", "-q", other)
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if c.live.spotAt(over, other) != nil {
		t.Fatal("it was found in no time")
	}
	if c.live.spotAt(t.Context(), other) == nil {
		t.Error("it counts as a checkout of no interest, since there was no time to look")
	}
}

func TestAClockThatWasWeeksAheadForksNoChain(t *testing.T) { // case 12
	p := newSharing(t)
	now := time.Now()
	p.wall = func() time.Time { return now }
	r := &liveRepo{Place: overlap.Place{Host: "github.com", Repo: laneRepo}}
	l := p.live
	write := func() *ledger.Record {
		l.mu.Lock()
		defer l.mu.Unlock()
		written, err := l.write(r, &ledger.Session{State: ledger.SessionLive, Agent: "claude", Checkout: [16]byte{1}})
		if err != nil {
			t.Fatal(err)
		}
		return written
	}
	first := write()
	if second := write(); second.Chain() != first.Chain() || second.Seq != 1 {
		t.Errorf("the chain goes on as %v, %d", second.Chain(), second.Seq)
	}
	now = now.Add((workKept + 2) * 7 * 24 * time.Hour)
	if err := p.retainWork(now); err != nil {
		t.Fatal(err)
	}
	now = now.Add(-(workKept + 2) * 7 * 24 * time.Hour)
	if again := write(); again.Ledger != first.Ledger || again.Seq != 0 || again.Chain() == first.Chain() {
		t.Errorf("it begins again as record %d of the chain that others hold, in %s", again.Seq, again.Ledger.Short())
	}
	if !l.writes(first.Ledger, l.heads[first.Ledger].Chain) || l.writes(first.Ledger, first.Chain()) {
		t.Error("the chain that was dropped is taken for this process's own")
	}
}

func TestThatNothingCanBeWrittenIsToldAgain(t *testing.T) {
	p := newSharing(t)
	now := time.Now()
	p.wall = func() time.Time { return now }
	p.log = &journal{wall: p.wall}
	for range 3 {
		p.live.failed("edit", errWorkFull)
	}
	now = now.Add(fullAgain)
	p.live.failed("edit", errWorkFull)
	if n := len(p.log.lines); n != 2 {
		t.Errorf("told %d times in an hour, want 2", n)
	}
}

// counting tells of every exchange.
type counting struct {
	book
	n chan struct{}
}

func (c counting) Visible(d ledger.Device) []ledger.Listing {
	c.n <- struct{}{}
	return c.book.Visible(d)
}

func TestALaneAsksForTheBeginningOfAWeek(t *testing.T) { // D-26
	p := newSharing(t)
	p.share(p.kim, laneRepo)
	p.share(p.maya, laneRepo)
	asked := make(chan struct{}, 100)
	other := mesh.NewIdentity([32]byte{9})
	m, err := mesh.Start(t.Context(), mesh.Config{
		Identity: other, Fleet: p.fleet, Listen: []string{"/ip4/127.0.0.1/tcp/0"}, Book: counting{book{p.Node}, asked}, SyncEvery: time.Hour,
		Peers: func() []mesh.Peer { return []mesh.Peer{{Device: p.id.Device(), Addrs: p.mesh.Addrs()}} },
	})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	}()
	wait := func(what string) {
		t.Helper()
		select {
		case <-asked:
		case <-time.After(patience):
			t.Fatal(what)
		}
	}
	both := []ledger.Device{p.id.Device(), other.Device()}
	p.mesh.SetMembers(both)
	m.SetMembers(both)
	wait("it did not connect")
	wait("it did not compare again")

	_, second := p.works(p.maya, laneRepo, thisWeek()), p.works(p.maya, laneRepo, thisWeek())
	if err := p.view().Receive(t.Context(), p.maya.device(), ledger.Work, []*ledger.Record{second}); err != nil {
		t.Fatal(err)
	}
	if held, err := p.store.Record(second.ID); err != nil || held != nil {
		t.Fatalf("it was taken without its beginning: %v", err)
	}
	wait("nobody is asked for the beginning of the week")
}
