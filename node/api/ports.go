package api

import (
	"context"
	"time"

	"github.com/parley-mesh/parley/node/internal/presence"
)

// Reader shows what a node knows. [Client] is one, and so is a home that is read without a running node.
type Reader interface {
	Status() (Status, error)
	// Threads lists running conversations first, newest first.
	Threads() ([]ThreadLine, error)
	// Thread finds a conversation by its ref or by the start of its id, wires included; [ErrNoThread].
	Thread(ref string) (Thread, error)
	Inbox() ([]Card, error)
	// Why answers about a conversation, a pull request, or a path of a checkout; [ErrNoThread],
	// [ErrNoFile], [ErrNoRepository].
	Why(subject string) (Why, error)
	// Lanes lists the links to other developers, by name.
	Lanes() ([]Lane, error)
	// Kept lists what was taken out of the checkouts, newest first.
	Kept(ctx context.Context) ([]KeptFile, error)
	// KeptContent is one of them with its bytes; [ErrNoKept].
	KeptContent(ctx context.Context, id string) (KeptContent, error)
	// Operations lists what parley did in the checkouts, newest first.
	Operations(ctx context.Context) ([]Operation, error)
	// Ledger is the ledger after the named one, as it is backed up; after "" the first, and beyond the last none.
	Ledger(after string) (LedgerPart, error)
	// Log returns up to max lines with a Seq above after, oldest first. With after 0 they are the last ones.
	Log(after uint64, max int) ([]LogLine, error)
}

// Actor acts for a person, or for anybody where the table of verbs says so. A proof is checked against
// the act of acts.go that describes what would be done.
type Actor interface {
	Challenge(act presence.Act) (nonce string, err error)
	// Approve approves what the card with this key asks for now; [ErrNoCard].
	Approve(ctx context.Context, cardKey string, p presence.Proof) (Outcome, error)
	SetMain(ctx context.Context, on bool, p presence.Proof) (Outcome, error)
	// End ends a conversation; [ErrNoThread], [ErrClosed].
	End(ctx context.Context, ref string, p presence.Proof) (Outcome, error)
	// Assign lets a named computer build the final; [ErrNoThread], [ErrClosed], [ErrNoParty].
	Assign(ctx context.Context, ref, party string, p presence.Proof) (Outcome, error)
	// Restore puts a kept file back; [ErrNoKept].
	Restore(ctx context.Context, id string, p presence.Proof) (Outcome, error)
	// Undo takes one operation back; [ErrNoKept].
	Undo(ctx context.Context, id string, p presence.Proof) (Outcome, error)
	// Sync pauses the master sync of a repository, lets it go on, or runs it at once. slug "" is every one.
	Sync(ctx context.Context, slug string, how SyncHow) (Outcome, error)
	// Reroute reads again where the conversation goes, after it was changed.
	Reroute(ctx context.Context) (Outcome, error)
	// Pause lets this computer rest for a time, 0 until [Actor.Resume].
	Pause(ctx context.Context, length time.Duration) (Outcome, error)
	// Resume ends a pause.
	Resume(ctx context.Context) (Outcome, error)
	// Scan starts a run over the pull requests; [ErrNotMain] elsewhere than on the main computer.
	Scan(ctx context.Context) (Outcome, error)
}

// Fleet changes which computers belong together. Proofs are as for [Actor].
type Fleet interface {
	// Revoke removes a computer for ever; [ErrNoComputer].
	Revoke(ctx context.Context, name string, why RevokeWhy, p presence.Proof) (Outcome, error)
	// Rename gives a computer another name; [ErrNoComputer].
	Rename(ctx context.Context, old, name string, p presence.Proof) (Outcome, error)
}

// RevokeWhy is why a computer is removed.
type RevokeWhy string

// RevokeWhys are the reasons, in the order of their numbers in a record.
var RevokeWhys = []RevokeWhy{"lost", "retired", "stolen"}

// SyncHow is what shall happen to a master sync.
type SyncHow string

// What can happen to it.
const (
	SyncPause  SyncHow = "pause"
	SyncResume SyncHow = "resume"
	SyncNow    SyncHow = "now"
)

// Inviter lets computers join.
type Inviter interface {
	Invite(ctx context.Context, p presence.Proof) (Invitation, error)
	// AwaitInvite returns as soon as the state is another than last, or with the present state when ctx
	// ends; [ErrNoInvite].
	AwaitInvite(ctx context.Context, id, last string) (InviteState, error)
	// ConfirmInvite lets the computer in that asks; its proof is for [ConfirmAct] of the present state.
	ConfirmInvite(ctx context.Context, id string, p presence.Proof) (Outcome, error)
	CancelInvite(ctx context.Context, id string) (Outcome, error)
}
