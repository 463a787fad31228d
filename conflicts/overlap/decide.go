package overlap

import (
	"slices"

	"github.com/parley-mesh/parley/detect"
	"github.com/parley-mesh/parley/ledger"
)

// Verdict is what an agent hears before an edit or a shell command.
type Verdict uint8

// The verdicts.
const (
	Allow Verdict = iota
	Warn          // go on, and know this
	Block         // wait
)

var verdictWords = [...]string{Allow: "allow", Warn: "warn", Block: "block"}

// String is the word of the verdict.
func (v Verdict) String() string { return verdictWords[v] }

// Decision is the answer to an agent that is about to edit or to run a command.
type Decision struct {
	Verdict   Verdict
	Conflicts []Conflict // what it rests on, loudest first
	Words     string     // for the agent, "" for nothing to say
}

// Decide answers a session that is about to do something to some paths; none for a command of which nobody can say what
// it writes. It answers from what was settled last (see [Fold.Settle]) and is quick whatever the number of claims. Only
// the newcomer is blocked, only by what was declared or observed, and only where the paths are those that the conflict
// is about (C9). What only informs is left to the briefing. A command without paths is told what blocks its edits.
func (f *Fold) Decide(session ledger.ID, upcoming []detect.Upcoming) Decision {
	f.meetsHidden(upcoming)
	s := f.acting(session)
	if s == nil {
		return Decision{}
	}
	var d Decision
	seen := map[ledger.ID]bool{}
	for _, c := range f.trials(s, upcoming) {
		if standing, ok := f.byID[c.ID]; ok && f.list[standing].Present && !c.keyed && within(c.About, f.list[standing].About) {
			continue // it is among those that stand
		}
		seen[c.ID] = true
		d.hear(s, &c, true)
	}
	for _, i := range f.mine[s.id] {
		c := &f.list[i]
		blocks := c.Blocking && c.Blocked == s.id
		if c.Severity >= detect.Warn && !seen[c.ID] && (c.hits(upcoming) || len(upcoming) == 0 && blocks) {
			d.hear(s, c, len(upcoming) > 0)
		}
	}
	slices.SortStableFunc(d.Conflicts, compareConflicts)
	d.Words = d.say(s)
	return d
}

// acting is the side that a session works for: the intent that carries it, else itself.
func (f *Fold) acting(session ledger.ID) *side {
	s := f.sides[session]
	if s == nil {
		return nil
	}
	if intent := f.sides[s.intent]; intent != nil {
		return intent
	}
	return s
}

// hear takes a conflict about what is to be done into the decision. edits says that it is known what is.
func (d *Decision) hear(s *side, c *Conflict, edits bool) {
	if !c.Status.Live() || c.Severity < detect.Warn || c.MutedFor(s.root) {
		return
	}
	verdict := Warn
	if c.Blocking && c.Blocked == s.id && edits {
		verdict = Block
	}
	d.Verdict = max(d.Verdict, verdict)
	d.Conflicts = append(d.Conflicts, *c)
}

func within(some, all []string) bool {
	return !slices.ContainsFunc(some, func(s string) bool { return !slices.Contains(all, s) })
}

// hits reports whether a conflict is about one of the paths. One that is about no path is about everything that is
// edited.
func (c *Conflict) hits(upcoming []detect.Upcoming) bool {
	paths := c.paths()
	return len(upcoming) > 0 && len(paths) == 0 || slices.ContainsFunc(upcoming, func(u detect.Upcoming) bool { return slices.Contains(paths, u.Path) })
}

// paths are the files that a conflict is about.
func (c *Conflict) paths() (all []string) {
	for _, s := range c.From {
		if s.Path != "" {
			all = append(all, s.Path)
		}
	}
	switch c.Kind {
	case detect.PathOverlap, detect.TextualMerge, detect.ProtectedPath:
		all = append(all, c.About...)
	case detect.SymbolOverlap:
		for _, id := range c.About {
			if p := symbolPath(id); p != "" {
				all = append(all, p)
			}
		}
	}
	return all
}

// trials are the conflicts that there would be on the paths, were they edited. Every side that may have something to do
// with the paths comes from the index, and the detectors judge what is left of both.
func (f *Fold) trials(s *side, upcoming []detect.Upcoming) (all []Conflict) {
	if len(upcoming) == 0 {
		return nil
	}
	try := &trial{ref: s.digest.Side.Ref, classes: map[string]byte{}}
	for _, u := range upcoming {
		try.classes[u.Path] = opClass(u.Op)
	}
	ids, spots := f.index.near(upcoming)
	mine := f.part(s, spots[s.id], upcoming)
	add := func(r detect.Report) {
		for i := range r.Findings {
			one := &r.Findings[i]
			if one.Kind != detect.PathOverlap && one.Kind != detect.ProtectedPath {
				continue
			}
			c := f.conflictOf(one)
			c.Evidence = f.evidence(one, try)
			f.live(&c)
			c.Name = f.nameOf(c.ID)
			all = append(all, c)
		}
	}
	add(detect.Alone(mine))
	for _, id := range ids {
		if o := f.sides[id]; o != s && o.live() && o.place == s.place && f.loud(o, spots[id]) && !related(o, s) {
			add(detect.Meet(mine, f.part(o, spots[id], nil), detect.Meeting{}))
		}
	}
	return all
}

// loud reports whether a side can have more than a word to say about paths: that both work there only informs, unless
// the policy makes more of it, or one of them holds the path.
func (f *Fold) loud(o *side, spots []spot) bool {
	p := f.policy(o.place)
	return p.Severity[detect.PathOverlap] >= detect.Warn || slices.ContainsFunc(spots, func(at spot) bool {
		if at.file >= 0 {
			return len(p.ExclusiveByDefault) > 0
		}
		return o.digest.Claims[at.claim].Exclusive
	})
}

func (f *Fold) nameOf(id ledger.ID) string {
	if i, ok := f.byID[id]; ok {
		return f.list[i].Name
	}
	return "CF-" + ledger.NameOf(id)[:ledger.NameShown]
}
