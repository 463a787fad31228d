package repo

import (
	"cmp"
	"context"
	"slices"

	"github.com/parley-mesh/parley/detect"
)

// Step is one merge of the proposed order, as it would go after all the steps before it.
type Step struct {
	Ref        string               `json:"ref"`
	Label      string               `json:"label"`
	Merge      string               `json:"merge"` // clean, regenerate, conflict or unknown
	Why        string               `json:"why,omitempty"`
	Conflicts  []detect.GitConflict `json:"conflicts"`          // what a person has to merge
	Regenerate []string             `json:"regenerate"`         // files that a program makes again, ascending
	With       []string             `json:"with"`               // the base or earlier sides with which it conflicts by itself
	Together   bool                 `json:"together,omitempty"` // it conflicts with none of them by itself
	Findings   []Met                `json:"findings"`           // between this side and the base or earlier sides
}

// Met is one finding that a step runs into.
type Met struct {
	Kind     detect.Kind     `json:"kind"`
	Severity detect.Severity `json:"severity"`
	With     []string        `json:"with"`  // the other sides, which are merged by then; none for a rule that one side breaks
	About    []string        `json:"about"` // paths, symbols or contracts, ascending
	Sentence string          `json:"sentence"`
}

// regenerates is what a step does beside git's own outcomes: git stops, but only at files that a program makes again.
const regenerates = "regenerate"

// sequence is an order in the making.
type sequence struct {
	repo   *Repo
	result *Result
	tip    string          // everything that merged so far
	again  map[string]bool // files in it that a program has to make again
}

// order looks for the order of merging in which the most sides merge by themselves. Which of them do is settled by
// the pairs first; then git merges them in sequence, because sides that merge in pairs need not merge together.
// A file that a program makes again stops no side: what meets in such files alone follows the clean merges.
// What conflicts comes last: the fewest files first.
func (r *Repo) order(ctx context.Context, result *Result) ([]Step, error) {
	q := &sequence{r, result, result.Base.Commit, map[string]bool{}}
	steps, late := []Step{}, []Step{}
	merged := map[int]bool{}
	for _, i := range newClashes(result).compatible() {
		step, err := q.merge(ctx, i)
		if err != nil {
			return nil, err
		}
		if step.goesOn() {
			steps, merged[i] = append(steps, step), true
		}
	}
	for i := range result.digests {
		if merged[i] {
			continue
		}
		step, err := q.merge(ctx, i)
		if err != nil {
			return nil, err
		}
		late = append(late, step)
	}
	slices.SortStableFunc(late, func(a, b Step) int {
		return cmp.Or(cmp.Compare(a.rank(), b.rank()), cmp.Compare(len(a.Conflicts), len(b.Conflicts)), cmp.Compare(len(a.Regenerate), len(b.Regenerate)))
	})
	steps = append(steps, late...)
	q.foresee(steps)
	return steps, nil
}

// goesOn reports whether a step needs nobody to merge by hand.
func (s Step) goesOn() bool { return s.Merge == outcomes[detect.Merges] || s.Merge == regenerates }

// rank puts conflicts before what cannot be told.
func (s Step) rank() int {
	return slices.Index([]string{"clean", regenerates, "conflict", "unknown"}, s.Merge)
}

// merge lets git merge one side into what was merged so far, and goes on from the result where nobody is needed for it.
func (q *sequence) merge(ctx context.Context, i int) (Step, error) {
	d := q.result.digests[i]
	answers, err := q.repo.mergeAll(ctx, [][2]string{{q.tip, d.Head}})
	if err != nil {
		return Step{}, err
	}
	m := answers[0]
	s := Step{Ref: d.Side.Ref, Label: d.Side.Label(), Merge: outcomes[m.Outcome], Why: m.Why, Conflicts: []detect.GitConflict{}, Regenerate: []string{}, With: []string{}, Findings: []Met{}}
	if m.Outcome == detect.Unknown {
		return s, nil
	}
	s.add(m.Conflicts, q.result.made)
	for _, f := range d.Files {
		if q.again[f.Path] { // what the program made of it is not known, so neither is how git would merge it
			s.Regenerate = append(s.Regenerate, f.Path)
		}
	}
	if s.settle(); !s.goesOn() {
		return s, nil
	}
	for _, p := range s.Regenerate {
		q.again[p] = true
	}
	q.tip, err = q.repo.commit(ctx, m.tree, q.tip, d.Head)
	return s, err
}

// add takes git's conflicts apart: those of people, and those of programs.
func (s *Step) add(conflicts []detect.GitConflict, made map[string]bool) {
	for _, c := range conflicts {
		if isMade(c.Path, made) {
			s.Regenerate = append(s.Regenerate, c.Path)
		} else {
			s.Conflicts = append(s.Conflicts, c)
		}
	}
}

// settle puts a step's paths in order, and says what comes of them.
func (s *Step) settle() {
	slices.SortStableFunc(s.Conflicts, func(a, b detect.GitConflict) int { return cmp.Compare(a.Path, b.Path) })
	s.Conflicts = slices.CompactFunc(s.Conflicts, func(a, b detect.GitConflict) bool { return a.Path == b.Path })
	slices.Sort(s.Regenerate)
	s.Regenerate = slices.Compact(s.Regenerate)
	switch {
	case s.Merge == outcomes[detect.Unknown]:
	case len(s.Conflicts) > 0:
		s.Merge = outcomes[detect.Conflicts]
	case len(s.Regenerate) > 0:
		s.Merge = regenerates
	}
}

// foresee adds to each step what it meets in the sides before it, merged by hand or not: their conflicts in pairs, and
// every finding. So each finding between two sides stands at one step, the later one.
func (q *sequence) foresee(steps []Step) {
	before := map[string]bool{q.result.Base.Ref: true}
	for i := range steps {
		s := &steps[i]
		for _, p := range q.result.Pairs {
			if other := p.other(s.Ref); before[other] && !p.Stale {
				s.add(p.Conflicts, q.result.made)
				if p.byHand() {
					s.With = append(s.With, other)
				}
			}
		}
		s.settle()
		s.Together = s.Merge == outcomes[detect.Conflicts] && len(s.With) == 0
		s.meet(q.result.Report.Findings, before)
		before[s.Ref] = true
	}
}

// meet lists the findings between a step's side and sides that are merged before it.
func (s *Step) meet(findings []detect.Finding, before map[string]bool) {
	for _, f := range findings {
		others := slices.DeleteFunc(slices.Clone(f.Sides), func(ref string) bool { return ref == s.Ref })
		if len(others) == len(f.Sides) || slices.ContainsFunc(others, func(ref string) bool { return !before[ref] }) {
			continue
		}
		s.Findings = append(s.Findings, Met{f.Kind, f.Severity, others, append([]string{}, f.About...), f.Sentence})
	}
}

// other is the side that a pair holds against ref, "" for a pair without ref.
func (p Pair) other(ref string) string {
	switch ref {
	case p.A:
		return p.B
	case p.B:
		return p.A
	}
	return ""
}

// byHand reports whether git does not merge a pair, by what programs do not make again.
func (p Pair) byHand() bool {
	return p.Merge == outcomes[detect.Unknown] || len(p.Regenerate) < len(p.Conflicts)
}

// madeIn are the paths of files that some side knows to be made by a program.
func madeIn(digests []*detect.Digest) map[string]bool {
	made := map[string]bool{}
	for _, d := range digests {
		for _, f := range d.Files {
			if f.Made != detect.ByHand {
				made[f.Path] = true
				if old := f.Old(); old != "" {
					made[old] = true
				}
			}
		}
	}
	return made
}

// isMade reports whether a program makes the file: a side says so, or its name does.
func isMade(path string, made map[string]bool) bool {
	return made[path] || detect.MadeBy(path, nil) != detect.ByHand
}
