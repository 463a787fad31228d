package core

import (
	"testing"
	"time"

	"github.com/parley-mesh/parley/conflicts/thread"
	"github.com/parley-mesh/parley/ledger"
)

func TestTurnsForLiveWorkCountToTheDaysFifty(t *testing.T) { // C1, P20
	now := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	c := New(Config{Fleet: ledger.TID{1}})
	for n := range thread.TurnsPerDay {
		effects := c.ReserveLiveTurn(now)
		if len(effects) != 1 {
			t.Fatalf("turn %d: %v", n, effects)
		}
		if s, ok := effects[0].(Save); !ok || s.Key != dayKey {
			t.Fatalf("turn %d is kept as %v", n, effects[0])
		}
	}
	if c.ReserveLiveTurn(now) != nil {
		t.Error("a fifty-first turn is given")
	}
	if c.ReserveLiveTurn(now.AddDate(0, 0, 1)) == nil {
		t.Error("none is given the next day")
	}
	c.low = true
	if c.ReserveLiveTurn(now.AddDate(0, 0, 2)) != nil {
		t.Error("one is given that cannot be kept")
	}
}
