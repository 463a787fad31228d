package thread

import "time"

// Limits of a conversation, each from the owner's document. They are constants of the contract, not
// settings.
const (
	// "A conflict spends at most three agent turns per computer and twenty-four in all, and each
	// computer at most fifty a day."
	TurnsPerComputer = 3
	TurnsInAll       = 24
	TurnsPerDay      = 50
	// reassignsMax bounds how often a final can change hands in one thread.
	reassignsMax = 16
)

// Timers are the lengths of a conversation's waits. [Contract] gives the ones that count; only the demo
// and the simulator may set others, and the program says so when it does (D-32).
type Timers struct {
	Interim  time.Duration // silence until then is agreement
	Final    time.Duration // the responsible side's time for the final
	Away     time.Duration // unseen for so long, a computer counts as away
	Restate  time.Duration // least time between two statements of one party
	Cleared  time.Duration // a pull request that merges cleanly for so long no longer conflicts
	Unproven time.Duration // a final that GitHub does not confirm for so long is a card
	Turn     time.Duration // the time of one agent turn
}

// Contract is the lengths that the document fixes, or that follow from it: "The interim settles within
// 30 minutes of opening", "past its 24 hours".
func Contract() Timers {
	return Timers{
		Interim:  30 * time.Minute,
		Final:    24 * time.Hour,
		Away:     30 * time.Minute,
		Restate:  time.Minute,
		Cleared:  30 * time.Minute,
		Unproven: 24 * time.Hour,
		Turn:     30 * time.Minute,
	}
}

// Allowance is how many agent turns a party may spend in one round, computable by everybody without
// asking anybody (P21). Up to eight parties have three each. With more, the acting main and the first
// responsible side have three, the first two new responsible sides three, and the remaining twelve turns
// go singly to the other parties in order, so that the sum never exceeds twenty-four.
func (s *State) Allowance(party int) int {
	n := len(s.Open.Parties)
	if party < 0 || party >= n {
		return 0
	}
	if n*TurnsPerComputer <= TurnsInAll {
		return TurnsPerComputer
	}
	left := TurnsInAll
	full := map[int]bool{}
	for _, p := range append([]int{s.openerParty(), int(s.Open.Resp)}, s.Successors...) {
		if p >= 0 && !full[p] && len(full) < 4 {
			full[p] = true
			left -= TurnsPerComputer
		}
	}
	if full[party] {
		return TurnsPerComputer
	}
	if before := party - countBelow(full, party); before < min(left, TurnsInAll-4*TurnsPerComputer) {
		return 1
	}
	return 0
}

func countBelow(set map[int]bool, limit int) int {
	n := 0
	for p := range set {
		if p < limit {
			n++
		}
	}
	return n
}
