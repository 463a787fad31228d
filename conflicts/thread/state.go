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
	Round       uint64    // raised by a person's refill
	Reassigns   int
	Successors  []int // new responsible sides in order of their first assignment

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

// AllAgreed reports whether every party's last statement is an ack.
func (s *State) AllAgreed() bool {
	for _, st := range s.Statements {
		if !st.Agreed() {
			return false
		}
	}
	return len(s.Statements) > 0
}

// AllAdopted reports whether every party has confirmed the final.
func (s *State) AllAdopted() bool { return len(s.Missing()) == 0 && s.Final != nil }

// Missing lists the parties that have not confirmed the final.
func (s *State) Missing() []int {
	var out []int
	for i, id := range s.Adopted {
		if id == (ledger.ID{}) {
			out = append(out, i)
		}
	}
	return out
}

func (s *State) openerParty() int {
	for i, p := range s.Open.Parties {
		if d, ok := p.Device(); ok && d == s.Root.Device {
			return i
		}
	}
	return -1
}
