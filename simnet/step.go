package simnet

import (
	"slices"

	"github.com/parley-mesh/parley/conflicts/thread"
	"github.com/parley-mesh/parley/lanes"
	"github.com/parley-mesh/parley/ledger"
	"github.com/parley-mesh/parley/node/core"
)

// Step is what one event brought about: all that an invariant looks at, so that a check costs what the
// event touched and not what the world holds.
type Step struct {
	N       int
	Last    bool // the run is over; nothing happened in this one
	Handled []*computer
	Folds   []fold
	Sealed  []sealed
	Changes []change
	Writes  []hubWrite
	Begun   []begun
	Turns   []turn
	Sent    []sent
	Live    []*computer   // whose live work changed
	Failed  []core.Effect // what followed from calls that GitHub did not answer
	BadSeal error
	Unasked error // work that a person has paused
}

// fold is one ledger folded at one computer.
type fold struct {
	who    *computer
	book   *book
	state  thread.State
	held   []*ledger.Record // what was folded
	hash   uint64           // of the state
	set    uint64           // of the records
	roster uint64           // of the roster's records
}

type sealed struct {
	who    *computer
	record *ledger.Record
	role   lanes.Role // as it saw the main role then
	lie    bool       // its core did not ask for it
}

// begun is an approved act on its way to GitHub.
type begun struct {
	who    *computer
	action string
	role   lanes.Role // as it saw the main role then
	act    denial
}

// denial is a push that GitHub refuses for lack of right.
type denial struct {
	thread ledger.TID
	binds  thread.Binds
	round  uint64
}

// turn is one agent turn that starts.
type turn struct {
	who    *computer
	tid    ledger.TID
	state  *thread.State
	used   int // by this computer in this thread and round
	told   int // before it, by the own records that the computer holds
	oneDay int // by this computer today
}

// sent is a record on a wire.
type sent struct {
	from, to *computer
	bytes    int
	concerns bool // the ledger is about the receiver's fleet too
	record   *ledger.Record
}

func (s *Step) begin(n int) {
	s.N, s.Last, s.BadSeal, s.Unasked = n, false, nil, nil
	s.Handled, s.Folds, s.Sealed, s.Changes = s.Handled[:0], s.Folds[:0], s.Sealed[:0], s.Changes[:0]
	s.Live = s.Live[:0]
	s.Writes, s.Begun, s.Turns, s.Sent, s.Failed = s.Writes[:0], s.Begun[:0], s.Turns[:0], s.Sent[:0], s.Failed[:0]
}

func (s *Step) handled(c *computer) {
	if slices.Contains(s.Handled, c) {
		return
	}
	s.Handled = append(s.Handled, c)
}
