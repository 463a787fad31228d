package core

import (
	"slices"
	"testing"
	"time"

	"github.com/parley-mesh/parley/conflicts/thread"
	"github.com/parley-mesh/parley/ledger"
)

func TestACoreThatCanOnlyWaitSleeps(t *testing.T) {
	c := New(Config{Device: ledger.Device{1}, Slugs: []string{"kim/shop"}, Timers: thread.Contract(), Every: Ordinary()})
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

	c.Handle(Repository{Slug: "kim/shop", Host: "github.com", ID: 1, Base: "master"}, now) // its master sync never ends

	for range 10 {
		next := c.Next(now)
		if wait := next.Sub(now); wait < time.Minute {
			t.Fatalf("with nothing to do it wants to be woken after %v", wait)
		}
		now = next
		c.Handle(Tick{}, now)
	}
}

func TestARecordThatIsOnItsWayIsNotWrittenAgain(t *testing.T) { // S10
	w := newWorld(t)
	written := 0
	for range 100 {
		for _, c := range w.people {
			if len(c.inputs) == 0 {
				continue
			}
			in := c.inputs[0]
			c.inputs = c.inputs[1:]
			if h, ok := in.(Heard); ok {
				in = w.heard(h.Ledger, c.ledgers[h.Ledger])
			}
			effects := c.core.Handle(in, w.now)
			for _, e := range effects {
				a, ok := e.(Append)
				if !ok || len(c.ledgers[a.Ledger]) == 0 {
					continue
				}
				written++
				again := c.core.Handle(w.heard(a.Ledger, c.ledgers[a.Ledger]), w.now) // a roster lets all be heard again
				if slices.ContainsFunc(again, func(e Effect) bool { b, ok := e.(Append); return ok && b.Ledger == a.Ledger }) {
					t.Fatalf("%s writes %T twice", c.name, a.Content)
				}
				effects = append(effects, again...)
			}
			w.perform(c, effects)
		}
	}
	if written == 0 {
		t.Error("nothing was written")
	}
}
