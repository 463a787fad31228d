//go:build !race

package fleet

// racing reports whether the race detector watches.
const racing = false
