package overlap

import (
	"maps"
	"reflect"
	"slices"

	"github.com/parley-mesh/parley/detect"
	"github.com/parley-mesh/parley/ledger"
)

// settle brings everything up to date that answers are made of.
func (f *Fold) settle() {
	for f.Step() {
	}
}

// meetsMax is against how many others a side that changed is held in one step.
const meetsMax = 16

// Step does a part of [Fold.Settle], some milliseconds at the most unless people, rules or shares have changed, and
// reports whether there may be more to do. Whoever asks in between and settles by that does the rest first;
// [Fold.Decide] and what is called settled answer from what was listed last.
func (f *Fold) Step() bool {
	f.again()
	switch {
	case len(f.unmet) > 0:
		f.meet(f.unmet[0])
	case f.apart:
		f.apart = false
		f.touchAll(f.joint)
		f.joint = f.tell(f.together())
	case f.stale:
		all := f.all
		f.renew()
		for all && f.Step() { // at once, since there is no list to answer from
		}
	case f.unlisted:
		f.unlisted = false
		f.conclude()
	default:
		return false
	}
	return true
}

// renew computes the sides anew that something was said about, and says what follows from that.
func (f *Fold) renew() {
	f.stale, f.unlisted = false, true
	if f.unnamed && f.rename() {
		f.all = true // names stand in sentences, and intents name each other
	}
	f.unnamed = false
	if f.all {
		f.sides, f.order, f.pairs = map[ledger.ID]*side{}, nil, map[[2]ledger.ID]told{}
		f.alone, f.index, f.joint, f.compared = map[ledger.ID]told{}, newGround(), told{}, map[Place]*detect.Comparisons{}
		f.list, f.byID, f.mine, f.number, f.numbers = nil, nil, nil, map[ledger.ID]string{}, nil
		for id := range f.events {
			f.changed[id] = true
		}
	}
	f.unmet, f.met = f.revise(f.affected()), 0
	f.all, f.apart = false, len(f.unmet) > 0
	clear(f.dirty)
	f.withdraw(f.unmet)
}

// affected are the things that have to be computed anew: those that something was said about, and what hangs together
// with them as session and intents.
func (f *Fold) affected() map[ledger.ID]*thing {
	if f.all {
		return f.things
	}
	out := map[ledger.ID]*thing{}
	with := func(id ledger.ID) {
		if t := f.things[id]; t != nil {
			out[id] = t
		}
		for _, t := range f.of[id] {
			out[t.id] = t
		}
	}
	for id := range f.dirty {
		with(id)
		if session := f.sessionNamed(id); session != (ledger.ID{}) {
			with(session)
		}
	}
	return out
}

// sessionNamed is the session that an intent says it is of.
func (f *Fold) sessionNamed(id ledger.ID) (session ledger.ID) {
	if t := f.things[id]; t != nil && t.first().Record != nil {
		if c, ok := t.first().Content.(*ledger.Intent); ok {
			session = c.Session
		}
	}
	return session
}

// revise computes things anew, and returns the sides that are not as they were.
func (f *Fold) revise(things map[ledger.ID]*thing) (changed []*side) {
	for id, t := range things {
		old, now := f.sides[id], f.evaluate(t)
		switch {
		case now == nil:
			continue
		case old != nil && old.meetsLike(now):
			now.digest, now.party, now.classes = old.digest, old.party, old.classes
		default:
			changed = append(changed, now)
		}
		f.sides[id], f.revised[id] = now, true
		at, there := slices.BinarySearchFunc(f.order, now, compareSides)
		if there {
			f.order[at] = now
		} else {
			f.order = slices.Insert(f.order, at, now)
		}
	}
	slices.SortFunc(changed, compareSides)
	return changed
}

// meetsLike reports whether nothing changed of all that decides what a side has with others.
func (s *side) meetsLike(now *side) bool {
	return s.root == now.root && s.phase == now.phase && s.who == now.who && s.session == now.session && s.place == now.place && s.arrived == now.arrived &&
		reflect.DeepEqual(s.published, now.published) && reflect.DeepEqual(s.digest, now.digest)
}

func compareSides(a, b *side) int { return slices.Compare(a.id[:], b.id[:]) }

// withdraw forgets what was between sides that changed and others, and takes them in as they are now. The conflicts are
// listed anew, since one of their sides is.
func (f *Fold) withdraw(changed []*side) {
	if len(changed) == 0 {
		return
	}
	f.byRef = make(map[string]*side, len(f.order))
	for _, s := range f.order {
		f.byRef[s.digest.Side.Ref] = s
	}
	f.moved = make(map[ledger.ID]bool, len(changed))
	for _, s := range changed {
		f.moved[s.id] = true
		f.index.put(s)
		delete(f.alone, s.id)
	}
	for pair := range f.pairs {
		if f.moved[pair[0]] || f.moved[pair[1]] {
			delete(f.pairs, pair)
		}
	}
}

// meet finds what concerns a side that changed, alone and with the next of the others. Of two that did, it is left to the second.
func (f *Fold) meet(s *side) {
	if f.met == 0 && s.live() {
		f.alone[s.id] = f.tell(detect.Alone(s.party))
	}
	end := min(f.met+meetsMax, len(f.order))
	for _, o := range f.order[f.met:end] {
		if s == o || f.moved[o.id] && s.id.Less(o.id) {
			continue
		}
		if r := f.between(s, o); len(r.Findings)+len(r.Doubts) > 0 {
			f.pairs[pairOf(s, o)] = f.tell(r)
		}
	}
	if f.met = end; f.met == len(f.order) {
		f.unmet, f.met = f.unmet[1:], 0
	}
}

// told is what the detectors say, and the conflicts that it makes.
type told struct {
	detect.Report
	conflicts []Conflict
}

func (f *Fold) tell(r detect.Report) told {
	t := told{Report: r}
	for i := range r.Findings {
		t.conflicts = append(t.conflicts, f.conflictOf(&r.Findings[i]))
	}
	f.touchAll(t)
	return t
}

// touchAll lets conflicts be listed anew.
func (f *Fold) touchAll(t told) {
	for i := range t.conflicts {
		f.changed[t.conflicts[i].ID] = true
	}
}

func pairOf(a, b *side) [2]ledger.ID {
	if b.id.Less(a.id) {
		a, b = b, a
	}
	return [2]ledger.ID{a.id, b.id}
}

// between is what two sides have between them.
func (f *Fold) between(a, b *side) detect.Report {
	switch {
	case related(a, b):
	case a.live() && b.live(), a.live() && b.phase == MergedIn, a.phase == MergedIn && b.live():
		return detect.Meet(a.party, b.party, sameLines(a.digest, b.digest))
	}
	return detect.Report{}
}

// sameLines is what can be compared line by line: files whose content at the base is one on both sides. Their bases
// may be different commits.
func sameLines(a, b *detect.Digest) detect.Meeting {
	if a.Side.Repo != b.Side.Repo {
		return detect.Meeting{}
	}
	if a.Base == b.Base {
		return detect.Meeting{Base: a.Base}
	}
	m := detect.Meeting{FilesA: []detect.File{}, FilesB: []detect.File{}}
	at := map[string]*detect.File{}
	for i := range b.Files {
		at[b.Files[i].Old()] = &b.Files[i]
	}
	for i := range a.Files {
		x := &a.Files[i]
		if y := at[x.Old()]; x.Old() != "" && y != nil && x.BaseBlob == y.BaseBlob {
			m.FilesA, m.FilesB = append(m.FilesA, *x), append(m.FilesB, *y)
		}
	}
	return m
}

// together is what concerns any number of sides.
func (f *Fold) together() detect.Report {
	byPlace := map[Place][]*detect.Party{}
	var places []Place
	for _, s := range f.order {
		if s.kind != detect.Intent && !s.live() {
			continue
		}
		if byPlace[s.place] == nil {
			places = append(places, s.place)
		}
		byPlace[s.place] = append(byPlace[s.place], s.party)
	}
	var r detect.Report
	for _, p := range places {
		if f.compared[p] == nil {
			f.compared[p] = new(detect.Comparisons)
		}
		r.Add(f.compared[p].Together(byPlace[p]))
	}
	maps.DeleteFunc(f.compared, func(p Place, _ *detect.Comparisons) bool { return byPlace[p] == nil })
	r.Findings = slices.DeleteFunc(r.Findings, func(one detect.Finding) bool {
		return one.Kind == detect.DuplicateWork && related(f.byRef[one.Sides[0]], f.byRef[one.Sides[1]])
	})
	return r
}

// Doubts are the questions that the records do not answer, in order.
func (f *Fold) Doubts() []detect.Doubt {
	f.settle()
	r := detect.Report{Doubts: slices.Clone(f.joint.Doubts)}
	for _, s := range f.order {
		r.Doubts = append(r.Doubts, f.alone[s.id].Doubts...)
	}
	for _, one := range f.pairs {
		r.Doubts = append(r.Doubts, one.Doubts...)
	}
	r.Sort()
	return r.Doubts
}
