package detect

import (
	"fmt"
	"slices"
	"strings"
)

// dependencies finds intents that wait for what will not come, and those that wait for each other (C7).
func dependencies(r *Report, all []*Party) {
	byRef := map[string]*Party{}
	for _, p := range all {
		byRef[p.Side.Ref] = p
	}
	var live []*Party
	for _, p := range all {
		if !p.Side.live() {
			continue
		}
		live = append(live, p)
		for _, ref := range distinct(slices.Clone(p.DependsOn)) {
			r.dependency(p, byRef[ref], ref)
		}
	}
	slices.SortFunc(live, func(a, b *Party) int { return CompareRefs(a.Side.Ref, b.Side.Ref) })
	in := map[string]bool{}
	for _, p := range live {
		if in[p.Side.Ref] {
			continue // it stands in a cycle that was reported
		}
		if cycle := cycleThrough(p, byRef); cycle != nil {
			for _, q := range cycle {
				in[q.Side.Ref] = true
			}
			r.cycle(cycle)
		}
	}
}

func (r *Report) dependency(p, on *Party, ref string) {
	if on == nil {
		r.doubt(DependencyOrder, fmt.Sprintf("%s depends on %s, which is not known here", p.Side.Ref, ref), p.Side.Ref)
		return
	}
	word := map[State]string{Abandoned: "abandoned", Expired: "expired"}[on.Side.State]
	if word == "" {
		return
	}
	r.add(p.Rules.judge(Finding{
		Kind: DependencyOrder, Confidence: 100, Evidence: Declared,
		Sides: []string{p.Side.Ref, ref}, About: []string{ref},
		Sentence:   fmt.Sprintf("%s depends on %s, which is %s.", p.Side.Label(), on.Side.Label(), word),
		Suggestion: fmt.Sprintf("Remove the dependency (intent_update depends_on_remove %s) or take over the work it was meant to deliver.", ref),
	}, p.Rules.severity(DependencyOrder), p.Side.Ref))
}

// cycleThrough is a shortest way from a side over its dependencies back to itself, nil when there is none.
func cycleThrough(start *Party, byRef map[string]*Party) []*Party {
	type step struct {
		at   *Party
		back int
	}
	steps := []step{{start, -1}}
	seen := map[string]bool{}
	for i := 0; i < len(steps); i++ {
		for _, ref := range sortedRefs(steps[i].at.DependsOn) {
			if ref == start.Side.Ref {
				var cycle []*Party
				for j := i; j >= 0; j = steps[j].back {
					cycle = append(cycle, steps[j].at)
				}
				slices.Reverse(cycle)
				return cycle
			}
			if next := byRef[ref]; next != nil && next.Side.live() && !seen[ref] {
				seen[ref] = true
				steps = append(steps, step{next, i})
			}
		}
	}
	return nil
}

func sortedRefs(refs []string) []string {
	refs = slices.Clone(refs)
	slices.SortFunc(refs, CompareRefs)
	return refs
}

func (r *Report) cycle(cycle []*Party) {
	refs := make([]string, len(cycle))
	for i, p := range cycle {
		refs[i] = p.Side.Ref
	}
	first := cycle[0]
	r.add(first.Rules.judge(Finding{
		Kind: DependencyOrder, Confidence: 100, Evidence: Declared, Sides: refs, About: slices.Sorted(slices.Values(refs)),
		Sentence:   fmt.Sprintf("Dependency cycle among %d participants: %s. None of them can merge first.", len(refs), strings.Join(refs, " → ")),
		Suggestion: "Remove one of the dependencies (intent_update depends_on_remove).",
	}, first.Rules.severity(DependencyOrder), refs[len(refs)-1]))
}
