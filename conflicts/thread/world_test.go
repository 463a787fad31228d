package thread

import (
	"crypto/ed25519"
	"crypto/sha256"
	"testing"
	"time"

	"github.com/parley-mesh/parley/lanes"
	"github.com/parley-mesh/parley/ledger"
)

// world is three computers of one developer, the records they have said, and a GitHub that is a few
// variables. It lets the reconcilers of all computers run against each other without any I/O.
type world struct {
	t       testing.TB
	now     time.Time
	roster  lanes.Roster
	fleet   ledger.TID
	claim   ledger.ID
	people  []*computer
	records []*ledger.Record
	open    *ledger.Open
	github  struct {
		head, tip, merged ledger.OID
		clean, isMerged   bool
		closed, gone      bool
		base              string
	}
}

// computer is one of them, with what its world shows it.
type computer struct {
	key     ed25519.PrivateKey
	dev     ledger.Device
	inc     ledger.Incarnation
	heads   map[ledger.TID]ledger.Head
	away    bool
	author  bool
	onBase  bool
	facts   Facts
	files   []File
	last    Effects
	asked   []Action
	assign  ledger.ID   // the assignment that facts.Assigned counts for
	twisted func(*Look) // lets a test show this computer something else
}

func blob(name string) ledger.OID {
	sum := sha256.Sum256([]byte(name))
	return ledger.OID(sum[:20])
}

// newWorld has a main computer (0), the author's (1) and a third (2), and one open of two files.
func newWorld(t testing.TB) *world {
	w := &world{t: t, now: time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)}
	for i := range 3 {
		seed := sha256.Sum256([]byte{byte(i)})
		key := ed25519.NewKeyFromSeed(seed[:])
		w.people = append(w.people, &computer{
			key: key, dev: ledger.Device(key.Public().(ed25519.PublicKey)),
			inc: ledger.Incarnation{byte(i + 1)}, heads: map[ledger.TID]ledger.Head{}, onBase: true,
		})
	}
	w.people[1].author, w.people[1].onBase = true, false
	w.fleet = ledger.FleetID(w.people[0].dev, [16]byte{1})
	roster := []*ledger.Record{w.seal(w.people[0], ledger.Header{Ledger: w.fleet}, &ledger.Genesis{Nonce: [16]byte{1}})}
	for _, c := range w.people[1:] {
		add := &ledger.Add{Device: c.dev}
		copy(add.Accept[:], ed25519.Sign(c.key, ledger.JoinStatement(w.fleet, add.Invite, w.people[0].dev)))
		roster = append(roster, w.seal(w.people[0], ledger.Header{Ledger: w.fleet, Deps: []ledger.ID{roster[0].ID}}, add))
	}
	claim := w.seal(w.people[0], ledger.Header{Ledger: w.fleet, Deps: []ledger.ID{roster[0].ID}}, &ledger.MainClaim{Term: 1})
	w.claim = claim.ID
	w.roster = lanes.Fold(w.fleet, append(roster, claim))
	w.begin()
	return w
}

func (w *world) begin() {
	w.github.head, w.github.tip, w.github.base = blob("head"), blob("tip"), "master"
	var parties []ledger.Party
	for _, d := range w.roster.Devices() {
		parties = append(parties, ledger.DeviceParty(d))
	}
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
	w.say(w.people[0], ledger.Header{Ledger: w.open.Key().Thread(), Claim: w.claim}, w.open)
	for _, c := range w.people {
		for _, f := range w.open.Files {
			c.files = append(c.files, File{Class: ledger.HasMaster, Here: f.Master, Tip: f.Master, Replaceable: c.onBase})
		}
		c.facts.Opened, c.facts.Assigned, c.facts.RespSeen = w.now, w.now, w.now
		c.assign = w.records[0].ID
	}
}

func (w *world) party(c *computer) int {
	for i, p := range w.open.Parties {
		if p == ledger.DeviceParty(c.dev) {
			return i
		}
	}
	return -1
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

func (w *world) state() State { return Fold(w.records, lanes.Rosters{w.roster}) }

// look is what a computer sees of GitHub and its checkout.
func (w *world) look(c *computer, s *State) Look {
	l := Look{
		At: w.now, For: s.Head(), Tip: w.github.tip, Open: Yes, Author: c.author, OnBase: c.onBase, Files: c.files,
		Pull: Pull{
			Known: true, Gone: w.github.gone, Open: !w.github.isMerged && !w.github.closed, Merged: w.github.isMerged,
			MergeCommit: w.github.merged, Head: w.github.head, HeadRef: "refunds", Base: w.github.base,
		},
	}
	l.HeadClean = No
	if w.github.clean {
		l.HeadClean = Yes
	}
	l.HeadBase = w.github.tip
	for _, f := range w.open.Files {
		l.HeadFiles = append(l.HeadFiles, blob(string(f.Path)+" final"))
	}
	if s.Ready != nil {
		l.ForReady = s.Ready.ID
		l.Ready = No
		if s.Ready.Head == w.github.head && w.github.clean {
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

// step lets one computer reconcile once and does what it asks for. It reports whether anything happened.
func (w *world) step(c *computer) bool {
	s := w.state()
	if c.assign != s.Assign {
		c.assign, c.facts.Assigned, c.facts.FinalFired = s.Assign, w.now, false
	}
	c.facts.Look = w.look(c, &s)
	names := []string{"one", "two", "three"}
	self := Self{Device: c.dev, Fleet: w.fleet, Party: w.party(c), Main: c == w.people[0], Claim: w.claim, Desk: true, Names: names, Role: lanes.RoleMain}
	c.last = Step(&s, self, c.facts, Contract(), w.now)
	if d := c.last.Emit; d != nil {
		w.say(c, ledger.Header{Ledger: w.open.Key().Thread(), Open: s.Root.ID, Spine: d.Spine, Claim: d.Claim, Re: d.Re}, d.Content)
		if !d.Content.Kind().Spine() {
			c.facts.Stated = w.now
		}
		return true
	}
	for _, a := range c.last.Do {
		c.asked = append(c.asked, a)
		w.do(c, a)
	}
	return len(c.last.Do) > 0
}

// do carries an action out, as if it succeeded at once.
func (w *world) do(c *computer, a Action) {
	switch a := a.(type) {
	case Replace:
		c.files[a.File].Here = a.Want
		c.facts.Took = append(c.facts.Took, a.File)
	case Wake:
		c.facts.Turns++
		turn := &Turn{For: a.For, Head: a.Head, Tip: a.Tip}
		if a.Decide {
			c.facts.Decide = turn
			return
		}
		turn.Commit, turn.Tests = blob("result"), ledger.TestsPassed
		c.facts.Merge = turn
	case Write:
		act := &Approval{State: Done, Binds: a.Binds}
		if a.Binds.Action == "push" {
			w.github.head, w.github.clean = a.Binds.New, true
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
}

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

func (w *world) pass(d time.Duration) {
	w.now = w.now.Add(d)
	for _, c := range w.people {
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
