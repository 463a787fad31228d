package thread

import (
	"time"

	"github.com/parley-mesh/parley/ledger"
)

// Sentence is a wait in words: who is to do what, since when, and what comes then. Times are those of
// now's zone.
func (w Wait) Sentence(now time.Time) string {
	out := "waits for " + w.Who + " to " + w.What
	if !w.Since.IsZero() {
		out += ", since " + clock(w.Since, now)
	}
	if w.At.IsZero() {
		return out + "; then " + w.Next
	}
	return out + "; at " + clock(w.At, now) + " " + w.Next
}

// clock is a time as people read it where they are: with its date unless that is today's.
func clock(t, now time.Time) string {
	t = t.In(now.Location())
	if t.YearDay() == now.YearDay() && t.Year() == now.Year() {
		return t.Format("15:04")
	}
	return t.Format("2006-01-02 15:04")
}

func (p *stepping) clock(t time.Time) string { return clock(t, p.now) }

// say tells what the conversation waits for: the most pressing thing, or how it ended.
func (p *stepping) say() string {
	switch {
	case len(p.e.Waits) > 0:
		return p.e.Waits[0].Sentence(p.now)
	case p.s.Phase == Closed:
		return closedWord(p.s.ClosedWhy)
	}
	return "published and confirmed by everybody"
}

// waits lists everything that is waited for, the most pressing first.
func (p *stepping) waits() []Wait {
	var out []Wait
	switch p.s.Phase {
	case Opened, Interim:
		out = append(out, p.waitsForOpening()...)
		out = append(out, p.waitForFinal())
		out = append(out, p.waitsForInterim()...)
		out = append(out, p.waitsForPresses()...)
	case Final, Closed:
		out = append(out, p.waitsForAdoption()...)
	case None:
	}
	return out
}

// waitsForOpening says that this computer could not find the opening on GitHub, or not yet: until it has,
// it agrees to nothing and replaces nothing.
func (p *stepping) waitsForOpening() []Wait {
	w := Wait{Since: p.f.Opened, Next: "it says what is here, and follows the interim"}
	switch {
	case p.fresh() && p.f.Look.Open == Yes:
		return nil
	case p.fresh() && p.f.Look.Open == No:
		w.Who, w.What = "GitHub", "show what the opening says, which it does not: "+p.f.Look.OpenWhy
		w.Next = "this computer takes part; nothing is replaced here meanwhile"
	case p.fresh() && p.f.Look.OpenWhy != "":
		w.Who, w.What = "GitHub", "tell whether the opening is true, which it could not yet: "+p.f.Look.OpenWhy
	default:
		w.Who, w.What = "this computer", "look at GitHub"
	}
	return []Wait{w}
}

// waitForFinal is the one thing that the final waits for.
func (p *stepping) waitForFinal() Wait {
	resp := p.name(p.s.Responsible)
	w := Wait{Since: p.f.Assigned, Next: "the final is overdue", At: p.f.Assigned.Add(p.t.Final)}
	if p.f.FinalFired {
		w.Next, w.At = "the final, which is overdue, goes on", time.Time{}
	}
	switch {
	case p.fresh() && p.f.Look.Pull.Merged:
		w.Who, w.What, w.Next, w.At = p.mainName(), "find the merge on "+p.base()+" and name it", "every computer takes the final", time.Time{}
	case p.s.Gone[p.s.Responsible]:
		w.Who, w.What, w.Next, w.At = p.mainName(), "hand the final of "+resp+", which was removed, to another computer", "that one builds it", time.Time{}
	case p.ready() != nil && p.judged() != No:
		p.waitForMerge(&w)
	case p.responsible() && p.needsBuild() && p.waitsForPush() && !p.denied():
		w.Who, w.What = "a person here", "approve the push of the result"
	case !p.responsible() && p.builtElsewhere():
		w.Who, w.What, w.Since = "a person at "+resp, "approve the push of the result", millis(p.s.Statements[p.s.Responsible].At)
	case p.s.GivenUp():
		w.Who, w.What, w.Since = p.mainName(), "hand the final to another computer, since "+resp+" gave it up", millis(p.s.Statements[p.s.Responsible].At)
		w.Next, w.At = "that one builds it", time.Time{}
	case p.responsible():
		p.waitHere(&w)
	case p.f.FinalFired && p.respAway():
		w.Who, w.What, w.Next, w.At = p.mainName(), "hand the final of "+resp+", which is away, to another computer", "that one builds it", time.Time{}
	default:
		w.Who, w.What = resp, "build and test the merged result"
	}
	return w
}

func (p *stepping) waitForMerge(w *Wait) {
	w.Since = millis(p.ready().At)
	switch {
	case p.judged() == CannotTell:
		w.Who, w.What, w.Next, w.At = p.mainName(), "check the result on GitHub, which it could not yet", "its person is asked to merge it", time.Time{}
	case p.self.Main:
		w.Who, w.What = "a person here", "approve the merge into "+p.base()
	default:
		w.Who, w.What = "a person at "+p.mainName(), "approve the merge into "+p.base()
	}
}

// waitHere says what the responsible side itself is about.
func (p *stepping) waitHere(w *Wait) {
	w.Who, w.What = "the desk here", "build and test the merged result"
	switch {
	case !p.own() && p.f.Look.Account == No:
		w.Who, w.What = "another computer", "build the final: the pull request is not of this developer's account"
	case !p.own() && p.f.Look.Account == CannotTell:
		w.Who, w.What = "GitHub", "tell whether the pull request is of the account here"
	case !p.self.Desk:
		w.Who, w.What = "a person here", "route the conversation to a session, which builds the final"
	case p.f.Waking:
		w.What = "end its turn"
	case !p.f.Look.Pull.Known || !p.fresh():
		w.Who, w.What = "this computer", "look at the pull request on GitHub"
	case p.f.Look.HeadClean == CannotTell:
		w.Who, w.What = "git", "tell whether the pull request still conflicts, which it could not yet"
	case p.needsBuild() && p.dayLeft() <= 0:
		w.Who, w.What = "tomorrow", "bring new turns: today's are spent"
	case p.needsBuild() && p.allowanceLeft() <= 0:
		w.Who, w.What = "a person", "give the agents another round"
	case p.f.Look.HeadClean == Yes && !p.settledHead():
		w.Who, w.What, w.Next = p.mainName(), "see that the conflict is gone", "the conversation is closed"
		if w.At = (time.Time{}); !p.f.ClearSince.IsZero() {
			w.Since, w.At = p.f.ClearSince, p.f.ClearSince.Add(p.t.Cleared)
		}
	}
}

// waitsForInterim is what the interim waits for, and an objection for its decision.
func (p *stepping) waitsForInterim() (out []Wait) {
	if who := p.silent(); p.s.Phase == Opened && len(who) > 0 {
		w := Wait{Who: p.names(who), What: "agree", Since: p.f.Opened, Next: "silence is agreement", At: p.f.Opened.Add(p.t.Interim)}
		if p.f.InterimFired {
			w.Next, w.At = "nothing changes: master's copy counts already", time.Time{}
		}
		out = append(out, w)
	}
	if p.s.Decided {
		return out
	}
	for i, st := range p.s.Statements {
		if st.Objected() && st.Object.Why != ledger.ObjectGaveUp && !p.answered(st.ID) {
			out = append(out, Wait{
				Who: "the agent at " + p.mainName(), What: "decide the objection of " + p.name(i),
				Since: millis(st.At), Next: "the interim follows its decision; " + p.name(i) + " keeps its copy in any case",
			})
		}
	}
	return out
}

func (p *stepping) waitsForPresses() (out []Wait) {
	add := func(what string) {
		out = append(out, Wait{Who: p.mainName(), What: what, Next: "the conversation goes on from there"})
	}
	if p.f.Presses.Close {
		add("close the conversation, as a person asked")
	}
	if p.f.Presses.Assign != nil {
		if p.s.MayBuild(*p.f.Presses.Assign) {
			add("hand the final to " + p.name(*p.f.Presses.Assign) + ", as a person asked")
		} else {
			add("say who shall build the final: the one that a person named may not")
		}
	}
	if p.f.Presses.Another {
		add("give the agents another round, as a person asked")
	}
	return out
}

// waitsForAdoption says who has not confirmed the final, and what this computer itself still has to find.
func (p *stepping) waitsForAdoption() (out []Wait) {
	if p.s.Final == nil {
		return nil
	}
	if p.s.Adopted[p.self.Party] == (ledger.ID{}) && !p.verified() {
		w := Wait{Who: "GitHub", Since: p.named(), At: p.named().Add(p.t.Unproven), Next: "a card says so; this computer keeps its copies"}
		switch {
		case p.fresh() && p.f.Look.Final == No:
			w.What = "hold the named final, which it does not: " + p.f.Look.FinalWhy
		case p.fresh() && p.f.Look.FinalWhy != "":
			w.What = "tell whether it holds the named final, which it could not yet: " + p.f.Look.FinalWhy
		default:
			w.Who, w.What = "this computer", "look for the named final on GitHub"
		}
		out = append(out, w)
	}
	if missing := p.s.Missing(); p.s.Phase == Final && len(missing) > 0 {
		out = append(out, Wait{
			Who: p.names(missing), What: "confirm the final, which is published", Since: millis(p.s.Final.At),
			Next: "the conversation is closed; nobody is held up",
		})
	}
	return out
}

// silent lists the parties that have said nothing yet.
func (p *stepping) silent() []int {
	var out []int
	for i, st := range p.s.Statements {
		if !st.Agreed() && !st.Objected() && !p.s.Gone[i] {
			out = append(out, i)
		}
	}
	return out
}

func millis(at uint64) time.Time { return time.UnixMilli(int64(at)) }
