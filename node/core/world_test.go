package core

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/parley-mesh/parley/conflicts/thread"
	"github.com/parley-mesh/parley/lanes"
	"github.com/parley-mesh/parley/ledger"
)

// world is three computers with real cores and ledgers, a person at each who approves what is asked, and a
// GitHub, a git and a desk that are a few variables. It lets a computer die at any effect and start again
// with what was saved.
type world struct {
	t      *testing.T
	now    time.Time
	people []*computer
	fleet  ledger.TID
	lanes  []ledger.TID // ledgers of lanes
	pick   []uint64     // what a decision picks
	wrote  uint64       // whose account the pull request is
	github struct {
		head, tip, merge ledger.OID
		clean, merged    bool
		writes           []string
	}
	effects  int // performed so far, over all computers
	dieAt    int // the computer that performs this effect dies
	halfway  bool
	deaths   int
	log      []string
	replaced int // replacements that were asked for
}

// computer is one of them. What is in values and ledgers survives its death; the core does not.
type computer struct {
	name    string
	key     ed25519.PrivateKey
	inc     ledger.Incarnation
	lives   byte
	core    *Core
	values  map[string][]byte
	ledgers map[ledger.TID][]*ledger.Record
	heads   map[ledger.TID]ledger.Head
	files   map[string]ledger.OID // path to the working file's blob
	own     string                // path with unpublished work
	author  bool
	fleet   ledger.TID
	user    uint64 // the account that its gh is signed in as
	inputs  []Input
}

func (c *computer) device() ledger.Device {
	return ledger.Device(c.key.Public().(ed25519.PublicKey))
}

func blob(name string) ledger.OID {
	sum := sha256.Sum256([]byte(name))
	return ledger.OID(sum[:20])
}

var paths = []string{"a.go", "b.go"}

const slug = "acme/shop"

func newWorld(t *testing.T) *world {
	w := &world{t: t, now: time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC), dieAt: -1, wrote: 1}
	w.github.head, w.github.tip = blob("head"), blob("tip")
	for i, name := range []string{"desktop", "laptop", "tablet"} {
		seed := sha256.Sum256([]byte{byte(i)})
		w.people = append(w.people, &computer{
			name: name, key: ed25519.NewKeyFromSeed(seed[:]), inc: ledger.Incarnation{byte(i)},
			values: map[string][]byte{}, ledgers: map[ledger.TID][]*ledger.Record{}, heads: map[ledger.TID]ledger.Head{},
			files: map[string]ledger.OID{"a.go": blob("a.go master"), "b.go": blob("b.go master")}, author: i == 1, user: 1,
		})
	}
	w.people[2].own, w.people[2].files["a.go"] = "a.go", blob("mine")
	w.found()
	for _, c := range w.people {
		w.boot(c)
	}
	return w
}

// found makes the fleet, with the first computer as the main one.
func (w *world) found() {
	main := w.people[0]
	w.fleet = ledger.FleetID(main.device(), [16]byte{1})
	for _, c := range w.people {
		c.fleet = w.fleet
	}
	w.write(main, Append{Ledger: w.fleet, Content: &ledger.Genesis{Nonce: [16]byte{1}}})
	for _, c := range w.people[1:] {
		add := &ledger.Add{Device: c.device()}
		copy(add.Accept[:], ed25519.Sign(c.key, ledger.JoinStatement(w.fleet, add.Invite, main.device())))
		w.write(main, Append{Ledger: w.fleet, Content: add})
	}
	for _, c := range w.people {
		w.write(main, Append{Ledger: w.fleet, Content: &ledger.Name{Device: c.device(), Name: c.name}})
	}
	w.write(main, Append{Ledger: w.fleet, Content: &ledger.MainClaim{Term: 1}})
}

// boot starts a computer's core with what was saved, under a new incarnation.
func (w *world) boot(c *computer) {
	c.lives++
	c.inc[7] = c.lives
	c.heads = map[ledger.TID]ledger.Head{}
	c.inputs = nil
	c.core = New(Config{Device: c.device(), Fleet: c.fleet, Slugs: []string{slug}, Desk: true, Timers: thread.Contract(), Every: Ordinary()})
	var heard []Heard
	for tid, records := range c.ledgers {
		heard = append(heard, w.heard(tid, records))
	}
	slices.SortFunc(heard, func(a, b Heard) int { return bytes.Compare(a.Ledger[:], b.Ledger[:]) })
	c.core.Restore(c.values, heard, w.now)
	w.give(c, Repository{Slug: slug, Host: "github.com", ID: 7, Base: "master"})
	w.give(c, SignedIn{lanes.Account{Host: "github.com", User: c.user, Login: "user"}})
	for _, other := range w.people {
		if other != c && other.fleet == c.fleet {
			w.give(c, Peer{Device: other.device(), Synced: true})
		}
	}
}

func (w *world) heard(tid ledger.TID, records []*ledger.Record) Heard {
	f := ledger.Conversation
	switch {
	case slices.ContainsFunc(w.people, func(c *computer) bool { return c.fleet == tid }):
		f = ledger.Roster
	case slices.Contains(w.lanes, tid):
		f = ledger.Lane
	}
	return Heard{Ledger: tid, Family: f, Records: slices.Clone(records)}
}

func (w *world) give(c *computer, in Input) { c.inputs = append(c.inputs, in) }

// write seals a record, stores it at its author's, and brings it to the others.
func (w *world) write(c *computer, a Append) {
	w.t.Helper()
	head := c.heads[a.Ledger]
	h := ledger.Header{
		Ledger: a.Ledger, Inc: c.inc, Seq: head.Next, Prev: head.ID, Spine: a.Spine, Open: a.Open, Re: a.Re,
		Claim: a.Claim, Deps: a.Deps, Turns: a.Turns, At: uint64(w.now.UnixMilli()),
	}
	for _, r := range c.ledgers[a.Ledger] {
		if r.Device == c.device() || r.ID == a.Spine || r.ID == a.Open || slices.Contains(a.Re, r.ID) || slices.Contains(a.After, r.ID) {
			h.Lam = max(h.Lam, r.Lam)
		}
	}
	h.Lam++
	r, err := ledger.Seal(c.key, h, a.Content)
	if err != nil {
		w.t.Fatal(err)
	}
	c.heads[a.Ledger] = head.After(r)
	w.log = append(w.log, fmt.Sprintf("%s says %s", c.name, r.Kind))
	for _, other := range w.people {
		if other.fleet != c.fleet {
			continue // what crosses a lane crosses in [teams.cross]
		}
		other.ledgers[a.Ledger] = append(other.ledgers[a.Ledger], r)
		if other.core != nil {
			w.give(other, w.heard(a.Ledger, other.ledgers[a.Ledger]))
		}
	}
}

// run lets the computers work until nothing is left to do, then lets time pass, until the story is over.
func (w *world) run() {
	w.t.Helper()
	for range 400 {
		for busy := true; busy; {
			busy = false
			for _, c := range w.people {
				busy = w.work(c) || busy
			}
		}
		if w.over() {
			return
		}
		w.now = w.now.Add(30 * time.Second)
		for _, c := range w.people {
			w.give(c, Tick{})
		}
	}
	w.t.Fatalf("the story never ends; deaths %d\n%v", w.deaths, w.log)
}

func (w *world) over() bool {
	for _, c := range w.people {
		all := c.core.Conversations()
		if len(all) != 1 || all[0].State.Phase != thread.Closed {
			return false
		}
	}
	return true
}

// work takes one input of a computer and performs what the core asks for. It reports whether there was any.
func (w *world) work(c *computer) bool {
	if len(c.inputs) == 0 {
		return w.press(c)
	}
	in := c.inputs[0]
	c.inputs = c.inputs[1:]
	if h, ok := in.(Heard); ok {
		in = w.heard(h.Ledger, c.ledgers[h.Ledger]) // the shell reads what the store holds now
	}
	w.perform(c, c.core.Handle(in, w.now))
	return true
}

// press is the person, who approves what is asked.
func (w *world) press(c *computer) bool {
	for _, card := range c.core.Cards() {
		if card.Binds == nil {
			continue
		}
		effects, err := c.core.Approve(card.Key, *card.Binds, "test", w.now)
		if err != nil {
			continue // it changed since it was shown
		}
		w.perform(c, effects)
		return true
	}
	return false
}

// perform does effects in order. At the chosen one the computer dies: before it, or after it was done and
// before anybody learnt of it.
func (w *world) perform(c *computer, effects []Effect) {
	for _, e := range effects {
		if _, note := e.(Note); note {
			continue
		}
		die := w.effects == w.dieAt
		w.effects++
		if die && !w.halfway {
			w.die(c)
			return
		}
		w.one(c, e)
		if die {
			w.die(c)
			return
		}
	}
}

func (w *world) die(c *computer) {
	w.deaths++
	w.log = append(w.log, c.name+" dies")
	w.boot(c)
}

func (w *world) one(c *computer, e Effect) {
	switch e := e.(type) {
	case Append:
		w.write(c, e)
		own := len(c.inputs) - 1 // an own record is folded before anything else is heard
		c.inputs = append([]Input{c.inputs[own]}, c.inputs[:own]...)
	case Save:
		if e.Value == nil {
			delete(c.values, e.Key)
		} else {
			c.values[e.Key] = e.Value
		}
	case Look:
		w.give(c, Looked{Thread: e.Thread, Look: w.look(c, e.State)})
	case Do:
		w.do(c, e)
	case Scan:
		w.scan(c, e)
	case SyncMaster:
		w.give(c, MasterSynced{Slug: slug, Tip: w.github.tip, To: w.github.tip})
	}
}

func (w *world) scan(c *computer, e Scan) {
	if !w.github.merged && !slices.Contains(e.Running, 42) && (w.wrote == c.user || slices.Contains(e.Teammates, w.wrote)) {
		trial := &Trial{
			Repo: Repository{Slug: slug, Host: "github.com", ID: 7, Base: "master"}, Pull: 42, Head: w.github.head, Tip: w.github.tip,
			MergeBase: blob("fork"), Author: w.wrote, Teammate: w.wrote != c.user, Verdict: VerdictConversation,
		}
		if !trial.Teammate {
			trial.Made = []ledger.Device{w.people[1].device()}
		}
		for _, p := range paths {
			trial.Files = append(trial.Files, ledger.File{
				Path: ledger.Path(p), Base: blob(p + " base"), Master: blob(p + " master"),
				Pull: blob(p + " pull"), Mode: ledger.ModePlain,
			})
		}
		w.give(c, trial)
	}
	w.give(c, Scanned{Slug: slug, Open: []uint64{42}})
}

func (w *world) look(c *computer, s *thread.State) thread.Look {
	g := &w.github
	l := thread.Look{
		At: w.now, For: s.Head(), Tip: g.tip, Open: thread.Yes, Author: c.author, OnBase: !c.author, HeadBase: g.tip, HeadClean: thread.No,
		Pull: thread.Pull{Known: true, Open: !g.merged, Merged: g.merged, MergeCommit: g.merge, Head: g.head, HeadRef: "refunds", Base: "master"},
	}
	if l.Account = thread.No; c.user == s.Open.Author {
		l.Account = thread.Yes
	}
	if g.clean {
		l.HeadClean = thread.Yes
	}
	for _, p := range paths {
		f := thread.File{Class: ledger.HasMaster, Here: c.files[p], Tip: blob(p + " master"), Replaceable: !c.author && p != c.own}
		if g.merged {
			f.Tip = blob(p + " final")
		}
		if p == c.own {
			f.Class, f.Lines = 0, 1
		}
		l.Files = append(l.Files, f)
		l.HeadFiles = append(l.HeadFiles, blob(p+" final"))
	}
	if s.Ready != nil {
		l.ForReady, l.Ready = s.Ready.ID, thread.No
		if s.Ready.Head == g.head && g.clean {
			l.Ready = thread.Yes
		}
	}
	if g.merged {
		l.Published, l.Final = l.HeadFiles, thread.Yes
	}
	return l
}

func (w *world) do(c *computer, e Do) {
	switch a := e.Action.(type) {
	case thread.Replace:
		w.replaced++
		p := string(e.State.Open.Files[a.File].Path)
		if p == c.own {
			w.t.Fatalf("%s replaces unpublished work", c.name)
		}
		took := c.files[p] != a.Want
		c.files[p] = a.Want
		w.give(c, Replaced{Thread: e.Thread, File: a.File, Took: took})
	case thread.Wake:
		turn := thread.Turn{For: a.For, Round: e.State.Round, Head: a.Head, Tip: a.Tip}
		if turn.Pick = w.pick; !a.Decide {
			turn.Commit, turn.Tests = blob("result"), ledger.TestsPassed
		}
		w.give(c, Turned{Thread: e.Thread, Decide: a.Decide, Turn: turn})
	case thread.Tell:
		w.give(c, w.relay(c, e, a.Binds))
	case thread.Write:
		w.give(c, Written{Thread: e.Thread, Binds: a.Binds, Void: w.writeGitHub(c, a.Binds)})
	}
}

// relay brings a press to the computer that it was addressed to.
func (w *world) relay(c *computer, e Do, b thread.Binds) Told {
	for _, other := range w.people {
		if other.device() == e.To {
			effects, err := other.core.Relay(e.Thread, b, c.device(), w.now)
			if err != nil {
				return Told{Thread: e.Thread, Binds: b, Err: err.Error()}
			}
			w.perform(other, effects)
			return Told{Thread: e.Thread, Binds: b}
		}
	}
	return Told{Thread: e.Thread, Binds: b, Err: "nobody has this key"}
}

// writeGitHub looks first, as the shell does, and writes exactly from what the approval bound.
func (w *world) writeGitHub(c *computer, b thread.Binds) (void string) {
	g := &w.github
	switch {
	case b.Action == "push" && g.head == b.New, b.Action == "merge" && g.merged && g.head == b.New:
		return ""
	case b.Action == "push" && g.head != b.Old, b.Action == "merge" && (g.head != b.New || !g.clean):
		return "it has moved"
	}
	g.writes = append(g.writes, c.name+" "+b.Action)
	if b.Action == "push" {
		g.head, g.clean = b.New, true
	} else {
		g.merged, g.merge, g.tip = true, blob("merge"), blob("merge")
	}
	return ""
}
