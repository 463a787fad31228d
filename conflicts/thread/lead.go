package thread

import (
	"time"

	"github.com/parley-mesh/parley/ledger"
)

// lead is the main computer's part (rules B1 to B9). Every rule asks for what the spine does not show
// yet; the first that applies is said, and the fold that follows brings the next.
func (p *stepping) lead() {
	switch {
	case p.endByGitHub():
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
	case look.Pull.Base != open.Base:
		p.emitSpine(&ledger.Closed{Why: ledger.ClosedRetargeted, Skipped: p.skipped()})
	case p.cleared():
		p.emitSpine(&ledger.Closed{Why: ledger.ClosedNoConflict, Skipped: p.skipped()})
	default:
		return false
	}
	return true
}

// cleared reports whether the unchanged pull request has merged cleanly for so long that the conflict is
// over.
func (p *stepping) cleared() bool {
	if p.f.ClearSince.IsZero() || p.s.Ready != nil {
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
	out := &ledger.Final{Via: ledger.FinalElsewhere, Commit: look.Pull.MergeCommit, Base: p.s.Open.Base, Head: look.Pull.Head}
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
		p.emitSpine(&ledger.Closed{Why: ledger.ClosedConfirmed}, p.s.Adopted...)
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

// undecided is the first objection that the main computer's agent has not decided yet.
func (p *stepping) undecided() *Statement {
	if p.s.Decided {
		return nil
	}
	for i := range p.s.Statements {
		if st := &p.s.Statements[i]; st.Objected() && st.Object.Why != ledger.ObjectGaveUp {
			return st
		}
	}
	return nil
}

// decide wakes the agent once for an objection: "An objection wakes the main computer's agent once to
// decide." Its answer becomes the interim.
func (p *stepping) decide(object *Statement) {
	t := p.f.Decide
	if t != nil && t.For == object.ID && !t.Interrupted {
		if !t.Failed && !t.GaveUp {
			p.emitSpine(&ledger.Interim{Why: ledger.InterimDecided, Pick: t.Pick})
		}
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
	if r == nil || !p.fresh() || p.f.Look.ForReady != r.ID || p.f.Look.Ready != Yes {
		return
	}
	b := Binds{Action: "merge", Repo: p.s.Open.Repo, Pull: p.s.Open.Pull, Ref: p.s.Open.Base, New: r.Head}
	p.offer(b, p.f.MergeAct, Card{
		Code: "C3", Title: "Approve the merge of " + p.subject(),
		What: "merge " + r.Head.Short() + " into " + p.s.Open.Base,
		Why:  "the merged result " + testsWord(r.Tests),
	})
}

// handOver gives the final to another computer when its side gave up (rule B6) or is away past its time
// (rule B7). A side that is present keeps it: its person is merely slow.
func (p *stepping) handOver() {
	if p.ready() != nil && p.f.Look.Ready != No {
		return
	}
	st := p.s.Statements[p.s.Responsible]
	if st.Objected() && st.Object.Why == ledger.ObjectGaveUp {
		p.reassign(ledger.ReassignGaveUp)
		return
	}
	if !p.f.FinalFired {
		p.by(p.f.Assigned.Add(p.t.Final))
		return
	}
	if p.self.Party != p.s.Responsible && p.now.Sub(p.f.RespSeen) > p.t.Away {
		p.reassign(ledger.ReassignOverdue)
	}
}

// reassign takes the first party that has not had the final yet: the author's computer, then the
// others in order, then the main computer itself. Never a lane that is not the author's (L7).
func (p *stepping) reassign(why uint64) {
	if p.s.Reassigns >= reassignsMax {
		return
	}
	for _, to := range p.candidates() {
		p.emitSpine(&ledger.Reassign{To: uint64(to), Why: why, Round: p.s.Round})
		return
	}
}

func (p *stepping) candidates() []int {
	tried := map[int]bool{int(p.s.Open.Resp): true, p.s.Responsible: true}
	for _, i := range p.s.Successors {
		tried[i] = true
	}
	var order, out []int
	if p.s.Open.Auth != nil {
		order = append(order, int(*p.s.Open.Auth))
	}
	for i, party := range p.s.Open.Parties {
		if _, own := party.Device(); own && i != p.self.Party {
			order = append(order, i)
		}
	}
	for _, i := range append(order, p.self.Party) {
		if !tried[i] {
			tried[i] = true
			out = append(out, i)
		}
	}
	return out
}

// deadlineCards says that the final is overdue (P22): on every computer of the fleet, since the main
// computer may be the one that is away.
func (p *stepping) deadlineCards() {
	if p.s.Phase != Opened && p.s.Phase != Interim || !p.f.FinalFired {
		return
	}
	since := p.f.Assigned.Add(p.t.Final).Format(time.RFC3339)
	p.card("C7", "The final for "+p.subject()+" is overdue", p.name(p.s.Responsible)+" has not published it; due since "+since,
		"when that computer is away, the main computer hands the final to another one")
}
