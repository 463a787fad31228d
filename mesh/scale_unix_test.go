//go:build unix

package mesh

import (
	"flag"
	"fmt"
	"slices"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/parley-mesh/parley/ledger"
	"github.com/parley-mesh/parley/simnet/virtual"
)

// scaled lets a larger fleet be simulated too: go test ./mesh -run AFleetCosts -scale 50 -v -timeout 1h.
var scaled = flag.Int("scale", 0, "simulate a fleet of so many computers as well")

// spent is how much processor time this process has used. A bubble's own clock stands still meanwhile.
func spent() time.Duration {
	var u unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// size is what a fleet of n costs.
type size struct {
	n                  int
	p50, p99           time.Duration // until the last computer has a record
	perRecord          int64         // bytes for each computer
	perHour            int64         // bytes for each idle computer
	cpuRecord, cpuHour time.Duration // for each computer
	memory             uint64        // for each computer
}

const scaleRecords = 100

// measure lets a fleet talk, and then be silent for an hour.
func measure(t *testing.T, n int) size {
	before := heap()
	c := newTown(t, n)
	<-time.After(5 * time.Minute)
	out := size{n: n, memory: (heap() - before) / uint64(n)}
	pens := make([]*pen, n)
	var took []time.Duration
	bytes, cpu := c.net.Carried(), spent()
	for k := range scaleRecords {
		i := (k * 7) % n
		if pens[i] == nil {
			pens[i] = newPen(c.ids[i], ledger.TID{byte(i + 1), byte(i >> 8)})
		}
		began := time.Now()
		c.say(i, pens[i], true)
		last := time.Duration(0)
		for j := range n {
			c.heard(j, k+1, time.Minute)
			last = max(last, time.Since(began))
		}
		took = append(took, last)
	}
	out.perRecord, out.cpuRecord = (c.net.Carried()-bytes)/int64(n*scaleRecords), (spent()-cpu)/time.Duration(n*scaleRecords)
	slices.Sort(took)
	out.p50, out.p99 = took[len(took)/2], took[len(took)*99/100]
	<-time.After(5 * time.Minute) // what gossip remembers of them is gone
	bytes, cpu = c.net.Carried(), spent()
	<-time.After(time.Hour)
	out.perHour, out.cpuHour = (c.net.Carried()-bytes)/int64(n), (spent()-cpu)/time.Duration(n)
	return out
}

func TestAFleetCostsNoMoreThanItsNeighbours(t *testing.T) { // P24
	if testing.Short() {
		t.Skip("an idle hour of a fleet")
	}
	sizes := []int{3, 10}
	if *scaled > 0 {
		sizes = []int{*scaled}
	}
	for _, n := range sizes {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			virtual.Test(t, func(t *testing.T) {
				s := measure(t, n)
				t.Logf("| %d | %d | %d ms | %d ms | %d | %.1f ms | %.2f MB | %.0f ms | %.1f MB |", n, n-1, s.p50.Milliseconds(), s.p99.Milliseconds(), s.perRecord,
					float64(s.cpuRecord.Microseconds())/1000, float64(s.perHour)/1e6, float64(s.cpuHour.Microseconds())/1000, float64(s.memory)/1e6)
				const roundTrip = 20 * time.Millisecond
				if n <= 50 && s.p99 > 3*roundTrip+50*time.Millisecond {
					t.Errorf("the last computer has a record after %v", s.p99)
				}
				if n <= 50 && s.perHour > 1<<20 {
					t.Errorf("an idle computer carries %d bytes an hour", s.perHour)
				}
			})
		})
	}
}
