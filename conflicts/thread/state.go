package thread

import (
	"github.com/parley-mesh/parley/lanes"
	"github.com/parley-mesh/parley/ledger"
)

// Phase is how far a conversation has come.
type Phase uint8

// The phases. The zero value is the safe one: nothing has been opened.
const (
	None Phase = iota
	Opened
	Interim
	Final
	Closed
)

// String is the word that people see.
func (p Phase) String() string {
	return [...]string{None: "none", Opened: "open", Interim: "interim", Final: "final", Closed: "closed"}[p]
}

// Statement is what one party last said about the files: it agrees, or it objects.
type Statement struct {
	ID     ledger.ID
	Device ledger.Device
	Re     ledger.ID      // the record of the spine that it answers
	At     uint64         // author's wall clock, Unix milliseconds
	Ack    *ledger.Ack    // nil unless it agrees
	Object *ledger.Object // nil unless it objects
}

// Agreed reports whether the party has said yes.
func (s Statement) Agreed() bool { return s.Ack != nil }

// Objected reports whether the party keeps its own copy.
func (s Statement) Objected() bool { return s.Object != nil }

// Ready is a counted final-ready.
type Ready struct {
	ID ledger.ID
	At uint64
	*ledger.FinalReady
}

// Outcome is the counted final.
type Outcome struct {
	ID ledger.ID
	At uint64
	*ledger.Final
}

// Refusal is a record that counts for nothing, and the rule that says so.
type Refusal struct {
	Record *ledger.Record
	Rule   string
}

// State is what the records of a thread say. Slices over parties and files follow the order of the
// open.
type State struct {
	Ledger ledger.TID
	Phase  Phase
	Root   *ledger.Record // the winning open
	Open   *ledger.Open   // nil in phase None
	Spine  []ledger.ID    // the spine from the open on
	Term   uint64         // term of the last spine record

	Pick    []uint64 // files whose interim is the pull request's copy
	Decided bool     // the main computer's agent has decided an objection

	Responsible int       // index in Open.Parties
	Assign      ledger.ID // the record that made it responsible
	AssignAt    uint64    // that record's wall clock, Unix milliseconds
	AssignWhy   uint64    // why it did, zero for the open
	AssignFrom  int       // the party that had the final before
	Renewed     ledger.ID // the record that last gave the responsible side turns: Assign, or a later refill
	Round       uint64    // raised by a person's refill
	Reassigns   int
	Successors  []int // new responsible sides in order of their first assignment

	Gone       []bool      // by party: its computer was removed from the fleet, and is waited for no more
	Statements []Statement // by party
	Ready      *Ready
	Final      *Outcome
	Adopted    []ledger.ID // by party; zero: not confirmed
	Results    [][]ledger.Result
	ClosedWhy  uint64
	ClosedAt   uint64
	Skipped    []uint64

	Opaque         bool            // something in here needs a newer parley
	Forked         []ledger.Device // devices that signed two records at one place
	ContestedSpine bool            // two records of one term competed for one place on the spine
	Refused        []Refusal
}

// Head is the last record of the spine, the zero id before an open.
func (s *State) Head() ledger.ID {
	if len(s.Spine) == 0 {
		return ledger.ID{}
	}
	return s.Spine[len(s.Spine)-1]
}

// Party is the index of a computer's party in the open, and whether it has one: its own key, or its
// fleet's lane.
func (s *State) Party(d ledger.Device, rosters lanes.Rosters) (int, bool) {
	if s.Open == nil {
		return 0, false
	}
	lane := ledger.Party{0: 255}
	if fleet, ok := rosters.Of(d); ok && fleet.Fleet != s.Open.Fleet {
		lane = ledger.LaneParty(fleet.Fleet)
	}
	for i, p := range s.Open.Parties {
		if dev, ok := p.Device(); ok && dev == d || p == lane {
			return i, true
		}
	}
	return 0, false
}

// AllAgreed reports whether every party that is still one agreed last.
func (s *State) AllAgreed() bool {
	agreed := false
	for i, st := range s.Statements {
		if !st.Agreed() && !s.Gone[i] {
			return false
		}
		agreed = agreed || st.Agreed()
	}
	return agreed
}

// GivenUp reports whether the responsible side has said that it cannot build the final, since it was last
// given turns for it. What it said before that counts for nothing now.
func (s *State) GivenUp() bool {
	st := s.Statements[s.Responsible]
	return st.Objected() && st.Object.Why == ledger.ObjectGaveUp && st.Re == s.Renewed
}

// AllAdopted reports whether every party that is still one has confirmed the final.
func (s *State) AllAdopted() bool {
	return s.Final != nil && len(s.Missing()) == 0 && len(s.Confirmed()) > 0
}

// Confirmed lists what confirmed the final, in the order of the parties.
func (s *State) Confirmed() []ledger.ID {
	var out []ledger.ID
	for _, id := range s.Adopted {
		if id != (ledger.ID{}) {
			out = append(out, id)
		}
	}
	return out
}

// Missing lists the parties that have not confirmed the final. A computer that was removed is not missed
// (D-14).
func (s *State) Missing() []int {
	var out []int
	for i, id := range s.Adopted {
		if id == (ledger.ID{}) && !s.Gone[i] {
			out = append(out, i)
		}
	}
	return out
}

// ofFleet reports whether a party is a computer of the opener's fleet, not a lane.
func (s *State) ofFleet(party int) bool {
	_, own := s.Open.Parties[party].Device()
	return own
}

// MayBuild reports whether a party may be given the final: a computer of the opener's fleet that is still
// one, or the lane of the pull request's author, and never another lane (L7).
func (s *State) MayBuild(party int) bool {
	if party < 0 || party >= len(s.Open.Parties) || s.Gone[party] {
		return false
	}
	return s.ofFleet(party) || uint64(party) == s.Open.Resp || s.Open.Auth != nil && uint64(party) == *s.Open.Auth
}

func (s *State) openerParty() int {
	for i, p := range s.Open.Parties {
		if d, ok := p.Device(); ok && d == s.Root.Device {
			return i
		}
	}
	return -1
}
