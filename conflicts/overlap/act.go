package overlap

import (
	"errors"
	"fmt"
	"slices"

	"github.com/parley-mesh/parley/detect"
	"github.com/parley-mesh/parley/ledger"
)

// Errors of acting on a conflict, on which callers branch.
var (
	ErrClosed  = errors.New("the conflict is closed")  // 409 (C11)
	ErrNoRight = errors.New("you take no part in it")  // only participants, owners and admins (C11)
	ErrPerson  = errors.New("only a person may do it") // C14
)

// rule is what one action does. Everything else is judged by the overlap itself.
type rule struct {
	word     string
	becomes  Status // "": the status stays
	feedback bool   // also about a closed conflict
}

// rules are the actions by number. A false positive mutes the side that says so, and closes the conflict once nobody is
// left who is not muted; a person's closes it at once. An override closes it for as long as the evidence is the same.
// What resolves already is not set back by who acknowledges it. Resolve closes it unless it blocks: nobody lifts a block by saying that it is over.
var rules = [...]rule{
	ledger.ActAcknowledge:     {word: "acknowledge", becomes: Acknowledged},
	ledger.ActWillRebase:      {word: "will_rebase", becomes: Resolving},
	ledger.ActProposeSequence: {word: "propose_sequence", becomes: Resolving},
	ledger.ActNarrowScope:     {word: "narrow_scope", becomes: Resolving},
	ledger.ActTakeOver:        {word: "take_over", becomes: Resolving},
	ledger.ActRequestOverride: {word: "request_override"},
	ledger.ActFalsePositive:   {word: "false_positive"},
	ledger.ActResolve:         {word: "resolve", becomes: Resolving},
	ledger.ActOverride:        {word: "override", becomes: Overridden},
	ledger.ActUseful:          {word: "useful", feedback: true},
	ledger.ActSaidFalse:       {word: "false_positive", feedback: true},
	ledger.ActTooLate:         {word: "too_late", feedback: true},
}

// ActionNamed is the action of conflict_respond and POST /v1/conflicts/:ref/actions with that name.
func ActionNamed(word string) (ledger.Action, bool) { return named(word, false) }

// FeedbackNamed is the action of POST /v1/conflicts/:ref/feedback with that name.
func FeedbackNamed(word string) (ledger.Action, bool) { return named(word, true) }

func named(word string, feedback bool) (ledger.Action, bool) {
	i := slices.IndexFunc(rules[:], func(r rule) bool { return r.word == word && r.feedback == feedback && word != "" })
	return ledger.Action(max(i, 0)), i > 0
}

// WordOf is the name of an action.
func WordOf(a ledger.Action) string {
	if int(a) < len(rules) {
		return rules[a].word
	}
	return ""
}

// Check says whether somebody at a computer may act so now. Errors are [ErrUnknown], [ErrClosed], [ErrNoRight] and
// [ErrPerson].
func (f *Fold) Check(a *ledger.Act, by ledger.Device) error {
	c, ok := f.Conflict(a.Conflict)
	switch {
	case !ok:
		return ErrUnknown
	case !c.Status.Live() && !rules[a.Action].feedback:
		return fmt.Errorf("%s is %s: %w", c.Name, c.Status, ErrClosed)
	case a.Action == ledger.ActOverride && !a.Person:
		return ErrPerson
	}
	return f.may(&c, a, by)
}

// may is the part of it that anybody can judge at any later time.
func (f *Fold) may(c *Conflict, a *ledger.Act, by ledger.Device) error {
	who, person := f.developer(by), f.people[by]
	part := slices.ContainsFunc(c.Sides, func(s Side) bool { return s.Developer == who || s.Device == by && s.Kind < detect.Branch })
	policy := f.policy(c.Place)
	if a.Side != (ledger.ID{}) {
		if s := f.sides[a.Side]; s == nil || s.who != who || c.sideOf(s) == nil {
			return ErrNoRight
		}
	}
	switch {
	case a.Action == ledger.ActOverride:
		if !policy.Overrides(person.Email, part) {
			return ErrNoRight
		}
	case !part && !(a.Person && policy.Manages(person.Email)):
		return ErrNoRight
	}
	return nil
}

func (f *Fold) policy(p Place) *detect.Policy { return f.repos[p].Rules.Policy() }

// sideOf is the side of a conflict for which a session or an intent acts: itself, or its session's.
func (c *Conflict) sideOf(s *side) *Side {
	i := slices.IndexFunc(c.Sides, func(o Side) bool {
		return o.ID == s.id || o.Root == s.root || o.Session == s.session && s.session != (ledger.ID{})
	})
	if i < 0 {
		return nil
	}
	return &c.Sides[i]
}

// course is a conflict's life as it is told.
type course struct {
	fold     *Fold
	c        *Conflict
	over     [16]byte // the evidence that was overridden, or that was resolved by word
	spoken   bool     // resolved by word, and the overlap has not gone since
	gone     bool     // the last word was that it is gone
	told     bool     // there was a word that it is here
	blocks   bool     // it blocked at that time, as far as the words go
	evidence [16]byte // of the last word
}

// live tells a conflict's life from the records about it, and from whether the overlap is there.
func (f *Fold) live(c *Conflict) {
	r := course{fold: f, c: c, blocks: f.beganBlocking(c)}
	c.Status = Open
	for _, it := range f.events[c.ID] {
		if it.place != c.Place && !slices.ContainsFunc(c.Sides, func(s Side) bool { return s.Place == it.place }) {
			continue
		}
		switch body := it.Content.(type) {
		case *ledger.Found:
			if f.witness(it, body) {
				r.found(it, body)
			}
		case *ledger.Act:
			if f.may(c, body, it.Device) == nil {
				r.act(it, body)
			}
		}
	}
	r.end()
}

// beganBlocking reports whether a conflict blocked when it was first told of. An act may be older than that word.
func (f *Fold) beganBlocking(c *Conflict) bool {
	for _, it := range f.events[c.ID] {
		if body, ok := it.Content.(*ledger.Found); ok && body.State == ledger.FoundHere && f.witness(it, body) {
			return detect.Severity(body.Severity) == detect.Block
		}
	}
	return c.Blocking
}

func (r *course) found(it item, body *ledger.Found) {
	c := r.c
	switch {
	case body.State == ledger.FoundGone:
		r.gone, r.spoken = true, false
		if c.Status.Live() {
			c.Status = Resolved
		}
	case !r.told, r.returns(body.Evidence):
		if r.told {
			r.reopen()
		}
		if !r.told || r.gone {
			c.Since = it.At
		}
		r.gone, r.told = false, true
	}
	if body.State == ledger.FoundHere {
		r.gone, r.evidence, r.blocks = false, body.Evidence, detect.Severity(body.Severity) == detect.Block
	}
}

// returns reports whether a closed conflict is open again, now that the overlap is there and rests on that evidence.
func (r *course) returns(now [16]byte) bool {
	switch r.c.Status {
	case Resolved:
		return !r.spoken || now != r.over
	case Overridden:
		return now != r.over
	}
	return false
}

func (r *course) reopen() {
	r.c.Status, r.c.Asked, r.spoken = Open, false, false
	r.c.Reopened++
}

func (r *course) act(it item, a *ledger.Act) {
	c, rule := r.c, rules[a.Action]
	if !c.Status.Live() && !rule.feedback {
		return
	}
	said := Said{Act: *a, Who: r.fold.people[it.Device], Device: it.Device, ID: it.ID, At: it.At}
	if s := r.fold.sides[a.Side]; s != nil {
		said.By = r.fold.view(s)
	}
	c.Acts = append(c.Acts, said)
	if rule.becomes != "" && !(rule.becomes == Acknowledged && c.Status == Resolving) {
		c.Status = rule.becomes
	}
	switch a.Action {
	case ledger.ActRequestOverride:
		c.Asked = true
	case ledger.ActFalsePositive:
		r.falsePositive(a)
	case ledger.ActResolve:
		if a.Evidence != [16]byte{} && !c.Blocking && !r.blocks { // what blocked then has not been lifted by being gone now
			c.Status, r.spoken, r.over = Resolved, true, a.Evidence
		}
	case ledger.ActOverride:
		r.over, c.Asked = a.Evidence, false
	}
}

// falsePositive mutes the side of an agent, or closes the conflict when it is a person's word (C12).
func (r *course) falsePositive(a *ledger.Act) {
	c := r.c
	if a.Person {
		c.Status = FalsePositive
		return
	}
	side := c.sideOf(r.fold.sides[a.Side])
	if !slices.Contains(c.Muted, side.Root) {
		c.Muted = append(c.Muted, side.Root)
		slices.SortFunc(c.Muted, func(a, b ledger.ID) int { return slices.Compare(a[:], b[:]) })
	}
	if c.Kind == detect.ProtectedPath {
		return // the rule is the other side, and only people speak for it
	}
	if c.oneDeveloper() || !slices.ContainsFunc(c.Sides, func(o Side) bool { return o.speaks() && !slices.Contains(c.Muted, o.Root) }) {
		c.Status = FalsePositive
	}
}

// speaks reports whether an agent acts for the side.
func (s Side) speaks() bool { return s.Kind == detect.Intent || s.Kind == detect.Session }

// oneDeveloper reports whether both sides are of one developer.
func (c *Conflict) oneDeveloper() bool {
	return len(c.Sides) > 1 && !slices.ContainsFunc(c.Sides, func(s Side) bool { return s.Developer != c.Sides[0].Developer })
}

// end holds what was told against what is there.
func (r *course) end() {
	c := r.c
	switch {
	case c.Present && r.returns(c.Evidence):
		r.reopen()
	case !c.Present && c.Status.Live():
		c.Status = Resolved
	}
	if !c.Present && c.Status == Resolved && !r.spoken && slices.ContainsFunc(c.Sides, func(s Side) bool { return s.Phase == Expired }) {
		c.Status = Stale
	}
	if c.Blocking = c.Blocking && c.Status.Live(); !c.Blocking {
		c.Blocked = ledger.ID{}
	}
}

// MutedFor reports whether a side is neither warned nor blocked by a conflict any more (C12). Nothing that an agent
// says opens a protected path.
func (c *Conflict) MutedFor(root ledger.ID) bool {
	return slices.Contains(c.Muted, root) && !(c.Kind == detect.ProtectedPath && c.Blocking)
}
