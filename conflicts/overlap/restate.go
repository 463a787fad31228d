package overlap

import (
	"cmp"
	"maps"
	"slices"

	"github.com/parley-mesh/parley/ledger"
)

// Statement is what a computer says anew of something that goes on, and the place of the record at home that it stands
// for.
type Statement struct {
	For  ledger.Place
	At   uint64 // Unix milliseconds
	Body ledger.Body
}

// Told is what somebody who listens was told of one computer's work in a repository: of which sessions, intents and
// branches the beginning. It begins with nothing.
type Told map[ledger.ID]bool

// Heard takes in that a record was told already, as an earlier process did it.
func (t Told) Heard(r *ledger.Record) {
	if id, _ := subject(r); id != (ledger.ID{}) {
		t[id] = true // its beginning was told before it
	}
}

// Begin says how the work of a computer stands now, as far as it was not told, and not how it came to that. Sides,
// edits and claims have the place at which each began, so that both find the same newcomer.
func (t Told) Begin(f *Fold, device ledger.Device, place Place) []Statement {
	f.settle()
	keep := map[ledger.ID]bool{}
	for _, s := range f.order {
		if s.device == device && s.place == place && s.phase != Ended && s.phase != Expired {
			keep[s.id] = true
		}
	}
	return t.restate(f, device, keep)
}

// Before is what has to be said before a record can be told: how that stands which it is about, where nothing of it
// was told.
func (t Told) Before(f *Fold, r *ledger.Record) []Statement {
	id, begins := subject(r)
	if begins {
		t[id], id = true, ledger.ID{}
		if c, ok := r.Content.(*ledger.Intent); ok {
			id = c.Session
		}
	}
	if id == (ledger.ID{}) || t[id] {
		return nil
	}
	f.settle()
	return t.restate(f, r.Device, map[ledger.ID]bool{id: true})
}

// subject is what a record is about, and whether it is its beginning.
func subject(r *ledger.Record) (id ledger.ID, begins bool) {
	switch c := r.Content.(type) {
	case *ledger.Session:
		id, begins = c.First, c.First == ledger.ID{}
	case *ledger.Intent:
		id, begins = c.First, c.First == ledger.ID{}
	case *ledger.Claim:
		id = c.Holder
	case *ledger.Edit:
		id = c.Holder
	case *ledger.Attempt:
		id = c.Session
	case *ledger.Act:
		id = c.Side
	case *ledger.Message:
		id = c.From
	}
	if begins {
		id = r.Place().ID
	}
	return id, begins
}

// restate says those things anew that were not told, and with a session all of its intents: they say what of its work is
// theirs.
func (t Told) restate(f *Fold, device ledger.Device, keep map[ledger.ID]bool) (out []Statement) {
	for id := range maps.Clone(keep) {
		if session := f.sessionNamed(id); session != (ledger.ID{}) {
			keep[session] = true
		}
	}
	for id := range maps.Clone(keep) {
		for _, o := range f.of[id] {
			keep[o.id] = true
		}
	}
	for _, s := range f.order {
		if keep[s.id] && !t[s.id] && s.device == device {
			t[s.id] = true
			out = append(out, f.restate(f.things[s.id], device)...)
		}
	}
	slices.SortStableFunc(out, func(a, b Statement) int {
		return cmp.Or(cmp.Compare(a.For.Lam, b.For.Lam), slices.Compare(a.For.ID[:], b.For.ID[:]))
	})
	return out
}

// restate says one thing anew.
func (f *Fold) restate(t *thing, device ledger.Device) (out []Statement) {
	o, known := f.ownerOf(t)
	if !known {
		return nil
	}
	out = restateSays(o, t)
	if _, at := last[*ledger.Attempt](o, t.attempts); at.Record != nil && f.now < at.when()+AttemptFor {
		out = append(out, Statement{at.Place(), at.At, at.Content})
	}
	var spans []span
	if t.first().Kind == ledger.KindSession {
		spans = f.spans(t, o)
	}
	for _, of := range carriers(spans) {
		mine := func(list []item) []item {
			return slices.DeleteFunc(slices.Clone(o.of(list)), func(it item) bool { return it.Device != device || carrier(spans, it) != of })
		}
		claims := mine(t.claims)
		held, began := restateClaims(t.id, claims), claims
		for _, path := range slices.Sorted(maps.Keys(t.edits)) {
			list := mine(t.edits[path])
			stands := slices.DeleteFunc(slices.Clone(list), putBack(f.withIt(t, of, path)))
			if first, e, ok := since(stands); ok {
				held = append(held, Statement{first.Place(), list[len(list)-1].At, e})
			}
			began = append(began, list...)
		}
		out = append(out, held...)
		if len(began) > 0 {
			out = append(out, arrival(t.id, slices.MinFunc(began, item.compare), held)...)
		}
	}
	return out
}

// withIt are the edits of a path that one side holds beside those of a thing itself: of a session whose work an intent
// carries, those of the intent, and of an intent those of its session that it carries.
func (f *Fold) withIt(t, carrying *thing, path ledger.Path) []item {
	if carrying != nil {
		o, _ := f.ownerOf(carrying)
		return o.of(carrying.edits[path])
	}
	session := f.things[f.sessionNamed(t.id)]
	if session == nil {
		return nil
	}
	o, _ := f.ownerOf(session)
	spans := f.spans(session, o)
	return slices.DeleteFunc(slices.Clone(o.of(session.edits[path])), func(it item) bool { return carrier(spans, it) != t })
}

// putBack reports of an edit whether one of some others put its path back after it.
func putBack(others []item) func(item) bool {
	return func(it item) bool {
		return slices.ContainsFunc(others, func(o item) bool { return o.Content.(*ledger.Edit).Op == ledger.EditBack && it.compare(o) < 0 })
	}
}

// arrival says when a holder began, where nothing that it still holds does: an old claim of nothing.
func arrival(holder ledger.ID, first item, held []Statement) []Statement {
	if slices.ContainsFunc(held, func(s Statement) bool { return s.For == first.Place() }) {
		return nil
	}
	return []Statement{{first.Place(), first.At, &ledger.Claim{Holder: holder}}}
}

// carriers are the owners of a session's work: itself, then its intents.
func carriers(spans []span) []*thing {
	out := []*thing{nil}
	for _, s := range spans {
		out = append(out, s.intent)
	}
	return out
}

// restateSays says a thing from its beginning: as it is now, where it was closed, and when it last did or said anything.
func restateSays(o owner, t *thing) (out []Statement) {
	says := o.of(t.says)
	first, now, latest := t.first(), says[len(says)-1], t.latest(o)
	add := func(it item, body ledger.Body) { out = append(out, Statement{it.Place(), it.At, body}) }
	switch c := now.Content.(type) {
	case *ledger.Session:
		begins := *c
		begins.First = ledger.ID{}
		add(first, &begins)
	case *ledger.Intent:
		begins := *c
		begins.First, begins.State = ledger.ID{}, ledger.IntentLive
		add(first, &begins)
		if closed := closing(says); closed != nil && closed.ID != latest.ID {
			add(*closed, closed.Content)
		}
	}
	if latest.ID != first.ID && now.Kind != ledger.KindBranch {
		add(latest, again(now.Content, t.id))
	} else if now.Kind == ledger.KindBranch {
		add(now, now.Content)
	}
	return out
}

// latest is the last item of a thing.
func (t *thing) latest(o owner) (last item) {
	for _, list := range append([][]item{t.says, t.claims, t.attempts, t.talk}, slices.Collect(maps.Values(t.edits))...) {
		for _, it := range list {
			if o.speaks(it) && (last.Record == nil || it.compare(last) > 0) {
				last = it
			}
		}
	}
	return last
}

// again is a session or an intent said once more.
func again(body ledger.Body, id ledger.ID) ledger.Body {
	switch c := body.(type) {
	case *ledger.Session:
		out := *c
		out.First = id
		return &out
	case *ledger.Intent:
		out := *c
		out.First = id
		return &out
	}
	return body
}

// restateClaims says the claims that stand, each from when it began to.
func restateClaims(holder ledger.ID, list []item) (out []Statement) {
	stands := standingClaims(list)
	slices.SortStableFunc(stands, func(a, b standing) int { return a.since.compare(b.since) })
	for i, c := range stands {
		if i+1 < len(stands) && stands[i+1].since.ID == c.since.ID {
			continue
		}
		body := &ledger.Claim{Holder: holder}
		for _, s := range stands[:i+1] {
			body.Claims = append(body.Claims, s.Held)
		}
		slices.SortFunc(body.Claims, func(a, b ledger.Held) int {
			return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Pattern, b.Pattern))
		})
		out = append(out, Statement{c.since.Place(), c.since.At, body})
	}
	return out
}
