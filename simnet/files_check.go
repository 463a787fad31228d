package simnet

import (
	"fmt"
	"slices"

	"github.com/parley-mesh/parley/conflicts/thread"
	"github.com/parley-mesh/parley/ledger"
)

// noLoss: whatever a node displaced is on GitHub, kept, or still in one of the file's three places. A base
// branch that a node moved is still held by the new one.
func noLoss(w *World, s Step) error {
	for _, ch := range s.Changes {
		if ch.ref {
			if !w.git.ancestor(ch.from, ch.to) && !w.hub.commits.has(int(ch.from)) {
				return fmt.Errorf("%s loses its commit %s", ch.who, w.git.id(ch.from).Short())
			}
			continue
		}
		three := ch.who.three(ch.path)
		if !w.hub.published[ch.path].has(int(ch.old)) && !ch.who.kept[ch.path].has(int(ch.old)) && !slices.Contains(three[:], ch.old) {
			return fmt.Errorf("%s loses its copy of %s", ch.who, pathNames[ch.path])
		}
	}
	return nil
}

// onlyGitHub: a file gets what the base branch has held, or the pull request's copy where the own fleet's
// interim picks it, or, by the master sync and where no thread holds it, own work merged with GitHub's.
func onlyGitHub(w *World, s Step) error {
	if s.Unasked != nil {
		return s.Unasked
	}
	for _, one := range s.Sealed {
		if err := w.adoptsTruth(one); err != nil {
			return err
		}
	}
	for _, ch := range s.Changes {
		if ch.merged {
			if err := w.mergedOwn(ch); err != nil {
				return err
			}
			continue
		}
		if ch.ref || w.hub.baseEver[ch.path].has(int(ch.next)) {
			continue
		}
		if ch.pick && ch.thread.Open.Fleet == ch.who.fleet && w.hub.find(ch.thread.Open.Pull).heads[ch.path].has(int(ch.next)) {
			continue
		}
		return fmt.Errorf("%s puts a content into %s that the base branch never held", ch.who, pathNames[ch.path])
	}
	return nil
}

// mergedOwn: the master sync merges own work on a path that no thread holds, the copy that it replaces is kept, and
// the merge holds nothing but lines of the two.
func (w *World) mergedOwn(ch change) error {
	c := ch.who
	for _, t := range c.core.Conversations() {
		s := &t.State
		party, in := s.Party(c.dev, c.core.Rosters())
		if s.Phase >= thread.Final || !slices.Contains(ch.open, s.Ledger) || !in || s.Gone[party] || s.Opaque {
			continue
		}
		if slices.ContainsFunc(s.Open.Files, func(f ledger.File) bool { return pathOf(&f) == ch.path }) {
			return fmt.Errorf("%s merges own work into %s, which a conversation holds", c, pathNames[ch.path])
		}
	}
	if !c.kept[ch.path].has(int(ch.old)) {
		return fmt.Errorf("%s keeps no copy of the %s that it merges", c, pathNames[ch.path])
	}
	own := w.git.tree(ch.from)[ch.path]
	for _, l := range w.git.blobs[ch.next].lines {
		if !slices.Contains(w.git.blobs[ch.old].lines, l) && !slices.Contains(w.git.blobs[ch.tip].lines, l) && !slices.Contains(w.git.blobs[own].lines, l) {
			return fmt.Errorf("%s merges into %s what neither side has", c, pathNames[ch.path])
		}
	}
	return nil
}

// adoptsTruth: nobody confirms a final that GitHub does not hold.
func (w *World) adoptsTruth(one sealed) error {
	g, r := w.git, one.record
	if r.Kind != ledger.KindAdopted || one.lie {
		return nil
	}
	for _, named := range one.who.book(r.Ledger).records {
		final, ok := named.Content.(*ledger.Final)
		if !ok || named.ID != r.Re[0] {
			continue
		}
		open := one.who.opened(r.Ledger, named.Open)
		at := g.byCommit[final.Commit]
		if !w.hub.onBase.has(int(at)) {
			return fmt.Errorf("%s confirms a final whose commit was never on the base branch", one.who)
		}
		for i, v := range final.Files {
			if g.blobID(g.tree(at)[pathOf(&open.Files[i])]) != v.Blob {
				return fmt.Errorf("%s confirms a final whose versions its commit does not hold", one.who)
			}
		}
	}
	return nil
}

// opened is an open that a computer holds.
func (c *computer) opened(tid ledger.TID, id ledger.ID) *ledger.Open {
	for _, r := range c.book(tid).records {
		if r.ID == id {
			return r.Content.(*ledger.Open)
		}
	}
	return nil
}

// laneNoCode: another developer's thread brings nothing but what the base branch has held.
func laneNoCode(w *World, s Step) error {
	for _, ch := range s.Changes {
		if ch.ref || ch.thread == nil || ch.thread.Root.Content.(*ledger.Open).Fleet == ch.who.fleet {
			continue
		}
		if !w.hub.baseEver[ch.path].has(int(ch.next)) {
			return fmt.Errorf("%s takes code for %s from another developer", ch.who, pathNames[ch.path])
		}
	}
	return nil
}

// authorCopy: on the computer that authored a pull request no node touches its files while the
// conversation runs and no final was verified. The master sync knows the conversations as they were
// when it was asked for.
func authorCopy(w *World, s Step) error {
	for _, ch := range s.Changes {
		if ch.ref {
			continue
		}
		for _, t := range ch.who.core.Conversations() {
			o := t.State.Open
			if o == nil || t.State.Phase >= thread.Final || !ch.who.made.has(int(w.git.byCommit[o.Head])) || o.Author != ch.who.owner() {
				continue
			}
			if ch.thread == nil && !slices.Contains(ch.open, t.State.Ledger) {
				continue
			}
			holds := slices.ContainsFunc(o.Files, func(f ledger.File) bool { return pathOf(&f) == ch.path })
			if holds && (ch.thread == nil || ch.thread.Ledger == t.State.Ledger) {
				return fmt.Errorf("the author's computer %s changes %s before the final", ch.who, pathNames[ch.path])
			}
		}
	}
	return nil
}
