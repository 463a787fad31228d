//go:build linux || darwin || freebsd || dragonfly || netbsd || openbsd

package disk

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// ownLock says that lockDir takes the place of Badger's lock: it must be held before files are set aside
// or copied, and Badger takes its own later than that.
const ownLock = true

// lockDir locks a directory for one process. The lock goes with the process, however it ends.
func lockDir(dir string) (unlock func(), err error) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		err = ErrLocked
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return func() {
		// Close alone would leave the lock with a child that another goroutine is starting: between fork and
		// exec it has this file open too.
		_ = unix.Flock(int(f.Fd()), unix.LOCK_UN)
		_ = f.Close() // read only: there is nothing that it could lose
	}, nil
}
