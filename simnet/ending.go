package simnet

import (
	"fmt"
	"slices"
	"time"

	"github.com/parley-mesh/parley/conflicts/thread"
	"github.com/parley-mesh/parley/lanes"
	"github.com/parley-mesh/parley/ledger"
	"github.com/parley-mesh/parley/node/core"
)

// heal stops all misfortune: machines run and hear each other, clocks are right, GitHub answers, and there
// is one main computer. Then the ending begins.
func (w *World) heal() {
	w.tracef("the faults stop")
	w.calm, w.calmStep, w.calmAt = true, w.step.N, w.now
	w.hub.outageUntil, w.hub.flaky = 0, 0
	for _, p := range w.hub.pulls {
		p.denied = false
	}
	for i := range w.mesh.cut {
		clear(w.mesh.cut[i])
	}
	for _, c := range w.computers {
		if c.clone {
			c.retire()
			continue
		}
		c.skew, c.dieIn, c.fullUntil = 0, 0, 0
		switch {
		case !c.running:
			c.boot()
		case c.asleep:
			c.wake()
		default:
			c.give(core.Woke{}, false)
		}
		if c.running && c.paused {
			c.pause(false)
		}
	}
	w.reconcile()
	w.after(3*time.Minute, nil, w.chooseMain)
	w.after(6*time.Minute, nil, w.leave)
	for _, c := range w.computers {
		if c.up() && !c.lane {
			for _, b := range c.books {
				for _, r := range b.records {
					if r.Family() == ledger.Conversation && !slices.Contains(w.union, r) {
						w.union = append(w.union, r)
					}
				}
			}
			c.rounds = 0
		}
	}
}

// chooseMain is a person who sees to it that one computer is the main one.
func (w *World) chooseMain() {
	if w.cfg.Teams == 0 {
		w.chooseMainOf(w.fleet)
	}
	for _, t := range w.teams.all {
		w.chooseMainOf(t.fleet)
	}
}

func (w *World) chooseMainOf(fleet ledger.TID) {
	for _, c := range w.computers {
		if !c.up() || c.fleet != fleet {
			continue
		}
		roster := c.core.Roster()
		if role, _ := roster.Main(); role != lanes.RoleMain {
			w.tracef("%s: a person makes it the main computer", c)
			c.acts([]core.Effect{c.core.TakeMain()})
		}
		return
	}
}

// leave switches off for good whom the ending is about.
func (w *World) leave() {
	main := w.main()
	switch w.cfg.Ending {
	case NoMain:
		w.gone = main
	case NoResp:
		for _, t := range w.threads() {
			d, own := t.State.Open.Parties[t.State.Responsible].Device()
			if c := w.computerOf(d); own && c != nil && c != main && t.State.Phase < thread.Final {
				w.gone = c
			}
		}
	}
	if w.gone != nil {
		w.gone.retire()
	}
}

func (w *World) computerOf(d ledger.Device) *computer {
	for _, c := range w.computers {
		if c.dev == d && !c.clone {
			return c
		}
	}
	return nil
}

// main is the computer that acts as the main one in its own view, if there is one.
func (w *World) main() *computer {
	for _, c := range w.computers {
		if c.up() && !c.lane && c.core.Main(c.wall()) {
			return c
		}
	}
	return nil
}

// threads are the conversations as the main computer, or else the first one that is up, knows them.
func (w *World) threads() []*core.Conversation {
	if c := w.main(); c != nil {
		return c.core.Conversations()
	}
	for _, c := range w.computers {
		if c.up() && !c.lane {
			return c.core.Conversations()
		}
	}
	return nil
}

// help is a person who sees that the agents cannot finish, and settles the pull request by hand.
func (c *computer) help() {
	w := c.w
	if w.cfg.Ending != NoMain {
		w.chooseMain()
	}
	for _, l := range c.core.Lanes() {
		if !l.Ours.On { // an off that the last on did not know of
			c.switchOn(l.Peer)
		}
	}
	if w.cfg.Ending != Settle || !oneIn(w.rng.people, 20) {
		return
	}
	for _, card := range c.core.Cards() {
		t := c.conversation(card.Thread)
		stuck := card.Code == "C5" || card.Code == "C6" || card.Code == "C7" || card.Code == "C2" && card.Binds == nil
		if t == nil || t.State.Open == nil || !stuck {
			continue
		}
		if p := w.hub.find(t.State.Open.Pull); p.open && p.base == master {
			next := w.git.resolve(p.head, w.hub.master)
			w.hub.setHead(p, next, 0)
			w.hub.land(p, *w.git.tree(next))
			w.tracef("somebody settles and merges pull request %d by hand", p.number)
			return
		}
	}
}

// over reports whether the ending has come about.
func (w *World) over() bool {
	switch w.cfg.Ending {
	case Settle:
		return w.now > w.calmAt+time.Hour && w.settled() == nil
	case NoMain, NoResp:
		return w.now > w.calmAt+30*time.Hour
	case Hands:
		return w.now > w.calmAt+6*time.Hour
	}
	return false
}

// settled says what keeps the world from being at rest, if anything does.
func (w *World) settled() error {
	for _, c := range w.computers {
		if !c.up() || c.lane && w.cfg.Teams == 0 {
			continue
		}
		for _, t := range c.core.Conversations() {
			s := &t.State
			if s.Phase != thread.Closed {
				return fmt.Errorf("%s: %s is %v: %s", c, s.Ref(), s.Phase, t.Say)
			}
			if party, ok := s.Party(c.dev, c.core.Rosters()); ok && s.Final != nil && s.Adopted[party] == (ledger.ID{}) {
				return fmt.Errorf("%s has not adopted the final of %s", c, s.Ref())
			}
		}
	}
	return nil
}

// everyThreadEnds judges a run of ending Settle when its steps are over.
func everyThreadEnds(w *World, s Step) error {
	if !s.Last || w.cfg.Ending != Settle || !w.calm || s.N-w.calmStep < withinSteps {
		return nil
	}
	return w.settled()
}

// nothingWithoutPress: where nobody ever presses, GitHub is never changed, and whatever waits shows its
// card.
func nothingWithoutPress(w *World, s Step) error {
	if w.cfg.Ending != Hands {
		return nil
	}
	if len(s.Writes) > 0 {
		return fmt.Errorf("%s changes GitHub, and nobody has pressed", s.Writes[0].who)
	}
	if !s.Last || !w.over() {
		return nil
	}
	for _, t := range w.threads() {
		if t.State.Phase != thread.Opened && t.State.Phase != thread.Interim {
			continue
		}
		p := w.hub.find(t.State.Open.Pull)
		if p.open && p.base == master && w.waiting(t.State.Ledger) == 0 && len(w.git.merge(w.hub.master, p.head).conflicts) > 0 {
			return fmt.Errorf("%s waits for nobody: %s", t.State.Ref(), t.Say)
		}
	}
	return nil
}

// waiting counts the cards about a thread, over all computers.
func (w *World) waiting(tid ledger.TID) int {
	n := 0
	for _, c := range w.computers {
		if !c.up() {
			continue
		}
		for _, card := range c.cards() {
			if card.Thread == tid {
				n++
			}
		}
	}
	return n
}

// interimWithoutMain: half an hour after it opened, and after people are back, an interim is in force on
// every computer, whether or not there is a main computer.
func interimWithoutMain(w *World, s Step) error {
	if w.cfg.Ending != NoMain || !w.calm {
		return nil
	}
	for _, c := range s.Handled {
		if !c.up() || c.lane || w.now < w.calmAt+50*time.Minute {
			continue
		}
		for _, t := range c.core.Conversations() {
			if t.State.Phase == thread.Opened && !t.Local.InterimFired && c.wall().Sub(t.Local.Opened) > 50*time.Minute {
				return fmt.Errorf("%s has no interim of %s in force", c, t.State.Ref())
			}
		}
	}
	return nil
}

// handedOver: a responsible side that is gone for ever loses the final within one scan after its day.
func handedOver(w *World, s Step) error {
	if w.cfg.Ending != NoResp || !w.calm || w.gone == nil {
		return nil
	}
	for _, c := range s.Handled {
		if !c.up() || !c.core.Main(c.wall()) {
			continue
		}
		for _, t := range c.core.Conversations() {
			st := &t.State
			everybody := len(st.Successors)+1 >= len(st.Open.Parties) // has had it already
			if st.Phase != thread.Opened && st.Phase != thread.Interim || st.Ready != nil || everybody {
				continue
			}
			d, _ := st.Open.Parties[st.Responsible].Device()
			if d == w.gone.dev && c.wall().Sub(time.UnixMilli(int64(st.AssignAt))) > 25*time.Hour && w.now > w.calmAt+25*time.Hour {
				return fmt.Errorf("%s leaves the final of %s with a computer that is gone", c, st.Ref())
			}
		}
	}
	return nil
}

// catchesUp: after three rounds of catching up with everybody, a computer holds all that the connected ones
// held when the faults stopped.
func catchesUp(w *World, s Step) error {
	if !w.calm || w.cfg.Ending == Never {
		return nil
	}
	if w.is(noSync) && s.Last {
		for _, c := range w.computers {
			c.rounds = 3
		}
		s.Handled = w.computers
	}
	for _, c := range s.Handled {
		if c.lane || !c.up() || c.rounds != 3 {
			continue
		}
		for _, r := range w.union {
			if b := c.book(r.Ledger); b == nil || !b.have[r.ID] {
				return fmt.Errorf("%s still misses %s %s", c, r.Kind, r.ID.Short())
			}
		}
	}
	return nil
}
