//go:build race

package virtual

import (
	"runtime"
	"sync"
)

// bubbles counts those that run, so that tests may run at the same time.
var bubbles struct {
	sync.Mutex
	open       int
	processors int // as they were before the first
}

// calm takes the processors but one away until the last bubble has ended.
func calm() (undo func()) {
	bubbles.Lock()
	defer bubbles.Unlock()
	if bubbles.open == 0 {
		bubbles.processors = runtime.GOMAXPROCS(1)
	}
	bubbles.open++
	return func() {
		bubbles.Lock()
		defer bubbles.Unlock()
		if bubbles.open--; bubbles.open == 0 {
			runtime.GOMAXPROCS(bubbles.processors)
		}
	}
}
