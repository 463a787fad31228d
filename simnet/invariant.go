package simnet

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/parley-mesh/parley/ledger"
)

// Invariant is one promise that no misfortune may break. Check looks at what a step touched; Name is the
// promise in words.
type Invariant struct {
	ID    string
	Name  string
	Check func(*World, Step) error
}

// Invariants are all of them, in the order in which they are checked.
var Invariants = []Invariant{
	{"S1", "nobody loses unpublished work", noLoss},
	{"S2", "files get only what GitHub holds", onlyGitHub},
	{"S3", "no code reaches another developer through a lane", laneNoCode},
	{"S4", "one press is one change of GitHub, of exactly what was bound", oneShot},
	{"S5", "a pull request has one conversation", onePerPull},
	{"S6", "only claims move the spine, and only forward", spineAuthority},
	{"S7", "the same records mean the same everywhere", sameSetSameState},
	{"S8", "the order of records is irrelevant", orderFree},
	{"S9", "what is stored stays stored", appendOnly},
	{"S10", "no computer says two things at one place", noSelfFork},
	{"S11", "agent turns stay within their limits", budget},
	{"S12", "another developer hears nothing before the lane is on", silence},
	{"S13", "records hold no unpublished content and fit", cleanRecords},
	{"S14", "the author keeps the pull request's copy until the final", authorCopy},
	{"S15", "while the main role is contested nobody acts in it", contested},
	{"S16", "a GitHub outage is no verdict", noVerdictOnOutage},
	{"S17", "each matter has one card", oneCard},
	{"S18", "what is kept for later is bounded", bounded},
	{"S19", "a teammate's conflict starts only for who answered with that account alone", teammates},
	{"S20", "a lane's agents work for their own developer alone", ownAgents},
	{"E1", "the same live work means the same everywhere", sameWorkSameConflicts},
	{"E2", "nothing inferred blocks an agent", nothingInferredBlocks},
	{"E3", "only the newcomer waits", onlyTheNewcomerWaits},
	{"E4", "no overlap of live work is forgotten", noOverlapForgotten},
	{"E5", "an overlap has one open conflict", oneOpenConflict},
	{"E6", "live work crosses a lane only as it is shared, from the switch on", onlyWhatIsShared},
	{"E7", "both ends of a lane find the same conflicts between them, and the same side waits", bothEndsAgree},
	{"L1", "every conversation ends and everybody adopts", everyThreadEnds},
	{"L2", "without a press nothing is written, and the card waits", nothingWithoutPress},
	{"L3", "the interim settles without a main computer", interimWithoutMain},
	{"L4", "an absent side hands the final over", handedOver},
	{"L5", "who comes back catches up in three rounds", catchesUp},
}

// watched are the invariants that a run checks: one, or all.
func watched(only string) []Invariant {
	if only == "" {
		return Invariants
	}
	return slices.DeleteFunc(slices.Clone(Invariants), func(i Invariant) bool { return i.ID != only })
}

// place is where one process of a computer writes one record.
type place struct {
	tid ledger.TID
	dev ledger.Device
	inc ledger.Incarnation
	seq uint64
}

// said is a set of records with the roster that judges it.
type said struct {
	tid         ledger.TID
	set, roster uint64
}

// seen is what the checks remember of everything that happened.
type seen struct {
	places map[place]ledger.ID
	states map[said]uint64
	rounds map[ledger.TID]uint64
	spent  map[ledger.ID]turnCount // by record: the turns that it tells
}

func newSeen() seen {
	return seen{
		places: map[place]ledger.ID{}, states: map[said]uint64{}, rounds: map[ledger.TID]uint64{},
		spent: map[ledger.ID]turnCount{},
	}
}

// Failure is a broken promise, with all that is needed to see it again.
type Failure struct {
	Invariant Invariant
	Config    Config
	Step      int
	Err       error
}

// Error names the promise, the seed and the command that replays it.
func (f *Failure) Error() string {
	return fmt.Sprintf("%s (%s): seed %d step %d: %v\nreplay: %s", f.Invariant.ID, f.Invariant.Name, f.Config.Seed, f.Step, f.Err, f.Replay())
}

// Unwrap is what broke the promise.
func (f *Failure) Unwrap() error { return f.Err }

// Replay is the command that shows the failure again.
func (f *Failure) Replay() string {
	c := f.Config
	var out strings.Builder
	fmt.Fprintf(&out, "go run ./cmd/parley-sim -seed %d -steps %d -calm %d -computers %d", c.Seed, c.Steps, c.Calm, c.Computers)
	for _, flag := range []struct{ name, value string }{
		{"teams", numberFlag(c.Teams)}, {"agents", numberFlag(c.Agents)}, {"ending", string(c.Ending)}, {"mutant", c.Mutant}, {"only", c.Only}, {"without", strings.Join(c.Without, ",")},
	} {
		if flag.value != "" {
			out.WriteString(" -" + flag.name + " " + flag.value)
		}
	}
	return out.String() + " -trace"
}

func numberFlag(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}

func (w *World) failure(inv Invariant, err error) error {
	w.tracef("%s broken: %v", inv.ID, err)
	return &Failure{Invariant: inv, Config: w.cfg, Step: w.step.N, Err: err}
}
