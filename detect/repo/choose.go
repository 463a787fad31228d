package repo

import (
	"cmp"
	"math/bits"
	"slices"

	"github.com/parley-mesh/parley/detect"
)

// clashes is which sides do not merge with each other, or with the base.
type clashes struct {
	hard, soft   []row // of what people merge, and of what programs alone make again
	base, remade []bool
	cost         []int // conflicted files in all pairs; one that a program makes again counts least
	older        []uint64
}

// row has a bit for each other side.
type row []uint64

func (r row) set(j int)      { r[j/64] |= 1 << (j % 64) }
func (r row) has(j int) bool { return r[j/64]>>(j%64)&1 == 1 }

func (r row) count() (n int) {
	for _, word := range r {
		n += bits.OnesCount64(word)
	}
	return n
}

// handCost is how many files that programs make again weigh as much as one that a person merges.
const handCost = 16

func newClashes(result *Result) *clashes {
	n := len(result.digests)
	c := &clashes{base: make([]bool, n), remade: make([]bool, n), cost: make([]int, n)}
	at := map[string]int{}
	for i, d := range result.digests {
		c.hard, c.soft = append(c.hard, make(row, (n+63)/64)), append(c.soft, make(row, (n+63)/64))
		c.older = append(c.older, d.Side.Arrived)
		at[d.Side.Ref] = i
	}
	for _, p := range result.Pairs {
		if p.Merge == outcomes[detect.Merges] || p.Stale {
			continue
		}
		rows, base := c.soft, c.remade
		if p.byHand() {
			rows, base = c.hard, c.base
		}
		i, known := at[p.A]
		j := at[p.B]
		if !known {
			base[j] = true
			continue
		}
		rows[i].set(j)
		rows[j].set(i)
		cost := handCost*(len(p.Conflicts)-len(p.Regenerate)) + len(p.Regenerate)
		c.cost[i] += cost
		c.cost[j] += cost
	}
	return c
}

// triesMax bounds the search; a greedy choice that was found before counts then.
const triesMax = 200_000

// compatible chooses as many sides as possible that merge in pairs but for files that programs make again, and of such
// choices one with the fewest of these pairs: the sides that came first, where there is a choice left. As many of them as merge
// without such files come first.
func (c *clashes) compatible() []int {
	var candidates []int
	for i := range c.hard {
		if !c.base[i] {
			candidates = append(candidates, i)
		}
	}
	chosen := c.choose(candidates, c.hard, c.soft)
	calm := slices.DeleteFunc(slices.Clone(chosen), func(i int) bool { return c.remade[i] })
	calm = c.choose(calm, c.soft, c.hard)
	rest := slices.DeleteFunc(chosen, func(i int) bool { return slices.Contains(calm, i) })
	return append(calm, rest...)
}

// choose is the largest choice of candidates without a pair in rows, with the fewest pairs in avoid; oldest first.
func (c *clashes) choose(candidates []int, rows, avoid []row) []int {
	slices.SortStableFunc(candidates, func(a, b int) int {
		return cmp.Or(cmp.Compare(rows[a].count(), rows[b].count()), cmp.Compare(c.cost[a], c.cost[b]), cmp.Compare(c.older[a], c.older[b]))
	})
	s := search{rows: rows, avoid: avoid, tries: triesMax}
	s.grow(candidates, nil, 0)
	slices.SortStableFunc(s.best, func(a, b int) int { return cmp.Compare(c.older[a], c.older[b]) })
	return s.best
}

// search is a walk over the choices, those with the fewest conflicts first.
type search struct {
	rows, avoid []row
	best        []int
	avoided     int // pairs of avoid in best
	tries       int
}

func (s *search) grow(rest, chosen []int, avoided int) {
	if s.tries--; s.tries < 0 && len(s.best) > 0 {
		return
	}
	if most := len(chosen) + len(rest); most < len(s.best) || most == len(s.best) && avoided >= s.avoided {
		return
	}
	if len(rest) == 0 {
		s.best, s.avoided = slices.Clone(chosen), avoided
		return
	}
	i, others := rest[0], rest[1:]
	free := slices.DeleteFunc(slices.Clone(others), func(j int) bool { return s.rows[i].has(j) })
	met := avoided
	for _, j := range chosen {
		if s.avoid[i].has(j) {
			met++
		}
	}
	s.grow(free, append(slices.Clip(chosen), i), met)
	if len(free) < len(others) || met > avoided {
		s.grow(others, chosen, avoided)
	}
}
