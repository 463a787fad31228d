package thread

import (
	"cmp"
	"slices"
	"time"

	"github.com/parley-mesh/parley/ledger"
)

// lead is the main computer's part (rules B1 to B9). Every rule asks for what the spine does not show
// yet; the first that applies is said, and the fold that follows brings the next.
func (p *stepping) lead() {
	switch {
	case p.endByGitHub():
	case p.pressed():
	case p.s.Phase == Final:
		p.closeConfirmed()
	default:
		p.settle()
		p.publish()
		p.handOver()
	}
}

// endByGitHub ends a thread that the pull request itself has ended (rules B5 and B9).
func (p *stepping) endByGitHub() bool {
	look, open := &p.f.Look, p.s.Open
	if !p.fresh() || !look.Pull.Known || p.s.Phase == Final {
		return false
	}
	switch {
	case look.Pull.Gone:
		p.emitSpine(&ledger.Closed{Why: ledger.ClosedRepoGone, Skipped: p.skipped()})
	case look.Pull.Merged:
		p.nameFinal()
	case !look.Pull.Open:
		p.emitSpine(&ledger.Closed{Why: ledger.ClosedUnmerged, Skipped: p.skipped()})
	case look.Pull.Base != open.Base && look.Pull.Base != look.Base:
		p.emitSpine(&ledger.Closed{Why: ledger.ClosedRetargeted, Skipped: p.skipped()})
	case p.cleared():
		p.emitSpine(&ledger.Closed{Why: ledger.ClosedNoConflict, Skipped: p.skipped()})
	default:
		return false
	}
	return true
}

// cleared reports whether the unchanged pull request has merged cleanly for so long that the conflict is
// over, with no push of ours on its way.
func (p *stepping) cleared() bool {
	a := p.f.PushAct
	pushing := a != nil && (a.State == Approved || a.State == Consumed) || p.builtElsewhere()
	if p.f.ClearSince.IsZero() || p.f.Look.HeadClean != Yes || p.s.Ready != nil || pushing {
		return false
	}
	at := p.f.ClearSince.Add(p.t.Cleared)
	if p.now.Before(at) {
		p.by(at)
		return false
	}
	return true
}

// nameFinal names the published commit and each file's version. It waits until the merge commit is on
// the fetched base branch: what GitHub holds, not what it says.
func (p *stepping) nameFinal() {
	look := &p.f.Look
	if len(look.Published) != len(p.s.Open.Files) {
		return
	}
	out := &ledger.Final{Via: ledger.FinalElsewhere, Commit: look.Pull.MergeCommit, Base: p.base(), Head: look.Pull.Head}
	for i, blob := range look.Published {
		out.Files = append(out.Files, ledger.FileVersion{File: uint64(i), Blob: blob})
	}
	if r := p.ready(); r != nil && r.Head == look.Pull.Head && p.f.MergeAct != nil && p.f.MergeAct.Binds.New == r.Head {
		out.Via = ledger.FinalHere
		p.emitSpine(out, r.ID)
		return
	}
	p.emitSpine(out)
}

// skipped lists the parties that have not confirmed a final.
func (p *stepping) skipped() []uint64 {
	var out []uint64
	for _, i := range p.s.Missing() {
		out = append(out, uint64(i))
	}
	return out
}

// closeConfirmed closes "once every computer has confirmed" (rule B8); until then nobody is held up.
func (p *stepping) closeConfirmed() {
	if p.s.AllAdopted() {
		p.emitSpine(&ledger.Closed{Why: ledger.ClosedConfirmed}, p.s.Confirmed()...)
	}
}

// settle settles the interim (rules B1 to B3): by agreement, by silence, or by the agent's decision on
// an objection.
func (p *stepping) settle() {
	if object := p.undecided(); object != nil {
		p.decide(object)
	}
	if p.s.Phase != Opened {
		return
	}
	switch {
	case p.s.AllAgreed():
		p.emitSpine(&ledger.Interim{Why: ledger.InterimAgreed})
	case p.f.InterimFired:
		p.emitSpine(&ledger.Interim{Why: ledger.InterimDeadline})
	default:
		p.by(p.f.Opened.Add(p.t.Interim))
	}
}

// undecided is the first objection that the main computer's agent has neither decided nor failed to
// decide.
func (p *stepping) undecided() *Statement {
	if p.s.Decided {
		return nil
	}
	for i := range p.s.Statements {
		if st := &p.s.Statements[i]; st.Objected() && st.Object.Why != ledger.ObjectGaveUp && !p.answered(st.ID) {
			return st
		}
	}
	return nil
}

// answered reports whether the agent was woken for an objection and could not decide it. It is not woken
// for the same one again.
func (p *stepping) answered(objection ledger.ID) bool {
	if t := p.f.Decide; t != nil && t.For == objection && !t.Interrupted {
		return t.Failed || t.GaveUp
	}
	return slices.Contains(p.f.Answered, objection)
}

// decide wakes the agent once for an objection: "An objection wakes the main computer's agent once to
// decide." Its answer becomes the interim.
func (p *stepping) decide(object *Statement) {
	t := p.f.Decide
	if t != nil && t.For == object.ID && !t.Interrupted {
		p.emitSpine(&ledger.Interim{Why: ledger.InterimDecided, Pick: t.Pick})
		return
	}
	switch {
	case p.f.Waking || !p.self.Desk || !p.fresh():
	case p.allowanceLeft() <= 0 || p.dayLeft() <= 0:
		p.spentCards()
	default:
		p.e.Do = append(p.e.Do, Wake{Decide: true, For: object.ID, Head: p.f.Look.Pull.Head, Tip: p.f.Look.Tip})
	}
}

// publish merges a verified result once its person approves (rule B4).
func (p *stepping) publish() {
	r := p.ready()
	if p.judged() != Yes || len(p.f.Look.Marked) > 0 {
		return
	}
	b := Binds{Action: "merge", Repo: p.s.Open.Repo, Pull: p.s.Open.Pull, Ref: p.base(), New: r.Head, Method: p.f.Look.Method}
	p.offer(b, p.f.MergeAct, Card{
		Code: "C3", Title: "Approve the merge of " + p.subject(),
		What: "merge " + r.Head.Short() + " into " + p.base(),
		Why:  "the merged result " + testsWord(r.Tests),
	})
}

// base is what the open's base branch is called now (case 27).
func (p *stepping) base() string { return cmp.Or(p.f.Look.Base, p.s.Open.Base) }

// builtElsewhere reports whether the responsible side has built a result that waits for its person.
func (p *stepping) builtElsewhere() bool {
	st := p.s.Statements[p.s.Responsible]
	return st.Agreed() && st.Ack.Wait == 1
}

// handOver gives the final to another computer when its side was removed or gave up (rule B6), or is away
// past its time (rule B7). A side that is present keeps it: its person is merely slow.
func (p *stepping) handOver() {
	switch resp := p.s.Responsible; {
	case p.s.Gone[resp]:
		p.reassign(ledger.ReassignRevoked)
	case p.ready() != nil && p.judged() != No:
	case p.s.GivenUp():
		if !p.reassign(ledger.ReassignGaveUp) && resp != p.self.Party {
			p.cardTurns(p.name(resp) + " gave up building the final, and no other computer is left to try")
		}
	case !p.f.FinalFired:
		p.by(p.f.Assigned.Add(p.t.Final))
	case p.respAway():
		p.reassign(ledger.ReassignOverdue)
	case p.self.Party != resp:
		p.by(p.f.RespSeen.Add(p.t.Away + time.Second))
	}
}

func (p *stepping) respAway() bool {
	return p.self.Party != p.s.Responsible && p.now.Sub(p.f.RespSeen) > p.t.Away
}

// reassign asks to hand the final over, and reports whether anybody is left to have it.
func (p *stepping) reassign(why uint64) bool {
	to, ok := p.successor(why)
	if ok {
		p.emitSpine(&ledger.Reassign{To: uint64(to), Why: why, Round: p.s.Round})
	}
	return ok
}

// successor is who has the final next: the first that has not had it of the author's computer or lane,
// the fleet's computers by how lately they were heard of, and the main computer itself. Never a lane that
// is not the author's (L7). The work of a removed computer always goes on, if need be here.
func (p *stepping) successor(why uint64) (int, bool) {
	if p.s.Reassigns >= reassignsMax {
		return 0, false
	}
	var order []int
	for i := range p.s.Open.Parties {
		if p.s.ofFleet(i) && i != p.self.Party {
			order = append(order, i)
		}
	}
	if len(p.f.Seen) == len(p.s.Open.Parties) {
		slices.SortStableFunc(order, func(a, b int) int { return p.f.Seen[b].Compare(p.f.Seen[a]) })
	}
	if auth := p.s.Open.Auth; auth != nil {
		order = slices.Insert(order, 0, int(*auth))
	}
	tried := append([]int{int(p.s.Open.Resp), p.s.Responsible}, p.s.Successors...)
	for _, i := range append(order, p.self.Party) {
		if p.s.MayBuild(i) && !slices.Contains(tried, i) {
			return i, true
		}
	}
	return p.self.Party, why == ledger.ReassignRevoked
}
