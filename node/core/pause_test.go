package core

import (
	"testing"
	"time"
)

// silent lets a resting computer take everything in, and wants it to do nothing about it.
func (w *world) silent(c *computer) {
	w.t.Helper()
	for len(c.inputs) > 0 {
		in := c.inputs[0]
		c.inputs = c.inputs[1:]
		effects := c.core.Handle(in, w.now)
		for _, e := range effects {
			switch e.(type) {
			case Save, Note:
			default:
				w.t.Fatalf("%s rests, and does %T about %T", c.name, e, in)
			}
		}
		w.perform(c, effects)
	}
}

func TestAPauseIsSilentAndAfterItEverythingGoesOn(t *testing.T) {
	for at := 0; at < 90; at += 6 {
		w := newWorld(t)
		for range at {
			for _, c := range w.people {
				w.work(c)
			}
		}
		for _, c := range w.people {
			w.perform(c, c.core.TakeRest(time.Time{}, w.now))
		}
		for range 3 {
			for _, c := range w.people {
				w.silent(c)
				w.boot(c) // it is kept over a restart
				w.silent(c)
				w.give(c, Tick{})
				w.give(c, Woke{})
			}
			w.now = w.now.Add(20 * time.Minute)
		}
		for _, c := range w.people {
			w.silent(c)
			w.perform(c, c.core.EndRest(w.now))
			if _, on := c.core.Resting(w.now); on {
				t.Fatal("it still rests")
			}
		}
		w.run()
	}
}

func TestAPauseEndsAtItsTime(t *testing.T) {
	w := newWorld(t)
	tablet := w.people[2]
	w.perform(tablet, tablet.core.TakeRest(w.now.Add(time.Hour), w.now))
	since := w.now
	w.now = w.now.Add(10 * time.Minute)
	w.perform(tablet, tablet.core.TakeRest(since.Add(2*time.Hour), w.now)) // longer, after all
	if r, on := tablet.core.Resting(w.now); !on || !r.Since.Equal(since) || !tablet.core.Next(w.now).After(w.now) {
		t.Errorf("%+v, %v", r, on)
	}
	w.boot(tablet)
	w.silent(tablet)
	w.now = since.Add(2*time.Hour - time.Minute)
	w.give(tablet, Tick{})
	w.silent(tablet)
	if next := tablet.core.Next(w.now); next.After(since.Add(2 * time.Hour)) {
		t.Errorf("it sleeps past its end, until %v", next)
	}
	w.now = since.Add(2 * time.Hour)
	began := false
	for _, e := range tablet.core.Handle(Tick{}, w.now) {
		_, is := e.(SyncMaster)
		began = began || is
	}
	if _, on := tablet.core.Resting(w.now); on || !began {
		t.Errorf("it rests on: %v; its master sync began: %v", on, began)
	}
	w.boot(tablet)
	if _, on := tablet.core.Resting(w.now); on {
		t.Error("an ended pause came back with a restart")
	}
}
