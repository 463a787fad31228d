package overlap

import (
	"slices"

	"github.com/parley-mesh/parley/ledger"
)

// thing is what was said about one session, intent or branch. Every list is in order.
type thing struct {
	id       ledger.ID
	says     []item // of the thing itself
	claims   []item
	edits    map[ledger.Path][]item
	attempts []item
	talk     []item // acts and messages
}

// first is the record that the thing begins with; of a branch, which has none, the earliest. What was written at home
// begins it rather than what says that it stands for that; and where two computers say that something of theirs stands
// for it, nobody can tell whose it is, and it has not begun.
func (t *thing) first() (first item) {
	for _, it := range t.says {
		switch {
		case it.Kind == ledger.KindBranch:
			return it
		case it.ID != t.id || !it.begins():
		case !it.shared:
			return it
		case first.Record == nil:
			first = it
		case first.Device != it.Device:
			return item{}
		}
	}
	return first
}

// begins reports whether a record says that it is the first about its session or intent.
func (i item) begins() bool {
	switch c := i.Content.(type) {
	case *ledger.Session:
		return c.First == ledger.ID{}
	case *ledger.Intent:
		return c.First == ledger.ID{}
	}
	return false
}

// owner is who may speak for a thing: the computers of the developer whose record it begins with; of a branch the one
// computer that published it last.
type owner struct {
	first  item
	fold   *Fold
	who    ledger.TID
	device ledger.Device
	branch bool
}

// ownerOf is nobody, as long as the record that a thing begins with is not here.
func (f *Fold) ownerOf(t *thing) (o owner, known bool) {
	first := t.first()
	if first.Record == nil {
		return o, false
	}
	o = owner{first: first, fold: f, who: f.developer(first.Device), device: first.Device, branch: first.Kind == ledger.KindBranch}
	if o.branch {
		o.device = t.published().Device
		o.who = f.developer(o.device)
	}
	return o, true
}

// published is what was said of a branch last. Whoever names its id in another kind of record says nothing of it.
func (t *thing) published() (it item) {
	for _, it = range slices.Backward(t.says) {
		if it.Kind == ledger.KindBranch {
			break
		}
	}
	return it
}

// speaks reports whether a record about the thing counts.
func (o owner) speaks(it item) bool {
	if it.place != o.first.place {
		return false
	}
	return it.Device == o.device || !o.branch && o.fold.developer(it.Device) == o.who
}

// of are the items of a list that count.
func (o owner) of(list []item) []item {
	if !slices.ContainsFunc(list, func(it item) bool { return !o.speaks(it) }) {
		return list
	}
	return slices.DeleteFunc(slices.Clone(list), func(it item) bool { return !o.speaks(it) })
}

// last is the content of the last item that counts and is of the kind.
func last[T ledger.Body](o owner, list []item) (content T, at item) {
	for _, it := range slices.Backward(list) {
		if c, ok := it.Content.(T); ok && o.speaks(it) {
			return c, it
		}
	}
	return content, at
}

// span is the part of time in which what a session does belongs to one of its intents.
type span struct {
	intent *thing
	until  *item // the record that closed the intent; nil: still open
}

// spans are a session's intents in the order in which they were declared. What the session holds itself belongs to the
// first that is not closed by then; so its conflicts move to the intent that it declares (C10).
func (f *Fold) spans(session *thing, o owner) (all []span) {
	for _, t := range f.of[session.id] {
		it := t.first()
		if it.Record == nil || !o.speaks(it) {
			continue
		}
		if c, ok := it.Content.(*ledger.Intent); !ok || c.Session != session.id {
			continue
		}
		own, _ := f.ownerOf(t)
		all = append(all, span{t, closing(own.of(t.says))})
	}
	return all
}

// closing is the record from which on an intent is not live.
func closing(says []item) (at *item) {
	for i := range says {
		c, ok := says[i].Content.(*ledger.Intent)
		switch {
		case !ok:
		case c.State == ledger.IntentLive:
			at = nil
		case at == nil:
			at = &says[i]
		}
	}
	return at
}

// carrier is the intent that an item of a session belongs to, nil for the session itself.
func carrier(spans []span, it item) *thing {
	for _, s := range spans {
		if s.until == nil || it.compare(*s.until) < 0 {
			return s.intent
		}
	}
	return nil
}

// held is what one side holds: its own records, and those of its session that belong to it.
type held struct {
	claims []item
	edits  map[ledger.Path][]item
}

// holds gathers what a thing holds. from is its session with the session's owner, if it is an intent.
func holds(t *thing, o owner, session *thing, by owner, spans []span) held {
	h := held{claims: o.of(t.claims), edits: make(map[ledger.Path][]item, len(t.edits))}
	keep := func(list []item, of *thing) []item {
		return slices.DeleteFunc(slices.Clone(list), func(it item) bool { return carrier(spans, it) != of })
	}
	if session == t { // the session itself, with what belongs to none of its intents
		h.claims = keep(h.claims, nil)
		for path, list := range t.edits {
			h.edits[path] = keep(o.of(list), nil)
		}
		return h
	}
	for path, list := range t.edits {
		h.edits[path] = o.of(list)
	}
	if session != nil {
		h.claims = merged(h.claims, keep(by.of(session.claims), t))
		for path, list := range session.edits {
			h.edits[path] = merged(h.edits[path], keep(by.of(list), t))
		}
	}
	return h
}

func merged(a, b []item) []item {
	if len(b) == 0 {
		return a
	}
	out := append(slices.Clone(a), b...)
	slices.SortFunc(out, item.compare)
	return out
}

// since is when the present run of changes of a path began, and the last word on it; false where it is as at the base.
func since(list []item) (first item, now *ledger.Edit, ok bool) {
	for _, it := range list {
		e := it.Content.(*ledger.Edit)
		switch {
		case e.Op == ledger.EditBack:
			now = nil
		case now == nil:
			first, now = it, e
		default:
			now = e
		}
	}
	return first, now, now != nil
}

// claimKey tells claims apart; one that becomes exclusive is another one.
type claimKey struct {
	kind      uint64
	pattern   string
	exclusive bool
}

// standing is one claim that a side holds.
type standing struct {
	ledger.Held
	since item
}

// standingClaims are the claims that stand at the end of a list, ascending, each since it stands without a break. Each
// of the holders in it says all that it holds.
func standingClaims(list []item) []standing {
	by := map[ledger.ID][]ledger.Held{}
	var holders []ledger.ID // an intent and its session at most
	stands := map[claimKey]standing{}
	for _, it := range list {
		c := it.Content.(*ledger.Claim)
		if by[c.Holder] = c.Claims; !slices.Contains(holders, c.Holder) {
			holders = append(holders, c.Holder)
		}
		next := map[claimKey]standing{}
		for _, holder := range holders {
			for _, h := range by[holder] {
				key := claimKey{h.Kind, h.Pattern, h.Exclusive}
				s, stood := stands[key]
				if !stood {
					s.since = it
				}
				s.Held = h
				next[key] = s
			}
		}
		stands = next
	}
	out := make([]standing, 0, len(stands))
	for _, s := range stands {
		out = append(out, s)
	}
	slices.SortFunc(out, func(a, b standing) int { return a.since.compare(b.since) })
	slices.SortStableFunc(out, func(a, b standing) int {
		if a.Kind != b.Kind {
			return int(a.Kind) - int(b.Kind)
		}
		if a.Pattern != b.Pattern {
			if a.Pattern < b.Pattern {
				return -1
			}
			return 1
		}
		return 0
	})
	return out
}
