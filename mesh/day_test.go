package mesh

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/parley-mesh/parley/ledger"
	"github.com/parley-mesh/parley/simnet/virtual"
)

// calmTown is a town whose idle hours cost little, for tests of whole days.
func calmTown(t *testing.T, n int) *town {
	t.Helper()
	return (&town{heartbeat: 15 * time.Second, syncEvery: 10 * time.Minute}).start(t, n)
}

func TestALidClosedForADayIsMadeUpInAMinute(t *testing.T) { // P24
	virtual.Test(t, func(t *testing.T) {
		c := calmTown(t, 3)
		pens := []*pen{newPen(c.ids[0], ledger.TID{7}), newPen(c.ids[1], ledger.TID{8})}

		c.net.Unplug(c.host(2))
		for hour := range 24 {
			<-time.After(time.Hour)
			c.say(hour%2, pens[hour%2], true)
		}
		if n := c.shelves[2].count(); n > 0 {
			t.Fatalf("%d records came through a closed lid", n)
		}
		for _, s := range c.meshes[0].Peers() {
			if s.Device == c.ids[2].Device() && s.Connected {
				t.Error("the others still believe in the connection")
			}
		}
		c.net.Plug(c.host(2))

		t.Logf("made up after %v", c.heard(2, 24, time.Minute))
	})
}

func TestAProcessThatWasAwayForADayCatchesUpAtItsStart(t *testing.T) { // P24
	virtual.Test(t, func(t *testing.T) {
		c := calmTown(t, 3)
		p := newPen(c.ids[0], ledger.TID{7})

		c.close(2)
		for range 48 {
			<-time.After(30 * time.Minute)
			c.say(0, p, true)
		}
		c.open(2)

		t.Logf("caught up after %v", c.heard(2, 48, 10*time.Second))
	})
}

func TestTenComputersHearEverythingThroughADay(t *testing.T) { // P24
	if testing.Short() {
		t.Skip("a virtual day of ten computers")
	}
	virtual.Test(t, func(t *testing.T) {
		const n = 10
		c := calmTown(t, n)
		var pens []*pen
		for _, id := range c.ids {
			pens = append(pens, newPen(id, ledger.TID{7}))
		}

		for hour := range 24 {
			lid, who := c.host(hour%n), (hour+1)%n
			if hour%4 == 0 {
				c.net.Unplug(lid)
			}
			<-time.After(time.Hour)
			c.say(who, pens[who], true)
			c.net.Plug(lid)
		}

		var slowest time.Duration
		for i := range n {
			slowest = max(slowest, c.heard(i, 24, 15*time.Minute))
		}
		t.Logf("the slowest had everything %v after the day", slowest)
		if mib := c.net.Carried() >> 20; mib > 20 {
			t.Errorf("the day cost %d MiB", mib)
		}
	})
}

func TestAfterASleepADeadConnectionIsFoundWithinMoments(t *testing.T) { // P24
	virtual.Test(t, func(t *testing.T) {
		var slept atomic.Int64
		c := (&town{wall: func() time.Time { return time.Now().Add(time.Duration(slept.Load())) }}).start(t, 2)

		c.net.Unplug(c.host(1)) // the other gave up long ago; here the connection looks open
		slept.Store(int64(time.Hour))
		c.meshes[0].SyncNow()
		<-time.After(proofTime + time.Second)

		if c.meshes[0].Peers()[0].Connected {
			t.Error("it is still believed in")
		}
	})
}
