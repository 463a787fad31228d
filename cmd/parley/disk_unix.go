//go:build linux || darwin

package main

import "syscall"

// freeBytes is what this user may still write at a directory.
func freeBytes(dir string) (free uint64, known bool) {
	var s syscall.Statfs_t
	if err := syscall.Statfs(dir, &s); err != nil {
		return 0, false
	}
	return s.Bavail * uint64(s.Bsize), true
}
