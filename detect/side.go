package detect

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// Label names a side in sentences: INT-12 (jordan, claude_code, feat/partial-refunds).
func (s *Side) Label() string {
	var known []string
	for _, v := range []string{s.Name, s.Agent, s.Branch} {
		if v != "" && v != s.Ref {
			known = append(known, v)
		}
	}
	if len(known) == 0 {
		return s.Ref
	}
	return s.Ref + " (" + strings.Join(known, ", ") + ")"
}

// person is how a side's developer is addressed.
func (s *Side) person() string {
	if s.Name != "" {
		return s.Name
	}
	return s.Ref
}

// live reports whether the side still works.
func (s *Side) live() bool { return s.State == Live }

// earlier puts the side that arrived first first; refs decide between equals.
func earlier(a, b *Digest) (first, newcomer *Digest) {
	if firstOf(cmp.Compare(a.Side.Arrived, b.Side.Arrived), CompareRefs(a.Side.Ref, b.Side.Ref)) > 0 {
		return b, a
	}
	return a, b
}

// CompareRefs orders refs as people count: INT-2 before INT-12.
func CompareRefs(a, b string) int {
	wordA, n := number(a)
	wordB, m := number(b)
	return firstOf(strings.Compare(wordA, wordB), cmp.Compare(n, m), strings.Compare(a, b))
}

// number splits a ref before the digits that it ends in.
func number(ref string) (word string, n uint64) {
	word = strings.TrimRight(ref, "0123456789")
	n, _ = strconv.ParseUint(ref[len(word):], 10, 64)
	return word, n
}

// listMax is how many names a sentence spells out.
const listMax = 12

// list spells names out, and counts what would make the sentence too long.
func list(names []string) string {
	if len(names) <= listMax {
		return strings.Join(names, ", ")
	}
	return strings.Join(names[:listMax], ", ") + " and " + strconv.Itoa(len(names)-listMax) + " more"
}

// distinct is the names in order, each once.
func distinct(names []string) []string {
	slices.Sort(names)
	return slices.Compact(names)
}
