//go:build unix

package repo

import "syscall"

// cpuTime is how many seconds processors worked for this process and for those that it waited for.
func cpuTime() (seconds float64) {
	for _, who := range []int{syscall.RUSAGE_SELF, syscall.RUSAGE_CHILDREN} {
		var used syscall.Rusage
		if syscall.Getrusage(who, &used) == nil {
			seconds += float64(used.Utime.Nano()+used.Stime.Nano()) / 1e9
		}
	}
	return seconds
}
