package thread

import (
	"fmt"
	"time"

	"github.com/parley-mesh/parley/ledger"
)

// ApprovalState is how far a person's approval has come.
type ApprovalState string

// The states of an approval.
const (
	Offered  ApprovalState = "offered"
	Approved ApprovalState = "approved"
	Consumed ApprovalState = "consumed" // the write is on its way, or its outcome unknown
	Done     ApprovalState = "done"
	Void     ApprovalState = "void"
)

// Binds is exactly what an approval is for. An approval of anything else is another approval.
type Binds struct {
	Action  string // "push" or "merge" on GitHub; "round", "close", "assign" or "fork" in the conversation
	Repo    uint64
	Pull    uint64
	Ref     string     // push: the branch; merge: the base branch
	Old     ledger.OID // push: the head that is replaced
	New     ledger.OID // push: the new head; merge: the head that is merged
	Method  string     // merge: how
	Round   uint64     // round, assign: the round that the press ends
	Party   int        // assign: the party that shall build the final
	Devices string     // fork: the computers with two histories, as people call them
}

// Approval is one offered act and what became of it. It never leaves the computer.
type Approval struct {
	State  ApprovalState
	Binds  Binds
	Why    string // why it is void
	Denied bool   // void because GitHub does not let this account do it (case 64)
}

// Effects is what [Step] asks for. Nothing in it has happened yet.
type Effects struct {
	Emit    *Draft   // at most one record; the fold that follows asks for the next
	Do      []Action // keyed work that runs beside the loop
	Offers  []Binds  // acts on GitHub that wait for a person; offers not listed are void
	Cards   []Card
	Notices []Notice
	Say     string    // what is waited for, in a sentence: the first of Waits, or why there is none
	Waits   []Wait    // everything that is waited for, the most pressing first
	Next    time.Time // when to ask again at the latest; zero: only on news
	Hold    []int     // files that the master sync leaves to this thread
}

// Draft is a record that is not sealed yet.
type Draft struct {
	Content ledger.Body
	Re      []ledger.ID
	Spine   ledger.ID // spine records: the record that this follows
	Claim   ledger.ID
}

// Action is work with an outcome. The set is sealed.
type Action interface{ Key() string }

// Replace puts a published version of one file into the checkout, if what is there is published.
type Replace struct {
	File       int
	Want       ledger.OID // "" deletes
	Executable bool
}

// Wake spends one agent turn.
type Wake struct {
	Decide bool      // decide an objection; otherwise build and test the merge
	For    ledger.ID // the objection or the assignment
	Head   ledger.OID
	Tip    ledger.OID
}

// Write is one approved change on GitHub.
type Write struct{ Binds Binds }

// Tell brings what a person asked for here to the main computer, which alone can say it.
type Tell struct{ Binds Binds }

// Key names the work, so that it is never started twice at once.
func (a Replace) Key() string { return fmt.Sprintf("replace %d", a.File) }

// Key names the work, so that it is never started twice at once.
func (a Wake) Key() string { return "wake" }

// Key names the work, so that it is never started twice at once.
func (a Write) Key() string { return "write" }

// Key names the work, so that it is never started twice at once.
func (a Tell) Key() string { return "tell " + a.Binds.Action }

// Card is a thing that a person must see or decide.
type Card struct {
	Code  string // C2, C3, …
	Title string
	What  string
	Why   string
	Binds *Binds // what its button does: an approval, or a person's press in the conversation
}

// Notice is one message to every other developer who takes part, once per thread and cause (P22, D-17).
// Whoever sends it looks first whether another computer of the fleet has.
type Notice struct{ Cause uint64 }

// Causes of a notice, as the lane ledger's note names them.
const (
	CauseTurns   = 1 // the conflict's turns are spent
	CauseDay     = 2 // a computer's turns of the day are spent
	CauseOverdue = 3 // the final is overdue
)

// Wait is one thing that a conversation waits for.
type Wait struct {
	Who   string    // who is to do something
	What  string    // what, after "to"
	Since time.Time // zero: unknown
	Next  string    // what happens otherwise, or then
	At    time.Time // when; zero: as soon as it is done
}
