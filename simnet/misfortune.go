package simnet

import "time"

// misfortune is one fault. Which ones there are is the list of docs in DESIGN.md.
func (w *World) misfortune() {
	r := w.rng.fault
	c := w.computers[r.IntN(len(w.computers))]
	d := w.long()
	switch r.IntN(19) {
	case 0, 1:
		w.kind("net", func() { w.mesh.partition(d) })
	case 2:
		w.kind("net", func() { w.mesh.loss, w.mesh.dup = r.IntN(60), r.IntN(40) })
	case 3:
		w.kind("net", func() { w.mesh.isolate(c, d) })
	case 4, 5, 6:
		w.kind("crash", func() { c.dieIn, c.halfway = 1+r.IntN(4), oneIn(r, 2) })
	case 7:
		w.kind("crash", func() { c.crash(oneIn(r, 2)) })
	case 8:
		w.kind("backup", func() {
			if c.backup == nil || oneIn(r, 2) {
				c.save()
			} else {
				c.restore()
			}
		})
	case 9:
		w.kind("clone", func() { w.duplicate(c, d) })
	case 10, 11:
		w.kind("sleep", func() { c.sleep(d) })
	case 12:
		w.kind("sleep", func() { w.night(d) })
	case 13:
		w.kind("clock", func() { c.jump() })
	case 14:
		w.kind("outage", func() { w.hub.outageUntil = w.now + d/4 })
		w.tracef("GitHub is out")
	case 16, 17:
		w.lie(c)
	case 15:
		w.kind("disk", func() { c.fullUntil = w.now + d/4 })
		w.tracef("the disk of %s is full", c)
	default:
		w.kind("outage", func() { w.hub.flaky = r.IntN(300) * r.IntN(2) })
	}
}

func (w *World) kind(name string, do func()) {
	if !w.off(name) {
		do()
	}
}

// long is how long something lasts: mostly minutes to hours, now and then weeks.
func (w *World) long() time.Duration {
	r := w.rng.fault
	d := time.Duration(r.IntN(120)+1) * time.Minute
	switch r.IntN(12) {
	case 0:
		return d * 12
	case 1:
		return d * 168
	}
	return d
}

// partition cuts a direction between some pairs.
func (m *mesh) partition(d time.Duration) {
	r := m.w.rng.fault
	for i := range m.cut {
		for k := range m.cut[i] {
			if oneIn(r, 3) {
				m.cut[i][k] = m.w.now + d
			}
		}
	}
	m.w.tracef("the network is cut for %v", d)
}

func (m *mesh) isolate(c *computer, d time.Duration) {
	for i := range m.cut {
		m.cut[i][c.number], m.cut[c.number][i] = m.w.now+d, m.w.now+d
	}
	m.w.tracef("%s is cut off for %v", c, d)
}

// night closes every laptop.
func (w *World) night(d time.Duration) {
	for _, c := range w.computers {
		c.sleep(d + w.jitter(20*time.Minute))
	}
}

// jump sets a clock, forward or back.
func (c *computer) jump() {
	r := c.w.rng.fault
	d := time.Duration(r.IntN(7200)+1) * time.Second
	switch r.IntN(6) {
	case 0:
		d *= 24
	case 1:
		d *= 24 * 90
	case 2:
		c.skew, d = 0, 0
	}
	if oneIn(r, 2) {
		d = -d
	}
	c.skew += d
	c.w.tracef("the clock of %s jumps by %v", c, d)
	c.tickAt = -1
	if c.up() {
		c.tickLater()
	}
}

// duplicate copies a whole disk onto another machine that runs beside the first for a while.
func (w *World) duplicate(c *computer, d time.Duration) {
	if len(w.computers) > 9 || c.lane || c.clone || c.off {
		return
	}
	n := len(w.computers)
	twin := newComputer(w, n, c.name+"'")
	twin.key, twin.dev, twin.fleet = c.key, c.dev, c.fleet
	twin.shelf, twin.inc, twin.life = c.shelf.clone(), c.inc, c.life
	twin.user, twin.users = c.user, c.users
	twin.clone, twin.twice, c.twice = true, true, true
	twin.checkout = c.checkout
	for i := range twin.kept {
		twin.kept[i] = append(bits(nil), c.kept[i]...)
	}
	twin.made = append(bits(nil), c.made...)
	twin.mirror = nil
	for _, heads := range c.mirror {
		twin.mirror = append(twin.mirror, append([]commit(nil), heads...))
	}
	w.computers = append(w.computers, twin)
	w.mesh.grow(n + 1)
	w.tracef("the disk of %s is copied", c)
	twin.boot()
	w.after(d, nil, func() { twin.retire() })
}

// retire switches a machine off for good.
func (c *computer) retire() {
	if !c.off {
		c.w.tracef("%s is switched off for good", c)
		c.off, c.running, c.asleep = true, false, false
		c.life++
	}
}

// rewriteMaster force-pushes the base branch: its last commit never was.
func (w *World) rewriteMaster() {
	g, h := w.git, w.hub
	if before := g.commits[h.master].parents[0]; before != 0 {
		tree := *g.tree(before)
		i := w.rng.hub.IntN(3)
		tree[i] = g.edit(tree[i], false)
		h.setMaster(g.commit(tree, before))
		w.tracef("master is rewritten")
	}
}

// forcePush rewrites a pull request's branch: onto the tip with other changes, or back to an older head.
func (w *World) forcePush(p *pull) {
	r, g, h := w.rng.hub, w.git, w.hub
	if oneIn(r, 2) {
		h.setHead(p, p.past[r.IntN(len(p.past))], h.lag())
		w.tracef("pull request %d goes back to an older head", p.number)
		return
	}
	tree := *g.tree(h.master)
	i := r.IntN(3)
	tree[i] = g.edit(tree[i], false)
	h.setHead(p, g.commit(tree, h.master), h.lag())
	w.tracef("pull request %d is force-pushed", p.number)
}

// meanwhile is GitHub's own life: what others do there.
func (w *World) meanwhile() {
	if w.off("hub") {
		return
	}
	r, g, h := w.rng.hub, w.git, w.hub
	p := h.pulls[r.IntN(len(h.pulls))]
	switch r.IntN(12) {
	case 0, 1:
		w.moveMaster()
	case 2:
		if w.moveMaster(); oneIn(r, 6) {
			w.rewriteMaster()
		}
	case 3:
		if len(h.pulls) < 8 {
			w.propose()
		}
	case 4, 5:
		if p.open { // another push
			tree := *g.tree(p.head)
			i := r.IntN(3)
			tree[i] = g.edit(tree[i], false)
			h.setHead(p, g.commit(tree, p.head), h.lag())
			w.tracef("pull request %d is pushed to", p.number)
		}
	case 6:
		if p.open { // force-pushed onto the tip, with other changes
			w.forcePush(p)
		}
	case 7:
		switch {
		case p.open && oneIn(r, 8):
			p.open, p.gone = false, true
			w.tracef("pull request %d is gone", p.number)
		case p.open:
			p.open = false
			w.tracef("pull request %d is closed", p.number)
		}
	case 8, 9:
		if !p.open && !p.merged && !p.gone {
			p.open = true
			w.tracef("pull request %d is reopened", p.number)
		}
	case 10:
		if p.open {
			if p.base = "release"; oneIn(r, 2) {
				p.base = master
			}
			w.tracef("pull request %d goes into %s", p.number, p.base)
		}
	case 11:
		if p.open && p.base == master {
			if m := g.merge(h.master, p.head); len(m.conflicts) == 0 {
				h.land(p, m.tree)
				w.tracef("pull request %d is merged elsewhere", p.number)
			}
		}
	}
}
