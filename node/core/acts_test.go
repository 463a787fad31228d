package core

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/parley-mesh/parley/conflicts/thread"
)

// until runs the story, without anybody pressing anything, up to a card at a computer.
func (w *world) until(c *computer, code string) Card {
	w.t.Helper()
	for range 2000 {
		for _, card := range c.core.Cards() {
			if card.Code == code {
				return card
			}
		}
		for _, other := range w.people {
			if len(other.inputs) > 0 {
				w.work(other)
			}
		}
	}
	w.t.Fatalf("no card %s comes up\n%q", code, w.log)
	return Card{}
}

func TestAPressOnAStaleCardDoesNothing(t *testing.T) { // P15
	w := newWorld(t)
	laptop := w.people[1]
	card := w.until(laptop, "C2")
	shown := *card.Binds
	w.github.head = blob("pushed by a person meanwhile")
	w.now = w.now.Add(time.Hour)
	w.give(laptop, Tick{})
	for len(laptop.inputs) > 0 {
		w.work(laptop)
	}

	_, err := laptop.core.Approve(card.Key, shown, "test", w.now)

	if !errors.Is(err, ErrStaleCard) && !errors.Is(err, ErrNoCard) {
		t.Errorf("the press on a card for another head says %v", err)
	}
	if len(w.github.writes) > 0 {
		t.Errorf("GitHub was written: %q", w.github.writes)
	}
}

func TestOnePressIsOneAct(t *testing.T) { // P15
	w := newWorld(t)
	laptop := w.people[1]
	card := w.until(laptop, "C2")

	first, err := laptop.core.Approve(card.Key, *card.Binds, "test", w.now)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := laptop.core.Approve(card.Key, *card.Binds, "test", w.now); err == nil {
		t.Error("a second press on the same card was taken")
	}

	w.perform(laptop, first)
	if len(w.github.writes) != 1 {
		t.Errorf("one press wrote %q", w.github.writes)
	}
}

func TestNobodyPressesAndNothingIsWritten(t *testing.T) { // P15, L2
	w := newWorld(t)
	w.until(w.people[1], "C2")
	for range 100 {
		w.now = w.now.Add(time.Hour)
		for _, c := range w.people {
			w.give(c, Woke{})
			for _, other := range w.people {
				w.give(c, Peer{Device: other.device(), Synced: true})
			}
			for len(c.inputs) > 0 {
				w.work(c)
			}
		}
	}

	if len(w.github.writes) > 0 {
		t.Errorf("GitHub was written: %q", w.github.writes)
	}
	codes := map[string]int{}
	for _, card := range w.people[1].core.Cards() {
		codes[card.Code]++
	}
	if codes["C2"] != 1 {
		t.Errorf("the approval that waits has %d cards: %v\n%q", codes["C2"], codes, w.log)
	}
}

func TestAPushDuringAThreadOpensNothing(t *testing.T) { // P16
	w := newWorld(t)
	desktop := w.people[0]
	w.until(w.people[1], "C2")
	w.github.head = blob("a fresh push")
	w.scan(desktop, Scan{Slug: slug})

	for len(desktop.inputs) > 0 {
		w.work(desktop)
	}

	if n := len(desktop.core.Conversations()); n != 1 {
		t.Errorf("%d conversations after a push", n)
	}
}

func TestWhatOnlyAPersonCanSettleIsOneCard(t *testing.T) { // P17
	w := newWorld(t)
	desktop := w.people[0]
	trial := &Trial{Repo: Repository{Slug: slug}, Pull: 7, Head: blob("x"), Tip: blob("y"), Verdict: VerdictPerson, Reason: "a file that master has deleted"}
	for range 2 {
		w.give(desktop, trial)
		for len(desktop.inputs) > 0 {
			w.work(desktop)
		}
	}

	n := 0
	for _, card := range desktop.core.Cards() {
		if card.Code == "C4" && card.Pull == 7 {
			n++
		}
	}
	if n != 1 {
		t.Errorf("%d cards", n)
	}
	w.give(desktop, Scanned{Slug: slug, Open: []uint64{}})
	for len(desktop.inputs) > 0 {
		w.work(desktop)
	}
	for _, card := range desktop.core.Cards() {
		if card.Code == "C4" {
			t.Error("the card stays although the pull request is closed")
		}
	}
}

func TestWhatIsMissingIsOneCardAndOpensNothing(t *testing.T) { // P10
	w := newWorld(t)
	desktop := w.people[0]
	missing := []Missing{{What: "the GitHub CLI is not signed in", Fix: "gh auth login"}, {What: "no session routes", Fix: "set [desk]"}}
	desktop.inputs = nil
	desktop.core.Handle(Scanned{Slug: slug, Missing: missing}, w.now)
	w.scan(desktop, Scan{Slug: slug})
	desktop.inputs = desktop.inputs[:1] // the trial alone: the run's end would report nothing missing

	w.work(desktop)

	cards := desktop.core.Cards()
	if len(cards) != 1 || cards[0].Code != "C1" || len(cards[0].Fixes) != 2 {
		t.Errorf("cards %+v", cards)
	}
	if n := len(desktop.core.Conversations()); n != 0 {
		t.Errorf("%d conversations opened while something is missing", n)
	}
	desktop.core.Handle(Prepared{Slug: slug}, w.now)
	if cards := desktop.core.Cards(); len(cards) != 0 {
		t.Errorf("cards %+v once nothing is missing", cards)
	}
}

func TestWhatWasMissingOpensAtOnceWhenItIsFixed(t *testing.T) { // P10
	w := newWorld(t)
	desktop := w.people[0]
	desktop.core.Handle(Scanned{Slug: slug, Missing: []Missing{{What: "the GitHub CLI is not signed in"}}}, w.now)

	w.perform(desktop, desktop.core.ScanNow(w.now)) // a person has fixed it
	for range 50 {                                  // without any time passing
		w.work(desktop)
	}

	if n := len(desktop.core.Conversations()); n != 1 {
		t.Errorf("%d conversations although nothing is missing any more", n)
	}
}

func TestOnlyTheMainComputerScans(t *testing.T) { // P9
	w := newWorld(t)
	for i, c := range w.people {
		scans := 0
		for _, in := range c.inputs {
			for _, e := range c.core.Handle(in, w.now) {
				if _, ok := e.(Scan); ok {
					scans++
				}
			}
		}
		if want := map[int]int{0: 1}[i]; scans != want {
			t.Errorf("%s scans %d times, want %d", c.name, scans, want)
		}
	}
}

func TestTheDaysTurnsCannotBeRefilledByAClockSetBack(t *testing.T) { // P21, case 45
	noon := time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)
	d := Day{}.at(noon)
	d.Used = thread.TurnsPerDay

	if got := d.at(noon.Add(-48 * time.Hour)); got.Used != thread.TurnsPerDay {
		t.Errorf("a clock set back leaves %d turns used", got.Used)
	}
	if got := d.at(noon.Add(24 * time.Hour)); got.Used != 0 {
		t.Errorf("the next day begins with %d turns used", got.Used)
	}
}

func TestAScanBeginsEveryQuarterOfAnHour(t *testing.T) { // P6
	w := newWorld(t)
	desktop := w.people[0]
	var began []time.Time
	for range 8 * 60 {
		inputs := desktop.inputs
		desktop.inputs = nil
		for _, in := range append(inputs, Tick{}) {
			for _, e := range desktop.core.Handle(in, w.now) {
				if _, ok := e.(Scan); ok {
					began = append(began, w.now)
					w.give(desktop, Scanned{Slug: slug, Err: "an outage"})
				}
			}
		}
		w.now = w.now.Add(30 * time.Second)
	}

	for i := 1; i < len(began); i++ {
		if gap := began[i].Sub(began[i-1]); gap != 15*time.Minute {
			t.Errorf("run %d began %s after the one before", i, gap)
		}
	}
	if len(began) != 16 {
		t.Errorf("%d runs in four hours", len(began))
	}
	if cards := desktop.core.Cards(); len(cards) > 0 {
		t.Errorf("an outage is a card: %s", fmt.Sprint(cards))
	}
}

func TestTheDaysLimitResetsTheNextDay(t *testing.T) { // P21, P23
	w := newWorld(t)
	desktop := w.people[0]
	w.until(w.people[1], "C2")
	desktop.core.day = Day{Date: w.now.Format(time.DateOnly), Used: thread.TurnsPerDay}
	c := only(t, desktop)

	if got := desktop.core.facts(c, desktop.core.self(c, w.now), w.now).TurnsToday; got != thread.TurnsPerDay {
		t.Errorf("%d turns of today, want %d", got, thread.TurnsPerDay)
	}
	tomorrow := w.now.Add(24 * time.Hour)
	if got := desktop.core.facts(c, desktop.core.self(c, tomorrow), tomorrow).TurnsToday; got != 0 {
		t.Errorf("yesterday's %d turns count today", got)
	}
}

func TestASpentApprovalOfAnOlderActBlocksNoNewOne(t *testing.T) { // P15, L1
	w := newWorld(t)
	laptop := w.people[1]
	card := w.until(laptop, "C2")
	at := only(t, laptop)
	at.Local.Push.State, at.Local.Push.Begun = thread.Consumed, w.now // on its way when the branch was moved by hand
	w.github.head = blob("pushed by a person meanwhile")
	w.now = w.now.Add(time.Hour)
	w.give(laptop, Tick{})
	w.settle()

	again := w.until(laptop, "C2")
	if *again.Binds == *card.Binds {
		t.Fatal("the card still asks for the old push")
	}
	if _, err := laptop.core.Approve(again.Key, *again.Binds, "test", w.now); err != nil {
		t.Errorf("the new push cannot be approved: %v", err)
	}
}
