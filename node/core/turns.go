package core

import (
	"slices"

	"github.com/parley-mesh/parley/conflicts/thread"
	"github.com/parley-mesh/parley/ledger"
)

// Spent is how many turns were spent in one round.
type Spent struct {
	Round uint64
	Used  int
}

func used(all []Spent, round uint64) int {
	for _, s := range all {
		if s.Round == round {
			return s.Used
		}
	}
	return 0
}

// spent is the counts with one round's at least so high.
func spent(all []Spent, more Spent) []Spent {
	i := slices.IndexFunc(all, func(s Spent) bool { return s.Round == more.Round })
	if i < 0 {
		return append(all, more)
	}
	all[i].Used = max(all[i].Used, more.Used)
	return all
}

// used is how many turns this computer spent in a round: by its own count, or by what its records say, whichever
// is more. Its own count is gone after a backup was restored, and too low where a copied disk ran.
func (t *Conversation) used(round uint64) int {
	return max(used(t.Local.Spent, round), used(t.told, round))
}

// heardOwn remembers of a record that this process has just said which round its turns are of.
func (c *Core) heardOwn(t *Conversation, r *ledger.Record) {
	if r.Device == c.cfg.Device && t.emitting && int(r.Turns) == t.emitted.Used {
		t.said[r.ID] = t.emitted
	}
}

// recall reads the turns that this computer's own records say it had spent, under whatever incarnation. A record
// does not name its round, but one that was said in a round is of a later logical time than the record that began
// it. So a record counts in every round that began before it in that sense: too often where two computers spoke at
// once, never too seldom.
func (c *Core) recall(t *Conversation, records []*ledger.Record) {
	type beginning struct{ round, lam uint64 }
	began := []beginning{{}}
	for _, r := range records {
		if re, is := r.Content.(*ledger.Reassign); is && re.Round > 0 && (re.Why == ledger.ReassignPerson || re.Why == ledger.ReassignRefill) {
			began = append(began, beginning{re.Round, r.Lam})
		}
	}
	t.told = t.told[:0]
	for _, r := range records {
		if r.Device != c.cfg.Device || r.Turns == 0 {
			continue
		}
		if s, here := t.said[r.ID]; here {
			t.told = spent(t.told, s)
			continue
		}
		for _, b := range began {
			if r.Lam > b.lam {
				t.told = spent(t.told, Spent{b.round, int(min(r.Turns, thread.TurnsInAll))})
			}
		}
	}
}
