package simnet

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/parley-mesh/parley/conflicts/thread"
	"github.com/parley-mesh/parley/lanes"
	"github.com/parley-mesh/parley/ledger"
	"github.com/parley-mesh/parley/node/core"
)

// perform does what the core asked for, in order, as the shell of a real node does. Between any two effects
// the computer may die.
func (c *computer) perform(effects []core.Effect) {
	life := c.life
	for n := 0; len(effects) > 0; n++ {
		e := effects[0]
		effects = effects[1:]
		if n > effectsAtOnceMax {
			c.w.step.BadSeal = fmt.Errorf("one event asks %s for more than %d effects, the last one a %T", c, effectsAtOnceMax, e)
			return
		}
		if _, note := e.(core.Note); note {
			continue
		}
		if c.dies(false) {
			return
		}
		if a, ok := e.(core.Append); ok {
			effects = append(effects, c.append(a)...)
		} else {
			c.begin(e)
		}
		if !c.running || c.life != life || c.dies(true) {
			return
		}
	}
}

// dies counts down to a chosen effect.
func (c *computer) dies(after bool) bool {
	if c.dieIn == 0 || after != c.halfway {
		return false
	}
	if c.dieIn--; c.dieIn > 0 {
		return false
	}
	c.crash(oneIn(c.w.rng.fault, 2))
	return true
}

// effectsAtOnceMax is how many effects one event may bring about; more would never end.
const effectsAtOnceMax = 1000

// append seals, stores and only then spreads an own record, and folds it like anybody else's.
func (c *computer) append(a core.Append) []core.Effect {
	if c.w.is(silentAdoption) && a.Content.Kind() == ledger.KindAdopted {
		return nil
	}
	if c.w.now < c.fullUntil {
		return c.core.Handle(core.NotAppended{Ledger: a.Ledger, Why: "the disk is full"}, c.wall())
	}
	r, err := c.seal(c.w.widen(c, c.w.spoil(c, a)))
	if err != nil {
		c.w.step.BadSeal = err
		return c.core.Handle(core.NotAppended{Ledger: a.Ledger, TooLarge: errors.Is(err, ledger.ErrTooLarge), Why: err.Error()}, c.wall())
	}
	b := c.open(a.Ledger, r.Family())
	c.spentAt(a, r)
	b.add(r, true)
	c.tail = nil // one sync makes everything before it durable
	c.w.tracef("%s says %s %s in %s", c, r.Kind, r.ID.Short(), a.Ledger.Short())
	c.w.step.Sealed = append(c.w.step.Sealed, sealed{who: c, record: r, role: c.role()})
	c.w.teams.noteAnswer(c, r)
	c.w.teams.noteShare(c, r)
	c.w.mesh.gossip(c, b, r)
	effects := c.core.Handle(b.tell(), c.wall())
	c.folded(b)
	if b.family == ledger.Roster {
		for _, t := range c.books {
			if t.family == ledger.Conversation {
				c.folded(t)
			}
		}
	}
	return effects
}

// spentAt remembers for the checks which round the turns that a record tells are of.
func (c *computer) spentAt(a core.Append, r *ledger.Record) {
	if t := c.conversation(a.Ledger); t != nil && a.Turns > 0 {
		c.w.ledgerOf.spent[r.ID] = turnCount{round: t.State.Round, used: int(a.Turns)}
	}
}

// seal makes the next record of this process's chain in a ledger.
func (c *computer) seal(a core.Append) (*ledger.Record, error) {
	if c.w.is(untold) {
		a.Turns = 0
	}
	b := c.open(a.Ledger, a.Content.Kind().Family())
	head := b.head(ledger.Chain{Device: c.dev, Inc: c.inc})
	h := ledger.Header{
		Ledger: a.Ledger, Inc: c.inc, Seq: head.Next, Prev: head.ID, Spine: a.Spine, Open: a.Open,
		Re: a.Re, Claim: a.Claim, Deps: a.Deps, Turns: a.Turns, At: uint64(c.wall().UnixMilli()), Lam: head.Lam,
	}
	for _, r := range b.records {
		if r.Device == c.dev && !c.w.is(ownChain) || r.ID == a.Spine || r.ID == a.Open || slices.Contains(a.Re, r.ID) || slices.Contains(a.Deps, r.ID) || slices.Contains(a.After, r.ID) {
			h.Lam = max(h.Lam, r.Lam)
		}
	}
	h.Lam++
	return ledger.Seal(c.key, h, a.Content)
}

// begin does one effect, or starts it beside the loop. An effect that this function does not know ends the
// run, so that nothing the cores learn to ask for goes untested.
func (c *computer) begin(e core.Effect) {
	switch e := e.(type) {
	case core.Save:
		c.keep(e)
	case core.Renew:
		c.crash(false)
	case core.Look:
		c.beside(func() { c.look(e) })
	case core.Do:
		c.do(e)
	case core.Scan:
		c.beside(func() { c.scan(e) })
	case core.SyncMaster:
		open := c.undecided()
		if c.paused {
			c.w.step.Unasked = fmt.Errorf("%s syncs a repository that is paused", c)
		}
		if e.Settle {
			c.w.step.Turns = append(c.w.step.Turns, turn{who: c, oneDay: c.today()})
		}
		c.beside(func() { c.syncMaster(e, open) })
	default:
		c.w.cannot("effect", e)
	}
}

// keep saves a value durably.
func (c *computer) keep(e core.Save) {
	c.tail = nil
	if (c.w.is(unreserved) || c.w.forgets()) && e.Key != "d" && len(e.Value) > 0 {
		return
	}
	if e.Value == nil {
		delete(c.values, e.Key)
	} else {
		c.values[e.Key] = e.Value
	}
}

// beside runs work a moment later. It is lost when the computer dies before.
func (c *computer) beside(work func()) {
	c.w.after(c.w.jitter(3*time.Second), c, work)
}

// answer brings the outcome of work to the core a moment later: a computer that dies in between has done it
// and does not know.
func (c *computer) answer(in core.Input, failed bool) {
	c.w.after(c.w.jitter(time.Second), c, func() { c.give(in, failed) })
}

func (c *computer) do(e core.Do) {
	switch a := e.Action.(type) {
	case thread.Replace:
		c.beside(func() { c.replace(e, a) })
	case thread.Wake:
		c.reserved(e)
		c.wakeDesk(e, a)
	case thread.Write:
		c.begins(e, a.Binds)
		c.beside(func() { c.write(e, a.Binds) })
	case thread.Tell:
		c.beside(func() { c.tell(e, a.Binds) })
	default:
		c.w.cannot("action", a)
	}
}

// tell brings a person's press to the main computer, which must be reachable both ways.
func (c *computer) tell(e core.Do, b thread.Binds) {
	out := core.Told{Thread: e.Thread, Binds: b, Err: "the other computer is not connected"}
	for _, to := range c.w.computers {
		if to.dev != e.To || to == c || !c.w.mesh.passes(c, to) || !c.w.mesh.passes(to, c) {
			continue
		}
		effects, err := to.core.Relay(e.Thread, b, c.dev, to.wall())
		if out.Err = ""; err != nil {
			out.Err = err.Error()
		}
		c.w.tracef("%s passes the press of %s on to %s: %v", c, b.Action, to, err)
		to.acts(effects)
		break
	}
	c.answer(out, out.Err != "")
}

// begins notes for the checks that a change of GitHub begins, and under which role: a person may flip it later in
// the same step.
func (c *computer) begins(e core.Do, b thread.Binds) {
	c.w.step.Begun = append(c.w.step.Begun, begun{c, b.Action, c.opener(e.State), denial{e.Thread, b, e.State.Round}})
}

// role is whether there is one main computer, as far as this one knows.
func (c *computer) role() lanes.Role {
	roster := c.core.Roster()
	role, _ := roster.Main()
	return role
}

// today counts a turn of the day where nothing can lose it.
func (c *computer) today() int {
	date := c.wall().Format(time.DateOnly)
	if n := len(c.days); n == 0 || date > c.days[n-1].date {
		c.days = append(c.days, dayCount{date: date})
	}
	c.days[len(c.days)-1].used++
	return c.days[len(c.days)-1].used
}

// told is how many turns of a round the computer had spent by the records of its own that it holds.
func (c *computer) told(tid ledger.TID, round uint64) int {
	n := 0
	for _, r := range c.book(tid).records {
		if s := c.w.ledgerOf.spent[r.ID]; r.Device == c.dev && s.round == round {
			n = max(n, s.used)
		}
	}
	return n
}

// reserved counts a turn of a conversation.
func (c *computer) reserved(e core.Do) {
	today := c.today()
	i := slices.IndexFunc(c.turns, func(t turnCount) bool { return t.tid == e.Thread && t.round == e.State.Round })
	if i < 0 {
		c.turns = append(c.turns, turnCount{tid: e.Thread, round: e.State.Round})
		i = len(c.turns) - 1
	}
	c.turns[i].used++
	c.w.step.Turns = append(c.w.step.Turns, turn{
		who: c, tid: e.Thread, state: e.State, used: c.turns[i].used, told: c.told(e.Thread, e.State.Round), oneDay: today,
	})
}

// write performs one approved change of GitHub: it reads first, and a moment later changes what it read,
// so that others can come between.
func (c *computer) write(e core.Do, b thread.Binds) {
	if c.w.hub.fails() {
		c.w.tracef("%s cannot reach GitHub for its %s", c, b.Action)
		c.answer(core.Written{Thread: e.Thread, Binds: b, Unknown: true}, true)
		return
	}
	void, done := c.before(e, b)
	if done {
		c.w.tracef("%s need not %s: %q", c, b.Action, void)
		c.answer(core.Written{Thread: e.Thread, Binds: b, Void: void}, false)
		return
	}
	c.w.after(c.w.jitter(time.Second), c, func() { c.land(e, b, true) })
}

// written brings the answer to a change, and remembers for the checks a denial that the core could keep.
func (c *computer) written(out core.Written, denied bool) {
	life := c.life
	c.give(out, false)
	if t := c.conversation(out.Thread); denied && t != nil && c.running && c.life == life {
		c.denials = append(c.denials, denial{out.Thread, out.Binds, t.State.Round})
	}
}

// takenBack is somebody who puts a branch back after a push, while the disk of the computer that pushed goes back
// to what it held when the push was approved.
func (c *computer) takenBack(p *pull, old commit) {
	if c.w.off("backup") || c.clone || c.image == nil || c.w.step.N%4 > 0 {
		return
	}
	c.w.after(20*time.Second, nil, func() {
		if !c.running || !p.open {
			return
		}
		c.w.hub.setHead(p, old, 0)
		c.w.tracef("somebody takes the push to pull request %d back", p.number)
		c.rollBack(c.image)
	})
}

// before reads what GitHub has before a change; done means that there is nothing to change.
func (c *computer) before(e core.Do, b thread.Binds) (void string, done bool) {
	p, g := c.w.hub.find(b.Pull), c.w.git
	if b.Action == "push" {
		switch now := g.id(p.head); {
		case p.ref != b.Ref:
			return "the pull request comes from another branch now", true
		case now == b.New:
			return "", true
		case now != b.Old && !c.w.is(noCompare):
			return "the branch has moved since the approval", true
		case !g.ancestor(g.byCommit[b.Old], g.byCommit[b.New]):
			return "the new head does not descend from the old one", true
		}
		return "", false
	}
	l := c.observe(e.State)
	switch {
	case p.merged && g.id(p.head) == b.New:
		return "", true
	case p.merged:
		return "the pull request was merged with another head", true
	case !p.open:
		return "the pull request is not open any more", true
	case l.Ready != thread.Yes && !c.w.is(noCompare):
		return l.ReadyWhy, true
	}
	return "", false
}

// land changes GitHub. Its answer may be lost, whether or not the change was made.
func (c *computer) land(e core.Do, b thread.Binds, answer bool) {
	h, g := c.w.hub, c.w.git
	lost := h.fails()
	if lost && oneIn(h.rand(), 2) {
		c.answer(core.Written{Thread: e.Thread, Binds: b, Unknown: true}, true)
		return
	}
	p := h.find(b.Pull)
	write := hubWrite{who: c, thread: e.Thread, action: b.Action, pull: b.Pull, ref: b.Ref, before: g.id(p.head), after: b.New}
	void, denied := "", false
	if b.Action == "push" {
		void, denied = h.push(p, g.byCommit[b.Old], g.byCommit[b.New], !c.w.is(noCompare))
	} else {
		write.ref, write.after = p.base, g.id(p.head)
		switch h.merge(p, g.byCommit[b.New], !c.w.is(noCompare)) {
		case mergeDone:
		case mergeAlready:
			write.action = ""
		case mergeMoved:
			void = "the pull request was pushed to since the approval"
		case mergeConflicts:
			void = "GitHub says that it conflicts"
		case mergeBlocked:
			void = "GitHub refuses it"
		}
	}
	c.w.tracef("%s changes GitHub: %s of %d: %q", c, b.Action, b.Pull, void)
	if void == "" && write.action != "" {
		c.w.step.Writes = append(c.w.step.Writes, write)
		if b.Action == "push" {
			c.takenBack(p, g.byCommit[b.Old])
		}
	}
	switch {
	case !answer:
	case lost:
		c.answer(core.Written{Thread: e.Thread, Binds: b, Unknown: true}, true)
	default:
		out := core.Written{Thread: e.Thread, Binds: b, Void: void, Denied: denied && !c.w.is(noDenial)}
		c.w.after(c.w.jitter(time.Second), c, func() { c.written(out, denied) })
	}
}
