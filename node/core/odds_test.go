package core

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/parley-mesh/parley/conflicts/thread"
)

func codes(c *computer) map[string]int {
	out := map[string]int{}
	for _, card := range c.core.Cards() {
		out[card.Code]++
	}
	return out
}

func TestAnAlmostFullDiskOnlyReads(t *testing.T) { // case 42
	w := newWorld(t)
	tablet := w.people[2]
	w.perform(tablet, tablet.core.Handle(Space{Low: true}, w.now))
	for range 200 {
		for _, c := range w.people {
			for len(c.inputs) > 0 {
				in := c.inputs[0]
				c.inputs = c.inputs[1:]
				if h, ok := in.(Heard); ok {
					in = w.heard(h.Ledger, c.ledgers[h.Ledger])
				}
				effects := c.core.Handle(in, w.now)
				for _, e := range effects {
					if _, note := e.(Note); c == tablet && !note {
						t.Fatalf("with an almost full disk it asks for %#v", e)
					}
				}
				w.perform(c, effects)
			}
		}
		w.now = w.now.Add(30 * time.Second)
		for _, c := range w.people {
			w.give(c, Tick{})
		}
	}
	if codes(tablet)["C12"] != 1 {
		t.Errorf("cards %v", codes(tablet))
	}
	if p := only(t, w.people[0]).State.Phase; p < thread.Interim {
		t.Errorf("the others are held up in phase %s", p)
	}

	w.perform(tablet, tablet.core.Handle(Space{}, w.now))
	w.run()

	if codes(tablet)["C12"] != 0 {
		t.Error("the card stays although there is space")
	}
	if tablet.files["a.go"] != blob("mine") || tablet.files["b.go"] != blob("b.go final") {
		t.Error("it did not take part afterwards")
	}
}

func TestAClockSetBackStallsNoDeadline(t *testing.T) { // P24, case 45
	w := newWorld(t)
	tablet := w.people[2]
	w.until(w.people[1], "C2")
	w.now = w.now.Add(-10 * 24 * time.Hour)
	at := only(t, tablet)
	if at.Local.InterimFired {
		t.Fatal("it fired at once")
	}

	for range 29 {
		tablet.core.Handle(Tick{Ran: time.Minute}, w.now)
	}
	if at.Local.InterimFired {
		t.Error("silence is agreement after 29 minutes")
	}
	var saved bool
	for _, e := range tablet.core.Handle(Tick{Ran: time.Minute}, w.now) {
		_, is := e.(Save)
		saved = saved || is
	}
	if !at.Local.InterimFired || !saved {
		t.Errorf("after 30 minutes that were seen to pass: fired %v, kept %v", at.Local.InterimFired, saved)
	}
}

func TestFaultsOfAnotherComputerAreCardsWhileTheyLast(t *testing.T) { // cases 41, 44
	w := newWorld(t)
	desktop, laptop := w.people[0], w.people[1]
	for range 3 {
		desktop.core.Handle(Odd{Device: laptop.device()}, w.now)
		desktop.core.Handle(Odd{Device: laptop.device(), Clock: true}, w.now)
	}
	if got := codes(desktop); got["C11"] != 1 || got["C15"] != 1 {
		t.Errorf("cards %v", got)
	}
	desktop.core.Handle(Tick{}, w.now.Add(oddFor))
	if got := codes(desktop); got["C11"] != 0 || got["C15"] != 0 {
		t.Errorf("cards %v after the fault has ended", got)
	}
}

func TestWhenAComputerWasLastHeardOfIsKnownAfterARestart(t *testing.T) {
	w := newWorld(t)
	desktop, laptop := w.people[0], w.people[1]
	heard := w.now
	w.perform(desktop, desktop.core.Handle(Peer{Device: laptop.device()}, heard))
	w.now = w.now.Add(time.Hour)
	w.boot(desktop)
	if at := desktop.core.Seen(laptop.device()); !at.Equal(heard) {
		t.Errorf("last heard of at %v, want %v", at, heard)
	}
	if at := desktop.core.lastSeen(laptop.device(), w.now); !at.Equal(w.now) {
		t.Errorf("for deadlines it counts from %v, before this start", at)
	}
}

// syncs gives one answer to a core's master syncs and returns those it asks for.
func syncs(c *Core, now time.Time, in MasterSynced) (asked []SyncMaster) {
	for _, e := range c.Handle(in, now) {
		if s, ok := e.(SyncMaster); ok {
			asked = append(asked, s)
		}
	}
	return asked
}

func TestOwnWorkThatGitCannotMergeIsOneTurnThenACard(t *testing.T) { // P0, P21, D-21
	w := newWorld(t)
	tablet := w.people[2]
	c := tablet.core
	w.settle()
	tip := blob("tip")
	conflicts := MasterSynced{Slug: slug, Tip: tip, To: tip, Conflicts: []string{"x.go"}, Own: "mine"}
	used := c.day.at(w.now).Used

	asked := syncs(c, w.now, conflicts)
	if len(asked) != 1 || !asked[0].Settle || c.day.Used != used+1 {
		t.Fatalf("asked %+v, %d turns used", asked, c.day.Used-used)
	}
	if codes(tablet)["C17"] != 0 {
		t.Error("a card while the desk works on it")
	}
	failed := conflicts
	failed.Settled = "the desk gave up"
	if again := syncs(c, w.now, failed); len(again) != 0 {
		t.Errorf("the same work is given to the desk again: %+v", again)
	}
	if codes(tablet)["C17"] != 1 {
		t.Errorf("cards %v", codes(tablet))
	}
	for i := range 5 {
		w.now = w.now.Add(time.Hour)
		later := conflicts
		later.Tip = blob("tip" + string(rune('a'+i)))
		c.Handle(Tick{}, w.now)
		for range 2 {
			syncs(c, w.now, later)
		}
	}
	if got := c.day.Used - used; got != triesOfOwn {
		t.Errorf("%d turns for the same own work, want %d", got, triesOfOwn)
	}
	syncs(c, w.now, MasterSynced{Slug: slug, Tip: tip, To: tip})
	if codes(tablet)["C17"] != 0 {
		t.Error("the card stays although nothing is apart")
	}
}

func TestASecondTurnOfASyncCountsToTheDay(t *testing.T) { // P21, S11
	w := newWorld(t)
	c := w.people[2].core
	used := c.day.at(w.now).Used
	for range thread.TurnsPerDay - used {
		if effects, err := c.ReserveTurn(w.now); err != nil || len(effects) != 1 {
			t.Fatalf("%v %v", effects, err)
		}
	}
	if _, err := c.ReserveTurn(w.now); !errors.Is(err, ErrNoTurns) {
		t.Errorf("the turn after the day's last: %v", err)
	}
	if _, err := c.ReserveTurn(w.now.Add(24 * time.Hour)); err != nil {
		t.Errorf("the next day: %v", err)
	}
}

func TestAPausedMasterSyncLeavesTheCheckoutAlone(t *testing.T) { // P0
	w := newWorld(t)
	tablet := w.people[2]
	effects, ok := tablet.core.Pause(slug, true, w.now)
	if !ok {
		t.Fatal("no such repository")
	}
	w.perform(tablet, effects)
	w.boot(tablet) // it is kept over a restart
	w.now = w.now.Add(time.Hour)
	for _, in := range append(tablet.inputs, Tick{}) {
		for _, e := range tablet.core.Handle(in, w.now) {
			if _, is := e.(SyncMaster); is {
				t.Error("a paused sync was asked for")
			}
		}
	}
	effects, _ = tablet.core.Pause(slug, false, w.now)
	ran := false
	for _, e := range effects {
		_, is := e.(SyncMaster)
		ran = ran || is
	}
	if !ran {
		t.Error("it does not go on")
	}
}

func TestOnePlaceSaysWhoDecidesAPath(t *testing.T) { // P0
	w := newWorld(t)
	laptop := w.people[1]
	w.until(laptop, "C2")
	var held []string
	laptop.core.Handle(MasterSynced{Slug: slug, Tip: blob("tip"), Kept: []KeptOwn{{"other.go", "staged here"}}}, w.now)
	w.now = w.now.Add(time.Hour)
	for _, e := range laptop.core.Handle(Tick{}, w.now) {
		if s, ok := e.(SyncMaster); ok {
			held = s.Hold
		}
	}
	for _, p := range paths {
		why, ok := laptop.core.WhyPath(slug, p)
		if !ok || why.Thread == nil || !slices.Contains(held, p) {
			t.Errorf("%s: thread %v, held from the sync %v", p, why.Thread, held)
		}
	}
	if why, _ := laptop.core.WhyPath(slug, "other.go"); why.Thread != nil || why.Kept != "staged here" || slices.Contains(held, "other.go") {
		t.Errorf("other.go: %+v", why)
	}
}

func TestAnOwnCopyThatStayedIsNamedAfterTheFinal(t *testing.T) { // P19, P20
	w := newWorld(t)
	w.run()
	tablet := w.people[2].core
	if why, ok := tablet.WhyPath(slug, "a.go"); !ok || why.Thread != nil || why.Kept == "" {
		t.Errorf("a.go: %+v", why)
	}
	if why, _ := tablet.WhyPath(slug, "b.go"); why.Kept != "" {
		t.Errorf("b.go: %+v", why)
	}
}

func TestAnOwnCopyThatStayedIsLeftAloneUntilAPersonAsks(t *testing.T) { // P0, P19
	w := newWorld(t)
	w.run()
	c := w.people[2].core
	if held := c.Held(slug); !slices.Equal(held, []string{"a.go"}) || codes(w.people[2])["C9"] != 1 {
		t.Fatalf("held %v, cards %v", held, codes(w.people[2]))
	}
	effects, _ := c.SyncNow(slug, w.now)
	i := slices.IndexFunc(effects, func(e Effect) bool { _, is := e.(SyncMaster); return is })
	if i < 0 {
		t.Fatal("no sync was asked for")
	}
	if asked := effects[i].(SyncMaster); !asked.Bring || len(asked.Hold) > 0 || len(c.Held(slug)) > 0 {
		t.Errorf("asked %+v, held meanwhile %v", asked, c.Held(slug))
	}
	c.Handle(MasterSynced{Slug: slug, Tip: w.github.tip, To: w.github.tip, Merged: []string{"a.go"}}, w.now)
	if held := c.Held(slug); len(held) > 0 || codes(w.people[2])["C9"] != 0 {
		t.Errorf("held %v, cards %v once it was brought together", held, codes(w.people[2]))
	}
}

func TestCleanConflictAndCouldNotTellAreThreeAnswers(t *testing.T) { // P7, P10
	w := newWorld(t)
	c := w.people[0].core
	c.Handle(&Trial{Repo: Repository{Slug: slug}, Pull: 1, Head: blob("x"), Tip: blob("y"), Verdict: VerdictClean}, w.now)
	c.Handle(&Trial{Repo: Repository{Slug: slug}, Pull: 2, Head: blob("x"), Tip: blob("y"), Verdict: VerdictPerson, Reason: "a submodule"}, w.now)
	c.Handle(Scanned{Slug: slug, Open: []uint64{1, 2, 3}, Untold: map[uint64]string{3: "a missing object"}}, w.now)
	for pull, want := range map[uint64]PullWhy{
		1: {Verdict: Verdict{Verdict: VerdictClean}}, 2: {Verdict: Verdict{Verdict: VerdictPerson}}, 3: {Untold: "a missing object"},
	} {
		got, ok := c.WhyPull(slug, pull)
		if !ok || got.Verdict.Verdict != want.Verdict.Verdict || got.Untold != want.Untold {
			t.Errorf("pull request %d: %+v", pull, got)
		}
	}
	if n := len(c.Conversations()); n != 0 {
		t.Errorf("%d conversations opened", n)
	}
}

func TestARewrittenBaseIsACardUntilOneOfTheTwoHasChanged(t *testing.T) { // P0
	w := newWorld(t)
	tablet := w.people[2]
	tip := blob("tip")
	syncs(tablet.core, w.now, MasterSynced{Slug: slug, Tip: tip, To: tip, Rewritten: true})
	w.boot(tablet)
	scan := func(in Scanned) int {
		in.Slug = slug
		tablet.core.Handle(in, w.now)
		return codes(tablet)["C18"]
	}
	if got := scan(Scanned{Stood: true, Rewritten: true}); got != 1 {
		t.Errorf("%d cards after a restart", got)
	}
	if got := scan(Scanned{Err: "no network"}); got != 1 {
		t.Errorf("%d cards when nothing could be seen", got)
	}
	syncs(tablet.core, w.now, MasterSynced{Slug: slug, Err: "no network"})
	if got := scan(Scanned{Stood: true}); got != 0 {
		t.Errorf("%d cards after a person decided", got)
	}
}

func TestOnlyAPersonBringsTogetherWhatTheBranchPassed(t *testing.T) { // P0, D-21
	w := newWorld(t)
	tablet := w.people[2]
	c := tablet.core
	w.settle()
	tip := blob("tip")
	apart := MasterSynced{Slug: slug, Tip: tip, To: tip, Apart: []string{"x.go"}}
	if asked := syncs(c, w.now, apart); len(asked) != 0 || codes(tablet)["C9"] != 1 {
		t.Errorf("asked %+v, cards %v", asked, codes(tablet))
	}
	asked := func(effects []Effect) (bring []bool) {
		for _, e := range effects {
			if s, is := e.(SyncMaster); is {
				bring = append(bring, s.Bring)
			}
		}
		return bring
	}
	w.now = w.now.Add(time.Hour)
	if got := asked(c.Handle(Tick{}, w.now)); !slices.Equal(got, []bool{false}) {
		t.Fatalf("a usual sync: %v", got)
	}
	// Asked for while a usual sync runs: the next one does it, and again after a passing failure.
	if effects, _ := c.SyncNow(slug, w.now); len(asked(effects)) != 0 {
		t.Error("two syncs at once")
	}
	if got := asked(c.Handle(apart, w.now)); !slices.Equal(got, []bool{true}) {
		t.Fatalf("after the person asked: %v", got)
	}
	c.Handle(MasterSynced{Slug: slug, Err: "no network"}, w.now)
	w.now = w.now.Add(time.Hour)
	if got := asked(c.Handle(Tick{}, w.now)); !slices.Equal(got, []bool{true}) {
		t.Fatalf("after a failure: %v", got)
	}
	c.Handle(MasterSynced{Slug: slug, Tip: tip, To: tip, Merged: []string{"x.go"}}, w.now)
	w.now = w.now.Add(time.Hour)
	if got := asked(c.Handle(Tick{}, w.now)); !slices.Equal(got, []bool{false}) || codes(tablet)["C9"] != 0 {
		t.Errorf("afterwards: %v, cards %v", got, codes(tablet))
	}
}
