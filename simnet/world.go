package simnet

import (
	"crypto/ed25519"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/parley-mesh/parley/conflicts/overlap"
	"github.com/parley-mesh/parley/conflicts/thread"
	"github.com/parley-mesh/parley/detect"
	"github.com/parley-mesh/parley/ledger"
	"github.com/parley-mesh/parley/node/core"
)

// Ending is what happens once the faults of a run stop.
type Ending string

// The endings. Safety runs have none: their faults never stop.
const (
	Never  Ending = ""        // faults go on
	Settle Ending = "settle"  // everybody is connected, people say yes, agents succeed (L1, L5)
	Hands  Ending = "hands"   // nobody presses anything, from the beginning on (L2)
	NoMain Ending = "no-main" // the main computer is gone for ever (L3)
	NoResp Ending = "no-resp" // a responsible side is gone for ever (L4)
)

// Config is one world. The zero values of Computers and Steps stand for choices of the seed.
type Config struct {
	Seed      uint64
	Computers int // of the fleet, 2 to 6; the lane-flagged one comes on top
	Teams     int // other developers joined by lanes that are real, 0 to 2; with 0 the lane is a flag
	Agents    int // sessions that work at once on each computer of the fleet; 0: none
	Steps     int
	Ending    Ending
	Calm      int      // step at which the faults stop; 0: halfway
	Mutant    string   // a rule to break, by name
	Only      string   // the one invariant to check; "": all
	Without   []string // kinds of misfortune to leave out
	Unchecked bool     // run without checks, to measure what they cost
	Trace     io.Writer
}

// World is everything there is. One goroutine owns it.
type World struct {
	cfg       Config
	rng       chances
	mutation  mutation
	checked   bool
	now       time.Duration
	seq       uint64
	queue     queue
	computers []*computer
	fleet     ledger.TID // of the developer whose pull requests conflict
	laneFleet ledger.TID
	laneOn    bool // both people have switched the lane on
	teams     teams
	git       *git
	hub       *hub
	mesh      mesh
	clicks    []click
	calm      bool // the faults have stopped
	calmStep  int
	calmAt    time.Duration
	union     []*ledger.Record // what the connected computers held when the faults stopped
	gone      *computer        // NoMain, NoResp: who is off for ever
	idle      bool
	step      Step
	ledgerOf  seen
	watch     []Invariant
	workRules *detect.Rules
	workers   map[ledger.Device]overlap.Person
	fault     error // something that the simulator cannot do
}

// withinSteps is B of the liveness promises: once the faults have stopped, they come true within so many
// events.
const withinSteps = 40_000

// click is one press of a person.
type click struct {
	who    *computer
	thread ledger.TID
	binds  thread.Binds
	used   bool
}

// Validate refuses what a world cannot be made of: names that do not exist, sizes out of range.
func (c Config) Validate() error {
	switch {
	case c.Mutant != "" && !slices.ContainsFunc(Mutants, func(m Mutant) bool { return m.Name == c.Mutant }):
		return fmt.Errorf("world: there is no mutant %q", c.Mutant)
	case c.Only != "" && !slices.ContainsFunc(Invariants, func(i Invariant) bool { return i.ID == c.Only }):
		return fmt.Errorf("world: there is no invariant %q", c.Only)
	case !slices.Contains(Endings, c.Ending):
		return fmt.Errorf("world: there is no ending %q", c.Ending)
	case c.Teams < 0 || c.Teams > 2 || c.Teams > 0 && !slices.Contains(TeamEndings, c.Ending):
		return fmt.Errorf("world: %d other developers, ending %q; want 0 to 2, and no ending or settle", c.Teams, c.Ending)
	case c.Agents < 0 || c.Agents > 4:
		return fmt.Errorf("world: %d agents a computer, want 0 to 4", c.Agents)
	case c.Computers != 0 && (c.Computers < 2 || c.Computers > 6), c.Steps < 0, c.Calm < 0:
		return fmt.Errorf("world: %d computers, %d steps, calm at %d; want 2 to 6 computers", c.Computers, c.Steps, c.Calm)
	}
	for _, kind := range c.Without {
		if !slices.Contains(Misfortunes, kind) {
			return fmt.Errorf("world: there is no misfortune %q", kind)
		}
	}
	return nil
}

// New makes a world. It panics on a configuration that [Config.Validate] refuses.
func New(cfg Config) *World {
	if err := cfg.Validate(); err != nil {
		panic(err)
	}
	w := &World{cfg: cfg, rng: newChances(cfg.Seed), checked: !cfg.Unchecked, git: newGit()}
	w.mutation = mutationNamed(cfg.Mutant)
	w.watch = watched(cfg.Only)
	w.hub = &hub{w: w, g: w.git}
	w.ledgerOf = newSeen()
	if w.cfg.Calm == 0 && w.cfg.Steps == 0 && w.cfg.Ending != Never {
		w.cfg.Calm, w.cfg.Steps = 1500, 1500+withinSteps
	}
	if w.cfg.Steps == 0 {
		w.cfg.Steps = 3000
	}
	chosen := 2 + w.rng.id.IntN(5) // drawn always, so that a world whose size is named is the same world
	if w.cfg.Computers == 0 {
		w.cfg.Computers = chosen
	}
	if w.cfg.Calm == 0 {
		w.cfg.Calm = w.cfg.Steps / 2
	}
	w.mesh.w = w
	w.populate()
	w.step = Step{}
	return w
}

// populate makes the computers, the fleets, the repository and its first pull requests.
func (w *World) populate() {
	for i := range w.cfg.Computers {
		w.computers = append(w.computers, newComputer(w, i, fmt.Sprintf("c%d", i)))
	}
	if w.cfg.Teams > 0 {
		w.populateTeams()
		return
	}
	lane := newComputer(w, len(w.computers), "lane")
	lane.lane = true
	w.mesh.grow(len(w.computers) + 1)
	w.fleet = w.found(w.computers, true)
	w.computers = append(w.computers, lane)
	w.laneFleet = w.found([]*computer{lane}, true)
	w.begin()
}

// begin makes the repository and starts every computer.
func (w *World) begin() {
	w.furnish()
	w.settleIn()
	for _, c := range w.computers {
		c.boot()
	}
}

// found makes a fleet, with its first computer as the main one if it has one.
func (w *World) found(of []*computer, main bool) ledger.TID {
	first := of[0]
	fleet := ledger.FleetID(first.dev, [16]byte{1})
	for _, c := range of {
		c.fleet = fleet
	}
	write := func(content ledger.Body) {
		b := first.open(fleet, ledger.Roster)
		r, err := first.seal(core.Append{Ledger: fleet, Content: content, Deps: lastOf(b)})
		if err != nil {
			panic("simnet: founding a fleet: " + err.Error())
		}
		for _, c := range of {
			c.open(fleet, ledger.Roster).add(r, true)
		}
	}
	write(&ledger.Genesis{Nonce: [16]byte{1}})
	for _, c := range of[1:] {
		add := &ledger.Add{Device: c.dev}
		copy(add.Accept[:], ed25519.Sign(c.key, ledger.JoinStatement(fleet, add.Invite, first.dev)))
		write(add)
	}
	for _, c := range of {
		write(&ledger.Name{Device: c.dev, Name: c.name})
	}
	if main {
		write(&ledger.MainClaim{Term: 1})
	}
	return fleet
}

func lastOf(b *book) []ledger.ID {
	if n := len(b.records); n > 0 {
		return []ledger.ID{b.records[n-1].ID}
	}
	return nil
}

func (w *World) timers() thread.Timers {
	t := thread.Contract()
	switch {
	case w.is(noInterim):
		t.Interim = 1000 * time.Hour
	case w.is(noHandOver):
		t.Final = 1000 * time.Hour
	}
	return t
}

// at lets something happen at a time; who's process must still be the same then.
func (w *World) at(t time.Duration, who *computer, do func()) {
	w.seq++
	e := event{at: max(t, w.now), seq: w.seq, who: who, do: do}
	if who != nil {
		e.life = who.life
	}
	w.queue.push(e)
}

func (w *World) after(d time.Duration, who *computer, do func()) { w.at(w.now+d, who, do) }

// jitter is a time of up to d.
func (w *World) jitter(d time.Duration) time.Duration {
	return time.Duration(w.rng.work.Int64N(int64(d)) + 1)
}

// off reports whether a kind of misfortune is left out or over.
func (w *World) off(kind string) bool {
	return w.calm || slices.Contains(w.cfg.Without, kind)
}

func (w *World) tracef(format string, args ...any) {
	if w.cfg.Trace != nil {
		fmt.Fprintf(w.cfg.Trace, "%6d %12v  "+format+"\n", append([]any{w.step.N, w.now}, args...)...)
	}
}

// Steps is how many events have happened.
func (w *World) Steps() int { return w.step.N }

// Run lets the world live until its steps are over, its ending has come about, or a promise is broken.
// A broken promise is a [*Failure].
func (w *World) Run() error {
	for w.step.N < w.cfg.Steps {
		if !w.happen() {
			break
		}
		if err := w.check(); err != nil {
			return err
		}
		if w.calm && w.over() {
			break
		}
	}
	w.step.begin(w.step.N)
	w.step.Last = true
	return w.check()
}

// happen is one step: one event, and sometimes a misfortune, a person or GitHub's own life beside it.
func (w *World) happen() bool {
	for {
		e, ok := w.queue.pop()
		if !ok {
			return false
		}
		w.now = max(w.now, e.at)
		if c := e.who; c != nil {
			if !c.running || c.life != e.life {
				continue
			}
			if c.asleep {
				c.deferred = append(c.deferred, e.do)
				continue
			}
		}
		w.step.begin(w.step.N + 1)
		w.idle = false
		e.do()
		if w.idle {
			w.step.N--
			continue
		}
		w.live()
		return true
	}
}

// live is what happens to a world beside its events.
func (w *World) live() {
	if !w.calm {
		if w.cfg.Ending != Never && w.step.N >= w.cfg.Calm {
			w.heal()
			return
		}
		if oneIn(w.rng.fault, 120) {
			w.misfortune()
		}
		if oneIn(w.rng.hub, 150) {
			w.meanwhile()
		}
	}
	if oneIn(w.rng.people, 15) {
		w.person()
	}
	if w.cfg.Agents > 0 && !w.calm && oneIn(w.rng.agents, 4) {
		w.work()
	}
	if w.is(usurper) {
		for _, c := range w.computers {
			if c.up() {
				w.usurp(c)
			}
		}
	}
}

func (w *World) check() error {
	if w.fault != nil {
		return w.failure(Invariant{ID: "S0", Name: "the simulator performs every effect"}, w.fault)
	}
	if !w.checked {
		return nil
	}
	for _, inv := range w.watch {
		if err := inv.Check(w, w.step); err != nil {
			return w.failure(inv, err)
		}
	}
	return nil
}

// cannot ends the run: the cores ask for something that this file does not perform yet.
func (w *World) cannot(what string, v any) {
	if w.fault == nil {
		w.fault = fmt.Errorf("%s %T has no performer here; add it to shell.go", what, v)
	}
}
