package core

import (
	"errors"
	"testing"
	"time"

	"github.com/parley-mesh/parley/conflicts/thread"
	"github.com/parley-mesh/parley/lanes"
	"github.com/parley-mesh/parley/ledger"
)

// settle lets every computer work until nothing is left to do, without a person.
func (w *world) settle() {
	w.t.Helper()
	for range 2000 {
		busy := false
		for _, c := range w.people {
			if len(c.inputs) > 0 {
				busy = w.work(c) || busy
			}
		}
		if !busy {
			return
		}
	}
	w.t.Fatalf("the computers never rest\n%q", w.log)
}

func TestAComputerThatIsNotTheMainOneSleeps(t *testing.T) {
	w := newWorld(t)
	w.settle()

	for _, c := range w.people {
		if next := c.core.Next(w.now); !next.After(w.now) {
			t.Errorf("%s wants to be asked again %v ago", c.name, w.now.Sub(next))
		}
	}
}

func TestAFullDiskIsNotAskedAgainAtOnce(t *testing.T) { // case 42
	w := newWorld(t)
	tablet := w.people[2]
	tid := ledger.ConflictKey{Host: "github.com", Repo: 7, Pull: 42}.Thread()
	asks := func(effects []Effect) (n int) {
		for _, e := range effects {
			if _, ok := e.(Append); ok {
				n++
			}
		}
		return n
	}
	asked := 0
	for range 2000 {
		for _, c := range w.people {
			if c != tablet && len(c.inputs) > 0 {
				w.work(c)
			}
		}
		if len(tablet.inputs) == 0 {
			break
		}
		in := tablet.inputs[0]
		tablet.inputs = tablet.inputs[1:]
		effects := tablet.core.Handle(in, w.now)
		if asks(effects) > 0 {
			asked++
			if again := tablet.core.Handle(NotAppended{Ledger: tid, Why: "the disk is full"}, w.now); asks(again) > 0 {
				t.Fatal("the record that was just refused is asked for at once")
			}
		}
		for _, e := range effects {
			if look, ok := e.(Look); ok {
				w.one(tablet, look)
			}
		}
	}
	if asked == 0 {
		t.Fatal("the tablet had nothing to say")
	}
	if later := tablet.core.Handle(Tick{}, w.now.Add(time.Hour)); asks(later) != 1 {
		t.Errorf("an hour later it asks for %d records", asks(later))
	}
}

func TestNothingIsPushedWhileTheMainRoleIsContested(t *testing.T) { // S15, case 18
	w := newWorld(t)
	laptop := w.people[1]
	card := w.until(laptop, "C2")
	first, second := w.people[0].core.TakeMain(), w.people[2].core.TakeMain() // neither knows of the other
	w.write(w.people[0], first)
	w.write(w.people[2], second)
	for len(laptop.inputs) > 0 {
		w.work(laptop)
	}
	if role, _ := laptop.core.roster.Main(); role != lanes.RoleContested {
		t.Fatalf("the role is %v", role)
	}

	if _, err := laptop.core.Approve(card.Key, *card.Binds, "test", w.now); !errors.Is(err, ErrNoCard) {
		t.Errorf("a press while two computers claim the role says %v", err)
	}
	if codes(laptop)["C2"] != 1 || codes(laptop)["C8"] != 1 {
		t.Errorf("cards %v", codes(laptop))
	}
	for _, e := range laptop.core.Handle(Tick{}, w.now.Add(time.Minute)) {
		if do, ok := e.(Do); ok {
			if _, write := do.Action.(thread.Write); write {
				t.Error("an approved push begins while two computers claim the role")
			}
		}
	}
}
