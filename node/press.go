package node

import (
	"context"
	"errors"

	"github.com/parley-mesh/parley/conflicts/thread"
	"github.com/parley-mesh/parley/node/core"
)

// tellMain brings what a person pressed here to the main computer, which alone can say it in the conversation.
func (n *Node) tellMain(_ context.Context, e core.Do, a thread.Tell) core.Input {
	return core.Told{Thread: e.Thread, Binds: a.Binds, Err: errors.New("not connected").Error()}
}
