package core

import (
	"github.com/parley-mesh/parley/conflicts/thread"
	"github.com/parley-mesh/parley/ledger"
)

// IsOpen reports whether a ledger is a conversation that has begun and is not closed.
func (c *Core) IsOpen(tid ledger.TID) bool {
	t := c.threads[tid]
	return t != nil && t.State.Phase != thread.None && t.State.Phase != thread.Closed
}
