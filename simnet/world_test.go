package simnet

import (
	"bytes"
	"testing"
	"time"
)

// seedsOf is how many seeds a test runs.
func seedsOf(t *testing.T, n int) uint64 {
	t.Helper()
	if testing.Short() {
		return uint64(n / 8)
	}
	return uint64(n)
}

func runSeeds(t *testing.T, first, n uint64) {
	t.Helper()
	for seed := first; seed < first+n; seed++ {
		cfg := Config{Seed: seed, Ending: Endings[seed%uint64(len(Endings))]}
		if err := New(cfg).Run(); err != nil {
			t.Error(err)
		}
	}
}

func TestPromisesHoldInChosenWorlds(t *testing.T) { // S1 to S18, L1 to L5
	runSeeds(t, 0, seedsOf(t, 100))
}

func TestPromisesHoldInFreshWorlds(t *testing.T) { // S1 to S18, L1 to L5
	first := uint64(time.Now().UnixNano()) >> 12
	t.Logf("seeds from %d", first)
	runSeeds(t, first, seedsOf(t, 24))
}

func TestASeedReplaysByteForByte(t *testing.T) {
	for seed := range seedsOf(t, 16) {
		var traces [2]bytes.Buffer
		for i := range traces {
			cfg := Config{Seed: seed, Ending: Endings[seed%uint64(len(Endings))], Steps: 3000, Trace: &traces[i]}
			if err := New(cfg).Run(); err != nil && cfg.Ending == Never {
				t.Fatal(err)
			}
		}
		if !bytes.Equal(traces[0].Bytes(), traces[1].Bytes()) || traces[0].Len() == 0 {
			t.Errorf("seed %d tells two stories", seed)
		}
	}
}
