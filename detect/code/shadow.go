package code

import (
	"cmp"
	"slices"
	"sort"
)

// shadows are the places where names mean something else than at the top of the file. Asking costs little however
// often one short name is declared, as it is in minified files.
type shadows map[string]*extents

// extents are ranges of octets of one name.
type extents struct {
	list   []extent
	reach  []uint32 // the furthest end of the ranges up to each
	sorted bool
}

type extent struct{ start, end uint32 }

func (s shadows) add(name string, start, end uint32) {
	e := s[name]
	if e == nil {
		e = &extents{}
		s[name] = e
	}
	e.list, e.sorted = append(e.list, extent{start, end}), false
}

func (e *extents) sort() {
	if e.sorted {
		return
	}
	slices.SortFunc(e.list, func(a, b extent) int { return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(a.end, b.end)) })
	e.reach = e.reach[:0]
	furthest := uint32(0)
	for _, x := range e.list {
		furthest = max(furthest, x.end)
		e.reach = append(e.reach, furthest)
	}
	e.sorted = true
}

// hold reports whether a name means something else at an octet.
func (s shadows) hold(name string, at uint32) bool {
	e := s[name]
	if e == nil {
		return false
	}
	e.sort()
	n := sort.Search(len(e.list), func(i int) bool { return e.list[i].start > at })
	return n > 0 && e.reach[n-1] > at
}

// startIn reports whether a name is declared within a range.
func (s shadows) startIn(name string, from, to uint32) bool {
	e := s[name]
	if e == nil {
		return false
	}
	e.sort()
	n := sort.Search(len(e.list), func(i int) bool { return e.list[i].start >= from })
	return n < len(e.list) && e.list[n].start < to
}
