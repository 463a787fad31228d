package overlap

import (
	"crypto/sha256"
	"slices"

	"github.com/parley-mesh/parley/detect"
	"github.com/parley-mesh/parley/ledger"
)

// Status is how far a conflict is (C10), in the words of pages and the API.
type Status string

// The statuses. The first three are live.
const (
	Open          Status = "open"
	Acknowledged  Status = "acknowledged"
	Resolving     Status = "resolving"
	Resolved      Status = "resolved"
	Stale         Status = "stale"
	Overridden    Status = "overridden"
	FalsePositive Status = "false_positive"
)

// Live reports whether something is still to be done.
func (s Status) Live() bool { return s == Open || s == Acknowledged || s == Resolving }

// Conflict is one overlap or incompatibility of live work (CF-…).
type Conflict struct {
	ID         ledger.ID
	Name       string // CF- and the digits that tell it from the others
	Place      Place  // of the first side
	Kind       detect.Kind
	Status     Status
	Severity   detect.Severity
	Confidence detect.Confidence
	Class      detect.Evidence // declared, observed or inferred
	Blocking   bool            // it is live, and Blocked has to wait
	Blocked    ledger.ID       // the newcomer; zero: nobody
	Sides      []Side          // in the order of the sentence
	About      []string        // paths, patterns, symbols or contracts, ascending
	Sentence   string          // "" of one that is over and that nothing here tells any more
	Suggestion string
	From       []detect.Source
	Evidence   [16]byte // of what it rests on: kind, what it is about and how that changes, not every keystroke
	Present    bool     // the overlap is there now
	Since      uint64   // when it began, this time; Unix milliseconds
	Reopened   int      // how often it came back
	Muted      []ledger.ID
	Asked      bool // an override was requested, and nobody decided yet
	Acts       []Said
	Doubtful   string // why it is listed late, "" for most: its class is often called false (C12)
	Minutes    int    // time saved by it, see [Fold.Saved]

	keyed bool // its id says what it is about
}

// Side is one side of a conflict, or of a list.
type Side struct {
	ID, Root  ledger.ID
	Ref       string // INT-…, S-…, a branch, "#42"
	Label     string // INT-… (jordan, claude_code, feat/partial-refunds)
	Kind      detect.SideKind
	Place     Place
	User      string // email address, "" when it is not known
	Name      string
	Agent     string
	Branch    string
	Task      string
	Device    ledger.Device // who writes it
	Developer ledger.TID    // the fleet, where it is known
	Session   ledger.ID
	Intent    ledger.ID // of a session: the intent that carries its work
	Phase     Phase
	First     uint64 // when it began, Unix milliseconds
	Last      uint64 // when it last did or said something, Unix milliseconds
	Expires   uint64 // 0: never
	Left      bool   // of an intent: its session has ended, and nobody is at it now
	Hidden    int    // files and claims of another developer whose names are not shown here
}

// Said is one act on a conflict that counts.
type Said struct {
	ledger.Act
	By     Side   // zero for a person
	Who    Person // whose computer said it
	Device ledger.Device
	ID     ledger.ID
	At     uint64
}

// conflictOf makes a conflict of a finding.
func (f *Fold) conflictOf(one *detect.Finding) Conflict {
	c := Conflict{
		Kind: one.Kind, Status: Open, Severity: one.Severity, Confidence: one.Confidence, Class: one.Evidence, About: one.About,
		Sentence: one.Sentence, Suggestion: one.Suggestion, From: one.From, Present: true, Blocking: one.Blocking, keyed: keyed(one),
	}
	roots := make([]ledger.ID, 0, len(one.Sides))
	for _, ref := range one.Sides {
		s := f.byRef[ref]
		roots = append(roots, s.root)
		c.Sides = append(c.Sides, f.view(s))
		c.Since = max(c.Since, s.arrived)
	}
	if b := f.byRef[one.Blocked]; b != nil && one.Blocking {
		c.Blocked = b.id
	}
	c.Place = c.Sides[0].Place
	c.ID = conflictID(c.Place, one, roots)
	c.Evidence = f.evidence(one, nil)
	return c
}

// keyed reports whether a pair of sides can have several conflicts of the kind, told apart by what they are about.
func keyed(one *detect.Finding) bool {
	return one.Kind == detect.ContractBreak || one.Kind == detect.ProtectedPath || one.Exclusive || one.Regenerate
}

// conflictID is as [detect.Finding.Key], with roots in place of names.
func conflictID(p Place, one *detect.Finding, roots []ledger.ID) ledger.ID {
	if one.Kind != detect.ContractBreak && one.Kind != detect.DependencyOrder {
		slices.SortFunc(roots, func(a, b ledger.ID) int { return slices.Compare(a[:], b[:]) })
	}
	var about []string
	if keyed(one) {
		about = one.About
	}
	return ledger.ConflictID(p.Host, p.Repo, string(one.Kind), roots, about)
}

// join adds another finding of one conflict, as two changes of one contract make them.
func (c *Conflict) join(o Conflict) {
	if o.Blocking && !c.Blocking {
		c.Blocking, c.Blocked = true, o.Blocked
	}
	c.Severity = max(c.Severity, o.Severity)
	c.About = distinct(append(slices.Clone(c.About), o.About...))
	c.From = append(slices.Clone(c.From), o.From...)
	if o.Sentence != c.Sentence {
		c.Sentence += " " + o.Sentence
	}
	both := append(c.Evidence[:], o.Evidence[:]...)
	sum := sha256.Sum256(both)
	c.Evidence = [16]byte(sum[:16])
}

func distinct(list []string) []string {
	slices.Sort(list)
	return slices.Compact(list)
}

// view is a side as others see it.
func (f *Fold) view(s *side) Side {
	d := &s.digest.Side
	if s.label == "" {
		s.label = d.Label()
	}
	return Side{
		ID: s.id, Root: s.root, Ref: d.Ref, Label: s.label, Kind: s.kind, Place: s.place, User: d.User, Name: d.Name, Agent: d.Agent,
		Branch: d.Branch, Task: d.Task, Device: s.device, Developer: s.who, Session: s.session, Intent: s.intent,
		Phase: s.phase, Last: s.last, Expires: s.expired, Left: s.left, Hidden: s.hidden,
	}
}

// past is a conflict that is over, as the records of the sides' computers tell of it.
func (f *Fold) past(id ledger.ID, events []item) (c Conflict, ok bool) {
	for _, it := range events {
		found, is := it.Content.(*ledger.Found)
		if !is || !f.witness(it, found) {
			continue
		}
		c = Conflict{
			ID: id, Place: it.place, Kind: detect.Kind(found.Sort), Severity: detect.Severity(found.Severity), Evidence: found.Evidence,
			About: found.About, Status: Resolved,
		}
		for _, side := range found.Sides {
			if s := f.sides[side]; s != nil {
				c.Sides = append(c.Sides, f.view(s))
			} else {
				c.Sides = append(c.Sides, Side{ID: side, Root: side, Ref: f.refOf(side), Label: f.refOf(side), Place: it.place})
			}
		}
		if it.names != (ledger.NamesKey{}) {
			c.About = f.revealed(found.About, id)
		}
		ok = true
	}
	return c, ok
}

// witness reports whether a finding's author is one of its sides.
func (f *Fold) witness(it item, found *ledger.Found) bool {
	return slices.ContainsFunc(found.Sides, func(id ledger.ID) bool {
		s := f.sides[id]
		return s != nil && (s.device == it.Device || s.who == f.developer(it.Device))
	})
}

// Conflicts lists every conflict, those first that somebody has to do something about: live before closed, what blocks
// before what warns and informs. What is often called false comes after the rest of its severity.
func (f *Fold) Conflicts() []Conflict {
	f.settle()
	return f.list
}

// Conflict is one conflict by its id.
func (f *Fold) Conflict(id ledger.ID) (Conflict, bool) {
	f.settle()
	return f.SettledConflict(id)
}

// SettledConflict is one conflict as it was settled last, for who may not take the time.
func (f *Fold) SettledConflict(id ledger.ID) (Conflict, bool) {
	i, ok := f.byID[id]
	if !ok {
		return Conflict{}, false
	}
	return f.list[i], true
}

// Settle brings the answers up to date with what was added. The answers do it themselves, but for [Fold.Decide] and
// those called settled, which may not take the time.
func (f *Fold) Settle() { f.settle() }

// Sides lists every session, intent and branch that is known, by arrival of its first record, then id.
func (f *Fold) Sides() (all []Side) {
	f.settle()
	for _, s := range f.order {
		all = append(all, f.view(s))
	}
	return all
}

// Side is one side by its id.
func (f *Fold) Side(id ledger.ID) (Side, bool) {
	f.settle()
	return f.SettledSide(id)
}

// SettledSide is one side as it was settled last, for who may not take the time.
func (f *Fold) SettledSide(id ledger.ID) (Side, bool) {
	s := f.sides[id]
	if s == nil {
		return Side{}, false
	}
	return f.view(s), true
}

// Digest is what detectors know of a side's work. Nobody changes it.
func (f *Fold) Digest(id ledger.ID) *detect.Digest {
	f.settle()
	return f.SettledDigest(id)
}

// SettledDigest is a digest as it was settled last, for who may not take the time; nil for no side.
func (f *Fold) SettledDigest(id ledger.ID) *detect.Digest {
	if s := f.sides[id]; s != nil {
		return s.digest
	}
	return nil
}

// Depends are the intents that one waits for, as it said it: with their names, and also those of which nothing is known
// here.
func (f *Fold) Depends(intent ledger.ID) (ids []ledger.ID, refs []string) {
	f.settle()
	s := f.sides[intent]
	if s == nil {
		return nil, nil
	}
	for _, id := range s.depends {
		refs = append(refs, f.refOf(id))
	}
	return slices.Clone(s.depends), refs
}

func compareConflicts(a, b Conflict) int {
	for _, c := range []int{
		number(b.Status.Live()) - number(a.Status.Live()),
		number(b.Blocking) - number(a.Blocking),
		int(b.Severity) - int(a.Severity),
		number(a.Doubtful != "") - number(b.Doubtful != ""),
		slices.Index(detect.Kinds, a.Kind) - slices.Index(detect.Kinds, b.Kind),
		slices.Compare(a.ID[:], b.ID[:]),
	} {
		if c != 0 {
			return c
		}
	}
	return 0
}

func number(b bool) int {
	if b {
		return 1
	}
	return 0
}
