package thread

import (
	"slices"
	"strings"
	"time"

	"github.com/parley-mesh/parley/ledger"
)

// adopt takes the verified final and confirms it (rule A4). Until it is verified nothing changes, and a
// copy that is not published stays as it is, visibly. Every computer of a lane takes it; one confirms.
func (p *stepping) adopt() {
	confirmed := p.s.Final != nil && p.s.Adopted[p.self.Party] != (ledger.ID{})
	if p.s.Final == nil || confirmed && (p.own() || p.s.Phase == Closed) {
		return
	}
	if !p.verified() {
		p.hold()
		p.unprovenCard()
		return
	}
	results, taking := &ledger.Adopted{Tip: p.f.Look.Tip}, false
	for i, f := range p.f.Look.Files {
		if p.f.Look.OnBase && f.Replaceable && f.Here != f.Tip {
			p.e.Do = append(p.e.Do, Replace{File: i, Want: f.Tip, Executable: f.Executable})
			taking = true
		}
		results.Results = append(results.Results, p.result(i, f))
	}
	if !taking && !confirmed && (p.own() || p.self.Desk) {
		p.emit(results, p.s.Final.ID)
	}
}

// verified reports whether this computer itself has found the final on GitHub.
func (p *stepping) verified() bool {
	return p.fresh() && p.s.Final != nil && p.f.Look.Final == Yes && len(p.f.Look.Files) == len(p.s.Open.Files)
}

// named is from when a final's day to be confirmed counts.
func (p *stepping) named() time.Time {
	if !p.f.Named.IsZero() {
		return p.f.Named
	}
	return time.UnixMilli(int64(p.s.Final.At))
}

// unprovenCard says that GitHub does not hold what the final names, or could not be asked for a whole day
// (cases 30 to 32). It is never adopted.
func (p *stepping) unprovenCard() {
	at := p.named().Add(p.t.Unproven)
	switch {
	case p.now.Before(at):
		p.by(at)
	case p.fresh() && p.f.Look.Final == No:
		p.card("C13", "GitHub does not hold the named final", p.subject()+": "+p.f.Look.FinalWhy, finalNext)
	default:
		p.card("C13", "The named final could not be checked", p.subject()+": GitHub could not be asked about it for a day", finalNext)
	}
}

// markersCard warns of conflict markers in what was published; adoption goes on (D-18).
func (p *stepping) markersCard() {
	if !p.verified() || len(p.f.Look.Marked) == 0 {
		return
	}
	p.card("C14", "The final of "+p.subject()+" holds conflict markers", "look at "+p.paths(p.f.Look.Marked)+" on "+p.base(), "it is published, so every computer has it; mend it with another pull request")
}

// keptCard lists the own copies that stay after a verified final, until they are published or gone.
func (p *stepping) keptCard() {
	if p.s.Final == nil {
		return
	}
	var kept []int
	switch {
	case p.verified() && p.f.Look.OnBase:
		for i, f := range p.f.Look.Files {
			if f.Here != f.Tip && f.Class != ledger.NotHere && !f.Replaceable {
				kept = append(kept, i)
			}
		}
	case p.own() && !p.fresh():
		for i, r := range p.s.Results[p.self.Party] {
			if r == ledger.KeptOwn {
				kept = append(kept, i)
			}
		}
	}
	if len(kept) > 0 {
		p.card("C9", "Own copies stay after the final of "+p.subject(), "this computer kept its own copy of "+p.paths(kept),
			"they hold work that is nowhere else; bring it together with "+p.base()+" when you like")
	}
}

func (p *stepping) paths(files []int) string {
	var out []string
	for _, i := range files {
		if i >= 0 && i < len(p.s.Open.Files) {
			out = append(out, string(p.s.Open.Files[i].Path))
		}
	}
	return strings.Join(out, ", ")
}

func (p *stepping) result(i int, f File) ledger.Result {
	took := slices.Contains(p.f.Took, i)
	switch {
	case !p.f.Look.OnBase || f.Class == ledger.NotHere:
		return ledger.WasNotHere
	case f.Here != f.Tip:
		return ledger.KeptOwn
	case took && f.Tip == "":
		return ledger.TookDeletion
	case took:
		return ledger.Took
	}
	return ledger.HadIt
}

// finalNext says what becomes of a final that GitHub does not show.
const finalNext = "this computer keeps its copies and looks again; should it stay so, look at the pull request on GitHub"
