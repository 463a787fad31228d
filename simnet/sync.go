package simnet

import (
	"fmt"
	"slices"
	"time"

	"github.com/parley-mesh/parley/ledger"
	"github.com/parley-mesh/parley/node/core"
)

// syncing is one master sync: all of GitHub's master together with all own work, or nothing.
type syncing struct {
	c       *computer
	e       core.SyncMaster
	open    []ledger.TID // the conversations without a final when it was asked for
	tip     commit
	joined  [pathCount]blob // what the branch is to hold
	work    [pathCount]blob // what the working files are to hold
	merges  bool            // the branch needs a merge commit
	settles bool            // the desk has brought together what git cannot merge
	out     core.MasterSynced
}

// merge3 merges two contents of a file as git does. Lines that both sides added next to each other, lines that
// both dropped, and an absent file are conflicts.
func (g *git) merge3(base, a, b blob) (merged blob, clean bool) {
	switch {
	case a == b, b == base:
		return a, true
	case a == base:
		return b, true
	case a == 0 || b == 0 || base == 0:
		return a, false
	}
	was, ours, theirs := g.blobs[base].lines, g.blobs[a].lines, g.blobs[b].lines
	var lines []int32
	var added [2]int32
	for _, l := range was {
		in, too := slices.Contains(ours, l), slices.Contains(theirs, l)
		if !in && !too {
			return a, false
		}
		if in && too {
			lines = append(lines, l)
		}
	}
	for i, side := range [2][]int32{ours, theirs} {
		for _, l := range side {
			if !slices.Contains(was, l) {
				lines = append(lines, l)
				added[i] = l
			}
		}
	}
	slices.Sort(lines)
	return g.write(slices.Compact(lines), false), (added[0]+added[1])%2 == 0
}

// syncMaster does one master sync. What git cannot merge the desk settles, if its turn is reserved.
func (c *computer) syncMaster(e core.SyncMaster, open []ledger.TID) {
	s := syncing{c: c, e: e, open: open, out: core.MasterSynced{Slug: e.Slug}}
	if c.w.hub.fails() {
		s.out.Err = errOutage.Error()
		c.answer(s.out, true)
		return
	}
	s.tip = c.fetch(nil)
	if why := s.plan(); !e.Settle || len(s.out.Conflicts) == 0 {
		s.end(why)
		return
	}
	c.w.after(time.Duration(c.w.rng.desk.IntN(600)+5)*time.Second, c, func() {
		again := syncing{c: c, e: e, open: open, tip: s.tip, settles: !oneIn(c.w.rng.desk, 3), out: core.MasterSynced{Slug: e.Slug}}
		again.end(again.plan()) // whatever was written meanwhile starts the whole again
	})
}

// end takes what was planned, or says why nothing was taken.
func (s *syncing) end(why string) {
	c, g := s.c, s.c.w.git
	s.out.From, s.out.Tip, s.out.To, s.out.Why = g.id(c.base), g.id(s.tip), g.id(c.base), why
	if s.e.Settle && why != "" {
		s.out.Settled = "the desk gave up"
	}
	if why == "" && c.base != s.tip {
		s.take()
	}
	c.w.tracef("%s has synced: moved %v merged %v conflicts %v kept %v %s", c, s.out.Moved, s.out.Merged, s.out.Conflicts, s.out.Kept, why)
	c.answer(s.out, false)
}

func (s *syncing) held(path int) bool {
	return slices.Contains(s.e.Hold, pathNames[path]) && !s.c.w.is(noHold)
}

// plan brings together what this computer has with the tip. It changes nothing.
func (s *syncing) plan() (why string) {
	c, g := s.c, s.c.w.git
	old := c.base
	s.joined, s.merges = *g.tree(s.tip), old != s.tip && !g.ancestor(old, s.tip)
	switch {
	case s.merges && c.w.hub.onBase.has(int(old)):
		s.out.Rewritten = true
		return "GitHub's branch was rewritten"
	case s.merges && !c.onBase:
		return "the local branch and GitHub's have both moved on, and another branch is checked out"
	case s.merges:
		s.join()
	}
	s.work = c.work
	if c.onBase {
		for path := range pathCount {
			s.combine(path)
		}
	}
	switch {
	case len(s.out.Conflicts) > 0:
		return "git cannot merge it"
	case len(s.out.Kept) > 0:
		return "some files cannot be brought together with GitHub's changes"
	}
	return ""
}

// join merges the own commits with the tip. Held paths are as GitHub has them.
func (s *syncing) join() {
	g, own := s.c.w.git, s.c.base
	base := g.mergeBase(own, s.tip)
	for path := range pathCount {
		if !s.held(path) {
			s.joined[path] = s.bring(path, g.tree(base)[path], g.tree(own)[path], g.tree(s.tip)[path])
		}
	}
}

// bring merges own and GitHub's version of a path. What git cannot merge is noted, or is as the desk made it.
func (s *syncing) bring(path int, base, own, theirs blob) blob {
	g := s.c.w.git
	merged, clean := g.merge3(base, own, theirs)
	switch {
	case clean:
	case s.settles:
		merged = g.union(own, theirs)
	default:
		s.out.Conflicts = append(s.out.Conflicts, pathNames[path])
		s.out.Own += fmt.Sprint(path, " ", own, "; ")
	}
	return merged
}

// combine puts the working file of a path together with what the branch is to hold.
func (s *syncing) combine(path int) {
	c, g := s.c, s.c.w.git
	was, is := g.tree(c.base)[path], s.joined[path]
	index, work := c.index[path], c.work[path]
	takesHeld := c.w.is(mergeHeld) && work != was
	switch {
	case was == is, s.held(path) && !takesHeld:
	case index != was && index != is && index != work:
		s.out.Kept = append(s.out.Kept, core.KeptOwn{Path: pathNames[path], Why: "it is staged in part"})
	case index == work && c.known(path, s.tip, 0, nil).has(int(work)), index == was && c.known(path, s.tip, 0, nil).has(int(work)), c.w.is(clobber):
		s.work[path] = is
	default:
		s.work[path] = s.bring(path, was, work, is)
		s.out.Merged = append(s.out.Merged, pathNames[path])
	}
}

// take brings files, index and branch to what was planned, all at once.
func (s *syncing) take() {
	c, g, w := s.c, s.c.w.git, s.c.w
	old, to := c.base, s.tip
	if s.merges {
		to = g.commit(s.joined, old, s.tip)
		c.made.set(int(to))
	}
	if c.onBase {
		for path := range pathCount {
			staged := c.index[path] != g.tree(old)[path]
			if next := s.work[path]; next != c.work[path] {
				merged := slices.Contains(s.out.Merged, pathNames[path]) || s.merges && s.joined[path] != g.tree(s.tip)[path]
				c.put(path, next, change{open: s.open, tip: g.tree(s.tip)[path], from: old, merged: merged})
				if staged {
					c.index[path] = next
				}
			}
			if !staged {
				c.index[path] = s.joined[path]
			}
		}
	}
	c.base, s.out.To, s.out.Moved = to, g.id(to), true
	w.step.Changes = append(w.step.Changes, change{who: c, ref: true, from: old, to: to})
}
