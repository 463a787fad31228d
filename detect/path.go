package detect

import (
	"fmt"
	"slices"
	"strings"
)

// How sure an overlap of paths is, by how specific the match is (C2).
const (
	bothEdited       Confidence = 90
	editedAndNamed   Confidence = 80 // a claim spells the path
	bothNamed        Confidence = 70
	editedAndCovered Confidence = 60 // a claim's glob matches the path
	namedAndCovered  Confidence = 50
	sameGlob         Confidence = 50
	globWithin       Confidence = 40
	globsOverlap     Confidence = 30
)

// shared is what two sides have in common, as it is gathered.
type shared struct {
	names      []string
	confidence Confidence
	evidence   Evidence
	from       []Source
}

func (s *shared) add(name string, c Confidence, e Evidence, from ...Source) {
	if slices.Contains(s.names, name) && c <= s.confidence {
		return
	}
	s.names = append(s.names, name)
	s.from = append(s.from, from...)
	if c > s.confidence {
		s.confidence, s.evidence = c, e
	}
}

// pathOverlap finds the paths that both sides touch or claim.
func (m *meeting) pathOverlap() {
	var s shared
	m.editedByBoth(func(a, b touch) {
		s.add(a.path, bothEdited, Observed, m.a.source(a.file), m.b.source(b.file))
	})
	m.editedAndClaimed(&s, m.a, m.b)
	m.editedAndClaimed(&s, m.b, m.a)
	m.claimedByBoth(&s)
	if s.confidence == 0 {
		return
	}
	a, b := m.a, m.b
	s.names = distinct(s.names)
	m.add(m.rules.judge(Finding{
		Kind: PathOverlap, Confidence: s.confidence, Evidence: s.evidence,
		Sides: []string{a.Side.Ref, b.Side.Ref}, About: s.names, From: s.from,
		Sentence: fmt.Sprintf("%s and %s overlap on %d path(s): %s.", a.Side.Label(), b.Side.Label(), len(s.names), list(s.names)),
		Suggestion: fmt.Sprintf("Narrow scope to avoid the shared paths, or coordinate via message_send between %s and %s; "+
			"if both must change them, agree on an order (conflict_respond propose_sequence).", a.Side.Ref, b.Side.Ref),
	}, m.rules.severity(PathOverlap), b.Side.Ref))
}

// editedByBoth walks the paths that both sides changed, and not to the same content.
func (m *meeting) editedByBoth(found func(a, b touch)) {
	as, bs := m.a.touches(m.folds), m.b.touches(m.folds)
	for i, j := 0, 0; i < len(as) && j < len(bs); {
		switch {
		case as[i].key < bs[j].key:
			i++
		case bs[j].key < as[i].key:
			j++
		default:
			nextI, nextJ := sameKey(as, i), sameKey(bs, j)
			for _, x := range as[i:nextI] {
				for _, y := range bs[j:nextJ] {
					if !sameResult(x.file, y.file) {
						found(x, y)
					}
				}
			}
			i, j = nextI, nextJ
		}
	}
}

// sameKey is where the touches with the key of the one at i end.
func sameKey(list []touch, i int) int {
	k := list[i].key
	for i < len(list) && list[i].key == k {
		i++
	}
	return i
}

// sameResult reports whether two sides left the same file behind; then one has the other's work already.
func sameResult(a, b *File) bool {
	return a.Path == b.Path && a.From == b.From && a.Blob == b.Blob && a.Mode == b.Mode
}

// editedAndClaimed finds what one side changed and the other claims.
func (m *meeting) editedAndClaimed(s *shared, editor, claimer *Party) {
	for _, c := range claimer.claims {
		if c.Kind != PathClaim {
			continue
		}
		for _, t := range editor.touchesFrom(c.head(m.folds), m.folds) {
			if !c.matches(t, m.folds) || m.settled(t, claimer) {
				continue
			}
			how := editedAndCovered
			if c.Pattern == t.path {
				how = editedAndNamed
			}
			s.add(t.path, how, Declared, editor.source(t.file))
		}
	}
}

// settled reports whether the claimer has changed the path too, so that editedByBoth has judged it.
func (m *meeting) settled(t touch, claimer *Party) bool {
	f := claimer.files[t.path]
	return f != nil && sameResult(f, t.file)
}

func (m *meeting) claimedByBoth(s *shared) {
	m.claimsAlike(func(x, y *claim) {
		if !x.overlaps(y.pattern, m.folds) {
			return
		}
		name, how := jointClaim(x, y)
		if !m.rules.ignores(name, m.folds) {
			s.add(name, how, Declared)
		}
	})
}

// claimsAlike walks the claims of both sides on paths of which one's head begins with the other's: no others overlap.
// Both are in order, and a head stands before those that begin with it; so it looks at each claim once.
func (m *meeting) claimsAlike(found func(x, y *claim)) {
	as, bs := m.a.heads(m.folds), m.b.heads(m.folds)
	var a, b []*claim // whose heads the present one begins with
	for len(as) > 0 && (len(bs) > 0 || len(b) > 0) || len(bs) > 0 && len(a) > 0 {
		if len(bs) == 0 || len(as) > 0 && as[0].head(m.folds) <= bs[0].head(m.folds) {
			x := as[0]
			a, b = m.opened(a, x), m.opened(b, x)
			for _, y := range b {
				found(x, y)
			}
			a, as = append(a, x), as[1:]
			continue
		}
		y := bs[0]
		a, b = m.opened(a, y), m.opened(b, y)
		for _, x := range a {
			found(x, y)
		}
		b, bs = append(b, y), bs[1:]
	}
}

// opened leaves of claims that begin with each other those whose head another one begins with.
func (m *meeting) opened(open []*claim, c *claim) []*claim {
	n := len(open)
	for n > 0 && !strings.HasPrefix(c.head(m.folds), open[n-1].head(m.folds)) {
		n--
	}
	return open[:n]
}

// jointClaim names what two overlapping claims have in common, and how specific that is.
func jointClaim(x, y *claim) (string, Confidence) {
	switch {
	case x.plain.Plain() && y.plain.Plain():
		return x.Pattern, bothNamed
	case x.plain.Plain():
		return x.Pattern, namedAndCovered
	case y.plain.Plain():
		return y.Pattern, namedAndCovered
	case x.Pattern == y.Pattern:
		return x.Pattern, sameGlob
	case Within(x.plain, y.plain):
		return y.Pattern, globWithin
	case Within(y.plain, x.plain):
		return x.Pattern, globWithin
	}
	first, second := min(x.Pattern, y.Pattern), max(x.Pattern, y.Pattern)
	return first + " & " + second, globsOverlap
}

// exclusive finds edits that are about to happen where the other side holds an exclusive claim.
func (m *meeting) exclusive(holder, other *Party) {
	var held []string
	for _, c := range holder.claims {
		if c.Kind != PathClaim || !c.Exclusive {
			continue
		}
		paths := m.upcoming(other, func(path string) bool {
			return c.match(path, m.folds) && !m.heldBefore(other, holder, path, c.Since)
		})
		switch {
		case len(paths) == 0 || c.Covers > m.rules.policy.ExclusiveMaxFiles:
		case c.Covers < 0:
			m.doubt(PathOverlap, fmt.Sprintf("it is not known how many files the exclusive claim on %s covers", c.Pattern), holder.Side.Ref, other.Side.Ref)
		default:
			var late, early []string
			for _, path := range paths {
				if m.thereBefore(other, path, c.Since) {
					early = append(early, path)
				} else {
					late = append(late, path)
				}
			}
			m.addExclusive(holder, other, c.Pattern, late, Declared, Block)
			m.addExclusive(holder, other, c.Pattern, early, Declared, Warn)
			held = append(held, paths...)
		}
	}
	first := func(path string) bool { return !slices.Contains(held, path) && m.touchedFirst(holder, other, path) }
	for _, path := range m.upcoming(other, first) {
		m.addExclusive(holder, other, path, []string{path}, Observed, Block)
	}
}

// upcoming lists the paths that a party is about to edit and that fit.
func (m *meeting) upcoming(p *Party, fits func(path string) bool) (paths []string) {
	for _, u := range p.Upcoming {
		if fits(u.Path) && !m.rules.ignores(u.Path, m.folds) {
			paths = append(paths, u.Path)
		}
	}
	return distinct(paths)
}

// heldBefore reports whether a party has an exclusive claim of its own on the path that is older than what another has
// since, and not on too many files to count. Of two that are of one time one is the older, or both would wait.
func (m *meeting) heldBefore(p, than *Party, path string, since uint64) bool {
	return slices.ContainsFunc(p.claims, func(c claim) bool {
		older := c.Since < since || c.Since == since && CompareRefs(p.Side.Ref, than.Side.Ref) < 0
		return c.Kind == PathClaim && c.Exclusive && older && c.Covers <= m.rules.policy.ExclusiveMaxFiles && c.match(path, m.folds)
	})
}

// thereBefore reports whether a party touched or claimed a path before somebody else's claim: then it is not the
// newcomer there, and is not blocked (C9).
func (m *meeting) thereBefore(p *Party, path string, claimed uint64) bool {
	since, touched := p.since(path, m.folds)
	return touched && since < claimed || slices.ContainsFunc(p.claims, func(c claim) bool {
		return c.Kind == PathClaim && c.Since < claimed && c.match(path, m.folds)
	})
}

// touchedFirst reports whether the policy makes the path exclusive and the holder was there first, by a touch that no
// exclusive claim of the other is older than; else the two would wait for each other.
func (m *meeting) touchedFirst(holder, other *Party, path string) bool {
	byDefault := slices.ContainsFunc(m.rules.exclusive, func(p pattern) bool { return p.match(path, m.folds) })
	if !byDefault {
		return false
	}
	since, held := holder.since(path, m.folds)
	before, was := other.since(path, m.folds)
	return held && !m.heldBefore(other, holder, path, since) && (!was || since < before || since == before && CompareRefs(holder.Side.Ref, other.Side.Ref) < 0)
}

// since is when a party first touched a path.
func (p *Party) since(path string, folds bool) (uint64, bool) {
	k := key(path, folds)
	for _, t := range p.touches(folds) {
		if t.key == k {
			if t.file.Since == 0 {
				return p.Side.Arrived, true
			}
			return t.file.Since, true
		}
	}
	return 0, false
}

func (m *meeting) addExclusive(holder, other *Party, pattern string, paths []string, e Evidence, start Severity) {
	if len(paths) == 0 {
		return
	}
	m.add(m.rules.judge(Finding{
		Kind: PathOverlap, Confidence: bothEdited, Evidence: e, Exclusive: true,
		Sides: []string{holder.Side.Ref, other.Side.Ref}, About: distinct(append([]string{pattern}, paths...)),
		Sentence: fmt.Sprintf("%s holds an exclusive claim on %s covering %s; %s is about to edit it.",
			holder.Side.Label(), pattern, list(paths), other.Side.Label()),
		Suggestion: fmt.Sprintf("Wait until %s is done or releases the claim, or ask for it via message_send to %s.", holder.Side.Ref, holder.Side.Ref),
	}, start, other.Side.Ref))
}
