package core

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/parley-mesh/parley/conflicts/thread"
	"github.com/parley-mesh/parley/ledger"
)

// Master is what is kept about the master sync of one repository (P0).
type Master struct {
	Paused  bool
	Running *Try  // a reserved agent turn; one found at start was interrupted
	Tried   []Try // turns that were spent, newest last
}

// Try is one agent turn that was to bring own work together with the base branch.
type Try struct {
	Own string     // identity of the own work that git could not merge
	Tip ledger.OID // what it was to be merged with
	Why string     // why it came to nothing; "" when it was settled
}

const (
	triesMax   = 8 // kept of one repository
	triesOfOwn = 3 // turns for the same own work, whatever master does meanwhile
)

// MasterSynced answers a [SyncMaster].
type MasterSynced struct {
	Slug      string
	From      ledger.OID // where the local base branch stood
	Tip       ledger.OID // the base branch on GitHub
	To        ledger.OID // where the local base branch stands now
	Moved     bool
	Merged    []string  // paths whose own work was brought together with GitHub's
	Kept      []KeptOwn // paths whose own copy stayed
	Apart     []string  // own copies based on an older version, which the branch moved past while they were held
	Conflicts []string  // paths that git could not merge; an agent's turn may
	Own       string    // identity of the own work that conflicts
	Settled   string    // after a turn: why it came to nothing, "" when it did not
	Rewritten bool      // GitHub's branch lost commits that it had (a forced push)
	Why       string    // why the branch did not move
	Err       string    // a passing failure
}

// KeptOwn is a path whose own copy stayed, and why.
type KeptOwn struct{ Path, Why string }

// syncMaster brings the checkout to the base branch every few minutes, and at once on news. Own work that git
// cannot merge is given to the desk, as one counted turn.
func (c *Core) syncMaster(r *repo, now time.Time) {
	key := "master " + r.Slug
	due := r.masterDue || r.master.IsZero() || !now.Before(r.master.Add(c.cfg.Every.Master))
	if r.kept.Paused || !due || c.flight[key] || now.Before(c.retry[key].until) {
		return
	}
	r.master, r.masterDue = now, false
	c.flight[key] = true
	e := SyncMaster{Slug: r.Slug, Hold: c.Held(r.Slug), Bring: r.bring}
	r.bring, r.bringing = false, r.bring
	if c.maySettle(r, now) {
		e.Settle, e.Until = true, now.Add(c.cfg.Timers.Turn)
		c.day = c.day.at(now)
		c.day.Used++
		r.kept.Running = &Try{Own: r.last.Own, Tip: r.last.Tip}
		c.effect(save(dayKey, c.day))
		c.keepMaster(r)
		c.effect(Note{
			Level: "do", Who: c.roster.Name(c.cfg.Device), Kind: "woken",
			Text: "wakes its desk to bring own work in " + strings.Join(r.last.Conflicts, ", ") + " together with " + r.Base,
		})
	}
	c.effect(e)
}

// ReserveTurn counts one more of the day's turns for a master sync that needs a second one. The turn may begin once
// the effects are performed. Errors: [ErrNoTurns].
func (c *Core) ReserveTurn(now time.Time) ([]Effect, error) {
	if c.day = c.day.at(now); c.day.Used >= thread.TurnsPerDay {
		return nil, ErrNoTurns
	}
	c.day.Used++
	return []Effect{save(dayKey, c.day)}, nil
}

// maySettle reports whether a turn may be spent on the own work that the last run could not merge: once for
// one state of both sides, and within the day's turns.
func (c *Core) maySettle(r *repo, now time.Time) bool {
	if len(r.last.Conflicts) == 0 || r.last.Own == "" || !c.cfg.Desk || c.day.at(now).Used >= thread.TurnsPerDay {
		return false
	}
	same := 0
	for _, t := range r.kept.Tried {
		if t.Own != r.last.Own {
			continue
		}
		if t.Tip == r.last.Tip {
			return false
		}
		same++
	}
	return same < triesOfOwn
}

func (c *Core) keepMaster(r *repo) { c.effect(save(masterKey(r.Slug), r.kept)) }

// endTry records how a reserved turn ended.
func (m *Master) endTry(why string) {
	if m.Running == nil {
		return
	}
	m.Running.Why = why
	m.Tried = append(m.Tried, *m.Running)
	m.Tried = slices.Clone(m.Tried[max(0, len(m.Tried)-triesMax):])
	m.Running = nil
}

func (c *Core) masterSynced(in MasterSynced, now time.Time) {
	key := "master " + in.Slug
	delete(c.flight, key)
	r := c.repos[in.Slug]
	if r == nil {
		return
	}
	if r.kept.Running != nil {
		why := in.Settled
		if why == "" && in.Err != "" {
			why = in.Err
		}
		r.kept.endTry(why)
		c.keepMaster(r)
	}
	if in.Err != "" {
		c.failed(key, now)
		r.masterDue = true
		r.bring, r.bringing = r.bring || r.bringing, false
		r.last.Why = in.Err
		return
	}
	c.succeeded(key)
	r.last = in
	if r.bringing && len(in.Apart) == 0 && len(in.Conflicts) == 0 && in.Why == "" {
		c.brought(r)
	}
	r.bring = r.bring || r.bringing && c.maySettle(r, now) // the turn that follows is about the same files
	r.bringing = false
	r.masterDue = r.masterDue || c.maySettle(r, now)
	who := c.roster.Name(c.cfg.Device)
	if len(in.Merged) > 0 {
		c.effect(Note{Level: "do", Who: who, Kind: "master", Text: "brings own work in " + strings.Join(in.Merged, ", ") + " together with " + r.Base})
	}
	if in.Moved {
		c.effect(Note{Level: "do", Who: who, Kind: "master", Text: fmt.Sprintf("brings %s to %s", r.Base, in.To.Short())})
		for _, t := range c.threads {
			t.dirty = true
		}
	}
}

// brought notes that the own copies which stayed after finals are own work like any other from now on.
func (c *Core) brought(r *repo) {
	for _, tid := range c.order() {
		t := c.threads[tid]
		if o := t.State.Open; o != nil && t.State.Final != nil && o.Host == r.Host && o.Repo == r.ID && !t.Local.Brought {
			t.Local.Brought = true
			c.keep(t)
		}
	}
}

// Pause stops the master sync of a repository, or lets it go on (P0).
func (c *Core) Pause(slug string, paused bool, now time.Time) ([]Effect, bool) {
	r := c.repos[slug]
	if r == nil {
		return nil, false
	}
	if r.kept.Paused != paused {
		r.kept.Paused = paused
		r.masterDue = !paused
		c.keepMaster(r)
	}
	return c.settled(now), true
}

// Paused reports whether a person has stopped the master sync of a repository.
func (c *Core) Paused(slug string) bool {
	r := c.repos[slug]
	return r != nil && r.kept.Paused
}

// SyncNow lets the next reconciliation bring a repository to its base branch.
func (c *Core) SyncNow(slug string, now time.Time) ([]Effect, bool) {
	r := c.repos[slug]
	if r == nil {
		return nil, false
	}
	r.masterDue, r.bring = true, true
	return c.settled(now), true
}

// masterCards says what the master sync leaves to a person: own copies that could not be brought together
// with the base branch, and a base branch that was rewritten.
func (c *Core) masterCards(r *repo, now time.Time) []Card {
	var out []Card
	if r.last.Rewritten {
		out = append(out, Card{Key: "C18/" + r.Slug, Slug: r.Slug, Card: thread.Card{
			Code: "C18", Title: r.Base + " of " + r.Slug + " was rewritten on GitHub",
			What: "it lost commits that it had; this computer's branch and files stay as they are",
			Why:  "only a person can say which of the two histories counts: compare them, then git reset this branch or push it back",
		}})
	}
	if len(r.last.Apart) > 0 {
		out = append(out, Card{Key: "C9/" + r.Slug, Slug: r.Slug, Card: thread.Card{
			Code: "C9", Title: "Own copies are based on an older " + r.Base + " of " + r.Slug,
			What: "these stayed while " + r.Base + " moved on: " + strings.Join(r.last.Apart, ", "),
			Why:  "committed as they are they undo GitHub's changes: parley sync now brings them together",
		}})
	}
	if len(r.last.Kept) == 0 && len(r.last.Conflicts) == 0 || r.kept.Running != nil || c.maySettle(r, now) {
		return out
	}
	card := Card{Key: "C17/" + r.Slug, Slug: r.Slug, Card: thread.Card{
		Code: "C17", Title: "Own work stays apart from " + r.Base + " of " + r.Slug,
		Why: "nothing of it is lost: bring it together by hand, or commit it to a branch of its own",
	}}
	var what []string
	for _, k := range r.last.Kept {
		what = append(what, k.Path+": "+k.Why)
	}
	for _, p := range r.last.Conflicts {
		if !slices.ContainsFunc(r.last.Kept, func(k KeptOwn) bool { return k.Path == p }) {
			what = append(what, p+": git cannot merge it")
		}
	}
	card.What = strings.Join(what, "; ")
	if n := len(r.kept.Tried); n > 0 && r.kept.Tried[n-1].Own == r.last.Own && r.kept.Tried[n-1].Why != "" {
		card.What += " (the desk: " + r.kept.Tried[n-1].Why + ")"
	}
	return append(out, card)
}
