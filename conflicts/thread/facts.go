package thread

import (
	"time"

	"github.com/parley-mesh/parley/lanes"
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
	Role   lanes.Role // whether the opener's fleet has one main computer, as far as this computer knows
	Desk   bool       // the conversation is routed to a desk here
	Names  []string   // what people call the parties, in the order of the open
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
	Merge        *Turn       // the last merge turn for the present assignment
	Decide       *Turn       // the last decide turn
	Answered     []ledger.ID // objections that a decide turn was spent on, interrupted ones excepted
	Waking       bool        // a turn is running
	PushAct      *Approval
	MergeAct     *Approval
	RespSeen     time.Time   // when the responsible side was last heard of
	MainSeen     time.Time   // when the fleet's main computer was last heard of; zero: it has none
	Seen         []time.Time // by party, when it was last heard of; may be missing
	Named        time.Time   // from when the final's confirmation counts: min(its clock, first seen here)
	ClearSince   time.Time   // since when the unchanged pull request merges cleanly; zero: it does not
	Took         []int       // files that this computer replaced to adopt the final
	Presses      Presses
}

// Presses is what persons asked of this conversation and its records do not show yet: here, or at another
// computer of the fleet that passed it on to the main computer.
type Presses struct {
	Another bool   // another round of agent turns after the present one (P23)
	Close   bool   // end the conversation
	Assign  *int   // the party that shall build the final
	Keep    bool   // this computer's copies stay as they are until the final
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
	Author    bool    // this computer authored the pull request (D-11)
	Account   Verdict // the account signed in here is the pull request's author (L7)
	Base      string  // what the open's base branch is called now, "" while it was not renamed (case 27)
	Method    string  // how the repository merges
	Marked    []int   // files of the head, later of the final, with conflict markers that no parent has (D-18)
	OnBase    bool    // the checkout stands on the base branch
	Busy      string  // why the checkout cannot be touched now, "" if it can
	Files     []File  // by file of the open
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
