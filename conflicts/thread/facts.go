package thread

import (
	"fmt"
	"time"

	"github.com/parley-mesh/parley/ledger"
)

// Verdict is an answer that may be missing. A passing failure is never a verdict: "could not tell"
// changes nothing.
type Verdict uint8

// The three answers. The zero value is the safe one.
const (
	CannotTell Verdict = iota
	Yes
	No
)

// Self is who asks, and what it may do.
type Self struct {
	Device ledger.Device
	Fleet  ledger.TID
	Party  int  // index in the open's parties; -1: not involved
	Main   bool // holds the one live claim of its fleet, and its roster is fresh
	Claim  ledger.ID
	Desk   bool     // the conversation is routed to a desk here
	Names  []string // what people call the parties, in the order of the open
}

// Facts is what a computer knows beside the records: the outside world as last looked at, and its own
// work on this thread. Facts never change a state; they only decide what is asked for.
type Facts struct {
	Opened       time.Time // from when the interim's deadline counts: min(open's clock, first seen here)
	Assigned     time.Time // the same for the final's deadline
	InterimFired bool      // once fired, stays fired
	FinalFired   bool
	Look         Look
	Stated       time.Time // when this computer last made a statement in this thread
	Turns        int       // agent turns spent here in this thread and round, the running one included
	TurnsToday   int
	Merge        *Turn // the last merge turn for the present assignment
	Decide       *Turn // the last decide turn for the present objection
	Waking       bool  // a turn is running
	PushAct      *Approval
	MergeAct     *Approval
	RespSeen     time.Time // when the responsible side was last heard of
	ClearSince   time.Time // since when the unchanged pull request merges cleanly; zero: it does not
	Took         []int     // files that this computer replaced to adopt the final
	Presses      Presses
}

// Presses is what persons asked of this conversation and its records do not show yet: here, or at another
// computer of the fleet that passed it on to the main computer.
type Presses struct {
	Another bool   // another round of agent turns after the present one (P23)
	Close   bool   // end the conversation
	Assign  *int   // the party that shall build the final
	Fork    string // the two histories that a person has seen and goes on with, as Binds.Devices named them
}

// Look is one observation of the outside world: GitHub, the mirror, the checkout. It is made for one
// state of the thread; what it answers about readies and finals belongs to those of For.
type Look struct {
	At        time.Time
	For       ledger.ID // last record of the spine when it was made
	ForReady  ledger.ID // the final-ready it judged, if any
	Tip       ledger.OID
	Pull      Pull
	Open      Verdict // the open's files, blobs and commits are on GitHub as it says
	OpenWhy   string
	Author    bool   // this computer authored the pull request (D-11)
	OnBase    bool   // the checkout stands on the base branch
	Busy      string // why the checkout cannot be touched now, "" if it can
	Files     []File // by file of the open
	HeadClean Verdict
	HeadBase  ledger.OID // best common ancestor of the base tip and the pull request's head
	HeadFiles []ledger.OID
	Ready     Verdict
	ReadyWhy  string
	Final     Verdict
	FinalWhy  string
	Published []ledger.OID // blobs in the pull request's merge commit, once it is on the base branch
}

// Pull is the pull request as GitHub shows it.
type Pull struct {
	Known       bool // GitHub answered
	Gone        bool // the repository or the pull request is gone
	Open        bool
	Merged      bool
	MergeCommit ledger.OID
	Head        ledger.OID
	HeadRef     string // branch that the head is on
	Base        string
}

// File is one file of the open as it stands on this computer.
type File struct {
	Class       ledger.Class // 0: holds unpublished lines
	Lines       int          // how many
	Here        ledger.OID   // blob of the working file; "" absent
	Tip         ledger.OID   // blob at the base tip; "" deleted there
	Executable  bool         // mode at the base tip
	Replaceable bool         // HEAD's, the index's and the working file's content are all published
}

// Turn is one finished agent turn.
type Turn struct {
	For         ledger.ID // the assignment or the objection that it worked on
	Round       uint64
	Head        ledger.OID
	Tip         ledger.OID
	Commit      ledger.OID // merge turn: the tested result, "" when it failed
	Pick        []uint64   // decide turn
	Tests       uint64
	Words       string // for the person
	Failed      bool
	GaveUp      bool
	Interrupted bool // the computer stopped in the middle; the turn counts, and another may be spent
}

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
	Round   uint64     // round, assign: the round that the press ends
	Party   int        // assign: the party that shall build the final
	Devices string     // fork: the computers with two histories, as people call them
}

// Approval is one offered act and what became of it. It never leaves the computer.
type Approval struct {
	State ApprovalState
	Binds Binds
	Why   string // why it is void
}

// Effects is what [Step] asks for. Nothing in it has happened yet.
type Effects struct {
	Emit   *Draft   // at most one record; the fold that follows asks for the next
	Do     []Action // keyed work that runs beside the loop
	Offers []Binds  // acts that wait for a person; offers not listed are void
	Cards  []Card
	Say    string    // what is waited for, in a sentence
	Next   time.Time // when to ask again at the latest; zero: only on news
	Hold   []int     // files that the master sync leaves to this thread
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
	Binds *Binds // for an approval
}
