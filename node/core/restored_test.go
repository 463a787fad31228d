package core

import (
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/parley-mesh/parley/conflicts/thread"
	"github.com/parley-mesh/parley/ledger"
)

// hear lets every computer take what it was given, and nobody press anything.
func (w *world) hear() {
	for busy := true; busy; {
		busy = false
		for _, c := range w.people {
			for len(c.inputs) > 0 {
				w.work(c)
				busy = true
			}
		}
	}
}

// pushes moves the pull request's head n times, a person's push each, and lets the computers look at it.
func (w *world) pushes(n int) {
	for range n {
		w.now = w.now.Add(20 * time.Minute)
		w.github.head = blob(fmt.Sprint("pushed ", w.now))
		for _, c := range w.people {
			w.give(c, Woke{})
			for _, other := range w.people {
				w.give(c, Peer{Device: other.device(), Synced: true})
			}
		}
		w.hear()
	}
}

// refill is another round that the main computer's person gives.
func (w *world) refill() {
	s := &only(w.t, w.people[0]).State
	again := &ledger.Reassign{To: uint64(s.Responsible), Why: ledger.ReassignRefill, Round: s.Round + 1}
	w.write(w.people[0], Append{
		Ledger: s.Ledger, Content: again, After: after(s, again),
		Open: s.Root.ID, Spine: s.Head(), Claim: w.people[0].core.Roster().Live[0].ID,
	})
}

func TestARoundThatIsTakenBackKeepsItsTurns(t *testing.T) { // P21, S11
	w := newWorld(t)
	tablet, laptop := w.people[2], w.people[1]
	w.until(laptop, "C2")
	w.hear()
	at := only(t, laptop)
	fork := at.State.Head()
	w.pushes(1)
	w.refill()
	w.pushes(1)
	if at.State.Round != 1 || at.used(1) == 0 {
		t.Fatalf("round %d, %d turns", at.State.Round, at.used(1))
	}

	w.write(tablet, tablet.core.TakeMain())
	w.hear()
	w.write(tablet, Append{
		Ledger: at.State.Ledger, Content: &ledger.Reassign{To: uint64(at.State.Responsible), Why: ledger.ReassignOverdue, Round: 0},
		Open: at.State.Root.ID, Spine: fork, Claim: tablet.core.Roster().Live[0].ID,
	})
	w.hear()

	if at.State.Round != 0 || at.used(0) < 2 || at.used(1) == 0 {
		t.Errorf("back in round %d: %d turns, and %d in the other", at.State.Round, at.used(0), at.used(1))
	}
}

func TestTurnsThatOwnRecordsTellAreSpent(t *testing.T) { // P21, S11
	for _, rounds := range []int{0, 1} {
		w := newWorld(t)
		laptop := w.people[1]
		w.until(laptop, "C2")
		w.hear()
		w.pushes(1)
		for range rounds {
			w.refill()
			w.pushes(1)
		}
		w.now = w.now.Add(2 * time.Minute)
		w.pushes(1)
		round := uint64(rounds)
		told := uint64(0)
		for _, r := range laptop.ledgers[only(t, laptop).State.Ledger] {
			if r.Device == laptop.device() {
				told = r.Turns
			}
		}
		maps.DeleteFunc(laptop.values, func(k string, _ []byte) bool { return strings.HasPrefix(k, "c/") })

		w.boot(laptop)

		if got := only(t, laptop).used(round); told == 0 || got != int(told) {
			t.Errorf("round %d: its records tell of %d turns, after a backup it counts %d", rounds, told, got)
		}
	}
}

// acks lets a computer say n times what it holds.
func (w *world) acks(c *computer, n int, turns uint64) {
	s := &only(w.t, c).State
	for range n {
		w.write(c, Append{
			Ledger: s.Ledger, Content: &ledger.Ack{Classes: []ledger.Class{ledger.HasMaster, ledger.HasMaster}},
			Open: s.Root.ID, Re: []ledger.ID{s.Root.ID}, Turns: turns,
		})
	}
	w.hear()
}

func TestARecordTellsTheRoundOfItsTurns(t *testing.T) { // P21, P23, S11
	for name, chatty := range map[string]int{"the main computer": 0, "the responsible side": 1} {
		w := newWorld(t)
		laptop := w.people[1]
		w.until(laptop, "C2")
		w.hear()
		w.acks(w.people[chatty], 9, uint64(2*chatty))
		w.refill()
		w.hear()
		want := 0
		if chatty == 0 {
			w.now = w.now.Add(2 * time.Minute)
			w.pushes(2)
			if want = only(t, laptop).used(1); want == 0 {
				t.Fatal("no turn in the second round")
			}
		}
		maps.DeleteFunc(laptop.values, func(k string, _ []byte) bool { return strings.HasPrefix(k, "c/") })

		w.boot(laptop)

		if got := only(t, laptop).used(1); (got > 0) != (want > 0) {
			t.Errorf("%s spoke often: %d turns in the second round, it spent %d", name, got, want)
		}
	}
}

func TestAnApprovalServesNoLaterStart(t *testing.T) { // P15, S4
	for _, consumed := range []bool{false, true} {
		w := newWorld(t)
		laptop := w.people[1]
		card := w.until(laptop, "C2")
		w.hear()
		old := w.github.head
		effects, err := laptop.core.Approve(card.Key, *card.Binds, "test", w.now)
		if err != nil {
			t.Fatal(err)
		}
		before := maps.Clone(laptop.values)
		for i, e := range effects {
			if s, is := e.(Save); is && (i == 0 || consumed) {
				before[s.Key] = s.Value
			}
		}
		w.perform(laptop, effects)
		if len(w.github.writes) != 1 {
			t.Fatalf("GitHub was written by %q", w.github.writes)
		}
		w.github.head, w.github.clean = old, false // somebody takes the push back

		laptop.values = before // and the computer's disk goes back
		w.boot(laptop)
		w.pushesNothing()

		if len(w.github.writes) != 1 {
			t.Errorf("consumed %v: one press wrote %q", consumed, w.github.writes)
		}
		if again := w.until(laptop, "C2"); again.Binds == nil || *again.Binds != *card.Binds || only(t, laptop).Local.Push.State != thread.Void {
			t.Errorf("consumed %v: the card is %+v", consumed, again)
		}
	}
}

// pushesNothing lets time pass and the computers look.
func (w *world) pushesNothing() {
	for range 5 {
		w.now = w.now.Add(time.Minute)
		for _, c := range w.people {
			w.give(c, Tick{})
		}
		w.hear()
	}
}
