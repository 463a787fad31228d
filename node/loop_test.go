package node

import (
	"context"
	"testing"
	"time"

	"github.com/parley-mesh/parley/conflicts/thread"
	"github.com/parley-mesh/parley/ledger"
	"github.com/parley-mesh/parley/node/api"
	"github.com/parley-mesh/parley/node/core"
)

// A suspended computer is often woken by its network first. Deadlines are judged after others were heard, whatever
// comes first.
func TestWhateverEndsASleepComesAfterTheWakeUp(t *testing.T) { // P24, case 46
	n, err := start(t.Context(), RunConfig{Home: demoHome(t), Demo: true})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	now := n.wall().Add(time.Hour)
	n.wall = func() time.Time { return now }
	ended := make(chan error, 1)
	go func() { ended <- n.run(ctx) }()

	var next time.Time
	_, err = n.ask(ctx, func(n *Node) (api.Outcome, []core.Effect, error) {
		next = n.core.Next(now)
		return api.Outcome{}, nil, nil
	})
	cancel()
	if err != nil {
		t.Fatal(err)
	}
	if grace := n.cfg.Timers.every().Grace; !next.Equal(now.Add(grace)) {
		t.Errorf("it judges at %s, want %s after the wake-up", next.Sub(now), grace)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if err := n.close(); err != nil {
		t.Error(err)
	}
}

func TestNothingWaitsForAgentTurnsButAgentTurns(t *testing.T) { // P18, P21, D-28
	now := time.Now()
	n := &Node{
		wall: func() time.Time { return now }, inputs: make(chan core.Input, 8),
		slots: make(chan struct{}, workersMax), desks: make(chan struct{}, turnsMax),
	}
	for range turnsMax {
		n.desks <- struct{}{} // as many turns as there may be
	}
	s := &thread.State{Open: &ledger.Open{}}
	n.begin(t.Context(), core.Do{State: s, Action: thread.Wake{}})
	n.begin(t.Context(), core.SyncMaster{Settle: true})
	for range 2 * workersMax {
		n.begin(t.Context(), core.Look{State: s})
	}
	for range 2 * workersMax {
		if in, ok := (<-n.inputs).(core.Looked); !ok {
			t.Fatalf("%T, want what was looked at", in)
		}
	}
	for range turnsMax {
		<-n.desks
	}
	n.work.Wait()
	if len(n.inputs) != 2 {
		t.Errorf("%d turns ended, want 2", len(n.inputs))
	}
}
