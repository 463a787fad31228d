package core

import (
	"fmt"
	"slices"
	"time"

	"github.com/parley-mesh/parley/conflicts/thread"
	"github.com/parley-mesh/parley/lanes"
	"github.com/parley-mesh/parley/ledger"
)

// reconcile asks every thread and repository what it wants, given everything known now.
func (c *Core) reconcile(now time.Time) {
	for _, tid := range c.order() {
		c.step(tid, now)
	}
	if _, resting := c.Resting(now); c.low || resting {
		return
	}
	c.tendLanes(now)
	for _, slug := range c.cfg.Slugs {
		c.tend(c.repos[slug], now)
	}
}

// step runs one thread's reconciler and turns what it asks for into effects.
func (c *Core) step(tid ledger.TID, now time.Time) {
	t := c.threads[tid]
	if t.State.Phase == thread.None {
		return
	}
	self := c.self(t, now)
	c.judgeTimers(t, now)
	e := thread.Step(&t.State, self, c.facts(t, self, now), c.cfg.Timers, now)
	t.Say, t.Waits, t.Cards, t.Next, t.hold = e.Say, e.Waits, e.Cards, e.Next, e.Hold
	t.notice(e.Notices, now)
	if _, resting := c.Resting(now); c.low || resting {
		return
	}
	c.offer(t, e.Offers)
	if e.Emit != nil && !t.emitting && !now.Before(c.retry[emitKey(tid)].until) {
		a := c.append(t, e.Emit)
		t.emitting, t.emitted = true, Spent{t.State.Round, int(a.Turns)}
		c.effect(a)
		return
	}
	for _, a := range e.Do {
		c.start(t, a, now)
	}
	c.confirmRivals(t, self, now)
	c.look(t, self, now)
}

func (c *Core) append(t *Conversation, d *thread.Draft) Append {
	return Append{
		Ledger: t.State.Ledger, Content: d.Content, Open: t.State.Root.ID, Spine: d.Spine,
		Claim: d.Claim, Re: d.Re, After: after(&t.State, d.Content), Turns: uint64(t.used(t.State.Round)),
	}
}

// after is what the record's logical time follows, so that it tells which round the record is of: a record follows
// the spine that its author knew, and a record that begins a round all that the fleet's computers had said before.
func after(s *thread.State, content ledger.Body) []ledger.ID {
	out := []ledger.ID{s.Head()}
	if re, is := content.(*ledger.Reassign); !is || re.Round == s.Round {
		return out
	}
	for i, st := range s.Statements {
		if _, own := s.Open.Parties[i].Device(); own && st.ID != (ledger.ID{}) {
			out = append(out, st.ID)
		}
	}
	if s.Ready != nil {
		out = append(out, s.Ready.ID)
	}
	return out
}

func (c *Core) self(t *Conversation, now time.Time) thread.Self {
	claim, main := c.acting(now)
	if term, ok := c.roster.Term(claim, c.cfg.Device); !ok || term < t.State.Term {
		main = false // a later main computer has spoken here already
	}
	self := thread.Self{
		Device: c.cfg.Device, Fleet: c.cfg.Fleet, Claim: claim, Party: -1, Desk: c.cfg.Desk,
		Main: main && t.State.Open.Fleet == c.cfg.Fleet, Names: c.names(&t.State),
	}
	self.Role, _ = c.opener(t).Main()
	if i, ok := t.State.Party(c.cfg.Device, c.rosters); ok && c.roster.Member(c.cfg.Device) {
		self.Party = i
	}
	return self
}

func (c *Core) keep(t *Conversation) { c.effect(save(localKey(t.State.Ledger), t.Local)) }

func (c *Core) facts(t *Conversation, self thread.Self, now time.Time) thread.Facts {
	l := &t.Local
	f := thread.Facts{
		Opened: l.Opened, Assigned: l.Assigned, InterimFired: l.InterimFired, FinalFired: l.FinalFired,
		Look: t.Look, Turns: t.used(t.State.Round), TurnsToday: c.day.at(now).Used, Waking: l.Running != nil,
		Merge: l.Merge, Decide: l.Decide, Took: l.Took, ClearSince: l.ClearSince,
		PushAct: l.Push.act(t.State.Round), MergeAct: l.Land.act(t.State.Round), RespSeen: c.started, Presses: t.presses(),
		Answered: l.Decided, Named: l.Named,
	}
	if role, claim := c.opener(t).Main(); role == lanes.RoleMain {
		f.MainSeen = c.lastSeen(claim.Device, now)
	}
	for _, party := range t.State.Open.Parties {
		f.Seen = append(f.Seen, c.partySeen(party))
	}
	if self.Party >= 0 {
		if st := t.State.Statements[self.Party]; st.Device == c.cfg.Device && st.At > 0 {
			f.Stated = time.UnixMilli(int64(st.At))
		}
	}
	if at := c.partySeen(t.State.Open.Parties[t.State.Responsible]); at.After(f.RespSeen) {
		f.RespSeen = at
	}
	return f
}

// partySeen is when a party was last heard of. A lane is heard of whichever of its computers is.
func (c *Core) partySeen(p ledger.Party) (last time.Time) {
	if d, own := p.Device(); own {
		return c.seen[d]
	}
	fleet, _ := p.Fleet()
	if l := c.links[fleet]; l != nil {
		for _, m := range l.peer.Members {
			if at := c.seen[m.Device]; at.After(last) {
				last = at
			}
		}
	}
	return last
}

// lastSeen is when a computer was last heard of; before a start, or a sleep, nobody could be.
func (c *Core) lastSeen(d ledger.Device, now time.Time) time.Time {
	if d == c.cfg.Device {
		return now
	}
	if at := c.seen[d]; at.After(c.started) {
		return at
	}
	return c.started
}

// end records how the reserved turn ended.
func (l *Local) end(turn thread.Turn) {
	if l.Running != nil && l.Running.Decide {
		l.Decide = &turn
		if !turn.Interrupted && !slices.Contains(l.Decided, turn.For) {
			l.Decided = append(l.Decided, turn.For)
		}
	} else {
		l.Merge = &turn
	}
	l.Running = nil
}

// act is an approval as the rules see it in a round.
func (a *Approval) act(round uint64) *thread.Approval {
	if a == nil {
		return nil
	}
	out := a.Approval
	out.Denied = a.Denied && a.Round == round
	return &out
}

// expire voids an approval that an earlier start was given. A disk that went back to an older state cannot be
// told from one that was merely started again, and what it holds may have been used since (S4).
func (a *Approval) expire() {
	if a != nil && (a.State == thread.Approved || a.State == thread.Consumed) {
		a.State, a.Why = thread.Void, "this computer has started again since it was approved"
	}
}

// slot is where the approval for an action is kept.
func (l *Local) slot(action string) **Approval {
	if action == "push" {
		return &l.Push
	}
	return &l.Land
}

// offer keeps exactly the acts that a thread wants approved. A fact that an approval binds has changed:
// the approval is void and the new act is another offer. One that is being carried out is left alone
// until its outcome is read back.
func (c *Core) offer(t *Conversation, wanted []thread.Binds) {
	t.offers = wanted
	changed := false
	for _, action := range []string{"push", "merge"} {
		slot := t.Local.slot(action)
		i := slices.IndexFunc(wanted, func(b thread.Binds) bool { return b.Action == action })
		have := *slot
		switch {
		case have != nil && have.State == thread.Consumed && (i < 0 || have.Binds == wanted[i] || c.flight[flightKey(t.State.Ledger, thread.Write{})]):
		case i < 0 && have != nil && (have.State == thread.Offered || have.State == thread.Approved):
			*slot, changed = nil, true
		case i >= 0 && (have == nil || have.Binds != wanted[i]):
			*slot = &Approval{Approval: thread.Approval{State: thread.Offered, Binds: wanted[i]}}
			changed = true
		}
	}
	if changed {
		c.keep(t)
	}
}

// Key of a running piece of work.
func flightKey(tid ledger.TID, a thread.Action) string {
	return tid.Short() + tid.String()[8:16] + " " + a.Key()
}

func emitKey(tid ledger.TID) string { return "emit " + tid.String() }

func lookKey(tid ledger.TID) string { return "look " + tid.String() }

// start begins an action unless it runs already or failed a moment ago. What must precede it durably
// (a reserved turn, a consumed approval) is saved first.
func (c *Core) start(t *Conversation, a thread.Action, now time.Time) {
	key := flightKey(t.State.Ledger, a)
	if c.flight[key] || now.Before(c.retry[key].until) {
		return
	}
	do := Do{Thread: t.State.Ledger, State: c.snapshot(t), Action: a}
	switch a := a.(type) {
	case thread.Wake:
		if t.Local.Running != nil {
			return
		}
		c.reserve(t, a, now)
		self := c.self(t, now)
		do.Turn, do.Allow, do.Until = t.used(t.State.Round), t.State.Allowance(self.Party), now.Add(c.cfg.Timers.Turn)
		c.note(t, "do", c.roster.Name(c.cfg.Device), "woken", fmt.Sprintf("wakes its desk to %s (turn %d of %d)", purpose(a), do.Turn, do.Allow))
	case thread.Write:
		// Nothing reaches GitHub while it is unclear who the main computer is (S15, case 18).
		if role, _ := c.opener(t).Main(); role != lanes.RoleMain || !c.consume(t, a.Binds, now) {
			return
		}
	case thread.Tell:
		to, live := c.mainComputer()
		if !live {
			return
		}
		do.To = to
	case thread.Replace:
		// What was looked at before the last replacement would ask for it again.
		if t.Look.Busy != "" || t.dirty || c.flight[lookKey(t.State.Ledger)] {
			return
		}
	}
	c.flight[key] = true
	c.effect(do)
}

func purpose(a thread.Wake) string {
	if a.Decide {
		return "decide the objection"
	}
	return "build and test the merged result"
}

// snapshot is a state that no later fold changes.
func (c *Core) snapshot(t *Conversation) *thread.State {
	s := t.State
	return &s
}

func (c *Core) reserve(t *Conversation, a thread.Wake, now time.Time) {
	c.day = c.day.at(now)
	c.day.Used++
	l := &t.Local
	l.Spent = spent(l.Spent, Spent{t.State.Round, t.used(t.State.Round) + 1})
	l.Running = &Running{Decide: a.Decide, For: a.For, Round: t.State.Round, Head: a.Head, Tip: a.Tip}
	c.effect(save(dayKey, c.day))
	c.keep(t)
}

// consume spends an approval in the same saved value that says the write is on its way. A write whose
// outcome stayed unknown may be tried again for an hour; after that the approval is void.
func (c *Core) consume(t *Conversation, b thread.Binds, now time.Time) bool {
	a := *t.Local.slot(b.Action)
	if a == nil || a.Binds != b {
		return false
	}
	if a.State == thread.Consumed && now.Sub(a.Begun) > time.Hour {
		a.State, a.Why = thread.Void, "GitHub did not confirm it within an hour"
		c.keep(t)
		return false
	}
	if a.State == thread.Approved {
		a.State, a.Begun = thread.Consumed, now
		c.keep(t)
	}
	return true
}

// failed sets the wait before a key is tried again, and reports it.
func (c *Core) failed(key string, now time.Time) {
	b := c.retry[key]
	b.wait = min(max(2*b.wait, c.cfg.Every.Retry), c.cfg.Every.Idle)
	b.until = now.Add(b.wait)
	c.retry[key] = b
}

func (c *Core) succeeded(key string) { delete(c.retry, key) }

// look asks for an observation when the last one does not fit the state, something was done, or it is
// old.
func (c *Core) look(t *Conversation, self thread.Self, now time.Time) {
	key := lookKey(t.State.Ledger)
	over := t.State.Phase == thread.Closed && (t.State.Final == nil || t.State.Adopted[max(self.Party, 0)] != (ledger.ID{}))
	if self.Party < 0 || over && len(t.Cards) == 0 || c.flight[key] {
		return // a card of a closed conversation goes away by what is seen
	}
	every := c.cfg.Every.Idle
	if !over && (self.Main || t.State.Responsible == self.Party || t.State.Phase >= thread.Final) {
		every = c.cfg.Every.Look
	}
	stale := t.dirty || t.Look.For != t.State.Head() || t.Look.ForReady != readyID(&t.State) || !now.Before(t.looked.Add(every))
	if due := t.looked.Add(every); !stale {
		if t.Next.IsZero() || due.Before(t.Next) {
			t.Next = due
		}
		return
	}
	if wait := c.retry[key].until; now.Before(wait) {
		return
	}
	t.dirty = false
	t.looked = now
	c.flight[key] = true
	c.effect(Look{Thread: t.State.Ledger, State: c.snapshot(t)})
}

func readyID(s *thread.State) ledger.ID {
	if s.Ready == nil {
		return ledger.ID{}
	}
	return s.Ready.ID
}
