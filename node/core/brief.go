package core

import (
	"time"

	"github.com/parley-mesh/parley/conflicts/thread"
)

// ReserveLiveTurn takes one of the day's agent turns for live work, which is outside of every conversation; the effects keep
// that before anything is woken. Nil effects: none is left, or nothing can be kept now.
func (c *Core) ReserveLiveTurn(now time.Time) []Effect {
	c.day = c.day.at(now)
	if c.low || c.day.Used >= thread.TurnsPerDay {
		return nil
	}
	c.day.Used++
	return []Effect{save(dayKey, c.day)}
}
