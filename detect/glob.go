package detect

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Glob is a pattern over paths: * and ? within a segment, [a-z] and [!a-z], {one,two}, and ** for any number of
// whole segments. Every segment is also taken at its word, so that app/[id]/page.tsx names the file of that name.
// The zero value matches nothing.
type Glob struct {
	text string
	ways []way
}

// way is a pattern without braces.
type way []segment

// segment matches one part of a path between slashes, or any number of them.
type segment struct {
	many   bool // **
	word   []rune
	tokens []token
}

// token matches one rune, or any number of them.
type token struct {
	star bool
	set  runes
}

// patternMax is the greatest length of a pattern, in bytes; that of a path (D-7).
const patternMax = 1024

// expandedMax bounds what braces may stand for, in bytes, and with it the time that two patterns take to compare.
const expandedMax = 8 * patternMax

var (
	errEmpty    = errors.New("it is empty")
	errLong     = fmt.Errorf("it is longer than %d bytes", patternMax)
	errAbsolute = errors.New("it starts with a slash; paths are relative to the top of the repository")
	errDots     = errors.New(`one of its parts is empty, "." or ".."`)
	errBraces   = fmt.Errorf("its braces do not close, or stand for more than %d bytes", expandedMax)
	errClass    = errors.New("it has a [ that does not close, or an empty range")
	errEscape   = errors.New("it ends in a backslash")
)

// ParseGlob reads a pattern. One that ends in a slash covers everything below that directory.
func ParseGlob(pattern string) (Glob, error) {
	return parseGlob(pattern, false)
}

// ParseFoldedGlob is as [ParseGlob], for paths that went through [Fold].
func ParseFoldedGlob(pattern string) (Glob, error) {
	return parseGlob(pattern, true)
}

func parseGlob(pattern string, folded bool) (Glob, error) {
	g := Glob{text: pattern}
	fail := func(err error) (Glob, error) { return Glob{}, fmt.Errorf("glob %q: %w", pattern, err) }
	switch {
	case pattern == "":
		return fail(errEmpty)
	case len(pattern) > patternMax:
		return fail(errLong)
	case pattern[0] == '/':
		return fail(errAbsolute)
	case pattern[len(pattern)-1] == '/':
		pattern += "**"
	}
	if folded {
		pattern = compose(pattern)
	}
	expanded, err := expand(pattern)
	if err != nil {
		return fail(err)
	}
	for _, e := range expanded {
		w, err := parseWay(e, folded)
		if err != nil {
			return fail(err)
		}
		g.ways = append(g.ways, w)
	}
	if len(expanded) > 1 {
		g.ways = append(g.ways, spelled(pattern, folded))
	}
	return g, nil
}

// spelled is the one path that a pattern with braces spells.
func spelled(pattern string, folded bool) (w way) {
	for part := range strings.SplitSeq(pattern, "/") {
		if folded {
			part = Fold(part)
		}
		s := segment{word: []rune(part)}
		for _, r := range s.word {
			s.tokens = append(s.tokens, token{set: runes{{r, r}}})
		}
		w = append(w, s)
	}
	return w
}

// String is the pattern as it was written.
func (g Glob) String() string { return g.text }

// Plain reports whether the pattern can only mean the one path that it spells.
func (g Glob) Plain() bool {
	return !strings.ContainsAny(g.text, `*?[{\`) && !strings.HasSuffix(g.text, "/")
}

// expand lists what the braces of a pattern stand for. Braces around a single word may also be meant.
func expand(pattern string) ([]string, error) {
	open, end, err := braces(pattern)
	if err != nil || open < 0 {
		return []string{pattern}, err
	}
	size := 0
	before, inner, after := pattern[:open], pattern[open+1:end], pattern[end+1:]
	choices := alternatives(inner)
	if len(choices) == 1 {
		choices = append(choices, `\{`+inner+`\}`)
	}
	var all []string
	for _, c := range choices {
		some, err := expand(before + c + after)
		if err != nil {
			return nil, err
		}
		for _, s := range some {
			size += len(s) + 1 // braces may stand for nothing
		}
		if all = append(all, some...); size > expandedMax {
			return nil, errBraces
		}
	}
	return all, nil
}

// braces is where the first pair of braces stands; -1 when there is none. It reads no further than that pair.
func braces(s string) (open, end int, err error) {
	open = -1
	depth := 0
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '[':
			if i = classEnd(s, i); i < 0 {
				return 0, 0, errClass
			}
		case '{':
			if depth++; depth == 1 {
				open = i
			}
		case '}':
			if depth == 0 {
				continue
			}
			if depth--; depth == 0 {
				return open, i, nil
			}
		}
	}
	if depth > 0 {
		return 0, 0, errBraces
	}
	return -1, -1, nil
}

// alternatives splits what stands between braces at its own commas.
func alternatives(s string) (all []string) {
	depth, from := 0, 0
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '[':
			i = max(i, classEnd(s, i))
		case '{':
			depth++
		case '}':
			depth--
		case ',':
			if depth == 0 {
				all = append(all, s[from:i])
				from = i + 1
			}
		}
	}
	return append(all, s[from:])
}

// classEnd is where the class that starts at i ends, or -1. A ] that stands first is one of its members.
func classEnd(s string, i int) int {
	j := i + 1
	if j < len(s) && (s[j] == '!' || s[j] == '^') {
		j++
	}
	for first := true; j < len(s) && s[j] != '/'; j, first = j+1, false {
		switch {
		case s[j] == '\\':
			j++
		case s[j] == ']' && !first:
			return j
		}
	}
	return -1
}

func parseWay(pattern string, folded bool) (way, error) {
	var w way
	for part := range strings.SplitSeq(pattern, "/") {
		switch part {
		case "", ".", "..":
			return nil, errDots
		case "**":
			if len(w) == 0 || !w[len(w)-1].many {
				w = append(w, segment{many: true})
			}
			continue
		}
		tokens, err := parseTokens(part, folded)
		if err != nil {
			return nil, err
		}
		word := part
		if folded {
			word = Fold(part)
		}
		w = append(w, segment{word: []rune(word), tokens: tokens})
	}
	return w, nil
}

func parseTokens(part string, folded bool) (tokens []token, err error) {
	one := func(r rune) {
		if folded {
			r = foldRune(r)
		}
		tokens = append(tokens, token{set: runes{{r, r}}})
	}
	for i := 0; i < len(part); {
		r, size := decode(part[i:])
		switch r {
		case '*':
			if n := len(tokens); n == 0 || !tokens[n-1].star {
				tokens = append(tokens, token{star: true})
			}
		case '?':
			tokens = append(tokens, token{set: everyRune})
		case '\\':
			if i+size == len(part) {
				return nil, errEscape
			}
			r, n := decode(part[i+size:])
			one(r)
			size += n
		case '[':
			end := classEnd(part, i)
			if end < 0 {
				return nil, errClass
			}
			set, err := parseClass(part[i+1:end], folded)
			if err != nil {
				return nil, err
			}
			tokens = append(tokens, token{set: set})
			size = end + 1 - i
		default:
			one(r)
		}
		i += size
	}
	return tokens, nil
}

// Match reports whether the pattern matches a path. A path that is empty, or has an empty segment, is matched by
// nothing.
func (g Glob) Match(path string) bool {
	return g.matchParts(splitRunes(path))
}

func (g Glob) matchParts(parts [][]rune) bool {
	return parts != nil && slices.ContainsFunc(g.ways, func(w way) bool { return w.match(parts) })
}

// splitRunes is a path in segments; nil when one is empty.
func splitRunes(path string) (parts [][]rune) {
	for part := range strings.SplitSeq(path, "/") {
		if part == "" {
			return nil
		}
		parts = append(parts, []rune(part))
	}
	return parts
}

func (w way) match(parts [][]rune) bool {
	return fits(w, parts, func(s segment) bool { return s.many }, segment.match)
}

func (s segment) match(part []rune) bool {
	return slices.Equal(s.word, part) || matchTokens(s.tokens, part)
}

func matchTokens(tokens []token, part []rune) bool {
	return fits(tokens, part, func(t token) bool { return t.star }, func(t token, r rune) bool { return t.set.has(r) })
}

// fits reports whether a pattern covers all of something. It takes as little as possible for what stands for any
// number, and more only when the rest does not match.
func fits[P, E any](pattern []P, all []E, many func(P) bool, match func(P, E) bool) bool {
	i, j := 0, 0
	again, from := -1, 0
	for j < len(all) {
		switch {
		case i < len(pattern) && many(pattern[i]):
			again, from = i, j
			i++
			continue
		case i < len(pattern) && match(pattern[i], all[j]):
			i, j = i+1, j+1
			continue
		case again < 0:
			return false
		}
		from++
		i, j = again+1, from
	}
	for i < len(pattern) && many(pattern[i]) {
		i++
	}
	return i == len(pattern)
}
