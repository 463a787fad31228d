package node

import (
	"context"
	"testing"
	"time"

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
