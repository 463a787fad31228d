package core

import (
	"github.com/parley-mesh/parley/conflicts/thread"
	"github.com/parley-mesh/parley/ledger"
)

// Forget lets go of a closed conversation of which the end alone is kept. It is remembered as having been, so
// that its pull request's next conversation is another one.
func (c *Core) Forget(tid ledger.TID) []Effect {
	if c.forgot == nil {
		c.forgot = map[ledger.TID]bool{}
	}
	c.forgot[tid] = true
	if c.threads[tid] == nil {
		return nil
	}
	delete(c.threads, tid)
	return []Effect{Save{Key: localKey(tid)}}
}

// begun reports whether a conversation is or was there.
func (c *Core) begun(tid ledger.TID) bool {
	t := c.threads[tid]
	return c.forgot[tid] || t != nil && t.State.Phase != thread.None
}
