package core

import (
	"time"

	"github.com/parley-mesh/parley/conflicts/thread"
)

// ranEvery is how often the time that was seen to pass is kept.
const ranEvery = time.Minute

// ran counts time that was seen to pass, so that a clock set back does not hold a deadline up for ever.
func (c *Core) ran(d time.Duration) {
	if d <= 0 {
		return
	}
	c.unsaved += d
	save := c.unsaved >= ranEvery
	if save {
		c.unsaved = 0
	}
	for _, tid := range c.order() {
		t := c.threads[tid]
		if t.State.Phase != thread.Opened && t.State.Phase != thread.Interim {
			continue
		}
		t.Local.OpenedRan += d
		t.Local.AssignedRan += d
		if save {
			c.keep(t)
		}
	}
}

// judgeTimers starts and fires a thread's deadlines. A deadline counts from the record's clock or from
// when it was first seen here, whichever is earlier; once fired it stays fired.
func (c *Core) judgeTimers(t *Conversation, now time.Time) {
	s, l := &t.State, &t.Local
	before := *l
	if l.OpenedFor != s.Root.ID {
		l.OpenedFor, l.Opened, l.OpenedRan, l.InterimFired = s.Root.ID, origin(s.Root.At, now), 0, false
	}
	if l.AssignedFor != s.Assign {
		l.AssignedFor, l.Assigned, l.AssignedRan, l.FinalFired = s.Assign, origin(s.AssignAt, now), 0, false
	}
	if f := s.Final; f != nil && l.NamedFor != f.ID {
		l.NamedFor, l.Named = f.ID, origin(f.At, now)
	}
	if now.After(c.quiet) {
		l.InterimFired = l.InterimFired || elapsed(l.Opened, l.OpenedRan, now) >= c.cfg.Timers.Interim
		l.FinalFired = l.FinalFired || elapsed(l.Assigned, l.AssignedRan, now) >= c.cfg.Timers.Final
	}
	if before.OpenedFor != l.OpenedFor || before.AssignedFor != l.AssignedFor || before.NamedFor != l.NamedFor ||
		before.InterimFired != l.InterimFired || before.FinalFired != l.FinalFired {
		c.keep(t)
	}
}

// elapsed is the time since an origin: by the wall clock, or what was seen to pass, whichever is more. A
// clock set back can neither take back nor stall a deadline; one set forward lets it fire early, which is
// harmless.
func elapsed(origin time.Time, ran time.Duration, now time.Time) time.Duration {
	return max(now.Sub(origin), ran, 0)
}

func origin(at uint64, now time.Time) time.Time {
	if said := time.UnixMilli(int64(at)); said.Before(now) {
		return said
	}
	return now
}
