package core

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/parley-mesh/parley/conflicts/thread"
	"github.com/parley-mesh/parley/lanes"
	"github.com/parley-mesh/parley/ledger"
)

// Errors of what a person asks for.
var (
	ErrNoCard    = errors.New("there is no such card")
	ErrStaleCard = errors.New("the card has changed since it was shown")
	ErrNotMain   = errors.New("this computer does not act as the main computer")
	ErrEnded     = errors.New("the conversation has ended")
	ErrNoTurns   = errors.New("today's agent turns are spent")
	ErrNotNow    = errors.New("the conversation does not wait for this")
)

// Card finds a card of the inbox.
func (c *Core) Card(key string) (Card, bool) {
	for _, card := range c.Cards() {
		if card.Key == key {
			return card, true
		}
	}
	return Card{}, false
}

// Approve takes a person's press on a card, for exactly what the card bound when it was shown. The
// caller has checked the proof; its name is kept with the approval. One press is one act.
func (c *Core) Approve(key string, shown thread.Binds, proof string, now time.Time) ([]Effect, error) {
	card, ok := c.Card(key)
	if !ok || card.Binds == nil {
		return nil, fmt.Errorf("approve %s: %w", key, ErrNoCard)
	}
	if *card.Binds != shown {
		return nil, fmt.Errorf("approve %s: %w", key, ErrStaleCard)
	}
	t := c.threads[card.Thread]
	if !onGitHub(shown) {
		return c.press(t, Press{Binds: shown, At: now, Proof: proof, By: c.cfg.Device}, now), nil
	}
	a := *t.Local.slot(shown.Action)
	if a == nil || a.Binds != shown || a.State != thread.Offered && a.State != thread.Void {
		return nil, fmt.Errorf("approve %s: %w", key, ErrStaleCard)
	}
	a.State, a.Why, a.Pressed, a.Proof = thread.Approved, "", now, proof
	c.keep(t)
	c.note(t, "do", c.roster.Name(c.cfg.Device), "approved", "a person approves the "+shown.Action+" of "+shown.New.Short())
	return c.settled(now), nil
}

// TakeMain is the record by which a person here takes the main-computer role, over every claim known.
func (c *Core) TakeMain() Append {
	return Append{Ledger: c.cfg.Fleet, Content: c.roster.Claiming(), Deps: c.roster.Deps(c.cfg.Device)}
}

// LeaveMain is the record by which this computer gives the role up, if it holds a claim.
func (c *Core) LeaveMain() (Append, bool) {
	i := slices.IndexFunc(c.roster.Live, func(l lanes.Claim) bool { return l.Device == c.cfg.Device })
	if i < 0 {
		return Append{}, false
	}
	return Append{Ledger: c.cfg.Fleet, Content: &ledger.MainRelease{}, Re: []ledger.ID{c.roster.Live[i].ID}, Deps: c.roster.Deps(c.cfg.Device)}, true
}

// ScanNow lets the next reconciliation scan every repository.
func (c *Core) ScanNow(now time.Time) []Effect {
	for _, slug := range c.cfg.Slugs {
		c.repos[slug].scanWanted = true
	}
	return c.Handle(Tick{}, now)
}

// Roster is the fleet as known here.
func (c *Core) Roster() lanes.Roster { return c.roster }

// Main reports whether this computer acts as the main computer now.
func (c *Core) Main(now time.Time) bool {
	_, main := c.acting(now)
	return main
}

// Conversations lists the threads in a fixed order. They belong to the core; a view copies from them.
func (c *Core) Conversations() []*Conversation {
	var out []*Conversation
	for _, tid := range c.order() {
		if t := c.threads[tid]; t.State.Phase != thread.None {
			out = append(out, t)
		}
	}
	return out
}

// PartyNames is what people call the parties of a conversation.
func (c *Core) PartyNames(t *Conversation) []string { return c.names(&t.State) }

// RepoState is what is known of one configured repository.
type RepoState struct {
	Repository
	Scanned time.Time
	ScanErr string
	Missing []Missing
	Paused  bool         // the master sync
	Master  MasterSynced // what it last came to
}

// Repos lists the configured repositories in order.
func (c *Core) Repos() []RepoState {
	var out []RepoState
	for _, slug := range c.cfg.Slugs {
		r := c.repos[slug]
		out = append(out, RepoState{r.Repository, r.scanned, r.ScanErr, r.Missing, r.kept.Paused, r.last})
	}
	return out
}

// Seen is when a computer was last heard of here, over restarts to within five minutes.
func (c *Core) Seen(d ledger.Device) time.Time {
	if at := c.seen[d]; !at.IsZero() {
		return at
	}
	return c.met[d]
}
