package thread

import (
	"slices"

	"github.com/parley-mesh/parley/lanes"
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
	if t == nil || t.Commit == "" || t.Failed || t.GaveUp || !p.f.Look.Pull.Known {
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

// builds reports whether this computer is the one that builds the final: the responsible side, and for a
// lane the computer that speaks for it. A lane works for its own developer's pull request alone (L7).
func (p *stepping) builds() bool {
	return p.responsible() && p.speaks() && (p.own() || p.f.Look.Account == Yes)
}

// judged is what GitHub says about the counted final-ready.
func (p *stepping) judged() Verdict {
	if r := p.ready(); r == nil || !p.fresh() || p.f.Look.ForReady != r.ID {
		return CannotTell
	}
	return p.f.Look.Ready
}

// needsBuild reports whether there is something to build: the pull request conflicts, it holds conflict
// markers, or what was said to be ready no longer fits the base branch (case 62).
func (p *stepping) needsBuild() bool {
	look := &p.f.Look
	if !p.fresh() || look.Open != Yes || !look.Pull.Known || !look.Pull.Open {
		return false
	}
	r := p.ready()
	stale := r != nil && r.Head == look.Pull.Head && r.BaseHead == look.HeadBase && p.judged() == No
	return look.HeadClean == No || look.HeadClean == Yes && p.settledHead() && (stale || len(look.Marked) > 0)
}

// gaveUp reports whether the responsible side's desk cannot build the final: it said so, GitHub does not
// let it push, or it has no turn left and nothing to show.
func (p *stepping) gaveUp() bool {
	switch {
	case !p.builds() || p.f.Waking || !p.needsBuild() || p.anotherRound():
		return false
	case p.waitsForPush():
		return p.denied()
	}
	t := p.mergeTurn()
	return t != nil && t.GaveUp && t.Round == p.s.Round || p.allowanceLeft() <= 0
}

// denied reports whether GitHub refused the push of the result for want of a right (case 64).
func (p *stepping) denied() bool {
	a := p.f.PushAct
	return a != nil && a.State == Void && a.Denied && a.Binds == p.pushBinds()
}

func (p *stepping) allowanceLeft() int { return p.s.Allowance(p.self.Party) - p.f.Turns }

func (p *stepping) dayLeft() int { return TurnsPerDay - p.f.TurnsToday }

// buildFinal is the responsible side's part (rule A3): "The responsible side is woken to test the merged
// result and update the pull request." The push waits for its person.
func (p *stepping) buildFinal() {
	look := &p.f.Look
	if !p.builds() || !p.fresh() || look.Open != Yes || !look.Pull.Known || !look.Pull.Open {
		return
	}
	switch {
	case p.needsBuild() && p.waitsForPush():
		p.offerPush()
	case p.needsBuild():
		p.wakeBuilder()
	case p.settledHead():
		p.sayReady()
	}
}

func (p *stepping) pushBinds() Binds {
	pull := &p.f.Look.Pull
	b := Binds{Action: "push", Repo: p.s.Open.Repo, Pull: p.s.Open.Pull, Ref: pull.HeadRef, Old: pull.Head}
	if t := p.built(); t != nil {
		b.New = t.Commit
	}
	return b
}

func (p *stepping) offerPush() {
	b := p.pushBinds()
	if p.denied() {
		p.card("C2", "The push of "+p.subject()+" was refused", p.f.PushAct.Why, maintainers)
		return
	}
	p.offer(b, p.f.PushAct, Card{
		Code: "C2", Title: "Approve the push of " + p.subject(),
		What: "push " + b.New.Short() + " onto the pull request's branch, replacing nothing: it descends from " + b.Old.Short(),
		Why:  p.built().Words,
	})
}

const maintainers = "the pull request's author must allow edits by maintainers"

// sayReady says once that the updated pull request is ready, and again only where what was said does not
// hold and something else can be said.
func (p *stepping) sayReady() {
	look := &p.f.Look
	if len(look.HeadFiles) != len(p.s.Open.Files) {
		return
	}
	out := &ledger.FinalReady{Head: look.Pull.Head, BaseHead: look.HeadBase, Tests: ledger.TestsNone}
	if t := p.mergeTurn(); t != nil && t.Commit == look.Pull.Head && t.Tests != 0 {
		out.Tests = t.Tests
	}
	for i, blob := range look.HeadFiles {
		out.Files = append(out.Files, ledger.FileVersion{File: uint64(i), Blob: blob})
	}
	r := p.ready()
	said := r != nil && r.Head == out.Head && (p.judged() != No || r.BaseHead == out.BaseHead && slices.Equal(r.Files, out.Files))
	if !said {
		p.emit(out, p.s.Assign)
	}
}

func (p *stepping) wakeBuilder() {
	t := p.mergeTurn()
	switch {
	case p.f.Waking || !p.self.Desk:
	case t != nil && t.GaveUp && t.Round == p.s.Round:
		p.cardTurns("the agent here gave up: " + t.Words)
	case p.allowanceLeft() <= 0 || p.dayLeft() <= 0:
		p.spentCards()
	default:
		p.e.Do = append(p.e.Do, Wake{For: p.s.Assign, Head: p.f.Look.Pull.Head, Tip: p.f.Look.Tip})
	}
}

// offer asks a person for one act, or performs it once it is approved. An approval counts for exactly
// what it binds, and rests while it may not be used.
func (p *stepping) offer(b Binds, have *Approval, card Card) {
	why := p.paused()
	if have != nil && have.Binds == b {
		switch have.State {
		case Approved, Consumed:
			if why == "" {
				p.e.Offers = append(p.e.Offers, b)
				p.e.Do = append(p.e.Do, Write{b})
				return
			}
			card.Title = "Approved, and not used yet: " + b.Action + " of " + p.subject()
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
	if why != "" {
		card.Why, card.Binds = why, nil
	}
	p.e.Offers = append(p.e.Offers, b)
	p.show(card)
}

// paused says why no approval of this conversation may be used now, "" if it may: two histories of one
// computer that no person has looked at (case 12), or no single main computer (case 18).
func (p *stepping) paused() string {
	switch {
	case !p.forkSeen():
		return "it waits until a person has looked at the two histories in this conversation"
	case p.self.Role == lanes.RoleContested:
		return "it waits until one of the computers that claim to be the main computer is chosen"
	case p.self.Role == lanes.RoleNone:
		return "it waits until a computer is the main computer"
	}
	return ""
}
