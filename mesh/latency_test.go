//go:build unix

package mesh

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/parley-mesh/parley/ledger"
	"github.com/parley-mesh/parley/simnet/virtual"
)

// retransmitted is how long what was lost takes to be sent again: the least that TCP waits where nothing follows.
const retransmitted = 200 * time.Millisecond

// arrivals are how long some hundred records take to each other computer, ascending.
func arrivals(t *testing.T, n int, loss float64) []time.Duration {
	c := newTown(t, n)
	<-time.After(time.Minute)
	c.net.Lose(loss, retransmitted)
	var mu sync.Mutex
	var took []time.Duration
	pens := make([]*pen, n)
	for k := range scaleRecords {
		i := (k * 7) % n
		if pens[i] == nil {
			pens[i] = newPen(c.ids[i], ledger.TID{byte(i + 1)})
		}
		began := time.Now()
		c.say(i, pens[i], true)
		var others sync.WaitGroup
		for j := range n {
			if j == i {
				<-c.shelves[j].news
				continue
			}
			others.Go(func() {
				for c.shelves[j].count() <= k {
					<-c.shelves[j].news
				}
				mu.Lock()
				took = append(took, time.Since(began))
				mu.Unlock()
			})
		}
		others.Wait()
		<-time.After(10 * time.Second)
	}
	slices.Sort(took)
	return took
}

func TestALostPacketDelaysARecordForMoments(t *testing.T) { // P24
	sizes := []int{2}
	if *scaled > 0 {
		sizes = []int{*scaled}
	}
	for _, n := range sizes {
		for _, loss := range []float64{0, 0.02} {
			t.Run(fmt.Sprintf("%d with %v lost", n, loss), func(t *testing.T) {
				virtual.Test(t, func(t *testing.T) {
					took := arrivals(t, n, loss)
					p99, last := took[len(took)*99/100], took[len(took)-1]
					t.Logf("| %d | %v %% | %v | %v | %v |", n, 100*loss, took[len(took)/2], p99, last)
					if last > 5*time.Second {
						t.Errorf("a record took %v", last)
					}
				})
			})
		}
	}
}
