package simnet

import (
	"bytes"
	_ "embed"
	"errors"
	"strconv"
	"strings"
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
	t.Parallel()
	runSeeds(t, 0, seedsOf(t, 50))
}

func TestPromisesHoldInFreshWorlds(t *testing.T) { // S1 to S18, L1 to L5
	t.Parallel()
	first := uint64(time.Now().UnixNano()) >> 12
	t.Logf("seeds from %d", first)
	runSeeds(t, first, seedsOf(t, 6))
}

func TestPromisesHoldBetweenDevelopers(t *testing.T) { // S1 to S20, P3 to P5, P12 to P14
	t.Parallel()
	for seed := range seedsOf(t, 60) {
		cfg := Config{Seed: seed, Teams: 1 + int(seed%2), Ending: TeamEndings[seed/2%2]}
		if err := New(cfg).Run(); err != nil {
			t.Error(err)
		}
	}
}

func TestPromisesHoldWhileAgentsWork(t *testing.T) { // E1 to E5, C1, C9, C10
	t.Parallel()
	for seed := range seedsOf(t, 8) {
		cfg := Config{Seed: seed, Agents: 1 + int(seed%3), Ending: Endings[seed%uint64(len(Endings))]}
		if err := New(cfg).Run(); err != nil {
			t.Error(err)
		}
	}
}

func TestPromisesHoldWhileDevelopersShareTheirAgentsWork(t *testing.T) { // E1 to E6, D-26
	t.Parallel()
	for seed := range seedsOf(t, 2) { // further ones: parley-sim -agents 2 -teams 1
		if err := New(Config{Seed: seed, Agents: 2, Teams: 1}).Run(); err != nil {
			t.Error(err)
		}
	}
}

func TestASeedReplaysByteForByte(t *testing.T) {
	for seed := range seedsOf(t, 8) {
		var traces [2]bytes.Buffer
		for i := range traces {
			cfg := Config{Seed: seed, Ending: Endings[seed%uint64(len(Endings))], Steps: 3000, Trace: &traces[i]}
			if cfg.Ending == Never {
				cfg.Teams = int(seed / uint64(len(Endings)) % 3)
			}
			if err := New(cfg).Run(); err != nil && cfg.Ending == Never {
				t.Fatal(err)
			}
		}
		if !bytes.Equal(traces[0].Bytes(), traces[1].Bytes()) || traces[0].Len() == 0 {
			t.Errorf("seed %d tells two stories", seed)
		}
	}
}

//go:embed testdata/found.txt
var found string

func TestWhatSeedsFoundStaysFixed(t *testing.T) {
	for line := range strings.Lines(found) {
		fields := strings.Fields(line)
		if len(fields) == 0 || fields[0] == "#" {
			continue
		}
		seed, err := strconv.ParseUint(fields[0], 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		ending, teams, _ := strings.Cut(fields[1], ",teams=")
		cfg := Config{Seed: seed, Ending: Ending(strings.TrimPrefix(ending, "-"))}
		if teams != "" {
			cfg.Teams, err = strconv.Atoi(teams)
		}
		if err != nil {
			t.Fatal(err)
		}
		if err := New(cfg).Run(); err != nil {
			t.Errorf("%s: %v", strings.Join(fields[2:], " "), err)
		}
	}
}

func TestAFailureSaysHowToSeeItAgain(t *testing.T) {
	var f *Failure
	for _, cfg := range []Config{{Seed: 2, Mutant: "no-hand-over", Ending: NoResp}, {Seed: 0, Mutant: "no-sync", Ending: Settle}, {Seed: 3, Mutant: "clobber"}} {
		var ok bool
		if f, ok = errors.AsType[*Failure](New(cfg).Run()); !ok {
			continue
		}
		again, ok := errors.AsType[*Failure](New(f.Config).Run())
		if !ok || again.Error() != f.Error() {
			t.Errorf("the replay says %v, the failure said %v", again, f)
		}
	}
	if f == nil {
		t.Fatal("the mutant was not noticed")
	}
	small := Shrink(f)
	if small.Config.Computers > f.Config.Computers || small.Invariant.ID != f.Invariant.ID || len(small.Config.Without) == 0 {
		t.Errorf("nothing could be left out: %+v", small.Config)
	}
}
