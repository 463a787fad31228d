package core

import (
	"time"

	"github.com/parley-mesh/parley/conflicts/thread"
	"github.com/parley-mesh/parley/ledger"
)

// Input is something that happened. The set is sealed.
type Input interface{ input() }

// Heard says that a ledger's stored records have changed; Records is all of them.
type Heard struct {
	Ledger  ledger.TID
	Family  ledger.Family
	Records []*ledger.Record
}

// NotAppended says that a record asked for was not stored. TooLarge means that it never can be.
type NotAppended struct {
	Ledger   ledger.TID
	TooLarge bool
	Why      string
}

// Repository says what GitHub calls a configured repository.
type Repository struct {
	Slug string // as configured
	Host string
	ID   uint64
	Base string // base branch
}

// Looked answers a [Look]. Err is a passing failure: it changes nothing but the next try.
type Looked struct {
	Thread ledger.TID
	Look   thread.Look
	Err    string
}

// Replaced answers a [thread.Replace].
type Replaced struct {
	Thread ledger.TID
	File   int
	Took   bool
	Err    string
}

// Turned answers a [thread.Wake].
type Turned struct {
	Thread ledger.TID
	Decide bool
	Turn   thread.Turn
}

// Written answers a [thread.Write]. With Unknown set GitHub did not say; the act stays consumed and
// GitHub is read again first.
type Written struct {
	Thread  ledger.TID
	Binds   thread.Binds
	Unknown bool
	Void    string // why it came to nothing; "" when it was done
	Denied  bool   // GitHub does not let this account do it (case 64)
}

// Trial is one pull request that git was asked to merge (P7).
type Trial struct {
	Repo      Repository
	Pull      uint64
	Title     string
	Head      ledger.OID
	Tip       ledger.OID
	MergeBase ledger.OID
	Author    uint64 // GitHub user id
	Teammate  bool   // the author is not the account signed in here, but one of [Scan.Teammates]
	Verdict   TrialVerdict
	Reason    string // for VerdictPerson
	Files     []ledger.File
	Made      []ledger.Device // computers that made the head commit
}

func (*Trial) input() {}

// TrialVerdict is what git said about a merge.
type TrialVerdict string

// The verdicts of a trial. A failure is none.
const (
	VerdictClean        TrialVerdict = "clean"
	VerdictConversation TrialVerdict = "conversation"
	VerdictPerson       TrialVerdict = "person" // only a person can settle it (P17)
)

// Scanned ends one run over a repository's pull requests.
type Scanned struct {
	Slug    string
	Open    []uint64 // pull requests that are open; nil when the run did not get that far
	Missing []Missing
	Untold  map[uint64]string // by pull request: why git could not tell; never a verdict
	Err     string            // a passing failure

	Stood     bool // it was seen how the local base branch stands to GitHub's
	Rewritten bool // the local base branch has commits that GitHub's had and lost
}

// Missing is one prerequisite that a person has to see to (P10).
type Missing struct {
	What string // "GitHub CLI", …
	Fix  string // the command or place that mends it
}

// Told answers a [thread.Tell]. Err says why the main computer does not have the press.
type Told struct {
	Thread ledger.TID
	Binds  thread.Binds
	Err    string
}

// Odd says that something is wrong with another computer's identity or clock.
type Odd struct {
	Device ledger.Device
	Clock  bool // its clock is more than ten minutes off; otherwise two processes run with its key
}

// Prepared says that the run under way has found nothing missing, so that what it finds may be opened at once.
type Prepared struct{ Slug string }

// Routed says whether the conversation is routed to a desk here.
type Routed struct{ On bool }

// Space says whether the disk is almost full. While it is, this computer only reads: it is away (C12).
type Space struct{ Low bool }

// Peer says that a computer was heard of.
type Peer struct {
	Device ledger.Device
	Synced bool // a catch-up with it was completed
}

// Woke says that the machine was suspended or the network changed.
type Woke struct{}

// Tick says that time has passed. Ran is how much was seen to pass since the last one, by a clock that nobody
// can set.
type Tick struct{ Ran time.Duration }

func (Heard) input()        {}
func (NotAppended) input()  {}
func (Repository) input()   {}
func (Looked) input()       {}
func (Replaced) input()     {}
func (Turned) input()       {}
func (Written) input()      {}
func (Scanned) input()      {}
func (MasterSynced) input() {}
func (Told) input()         {}
func (Odd) input()          {}
func (Space) input()        {}
func (Prepared) input()     {}
func (Routed) input()       {}
func (Peer) input()         {}
func (Woke) input()         {}
func (Tick) input()         {}

// Effect is something for the shell to do. The set is sealed.
type Effect interface{ effect() }

// Append seals a record into a ledger, stores it durably, and only then tells others.
type Append struct {
	Ledger  ledger.TID
	Content ledger.Body
	Open    ledger.ID
	Spine   ledger.ID
	Claim   ledger.ID
	Re      []ledger.ID
	Deps    []ledger.ID
	After   []ledger.ID // records that its logical time follows, beside those that it names
	Turns   uint64
}

// Save keeps a node-local value durably; a nil value deletes.
type Save struct {
	Key   string
	Value []byte
}

// Look observes the outside world for one thread.
type Look struct {
	Thread ledger.TID
	State  *thread.State
}

// Do performs one action of a thread beside the loop.
type Do struct {
	Thread ledger.TID
	State  *thread.State
	Action thread.Action
	Turn   int // wake: number of the turn in this round
	Allow  int // wake: turns allowed in this round
	Until  time.Time
	To     ledger.Device // tell: the main computer
}

// Scan looks for conflicting pull requests in one repository.
type Scan struct {
	Slug    string
	Known   map[uint64]Verdict // by pull request: the last verdict
	Running []uint64           // pull requests whose conversation runs: they are skipped (P16)

	Teammates []uint64 // GitHub user ids whose pull requests are looked at beside the own account's (P12)
}

// SyncMaster brings a checkout to its base branch.
type SyncMaster struct {
	Slug   string
	Hold   []string  // paths that a thread decides about; more may follow while it runs ([Core.Held])
	Bring  bool      // also files that stayed apart while the branch moved past them: a person asked
	Settle bool      // the desk may be woken for what git cannot merge; its turn is reserved
	Until  time.Time // end of that turn
}

// Renew ends this process and starts another: this computer has two histories in a conversation, and goes on
// under a new incarnation, which no other process shares (case 12).
type Renew struct{}

// Note is one line of the timeline.
type Note struct {
	Level  string // "say" for records, "do" for acts, "warn"
	Thread ledger.TID
	Ref    string
	Who    string // name of the computer that speaks or acts
	Kind   string
	Text   string
}

func (Append) effect()     {}
func (Save) effect()       {}
func (Look) effect()       {}
func (Do) effect()         {}
func (Scan) effect()       {}
func (SyncMaster) effect() {}
func (Renew) effect()      {}
func (Note) effect()       {}
