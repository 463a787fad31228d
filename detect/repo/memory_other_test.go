//go:build !linux

package repo

// Memory is measured on Linux alone.
func forgetPeak()             {}
func peakMemory() float64     { return 0 }
func childrenMemory() float64 { return 0 }
