package simnet

import (
	"slices"

	"github.com/parley-mesh/parley/conflicts/thread"
	"github.com/parley-mesh/parley/ledger"
	"github.com/parley-mesh/parley/node/core"
)

// look answers a core's question about the outside world. What GitHub does not answer is told as that.
func (c *computer) look(e core.Look) {
	h := c.w.hub
	p := h.find(e.State.Open.Pull)
	if h.fails() {
		in := core.Looked{Thread: e.Thread, Err: errOutage.Error()}
		if c.w.is(outageVerdict) {
			in.Err = ""
			in.Look = c.observe(e.State)
			in.Look.Pull = thread.Pull{Known: true, Gone: true}
		}
		c.answer(in, true)
		return
	}
	if p.open && h.page(p) != p.head {
		c.fetch(p)
		c.answer(core.Looked{Thread: e.Thread, Err: "GitHub is catching up"}, true)
		return
	}
	l := c.observe(e.State)
	c.w.tracef("%s looks at %s: open %d clean %d ready %d final %d", c, e.Thread.Short(), l.Open, l.HeadClean, l.Ready, l.Final)
	c.answer(core.Looked{Thread: e.Thread, Look: l}, false)
}

// observe makes one observation for a state of a thread, with the rules of section 4.6.
func (c *computer) observe(s *thread.State) thread.Look {
	g, o := c.w.git, s.Open
	p := c.w.hub.find(o.Pull)
	tip := c.fetch(p)
	l := thread.Look{At: c.wall(), For: s.Head(), Tip: g.id(tip), OnBase: c.onBase}
	if s.Ready != nil {
		l.ForReady = s.Ready.ID
	}
	l.Pull = thread.Pull{
		Known: true, Open: p.open, Merged: p.merged, MergeCommit: g.id(p.mergeCommit), Head: g.id(p.head), HeadRef: p.ref, Base: p.base,
	}
	if p.gone {
		l.Pull = thread.Pull{Known: true, Gone: true}
		return l
	}
	c.verifyOpen(&l, o, tip)
	author := c.owner() == o.Author && c.made.has(int(g.byCommit[o.Head]))
	l.Author = author && !c.w.is(noHold)
	if l.Account = thread.No; c.owner() == o.Author || c.w.is(worksForAll) {
		l.Account = thread.Yes
	}
	for i := range o.Files {
		l.Files = append(l.Files, c.file(&o.Files[i], o.Pull, tip, l.Open))
	}
	if p.open {
		m := g.merge(tip, p.head)
		l.HeadClean = thread.No
		if len(m.conflicts) == 0 {
			l.HeadClean = thread.Yes
		}
		l.HeadBase = g.id(m.base)
		l.HeadFiles = c.blobs(o, p.head)
		c.verifyReady(&l, s, p)
	}
	c.verifyFinal(&l, s, p, tip)
	return l
}

// owner is the GitHub account that is signed in here.
func (c *computer) owner() uint64 {
	switch {
	case c.user != 0:
		return c.user
	case c.lane:
		return mate
	}
	return me
}

func (c *computer) verifyOpen(l *thread.Look, o *ledger.Open, tip commit) {
	g := c.w.git
	base, head, fork := g.byCommit[o.BaseHead], g.byCommit[o.Head], g.byCommit[o.MergeBase]
	if !g.ancestor(base, tip) {
		l.Open, l.OpenWhy = thread.No, "the base commit it names is not on "+o.Base
		return
	}
	for _, at := range []commit{head, fork} {
		if !c.w.hub.commits.has(int(at)) {
			l.OpenWhy = "a commit that it names has not been fetched from GitHub"
			return
		}
	}
	for i := range o.Files {
		f := &o.Files[i]
		path := pathOf(f)
		if g.blobID(g.tree(base)[path]) != f.Master || g.blobID(g.tree(head)[path]) != f.Pull {
			l.Open, l.OpenWhy = thread.No, "the versions it names are not those on GitHub"
			return
		}
	}
	l.Open = thread.Yes
}

func (c *computer) file(f *ledger.File, pull uint64, tip commit, open thread.Verdict) thread.File {
	g, path := c.w.git, pathOf(f)
	verified := f
	if open != thread.Yes {
		verified = nil
	}
	k := c.known(path, tip, pull, verified)
	out := thread.File{Tip: g.blobID(g.tree(tip)[path])}
	out.Class, out.Lines = c.classify(path, k, f)
	three := c.three(path)
	out.Here = g.blobID(three[2])
	out.Replaceable = c.onBase && allIn(k, three[:]...)
	if c.w.is(clobber) {
		out.Replaceable = c.onBase
	}
	return out
}

// blobs is each file's version in a commit, in the order of the open.
func (c *computer) blobs(o *ledger.Open, at commit) []ledger.OID {
	out := make([]ledger.OID, len(o.Files))
	for i := range o.Files {
		out[i] = c.w.git.blobID(c.w.git.tree(at)[pathOf(&o.Files[i])])
	}
	return out
}

func (c *computer) verifyReady(l *thread.Look, s *thread.State, p *pull) {
	r, g := s.Ready, c.w.git
	if r == nil {
		return
	}
	refuse := func(why string) { l.Ready, l.ReadyWhy = thread.No, why }
	switch {
	case r.Head != l.Pull.Head:
		refuse("the pull request was pushed to since it was tested")
		return
	case l.HeadClean != thread.Yes:
		refuse("the updated pull request does not merge cleanly")
		return
	}
	then := c.blobs(s.Open, g.byCommit[r.BaseHead])
	for i, f := range r.Files {
		switch head := g.byBlob[l.HeadFiles[i]]; {
		case l.HeadFiles[i] != f.Blob:
			refuse("it does not hold the version it names")
			return
		case l.Files[i].Tip != then[i]:
			refuse("a file changed on the base since it was tested")
			return
		case g.blobs[head].markers:
			refuse("it has new conflict markers")
			return
		}
	}
	l.Ready = thread.Yes
}

func (c *computer) verifyFinal(l *thread.Look, s *thread.State, p *pull, tip commit) {
	g := c.w.git
	if !p.merged {
		l.FinalWhy = "GitHub does not show the pull request as merged"
		return
	}
	if !g.ancestor(p.mergeCommit, tip) {
		l.FinalWhy = "the merge commit is not on the base branch"
		return
	}
	l.Published = c.blobs(s.Open, p.mergeCommit)
	if s.Final == nil {
		return
	}
	if c.w.is(credulous) {
		l.Final = thread.Yes
		return
	}
	at := g.byCommit[s.Final.Commit]
	if !g.ancestor(at, tip) || !g.ancestor(p.mergeCommit, at) {
		l.Final, l.FinalWhy = thread.No, "the commit it names is not on the base branch or does not hold the merge"
		return
	}
	named := c.blobs(s.Open, at)
	for i, v := range s.Final.Files {
		if named[i] != v.Blob {
			l.Final, l.FinalWhy = thread.No, "the version it names is not the one in the commit"
			return
		}
	}
	l.Final = thread.Yes
}

// scan looks for conflicting pull requests, as a main computer's shell does.
func (c *computer) scan(e core.Scan) {
	h, g := c.w.hub, c.w.git
	out := core.Scanned{Slug: e.Slug}
	if h.fails() {
		out.Err = errOutage.Error()
		c.answer(out, true)
		return
	}
	out.Open = []uint64{}
	tip := c.fetch(nil)
	for _, p := range h.pulls {
		if !p.open || p.base != master {
			continue
		}
		out.Open = append(out.Open, p.number)
		k := e.Known[p.number]
		judged := k.Head == g.id(p.head) && k.Tip == g.id(tip) && k.Verdict != core.VerdictConversation
		if p.author != c.owner() && !slices.Contains(e.Teammates, p.author) || judged || slices.Contains(e.Running, p.number) || h.page(p) != p.head {
			continue
		}
		c.fetch(p)
		c.answer(c.try(e.Slug, p, tip), false)
	}
	if h.fails() { // it was reached no further
		out.Err = errOutage.Error()
		out.Open = nil
	}
	c.w.tracef("%s scans: %v %s", c, out.Open, out.Err)
	c.w.after(2*c.w.jitter(1e9)+1e9, c, func() { c.give(out, out.Err != "") })
}

// try asks git for one merge.
func (c *computer) try(named string, p *pull, tip commit) *core.Trial {
	g := c.w.git
	m := g.merge(tip, p.head)
	t := &core.Trial{
		Repo: core.Repository{Slug: named, Host: host, ID: repoID, Base: master}, Pull: p.number, Title: p.ref,
		Head: g.id(p.head), Tip: g.id(tip), Author: p.author, Verdict: core.VerdictConversation,
	}
	if len(m.conflicts) == 0 {
		t.Verdict = core.VerdictClean
		return t
	}
	t.MergeBase = g.id(m.base)
	for _, path := range m.conflicts {
		base, ours, theirs := g.tree(m.base)[path], g.tree(tip)[path], g.tree(p.head)[path]
		if ours == 0 {
			t.Verdict, t.Reason, t.Files = core.VerdictPerson, pathNames[path]+" was deleted on the base branch.", nil
			return t
		}
		t.Files = append(t.Files, ledger.File{
			Path: ledger.Path(pathNames[path]), Base: g.blobID(base), Master: g.blobID(ours), Pull: g.blobID(theirs), Mode: ledger.ModePlain,
		})
	}
	if t.Teammate = p.author != c.owner(); !t.Teammate {
		t.Made = c.w.mesh.made(c, p.head)
	}
	return t
}
