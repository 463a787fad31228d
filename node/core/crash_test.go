package core

import (
	"fmt"
	"slices"
	"testing"

	"github.com/parley-mesh/parley/ledger"
)

// check holds a finished story against the promises that no crash may break.
func (w *world) check() {
	w.t.Helper()
	if got := w.github.writes; !slices.Equal(got, []string{"laptop push", "desktop merge"}) {
		w.t.Errorf("GitHub was written by %q", got)
	}
	for _, c := range w.people {
		for _, p := range paths {
			want := blob(p + " final")
			switch {
			case p == c.own:
				want = blob("mine")
			case c.author:
				want = blob(p + " master")
			}
			if c.files[p] != want {
				w.t.Errorf("%s ends with another %s", c.name, p)
			}
		}
		if n := len(c.core.Conversations()); n != 1 {
			w.t.Errorf("%s knows %d conversations", c.name, n)
		}
	}
	if w.t.Failed() {
		w.t.Logf("%q", w.log)
	}
}

func TestTheMainJobRunsThroughTheCores(t *testing.T) { // P6, P15, P16, P18, P19, P20
	w := newWorld(t)

	w.run()

	w.check()
	thread := w.people[0].core.Conversations()[0]
	if thread.State.ClosedWhy != ledger.ClosedConfirmed {
		t.Errorf("closed for reason %d", thread.State.ClosedWhy)
	}
	if w.replaced != 3 {
		t.Errorf("%d replacements were asked for, want 3: two files here and one there", w.replaced)
	}
	if used := w.people[1].core.Conversations()[0].used(0); used != 1 {
		t.Errorf("the laptop spent %d turns, want 1", used)
	}
}

// TestACrashAtAnyEffectChangesNothing kills a computer at every effect of the whole story, once before the
// effect and once after it, and lets it start again with what was saved.
func TestACrashAtAnyEffectChangesNothing(t *testing.T) { // cases 37 to 40
	whole := newWorld(t)
	whole.run()
	t.Logf("the story has %d effects", whole.effects)
	for at := range whole.effects {
		for _, halfway := range []bool{false, true} {
			t.Run(fmt.Sprintf("%d %v", at, halfway), func(t *testing.T) {
				w := newWorld(t)
				w.dieAt, w.halfway = at, halfway

				w.run()

				if w.deaths != 1 {
					t.Fatalf("%d computers died", w.deaths)
				}
				w.check()
			})
		}
	}
}

// TestTwoCrashesChangeNothingEither kills at two effects, a few steps apart.
func TestTwoCrashesChangeNothingEither(t *testing.T) {
	whole := newWorld(t)
	whole.run()
	for at := 0; at < whole.effects; at += 3 {
		w := newWorld(t)
		w.dieAt = at
		for range 40 {
			for _, c := range w.people {
				w.work(c)
			}
			if w.deaths == 1 {
				w.dieAt, w.halfway = w.effects+at%7, true
			}
		}

		w.run()

		w.check()
	}
}
