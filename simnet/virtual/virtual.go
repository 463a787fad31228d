// Package virtual runs tests in bubbles of virtual time, in race runs too.
package virtual

import (
	"testing"
	"testing/synctest"
)

// Test is [synctest.Test]. While the race detector watches, everything runs on one processor until it ends:
// in a bubble on several the race detector of this Go crashes in its own memory. Which accesses race does not
// depend on that.
func Test(t *testing.T, f func(t *testing.T)) {
	t.Helper()
	defer calm()()
	synctest.Test(t, f)
}
