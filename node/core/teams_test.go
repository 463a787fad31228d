package core

import (
	"crypto/ed25519"
	"crypto/sha256"
	"slices"
	"testing"

	"github.com/parley-mesh/parley/lanes"
	"github.com/parley-mesh/parley/ledger"
)

// teams is a world with a second developer's two computers, whose persons have paired the two fleets. Both lanes
// are off; the pull request is the second developer's.
type teams struct {
	*world
	other   ledger.TID
	crossed map[ledger.Kind]int // records that crossed from the first developer to another
	closed  bool                // nothing crosses: the computers do not reach each other
}

func newTeams(t *testing.T) *teams {
	w := &teams{world: newWorld(t), crossed: map[ledger.Kind]int{}}
	w.wrote = 2
	w.people[1].author = false
	w.other = w.join(2, "ada", "grace")
	w.people[3].author = true
	w.pair(w.people[0], w.people[3])
	w.pair(w.people[3], w.people[0])
	w.settleAll()
	return w
}

// join founds another developer's fleet, signed in as user.
func (w *teams) join(user uint64, names ...string) (fleet ledger.TID) {
	first := len(w.people)
	for i, name := range names {
		seed := sha256.Sum256([]byte{byte(first + i), 99})
		w.people = append(w.people, &computer{
			name: name, key: ed25519.NewKeyFromSeed(seed[:]), inc: ledger.Incarnation{byte(first + i)}, user: user,
			values: map[string][]byte{}, ledgers: map[ledger.TID][]*ledger.Record{}, heads: map[ledger.TID]ledger.Head{},
			files: map[string]ledger.OID{"a.go": blob("a.go master"), "b.go": blob("b.go master")},
		})
	}
	founder := w.people[first]
	fleet = ledger.FleetID(founder.device(), [16]byte{byte(first)})
	for _, c := range w.people[first:] {
		c.fleet = fleet
	}
	w.write(founder, Append{Ledger: fleet, Content: &ledger.Genesis{Nonce: [16]byte{byte(first)}}})
	for _, c := range w.people[first+1:] {
		add := &ledger.Add{Device: c.device()}
		copy(add.Accept[:], ed25519.Sign(c.key, ledger.JoinStatement(fleet, add.Invite, founder.device())))
		w.write(founder, Append{Ledger: fleet, Content: add})
	}
	for _, c := range w.people[first:] {
		w.boot(c)
	}
	return fleet
}

// pair is a person at a who pairs with b's fleet.
func (w *teams) pair(a, b *computer) {
	var accept ledger.Signature
	copy(accept[:], ed25519.Sign(b.key, ledger.LaneStatement(ledger.LaneID(a.fleet, b.fleet), ledger.Invite{1}, a.device())))
	w.lanes = append(w.lanes, ledger.LaneID(a.fleet, b.fleet))
	for _, c := range w.people {
		if c.fleet == a.fleet {
			w.bring(c, b.fleet, lanes.VisibleRoster(b.fleet, b.ledgers[b.fleet]))
		}
	}
	w.write(a, Append{
		Ledger: a.fleet, Deps: a.core.Roster().Heads,
		Content: &ledger.LaneBind{Fleet: b.fleet, Invite: ledger.Invite{1}, Accept: accept, Name: "the others"},
	})
}

// bring adds records to what a computer holds, and reports whether there were new ones.
func (w *teams) bring(c *computer, tid ledger.TID, records []*ledger.Record) bool {
	fresh := false
	for _, r := range records {
		if !slices.ContainsFunc(c.ledgers[tid], func(have *ledger.Record) bool { return have.ID == r.ID }) {
			c.ledgers[tid], fresh = append(c.ledgers[tid], r), true
			if c.fleet != w.fleet {
				w.crossed[r.Kind]++
			}
		}
	}
	if fresh {
		w.give(c, w.heard(tid, c.ledgers[tid]))
	}
	return fresh
}

// cross lets every computer send to every other developer's what its grants allow and theirs take.
func (w *teams) cross() (fresh bool) {
	for _, from := range w.people {
		for _, g := range from.core.Grants() {
			for _, to := range w.people {
				takes := slices.ContainsFunc(to.core.Grants(), func(back lanes.Grant) bool { return back.To(from.device()) })
				if w.closed || !g.To(to.device()) || !takes {
					continue
				}
				fresh = w.bring(to, from.fleet, lanes.VisibleRoster(from.fleet, from.ledgers[from.fleet])) || fresh
				for _, tid := range w.known(from) {
					records := from.ledgers[tid]
					if tid == g.Ledger() || g.MaySee(records) {
						carried := slices.DeleteFunc(slices.Clone(records), func(r *ledger.Record) bool { return !g.Carries(r.Device) })
						fresh = w.bring(to, tid, carried) || fresh
					}
				}
			}
		}
	}
	return fresh
}

func (w *teams) known(c *computer) (out []ledger.TID) {
	for tid := range c.ledgers {
		out = append(out, tid)
	}
	slices.SortFunc(out, func(a, b ledger.TID) int { return slices.Compare(a[:], b[:]) })
	return out
}

// settleAll lets everything be worked through and cross, until nothing is left.
func (w *teams) settleAll() {
	w.t.Helper()
	for range 50 {
		w.settle()
		for _, c := range w.people {
			for _, peer := range c.core.peers() {
				w.give(c, Linked{Fleet: peer, On: w.reached(c, peer)})
			}
		}
		w.settle()
		if !w.cross() {
			return
		}
	}
	w.t.Fatalf("what crosses never ends\n%q", w.log)
}

// reached reports whether a computer of another developer takes and keeps a connection.
func (w *teams) reached(c *computer, peer ledger.TID) bool {
	return !w.closed && slices.ContainsFunc(w.people, func(other *computer) bool {
		return other.fleet == peer && slices.ContainsFunc(other.core.Grants(), func(g lanes.Grant) bool { return g.To(c.device()) })
	})
}

// lane switches a lane on at a computer's end, or off for no repository.
func (w *teams) lane(c *computer, peer ledger.TID, repos ...uint64) {
	l := c.core.links[peer].lane
	a := Append{Ledger: l.Ledger, Content: &ledger.LaneOff{}, After: l.After()}
	if len(repos) > 0 {
		a.Content = l.SwitchOn(repos)
	}
	w.write(c, a)
	w.settleAll()
}

// joined switches everything on: the lane at both ends, and the main computer's switch for teammates.
func (w *teams) joined() {
	w.lane(w.people[0], w.other, 7)
	w.lane(w.people[3], w.fleet, 7)
	w.perform(w.people[0], w.people[0].core.SetTeammates(true, w.now))
	w.settleAll()
	w.scanNow()
}

func (w *teams) scanNow() {
	w.perform(w.people[0], w.people[0].core.ScanNow(w.now))
	w.settleAll()
}
