package api

import "sync"

// Bell tells everybody who waits that something has changed. The zero value is ready. It may be used from
// several goroutines.
type Bell struct {
	mu   sync.Mutex
	next chan struct{}
}

// Changed is closed by the next [Bell.Ring]. Take it before looking, so that nothing is missed between.
func (b *Bell) Changed() <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.next == nil {
		b.next = make(chan struct{})
	}
	return b.next
}

// Ring wakes everybody who waits now.
func (b *Bell) Ring() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.next != nil {
		close(b.next)
		b.next = nil
	}
}
