package mesh

import (
	"context"
	"errors"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/parley-mesh/parley/ledger"
	"github.com/parley-mesh/parley/simnet/virtual"
)

// lagging lists its ledgers as they were a moment ago, while gossip brings them up to date.
type lagging struct {
	*shelf
	as byte
}

func (l lagging) Visible(d ledger.Device) []ledger.Listing {
	out := l.shelf.Visible(d)
	for i := range out {
		out[i].Digest = ledger.Digest{l.as}
	}
	return out
}

func TestWhatGossipBroughtDuringACatchUpIsNotSentAgain(t *testing.T) { // P24
	virtual.Test(t, func(t *testing.T) {
		c := (&town{syncEvery: time.Hour}).start(t, 2)
		p := newPen(c.ids[0], ledger.TID{7})
		for range 100 {
			c.say(0, p, true)
		}
		c.heard(1, 100, time.Minute)
		<-time.After(10 * time.Second)
		before := c.net.Carried()

		for i, m := range c.meshes {
			m.mu.Lock()
			m.c.Book = lagging{c.shelves[i], byte(i + 1)}
			m.mu.Unlock()
		}
		c.meshes[0].SyncNow()
		<-time.After(10 * time.Second)

		for i, s := range c.shelves {
			if s.again > 0 {
				t.Errorf("computer %d got %d records again, %d bytes in all", i, s.again, c.net.Carried()-before)
			}
		}
	})
}

func TestABurstComesInOrder(t *testing.T) { // P24
	virtual.Test(t, func(t *testing.T) {
		c := (&town{syncEvery: time.Hour}).start(t, 3)
		p := newPen(c.ids[0], ledger.TID{7})
		for range 500 {
			c.say(0, p, true)
		}
		for i := range 3 {
			c.heard(i, 500, time.Minute)
			if n := c.shelves[i].disordered(); n > 0 {
				t.Errorf("up to %d records waited for their predecessors", n)
			}
		}
	})
}

// exchanges is how many catch-ups a mesh took part in since it was asked last.
func exchanges(m *Mesh) (n int) {
	for {
		select {
		case e := <-m.Events():
			if e.Kind == Synced {
				n++
			}
		default:
			return n
		}
	}
}

func TestPeersAreAskedOnlyForWhatIsMissingStill(t *testing.T) { // P24
	virtual.Test(t, func(t *testing.T) {
		c := (&town{syncEvery: time.Hour}).start(t, 6)
		<-time.After(time.Minute)
		exchanges(c.meshes[0])

		c.meshes[0].Ask(func() bool { return false })
		<-time.After(10 * time.Second)
		if n := exchanges(c.meshes[0]); n > 0 {
			t.Errorf("%d exchanges about a gap that has closed", n)
		}

		var looked atomic.Int32
		c.meshes[0].Ask(func() bool { return looked.Add(1) <= 2 })
		<-time.After(10 * time.Second)
		if n := exchanges(c.meshes[0]); n < 1 || n > 2 {
			t.Errorf("%d exchanges about a gap that the second closed, of five that there could be", n)
		}

		c.meshes[0].Ask(func() bool { return true })
		<-time.After(10 * time.Second)
		if n := exchanges(c.meshes[0]); n != 5 {
			t.Errorf("%d of 5 were asked for what nobody has", n)
		}
	})
}

// failing is a shelf whose disk fails once.
type failing struct {
	*shelf
	failed bool
}

func (f *failing) Receive(ctx context.Context, from ledger.Device, fam ledger.Family, records []*ledger.Record) error {
	if !f.failed {
		f.failed = true
		return errors.New("the disk failed")
	}
	return f.shelf.Receive(ctx, from, fam, records)
}

func TestWhatCannotBeStoredHoldsNothingElseUp(t *testing.T) {
	b := &failing{shelf: newShelf()}
	m := &Mesh{c: Config{Book: b}}
	one, two := NewIdentity([32]byte{1}), NewIdentity([32]byte{2})
	first, second := newPen(one, ledger.TID{7}).write(t), newPen(two, ledger.TID{8}).write(t)
	err := m.deliver([]gossiped{{first, one.Device(), ledger.TID{}}, {second, two.Device(), ledger.TID{}}})
	if err == nil || b.count() != 1 {
		t.Errorf("%d of the rest are stored, %v", b.count(), err)
	}
}

func TestWaysThatEndTogetherAreFollowedByOneCatchUp(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		c := (&town{syncEvery: time.Hour}).start(t, 2)
		<-time.After(time.Minute)
		exchanges(c.meshes[0])
		before := runtime.NumGoroutine()
		for range 100 {
			c.meshes[0].catchUpSoon(c.ids[1].Device())
		}
		if n := runtime.NumGoroutine() - before; n > 1 {
			t.Errorf("%d goroutines wait", n)
		}
		<-time.After(10 * time.Second)
		if n := exchanges(c.meshes[0]); n != 1 {
			t.Errorf("%d catch-ups, want 1", n)
		}
	})
}
