package repo

import (
	"os"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"strings"
)

// forgetPeak gives free memory back to the system, and lets the peak begin again at what is left.
func forgetPeak() {
	debug.FreeOSMemory()
	_ = os.WriteFile("/proc/self/clear_refs", []byte("5"), 0) // else the peak is that of the whole run, which is more
}

// peakMemory is the most that this process had in memory since [forgetPeak], in MB: Go's and the parsers' in C.
func peakMemory() float64 { return statusMB("self", "VmHWM:") }

// childrenMemory is what the processes that this one started and that still run have in memory, in MB.
func childrenMemory() (sum float64) {
	lists, _ := filepath.Glob("/proc/self/task/*/children") // none without that option of the kernel
	for _, list := range lists {
		text, _ := os.ReadFile(list) // the thread may be gone
		for pid := range strings.FieldsSeq(string(text)) {
			sum += statusMB(pid, "VmRSS:")
		}
	}
	return sum
}

// statusMB is one size of a process, in MB.
func statusMB(pid, key string) float64 {
	text, _ := os.ReadFile("/proc/" + pid + "/status") // the process may be gone
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, key); ok {
			kB, _ := strconv.ParseFloat(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(rest), "kB")), 64)
			return kB * 1024 / 1e6
		}
	}
	return 0
}
