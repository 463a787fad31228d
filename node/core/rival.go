package core

import (
	"slices"
	"time"

	"github.com/parley-mesh/parley/conflicts/thread"
	"github.com/parley-mesh/parley/ledger"
)

// rivals are the conversations about a thread's pull request as the other developers see them whose opens name
// this fleet's lane too, and which the one that is followed here precedes. A lane carries what its two fleets said,
// so to them there is no other.
func (c *Core) rivals(t *Conversation) (out []thread.State) {
	if t.State.Open == nil || t.State.Open.Fleet == c.cfg.Fleet {
		return nil
	}
	var fleets []ledger.TID
	for _, r := range t.records {
		open, is := r.Content.(*ledger.Open)
		if !is || open.Fleet == t.State.Open.Fleet || open.Fleet == c.cfg.Fleet || slices.Contains(fleets, open.Fleet) {
			continue
		}
		fleets = append(fleets, open.Fleet)
		s := thread.Fold(slices.DeleteFunc(slices.Clone(t.records), func(r *ledger.Record) bool {
			of, _ := c.rosters.Of(r.Device)
			return of.Fleet != open.Fleet && of.Fleet != c.cfg.Fleet
		}), c.rosters)
		if s.Open != nil && s.Open.Fleet == open.Fleet {
			out = append(out, s)
		}
	}
	return out
}

// confirmRivals confirms in the other conversations the final that this computer has confirmed in the one that it
// follows, so that they can end too. Only the same commit is: it was found on GitHub, and taken.
func (c *Core) confirmRivals(t *Conversation, self thread.Self, now time.Time) {
	if len(t.rivals) == 0 || t.emitting || now.Before(c.retry[emitKey(t.State.Ledger)].until) || self.Party < 0 || t.State.Final == nil {
		return
	}
	said := t.State.Adopted[self.Party]
	i := slices.IndexFunc(t.records, func(r *ledger.Record) bool { return r.ID == said && r.Device == c.cfg.Device })
	if i < 0 {
		return // another computer of the lane speaks for it
	}
	adopted := t.records[i].Content.(*ledger.Adopted)
	for _, s := range t.rivals {
		party, in := s.Party(c.cfg.Device, c.rosters)
		if !in || s.Final == nil || s.Final.Commit != t.State.Final.Commit || s.Adopted[party] != (ledger.ID{}) {
			continue
		}
		if results, same := carried(&t.State, &s, adopted.Results); same {
			used := t.used(t.State.Round)
			t.emitting, t.emitted = true, Spent{t.State.Round, used}
			c.effect(Append{
				Ledger: s.Ledger, Content: &ledger.Adopted{Tip: adopted.Tip, Results: results}, Open: s.Root.ID,
				Re: []ledger.ID{s.Final.ID}, After: []ledger.ID{s.Head()}, Turns: uint64(used),
			})
			return
		}
	}
}

// carried brings the results of one open's files into the order of another's, if it has the same files.
func carried(from, to *thread.State, results []ledger.Result) (out []ledger.Result, same bool) {
	for _, f := range to.Open.Files {
		i := slices.IndexFunc(from.Open.Files, func(have ledger.File) bool { return have.Path == f.Path })
		if i < 0 || i >= len(results) {
			return nil, false
		}
		out = append(out, results[i])
	}
	return out, true
}
