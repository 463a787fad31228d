package core

import (
	"fmt"
	"slices"
	"time"

	"github.com/parley-mesh/parley/conflicts/thread"
	"github.com/parley-mesh/parley/ledger"
)

// landed ends a piece of a thread's work. The thread is nil if it is not known any more.
func (c *Core) landed(tid ledger.TID, key string) *Conversation {
	delete(c.flight, key)
	return c.threads[tid]
}

func (c *Core) looked(in Looked, now time.Time) {
	key := lookKey(in.Thread)
	t := c.landed(in.Thread, key)
	if t == nil {
		return
	}
	if in.Err != "" {
		c.failed(key, now)
		t.dirty = true
		return
	}
	c.succeeded(key)
	c.seenDone(t, &in.Look.Pull)
	t.Look = in.Look
	t.looked = in.Look.At // what it shows is as old as its beginning
	clear := in.Look.HeadClean == thread.Yes && t.State.Open != nil && in.Look.Pull.Head == t.State.Open.Head
	switch {
	case in.Look.HeadClean == thread.CannotTell:
	case clear && t.Local.ClearSince.IsZero():
		t.Local.ClearSince = now
		c.keep(t)
	case !clear && !t.Local.ClearSince.IsZero():
		t.Local.ClearSince = time.Time{}
		c.keep(t)
	}
}

// seenDone ends the consumed approvals whose outcome GitHub now shows: a push that is the head, a merge that is
// made. Nobody may have asked for the write again since, and the next offer must not wait for it.
func (c *Core) seenDone(t *Conversation, p *thread.Pull) {
	if !p.Known || p.Gone {
		return
	}
	if a := t.Local.Push; a != nil && a.State == thread.Consumed && p.Head == a.Binds.New {
		a.State = thread.Done
		c.keep(t)
	}
	if a := t.Local.Land; a != nil && a.State == thread.Consumed && p.Merged && p.Head == a.Binds.New {
		a.State = thread.Done
		c.keep(t)
	}
}

func (c *Core) replaced(in Replaced, now time.Time) {
	key := flightKey(in.Thread, thread.Replace{File: in.File})
	t := c.landed(in.Thread, key)
	if t == nil {
		return
	}
	t.dirty = true
	if in.Err != "" {
		c.failed(key, now)
		c.note(t, "warn", c.roster.Name(c.cfg.Device), "kept", fmt.Sprintf("leaves %s alone: %s", pathOf(t, in.File), in.Err))
		return
	}
	c.succeeded(key)
	if !in.Took {
		return
	}
	what := "the interim"
	if t.State.Final != nil {
		what = "the final"
		if !slices.Contains(t.Local.Took, in.File) {
			t.Local.Took = append(t.Local.Took, in.File)
			c.keep(t)
		}
	}
	c.note(t, "do", c.roster.Name(c.cfg.Device), "took", fmt.Sprintf("takes %s of %s", what, pathOf(t, in.File)))
}

func pathOf(t *Conversation, file int) string {
	if t.State.Open == nil || file < 0 || file >= len(t.State.Open.Files) {
		return "a file"
	}
	return string(t.State.Open.Files[file].Path)
}

func (c *Core) turned(in Turned, now time.Time) {
	t := c.landed(in.Thread, flightKey(in.Thread, thread.Wake{}))
	if t == nil || t.Local.Running == nil {
		return
	}
	t.Local.end(in.Turn)
	t.dirty = true
	c.keep(t)
	text := "its desk has built the result " + in.Turn.Commit.Short()
	switch {
	case in.Turn.GaveUp:
		text = "its desk gives up"
	case in.Turn.Failed:
		text = "its desk failed"
	case in.Decide:
		text = "its desk has decided"
	}
	if in.Turn.Words != "" {
		text += ": " + in.Turn.Words
	}
	c.note(t, "do", c.roster.Name(c.cfg.Device), "desk", text)
	if in.Turn.Failed {
		c.failed(flightKey(in.Thread, thread.Wake{}), now)
	}
}

func (c *Core) written(in Written, now time.Time) {
	key := flightKey(in.Thread, thread.Write{})
	t := c.landed(in.Thread, key)
	if t == nil {
		return
	}
	t.dirty = true
	a := *t.Local.slot(in.Binds.Action)
	if a == nil || a.Binds != in.Binds || a.State != thread.Consumed {
		return
	}
	who := c.roster.Name(c.cfg.Device)
	switch {
	case in.Unknown:
		c.failed(key, now)
		return
	case in.Void != "":
		a.State, a.Why, a.Denied, a.Round = thread.Void, in.Void, in.Denied, t.State.Round
		c.note(t, "warn", who, in.Binds.Action, "the approved "+in.Binds.Action+" came to nothing: "+in.Void)
	default:
		a.State = thread.Done
		c.note(t, "do", who, in.Binds.Action, fmt.Sprintf("the approved %s is on GitHub: %s", in.Binds.Action, in.Binds.New.Short()))
	}
	c.succeeded(key)
	c.keep(t)
}

func (c *Core) notAppended(in NotAppended, now time.Time) {
	c.laneNotAppended(in, now)
	if t := c.threads[in.Ledger]; t != nil {
		t.emitting = false
		c.note(t, "warn", c.roster.Name(c.cfg.Device), "ledger", in.Why)
		c.failed(lookKey(in.Ledger), now)
		c.failed(emitKey(in.Ledger), now) // asked for again at once, a full disk would never be left alone
		t.dirty = true
	}
	if !in.TooLarge {
		return
	}
	for _, slug := range c.cfg.Slugs {
		r := c.repos[slug]
		for _, pull := range pulls(r.verdicts) {
			v := r.verdicts[pull]
			if v.Verdict == VerdictConversation && r.threadID(pull, 0) == in.Ledger {
				v.Verdict, v.Reason = VerdictPerson, "its description is larger than one record can hold"
				r.verdicts[pull] = v
				c.effect(save(verdictKey(slug, pull), v))
			}
		}
	}
}

func pulls(m map[uint64]Verdict) []uint64 {
	out := make([]uint64, 0, len(m))
	for n := range m {
		out = append(out, n)
	}
	slices.Sort(out)
	return out
}

func (r *repo) threadID(pull, episode uint64) ledger.TID {
	return ledger.ConflictKey{Host: r.Host, Repo: r.ID, Pull: pull, Episode: episode}.Thread()
}
