//go:build linux || darwin

package worktree

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

// ownGroup lets a stopped git take its helpers (remote-https, index-pack, filters) along.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}

// lockFile takes the exclusive lock of f, which the system gives back when the process ends.
func lockFile(f *os.File) error {
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		return fmt.Errorf("lock %s: %w: another program holds it", f.Name(), ErrBusy)
	}
	return nil
}

// unlockFile gives the lock of f back at once. Closing f would leave it with a child that is being started, which
// has f open too until it runs its program.
func unlockFile(f *os.File) error { return unix.Flock(int(f.Fd()), unix.LOCK_UN) }

// renameError tells apart what the callers of exchange and moveNew act upon.
func renameError(op string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, unix.EXDEV):
		return fmt.Errorf("%s: %w", op, errOtherDevice)
	case errors.Is(err, unix.ENOSYS), errors.Is(err, unix.EINVAL), errors.Is(err, unix.ENOTSUP):
		return fmt.Errorf("%s: %w: %w", op, ErrUnsupported, err)
	}
	return fmt.Errorf("%s: %w", op, err)
}
