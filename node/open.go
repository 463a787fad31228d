package node

import (
	"maps"
	"slices"
	"sync"

	"github.com/parley-mesh/parley/ledger"
)

// openThreads are the conversations that are not closed, as the mesh's goroutines see them.
type openThreads struct {
	mu  sync.Mutex
	set map[ledger.TID]bool
}

func (o *openThreads) note(tid ledger.TID, open bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !open {
		delete(o.set, tid)
		return
	}
	if o.set == nil {
		o.set = map[ledger.TID]bool{}
	}
	o.set[tid] = true
}

func (o *openThreads) all() []ledger.TID {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.SortedFunc(maps.Keys(o.set), func(a, b ledger.TID) int { return slices.Compare(a[:], b[:]) })
}
