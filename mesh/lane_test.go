package mesh

import (
	"errors"
	"net/netip"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/parley-mesh/parley/lanes"
	"github.com/parley-mesh/parley/ledger"
	"github.com/parley-mesh/parley/simnet/memnet"
	"github.com/parley-mesh/parley/simnet/virtual"
)

func TestBeforeALaneIsOnNothingIsSentAnywhere(t *testing.T) { // L1, S12, P13
	virtual.Test(t, func(t *testing.T) {
		b := newBorder(t)
		open := b.opens(1, true)
		b.put(0, open, true)
		b.put(0, b.leaf(0, open), true)
		for _, m := range b.meshes {
			m.SyncNow()
		}

		<-time.After(2 * time.Hour)

		for e := range 2 {
			if got := b.crossed(e); got != (memnet.Traffic{}) {
				t.Errorf("end %d did %+v towards the other", e, got)
			}
		}
		b.heard(1, 2, time.Second) // the own fleet has it
		if n := b.shelves[2].count() + b.shelves[3].count(); n > 0 {
			t.Errorf("%d records crossed", n)
		}
	})
}

func TestAnEndThatIsOffDialsNobodyAndLetsNobodyIn(t *testing.T) { // L1
	virtual.Test(t, func(t *testing.T) {
		b := newBorder(t)
		b.say(0, true)
		b.put(0, b.opens(1, true), true)

		<-time.After(time.Hour)

		if got := b.crossed(1); got.Dials > 0 {
			t.Errorf("the end that is off dialled %d times", got.Dials)
		}
		if b.linked() {
			t.Error("the end that is off let somebody in")
		}
		if n := b.shelves[2].count() + b.shelves[3].count(); n > 0 {
			t.Errorf("%d records crossed", n)
		}
		got := b.crossed(0)
		t.Logf("the end that is on dialled %d times in an hour", got.Dials)
		if got.Dials == 0 || got.Dials > 100 {
			t.Error("that is never, or far too often")
		}
	})
}

func TestAnEndThatIsOffAnswersALaneAsItAnswersAnyStranger(t *testing.T) { // L1
	virtual.Test(t, func(t *testing.T) {
		b := newBorder(t)
		b.put(2, b.leaf(2, b.opens(1, true)), false) // there is something to say
		b.say(0, true)
		<-time.After(10 * time.Minute)
		dials := b.net.From(b.host(0), b.host(2)).Dials
		said := b.net.From(b.host(2), b.host(0)).Bytes
		if dials == 0 {
			t.Fatal("nobody dialled")
		}

		at, maya := netip.MustParseAddr("10.0.7.7"), b.meshes[2].host
		g := newGate()
		g.all = true
		stranger, err := newHost(NewIdentity([32]byte{66}), nil, g, b.net.Host(at)...)
		if err != nil {
			t.Fatal(err)
		}
		defer stranger.Close()
		_ = stranger.Connect(b.ctx, peer.AddrInfo{ID: maya.ID(), Addrs: maya.Addrs()}) // it may look as if it had worked for a moment
		<-time.After(time.Minute)

		if one := b.net.From(b.host(2), at).Bytes; one == 0 || said != int64(dials)*one {
			t.Errorf("%d bytes to another developer's computer that dialled %d times, %d to a stranger that dialled once", said, dials, one)
		}
	})
}

// on switches the lane on at both ends and waits for the two to meet.
func (b *border) on() {
	b.t.Helper()
	b.say(0, true)
	b.say(1, true)
	<-time.After(time.Minute)
	if !b.linked() {
		b.t.Fatal("the lane is on at both ends, and nobody met")
	}
}

func TestALaneShowsOnlyWhatNamesIt(t *testing.T) { // 2.6, L5
	virtual.Test(t, func(t *testing.T) {
		b := newBorder(t)
		shown, hidden := b.opens(1, true), b.opens(2, false)
		other := newPen(b.ids[0], ledger.TID{7}) // a ledger that is nobody's business
		b.put(0, hidden, false)
		b.put(0, other.write(t), false)
		b.put(0, shown, true)
		b.on()

		b.heard(2, 1, time.Minute)
		b.heard(3, 1, time.Minute)
		b.put(0, b.leaf(0, hidden), true)
		b.put(0, other.write(t), true)
		b.put(1, b.leaf(1, shown), true)
		b.heard(2, 2, time.Second)
		<-time.After(10 * time.Minute)

		for i := 2; i < 4; i++ {
			for _, l := range b.shelves[i].Visible(ledger.Device{}) {
				if l.Ledger != shown.Ledger {
					t.Errorf("computer %d holds ledger %s", i, l.Ledger.Short())
				}
			}
		}
		view := b.shelves[0].Through(b.grant(0))
		for _, l := range view.Visible(b.ids[2].Device()) {
			if l.Ledger != shown.Ledger {
				t.Errorf("the lane sees ledger %s", l.Ledger.Short())
			}
		}
	})
}

func TestALaneThatWasOffBringsEverythingInOrder(t *testing.T) { // P4, L8
	virtual.Test(t, func(t *testing.T) {
		b := newBorder(t)
		b.on()
		open := b.opens(1, true)
		b.put(0, open, true)
		b.heard(2, 1, 5*time.Second)

		b.say(0, false)
		<-time.After(time.Second)
		if b.linked() {
			t.Fatal("the connection outlives the switch")
		}
		before := [2]memnet.Traffic{b.crossed(0), b.crossed(1)}
		for range 3 {
			b.put(0, b.leaf(0, open), true)
			b.put(2, b.leaf(2, open), true)
		}
		<-time.After(time.Hour)
		if got := b.crossed(0); got.Dials != before[0].Dials {
			t.Errorf("the end that is off dialled %d times", got.Dials-before[0].Dials)
		}
		if n := b.shelves[2].count(); n != 4 { // the open, and three of its own
			t.Errorf("it holds %d records of a lane that is off", n)
		}

		b.say(0, true)
		b.heard(2, 7, 2*time.Minute)
		b.heard(1, 7, 2*time.Minute)
		if n := b.shelves[2].disordered(); n > 0 {
			t.Errorf("%d records came before their predecessors", n)
		}
	})
}

func TestNothingIsSentWithoutAGrantOfThisLane(t *testing.T) { // L1
	virtual.Test(t, func(t *testing.T) {
		b := newBorder(t)
		b.on()
		hidden, shown := b.opens(2, false), b.opens(1, true)
		b.put(0, hidden, false)
		b.put(0, shown, false)
		good := b.grant(0)
		for name, c := range map[string]struct {
			g lanes.Grant
			r *ledger.Record
		}{
			"no grant":           {lanes.Grant{}, shown},
			"another's":          {b.grant(1), shown},
			"another ledger":     {good, hidden},
			"a roster":           {good, b.rosters[0][0]},
			"somebody unknown's": {good, newPen(NewIdentity([32]byte{44}), shown.Ledger).write(t)},
		} {
			if err := b.meshes[0].Send(c.g, c.r); !errors.Is(err, ErrNotGranted) {
				t.Errorf("%s: %v", name, err)
			}
		}
		if err := b.meshes[0].Send(good, shown); err != nil {
			t.Error(err)
		}
	})
}
