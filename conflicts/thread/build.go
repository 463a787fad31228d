package thread

import (
	"github.com/parley-mesh/parley/ledger"
)

func (p *stepping) responsible() bool { return p.s.Responsible == p.self.Party }

// ready is the counted final-ready of the present assignment.
func (p *stepping) ready() *Ready { return p.s.Ready }

// mergeTurn is the last merge turn made for the present assignment, if any.
func (p *stepping) mergeTurn() *Turn {
	if t := p.f.Merge; t != nil && t.For == p.s.Assign {
		return t
	}
	return nil
}

// built is the tested result that still fits the pull request: it was made on the head that GitHub has,
// or it is that head.
func (p *stepping) built() *Turn {
	t := p.mergeTurn()
	if t == nil || t.Commit == "" || !p.f.Look.Pull.Known {
		return nil
	}
	if head := p.f.Look.Pull.Head; t.Head != head && t.Commit != head {
		return nil
	}
	return t
}

func (p *stepping) waitsForPush() bool {
	t := p.built()
	return t != nil && t.Commit != p.f.Look.Pull.Head
}

// settledHead reports whether the pull request was updated and merges cleanly, so that nothing is left to
// build. While it merges cleanly unchanged, the base branch has moved: that ends the conflict instead.
func (p *stepping) settledHead() bool {
	return p.f.Look.HeadClean == Yes && p.f.Look.Pull.Head != p.s.Open.Head
}

// judgedNo reports whether the outside world was looked at for this final-ready, and it does not hold.
func (p *stepping) judgedNo(r *Ready) bool {
	return p.f.Look.ForReady == r.ID && p.f.Look.Ready == No
}

// refused reports whether the very result that would be called ready was judged and does not hold, say
// because a conflicted file moved on the base branch since (case 62). Saying it again would change nothing:
// it takes another turn.
func (p *stepping) refused() bool {
	r := p.ready()
	return r != nil && p.judgedNo(r) && r.Head == p.f.Look.Pull.Head && r.BaseHead == p.f.Look.HeadBase
}

// gaveUp reports whether the responsible side's desk cannot build the final: it said so, or it has no
// turn left and nothing to show.
func (p *stepping) gaveUp() bool {
	needed := p.f.Look.HeadClean == No || p.refused()
	if !p.responsible() || p.f.Waking || !needed || !p.f.Look.Pull.Known || p.built() != nil && p.waitsForPush() {
		return false
	}
	t := p.mergeTurn()
	return t != nil && t.GaveUp && t.Round == p.s.Round || p.allowanceLeft() <= 0
}

func (p *stepping) allowanceLeft() int { return p.s.Allowance(p.self.Party) - p.f.Turns }

func (p *stepping) dayLeft() int { return TurnsPerDay - p.f.TurnsToday }

// buildFinal is the responsible side's part (rule A3): "The responsible side is woken to test the merged
// result and update the pull request." The push waits for its person.
func (p *stepping) buildFinal() {
	look := &p.f.Look
	if !p.responsible() || !p.fresh() || look.Open != Yes || !look.Pull.Known || !look.Pull.Open {
		return
	}
	if r := p.ready(); r != nil && r.Head == look.Pull.Head && look.HeadClean == Yes && !p.judgedNo(r) {
		return
	}
	if p.settledHead() && !p.refused() {
		p.sayReady()
		return
	}
	if look.HeadClean != No && !p.refused() {
		return
	}
	t := p.built()
	if t == nil || t.Commit == look.Pull.Head {
		p.wakeBuilder()
		return
	}
	b := Binds{Action: "push", Repo: p.s.Open.Repo, Pull: p.s.Open.Pull, Ref: look.Pull.HeadRef, Old: look.Pull.Head, New: t.Commit}
	p.offer(b, p.f.PushAct, Card{
		Code: "C2", Title: "Approve the push of " + p.subject(),
		What: "push " + t.Commit.Short() + " onto the pull request's branch, replacing nothing: it descends from " + b.Old.Short(),
		Why:  t.Words,
	})
}

func (p *stepping) sayReady() {
	look := &p.f.Look
	out := &ledger.FinalReady{Head: look.Pull.Head, BaseHead: look.HeadBase, Tests: ledger.TestsNone}
	if t := p.mergeTurn(); t != nil && t.Commit == look.Pull.Head && t.Tests != 0 {
		out.Tests = t.Tests
	}
	for i, blob := range look.HeadFiles {
		out.Files = append(out.Files, ledger.FileVersion{File: uint64(i), Blob: blob})
	}
	p.emit(out, p.s.Assign)
}

func (p *stepping) wakeBuilder() {
	t := p.mergeTurn()
	switch {
	case p.f.Waking || !p.self.Desk:
	case t != nil && t.GaveUp && t.Round == p.s.Round:
		p.card("C5", "The agents could not agree about "+p.subject(), "the desk here gave the final up", "Give the agents another round")
	case p.allowanceLeft() <= 0 || p.dayLeft() <= 0:
		p.spentCards()
	default:
		p.e.Do = append(p.e.Do, Wake{For: p.s.Assign, Head: p.f.Look.Pull.Head, Tip: p.f.Look.Tip})
	}
}

// spentCards says which limit is spent (P22, P23).
func (p *stepping) spentCards() {
	if p.dayLeft() <= 0 {
		p.card("C6", "Today's agent turns are spent", "this computer has used its fifty turns of the day", "a refill cannot help; the limit resets each day")
		return
	}
	p.card("C5", "The agents could not agree about "+p.subject(), "this conflict has used its turns on this computer", "Give the agents another round")
}

// offer asks a person for one act, or performs it once it is approved. An approval counts for exactly
// what it binds.
func (p *stepping) offer(b Binds, have *Approval, card Card) {
	if have != nil && have.Binds == b {
		switch have.State {
		case Approved, Consumed:
			p.e.Offers = append(p.e.Offers, b)
			p.e.Do = append(p.e.Do, Write{b})
			return
		case Done:
			return
		case Void:
			if have.Why != "" {
				card.Why = "the last attempt came to nothing: " + have.Why
			}
		case Offered:
		}
	}
	card.Binds = &b
	p.e.Offers = append(p.e.Offers, b)
	p.e.Cards = append(p.e.Cards, card)
}
