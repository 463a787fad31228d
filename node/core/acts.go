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
)

// Card is one card of the inbox. Key is stable while the matter stands.
type Card struct {
	thread.Card
	Key    string
	Thread ledger.TID
	Ref    string
	Slug   string
	Pull   uint64
	Fixes  []Missing // C1: everything that is missing, each with its fix
}

// Cards is the inbox: each matter once, each going away by itself when it is settled.
func (c *Core) Cards() []Card {
	var out []Card
	for _, slug := range c.cfg.Slugs {
		out = append(out, c.repoCards(c.repos[slug])...)
	}
	if role, _ := c.roster.Main(); role == lanes.RoleContested {
		out = append(out, c.contested())
	}
	for _, tid := range c.order() {
		t := c.threads[tid]
		for _, card := range t.Cards {
			out = append(out, Card{Card: card, Key: card.Code + "/" + tid.Short(), Thread: tid, Ref: t.State.Ref()})
		}
	}
	return out
}

func (c *Core) repoCards(r *repo) []Card {
	var out []Card
	if len(r.Missing) > 0 {
		card := Card{Key: "C1/" + r.Slug, Slug: r.Slug, Fixes: r.Missing, Card: thread.Card{
			Code:  "C1",
			Title: "Something that " + r.Slug + " needs is missing", Why: "nothing opens until it is fixed",
		}}
		for i, m := range r.Missing {
			if i > 0 {
				card.What += "; "
			}
			card.What += m.What
		}
		out = append(out, card)
	}
	for _, n := range pulls(r.verdicts) {
		if v := r.verdicts[n]; v.Verdict == VerdictPerson {
			ref := fmt.Sprintf("%s#%d", r.Slug, n)
			out = append(out, Card{Key: fmt.Sprintf("C4/%s/%d", r.Slug, n), Slug: r.Slug, Pull: n, Ref: ref, Card: thread.Card{
				Code:  "C4",
				Title: ref + " needs a person to settle it", What: v.Title, Why: v.Reason,
			}})
		}
	}
	return out
}

func (c *Core) contested() Card {
	card := Card{Key: "C8", Card: thread.Card{
		Code: "C8", Title: "Two computers claim to be the main computer",
		Why: "until one is chosen nothing is opened, finished or written to GitHub",
	}}
	for i, claim := range c.roster.Live {
		if i > 0 {
			card.What += " and "
		}
		card.What += c.roster.Name(claim.Device)
	}
	return card
}

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
	a := *t.Local.slot(shown.Action)
	if a == nil || a.Binds != shown || a.State != thread.Offered && a.State != thread.Void {
		return nil, fmt.Errorf("approve %s: %w", key, ErrStaleCard)
	}
	a.State, a.Why, a.Pressed, a.Proof = thread.Approved, "", now, proof
	c.keep(t)
	c.note(t, "do", c.roster.Name(c.cfg.Device), "approved", "a person approves the "+shown.Action+" of "+shown.New.Short())
	c.reconcile(now)
	out := c.out
	c.out = nil
	return out, nil
}

// TakeMain is the record by which a person here takes the main-computer role, over every claim known.
func (c *Core) TakeMain() Append {
	return Append{Ledger: c.cfg.Fleet, Content: c.roster.Claiming(), Deps: c.roster.Heads}
}

// LeaveMain is the record by which this computer gives the role up, if it holds a claim.
func (c *Core) LeaveMain() (Append, bool) {
	i := slices.IndexFunc(c.roster.Live, func(l lanes.Claim) bool { return l.Device == c.cfg.Device })
	if i < 0 {
		return Append{}, false
	}
	return Append{Ledger: c.cfg.Fleet, Content: &ledger.MainRelease{}, Re: []ledger.ID{c.roster.Live[i].ID}, Deps: c.roster.Heads}, true
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
	Scanned   time.Time
	ScanErr   string
	Missing   []Missing
	Kept      []string
	MasterTip ledger.OID
	MasterWhy string
}

// Repos lists the configured repositories in order.
func (c *Core) Repos() []RepoState {
	var out []RepoState
	for _, slug := range c.cfg.Slugs {
		r := c.repos[slug]
		out = append(out, RepoState{r.Repository, r.scanned, r.ScanErr, r.Missing, r.Kept, r.MasterTip, r.MasterWhy})
	}
	return out
}

// Seen is when a computer was last heard of here.
func (c *Core) Seen(d ledger.Device) time.Time { return c.seen[d] }
