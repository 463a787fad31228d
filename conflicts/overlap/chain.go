package overlap

import (
	"cmp"
	"slices"

	"github.com/parley-mesh/parley/ledger"
)

type chainKey struct {
	ledger ledger.TID
	ledger.Chain
}

// chain is one chain of a ledger: what counts of it, and what came before its turn.
type chain struct {
	scope ledger.Scope
	share ledger.ID
	said  []item // from sequence 0, without a gap
	head  ledger.Head
	aside []item // everything else that came, by sequence, then id
}

// Add takes a record in; seen is when this computer first had it, in Unix milliseconds. The caller has verified it and
// judged whether it is let in. Of a chain that forks the branch is followed that [ledger.Follow] follows.
func (f *Fold) Add(r *ledger.Record, seen uint64) {
	key := chainKey{r.Ledger, r.Chain()}
	c := f.chains[key]
	if c == nil {
		c = &chain{head: ledger.Head{Chain: r.Chain()}}
		f.chains[key] = c
	}
	it := itemOf(r, seen)
	switch {
	case r.Seq < c.head.Next && c.said[r.Seq].Record.ID == r.ID:
	case r.Seq < c.head.Next:
		// A fork. Only the branch with the lower id can change what counts.
		if c.put(it) && slices.Compare(r.ID[:], c.said[r.Seq].Record.ID[:]) < 0 && r.Prev == c.said[r.Seq].Prev {
			f.rebuild, f.stale = true, true
		}
	case c.put(it) && !f.rebuild:
		f.advance(c)
	}
}

// put sets a record aside, and reports whether it was not there.
func (c *chain) put(it item) bool {
	at, there := slices.BinarySearchFunc(c.aside, it, func(a, b item) int {
		return cmp.Or(cmp.Compare(a.Seq, b.Seq), slices.Compare(a.Record.ID[:], b.Record.ID[:]))
	})
	if !there {
		c.aside = slices.Insert(c.aside, at, it)
	}
	return !there
}

// advance takes what continues a chain from what was set aside.
func (f *Fold) advance(c *chain) {
	for i := 0; i < len(c.aside); {
		it := c.aside[i]
		if it.Seq > c.head.Next {
			return
		}
		if !c.head.Extends(it.Record) {
			i++
			continue
		}
		if it.Seq == 0 {
			c.scope, c.share = it.Scope, it.Share
		}
		it.place = Place{c.scope.Host, c.scope.Repo}
		c.said, c.head = append(c.said, it), c.head.After(it.Record)
		c.aside = slices.Delete(c.aside, i, i+1)
		if f.counts(&it, c) {
			f.say(it)
		}
	}
}

// again computes anew what counts as said, where a fork came to light or a repository was added.
func (f *Fold) again() {
	if !f.rebuild {
		return
	}
	f.rebuild = false
	f.clear()
	for _, c := range f.chains {
		for _, it := range c.said {
			c.put(it)
		}
		*c = chain{head: ledger.Head{Chain: c.head.Chain}, aside: c.aside}
		f.advance(c)
	}
}

// Forget drops the ledgers of periods before one, as the store does.
func (f *Fold) Forget(period uint64) {
	f.again() // only what counts as said tells of when a chain is
	for key, c := range f.chains {
		if len(c.said) > 0 && c.scope.Period < period {
			delete(f.chains, key)
			f.rebuild, f.stale = true, true
		}
	}
}

// say files a record under what it is about.
func (f *Fold) say(it item) {
	if f.repos[it.place] == nil || it.Opaque {
		return
	}
	f.stale = true
	f.lam = max(f.lam, it.Lam, it.Record.Lam)
	f.hears(it)
	switch c := it.Content.(type) {
	case *ledger.Session:
		f.says(cmp.Or(c.First, it.ID), it)
	case *ledger.Intent:
		f.sayIntent(c, it)
	case *ledger.Branch:
		f.says(ledger.BranchSide(it.place.Host, it.place.Repo, c.Name), it)
	case *ledger.Claim:
		t := f.touch(c.Holder)
		t.claims = insert(t.claims, it)
	case *ledger.Edit:
		t := f.touch(c.Holder)
		t.edits[c.Path] = insert(t.edits[c.Path], it)
	case *ledger.Attempt:
		t := f.touch(c.Session)
		t.attempts = insert(t.attempts, it)
	case *ledger.Act:
		f.events[c.Conflict], f.changed[c.Conflict] = insert(f.events[c.Conflict], it), true
		f.active(c.Side, it)
	case *ledger.Found:
		f.events[c.Conflict], f.changed[c.Conflict] = insert(f.events[c.Conflict], it), true
	case *ledger.Message:
		f.words = insert(f.words, it)
		f.active(c.From, it)
	}
}

func (f *Fold) says(id ledger.ID, it item) {
	t := f.touch(id)
	t.says = insert(t.says, it)
	f.unnamed = true
}

// sayIntent also files an intent under the session that its first record names.
func (f *Fold) sayIntent(c *ledger.Intent, it item) {
	f.says(cmp.Or(c.First, it.ID), it)
	if c.First != (ledger.ID{}) {
		return
	}
	t := f.things[it.ID]
	if c.Session != (ledger.ID{}) && !slices.Contains(f.of[c.Session], t) {
		f.of[c.Session] = append(f.of[c.Session], t)
	}
	for _, other := range t.says { // where two stand for one beginning, they may name two sessions, or one of them none
		if o, ok := other.Content.(*ledger.Intent); ok && o.First == (ledger.ID{}) && o.Session != (ledger.ID{}) {
			slices.SortFunc(f.of[o.Session], func(a, b *thing) int { return a.first().compare(b.first()) })
			f.touch(o.Session)
		}
	}
}

// active keeps a side alive that acts or speaks.
func (f *Fold) active(id ledger.ID, it item) {
	if id != (ledger.ID{}) {
		t := f.touch(id)
		t.talk = insert(t.talk, it)
	}
}

// touch is a thing that something new is known of.
func (f *Fold) touch(id ledger.ID) *thing {
	t := f.things[id]
	if t == nil {
		t = &thing{id: id, edits: map[ledger.Path][]item{}}
		f.things[id] = t
	}
	f.dirty[id], f.stale = true, true
	return t
}
