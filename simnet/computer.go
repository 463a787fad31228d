package simnet

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/parley-mesh/parley/conflicts/thread"
	"github.com/parley-mesh/parley/ledger"
	"github.com/parley-mesh/parley/node/core"
)

// computer is one machine: a real core, what its disk holds, its checkout, and what can befall it.
type computer struct {
	w        *World
	number   int
	name     string
	key      ed25519.PrivateKey
	dev      ledger.Device
	fleet    ledger.TID
	lane     bool            // belongs to another developer
	user     uint64          // the account that its gh is signed in as
	signedIn time.Duration   // when it was signed in last
	users    []uint64        // every account that it was signed in as
	near     []ledger.Device // computers of others that are connected now

	shelf
	backup *shelf
	image  *shelf   // its disk as it was when a push was approved
	tail   []tailed // foreign records that the disk has not synced yet

	core    *core.Core
	inc     ledger.Incarnation
	life    uint32 // grows with every start
	running bool
	off     bool // powered off for good
	clone   bool // a second machine with another's disk
	twice   bool // it or its clone ran with one identity
	news    []ledger.TID
	hearing bool
	tickAt  time.Duration
	dieIn   int  // effects until it dies; 0: it does not
	halfway bool // it dies after that effect rather than before

	fullUntil time.Duration // until then its disk takes nothing more
	asleep    bool
	deferred  []func()
	skew      time.Duration // of its clock

	checkout
	live     live
	restored int  // how often it went back to a backup
	lostTail bool // it lost records that its disk had not synced
	rounds   int  // catch-ups with all others since the faults stopped
	turns    []turnCount
	days     []dayCount
	phases   []phaseSeen
	stated   []statement
	denials  []denial // pushes that GitHub refused here
	paused   bool     // a person has paused its master sync

	rosterSum uint64 // of the rosters' visible records that the core has folded
}

// tailed is a stored record that a power cut may undo.
type tailed struct{ tid ledger.TID }

type turnCount struct {
	tid   ledger.TID
	round uint64
	used  int
}

type dayCount struct {
	date string
	used int
}

func (c *computer) String() string { return c.name }

func newComputer(w *World, index int, name string) *computer {
	seed := sha256.Sum256(fmt.Appendf(nil, "simnet computer %d", index))
	c := &computer{w: w, number: index, name: name, key: ed25519.NewKeyFromSeed(seed[:])}
	c.dev = ledger.Device(c.key.Public().(ed25519.PublicKey))
	c.values = map[string][]byte{}
	return c
}

// wall is what its clock shows.
func (c *computer) wall() time.Time { return epoch.Add(c.w.now + c.skew) }

// epoch is when every world begins.
var epoch = time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)

// boot starts its node with what was saved, under a new incarnation.
func (c *computer) boot() {
	w := c.w
	c.life++
	c.running, c.asleep, c.deferred = true, false, nil
	c.news, c.hearing, c.tickAt, c.dieIn = nil, false, -1, 0
	if !w.is(sameInc) || c.life == 1 {
		for i := range c.inc {
			c.inc[i] = byte(w.rng.id.Uint32())
		}
	}
	c.core = core.New(core.Config{
		Device: c.dev, Fleet: c.fleet, Slugs: []string{slug}, Desk: true, Timers: w.timers(), Every: w.every(),
	})
	var heard []core.Heard
	for _, b := range c.books {
		if b.family != ledger.Work {
			heard = append(heard, b.tell())
		}
	}
	slices.SortFunc(heard, func(a, b core.Heard) int { return bytes.Compare(a.Ledger[:], b.Ledger[:]) })
	c.core.Restore(c.values, heard, c.wall())
	c.reopen()
	if w.is(oldApproval) {
		c.stale()
	}
	c.paused = c.core.Repos()[0].Paused
	w.tracef("%s starts, life %d", c, c.life)
	if b := c.book(c.fleet); b != nil {
		c.folded(b)
	}
	for _, b := range c.books {
		c.folded(b)
	}
	c.join()
	c.give(core.Repository{Slug: slug, Host: host, ID: repoID, Base: master}, false)
	w.after(w.jitter(20*time.Second), c, c.syncRound)
}

// crash ends its process. With lost set, what the disk had not synced is gone too.
func (c *computer) crash(lost bool) {
	if !c.running {
		return
	}
	c.w.tracef("%s dies", c)
	c.running = false
	c.life++
	if lost {
		c.loseTail()
	}
	c.w.after(c.w.jitter(5*time.Minute), nil, func() {
		if !c.running && !c.off {
			c.boot()
		}
	})
}

func (c *computer) loseTail() {
	for range c.w.rng.fault.IntN(len(c.tail) + 1) {
		last := c.tail[len(c.tail)-1]
		c.tail = c.tail[:len(c.tail)-1]
		if b := c.book(last.tid); len(b.records) > 0 {
			b.cut(len(b.records) - 1)
			c.lostTail = true
		}
	}
}

// save takes a backup. What core.Local holds stays out of it: an approval restored from a backup would be
// one that nobody gave.
func (c *computer) save() {
	s := c.shelf.clone()
	for k := range s.values {
		if strings.HasPrefix(k, "c/") {
			delete(s.values, k)
		}
	}
	c.backup = &s
}

// restore goes back to the backup.
func (c *computer) restore() {
	if c.backup == nil {
		return
	}
	c.rollBack(c.backup)
}

// rollBack puts a disk back to what it once held.
func (c *computer) rollBack(to *shelf) {
	c.crash(false)
	c.shelf, c.tail = to.clone(), nil
	c.restored++
	c.stated, c.denials = nil, nil
	c.w.tracef("the disk of %s goes back to what it held before", c)
}

// stale lets approvals outlive a start, as a broken core would.
func (c *computer) stale() {
	for _, t := range c.core.Conversations() {
		for _, a := range []*core.Approval{t.Local.Push, t.Local.Land} {
			if a != nil && strings.Contains(a.Why, "started again") {
				a.State = thread.Consumed
			}
		}
	}
}

// give hands an input to the core and performs what it asks for. failed marks the outcome of a call that
// GitHub did not answer: the passing of time is told first, so that whatever follows the input has no other
// cause.
func (c *computer) give(in core.Input, failed bool) {
	if !c.running {
		return
	}
	if failed {
		c.perform(c.core.Handle(core.Tick{}, c.wall()))
		if !c.running {
			return
		}
	}
	life := c.life
	effects := c.core.Handle(in, c.wall())
	if failed {
		c.w.step.Failed = append(c.w.step.Failed, effects...)
	}
	c.perform(effects)
	if c.running && c.life == life {
		c.w.step.handled(c)
		c.tickLater()
	}
}

// tickLater asks for the passing of time when the core wants to be asked at the latest.
func (c *computer) tickLater() {
	now := c.wall()
	at := c.w.now + min(max(c.core.Next(now).Sub(now), time.Second), 15*time.Minute)
	if c.tickAt >= c.w.now && c.tickAt <= at {
		return
	}
	c.tickAt = at
	c.w.at(at, c, func() {
		if c.tickAt == at {
			c.tickAt = -1
			c.give(core.Tick{}, false)
		} else {
			c.w.idle = true
		}
	})
}

// heard is told that a ledger has changed; one fold takes all changes until it runs.
func (c *computer) heard(tid ledger.TID) {
	if !slices.Contains(c.news, tid) {
		c.news = append(c.news, tid)
	}
	if !c.hearing {
		c.hearing = true
		c.w.after(time.Millisecond, c, func() {
			c.hearing = false
			news := c.news
			c.news = nil
			for _, tid := range news {
				c.hear(tid)
			}
		})
	}
}

// hear folds a ledger as the disk now holds it; at a roster the core folds every conversation again.
func (c *computer) hear(tid ledger.TID) {
	b := c.book(tid)
	if b == nil || !c.running || len(b.records) == 0 {
		return
	}
	if b.family == ledger.Work {
		c.hearWork(b)
		return
	}
	life := c.life
	effects := c.core.Handle(b.tell(), c.wall())
	c.folded(b)
	c.perform(effects)
	if c.running && c.life == life {
		c.w.step.handled(c)
		c.tickLater()
	}
	if b.family != ledger.Roster {
		return
	}
	for _, t := range c.books {
		if t.family == ledger.Conversation && c.running && c.life == life {
			c.folded(t)
		}
	}
}

// folded notes for the checks that a ledger was folded.
func (c *computer) folded(b *book) {
	if b.family == ledger.Roster {
		c.sumRosters()
	}
	if b.family != ledger.Conversation {
		return
	}
	t := c.conversation(b.tid)
	if t == nil {
		return
	}
	c.w.tamper(c, b, t)
	if c.w.checked {
		c.w.step.Folds = append(c.w.step.Folds, fold{c, b, t.State, b.told, stateHash(&t.State), b.toldSum, c.rosterSum})
	}
}

func (c *computer) conversation(tid ledger.TID) *core.Conversation {
	for _, t := range c.core.Conversations() {
		if t.State.Ledger == tid {
			return t
		}
	}
	return nil
}

// sleep closes the laptop.
func (c *computer) sleep(d time.Duration) {
	if !c.running || c.asleep {
		return
	}
	c.w.tracef("%s sleeps for %v", c, d)
	c.asleep = true
	life := c.life
	c.w.after(d, nil, func() {
		if c.life == life && c.asleep {
			c.wake()
		}
	})
}

func (c *computer) wake() {
	c.w.tracef("%s wakes", c)
	c.asleep = false
	work := c.deferred
	c.deferred = nil
	c.tickAt = -1
	for _, do := range work {
		c.w.after(0, c, do)
	}
	c.give(core.Woke{}, false)
	c.w.after(c.w.jitter(5*time.Second), c, c.syncNow)
}
