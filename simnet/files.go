package simnet

import (
	"slices"

	"github.com/parley-mesh/parley/conflicts/thread"
	"github.com/parley-mesh/parley/ledger"
	"github.com/parley-mesh/parley/node/core"
)

// checkout is the one working copy of a computer, what its mirror has seen of the pull requests, and what
// parley keeps of displaced contents.
type checkout struct {
	onBase bool
	base   commit // local base branch
	branch commit // what is checked out when that is not the base branch
	index  [pathCount]blob
	work   [pathCount]blob
	kept   [pathCount]bits
	made   bits       // commits that this clone made
	mirror [][]commit // by pull request: heads seen
}

func (k *checkout) head() commit {
	if k.onBase {
		return k.base
	}
	return k.branch
}

// change is one change of a file or ref that a node made in a checkout.
type change struct {
	who       *computer
	path      int
	old, next blob
	thread    *thread.State // nil: the master sync
	open      []ledger.TID  // master sync: the conversations without a final when it was asked for
	pick      bool
	tip       blob // master sync: what GitHub has
	merged    bool // own work and GitHub's were brought together
	ref       bool // the local base branch moved, from one commit to the other
	from, to  commit
}

// fetch is the base branch as GitHub has it, and the pull request's head into the mirror.
func (c *computer) fetch(p *pull) commit {
	if p != nil {
		n := int(p.number)
		for len(c.mirror) <= n {
			c.mirror = append(c.mirror, nil)
		}
		if !slices.Contains(c.mirror[n], p.head) {
			c.mirror[n] = append(c.mirror[n], p.head)
		}
	}
	return c.w.hub.master
}

// known is every version of a path that GitHub has, as far as this computer has fetched it (D-9).
func (c *computer) known(path int, tip commit, pull uint64, f *ledger.File) bits {
	g := c.w.git
	k := slices.Clone(g.commits[tip].reach[path])
	if pull > 0 && int(pull) < len(c.mirror) {
		for _, h := range c.mirror[pull] {
			k.set(int(g.tree(h)[path]))
		}
	}
	if f != nil {
		for _, id := range []ledger.OID{f.Base, f.Master, f.Pull} {
			if b, ok := g.byBlob[id]; ok && id != "" {
				k.set(int(b))
			}
		}
	}
	return k
}

// three are the contents of HEAD, the index and the working file.
func (c *computer) three(path int) [3]blob {
	return [3]blob{c.w.git.tree(c.head())[path], c.index[path], c.work[path]}
}

func allIn(k bits, all ...blob) bool {
	for _, b := range all {
		if !k.has(int(b)) {
			return false
		}
	}
	return true
}

// classify judges a path as an ack does, and counts lines that nobody else has.
func (c *computer) classify(path int, k bits, f *ledger.File) (ledger.Class, int) {
	g := c.w.git
	three := c.three(path)
	if !c.onBase {
		b := g.tree(c.base)[path]
		three = [3]blob{b, b, b}
	}
	here := three[2]
	switch {
	case three == [3]blob{}:
		return ledger.NotHere, 0
	case allIn(k, three[:]...):
		switch g.blobID(here) {
		case f.Master:
			return ledger.HasMaster, 0
		case f.Pull:
			return ledger.HasPull, 0
		}
		return ledger.HasOther, 0
	}
	if own := c.ownLines(k, three[:]); own > 0 {
		return 0, own
	}
	return ledger.KeepsNoLines, 0
}

// ownLines counts the lines of unknown contents that stand in no known one.
func (c *computer) ownLines(k bits, of []blob) int {
	g := c.w.git
	public := map[int32]bool{}
	k.each(func(n int) {
		for _, l := range g.blobs[n].lines {
			public[l] = true
		}
	})
	own := map[int32]bool{}
	for _, b := range of {
		if k.has(int(b)) {
			continue
		}
		for _, l := range g.blobs[b].lines {
			if !public[l] {
				own[l] = true
			}
		}
	}
	return len(own)
}

func pathOf(f *ledger.File) int {
	i, _ := slices.BinarySearch(pathNames[:], string(f.Path))
	return i
}

// replace puts a published version of one file into the checkout, if all that is there is published.
func (c *computer) replace(e core.Do, a thread.Replace) {
	s, g := e.State, c.w.git
	f := &s.Open.Files[a.File]
	path := pathOf(f)
	out := core.Replaced{Thread: e.Thread, File: a.File}
	if c.w.hub.fails() {
		out.Err = errOutage.Error()
		c.answer(out, true)
		return
	}
	tip := c.fetch(c.w.hub.find(s.Open.Pull))
	want := g.byBlob[a.Want]
	if c.w.is(stray) {
		want = g.edit(want, false)
	}
	here := c.three(path)
	switch {
	case !c.onBase:
		out.Err = "the checkout no longer stands on the base branch"
	case !allIn(c.known(path, tip, s.Open.Pull, f), here[:]...) && !c.w.is(clobber):
		out.Err = "it holds work that is not published"
	case here[2] == want:
	default:
		c.put(path, want, change{thread: s, pick: slices.Contains(s.Pick, uint64(a.File))})
		out.Took = true
	}
	c.w.tracef("%s replaces %s: took %v %s", c, pathNames[path], out.Took, out.Err)
	c.answer(out, false)
}

// put changes a working file on a node's behalf; what stood there is kept.
func (c *computer) put(path int, next blob, ch change) {
	old := c.work[path]
	if !c.w.is(clobber) && !(c.w.is(unkept) && ch.merged) {
		c.kept[path].set(int(old))
	}
	c.work[path] = next
	ch.who, ch.path, ch.old, ch.next = c, path, old, next
	c.w.step.Changes = append(c.w.step.Changes, ch)
}

// undecided are the conversations that have no final in this computer's view.
func (c *computer) undecided() []ledger.TID {
	var out []ledger.TID
	for _, t := range c.core.Conversations() {
		if t.State.Phase < thread.Final {
			out = append(out, t.State.Ledger)
		}
	}
	return out
}
