//go:build unix

package main

import (
	"bytes"
	"context"
	"flag"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/parley-mesh/parley/simnet/demo"
)

// The long run is: go test ./cmd/parley -run RandomMoments -kills 1000 -timeout 0
var (
	killsWanted = flag.Int("kills", 50, "programs killed at random moments")
	killSeed    = flag.Uint64("killseed", 1, "seed of those moments")
)

// killTimeMax is when the short run begins no further demo; with more -kills than by default all are made.
const killTimeMax = 120 * time.Second

// TestKilledAtRandomMomentsItEndsTheSame kills a random program of a demo, again and again at random
// moments, until the demo is over, which must end as if nothing had happened; then the next demo.
func TestKilledAtRandomMomentsItEndsTheSame(t *testing.T) { // S1, S4, S10, cases 37 to 40
	if testing.Short() {
		t.Skip("a long story; run without -short")
	}
	path, begun, total := program(t), time.Now(), 0
	long := *killsWanted > 50
	for round := uint64(0); total < *killsWanted && (long || time.Since(begun) < killTimeMax); round++ {
		killed, out, err := killedDemo(t, path, rand.New(rand.NewPCG(*killSeed, round)), *killsWanted-total)
		total += killed
		if err != nil {
			t.Fatalf("seed %d, round %d, after %d kills: %v\n%s", *killSeed, round, killed, err, out)
		}
	}
	t.Logf("seed %d: %d kills in %s", *killSeed, total, time.Since(begun).Round(time.Second))
	if total == 0 {
		t.Error("nothing was killed")
	}
}

// killedDemo plays one demo to its end and reports how many of its programs were killed meanwhile.
func killedDemo(t *testing.T, path string, chance *rand.Rand, most int) (killed int, out string, err error) {
	dir := t.TempDir()
	printed := &timeline{set: make(chan struct{})}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	over := make(chan error, 1)
	go func() { over <- demo.Run(ctx, demo.Options{Program: path, Dir: dir, Yes: true, Out: printed}) }()
	select {
	case <-printed.set: // the repository and the pull request are there; from here on anything may be killed
	case err = <-over:
		return 0, printed.out.String(), err
	}
	for {
		wait := time.NewTimer(time.Duration(200+chance.IntN(1500)) * time.Millisecond)
		victim := victims[chance.IntN(len(victims))]
		select {
		case err = <-over:
			wait.Stop()
			return killed, printed.out.String(), err
		case <-wait.C:
			// A demo that is never left in peace need not end: twelve for each is more than any bad day has.
			if killed < min(most, 12) && kill(filepath.Join(dir, victim)) {
				killed++
			}
		}
	}
}

// timeline takes what a demo prints; it is read once the demo is over.
type timeline struct {
	mu  sync.Mutex
	out bytes.Buffer
	set chan struct{} // closed once the scene is set
	is  bool
}

func (l *timeline) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.out.Write(p)
	if !l.is && strings.Contains(l.out.String(), "\nPull request ") {
		l.is = true
		close(l.set)
	}
	return len(p), nil
}

// kill ends the program that a pid file names, without warning.
func kill(pidFile string) bool {
	text, err := os.ReadFile(pidFile)
	if err != nil {
		return false // not started yet
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	return err == nil && pid > 1 && syscall.Kill(pid, syscall.SIGKILL) == nil
}
