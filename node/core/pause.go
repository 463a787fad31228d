package core

import (
	"encoding/json"
	"time"
)

// Rest is a pause that a person asked for: this computer opens no conversation, wakes nobody, writes no record
// about one, and changes no file and nothing on GitHub. It goes on hearing the others and passing on what they
// say, and what had begun is finished. Deadlines of the conversations go on. It is kept over restarts.
type Rest struct {
	Since time.Time
	Until time.Time // zero: until a person ends it
}

// Resting is the pause that holds now, if one does.
func (c *Core) Resting(now time.Time) (Rest, bool) {
	on := !c.rest.Since.IsZero() && (c.rest.Until.IsZero() || now.Before(c.rest.Until))
	return c.rest, on
}

// TakeRest begins a pause until a time, or until it is ended where the time is zero.
func (c *Core) TakeRest(until, now time.Time) []Effect {
	if _, on := c.Resting(now); !on {
		c.rest.Since = now
	}
	c.rest.Until = until
	c.effect(c.keepRest())
	return c.settled(now)
}

// EndRest lets everything go on at once.
func (c *Core) EndRest(now time.Time) []Effect {
	if c.rest == (Rest{}) {
		return c.settled(now)
	}
	c.wakeUp()
	return c.settled(now)
}

// restEnds ends a pause whose time is over.
func (c *Core) restEnds(now time.Time) {
	if _, on := c.Resting(now); !on && c.rest != (Rest{}) {
		c.wakeUp()
	}
}

func (c *Core) wakeUp() {
	c.rest = Rest{}
	c.effect(c.keepRest())
	c.dirtyAll()
	for _, slug := range c.cfg.Slugs {
		c.repos[slug].scanWanted = true
	}
}

// keepRest saves the pause, or that there is none.
func (c *Core) keepRest() Save {
	if c.rest == (Rest{}) {
		return Save{Key: restKey}
	}
	b, err := json.Marshal(c.rest)
	if err != nil {
		panic("core: saving the pause: " + err.Error())
	}
	return Save{Key: restKey, Value: b}
}
