package detect

import "slices"

// Overlaps reports whether some path is matched by both patterns. It answers no only when there is none.
func Overlaps(a, b Glob) bool {
	return slices.ContainsFunc(a.ways, func(x way) bool {
		return slices.ContainsFunc(b.ways, func(y way) bool { return meet(x, y) })
	})
}

// meet walks both patterns at once. can[i][j] says whether what is left after i and j segments can match one path.
func meet(a, b way) bool {
	can := grid(len(a), len(b))
	for i := len(a); i >= 0; i-- {
		for j := len(b); j >= 0; j-- {
			var ok bool
			switch moreA, moreB := i < len(a), j < len(b); {
			case !moreA && !moreB:
				ok = true
			case moreA && a[i].many && moreB && b[j].many:
				ok = can[i+1][j] || can[i][j+1]
			case moreA && a[i].many:
				ok = can[i+1][j] || moreB && can[i][j+1]
			case moreB && b[j].many:
				ok = can[i][j+1] || moreA && can[i+1][j]
			case moreA && moreB:
				ok = can[i+1][j+1] && meetSegments(a[i], b[j])
			}
			can[i][j] = ok
		}
	}
	return can[0][0]
}

func grid(n, m int) [][]bool {
	rows := make([][]bool, n+1)
	for i := range rows {
		rows[i] = make([]bool, m+1)
	}
	return rows
}

func meetSegments(a, b segment) bool {
	return slices.Equal(a.word, b.word) ||
		matchTokens(a.tokens, b.word) || matchTokens(b.tokens, a.word) ||
		meetTokens(a.tokens, b.tokens)
}

// meetTokens is as [meet], for the runes of one segment. No segment is empty, and two patterns that meet in the
// empty string alone do not exist: a pattern without a rune is a star.
func meetTokens(a, b []token) bool {
	can := grid(len(a), len(b))
	for i := len(a); i >= 0; i-- {
		for j := len(b); j >= 0; j-- {
			var ok bool
			switch moreA, moreB := i < len(a), j < len(b); {
			case !moreA && !moreB:
				ok = true
			case moreA && a[i].star:
				ok = can[i+1][j] || moreB && can[i][j+1]
			case moreB && b[j].star:
				ok = can[i][j+1] || moreA && can[i+1][j]
			case moreA && moreB:
				ok = can[i+1][j+1] && a[i].set.meets(b[j].set)
			}
			can[i][j] = ok
		}
	}
	return can[0][0]
}

// Within reports whether every path that b matches is surely matched by a; it may answer no although it is so.
func Within(a, b Glob) bool {
	return len(b.ways) > 0 && !slices.ContainsFunc(b.ways, func(y way) bool {
		return !slices.ContainsFunc(a.ways, func(x way) bool { return covers(x, y) })
	})
}

// covers is sure for patterns that are equal up to where a ends in **, and for plain words.
func covers(a, b way) bool {
	for i, s := range a {
		switch {
		case s.many && i == len(a)-1:
			return true
		case i >= len(b) || s.many != b[i].many:
			return false
		case !s.many && !slices.Equal(s.word, b[i].word):
			return false
		}
	}
	return len(a) == len(b)
}
