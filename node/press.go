package node

import (
	"context"
	"time"

	"github.com/parley-mesh/parley/conflicts/thread"
	"github.com/parley-mesh/parley/ledger"
	"github.com/parley-mesh/parley/node/api"
	"github.com/parley-mesh/parley/node/core"
)

// tellMain brings what a person pressed here to the main computer, which alone can say it in the conversation.
// The connection proves which computer of the fleet passes it on.
func (n *Node) tellMain(ctx context.Context, e core.Do, a thread.Tell) core.Input {
	out := core.Told{Thread: e.Thread, Binds: a.Binds}
	err := n.mesh.Press(ctx, e.To, ledger.Press{
		Ledger: e.Thread, Action: a.Binds.Action, Round: a.Binds.Round, Party: uint64(a.Binds.Party),
		Devices: a.Binds.Devices, At: uint64(n.wall().UnixMilli()),
	})
	if err != nil {
		out.Err = err.Error()
	}
	return out
}

// pressTimeout bounds how long another computer's press waits for the loop.
const pressTimeout = 10 * time.Second

// pressed takes what a person pressed at another computer of the fleet.
func (n *Node) pressed(ctx context.Context, from ledger.Device, p ledger.Press) error {
	ctx, cancel := context.WithTimeout(ctx, pressTimeout)
	defer cancel()
	_, err := n.ask(ctx, func(n *Node) (api.Outcome, []core.Effect, error) {
		b := thread.Binds{Action: p.Action, Round: p.Round, Party: int(p.Party), Devices: p.Devices}
		if t, err := n.viewer().find(p.Ledger.String()); err == nil {
			b.Repo, b.Pull = t.State.Open.Repo, t.State.Open.Pull
		}
		effects, err := n.core.Relay(p.Ledger, b, from, n.wall())
		return api.Outcome{}, effects, err
	})
	return err
}
