package simnet

import (
	"errors"
	"testing"
)

// mutantSeeds is within how many seeds a mutant must be noticed.
const mutantSeeds = 300

// quick are seeds that notice a mutant that few others notice.
var quick = map[string]uint64{
	"replay-approval": 58, "unreserved": 7, "no-hold": 7, "usurper": 23, "unbounded": 20, "own-chain": 61, "no-hand-over": 27,
	"old-approval": 12, "untold": 25, "no-denial": 63, "works-for-all": 52,
	"home-work": 10,
}

// agentsOf is how many agents the runs of a mutant have.
func agentsOf(m Mutant) int {
	if m.Breaks[0] == 'E' {
		return 2
	}
	return 0
}

func TestEveryInvariantCatchesItsMutant(t *testing.T) {
	have := map[string]bool{}
	for _, m := range Mutants {
		have[m.Breaks] = true
		t.Run(m.Breaks+" "+m.Name, func(t *testing.T) {
			t.Parallel()
			for i := range uint64(mutantSeeds) {
				seed := (quick[m.Name] + i) % mutantSeeds
				err := New(Config{Seed: seed, Ending: m.Ending, Teams: m.Teams, Agents: agentsOf(m), Mutant: m.Name, Only: m.Breaks}).Run()
				if f, ok := errors.AsType[*Failure](err); ok && f.Invariant.ID == m.Breaks {
					t.Logf("seed %d: %v", seed, f.Err)
					return
				}
			}
			t.Errorf("nobody notices within %d seeds that %s", mutantSeeds, m.What)
		})
	}
	for _, inv := range Invariants {
		if !have[inv.ID] {
			t.Errorf("nothing shows that %s (%s) can fail", inv.ID, inv.Name)
		}
	}
}
