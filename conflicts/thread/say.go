package thread

import (
	"fmt"
	"strings"

	"github.com/parley-mesh/parley/ledger"
)

// Ref is how people name the conversation: the repository and the pull request.
func (s *State) Ref() string {
	if s.Open == nil {
		return s.Ledger.Short()
	}
	ref := fmt.Sprintf("%s#%d", s.Open.Slug, s.Open.Pull)
	if s.Open.Episode > 0 {
		ref += fmt.Sprintf("/%d", s.Open.Episode+1)
	}
	return ref
}

func (p *stepping) subject() string { return p.s.Ref() }

func (p *stepping) name(party int) string {
	if party >= 0 && party < len(p.self.Names) {
		return p.self.Names[party]
	}
	return "an unknown party"
}

func (p *stepping) names(parties []int) string {
	var out []string
	for _, i := range parties {
		out = append(out, p.name(i))
	}
	return strings.Join(out, ", ")
}

func testsWord(tests uint64) string {
	switch tests {
	case ledger.TestsPassed:
		return "passed its tests"
	case ledger.TestsAccepted:
		return "failed its tests, and a person accepted that"
	}
	return "was not tested: no test command is set"
}

// say tells what the conversation waits for, by whom.
func (p *stepping) say() string {
	switch p.s.Phase {
	case Opened, Interim:
		return p.sayOpen()
	case Final:
		if missing := p.s.Missing(); len(missing) > 0 {
			return "published; waits for " + p.names(missing) + " to confirm, which holds nobody up"
		}
		return "published and confirmed by everybody"
	case Closed:
		return closedWord(p.s.ClosedWhy)
	case None:
	}
	return ""
}

func (p *stepping) sayOpen() string {
	resp := p.name(p.s.Responsible)
	switch {
	case p.f.Look.Open == No:
		return "unverified: " + p.f.Look.OpenWhy
	case p.s.Ready != nil && p.f.Look.Ready == Yes && p.self.Main:
		return "the result is ready; the merge waits for a person here"
	case p.s.Ready != nil:
		return "the result is ready; the merge waits for a person at the main computer"
	case p.waitsForPush() && p.responsible():
		return "the result is built; the push waits for a person here"
	case p.s.Statements[p.s.Responsible].Ack != nil && p.s.Statements[p.s.Responsible].Ack.Wait == 1:
		return "the result is built; the push waits for a person at " + resp
	case p.s.Phase == Opened && len(p.silent()) > 0:
		return "waits for " + p.names(p.silent()) + " until " + p.f.Opened.Add(p.t.Interim).Format("15:04:05") + "; silence is agreement"
	}
	return resp + " prepares the final"
}

// silent lists the parties that have said nothing yet.
func (p *stepping) silent() []int {
	var out []int
	for i, st := range p.s.Statements {
		if !st.Agreed() && !st.Objected() {
			out = append(out, i)
		}
	}
	return out
}

func closedWord(why uint64) string {
	switch why {
	case ledger.ClosedConfirmed:
		return "closed: every computer has confirmed"
	case ledger.ClosedUnmerged:
		return "closed: the pull request was closed without a merge"
	case ledger.ClosedNoConflict:
		return "closed: the pull request no longer conflicts"
	case ledger.ClosedPerson:
		return "closed by a person"
	case ledger.ClosedRetargeted:
		return "closed: the pull request was pointed at another branch"
	}
	return "closed: the repository is gone"
}

// Sentence is one record in words, with the names of the thread's parties.
func Sentence(s *State, r *ledger.Record, names []string) string {
	party := func(i uint64) string {
		if i < uint64(len(names)) {
			return names[i]
		}
		return "an unknown party"
	}
	switch c := r.Content.(type) {
	case *ledger.Open:
		return fmt.Sprintf("opens the conversation: %s conflict in %s; %s is responsible for the final",
			count(len(c.Files), "file"), s.Ref(), party(c.Resp))
	case *ledger.Ack:
		if c.Wait == 1 {
			return "has built the result; it waits for its person"
		}
		return "agrees: " + classes(c.Classes)
	case *ledger.Object:
		return objection(s, c)
	case *ledger.Interim:
		return interimWord(c)
	case *ledger.FinalReady:
		return fmt.Sprintf("has updated the pull request to %s; the result %s", c.Head.Short(), testsWord(c.Tests))
	case *ledger.Final:
		return fmt.Sprintf("names the final: %s on %s", c.Commit.Short(), c.Base)
	case *ledger.Reassign:
		return fmt.Sprintf("hands the final to %s (round %d)", party(c.To), c.Round+1)
	case *ledger.Adopted:
		return "has verified the final on GitHub and holds it: " + results(c.Results)
	case *ledger.Closed:
		return closedWord(c.Why)
	}
	return "says something that this parley does not know: " + string(r.Kind)
}

func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

func objection(s *State, c *ledger.Object) string {
	switch c.Why {
	case ledger.ObjectGaveUp:
		return "gives up building the final"
	case ledger.ObjectPerson:
		return "objects: a person here keeps this copy"
	}
	var parts []string
	for _, f := range c.Files {
		if s.Open != nil && f.File < uint64(len(s.Open.Files)) {
			parts = append(parts, fmt.Sprintf("%s (%s)", string(s.Open.Files[f.File].Path), count(int(f.Lines), "line")))
		}
	}
	return "objects and keeps its own copy of " + strings.Join(parts, ", ") + ": unpublished work"
}

func interimWord(c *ledger.Interim) string {
	why := "everybody agreed"
	switch c.Why {
	case ledger.InterimDeadline:
		why = "silence is agreement"
	case ledger.InterimDecided:
		why = "the main computer's agent decided"
	}
	if len(c.Pick) > 0 {
		return fmt.Sprintf("settles the interim: the pull request's copy of %s, master's of the rest (%s)", count(len(c.Pick), "file"), why)
	}
	return "settles the interim: master's copy of every file (" + why + ")"
}

func classes(all []ledger.Class) string {
	words := []string{
		ledger.HasMaster: "master's copy", ledger.HasPull: "the pull request's copy", ledger.HasOther: "an older published copy",
		ledger.NotHere: "not here", ledger.KeepsAuthor: "keeps the pull request's copy until the final", ledger.KeepsNoLines: "kept, without lines of its own",
	}
	return tally(len(all), func(i int) string { return words[all[i]] })
}

func results(all []ledger.Result) string {
	words := []string{
		ledger.Took: "taken", ledger.HadIt: "there already", ledger.KeptOwn: "own copy kept",
		ledger.WasNotHere: "not checked out here", ledger.TookDeletion: "deleted",
	}
	return tally(len(all), func(i int) string { return words[all[i]] })
}

// tally counts equal words in order of their first appearance.
func tally(n int, word func(int) string) string {
	var order []string
	counts := map[string]int{}
	for i := range n {
		w := word(i)
		if counts[w] == 0 {
			order = append(order, w)
		}
		counts[w]++
	}
	for i, w := range order {
		order[i] = fmt.Sprintf("%d %s", counts[w], w)
	}
	return strings.Join(order, ", ")
}
