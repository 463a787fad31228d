package core

import (
	"errors"
	"testing"

	"github.com/parley-mesh/parley/conflicts/thread"
	"github.com/parley-mesh/parley/lanes"
	"github.com/parley-mesh/parley/ledger"
)

func only(t *testing.T, c *computer) *Conversation {
	t.Helper()
	all := c.core.Conversations()
	if len(all) != 1 {
		t.Fatalf("%s has %d conversations", c.name, len(all))
	}
	return all[0]
}

// rosters is the fleet as the main computer knows it.
func (w *world) rosters() lanes.Rosters { return lanes.Rosters{w.people[0].core.Roster()} }

func TestAPersonEndsAConversationFromAnyComputer(t *testing.T) { // D-24
	w := newWorld(t)
	tablet := w.people[2]
	w.until(w.people[1], "C2")
	at := only(t, tablet)

	effects, err := tablet.core.Ask(at.State.Ledger, thread.Binds{Action: "close", Repo: 7, Pull: 42}, "test", w.now)
	if err != nil {
		t.Fatal(err)
	}
	w.perform(tablet, effects)
	w.settle()

	for _, c := range w.people {
		if s := &only(t, c).State; s.Phase != thread.Closed || s.ClosedWhy != ledger.ClosedPerson {
			t.Errorf("%s: phase %s, why %d", c.name, s.Phase, s.ClosedWhy)
		}
	}
	if _, err := tablet.core.Ask(at.State.Ledger, thread.Binds{Action: "close"}, "test", w.now); !errors.Is(err, ErrEnded) {
		t.Errorf("a press on an ended conversation says %v", err)
	}
}

func TestAPersonHandsTheFinalToAnotherComputer(t *testing.T) { // P23, P24
	w := newWorld(t)
	laptop, tablet := w.people[1], w.people[2]
	w.until(laptop, "C2")
	at := only(t, laptop)
	party, _ := at.State.Party(tablet.device(), w.rosters())

	effects, err := laptop.core.Ask(at.State.Ledger, thread.Binds{Action: "assign", Party: party, Round: at.State.Round}, "test", w.now)
	if err != nil {
		t.Fatal(err)
	}
	w.perform(laptop, effects)
	w.settle()

	if s := &only(t, tablet).State; s.Responsible != party || s.Round != 1 {
		t.Errorf("party %d builds the final in round %d, want %d in round 1", s.Responsible, s.Round, party)
	}
	for _, card := range laptop.core.Cards() {
		if card.Code == "C2" {
			t.Error("the laptop still asks for its push")
		}
	}
}

func TestAPressIsKeptUntilTheMainComputerIsBack(t *testing.T) {
	w := newWorld(t)
	desktop, tablet := w.people[0], w.people[2]
	w.until(w.people[1], "C2")
	release, held := desktop.core.LeaveMain()
	if !held {
		t.Fatal("the desktop does not have the role")
	}
	w.perform(desktop, []Effect{release})
	w.settle()

	effects, err := tablet.core.Ask(only(t, tablet).State.Ledger, thread.Binds{Action: "close"}, "test", w.now)
	if err != nil {
		t.Fatal(err)
	}
	w.perform(tablet, effects)
	w.settle()
	w.boot(tablet) // it is kept over a restart
	w.settle()
	if p := only(t, tablet).State.Phase; p == thread.Closed {
		t.Fatal("closed without a main computer")
	}
	w.perform(desktop, []Effect{desktop.core.TakeMain()})
	w.settle()

	if p := only(t, desktop).State.Phase; p != thread.Closed {
		t.Errorf("phase %s after the main computer came back", p)
	}
}

func TestOnlyTheMainComputerTakesAPressFromAnother(t *testing.T) {
	w := newWorld(t)
	w.until(w.people[1], "C2")
	tid := only(t, w.people[1]).State.Ledger

	_, err := w.people[1].core.Relay(tid, thread.Binds{Action: "close"}, w.people[2].device(), w.now)
	if !errors.Is(err, ErrNotMain) {
		t.Errorf("another computer took the press: %v", err)
	}
	_, err = w.people[0].core.Relay(tid, thread.Binds{Action: "merge", Pull: 42}, w.people[2].device(), w.now)
	if !errors.Is(err, ErrNoCard) {
		t.Errorf("an approval was passed on: %v", err)
	}
}

func TestAReplacementIsNotWantedOnceAPersonKeepsTheCopies(t *testing.T) { // P19, S1
	w := newWorld(t)
	desktop := w.people[0]
	w.until(w.people[1], "C2")
	at := only(t, desktop)
	before := at.State
	if !desktop.core.StillWants(before.Ledger, &before) {
		t.Fatal("nothing has changed, and the replacement is not wanted")
	}
	earlier := before
	earlier.Spine = nil
	if desktop.core.StillWants(before.Ledger, &earlier) {
		t.Error("a replacement for an earlier state is wanted")
	}
	if _, err := desktop.core.Ask(before.Ledger, thread.Binds{Action: "keep"}, "test", w.now); err != nil {
		t.Fatal(err)
	}
	if desktop.core.StillWants(before.Ledger, &before) {
		t.Error("a replacement is wanted although a person keeps the copies")
	}
}

func TestAPressThatNothingWaitsForIsRefused(t *testing.T) { // D-24, case 12
	w := newWorld(t)
	w.until(w.people[1], "C2")
	desktop := w.people[0]
	s := &only(t, desktop).State
	if _, err := desktop.core.Ask(s.Ledger, thread.Binds{Action: "assign", Party: s.Responsible, Round: s.Round}, "test", w.now); !errors.Is(err, ErrNotNow) {
		t.Errorf("the final given to whoever has it: %v", err)
	}
	if _, err := desktop.core.Relay(s.Ledger, thread.Binds{Action: "fork", Devices: "x"}, w.people[2].device(), w.now); !errors.Is(err, ErrNoCard) {
		t.Errorf("two histories were seen for somebody else: %v", err)
	}
}
