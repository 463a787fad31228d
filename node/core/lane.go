package core

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/parley-mesh/parley/conflicts/thread"
	"github.com/parley-mesh/parley/lanes"
	"github.com/parley-mesh/parley/ledger"
)

// link is the lane to one other developer, as this computer knows it.
type link struct {
	peer   lanes.Roster
	lane   lanes.Lane
	grant  lanes.Grant        // as the lane stands; it grants nothing while there is none
	linked bool               // a computer of theirs is connected now
	excess lanes.Excess       // what it was last refused for
	heard  map[ledger.ID]bool // notes that the timeline has
}

// SignedIn says which account this computer's own gh is signed in as.
type SignedIn struct{ Account lanes.Account }

// Linked says whether a computer of another developer is connected to this one now.
type Linked struct {
	Fleet ledger.TID
	On    bool
}

// Exceeded says which limit a lane has reached; [lanes.Within] when it has not any more (rule L9).
type Exceeded struct {
	Fleet  ledger.TID
	Excess lanes.Excess
}

func (SignedIn) input() {}
func (Linked) input()   {}
func (Exceeded) input() {}

// link finds the lane to a fleet, which begins with the first word about it.
func (c *Core) link(peer ledger.TID) *link {
	l := c.links[peer]
	if l == nil {
		l = &link{peer: lanes.FoldVisible(peer, nil), heard: map[ledger.ID]bool{}}
		c.links[peer] = l
		c.foldLane(l)
		c.gather()
	}
	return l
}

// peers lists the fleets of all lanes in a fixed order.
func (c *Core) peers() []ledger.TID { return ordered(c.links) }

// gather remembers all fleets known here, this one first.
func (c *Core) gather() {
	c.rosters = lanes.Rosters{c.roster}
	for _, peer := range c.peers() {
		c.rosters = append(c.rosters, c.links[peer].peer)
	}
}

// opener is the fleet that a thread belongs to, as far as it is known here.
func (c *Core) opener(t *Conversation) *lanes.Roster {
	if o := t.State.Open; o != nil && o.Fleet != c.cfg.Fleet && c.links[o.Fleet] != nil {
		return &c.links[o.Fleet].peer
	}
	return &c.roster
}

// hearRoster takes the roster of this fleet, or what another one shows of its own. Every conversation is folded
// again: who belongs to whom has changed.
func (c *Core) hearRoster(h Heard) {
	if h.Ledger == c.cfg.Fleet {
		c.roster = c.memory.Fold(c.cfg.Fleet, h.Records)
		for _, b := range c.roster.Binds {
			c.link(b.Fleet)
		}
		for _, peer := range c.peers() {
			c.foldLane(c.links[peer])
		}
	} else {
		l := c.link(h.Ledger)
		l.peer = c.memory.FoldVisible(h.Ledger, h.Records)
		c.foldLane(l)
	}
	c.gather()
	for _, tid := range c.order() {
		if t := c.threads[tid]; len(t.records) > 0 {
			c.refold(t)
			t.dirty = true
		}
	}
}

// hearLane takes what was said in a lane's own ledger.
func (c *Core) hearLane(h Heard) {
	c.control[h.Ledger] = h.Records
	for _, peer := range c.peers() {
		l := c.links[peer]
		if l.lane.Ledger != h.Ledger {
			continue
		}
		for key := range c.flight {
			if strings.HasPrefix(key, laneKey(peer, "")) {
				delete(c.flight, key) // what was on its way is here
				c.succeeded(key)
			}
		}
		c.foldLane(l)
	}
}

func (c *Core) foldLane(l *link) {
	was := l.lane
	l.lane = lanes.FoldLane(c.roster, l.peer, c.control[ledger.LaneID(c.cfg.Fleet, l.peer.Fleet)])
	l.grant, _ = l.lane.Grant()
	for _, n := range l.lane.Notes {
		if !n.Ours && !l.heard[n.ID] {
			l.heard[n.ID] = true
			c.note(c.threads[n.Thread], "warn", laneName(l.peer.Fleet), "note", "says that "+causeText(n.Cause))
		}
	}
	if was.Ledger != (ledger.TID{}) && (was.Ours.On != l.lane.Ours.On || was.Theirs.On != l.lane.Theirs.On) {
		c.effect(Note{Level: "do", Who: laneName(l.peer.Fleet), Kind: "lane", Text: switchText(&l.lane)})
	}
}

func switchText(l *lanes.Lane) string {
	word := map[bool]string{true: "on", false: "off"}
	return "the lane is " + word[l.Ours.On] + " here and " + word[l.Theirs.On] + " at the other end"
}

func laneName(fleet ledger.TID) string { return ledger.LaneParty(fleet).String() }

// called is what a person here calls another developer, with the name of the lane.
func (c *Core) called(fleet ledger.TID) string {
	for _, b := range slices.Backward(c.roster.Binds) {
		if b.Fleet == fleet && b.Name != "" {
			return b.Name + " (" + laneName(fleet) + ")"
		}
	}
	return laneName(fleet)
}

// who is what people call an author: a computer by its name, another developer by their lane.
func (c *Core) who(d ledger.Device) string {
	if fleet, ok := c.rosters.Of(d); ok && fleet.Fleet != c.cfg.Fleet {
		return laneName(fleet.Fleet)
	}
	return c.roster.Name(d)
}

// laneKey names a record on its way into a lane's ledger.
func laneKey(peer ledger.TID, what string) string { return "lane " + peer.String() + " " + what }

// sayLane appends a record to a lane's ledger, unless it is on its way already.
func (c *Core) sayLane(peer ledger.TID, what string, content ledger.Body, now time.Time) {
	key := laneKey(peer, what)
	if c.flight[key] || now.Before(c.retry[key].until) {
		return
	}
	c.flight[key] = true
	c.effect(c.inLane(c.links[peer], content))
}

func (c *Core) inLane(l *link, content ledger.Body) Append {
	return Append{Ledger: l.lane.Ledger, Content: content, After: l.lane.After()}
}

// laneNotAppended lets what a lane was to be told be tried again later.
func (c *Core) laneNotAppended(in NotAppended, now time.Time) {
	for _, peer := range c.peers() {
		if c.links[peer].lane.Ledger != in.Ledger {
			continue
		}
		for key := range c.flight {
			if strings.HasPrefix(key, laneKey(peer, "")) {
				delete(c.flight, key)
				c.failed(key, now)
			}
		}
	}
}

// tendLanes asks, answers and tells what the lanes want, over mutual grants alone (rules L1 to L3).
func (c *Core) tendLanes(now time.Time) {
	_, main := c.acting(now)
	for _, peer := range c.peers() {
		l := c.links[peer]
		if !l.grant.Mutual() {
			continue
		}
		if q := l.lane.Question(); q != nil && c.teammates && main && l.linked {
			c.sayLane(peer, "who", q, now)
		}
		if a := l.lane.Answer(c.cfg.Device, c.account); a != nil && l.linked {
			c.sayLane(peer, "am", a, now)
		}
		c.tell(l, l.grant, now)
	}
}

// noteStep is how long each computer after the main one leaves a note to those before it.
const noteStep = 2 * time.Minute

// noteTurn is how long this computer waits before it tells: the main computer tells at once, the others one after
// another, so that nobody hears the same twice.
func (c *Core) noteTurn(now time.Time) time.Duration {
	if _, main := c.acting(now); main {
		return 0
	}
	return noteStep * time.Duration(slices.Index(c.roster.Devices(), c.cfg.Device)+1)
}

// notice keeps since when a thread wants its notices.
func (t *Conversation) notice(want []thread.Notice, now time.Time) {
	t.notices = want
	since := map[uint64]time.Time{}
	for _, n := range want {
		since[n.Cause] = now
		if at, had := t.noticed[n.Cause]; had {
			since[n.Cause] = at
		}
	}
	t.noticed = since
}

// nextNote is when the first notice falls to this computer.
func (c *Core) nextNote(now time.Time) (next time.Time) {
	if len(c.links) == 0 {
		return next
	}
	for _, tid := range c.order() {
		for _, n := range c.threads[tid].notices {
			if at := c.threads[tid].noticed[n.Cause].Add(c.noteTurn(now)); at.After(now) && (next.IsZero() || at.Before(next)) {
				next = at
			}
		}
	}
	return next
}

// tell sends the notices of the conversations that a developer takes part in, each once for its cause (P22,
// D-17).
func (c *Core) tell(l *link, g lanes.Grant, now time.Time) {
	for _, tid := range c.order() {
		t := c.threads[tid]
		if len(t.notices) == 0 || !g.Covers(t.State.Open.Repo) || !slices.Contains(t.State.Open.Parties, ledger.LaneParty(g.Peer())) {
			continue
		}
		for _, n := range t.notices {
			if !l.lane.Told(tid, n.Cause) && !now.Before(t.noticed[n.Cause].Add(c.noteTurn(now))) {
				c.sayLane(g.Peer(), fmt.Sprintf("note %s %d", tid, n.Cause), &ledger.Note{Thread: tid, Cause: n.Cause}, now)
			}
		}
	}
}

// names says who publishes as which account, by everybody's own word.
func (c *Core) accounts() lanes.Names {
	var all []lanes.Lane
	own := []lanes.Account{}
	if c.account.User != 0 {
		own = append(own, c.account)
	}
	for _, peer := range c.peers() {
		all = append(all, c.links[peer].lane)
		own = append(own, c.links[peer].lane.Said()...)
	}
	return lanes.NameAccounts(all, own)
}

// teammate is the developer whose account wrote a pull request, if conversations about it may be opened: the
// switch is on, and their lane is on at both ends for the repository, and connected (P12, P13).
func (c *Core) teammate(r *repo, author uint64) (ledger.TID, bool) {
	if !c.teammates {
		return ledger.TID{}, false
	}
	fleet, named := c.accounts().Fleet(r.Host, author)
	if !named || !c.links[fleet].linked {
		return ledger.TID{}, false
	}
	return fleet, c.links[fleet].grant.Covers(r.ID)
}

// authors lists the teammates' accounts whose pull requests a scan looks at too, ascending.
func (c *Core) authors(r *repo) (out []uint64) {
	for _, peer := range c.peers() {
		if a := c.links[peer].lane.Account; a != nil && a.Host == r.Host {
			if _, ok := c.teammate(r, a.User); ok {
				out = append(out, a.User)
			}
		}
	}
	slices.Sort(out)
	return out
}

// SetTeammates is the switch "Start conflicts for teammates' pull requests too", which a person sets (P12).
func (c *Core) SetTeammates(on bool, now time.Time) []Effect {
	if c.teammates != on {
		c.teammates = on
		c.effect(c.keepTeammates())
		for _, slug := range c.cfg.Slugs {
			c.repos[slug].scanWanted = c.repos[slug].scanWanted || on
		}
	}
	return c.settled(now)
}

func (c *Core) keepTeammates() Save {
	b, err := json.Marshal(c.teammates)
	if err != nil {
		panic("core: saving a switch: " + err.Error())
	}
	return Save{Key: teammatesKey, Value: b}
}

// Teammates reports whether teammates' pull requests start conversations too. It is off until a person sets it.
func (c *Core) Teammates() bool { return c.teammates }

// LaneState is what is known of one lane.
type LaneState struct {
	lanes.Lane
	Name   string
	Linked bool
	Excess lanes.Excess
	Named  bool // its account names it: teammates' pull requests of that account are theirs
}

// Lanes lists the lanes in a fixed order.
func (c *Core) Lanes() []LaneState {
	var out []LaneState
	names := c.accounts()
	for _, peer := range c.peers() {
		l := c.links[peer]
		s := LaneState{Lane: l.lane, Name: c.called(peer), Linked: l.linked, Excess: l.excess}
		if a := l.lane.Account; a != nil {
			fleet, ok := names.Fleet(a.Host, a.User)
			s.Named = ok && fleet == peer
		}
		out = append(out, s)
	}
	return out
}

// Grants are the leaves to send to other developers, as they stand now, in a fixed order.
func (c *Core) Grants() []lanes.Grant {
	var out []lanes.Grant
	for _, peer := range c.peers() {
		if g := c.links[peer].grant; g.Given() {
			out = append(out, g)
		}
	}
	return out
}

// Grant is the leave to send to one other developer as it stands now. Without one it grants nothing.
func (c *Core) Grant(peer ledger.TID) lanes.Grant {
	if l := c.links[peer]; l != nil {
		return l.grant
	}
	return lanes.Grant{}
}

// Rosters are all fleets known here, this one first.
func (c *Core) Rosters() lanes.Rosters { return c.rosters }

// laneCards are about other developers: accounts that name nobody, limits that a lane reached, and what their
// main computer wants a person here to know.
func (c *Core) laneCards() []Card {
	var out []Card
	names := c.accounts()
	for _, s := range names.Shared {
		out = append(out, Card{Key: fmt.Sprintf("C16/%s/%d", s.Account.Host, s.Account.User), Card: thread.Card{
			Code: "C16", Title: "Two developers answered with one account",
			What: fmt.Sprintf("%s is the account of %s", s.Account.Login, c.joined(s.Fleets)),
			Why:  "it counts for neither of them, and their pull requests are left alone: ask them which of them it is",
		}})
	}
	for _, peer := range names.Ours {
		out = append(out, Card{Key: "C16/" + laneName(peer), Card: thread.Card{
			Code: "C16", Title: "Another developer answered with an account of yours",
			What: c.called(peer) + " says that it publishes as " + c.links[peer].lane.Account.Login,
			Why:  "the answer is ignored, and their pull requests are left alone: ask them to sign gh in as themselves",
		}})
	}
	for _, peer := range c.peers() {
		if l := c.links[peer]; l.excess != lanes.Within {
			out = append(out, Card{Key: "C19/" + laneName(peer), Card: thread.Card{
				Code: "C19", Title: "A lane brings more than it may", What: c.called(peer) + ": " + l.excess.String(),
				Why: "nothing more is taken from it until there is room; what is here stays. Ask the developer, or switch the lane off (parley lane off)",
			}})
		}
		out = append(out, c.messages(c.links[peer])...)
	}
	return out
}

func (c *Core) joined(fleets []ledger.TID) string {
	var out []string
	for _, f := range fleets {
		out = append(out, c.called(f))
	}
	return strings.Join(out, " and ")
}

// messages are what another developer's main computer told about conversations that this fleet takes part in:
// one for each thread and cause, until the final (P22).
func (c *Core) messages(l *link) (out []Card) {
	for _, n := range l.lane.Notes {
		t := c.threads[n.Thread]
		if n.Ours || t == nil || t.State.Open == nil || t.State.Open.Fleet != l.peer.Fleet || t.State.Phase >= thread.Final {
			continue
		}
		key := fmt.Sprintf("C20/%s/%d", n.Thread.Short(), n.Cause)
		if !slices.ContainsFunc(out, func(have Card) bool { return have.Key == key }) {
			out = append(out, Card{Key: key, Thread: n.Thread, Ref: t.State.Ref(), Card: thread.Card{
				Code: "C20", Title: c.called(l.peer.Fleet) + " says that " + t.State.Ref() + " needs a person",
				What: causeText(n.Cause), Why: "settle it with them; nothing here waits for a press",
			}})
		}
	}
	return out
}

func causeText(cause uint64) string {
	switch cause {
	case thread.CauseTurns:
		return "the agent turns of the conflict are spent"
	case thread.CauseDay:
		return "the agent turns of the day are spent"
	}
	return "the final is overdue"
}
