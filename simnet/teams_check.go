package simnet

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/parley-mesh/parley/conflicts/thread"
	"github.com/parley-mesh/parley/lanes"
	"github.com/parley-mesh/parley/ledger"
)

// silent: between developers nothing goes before a person at the sender's end has switched the lane on, no
// conversation before both have, and no question or lane party before a person wants teammates' conflicts. Names
// and other lanes stay at home for ever (S12, L1, L2).
func (w *World) silent(m sent) error {
	from, to, r := m.from, m.to, m.record
	if from.fleet == to.fleet {
		return nil
	}
	here, there := w.teams.on[[2]ledger.TID{from.fleet, to.fleet}], w.teams.on[[2]ledger.TID{to.fleet, from.fleet}]
	said := func(what string) error {
		return fmt.Errorf("%s sends %s %s to another developer's %s", from, r.Kind, what, to)
	}
	switch own := from.mate(r.Device); {
	case !here:
		return said("before the lane is on")
	case r.Kind == ledger.KindName, r.Kind == ledger.KindLaneBind, r.Kind == ledger.KindAddress:
		return said("which no lane shows")
	case r.Family() == ledger.Conversation && !there:
		return said("before the lane is on at both ends")
	case r.Family() == ledger.Lane && r.Ledger != ledger.LaneID(from.fleet, to.fleet):
		return said("of another lane")
	case r.Kind == ledger.KindWho && own && !w.teams.asks[from.fleet]:
		return said("before a person wants teammates' conflicts")
	case own && names(r, to.fleet) && !w.teams.asks[from.fleet]:
		return said("with its lane before a person wants teammates' conflicts")
	}
	return nil
}

// mate reports whether a computer is of the same fleet.
func (c *computer) mate(d ledger.Device) bool {
	return slices.ContainsFunc(c.w.computers, func(other *computer) bool { return other.dev == d && other.fleet == c.fleet })
}

// names reports whether a record is an open with another developer's lane as a party.
func names(r *ledger.Record, fleet ledger.TID) bool {
	open, ok := r.Content.(*ledger.Open)
	return ok && slices.Contains(open.Parties, ledger.LaneParty(fleet))
}

// teammates: an open of somebody else's pull request names as responsible the lane of a developer who has
// answered with that account, as nobody else's last answer does; an open of an own one names no lane (P12 to
// P14, L4).
func teammates(w *World, s Step) error {
	if w.cfg.Teams == 0 {
		return nil
	}
	for _, one := range s.Sealed {
		open, ok := one.record.Content.(*ledger.Open)
		if !ok || one.lie {
			continue
		}
		fleet, lane := open.Parties[open.Resp].Fleet()
		switch {
		case !lane && !slices.Contains(one.who.users, open.Author):
			return fmt.Errorf("%s opens a pull request of %d for itself", one.who, open.Author)
		case lane && !w.teams.asks[one.who.fleet]:
			return fmt.Errorf("%s opens a teammate's pull request before a person wants it", one.who)
		case lane && !w.teams.answers[fleet][open.Author]:
			return fmt.Errorf("%s opens a pull request of %d with somebody who never answered so", one.who, open.Author)
		case lane && one.who.claiming(w, open.Author) != 1:
			return fmt.Errorf("%s opens a pull request of %d, whom %d developers say to be", one.who, open.Author, one.who.claiming(w, open.Author))
		}
	}
	return nil
}

// claiming counts the other developers whose last answer that a computer holds is an account.
func (c *computer) claiming(w *World, user uint64) (n int) {
	for _, t := range w.teams.all {
		b := c.book(ledger.LaneID(c.fleet, t.fleet))
		if t.fleet == c.fleet || b == nil {
			continue
		}
		var last *ledger.Record
		for _, r := range b.told {
			theirs := slices.ContainsFunc(t.of, func(c *computer) bool { return c.dev == r.Device })
			if r.Kind == ledger.KindAm && theirs && (last == nil || cmp.Or(cmp.Compare(last.Lam, r.Lam), bytes.Compare(last.ID[:], r.ID[:])) < 0) {
				last = r
			}
		}
		if last != nil && last.Content.(*ledger.Am).User == user {
			n++
		}
	}
	return n
}

// ownAgents: in another developer's conversation a turn is spent only for a pull request of the account that is
// signed in, or was a moment ago (L7).
func ownAgents(w *World, s Step) error {
	for _, t := range s.Turns {
		if t.state == nil || t.state.Open == nil || t.state.Open.Fleet == t.who.fleet {
			continue
		}
		recent := t.who.users[len(t.who.users)-1:]
		if w.now-t.who.signedIn < time.Hour {
			recent = t.who.users
		}
		if !slices.Contains(recent, t.state.Open.Author) {
			return fmt.Errorf("%s spends a turn for the pull request of %d", t.who, t.state.Open.Author)
		}
	}
	return nil
}

// opener is whether the fleet that a conversation belongs to has one main computer, as far as this one knows.
func (c *computer) opener(s *thread.State) lanes.Role {
	for _, r := range c.core.Rosters() {
		if r.Fleet == s.Open.Fleet {
			role, _ := r.Main()
			return role
		}
	}
	return lanes.RoleNone
}
