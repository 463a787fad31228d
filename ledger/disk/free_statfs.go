//go:build linux || darwin || freebsd || dragonfly

package disk

import "golang.org/x/sys/unix"

// freeBytes is how much a directory's file system can still take.
func freeBytes(dir string) (uint64, bool) {
	var st unix.Statfs_t
	if unix.Statfs(dir, &st) != nil {
		return 0, false
	}
	return uint64(st.Bavail) * uint64(st.Bsize), true
}
