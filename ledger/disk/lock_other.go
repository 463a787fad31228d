//go:build !(linux || darwin || freebsd || dragonfly || netbsd || openbsd)

package disk

// ownLock leaves the lock to Badger.
const ownLock = false

func lockDir(string) (unlock func(), err error) { return func() {}, nil }
