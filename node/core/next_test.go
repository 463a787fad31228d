package core

import (
	"testing"
	"time"

	"github.com/parley-mesh/parley/conflicts/thread"
	"github.com/parley-mesh/parley/ledger"
)

func TestACoreThatCanOnlyWaitSleeps(t *testing.T) {
	c := New(Config{Device: ledger.Device{1}, Slugs: []string{"kim/shop"}, Timers: thread.Contract(), Every: Ordinary()})
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

	c.Handle(Repository{Slug: "kim/shop", Host: "github.com", ID: 1, Base: "master"}, now) // its master sync never ends

	for range 10 {
		next := c.Next(now)
		if wait := next.Sub(now); wait < time.Minute {
			t.Fatalf("with nothing to do it wants to be woken after %v", wait)
		}
		now = next
		c.Handle(Tick{}, now)
	}
}
