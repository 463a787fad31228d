package simnet

import (
	"bytes"
	"crypto/ed25519"
	"fmt"
	"slices"
	"time"

	"github.com/parley-mesh/parley/conflicts/thread"
	"github.com/parley-mesh/parley/lanes"
	"github.com/parley-mesh/parley/ledger"
	"github.com/parley-mesh/parley/node/core"
)

// team is one developer: the fleet, and the account that their pull requests are of.
type team struct {
	fleet ledger.TID
	user  uint64
	of    []*computer
}

// teams is what the checks know of the developers, their persons and their lanes: what was pressed, never what
// a core made of it.
type teams struct {
	all     []team
	on      map[[2]ledger.TID]bool         // by end and other end: a person there has switched the lane on, ever
	asks    map[ledger.TID]bool            // a person there has wanted teammates' conflicts, ever
	answers map[ledger.TID]map[uint64]bool // accounts that a computer of the fleet has answered with, ever
	live    map[ledger.ID]shared           // by statement
	stands  map[string]ledger.OID          // what each holder made of each path last
	over    map[ledger.OID]over            // when a content that an edit told was another one
}

// populateTeams makes a world of developers whose persons have paired all their fleets. Every lane is off.
func (w *World) populateTeams() {
	w.teams = teams{on: map[[2]ledger.TID]bool{}, asks: map[ledger.TID]bool{}, answers: map[ledger.TID]map[uint64]bool{}}
	w.teams.live, w.teams.stands, w.teams.over = map[ledger.ID]shared{}, map[string]ledger.OID{}, map[ledger.OID]over{}
	own := slices.Clone(w.computers)
	w.teams.all = []team{{user: me, of: own}}
	for i := range w.cfg.Teams {
		t := team{user: uint64(mate + i)}
		for k := range 1 + w.rng.id.IntN(2) {
			c := newComputer(w, len(w.computers), fmt.Sprintf("%c%d", 'm'+i, k))
			c.lane = true
			w.computers, t.of = append(w.computers, c), append(t.of, c)
		}
		w.teams.all = append(w.teams.all, t)
	}
	w.mesh.grow(len(w.computers))
	for i := range w.teams.all {
		t := &w.teams.all[i]
		t.fleet = w.found(t.of, i == 0 || oneIn(w.rng.id, 3))
		for _, c := range t.of {
			c.user, c.users = t.user, []uint64{t.user}
		}
	}
	w.fleet, w.laneFleet = w.teams.all[0].fleet, w.teams.all[1].fleet
	for i := range w.teams.all {
		for k := range w.teams.all {
			if i != k {
				w.pair(&w.teams.all[i], &w.teams.all[k])
			}
		}
	}
	w.begin()
	w.agree()
}

// reconcile is persons who are honest from now on: every lane is on, and everybody is signed in as themselves.
func (w *World) reconcile() {
	for _, t := range w.teams.all {
		for _, c := range t.of {
			if c.up() {
				c.signIn(t.user)
			}
		}
		for _, peer := range w.teams.all {
			if c := t.of[0]; peer.fleet != t.fleet && !c.off {
				w.after(2*time.Minute, c, func() { c.switchOn(peer.fleet) })
			}
		}
	}
}

// elsewhere reports whether the lane of a conversation follows another developer's about the same pull request that
// has other files: it never looks at these, and so confirms nothing of them.
func (w *World) elsewhere(s *thread.State) bool {
	for _, c := range w.computers {
		if w.cfg.Teams < 2 || !slices.Contains(s.Open.Parties, ledger.LaneParty(c.fleet)) || !c.up() {
			continue
		}
		path := func(a, b ledger.File) bool { return a.Path == b.Path }
		if t := c.conversation(s.Ledger); t != nil && t.State.Root.ID != s.Root.ID && !slices.EqualFunc(t.State.Open.Files, s.Open.Files, path) {
			return true
		}
	}
	return false
}

// agree lets most worlds begin with lanes that persons switch on soon.
func (w *World) agree() {
	if oneIn(w.rng.id, 4) {
		return
	}
	for _, t := range w.teams.all {
		c := t.of[0]
		for _, peer := range w.teams.all {
			if peer.fleet != t.fleet {
				w.after(w.jitter(time.Minute), c, func() { c.switchOn(peer.fleet) })
			}
		}
		if !oneIn(w.rng.id, 3) {
			w.after(w.jitter(time.Minute), c, c.want)
		}
	}
}

// switchOn and want are presses of a person.
func (c *computer) switchOn(peer ledger.TID) {
	c.w.tracef("%s: a person switches a lane on", c)
	c.w.teams.on[[2]ledger.TID{c.fleet, peer}] = true
	c.switchLane(peer, repoID)
}

func (c *computer) want() {
	for _, other := range c.w.teams.team(c.fleet).of { // mostly where it takes effect
		if other.up() && other.core.Main(other.wall()) && !oneIn(c.w.rng.people, 4) {
			c = other
			break
		}
	}
	c.w.tracef("%s: a person wants teammates' conflicts", c)
	c.w.teams.asks[c.fleet] = true
	c.acts(c.core.SetTeammates(true, c.wall()))
}

// pair is a person of one fleet who pairs with another one.
func (w *World) pair(a, b *team) {
	by, signer := a.of[0], b.of[0]
	bind := &ledger.LaneBind{Fleet: b.fleet, Invite: ledger.Invite{1}}
	copy(bind.Accept[:], ed25519.Sign(signer.key, ledger.LaneStatement(ledger.LaneID(a.fleet, b.fleet), bind.Invite, by.dev)))
	heads := lanes.Fold(a.fleet, by.book(a.fleet).records).Heads
	r, err := by.seal(core.Append{Ledger: a.fleet, Content: bind, Deps: heads})
	if err != nil {
		panic("simnet: pairing fleets: " + err.Error())
	}
	for _, c := range a.of {
		c.book(a.fleet).add(r, true)
		for _, shown := range lanes.VisibleRoster(b.fleet, signer.book(b.fleet).records) {
			c.take(shown)
		}
		c.tail = nil
	}
}

// every is how often a core looks: at pull requests more often than in earnest, so that there is something to see.
func (w *World) every() core.Every {
	e := core.Ordinary()
	if w.cfg.Teams > 0 {
		e.Scan = 3 * time.Minute
	}
	return e
}

// join tells a core that starts what only its computer knows.
func (c *computer) join() {
	if c.w.cfg.Teams == 0 {
		return
	}
	c.near = nil
	c.give(core.SignedIn{Account: c.account()}, false)
	if c.w.is(unasked) {
		c.acts(c.core.SetTeammates(true, c.wall()))
	}
}

func (c *computer) account() lanes.Account {
	return lanes.Account{Host: host, User: c.owner(), Login: fmt.Sprintf("user%d", c.owner())}
}

// team is the developer that a computer belongs to.
func (ts *teams) team(fleet ledger.TID) *team {
	i := slices.IndexFunc(ts.all, func(t team) bool { return t.fleet == fleet })
	return &ts.all[i]
}

// author chooses whose next pull request it is, and the computer that makes it, -1 for none of these.
func (ts *teams) author(w *World) (user uint64, maker int) {
	t := &ts.all[w.rng.hub.IntN(len(ts.all))]
	if oneIn(w.rng.hub, 4) {
		return t.user, -1
	}
	return t.user, t.of[w.rng.hub.IntN(len(t.of))].number
}

// noteAnswer remembers for the checks who answered with which account.
func (ts *teams) noteAnswer(c *computer, r *ledger.Record) {
	if am, ok := r.Content.(*ledger.Am); ok {
		if ts.answers[c.fleet] == nil {
			ts.answers[c.fleet] = map[uint64]bool{}
		}
		ts.answers[c.fleet][am.User] = true
	}
}

// laneAct is a person who does something about lanes, or gh there signed in as somebody else.
func (w *World) laneAct(c *computer) {
	r := w.rng.people
	others := slices.DeleteFunc(slices.Clone(w.teams.all), func(t team) bool { return t.fleet == c.fleet })
	peer := others[r.IntN(len(others))]
	if w.cfg.Agents > 0 && oneIn(r, 2) {
		c.shareWork(peer.fleet)
		return
	}
	switch what := r.IntN(12); {
	case what < 4:
		c.switchOn(peer.fleet)
	case what == 4:
		w.tracef("%s: a person switches the lane to %d off", c, peer.user)
		c.switchLane(peer.fleet)
	case what < 9:
		c.want()
	case what == 11 && len(w.hub.pulls) < 8:
		w.propose()
	case what == 9:
		c.acts(c.core.SetTeammates(false, c.wall()))
	case what == 10 && !w.off("liars"):
		c.signIn(w.teams.all[r.IntN(len(w.teams.all))].user)
	default:
		c.signIn(w.teams.team(c.fleet).user)
	}
}

func (c *computer) signIn(user uint64) {
	c.user, c.signedIn = user, c.w.now
	c.users = append(c.users, user)
	c.w.tracef("%s is signed in as %d", c, user)
	c.give(core.SignedIn{Account: c.account()}, false)
}

// switchLane is a person's press; without repositories it switches the lane off.
func (c *computer) switchLane(peer ledger.TID, repositories ...uint64) {
	for _, l := range c.core.Lanes() {
		if l.Peer != peer {
			continue
		}
		a := core.Append{Ledger: l.Ledger, Content: &ledger.LaneOff{}, After: l.After()}
		if len(repositories) > 0 {
			a.Content = l.SwitchOn(repositories)
		}
		c.acts([]core.Effect{a})
	}
}

// grant is the leave that one computer has to send to another one's, while that one has the like.
func (c *computer) grant(to *computer) (lanes.Grant, bool) {
	if c.core == nil || to.core == nil {
		return lanes.Grant{}, false
	}
	g := c.core.Grant(to.fleet)
	return g, g.To(to.dev) && (to.core.Grant(c.fleet).To(c.dev) || c.w.is(halfLane))
}

// reaches reports whether a computer tries to catch up with another.
func (c *computer) reaches(other *computer) bool {
	if other.fleet == c.fleet {
		return true
	}
	if c.w.cfg.Teams == 0 {
		return c.w.laneOn
	}
	_, ok := c.grant(other)
	return ok
}

// linked tells a core when the first computer of another developer is connected, and when the last one goes.
func (c *computer) linked(other *computer, on bool) {
	if other.fleet == c.fleet || c.w.cfg.Teams == 0 {
		return
	}
	before := c.nearTo(other.fleet)
	c.near = slices.DeleteFunc(c.near, func(d ledger.Device) bool { return d == other.dev })
	if on {
		c.near = append(c.near, other.dev)
	}
	if now := c.nearTo(other.fleet); now != before {
		c.give(core.Linked{Fleet: other.fleet, On: now}, false)
	}
}

func (c *computer) nearTo(fleet ledger.TID) bool {
	return slices.ContainsFunc(c.w.computers, func(other *computer) bool {
		return other.fleet == fleet && slices.Contains(c.near, other.dev)
	})
}

// takes reports whether a computer takes what another one sends: its own fleet's, and another developer's while
// its own lane is on.
func (m *mesh) takes(from, to *computer) bool {
	return m.w.cfg.Teams == 0 || from.fleet == to.fleet || to.core.Grant(from.fleet).To(from.dev)
}

// part is what one computer shows another of a ledger.
func (m *mesh) part(from, to *computer, b *book) []*ledger.Record {
	if m.w.cfg.Teams == 0 || from.fleet == to.fleet {
		return b.records
	}
	g, ok := from.grant(to)
	switch {
	case !ok:
		return nil
	case b.tid == from.fleet && m.w.is(wholeRoster), b.tid == g.Ledger():
		return b.records
	case b.tid == from.fleet:
		return lanes.VisibleRoster(b.tid, b.records)
	case b.family == ledger.Work && m.w.is(homeWork):
		return b.records
	case b.family == ledger.Work && g.SharesWork(b.share(), repoID):
		return slices.DeleteFunc(slices.Clone(b.records), func(r *ledger.Record) bool { return !g.CarriesWork(r.Device, b.share(), repoID) })
	case b.family == ledger.Conversation && (g.MaySee(b.records) || m.w.is(halfLane)):
		return slices.DeleteFunc(slices.Clone(b.records), func(r *ledger.Record) bool { return !g.Carries(r.Device) })
	}
	return nil
}

// shares reports whether a record that was just stored is part of what one computer shows another.
func (m *mesh) shares(from, to *computer, b *book, r *ledger.Record) bool {
	return m.w.cfg.Teams == 0 || from.fleet == to.fleet || slices.Contains(m.part(from, to, b), r) || m.w.is(chatty)
}

// sumRosters sums up what the core knows of all fleets, without what lanes do not show: it means the same to
// everybody.
func (c *computer) sumRosters() {
	c.rosterSum = 0
	for _, b := range c.books {
		if b.family == ledger.Roster {
			for _, r := range lanes.VisibleKinds(b.told) {
				c.rosterSum ^= idSum(r.ID)
			}
		}
	}
}

// refold reads all rosters again, in another order.
func (w *World) refold(c *computer) lanes.Rosters {
	out := lanes.Rosters{}
	for _, b := range c.books {
		if b.family != ledger.Roster {
			continue
		}
		records := slices.Clone(b.told)
		w.shuffle(records)
		if b.tid == c.fleet {
			out = append(out, lanes.Fold(b.tid, records))
		} else {
			out = append(out, lanes.FoldVisible(b.tid, records))
		}
	}
	slices.SortFunc(out, func(a, b lanes.Roster) int { return bytes.Compare(a.Fleet[:], b.Fleet[:]) })
	return out
}

func (w *World) shuffle(records []*ledger.Record) {
	w.rng.check.Shuffle(len(records), func(i, k int) { records[i], records[k] = records[k], records[i] })
}
