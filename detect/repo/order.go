package repo

import (
	"cmp"
	"context"
	"math/bits"
	"slices"

	"github.com/parley-mesh/parley/detect"
)

// Step is one merge of the proposed order, as it would go after all the clean steps before it.
type Step struct {
	Ref       string               `json:"ref"`
	Label     string               `json:"label"`
	Merge     string               `json:"merge"` // clean, conflict or unknown
	Why       string               `json:"why,omitempty"`
	Conflicts []detect.GitConflict `json:"conflicts,omitempty"`
	With      []string             `json:"with,omitempty"` // sides with which it conflicts by itself, the base included
	Together  bool                 `json:"together,omitempty"`
}

// order looks for the order of merging in which the most sides merge by themselves. Which of them do is settled by
// the pairs first; then git merges them in sequence, because sides that merge in pairs need not merge together.
// What conflicts comes last, against everything that merged: the fewest files first.
func (r *Repo) order(ctx context.Context, result *Result) ([]Step, error) {
	clash := newClashes(result)
	tip := result.Base.Commit
	var steps, late []Step
	var rest []int
	for _, i := range clash.compatible() {
		next, step, err := r.step(ctx, result, tip, i)
		if err != nil {
			return nil, err
		}
		if step.Merge != outcomes[detect.Merges] {
			rest = append(rest, i)
			continue
		}
		steps, tip = append(steps, step), next
	}
	for i := range result.digests {
		if slices.Contains(rest, i) || !clash.chosen[i] {
			_, step, err := r.step(ctx, result, tip, i)
			if err != nil {
				return nil, err
			}
			step.With = clash.with(i)
			step.Together = step.Merge == outcomes[detect.Conflicts] && len(step.With) == 0
			late = append(late, step)
		}
	}
	slices.SortStableFunc(late, func(a, b Step) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(len(a.Conflicts), len(b.Conflicts)))
	})
	return append(steps, late...), nil
}

// rank puts conflicts before what cannot be told.
func rank(s Step) int { return slices.Index([]string{"clean", "conflict", "unknown"}, s.Merge) }

// step merges one side into what was merged so far, and commits the result if it is clean.
func (r *Repo) step(ctx context.Context, result *Result, tip string, i int) (next string, s Step, err error) {
	d := result.digests[i]
	answers, err := r.mergeAll(ctx, [][2]string{{tip, d.Head}})
	if err != nil {
		return "", Step{}, err
	}
	m := answers[0]
	s = Step{Ref: d.Side.Ref, Label: d.Side.Label(), Merge: outcomes[m.Outcome], Why: m.Why, Conflicts: m.Conflicts}
	if m.Outcome != detect.Merges {
		return tip, s, nil
	}
	next, err = r.commit(ctx, m.tree, tip, d.Head)
	return next, s, err
}

// clashes is which sides do not merge with each other, or with the base.
type clashes struct {
	refs   []string
	rows   [][]uint64 // a bit for each other side
	base   []bool
	alone  string
	cost   []int // conflicted files in all pairs
	older  []uint64
	chosen []bool
}

func newClashes(result *Result) *clashes {
	n := len(result.digests)
	c := &clashes{alone: result.Base.Ref, base: make([]bool, n), cost: make([]int, n), chosen: make([]bool, n)}
	at := map[string]int{}
	for i, d := range result.digests {
		c.refs = append(c.refs, d.Side.Ref)
		c.rows = append(c.rows, make([]uint64, (n+63)/64))
		c.older = append(c.older, d.Side.Arrived)
		at[d.Side.Ref] = i
	}
	for _, p := range result.Pairs {
		if p.Merge == outcomes[detect.Merges] || p.Stale {
			continue
		}
		i, known := at[p.A]
		j := at[p.B]
		if !known {
			c.base[j] = true
			continue
		}
		c.rows[i][j/64] |= 1 << (j % 64)
		c.rows[j][i/64] |= 1 << (i % 64)
		c.cost[i] += len(p.Conflicts)
		c.cost[j] += len(p.Conflicts)
	}
	return c
}

// with names what a side conflicts with by itself.
func (c *clashes) with(i int) (refs []string) {
	if c.base[i] {
		refs = append(refs, c.alone)
	}
	for j, ref := range c.refs {
		if c.rows[i][j/64]>>(j%64)&1 == 1 {
			refs = append(refs, ref)
		}
	}
	return refs
}

// triesMax bounds the search; a greedy choice that was found before counts then.
const triesMax = 200_000

// compatible chooses as many sides as possible that merge in pairs, and marks them: the ones that came first, where
// there is a choice.
func (c *clashes) compatible() []int {
	var candidates []int
	for i := range c.refs {
		if !c.base[i] {
			candidates = append(candidates, i)
		}
	}
	slices.SortStableFunc(candidates, func(a, b int) int {
		return cmp.Or(cmp.Compare(c.degree(a), c.degree(b)), cmp.Compare(c.cost[a], c.cost[b]), cmp.Compare(c.older[a], c.older[b]))
	})
	s := search{clashes: c, tries: triesMax}
	s.grow(candidates, nil)
	for _, i := range s.best {
		c.chosen[i] = true
	}
	slices.SortStableFunc(s.best, func(a, b int) int { return cmp.Compare(c.older[a], c.older[b]) })
	return s.best
}

func (c *clashes) degree(i int) (n int) {
	for _, word := range c.rows[i] {
		n += bits.OnesCount64(word)
	}
	return n
}

// search is a walk over the choices, those with the fewest conflicts first.
type search struct {
	*clashes
	best  []int
	tries int
}

func (s *search) grow(rest, chosen []int) {
	if s.tries--; s.tries < 0 && len(s.best) > 0 {
		return
	}
	if len(rest) == 0 {
		if len(chosen) > len(s.best) {
			s.best = slices.Clone(chosen)
		}
		return
	}
	if len(chosen)+len(rest) <= len(s.best) {
		return
	}
	i, others := rest[0], rest[1:]
	free := slices.DeleteFunc(slices.Clone(others), func(j int) bool { return s.rows[i][j/64]>>(j%64)&1 == 1 })
	s.grow(free, append(slices.Clip(chosen), i))
	if len(free) < len(others) {
		s.grow(others, chosen)
	}
}
