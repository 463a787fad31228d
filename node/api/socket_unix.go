//go:build unix

package api

import (
	"fmt"
	"os"
	"strconv"
	"syscall"
)

func runtimeDir() string { return "/tmp/parley-" + strconv.Itoa(os.Getuid()) }

// private refuses a directory that others may enter, or that another user put there.
func private(dir string) error {
	info, err := os.Lstat(dir)
	if err != nil {
		return err
	}
	owner, ok := info.Sys().(*syscall.Stat_t)
	if !info.IsDir() || !ok || int(owner.Uid) != os.Getuid() {
		return fmt.Errorf("directory %s: belongs to somebody else", dir)
	}
	if info.Mode().Perm()&0o077 != 0 {
		return fmt.Errorf("directory %s: mode %04o lets others in, want 0700", dir, info.Mode().Perm())
	}
	return nil
}
