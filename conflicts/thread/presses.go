package thread

import (
	"fmt"
	"strings"

	"github.com/parley-mesh/parley/ledger"
)

// pressed is what the main computer says because a person asked for it: "Give the agents another round",
// another responsible side, the end. A press is asked for until the records show it.
func (p *stepping) pressed() bool {
	switch by := &p.f.Presses; {
	case by.Close:
		p.emitSpine(&ledger.Closed{Why: ledger.ClosedPerson, Skipped: p.skipped()})
	case !p.assignable():
		return false
	case by.Assign != nil && p.s.MayBuild(*by.Assign):
		p.emitSpine(&ledger.Reassign{To: uint64(*by.Assign), Why: ledger.ReassignPerson, Round: p.s.Round + 1})
	case by.Another:
		p.emitSpine(&ledger.Reassign{To: uint64(p.s.Responsible), Why: ledger.ReassignRefill, Round: p.s.Round + 1})
	default:
		return false
	}
	return true
}

// passOn brings a person's presses from another computer of the fleet to the main computer, which alone
// can say them. It is asked for until the records show them.
func (p *stepping) passOn() {
	if !p.own() || p.self.Main || p.s.Phase == Closed {
		return
	}
	by := &p.f.Presses
	if by.Close {
		p.tell(Binds{Action: "close"})
	}
	if !p.assignable() {
		return
	}
	if by.Assign != nil && p.s.MayBuild(*by.Assign) {
		p.tell(Binds{Action: "assign", Round: p.s.Round, Party: *by.Assign})
	}
	if by.Another {
		p.tell(Binds{Action: "round", Round: p.s.Round})
	}
}

func (p *stepping) tell(b Binds) {
	b.Repo, b.Pull = p.s.Open.Repo, p.s.Open.Pull
	p.e.Do = append(p.e.Do, Tell{b})
}

// assignable reports whether the final can still change hands, or be given another round.
func (p *stepping) assignable() bool {
	return (p.s.Phase == Opened || p.s.Phase == Interim) && p.s.Reassigns < reassignsMax
}

// spentCards says which limit is spent (P22, P23).
func (p *stepping) spentCards() {
	if p.dayLeft() <= 0 {
		p.notice(CauseDay)
		p.card("C6", "Today's agent turns are spent", "this computer has used its fifty turns of the day", "a refill cannot help that; the limit resets each day")
		return
	}
	what := "this conflict has used its " + count(p.s.Allowance(p.self.Party), "turn") + " on this computer"
	if len(p.s.Open.Parties)*TurnsPerComputer > TurnsInAll {
		what += fmt.Sprintf("; among %d parties the twenty-four turns of a conflict are dealt out", len(p.s.Open.Parties))
	}
	p.cardTurns(what)
}

// cardTurns is the card with the button "Give the agents another round". It is gone while that is under
// way. Only a person of the fleet that opened the conversation has the button.
func (p *stepping) cardTurns(what string) {
	p.notice(CauseTurns)
	if p.anotherRound() {
		return
	}
	card := Card{
		Code: "C5", Title: "The agents could not agree about " + p.subject(), What: what,
		Why: "another round starts this conflict's allowance over and wakes the agent again, if that is still needed",
	}
	switch {
	case !p.own():
		card.Why = "the developer who opened the conversation can give the agents another round"
	case !p.assignable():
		card.Why = "this conversation has had all its rounds: settle the pull request yourself, or close the conversation"
	default:
		card.Binds = &Binds{Action: "round", Repo: p.s.Open.Repo, Pull: p.s.Open.Pull, Round: p.s.Round}
	}
	p.show(card)
}

// anotherRound reports whether a person's press for one is under way.
func (p *stepping) anotherRound() bool { return p.f.Presses.Another && p.own() && p.assignable() }

// notice asks for one message to the other developers who take part.
func (p *stepping) notice(cause uint64) {
	if !p.own() {
		return
	}
	for i := range p.s.Open.Parties {
		if !p.s.ofFleet(i) {
			p.e.Notices = append(p.e.Notices, Notice{cause})
			return
		}
	}
}

// forked names the computers that signed two records at one place, "" if none did.
func (p *stepping) forked() string {
	var names []string
	for _, d := range p.s.Forked {
		name := d.Short()
		for i, party := range p.s.Open.Parties {
			if dev, ok := party.Device(); ok && dev == d {
				name = p.name(i)
			}
		}
		names = append(names, name)
	}
	return strings.Join(names, ", ")
}

func (p *stepping) forkSeen() bool { return len(p.s.Forked) == 0 || p.f.Presses.Fork == p.forked() }

// forkCard shows that a computer said two things at one place, which only a copied key or a fault can
// make. Until a person has seen it no approval of this conversation is used; adoption goes on, since it is
// checked against GitHub (case 12).
func (p *stepping) forkCard() {
	if p.forkSeen() {
		return
	}
	p.show(Card{
		Code: "C11", Title: "Two histories in the conversation about " + p.subject(),
		What:  p.forked() + " signed two different records at one place; a copied key or a fault can do that",
		Why:   "every computer follows the same one of the two; no approval of this conversation is used until you have looked",
		Binds: &Binds{Action: "fork", Repo: p.s.Open.Repo, Pull: p.s.Open.Pull, Devices: p.forked()},
	})
}
