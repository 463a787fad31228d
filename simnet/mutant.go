package simnet

import (
	"slices"

	"github.com/parley-mesh/parley/conflicts/thread"
	"github.com/parley-mesh/parley/lanes"
	"github.com/parley-mesh/parley/ledger"
	"github.com/parley-mesh/parley/node/core"
)

// mutation is one rule that a run breaks, so that the checks can be seen to notice.
type mutation int

const (
	sound mutation = iota
	clobber
	stray
	credulous
	lanePull
	noCompare
	replayApproval
	noClick
	secondThread
	rollBack
	ownState
	lateState
	forgetful
	sameInc
	unreserved
	chatty
	canary
	noHold
	usurper
	outageVerdict
	doubleCard
	unbounded
	ownChain
	silentAdoption
	selfPress
	noInterim
	noHandOver
	noSync
	untold
	oldApproval
	noDenial
	unkept
	mergeHeld
	wholeRoster
	unasked
	halfLane
	lanePick
	anyTeammate
	worksForAll
	lateWork
	inferredBlocks
	firstWaits
	firstWaitsHere
	forgotten
	renamed
	homeWork
	wholeStory
)

// Mutant is a broken rule with a name.
type Mutant struct {
	Name   string
	Breaks string // the invariant that has to notice
	What   string
	Ending Ending // of the runs in which it shows
	kind   mutation
	Teams  int // other developers of those runs
}

// Mutants are all of them; every invariant has at least one.
var Mutants = []Mutant{
	{"clobber", "S1", "files are replaced without asking what is known, and nothing is kept", Never, clobber, 0},
	{"stray", "S2", "a replacement puts something else than was asked for", Never, stray, 0},
	{"credulous", "S2", "a final is believed without a look at GitHub", Never, credulous, 0},
	{"unkept", "S1", "the master sync keeps no copy of what it merges", Never, unkept, 0},
	{"merge-held", "S2", "the master sync merges own work into files that a conversation holds", Never, mergeHeld, 0},
	{"lane-pull", "S3", "a teammate's computer takes the pull request's copy", Never, lanePull, 0},
	{"no-compare", "S4", "pushes and merges do not compare what they replace", Never, noCompare, 0},
	{"replay-approval", "S4", "every act that was approved once is done again and again", Never, replayApproval, 0},
	{"no-click", "S4", "approvals appear without a person", Never, noClick, 0},
	{"old-approval", "S4", "an approval outlives the start of a disk that went back", Never, oldApproval, 0},
	{"second-thread", "S5", "a second conversation is opened beside a running one", Never, secondThread, 0},
	{"roll-back", "S6", "a state goes back to an earlier phase", Never, rollBack, 0},
	{"own-state", "S7", "a state depends on who folds it", Never, ownState, 0},
	{"late-state", "S8", "the last record to arrive is not folded", Never, lateState, 0},
	{"forgetful", "S9", "a store forgets a record", Never, forgetful, 0},
	{"same-incarnation", "S10", "a start goes on under the incarnation of the last one", Never, sameInc, 0},
	{"unreserved", "S11", "turns are not reserved durably", Never, unreserved, 0},
	{"untold", "S11", "records do not tell the turns that were spent", Never, untold, 0},
	{"chatty", "S12", "gossip goes to everybody", Never, chatty, 0},
	{"canary", "S13", "a record tells the id of an unpublished content", Never, canary, 0},
	{"no-hold", "S14", "the author's computer is treated like any other", Never, noHold, 0},
	{"usurper", "S15", "a main computer acts while the role is contested", Never, usurper, 0},
	{"outage-verdict", "S16", "an outage counts as a pull request that is gone", Never, outageVerdict, 0},
	{"double-card", "S17", "a card is shown twice", Never, doubleCard, 0},
	{"unbounded", "S18", "records that cannot be placed wait without bound", Never, unbounded, 0},
	{"own-chain", "S18", "a statement's logical time follows its own chain alone", Never, ownChain, 0},
	{"no-denial", "S18", "nobody is told that GitHub denies a push", Never, noDenial, 0},
	{"whole-roster", "S12", "a lane is shown names and other lanes", Never, wholeRoster, 1},
	{"unasked", "S12", "accounts are asked for before a person wants teammates' conflicts", Never, unasked, 1},
	{"half-lane", "S12", "a lane that is on at one end carries conversations", Never, halfLane, 1},
	{"lane-pick", "S3", "a teammate's computer takes what the main computer picks", Never, lanePick, 1},
	{"any-teammate", "S19", "a developer who did not answer is made responsible", Never, anyTeammate, 2},
	{"works-for-all", "S20", "a lane's agent builds whoever wrote the pull request", Never, worksForAll, 1},
	{"late-work", "E1", "the last record of live work is not folded", Never, lateWork, 0},
	{"inferred-blocks", "E2", "what is inferred blocks", Never, inferredBlocks, 0},
	{"first-waits", "E3", "who came first waits", Never, firstWaits, 0},
	{"forgotten", "E4", "a conflict is not listed", Never, forgotten, 0},
	{"renamed", "E5", "a conflict has two ids", Never, renamed, 0},
	{"home-work", "E6", "a lane shows live work as it is at home", Never, homeWork, 1},
	{"whole-story", "E6", "a lane is told what was over before the switch", Never, wholeStory, 1},
	{"first-waits-here", "E7", "at one end of a lane who came first waits", Never, firstWaitsHere, 1},
	{"silent-adoption", "L1", "nobody confirms a final", Settle, silentAdoption, 0},
	{"self-press", "L2", "approvals are pressed by nobody", Hands, selfPress, 0},
	{"no-interim", "L3", "the interim's deadline never comes", NoMain, noInterim, 0},
	{"no-hand-over", "L4", "the final's deadline never comes", NoResp, noHandOver, 0},
	{"no-sync", "L5", "nobody catches up", Settle, noSync, 0},
}

func mutationNamed(name string) mutation {
	for _, m := range Mutants {
		if m.Name == name {
			return m.kind
		}
	}
	return sound
}

// forgets reports whether every computer of this world comes back as from a backup, so that only its records tell
// what it spent.
func (w *World) forgets() bool { return w.is(untold) }

func (w *World) is(m mutation) bool { return w.mutation == m }

// tamper changes what a fold has computed.
func (w *World) tamper(c *computer, b *book, t *core.Conversation) {
	s := &t.State
	switch w.mutation {
	case rollBack:
		if s.Phase == thread.Interim && oneIn(w.rng.check, 10) {
			s.Phase, s.Spine = thread.Opened, s.Spine[:1]
		}
	case ownState:
		if c.number == 1 {
			s.Term++
		}
	case lateState:
		if n := len(b.records); n > 1 {
			*s = thread.Fold(b.records[:n-1], lanes.Rosters{c.core.Roster()})
			s.Ledger = b.tid
		}
	case forgetful:
		if n := len(b.records); n > 3 && oneIn(w.rng.check, 20) {
			checked := b.checked
			b.cut(n - 1)
			b.checked = checked
		}
	case lanePull:
		w.lanePulls(c, s)
	case lanePick:
		if s.Open != nil && s.Open.Fleet != c.fleet {
			s.Open, s.Pick = w.adopted(c, *s.Open), []uint64{0}
		}
	}
}

// adopted is another developer's open as if this fleet had made it, so that its rules hold here.
func (w *World) adopted(c *computer, open ledger.Open) *ledger.Open {
	open.Fleet, open.Parties = c.fleet, slices.Clone(open.Parties)
	for i, p := range open.Parties {
		if p == ledger.LaneParty(c.fleet) {
			open.Parties[i] = ledger.DeviceParty(c.dev)
		}
	}
	return &open
}

// lanePulls lets the lane-flagged computer take the pull request's copy as soon as anybody opens.
func (w *World) lanePulls(c *computer, s *thread.State) {
	if s.Open == nil || s.Open.Fleet != c.fleet || c.lane {
		return
	}
	for _, other := range w.computers {
		if f := &s.Open.Files[0]; other.lane {
			other.put(pathOf(f), w.git.byBlob[f.Pull], change{thread: s})
		}
	}
}

// spoil changes what a core wants to say.
func (w *World) spoil(c *computer, a core.Append) core.Append {
	switch w.mutation {
	case canary:
		adopted, ok := a.Content.(*ledger.Adopted)
		for path := range pathCount {
			if b := c.work[path]; ok && b != 0 && !w.hub.published[path].has(int(b)) {
				adopted.Tip = w.git.blobID(b)
			}
		}
	case anyTeammate:
		if open, ok := a.Content.(*ledger.Open); ok && c.w.cfg.Teams > 0 {
			open.Parties = append(open.Parties, ledger.LaneParty(w.teams.all[len(w.teams.all)-1].fleet))
			open.Resp, open.Auth = uint64(len(open.Parties)-1), nil
		}
	case secondThread:
		if _, interim := a.Content.(*ledger.Interim); interim {
			open := *c.conversation(a.Ledger).State.Open
			open.Episode++
			return core.Append{Ledger: open.Key().Thread(), Content: &open, Claim: a.Claim}
		}
	}
	return a
}

// usurp lets a computer that sees the role contested hand the final to somebody.
func (w *World) usurp(c *computer) {
	roster := c.core.Roster()
	if role, _ := roster.Main(); role != lanes.RoleContested {
		return
	}
	for _, claim := range roster.Live {
		for _, t := range c.core.Conversations() {
			if s := &t.State; claim.Device == c.dev && s.Phase < thread.Final {
				c.perform([]core.Effect{core.Append{
					Ledger: s.Ledger, Content: &ledger.Reassign{To: uint64(s.Responsible), Why: ledger.ReassignOverdue, Round: s.Round},
					Open: s.Root.ID, Spine: s.Head(), Claim: claim.ID,
				}})
				return
			}
		}
	}
}
