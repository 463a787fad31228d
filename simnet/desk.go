package simnet

import (
	"time"

	"github.com/parley-mesh/parley/conflicts/thread"
	"github.com/parley-mesh/parley/ledger"
	"github.com/parley-mesh/parley/node/core"
)

// wakeDesk spends a reserved turn. A desk answers within its half hour; one that does not has failed.
func (c *computer) wakeDesk(e core.Do, a thread.Wake) {
	r := c.w.rng.desk
	turn := thread.Turn{For: a.For, Round: e.State.Round, Head: a.Head, Tip: a.Tip}
	took := time.Duration(r.IntN(600)+5) * time.Second
	mood := r.IntN(12)
	if c.w.off("desk") {
		mood = 11
	}
	switch {
	case mood == 0:
		turn.Failed, turn.Words = true, "it crashed"
	case mood == 1:
		turn.GaveUp = true
	case mood == 2: // it never answers
		turn.Failed, turn.Words = true, "it did not answer in time"
		took = c.w.timers().Turn
	case a.Decide:
		for i := range e.State.Open.Files {
			if oneIn(r, 2) {
				turn.Pick = append(turn.Pick, uint64(i))
			}
		}
	default:
		c.build(&turn, mood)
	}
	c.w.tracef("%s wakes its desk: decide %v mood %d", c, a.Decide, mood)
	c.w.after(took, c, func() { c.give(core.Turned{Thread: e.Thread, Decide: a.Decide, Turn: turn}, false) })
}

// build merges the base into the head. A lying desk returns something else; what would not settle the
// conflict is refused as a real shell refuses it.
func (c *computer) build(turn *thread.Turn, mood int) {
	g := c.w.git
	head, tip := g.byCommit[turn.Head], g.byCommit[turn.Tip]
	var result commit
	switch mood {
	case 3: // a commit that does not descend from the head
		result = g.commit(*g.tree(g.resolve(head, tip)), tip)
	case 4: // the old head, unresolved
		result = head
	case 5: // conflict markers
		m := g.merge(head, tip)
		for _, i := range m.conflicts {
			m.tree[i] = g.write(g.blobs[m.tree[i]].lines, true)
		}
		result = g.commit(m.tree, head, tip)
	default:
		result = g.resolve(head, tip)
	}
	if !g.ancestor(head, result) {
		turn.Failed, turn.Words = true, "the result does not descend from the head"
		return
	}
	if len(g.merge(tip, result).conflicts) > 0 {
		turn.Failed, turn.Words = true, "the result does not merge cleanly"
		return
	}
	for _, b := range g.tree(result) {
		if g.blobs[b].markers && !c.w.hub.marked(b) {
			turn.Failed, turn.Words = true, "the result has new conflict markers"
			return
		}
	}
	turn.Commit, turn.Tests = g.id(result), ledger.TestsPassed
}

// marked reports whether a content with markers is published already.
func (h *hub) marked(b blob) bool {
	for i := range h.published {
		if h.published[i].has(int(b)) {
			return true
		}
	}
	return false
}
