package thread

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/parley-mesh/parley/lanes"
	"github.com/parley-mesh/parley/ledger"
)

// world is the computers of one developer, and of a second one behind a lane, the records they have said,
// and a GitHub that is a few variables. It lets the reconcilers of all computers run against each other
// without any I/O.
type world struct {
	t       testing.TB
	now     time.Time
	fleets  []*fleet
	fleet   ledger.TID // of the developer who opens
	main    *computer
	people  []*computer
	records []*ledger.Record
	open    *ledger.Open
	github  struct {
		head, tip, merged ledger.OID
		clean, isMerged   bool
		closed, gone      bool
		base, renamed     string
		builds            int
	}
}

// fleet is one developer's roster and the records that make it.
type fleet struct {
	id      ledger.TID
	records []*ledger.Record
	roster  lanes.Roster
}

// computer is one of them, with what its world shows it.
type computer struct {
	name    string
	fleet   *fleet
	key     ed25519.PrivateKey
	dev     ledger.Device
	inc     ledger.Incarnation
	heads   map[ledger.TID]ledger.Head
	claim   ledger.ID
	away    bool
	author  bool
	account Verdict
	onBase  bool
	noDesk  bool
	facts   Facts
	files   []File
	last    Effects
	asked   []Action
	seen    time.Time   // when the others last heard of it
	assign  ledger.ID   // the assignment that facts.Assigned counts for
	round   uint64      // the round that facts.Turns and the presses count for
	desk    func(*Turn) // lets a test decide how a turn ends
	twisted func(*Look) // lets a test show this computer something else
}

func blob(name string) ledger.OID {
	sum := sha256.Sum256([]byte(name))
	return ledger.OID(sum[:20])
}

// newWorld has a main computer (0), the author's (1) and a third (2), and one open of two files.
func newWorld(t testing.TB) *world { return newWorldOf(t, 3, 0) }

// newWorldOf has own computers as newWorld, and behind a lane as many others, the first of which is
// responsible where there is one and the pull request is its developer's.
func newWorldOf(t testing.TB, own, behindLane int) *world {
	w := &world{t: t, now: time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)}
	w.addFleet("one", 0, own)
	w.fleet, w.main = w.fleets[0].id, w.people[0]
	w.people[1].author, w.people[1].onBase = true, false
	if behindLane > 0 {
		w.addFleet("lane", own, behindLane)
	}
	w.claims(w.main)
	w.begin()
	return w
}

var numbers = []string{"one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"}

func (w *world) addFleet(kind string, from, n int) {
	w.t.Helper()
	f := &fleet{}
	w.fleets = append(w.fleets, f)
	for i := from; i < from+n; i++ {
		seed := sha256.Sum256([]byte{byte(i)})
		key := ed25519.NewKeyFromSeed(seed[:])
		name := numbers[(i-from)%len(numbers)]
		if kind == "lane" {
			name = "lane " + name
		}
		w.people = append(w.people, &computer{
			name: name, fleet: f, key: key, dev: ledger.Device(key.Public().(ed25519.PublicKey)), account: Yes,
			inc: ledger.Incarnation{byte(i + 1)}, heads: map[ledger.TID]ledger.Head{}, onBase: true, seen: w.now,
		})
	}
	founder := w.people[from]
	f.id = ledger.FleetID(founder.dev, [16]byte{1})
	w.roster(founder, nil, &ledger.Genesis{Nonce: [16]byte{1}})
	for _, c := range w.people[from+1:] {
		add := &ledger.Add{Device: c.dev}
		copy(add.Accept[:], ed25519.Sign(c.key, ledger.JoinStatement(f.id, add.Invite, founder.dev)))
		w.roster(founder, nil, add)
	}
}

// roster writes a record of a fleet's membership.
func (w *world) roster(c *computer, re []ledger.ID, content ledger.Body) *ledger.Record {
	w.t.Helper()
	f := c.fleet
	r := w.seal(c, ledger.Header{Ledger: f.id, Deps: f.roster.Heads, Re: re}, content)
	f.records = append(f.records, r)
	f.roster = lanes.Fold(f.id, f.records)
	return r
}

// claims takes the main-computer role over every claim, as a person at that computer does.
func (w *world) claims(c *computer) {
	w.t.Helper()
	c.claim = w.roster(c, nil, c.fleet.roster.Claiming()).ID
	w.main = c
}

// removes takes a computer out of the fleet, with everything it has said here still counting.
func (w *world) removes(by, gone *computer) {
	w.t.Helper()
	cut := ledger.Cut{Inc: gone.inc, Next: gone.heads[w.open.Key().Thread()].Next}
	tid := w.open.Key().Thread()
	copy(cut.Ledger[:], tid[:16])
	w.roster(by, nil, &ledger.Revoke{Device: gone.dev, Reason: 1, Cut: []ledger.Cut{cut}})
	gone.away = true
}

func (w *world) begin() {
	w.github.head, w.github.tip, w.github.base = blob("head"), blob("tip"), "master"
	var parties []ledger.Party
	for _, d := range w.fleets[0].roster.Devices() {
		parties = append(parties, ledger.DeviceParty(d))
	}
	if len(w.fleets) > 1 {
		parties = append(parties, ledger.LaneParty(w.fleets[1].id))
	}
	slices.SortFunc(parties, func(a, b ledger.Party) int { return bytes.Compare(a[:], b[:]) })
	w.open = &ledger.Open{
		Host: "github.com", Repo: 7, Slug: "acme/shop", Pull: 42, Base: "master", Algorithm: ledger.SHA1,
		Head: w.github.head, BaseHead: w.github.tip, MergeBase: blob("fork"), Parties: parties, Author: 1, Fleet: w.fleet,
		Files: []ledger.File{
			{Path: "a.go", Base: blob("a0"), Master: blob("a master"), Pull: blob("a pull"), Mode: ledger.ModePlain},
			{Path: "b.go", Base: blob("b0"), Master: blob("b master"), Pull: blob("b pull"), Mode: ledger.ModePlain},
		},
	}
	auth := uint64(w.party(w.people[1]))
	w.open.Auth, w.open.Resp = &auth, auth
	if len(w.fleets) > 1 {
		w.open.Auth, w.open.Resp = nil, uint64(w.party(w.people[len(w.people)-1]))
		w.people[1].author, w.people[1].onBase = false, true
	}
	w.say(w.people[0], ledger.Header{Ledger: w.open.Key().Thread(), Claim: w.main.claim}, w.open)
	for _, c := range w.people {
		for _, f := range w.open.Files {
			c.files = append(c.files, File{Class: ledger.HasMaster, Here: f.Master, Tip: f.Master, Replaceable: c.onBase})
		}
		c.facts.Opened, c.facts.Assigned = w.now, w.now
		c.assign = w.records[0].ID
	}
}

func (w *world) party(c *computer) int {
	for i, p := range w.open.Parties {
		if p == ledger.DeviceParty(c.dev) || p == ledger.LaneParty(c.fleet.id) {
			return i
		}
	}
	return -1
}

func (w *world) names() (out []string) {
	for _, p := range w.open.Parties {
		name := "the lane"
		for _, c := range w.people {
			if p == ledger.DeviceParty(c.dev) {
				name = c.name
			}
		}
		out = append(out, name)
	}
	return out
}

func (w *world) seal(c *computer, h ledger.Header, content ledger.Body) *ledger.Record {
	w.t.Helper()
	head := c.heads[h.Ledger]
	head.Chain = ledger.Chain{Device: c.dev, Inc: c.inc}
	h.Inc, h.Seq, h.Prev, h.At, h.Lam = c.inc, head.Next, head.ID, uint64(w.now.UnixMilli()), head.Lam
	for _, r := range w.records {
		h.Lam = max(h.Lam, r.Lam)
	}
	h.Lam++
	r, err := ledger.Seal(c.key, h, content)
	if err != nil {
		w.t.Fatal(err)
	}
	c.heads[h.Ledger] = head.After(r)
	return r
}

func (w *world) say(c *computer, h ledger.Header, content ledger.Body) *ledger.Record {
	w.t.Helper()
	r := w.seal(c, h, content)
	w.records = append(w.records, r)
	return r
}

func (w *world) rosters() (out lanes.Rosters) {
	for _, f := range w.fleets {
		out = append(out, f.roster)
	}
	return out
}

func (w *world) state() State { return Fold(w.records, w.rosters()) }

// look is what a computer sees of GitHub and its checkout.
func (w *world) look(c *computer, s *State) Look {
	l := Look{
		At: w.now, For: s.Head(), Tip: w.github.tip, Open: Yes, Author: c.author, Account: c.account, OnBase: c.onBase, Files: c.files,
		Base: w.github.renamed, HeadBase: w.github.tip,
		Pull: Pull{
			Known: true, Gone: w.github.gone, Open: !w.github.isMerged && !w.github.closed, Merged: w.github.isMerged,
			MergeCommit: w.github.merged, Head: w.github.head, HeadRef: "refunds", Base: w.github.base,
		},
	}
	l.HeadClean = No
	if w.github.clean {
		l.HeadClean = Yes
	}
	for _, f := range w.open.Files {
		l.HeadFiles = append(l.HeadFiles, blob(string(f.Path)+" final"))
	}
	if s.Ready != nil {
		l.ForReady = s.Ready.ID
		l.Ready = No
		if s.Ready.Head == w.github.head && w.github.clean && s.Ready.BaseHead == w.github.tip {
			l.Ready = Yes
		}
	}
	if w.github.isMerged {
		l.Published = l.HeadFiles
		if s.Final != nil {
			l.Final = Yes
		}
	}
	if c.twisted != nil {
		c.twisted(&l)
	}
	return l
}

// observe brings a computer's facts up to date, as its core does.
func (w *world) observe(c *computer, s *State) Self {
	if c.assign != s.Assign {
		c.assign, c.facts.Assigned, c.facts.FinalFired = s.Assign, w.now, false
	}
	if c.round != s.Round {
		c.round, c.facts.Turns = s.Round, 0
		c.facts.Presses.Another, c.facts.Presses.Assign = false, nil
	}
	c.facts.Look = w.look(c, s)
	c.facts.RespSeen, c.facts.MainSeen, c.facts.Seen = time.Time{}, time.Time{}, make([]time.Time, len(s.Open.Parties))
	for _, other := range w.people {
		if i := w.party(other); i >= 0 && other.seen.After(c.facts.Seen[i]) {
			c.facts.Seen[i] = other.seen
		}
	}
	c.facts.RespSeen = c.facts.Seen[s.Responsible]
	if w.main != nil {
		c.facts.MainSeen = w.main.seen
	}
	role, _ := w.fleets[0].roster.Main()
	return Self{
		Device: c.dev, Fleet: c.fleet.id, Party: w.party(c), Main: c == w.main && role == lanes.RoleMain, Claim: c.claim,
		Role: role, Desk: !c.noDesk, Names: w.names(),
	}
}

// step lets one computer reconcile once and does what it asks for. It reports whether anything happened.
func (w *world) step(c *computer) bool {
	w.t.Helper()
	s := w.state()
	self := w.observe(c, &s)
	c.last = Step(&s, self, c.facts, Contract(), w.now)
	if d := c.last.Emit; d != nil {
		w.say(c, ledger.Header{Ledger: w.open.Key().Thread(), Open: s.Root.ID, Spine: d.Spine, Claim: d.Claim, Re: d.Re}, d.Content)
		if !d.Content.Kind().Spine() {
			c.facts.Stated = w.now
		}
		return true
	}
	busy := false
	for _, a := range c.last.Do {
		c.asked = append(c.asked, a)
		busy = w.do(c, a) || busy
	}
	return busy
}

// do carries an action out, as if it succeeded at once. It reports whether anything changed.
func (w *world) do(c *computer, a Action) bool {
	switch a := a.(type) {
	case Replace:
		c.files[a.File].Here = a.Want
		c.facts.Took = append(c.facts.Took, a.File)
	case Wake:
		c.facts.Turns++
		w.github.builds++
		turn := &Turn{For: a.For, Round: c.round, Head: a.Head, Tip: a.Tip, Commit: blob(fmt.Sprint("result ", w.github.builds)), Tests: ledger.TestsPassed}
		if c.desk != nil {
			c.desk(turn)
		}
		if a.Decide {
			c.facts.Decide = turn
			c.facts.Answered = append(c.facts.Answered, a.For)
		} else {
			c.facts.Merge = turn
		}
	case Write:
		w.write(c, a.Binds)
	case Tell:
		return w.main != nil && !w.main.away && w.press(w.main, a.Binds)
	}
	return true
}

// write is GitHub, which does what it is asked.
func (w *world) write(c *computer, b Binds) {
	act := &Approval{State: Done, Binds: b}
	if b.Action == "push" {
		w.github.head, w.github.clean = b.New, true
		c.facts.PushAct = act
		return
	}
	w.github.isMerged, w.github.merged, w.github.tip = true, blob("merge"), blob("merge")
	c.facts.MergeAct = act
	for _, other := range w.people {
		for i := range other.files {
			other.files[i].Tip = blob(string(w.open.Files[i].Path) + " final")
		}
	}
}

// press is a person at a computer, or the word of another computer that a person pressed there. It reports
// whether that is news.
func (w *world) press(c *computer, b Binds) bool {
	before := c.facts.Presses
	switch b.Action {
	case "round":
		c.facts.Presses.Another = true
	case "close":
		c.facts.Presses.Close = true
	case "assign":
		c.facts.Presses.Assign = &b.Party
	case "fork":
		c.facts.Presses.Fork = b.Devices
	}
	now := c.facts.Presses
	return before.Another != now.Another || before.Close != now.Close || before.Fork != now.Fork || before.Assign == nil && now.Assign != nil
}
