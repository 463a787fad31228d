package core

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/parley-mesh/parley/conflicts/thread"
	"github.com/parley-mesh/parley/ledger"
)

// Local is what this computer keeps about one thread beside its records. It never leaves the computer
// and is left out of backups: an approval restored from one would be an approval nobody gave.
type Local struct {
	Opened       time.Time // origin of the interim's deadline
	OpenedFor    ledger.ID
	Assigned     time.Time // origin of the final's deadline
	AssignedFor  ledger.ID
	InterimFired bool
	FinalFired   bool
	OpenedRan    time.Duration // seen to pass since Opened, whatever the wall clock says
	AssignedRan  time.Duration // the same since Assigned
	Named        time.Time     // from when the final's confirmation counts
	NamedFor     ledger.ID

	Spent   []Spent // turns reserved here, by round: no round's count is ever forgotten
	Running *Running
	Merge   *thread.Turn
	Decide  *thread.Turn
	Decided []ledger.ID // objections that a turn was spent on, interrupted ones excepted

	Push *Approval
	Land *Approval // the merge on GitHub

	Pressed []Press
	Brought bool // a person had the own copies that stayed after the final brought together
	Renewed bool // this process began because of an own fork here

	Took       []int
	ClearSince time.Time
}

// Running is a reserved turn. One found at start was interrupted.
type Running struct {
	Decide bool
	For    ledger.ID
	Round  uint64
	Head   ledger.OID
	Tip    ledger.OID
}

// Approval is an offered act, when it was pressed, and by which proof.
type Approval struct {
	thread.Approval
	Pressed time.Time
	Begun   time.Time // when it was consumed
	Proof   string
	Round   uint64 // in which GitHub denied it: after another round it may be asked for again
}

// Verdict is the remembered answer of one trial, for one pair of commits.
type Verdict struct {
	Head    ledger.OID
	Tip     ledger.OID
	Verdict TrialVerdict
	Reason  string
	Title   string
	At      time.Time
}

// Keys of saved values.
const (
	localPrefix   = "c/" // + thread id: Local
	verdictPrefix = "s/" // + slug + "/" + number: Verdict
	masterPrefix  = "m/" // + slug: Master
	seenPrefix    = "p/" // + device: when it was last heard of
	dayKey        = "d"  // Day
	restKey       = "r"  // Rest
	teammatesKey  = "t"  // bool: teammates' pull requests start conversations too
)

// Day counts the agent turns of one day. A clock set back cannot refill it: the day only moves forward.
type Day struct {
	Date string // 2006-01-02, local
	Used int
}

// at is the day's count at a time.
func (d Day) at(now time.Time) Day {
	if today := now.Format(time.DateOnly); today > d.Date {
		return Day{Date: today}
	}
	return d
}

func localKey(tid ledger.TID) string { return localPrefix + tid.String() }

func verdictKey(slug string, pull uint64) string {
	return fmt.Sprintf("%s%s/%d", verdictPrefix, slug, pull)
}

func masterKey(slug string) string { return masterPrefix + slug }

// save is the effect that keeps a value. A value of these types always encodes.
func save[T Local | Verdict | Master | Day | time.Time](key string, v T) Save {
	b, err := json.Marshal(v)
	if err != nil {
		panic("core: saving " + key + ": " + err.Error())
	}
	return Save{Key: key, Value: b}
}
