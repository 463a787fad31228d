package core

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/parley-mesh/parley/conflicts/thread"
	"github.com/parley-mesh/parley/lanes"
	"github.com/parley-mesh/parley/ledger"
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
	out = append(out, c.computerCards()...)
	out = append(out, c.laneCards()...)
	for _, tid := range c.order() {
		t := c.threads[tid]
		for _, card := range t.Cards {
			if card.Code == "C9" && t.Local.Brought {
				continue // it is own work like any other now
			}
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
	for _, n := range slices.Sorted(maps.Keys(r.crowded)) {
		ref := fmt.Sprintf("%s#%d", r.Slug, n)
		out = append(out, Card{Key: fmt.Sprintf("C4/%s/%d", r.Slug, n), Slug: r.Slug, Pull: n, Ref: ref, Card: thread.Card{
			Code: "C4", Title: ref + " has too many sides for one conversation", What: r.verdicts[n].Title,
			Why: fmt.Sprintf("%d would take part, at most %d can; nothing opens until computers that are gone are cut off with parley revoke", r.crowded[n], ledger.PartiesMax),
		}})
	}
	return append(out, c.masterCards(r, c.now)...)
}

// oddFor is how long a fault of another computer stays a card after it was last seen.
const oddFor = 30 * time.Minute

// computerCards are about computers: this one's disk, another one's clock or identity.
func (c *Core) computerCards() []Card {
	var out []Card
	if c.low {
		out = append(out, Card{Key: "C12", Card: thread.Card{
			Code: "C12", Title: "The disk of this computer is almost full",
			What: "this computer only reads until there is space: it says nothing, changes no file, and counts as away",
			Why:  "nothing is lost; it goes on by itself once some space is free",
		}})
	}
	for _, d := range c.roster.Devices() {
		name := c.roster.Name(d)
		if at := c.twice[d]; !at.IsZero() && c.now.Sub(at) < oddFor {
			out = append(out, Card{Key: "C11/" + d.String()[:16], Card: thread.Card{
				Code: "C11", Title: "The identity of " + name + " runs twice",
				What: "two computers use the key of " + name + " at once: a copied disk or a restored backup",
				Why:  "stop one of them, and let it join again with a home of its own (parley init, parley join)",
			}})
		}
		if at := c.skewed[d]; !at.IsZero() && c.now.Sub(at) < oddFor {
			out = append(out, Card{Key: "C15/" + d.String()[:16], Card: thread.Card{
				Code: "C15", Title: "The clocks of " + name + " and this computer differ",
				What: "they are more than ten minutes apart", Why: "deadlines may pass early there or here; set the clock that is wrong",
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
