package simnet

import (
	"github.com/parley-mesh/parley/node/core"
)

// furnish makes the repository, every computer's clone of it, and pull requests that conflict.
func (w *World) furnish() {
	g, r := w.git, w.rng.hub
	var tree [pathCount]blob
	for i := range tree {
		for range 3 {
			tree[i] = g.edit(tree[i], false)
		}
	}
	root := g.commit(tree)
	w.hub.setMaster(root)
	for _, c := range w.computers {
		c.onBase, c.base, c.index, c.work = true, root, tree, tree
	}
	for range 1 + r.IntN(3) {
		w.propose()
	}
	for range 1 + r.IntN(3) {
		w.moveMaster()
	}
}

// propose makes a pull request on one of the computers, or on none of them.
func (w *World) propose() {
	g, r := w.git, w.rng.hub
	maker := r.IntN(len(w.computers)) - 1
	tree := *g.tree(w.hub.master)
	for range 1 + r.IntN(2) {
		i := r.IntN(3)
		if tree[i] = g.edit(tree[i], oneIn(r, 3)); oneIn(r, 12) {
			tree[i] = 0
		}
	}
	head := g.commit(tree, w.hub.master)
	author := uint64(me)
	if w.cfg.Teams > 0 {
		author, maker = w.teams.author(w)
	} else if maker < 0 && oneIn(r, 3) {
		author = mate
	}
	p := w.hub.add(author, maker, head)
	p.denied = oneIn(r, 20)
	if maker < 0 {
		return
	}
	c := w.computers[maker]
	c.made.set(int(head))
	if c.clean() && oneIn(r, 2) {
		c.onBase, c.branch, c.index, c.work = false, head, tree, tree
	}
	w.tracef("%s opens pull request %d", c, p.number)
}

// moveMaster is somebody else's commit on the base branch.
func (w *World) moveMaster() {
	g, r := w.git, w.rng.hub
	tree := *g.tree(w.hub.master)
	i := r.IntN(3)
	if oneIn(r, 3) {
		i = r.IntN(pathCount)
	}
	if tree[i] = g.edit(tree[i], oneIn(r, 3)); oneIn(r, 40) {
		tree[i] = 0
	}
	w.hub.setMaster(g.commit(tree, w.hub.master))
	w.tracef("master moves in %s", pathNames[i])
}

// clean reports whether nothing here is uncommitted.
func (c *computer) clean() bool {
	return c.index == *c.w.git.tree(c.head()) && c.work == c.index
}

// person lets somebody at one of the computers do something.
func (w *World) person() {
	r := w.rng.people
	c := w.computers[r.IntN(len(w.computers))]
	if !c.up() {
		return
	}
	if w.cfg.Teams > 0 && oneIn(r, 6) && !w.off("people") {
		w.laneAct(c)
		return
	}
	what := r.IntN(24)
	if what < 10 || w.calm {
		c.press()
		return
	}
	if w.off("people") {
		return
	}
	path := r.IntN(pathCount)
	if oneIn(r, 2) {
		path = r.IntN(3)
	}
	switch {
	case what < 13:
		c.edit(path)
	case what == 13:
		c.index[path] = c.work[path]
		c.w.tracef("%s stages %s", c, pathNames[path])
	case what == 14:
		c.commit()
	case what < 17:
		c.index[path], c.work[path] = c.w.git.tree(c.head())[path], c.w.git.tree(c.head())[path]
		c.w.tracef("%s discards %s", c, pathNames[path])
	case what == 17:
		c.publish()
	case what < 20:
		c.switchBranch()
	case what == 20:
		c.flipMain()
	case what == 21 && w.step.N%3 == 0:
		c.pause(!c.paused)
	case what == 21:
		c.acts(c.core.ScanNow(c.wall()))
	case what == 22:
		c.hand()
	default:
		if w.cfg.Ending == Never && !w.laneOn {
			w.tracef("both developers switch the lane on")
			w.laneOn = true
		}
	}
}

// acts performs what a person's act made the core ask for.
func (c *computer) acts(effects []core.Effect) {
	life := c.life
	c.perform(effects)
	if c.running && c.life == life {
		c.w.step.handled(c)
		c.tickLater()
	}
}

// pause stops the master sync, or lets it go on.
func (c *computer) pause(on bool) {
	life := c.life
	effects, _ := c.core.Pause(slug, on, c.wall())
	c.w.tracef("%s: a person pauses the master sync: %v", c, on)
	c.paused = false
	c.acts(effects)
	if c.running && c.life == life {
		c.paused = on
	}
}

func (c *computer) edit(path int) {
	g := c.w.git
	c.work[path] = g.edit(c.work[path], oneIn(c.w.rng.people, 4))
	c.w.tracef("%s edits %s", c, pathNames[path])
}

func (c *computer) commit() {
	g := c.w.git
	next := g.commit(c.index, c.head())
	c.made.set(int(next))
	if c.onBase {
		c.base = next
	} else {
		c.branch = next
	}
	c.w.tracef("%s commits", c)
}

// publish brings local commits on the base branch together with GitHub's and pushes them, as a person does
// by hand.
func (c *computer) publish() {
	g, h := c.w.git, c.w.hub
	if !c.onBase || !c.clean() || h.fails() || g.ancestor(c.base, h.master) {
		return
	}
	next := g.resolve(c.base, h.master)
	c.made.set(int(next))
	c.base, c.index, c.work = next, *g.tree(next), *g.tree(next)
	h.setMaster(next)
	c.w.tracef("%s pushes its own commits to master", c)
}

// switchBranch goes between the base branch and a pull request's, with nothing uncommitted.
func (c *computer) switchBranch() {
	g := c.w.git
	if !c.clean() {
		return
	}
	if c.onBase && c.branch == 0 {
		return
	}
	c.onBase = !c.onBase
	c.index, c.work = *g.tree(c.head()), *g.tree(c.head())
	c.w.tracef("%s stands on the base branch: %v", c, c.onBase)
}

func (c *computer) flipMain() {
	if c.lane && c.w.cfg.Teams == 0 {
		return
	}
	a, held := c.core.LeaveMain()
	if !held || oneIn(c.w.rng.people, 2) {
		a = c.core.TakeMain()
	}
	c.w.tracef("%s: a person flips the switch: %s", c, a.Content.Kind())
	c.acts([]core.Effect{a})
}

// press is a person who looks at the cards and approves one. Whoever presses nothing ever is part of some
// endings.
func (c *computer) press() {
	if c.w.cfg.Ending == Hands && !c.w.is(selfPress) {
		return
	}
	for _, card := range c.core.Cards() {
		if card.Binds == nil || !c.w.calm && oneIn(c.w.rng.people, 3) {
			continue
		}
		effects, err := c.core.Approve(card.Key, *card.Binds, "demo", c.wall())
		if err != nil {
			c.w.tracef("%s: the press on %s says %v", c, card.Key, err)
			continue
		}
		c.w.tracef("%s: a person presses %s", c, card.Key)
		if !c.w.is(noClick) {
			c.w.clicks = append(c.w.clicks, click{who: c, thread: card.Thread, binds: *card.Binds})
		}
		c.acts(effects)
		if card.Binds.Action == "push" {
			image := c.shelf.clone()
			c.image = &image
		}
		return
	}
	if c.w.calm {
		c.help()
	}
}

// hand merges by hand on GitHub, or updates a pull request there.
func (c *computer) hand() {
	g, h, r := c.w.git, c.w.hub, c.w.rng.people
	p := h.pulls[r.IntN(len(h.pulls))]
	if !p.open || p.base != master || h.fails() {
		return
	}
	next := g.resolve(p.head, h.master)
	h.setHead(p, next, 0)
	c.w.tracef("somebody settles pull request %d by hand", p.number)
	if oneIn(r, 2) {
		h.land(p, *g.tree(next))
		c.w.tracef("somebody merges pull request %d by hand", p.number)
	}
}
