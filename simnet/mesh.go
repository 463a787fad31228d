package simnet

import (
	"slices"
	"time"

	"github.com/parley-mesh/parley/conflicts/thread"
	"github.com/parley-mesh/parley/ledger"
	"github.com/parley-mesh/parley/node/core"
)

// mesh is the network between the computers: gossip that loses, repeats and reorders, and catch-up that
// brings two computers to the union of what they hold, each chain from its start.
type mesh struct {
	w    *World
	cut  [][]time.Duration // [from][to]: until when nothing gets through
	loss int               // of 100 gossiped records
	dup  int
}

func (m *mesh) grow(n int) {
	for i := range m.cut {
		m.cut[i] = append(m.cut[i], make([]time.Duration, n-len(m.cut[i]))...)
	}
	for len(m.cut) < n {
		m.cut = append(m.cut, make([]time.Duration, n))
	}
}

// passes reports whether a message from one to the other gets through now.
func (m *mesh) passes(from, to *computer) bool {
	return m.cut[from.number][to.number] <= m.w.now && from.up() && to.up()
}

func (c *computer) up() bool { return c.running && !c.asleep && !c.off }

// may reports whether one computer tells another about a ledger: its own fleet all, another developer's
// only what concerns them, once both have switched the lane on.
func (m *mesh) may(from, to *computer, b *book) bool {
	if from.fleet == to.fleet {
		return true
	}
	if m.w.cfg.Teams > 0 {
		return true // what of it is for [mesh.part] to say
	}
	return m.w.laneOn && m.concerns(to, b.tid, from)
}

// concerns reports whether a ledger that one computer holds is a conversation that the other's fleet opened
// or is a party of.
func (m *mesh) concerns(to *computer, tid ledger.TID, from *computer) bool {
	b := from.book(tid)
	if b == nil || b.family != ledger.Conversation {
		return false
	}
	for _, r := range b.records {
		if o, ok := r.Content.(*ledger.Open); ok {
			if o.Fleet == to.fleet || slices.Contains(o.Parties, ledger.LaneParty(to.fleet)) {
				return true
			}
		}
	}
	return false
}

// gossip spreads a record that was just stored.
func (m *mesh) gossip(from *computer, b *book, r *ledger.Record) {
	for _, to := range m.w.computers {
		if to == from || to.dev == from.dev || !m.may(from, to, b) && !m.w.is(chatty) {
			continue
		}
		if !m.shares(from, to, b, r) {
			continue
		}
		copies := 1
		if !m.w.off("net") {
			if m.w.rng.net.IntN(100) < m.loss {
				continue
			}
			if m.w.rng.net.IntN(100) < m.dup {
				copies = 2
			}
		}
		for range copies {
			m.send(from, to, r, m.delay())
		}
	}
}

func (m *mesh) delay() time.Duration {
	d := time.Duration(m.w.rng.net.IntN(300)+1) * time.Millisecond
	if !m.w.off("net") && oneIn(m.w.rng.net, 8) {
		d *= 100
	}
	return d
}

func (m *mesh) send(from, to *computer, r *ledger.Record, d time.Duration) {
	if !m.passes(from, to) {
		return
	}
	m.w.step.Sent = append(m.w.step.Sent, sent{from, to, len(r.Wire), m.concerns(to, r.Ledger, from), r})
	m.w.after(d, to, func() { m.arrive(from, to, r) })
}

func (m *mesh) arrive(from, to *computer, r *ledger.Record) {
	if !m.takes(from, to) {
		return
	}
	m.w.tracef("%s hears %s %s from %s", to, r.Kind, r.ID.Short(), from)
	if to.take(r) {
		to.heard(r.Ledger)
	}
	to.give(core.Peer{Device: from.dev}, false)
}

// take stores a foreign record.
func (c *computer) take(r *ledger.Record) bool {
	b := c.open(r.Ledger, r.Family())
	b.loose = r.Family() == ledger.Roster && r.Ledger != c.fleet
	if !b.add(r, !c.w.is(unbounded)) {
		return false
	}
	c.tail = append(c.tail, tailed{r.Ledger})
	if len(c.tail) > 16 {
		c.tail = c.tail[len(c.tail)-16:]
	}
	return true
}

// syncRound catches up with everybody, about every minute.
func (c *computer) syncRound() {
	if c.w.is(replayApproval) {
		c.replay()
	}
	c.syncNow()
	c.w.idle = true
	c.w.after(40*time.Second+c.w.jitter(40*time.Second), c, c.syncRound)
}

// syncNow catches up with one after the other. The round counts when it reached everybody.
func (c *computer) syncNow() {
	if c.w.is(noSync) {
		return
	}
	clean, last := true, time.Duration(0)
	for _, other := range c.w.computers {
		if other == c || other.dev == c.dev || other.off || !c.reaches(other) {
			continue
		}
		d := c.w.jitter(2 * time.Second)
		last = max(last, d)
		c.w.after(d, c, func() {
			clean = c.syncWith(other) && clean
		})
	}
	c.w.after(last, c, func() {
		c.w.idle = true
		if clean && c.w.calm {
			c.rounds++
		}
	})
}

// syncWith brings this computer and another to the union of what they hold. Each hears of the other by it.
func (c *computer) syncWith(other *computer) bool {
	m := &c.w.mesh
	if !m.passes(c, other) || !m.passes(other, c) {
		c.w.idle = true
		c.linked(other, false)
		return false
	}
	c.linked(other, true)
	m.union(c, other)
	c.w.after(time.Millisecond, other, func() { other.give(core.Peer{Device: c.dev, Synced: true}, false) })
	c.give(core.Peer{Device: other.dev, Synced: true}, false)
	return true
}

// union brings two computers to the same sets.
func (m *mesh) union(a, b *computer) {
	m.pull(a, b)
	m.pull(b, a)
}

// pull gives one computer what the other holds more, chains from their start.
func (m *mesh) pull(to, from *computer) {
	for _, have := range from.books {
		part := m.part(from, to, have)
		if len(part) == 0 || !m.may(from, to, have) {
			continue
		}
		mine := to.book(have.tid)
		if mine != nil && mine.sum == have.sum && len(mine.records) == len(have.records) {
			continue
		}
		changed := false
		for _, r := range part {
			if mine == nil || !mine.have[r.ID] {
				changed = to.take(r) || changed
				mine = to.book(have.tid)
				if from.fleet != to.fleet {
					m.w.step.Sent = append(m.w.step.Sent, sent{from, to, len(r.Wire), m.concerns(to, r.Ledger, from), r})
				}
			}
		}
		if changed {
			m.w.tracef("%s catches up on %s with %s", to, have.tid.Short(), from)
			to.heard(have.tid)
		}
	}
}

// knows lists the computers of a fleet that can answer now whether they made a commit.
func (m *mesh) made(c *computer, of commit) []ledger.Device {
	var out []ledger.Device
	for _, other := range m.w.computers {
		if other.fleet == c.fleet && other.made.has(int(of)) && (other == c || m.passes(c, other) && m.passes(other, c)) {
			out = append(out, other.dev)
		}
	}
	return out
}

// replay performs again every act that was approved once, as a node would that took its saved approvals
// for fresh ones.
func (c *computer) replay() {
	for _, t := range c.core.Conversations() {
		for _, a := range []*core.Approval{t.Local.Push, t.Local.Land} {
			if a != nil && a.State == thread.Done {
				s := t.State
				c.w.after(time.Second, c, func() { c.land(core.Do{Thread: s.Ledger, State: &s}, a.Binds, false) })
			}
		}
	}
}
