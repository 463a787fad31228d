package api

import (
	"context"

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
	// Scan starts a run over the pull requests; [ErrNotMain] elsewhere than on the main computer.
	Scan(ctx context.Context) (Outcome, error)
}

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
