package node

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/parley-mesh/parley/conflicts/overlap"
	"github.com/parley-mesh/parley/ledger"
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
