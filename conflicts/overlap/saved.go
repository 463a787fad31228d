package overlap

import (
	"fmt"

	"github.com/parley-mesh/parley/detect"
	"github.com/parley-mesh/parley/ledger"
)

// Minutes saved by a conflict that was caught before a merge, by severity: what finding out only then costs at the
// least (C15).
const (
	MinutesInfo  = 5
	MinutesWarn  = 20
	MinutesBlock = 45
)

// A kind of conflict counts as often called false from that many verdicts on, of which more than half say so.
const doubtfulFrom = 5

// verdicts is what was said about one kind of conflict.
type verdicts struct{ all, wrong int }

// count counts verdicts by kind.
func count(lists ...[]Conflict) map[detect.Kind]verdicts {
	counts := map[detect.Kind]verdicts{}
	for _, list := range lists {
		for i := range list {
			if all, wrong := list[i].judged(); all {
				v := counts[list[i].Kind]
				counts[list[i].Kind] = verdicts{v.all + 1, v.wrong + number(wrong)}
			}
		}
	}
	return counts
}

// mark marks what is listed late, and reports whether that changed of any. It changes nothing else (D-25): no confidence,
// nothing that blocks, no protected path.
func mark(list []Conflict, counts map[detect.Kind]verdicts) (moved bool) {
	for i := range list {
		c, was := &list[i], list[i].Doubtful
		c.Doubtful = ""
		if v := counts[c.Kind]; v.all >= doubtfulFrom && 2*v.wrong > v.all && !c.Blocking && c.Kind != detect.ProtectedPath {
			c.Doubtful = fmt.Sprintf("%s was called a false positive %d of %d times", c.Kind, v.wrong, v.all)
		}
		moved = moved || (was == "") != (c.Doubtful == "")
	}
	return moved
}

// judged reports whether anybody judged a conflict, and whether the last who did called it false.
func (c *Conflict) judged() (any, wrong bool) {
	for _, a := range c.Acts {
		switch a.Action {
		case ledger.ActUseful, ledger.ActTooLate:
			any, wrong = true, false
		case ledger.ActSaidFalse, ledger.ActFalsePositive:
			any, wrong = true, true
		}
	}
	return any, wrong
}

// minutes is the time that one conflict saved. Overridden ones, false ones, those that came too late and those of one
// developer count nothing.
func (f *Fold) minutes(c *Conflict) int {
	if c.Status == Overridden || c.Status == FalsePositive || c.oneDeveloper() || len(c.Sides) < 2 {
		return 0
	}
	for _, a := range c.Acts {
		if a.Action == ledger.ActTooLate || a.Action == ledger.ActSaidFalse {
			return 0
		}
	}
	if !f.early(c) {
		return 0
	}
	switch c.Severity {
	case detect.Block:
		return MinutesBlock
	case detect.Warn:
		return MinutesWarn
	}
	return MinutesInfo
}

// early reports whether a conflict was found before any of its sides was merged.
func (f *Fold) early(c *Conflict) bool {
	var first *item
	for i, it := range f.events[c.ID] {
		if found, ok := it.Content.(*ledger.Found); ok && f.witness(it, found) {
			first = &f.events[c.ID][i]
			break
		}
	}
	for _, o := range c.Sides {
		s := f.sides[o.ID]
		if s == nil || s.phase != MergedIn || s.closed == nil {
			continue
		}
		if first == nil || s.closed.compare(*first) < 0 {
			return false
		}
	}
	return true
}

// Saved is the estimate of the time saved by all conflicts, in minutes, and how many of them count.
func (f *Fold) Saved() (minutes, conflicts int) {
	for _, c := range f.Conflicts() {
		minutes += c.Minutes
		conflicts += number(c.Minutes > 0)
	}
	return minutes, conflicts
}

// Due is what a computer has to write about the conflicts of its own sides, so that their life is kept: each one that
// was found, went, or rests on other evidence than was written last by anybody.
func (f *Fold) Due(device ledger.Device) (all []*ledger.Found) {
	for _, c := range f.Conflicts() {
		if body := f.due(&c, device); body != nil {
			all = append(all, body)
		}
	}
	return all
}

func (f *Fold) due(c *Conflict, device ledger.Device) *ledger.Found {
	body := &ledger.Found{Conflict: c.ID, Sort: string(c.Kind), State: ledger.FoundGone, Evidence: c.Evidence, Severity: uint64(c.Severity)}
	if c.Present {
		body.State = ledger.FoundHere
	}
	own := false
	for _, s := range c.Sides {
		own = own || s.Device == device
		if len(body.Sides) < ledger.SidesMax {
			body.Sides = append(body.Sides, s.ID)
		}
	}
	for _, s := range c.About {
		if len(body.About) < ledger.AboutMax {
			if s = validText(s); s != "" {
				body.About = append(body.About, s)
			}
		}
	}
	said, by := f.lastFound(c)
	switch {
	case !own, said == nil && !c.Present:
		return nil
	case said != nil && f.hides(by):
		return nil // they see what they hide: what this side makes of the rest would contradict them for ever
	case said != nil && said.State == body.State && (said.Evidence == body.Evidence && said.Severity == body.Severity || !c.Present):
		return nil
	}
	return body
}

// lastFound is the last word on whether a conflict is there.
func (f *Fold) lastFound(c *Conflict) (said *ledger.Found, by ledger.TID) {
	for _, it := range f.events[c.ID] {
		if body, ok := it.Content.(*ledger.Found); ok && f.witness(it, body) {
			said, by = body, f.developer(it.Device)
		}
	}
	return said, by
}
