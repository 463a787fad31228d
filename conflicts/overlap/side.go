package overlap

import (
	"encoding/hex"
	"maps"
	"slices"

	"github.com/parley-mesh/parley/detect"
	"github.com/parley-mesh/parley/ledger"
)

// How long work counts without a word, in milliseconds. Renewed is only by what a side really does or says. An intent whose
// session has ended holds nothing for itself alone any more, and expires after [IdleAfter] unless the session goes on.
const (
	IdleAfter    = 30 * 60 * 1000
	ExpiresAfter = 8 * 3600 * 1000
	// LivesAtMost is counted from a side's first record, whatever it does.
	LivesAtMost = 7 * 24 * 3600 * 1000
	// AttemptFor is how long an edit that waits is shown to the other side.
	AttemptFor = 10 * 60 * 1000
)

// Phase is how far a side is.
type Phase uint8

// The phases of a side.
const (
	Working   Phase = iota + 1
	Idle            // nothing heard for [IdleAfter]
	Expired         // nothing heard for [ExpiresAfter], or older than [LivesAtMost]
	Ended           // a session that ended, an intent that was abandoned, a branch that is gone
	MergedIn        // an intent that was merged
	CarriedBy       // a session whose work belongs to an intent that it declared
)

var phases = [...]string{Working: "working", Idle: "idle", Expired: "expired", Ended: "ended", MergedIn: "merged", CarriedBy: "carried"}

// String is the word shown to people.
func (p Phase) String() string { return phases[p] }

// side is one side as it is computed.
type side struct {
	id, root  ledger.ID
	kind      detect.SideKind
	place     Place
	device    ledger.Device
	who       ledger.TID // the developer
	session   ledger.ID  // of an intent: its session; of a session: itself
	intent    ledger.ID  // of a session: the intent that carries it now
	depends   []ledger.ID
	first     uint64 // time of the first record
	last      uint64 // time of the last one
	mortal    bool   // it expires
	left      bool   // of an intent: its session has ended
	fixed     Phase  // of a side whose phase no time changes, else 0
	phase     Phase
	closed    *item // of an intent: the record that closed it
	digest    *detect.Digest
	party     *detect.Party
	waits     *ledger.Attempt
	tried     item
	expired   uint64 // when it expires or expired; 0 for what does not
	published *ledger.Branch
	hidden    int    // files and claims whose names are not shown here
	author    Person // of what was published
	arrived   uint64 // time of the first edit or claim by its author's clock
	label     string
	classes   map[string]byte // how a path, symbol or contract changes

	attemptEnds uint64
}

// phaseAt is the phase at a time.
func (s *side) phaseAt(now uint64) Phase {
	switch {
	case s.fixed != 0:
		return s.fixed
	case s.mortal && now >= s.expired:
		return Expired
	case s.mortal && now >= s.last+IdleAfter:
		return Idle
	}
	return Working
}

// live reports whether a side takes part in overlaps.
func (s *side) live() bool { return s.phase == Working || s.phase == Idle }

// evaluate computes a side from what was said about it, nil when its beginning is not known here.
func (f *Fold) evaluate(t *thing) *side {
	o, known := f.ownerOf(t)
	if !known {
		return nil
	}
	s := &side{id: t.id, root: t.id, place: o.first.place, device: o.device, who: o.who, first: o.first.when()}
	s.last = s.first
	s.hears(o, t)
	switch o.first.Content.(type) {
	case *ledger.Session:
		f.evaluateSession(s, t, o)
	case *ledger.Intent:
		f.evaluateIntent(s, t, o)
	case *ledger.Branch:
		f.evaluateBranch(s, t, o)
	}
	s.expired = 0
	if s.mortal {
		lasts := uint64(ExpiresAfter)
		if s.left {
			lasts = IdleAfter
		}
		s.expired = min(s.last+lasts, s.first+LivesAtMost)
	}
	s.phase = s.phaseAt(f.now)
	f.finish(s)
	return s
}

// hears takes the time of everything that a thing did or said.
func (s *side) hears(o owner, t *thing) {
	hear := func(list []item) {
		for _, it := range list {
			if o.speaks(it) {
				s.last = max(s.last, it.when())
			}
		}
	}
	for _, list := range [][]item{t.says, t.claims, t.attempts, t.talk} {
		hear(list)
	}
	for _, list := range t.edits {
		hear(list)
	}
}

func (f *Fold) evaluateSession(s *side, t *thing, o owner) {
	says, _ := last[*ledger.Session](o, t.says)
	spans := f.spans(t, o)
	s.kind, s.session, s.mortal = detect.Session, t.id, true
	if n := len(spans); n > 0 && spans[n-1].until == nil {
		s.fixed = CarriedBy
	}
	for _, sp := range spans {
		if sp.until == nil {
			s.intent = sp.intent.id
			break
		}
	}
	if s.intent != (ledger.ID{}) {
		s.fixed = CarriedBy
	}
	if says.State == ledger.SessionEnded {
		s.fixed = Ended
	}
	f.begin(s, says)
	f.fill(s, holds(t, o, t, o, spans))
	s.attempt(t, o, spans, nil)
}

func (f *Fold) evaluateIntent(s *side, t *thing, o owner) {
	says, _ := last[*ledger.Intent](o, t.says)
	s.kind, s.session, s.mortal = detect.Intent, o.first.Content.(*ledger.Intent).Session, true
	s.closed = closing(o.of(t.says))
	switch says.State {
	case ledger.IntentMerged:
		s.fixed = MergedIn
	case ledger.IntentAbandoned:
		s.fixed = Ended
	}
	session, by, spans := f.sessionOf(s, o)
	begun := &ledger.Session{}
	if session != nil {
		begun, _ = last[*ledger.Session](by, session.says)
		s.left = begun.State == ledger.SessionEnded
		if s.closed == nil {
			s.hears(by, session)
			s.attempt(session, by, spans, t)
		}
		if len(spans) > 0 && spans[0].intent == t {
			s.root = session.id
		}
	}
	f.begin(s, begun)
	s.digest.Side.Task, s.digest.Side.Issues = says.Task, slices.Clone(says.Issues)
	if o.first.names != (ledger.NamesKey{}) {
		s.digest.Side.Task = ""
	}
	s.depends = says.Depends
	for _, id := range says.Depends {
		s.digest.DependsOn = append(s.digest.DependsOn, f.refIn(id, s.id))
	}
	f.fill(s, holds(t, o, session, by, spans))
}

// sessionOf is the session of an intent, if both are of one developer.
func (f *Fold) sessionOf(s *side, o owner) (*thing, owner, []span) {
	t := f.things[s.session]
	if t == nil || s.session == (ledger.ID{}) {
		return nil, owner{}, nil
	}
	by, known := f.ownerOf(t)
	if !known || by.first.Kind != ledger.KindSession || !by.speaks(o.first) {
		return nil, owner{}, nil
	}
	return t, by, f.spans(t, by)
}

func (f *Fold) evaluateBranch(s *side, t *thing, o owner) {
	says, _ := last[*ledger.Branch](o, t.says)
	s.kind, s.published = detect.Branch, says
	if says.Name[0] == '#' {
		s.kind = detect.PullRequest
	}
	if says.Gone {
		s.fixed = Ended
	}
	s.author = f.authorOf(says, o)
	if s.who = s.author.Fleet; s.who == (ledger.TID{}) {
		s.who = ledger.TID(s.id) // nobody that is known
	}
	f.begin(s, &ledger.Session{Base: says.Base, Head: says.Head, Grammars: says.Grammars})
	s.digest.Side.Task, s.digest.Side.Issues = says.Subjects, slices.Clone(says.Issues)
	if s.kind == detect.Branch {
		s.digest.Side.Branch = says.Name
	}
	f.fill(s, holds(t, o, nil, owner{}, nil))
}

// authorOf is the developer whose work was published; nobody where that is not known. Whoever publishes speaks for
// themselves; what they say of another developer counts on their own computers alone, so that nobody is made an owner of
// paths by somebody else.
func (f *Fold) authorOf(says *ledger.Branch, o owner) Person {
	if says.Of == (ledger.TID{}) || says.Of != o.who && !f.people[o.device].Own {
		return f.accounts[says.Author]
	}
	author := f.fleets[says.Of]
	author.Fleet = says.Of
	return author
}

// begin makes the digest of a side, with what its session says.
func (f *Fold) begin(s *side, says *ledger.Session) {
	p := f.people[s.device]
	repo := f.repos[s.place]
	s.digest = &detect.Digest{
		Base: says.Base.String(), Head: says.Head.String(), Grammars: says.Grammars,
		Side: detect.Side{
			Ref: f.refOf(s.id), Kind: s.kind, User: p.Email, Name: p.Name, Agent: says.Agent, Branch: says.Branch, Repo: repo.Slug, Folds: says.Folds,
		},
	}
	if s.published != nil { // whose it is does not say who published it here
		s.digest.Side.User, s.digest.Side.Name = s.author.Email, s.author.Name
	}
	if says.Checkout != [16]byte{} {
		s.digest.Side.Checkout = s.device.Short() + hex.EncodeToString(says.Checkout[:])
	}
}

// fill puts what a side holds into its digest.
func (f *Fold) fill(s *side, h held) {
	d := s.digest
	arrived := func(it item) {
		if r := it.rank(); d.Side.Arrived == 0 || r < d.Side.Arrived {
			d.Side.Arrived, s.arrived = r, it.At
		}
	}
	for _, path := range slices.Sorted(maps.Keys(h.edits)) {
		list := h.edits[path]
		if len(list) == 0 {
			continue
		}
		arrived(list[0])
		if first, e, ok := since(list); ok {
			e, named := f.reveal(first, e, s.id)
			fileOf(d, e, first.rank())
			if !named {
				d.Files = d.Files[:len(d.Files)-1]
				s.hidden++
			}
		}
	}
	if len(h.claims) > 0 {
		arrived(h.claims[0])
	}
	for _, c := range standingClaims(h.claims) {
		covers := -1
		if c.Covers != nil {
			covers = int(*c.Covers)
		}
		pattern := c.Pattern
		if c.since.names != (ledger.NamesKey{}) {
			if pattern = f.name(pattern, s.id); pattern == "" {
				s.hidden++
				continue
			}
		}
		d.Claims = append(d.Claims, detect.Claim{
			Kind: detect.ClaimKind(c.Kind), Pattern: pattern, Exclusive: c.Exclusive && !s.left, Since: c.since.rank(), Covers: covers,
		})
	}
}

// attempt takes the last attempt of a session, if it belongs to that intent; nil: to the session itself.
func (s *side) attempt(session *thing, o owner, spans []span, of *thing) {
	s.waits, s.tried = last[*ledger.Attempt](o, session.attempts)
	if s.waits != nil && len(s.waits.Paths) > 0 && carrier(spans, s.tried) == of {
		s.attemptEnds = s.tried.when() + AttemptFor
	}
}

// finish sets what depends on the phase, and makes the digest ready to be met.
func (f *Fold) finish(s *side) {
	d := s.digest
	switch s.phase {
	case MergedIn:
		d.Side.State = detect.Merged
	case Expired:
		d.Side.State = detect.Expired
	case Ended, CarriedBy:
		d.Side.State = detect.Abandoned
	}
	if s.attemptEnds <= f.now {
		s.attemptEnds = 0
	}
	if s.attemptEnds != 0 && s.live() {
		for _, p := range s.waits.Paths {
			path := string(p.Path)
			if s.tried.names != (ledger.NamesKey{}) {
				path = f.name(path, s.id)
			}
			if path != "" {
				d.Upcoming = append(d.Upcoming, detect.Upcoming{Path: path, Op: detect.Op(p.Op)})
			}
		}
		if d.Side.Arrived == 0 {
			d.Side.Arrived, s.arrived = s.tried.rank(), s.tried.At
		}
	}
	d.Normalize()
	s.classes = classesOf(d)
	s.party = f.repos[s.place].Rules.Party(d)
}

// related reports whether two sides are parts of one work: of one session, or a checkout's branch and what was pushed
// of it.
func related(a, b *side) bool {
	if a.session != (ledger.ID{}) && a.session == b.session {
		return true
	}
	if a.place != b.place {
		return false
	}
	own := func(b *side, a *side) bool {
		return b.published != nil && a.published == nil && a.digest.Side.Branch != "" && a.digest.Side.Branch == b.published.Name
	}
	return own(a, b) || own(b, a)
}
