package node

import (
	"context"
	"fmt"
	"time"

	"github.com/parley-mesh/parley/node/api"
	"github.com/parley-mesh/parley/node/core"
)

// Pause lets this computer rest for a time, or until it is told to go on.
func (a actor) Pause(ctx context.Context, length time.Duration) (api.Outcome, error) {
	return a.n.change(ctx, func(n *Node) (api.Outcome, []core.Effect, error) {
		var until time.Time
		text := "paused until parley resume"
		if length > 0 {
			until = n.wall().Add(length)
			text = "paused until " + until.Local().Format(api.UntilForm)
		}
		effects := n.core.TakeRest(until, n.wall())
		return api.Outcome{Text: text + "; what had begun is finished, and what others say is still heard", Next: "parley status"}, effects, nil
	})
}

// Resume ends a pause.
func (a actor) Resume(ctx context.Context) (api.Outcome, error) {
	return a.n.change(ctx, func(n *Node) (api.Outcome, []core.Effect, error) {
		if _, on := n.core.Resting(n.wall()); !on {
			return api.Outcome{Text: "nothing is paused here"}, nil, nil
		}
		return api.Outcome{Text: "everything goes on", Next: "parley status"}, n.core.EndRest(n.wall()), nil
	})
}

// further is [Node.change] for what a pause holds up: nobody is told that something is done which is not.
func (n *Node) further(ctx context.Context, what string, do func(n *Node) (api.Outcome, []core.Effect, error)) (api.Outcome, error) {
	return n.change(ctx, func(n *Node) (api.Outcome, []core.Effect, error) {
		if _, on := n.core.Resting(n.wall()); on {
			return api.Outcome{}, nil, fmt.Errorf("%s: %w", what, api.ErrPaused)
		}
		return do(n)
	})
}

// paused is the pause as a view shows it; nil when there is none.
func (v viewer) paused() *api.Pause {
	r, on := v.core.Resting(v.now)
	if !on {
		return nil
	}
	return &api.Pause{Since: r.Since, Until: r.Until}
}
