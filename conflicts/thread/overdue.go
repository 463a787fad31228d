package thread

import "github.com/parley-mesh/parley/ledger"

// overdueCard says that the final is overdue, or was when it changed hands (P22). It stands on every
// computer of the fleet, since the main computer may be the one that is away (case 21). Its text says
// where the final is held up.
func (p *stepping) overdueCard() {
	handed := p.s.AssignWhy == ledger.ReassignOverdue
	if p.s.Phase != Opened && p.s.Phase != Interim || !p.own() || !p.f.FinalFired && !handed {
		return
	}
	p.notice(CauseOverdue)
	card := Card{Code: "C7", Title: "The final for " + p.subject() + " is overdue"}
	if !p.f.FinalFired {
		card.Title = "The final for " + p.subject() + " was overdue"
		card.What = p.name(p.s.AssignFrom) + " was away past its time"
		card.Why = p.name(p.s.Responsible) + " has it now, until " + p.clock(p.f.Assigned.Add(p.t.Final))
	} else {
		card.What = p.heldUp() + "; due since " + p.clock(p.f.Assigned.Add(p.t.Final))
		card.Why = p.overdueNext()
	}
	p.show(card)
}

// heldUp says where an overdue final stands still.
func (p *stepping) heldUp() string {
	resp := p.name(p.s.Responsible)
	switch {
	case p.s.Gone[p.s.Responsible]:
		return resp + " was removed from the fleet"
	case p.ready() != nil && p.judged() != No:
		return "the result is ready, and its merge waits for a person at " + p.mainName()
	case p.responsible() && p.waitsForPush():
		return "the result is built, and its push waits for a person here"
	case p.builtElsewhere():
		return "the result is built, and its push waits for a person at " + resp
	case p.s.GivenUp():
		return resp + " could not build it; if GitHub refused its push, " + maintainers
	case p.respAway():
		return resp + " is away; last heard of " + p.clock(p.f.RespSeen)
	}
	return resp + " is there and has not finished it"
}

// overdueNext says what becomes of an overdue final.
func (p *stepping) overdueNext() string {
	switch {
	case !p.self.Main && p.mainAway():
		return "main computer away — take over?"
	case p.ready() != nil && p.judged() != No, p.builtElsewhere():
		return "nothing is handed over: it waits, and costs nothing"
	case p.respAway() && !p.self.Main:
		return "the main computer hands the final to another one"
	case p.respAway() && p.assignable():
		return "every computer has had it: assign it to one again (parley assign), give the agents another round when that one is back, or close the conversation (parley close)"
	case p.respAway():
		return "it has changed hands too often: settle the pull request yourself, or close the conversation (parley close)"
	}
	return "it stays there while that computer is present; to let another one build it: parley assign"
}

// mainAway reports whether the main computer, which is another one, was not heard of for long, or there
// is none.
func (p *stepping) mainAway() bool {
	return p.f.MainSeen.IsZero() || p.now.Sub(p.f.MainSeen) > p.t.Away
}

func (p *stepping) mainName() string {
	if p.self.Main {
		return "this computer"
	}
	return "the main computer"
}
