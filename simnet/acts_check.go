package simnet

import (
	"fmt"

	"github.com/parley-mesh/parley/conflicts/thread"
	"github.com/parley-mesh/parley/lanes"
	"github.com/parley-mesh/parley/ledger"
	"github.com/parley-mesh/parley/node/core"
)

// oneShot: every change of GitHub has a press of its own, on the same computer, for the same act, and
// found GitHub as the press had bound it.
func oneShot(w *World, s Step) error {
	for _, wr := range s.Writes {
		found := false
		for i := range w.clicks {
			k := &w.clicks[i]
			b := k.binds
			if found || k.used || k.who.dev != wr.who.dev || k.thread != wr.thread || b.Action != wr.action || b.Pull != wr.pull || b.Ref != wr.ref || b.New != wr.after {
				continue
			}
			if b.Action == "push" && b.Old != wr.before || b.Action == "merge" && b.New != wr.before {
				continue
			}
			k.used, found = true, true
		}
		if !found {
			return fmt.Errorf("%s changes GitHub (%s of %d, %s to %s) without a press for it", wr.who, wr.action, wr.pull, wr.before.Short(), wr.after.Short())
		}
	}
	return nil
}

// budget: at most 3 turns for a computer in a thread and round, 24 for all, 50 a day; only a press raises
// the round. A restored or copied disk has forgotten what it spent, and goes by what its records tell.
func budget(w *World, s Step) error {
	for _, t := range s.Turns {
		known := t.who.restored == 0 && !t.who.twice && !w.forgets()
		if known && t.oneDay > thread.TurnsPerDay {
			return fmt.Errorf("%s spends its turn %d of the day", t.who, t.oneDay)
		}
		if t.state == nil {
			continue // of the master sync
		}
		if t.told >= thread.TurnsPerComputer {
			return fmt.Errorf("%s spends a turn in round %d of %s, and its records tell of %d", t.who, t.state.Round, t.tid.Short(), t.told)
		}
		if !known {
			continue
		}
		all := 0
		for _, c := range w.computers {
			for _, k := range c.turns {
				if k.tid == t.tid && k.round == t.state.Round && c.restored == 0 && !c.twice {
					all += k.used
				}
			}
		}
		if t.used > thread.TurnsPerComputer || all > thread.TurnsInAll {
			return fmt.Errorf("%s spends turn %d in %s, %d of all", t.who, t.used, t.tid.Short(), all)
		}
	}
	for _, f := range s.Folds {
		if r := f.state.Round; w.cfg.Ending != Never && r > w.ledgerOf.rounds[f.book.tid] {
			w.ledgerOf.rounds[f.book.tid] = r
			if presses := w.pressed(f.book.tid, "round") + w.pressed(f.book.tid, "assign"); uint64(presses) < r {
				return fmt.Errorf("%s is in round %d after %d presses", f.book.tid.Short(), r, presses)
			}
		}
	}
	return nil
}

// pressed counts the presses for one kind of act in a thread.
func (w *World) pressed(tid ledger.TID, action string) int {
	n := 0
	for _, k := range w.clicks {
		if k.thread == tid && k.binds.Action == action {
			n++
		}
	}
	return n
}

// contested: a computer that sees no one main computer opens nothing, finishes nothing, hands nothing over
// and changes nothing on GitHub.
func contested(_ *World, s Step) error {
	for _, one := range s.Sealed {
		if one.lie {
			continue
		}
		switch one.record.Kind {
		case ledger.KindOpen, ledger.KindFinal, ledger.KindReassign:
		default:
			continue
		}
		if one.role != lanes.RoleMain {
			return fmt.Errorf("%s says %s while it sees the main role %s", one.who, one.record.Kind, one.role)
		}
	}
	for _, b := range s.Begun {
		if b.role != lanes.RoleMain {
			return fmt.Errorf("%s starts a %s while it sees the main role %s", b.who, b.action, b.role)
		}
	}
	return nil
}

// noVerdictOnOutage: from a call that GitHub did not answer nothing follows but a later look.
func noVerdictOnOutage(_ *World, s Step) error {
	for _, e := range s.Failed {
		switch e := e.(type) {
		case core.Append:
			return fmt.Errorf("a failed call makes a computer say %s", e.Content.Kind())
		case core.Do:
			if _, replace := e.Action.(thread.Replace); !replace {
				return fmt.Errorf("a failed call starts a %s", e.Action.Key())
			}
		}
	}
	return nil
}

// asksFor reports whether a card is about an approval. While approvals are paused it has no button.
func asksFor(card thread.Card, b thread.Binds) bool {
	if card.Binds != nil {
		return *card.Binds == b
	}
	return card.Code == map[string]string{"push": "C2", "merge": "C3"}[b.Action]
}

// oneCard: the inbox has each key once, and every approval that waits for a person has exactly one card.
func oneCard(w *World, s Step) error {
	for _, c := range s.Handled {
		cards := c.cards()
		for i := range cards {
			for k := range cards[:i] {
				if cards[k].Key == cards[i].Key {
					return fmt.Errorf("%s has two cards %s", c, cards[i].Key)
				}
			}
		}
		for _, t := range c.core.Conversations() {
			for _, a := range [2]*core.Approval{t.Local.Push, t.Local.Land} {
				if a == nil || a.State != thread.Offered {
					continue
				}
				n := 0
				for i := range cards {
					if cards[i].Thread == t.State.Ledger && asksFor(cards[i].Card, a.Binds) {
						n++
					}
				}
				if n != 1 {
					return fmt.Errorf("%s has %d cards for an approval that waits", c, n)
				}
			}
		}
	}
	return nil
}

// cards is the inbox as people see it.
func (c *computer) cards() []core.Card {
	cards := c.core.Cards()
	if c.w.is(doubleCard) && len(cards) > 0 {
		cards = append(cards, cards[0])
	}
	return cards
}
