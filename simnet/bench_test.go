//go:build unix

package simnet

import (
	"syscall"
	"testing"
	"time"
)

// BenchmarkEvents lives through whole worlds, once checked after every event and once not. It counts the
// processor's time, so that other work on the machine does not count.
func BenchmarkEvents(b *testing.B) {
	for _, mode := range []struct {
		name      string
		unchecked bool
	}{{"checked", false}, {"unchecked", true}} {
		b.Run(mode.name, func(b *testing.B) {
			events, start := 0, processorTime(b)
			for seed := uint64(0); b.Loop(); seed++ {
				w := New(Config{Seed: seed % 50, Unchecked: mode.unchecked})
				if err := w.Run(); err != nil {
					b.Fatal(err)
				}
				events += w.Steps()
			}
			took := processorTime(b) - start
			b.ReportMetric(float64(events)/took.Seconds(), "events/cpu-s")
			b.ReportMetric(float64(took.Nanoseconds())/float64(events), "cpu-ns/event")
		})
	}
}

func processorTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
