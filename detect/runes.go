package detect

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// span is the runes from lo to hi, both included.
type span struct{ lo, hi rune }

// runes is a set: spans that ascend and do not touch.
type runes []span

// everyRune is what a segment may hold.
var everyRune = runes{{0, '/' - 1}, {'/' + 1, utf8.MaxRune}}

func (set runes) has(r rune) bool {
	for _, s := range set {
		if s.lo <= r && r <= s.hi {
			return true
		}
	}
	return false
}

// meets reports whether two sets have a rune in common.
func (set runes) meets(other runes) bool {
	for i, j := 0, 0; i < len(set) && j < len(other); {
		switch {
		case set[i].hi < other[j].lo:
			i++
		case other[j].hi < set[i].lo:
			j++
		default:
			return true
		}
	}
	return false
}

// complement is every rune of a segment that is not in the set.
func (set runes) complement() runes {
	set = union(append(slices.Clone(set), span{'/', '/'}))
	var rest runes
	next := rune(0)
	for _, s := range set {
		if next < s.lo {
			rest = append(rest, span{next, s.lo - 1})
		}
		next = s.hi + 1
	}
	if next <= utf8.MaxRune {
		rest = append(rest, span{next, utf8.MaxRune})
	}
	return rest
}

// union puts spans in order and joins those that touch.
func union(spans []span) (set runes) {
	slices.SortFunc(spans, func(a, b span) int { return int(a.lo - b.lo) })
	for _, s := range spans {
		if n := len(set); n > 0 && s.lo <= set[n-1].hi+1 {
			set[n-1].hi = max(set[n-1].hi, s.hi)
			continue
		}
		set = append(set, s)
	}
	return set
}

// parseClass reads what stands between [ and ].
func parseClass(s string, folded bool) (runes, error) {
	negated := s != "" && (s[0] == '!' || s[0] == '^')
	if negated {
		s = s[1:]
	}
	var spans []span
	for s != "" {
		lo, rest := member(s)
		hi := lo
		if len(rest) > 1 && rest[0] == '-' {
			hi, rest = member(rest[1:])
		}
		if hi < lo {
			return nil, errClass
		}
		spans = append(spans, span{lo, hi})
		s = rest
	}
	set := union(spans)
	outside := set.complement()
	if set = outside.complement(); len(set) == 0 {
		return nil, errClass
	}
	switch {
	case !folded && negated:
		return outside, nil
	case !folded:
		return set, nil
	case negated:
		return foldNegated(set), nil
	}
	return foldSet(set), nil
}

// member is the first member of a class, and the rest of the class.
func member(s string) (r rune, rest string) {
	if s[0] == '\\' && len(s) > 1 {
		s = s[1:]
	}
	r, size := decode(s)
	return r, s[size:]
}

// decode is the first rune. Bytes that are no UTF-8 are all the same rune, as they are when a path is split.
func decode(s string) (rune, int) { return utf8.DecodeRuneInString(s) }

// foldedMax is up to how many runes of a class are folded one by one; a greater class matches every rune when
// it is folded, so that no overlap is missed.
const foldedMax = 4096

// foldSet is every folded rune that some member of the set folds to.
func foldSet(set runes) runes {
	var spans []span
	for _, s := range set {
		if s.hi-s.lo > foldedMax {
			return everyRune
		}
		for r := s.lo; r <= s.hi; r++ {
			f := foldRune(r)
			spans = append(spans, span{f, f})
		}
	}
	return union(spans)
}

// foldNegated is the folded runes of which one form at least is outside of the set.
func foldNegated(set runes) runes {
	var spans []span
	for _, s := range set {
		if s.hi-s.lo > foldedMax {
			return everyRune
		}
		for r := s.lo; r <= s.hi; r++ {
			if f := foldRune(r); formsWithin(f, set) {
				spans = append(spans, span{f, f})
			}
		}
	}
	return union(spans).complement()
}

func formsWithin(r rune, set runes) bool {
	if !set.has(r) {
		return false
	}
	for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
		if !set.has(f) {
			return false
		}
	}
	return true
}

// Fold maps paths that a file system without case takes for one name to one string.
func Fold(path string) string {
	return compose(strings.Map(foldRune, compose(path)))
}

func compose(s string) string { return norm.NFC.String(s) }

// foldRune is the smallest rune that differs from r in case alone.
func foldRune(r rune) rune {
	if r < utf8.RuneSelf {
		if 'a' <= r && r <= 'z' {
			return r - 'a' + 'A'
		}
		return r
	}
	least := r
	for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
		least = min(least, f)
	}
	return least
}
