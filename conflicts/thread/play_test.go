package thread

import (
	"strings"
	"time"

	"github.com/parley-mesh/parley/ledger"
)

// settle lets every present computer reconcile until nothing more happens.
func (w *world) settle() State {
	w.t.Helper()
	for range 200 {
		busy := false
		for _, c := range w.people {
			if !c.away {
				busy = w.step(c) || busy
			}
		}
		if !busy {
			return w.state()
		}
	}
	w.t.Fatal("the computers never come to rest")
	return State{}
}

// approve presses every offered approval of a computer.
func (w *world) approve(c *computer) {
	for _, b := range c.last.Offers {
		act := &Approval{State: Approved, Binds: b}
		if b.Action == "push" {
			c.facts.PushAct = act
		} else {
			c.facts.MergeAct = act
		}
	}
}

// published brings the story up to the merge that GitHub has, with every present computer at rest.
func (w *world) published() State {
	w.t.Helper()
	w.settle()
	for _, c := range w.people {
		if c.card("C2") != nil {
			w.approve(c)
		}
	}
	w.settle()
	w.approve(w.main)
	return w.settle()
}

func (w *world) pass(d time.Duration) {
	w.now = w.now.Add(d)
	for _, c := range w.people {
		if !c.away {
			c.seen = w.now
		}
		c.facts.InterimFired = c.facts.InterimFired || !w.now.Before(c.facts.Opened.Add(Contract().Interim))
		c.facts.FinalFired = c.facts.FinalFired || !w.now.Before(c.facts.Assigned.Add(Contract().Final))
	}
}

func (c *computer) card(code string) *Card {
	for i := range c.last.Cards {
		if c.last.Cards[i].Code == code {
			return &c.last.Cards[i]
		}
	}
	return nil
}

// woken counts the turns that a computer has spent.
func (c *computer) woken() int {
	n := 0
	for _, a := range c.asked {
		if _, ok := a.(Wake); ok {
			n++
		}
	}
	return n
}

// writes counts what a computer has asked GitHub for.
func (c *computer) writes() int {
	n := 0
	for _, a := range c.asked {
		if _, ok := a.(Write); ok {
			n++
		}
	}
	return n
}

func (c *computer) has(code, part string) bool {
	card := c.card(code)
	return card != nil && strings.Contains(card.Title+" "+card.What+" "+card.Why, part)
}

// edits puts unpublished work into a file of a computer.
func (w *world) edits(c *computer, file int, what string) {
	c.files[file] = File{Class: 0, Lines: 3, Here: blob(what), Tip: w.open.Files[file].Master}
}

// spine says a record of the spine by hand, after the present head.
func (w *world) spine(c *computer, content ledger.Body, re ...ledger.ID) *ledger.Record {
	w.t.Helper()
	s := w.state()
	return w.say(c, ledger.Header{Ledger: w.open.Key().Thread(), Open: s.Root.ID, Spine: s.Head(), Claim: c.claim, Re: re}, content)
}

// leaf says a leaf by hand that answers a record.
func (w *world) leaf(c *computer, re ledger.ID, content ledger.Body) *ledger.Record {
	w.t.Helper()
	return w.say(c, ledger.Header{Ledger: w.open.Key().Thread(), Open: w.records[0].ID, Re: []ledger.ID{re}}, content)
}

func (w *world) ack(n ledger.Class) *ledger.Ack { return &ledger.Ack{Classes: []ledger.Class{n, n}} }
