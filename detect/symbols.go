package detect

import (
	"fmt"
	"slices"
	"strings"
)

// How sure an overlap on a symbol is (C3).
const (
	graveAndEdit     Confidence = 95 // a signature change or removal against any edit
	bothAddSymbol    Confidence = 85
	compatibleEdits  Confidence = 75
	graveAndClaim    Confidence = 70
	editAndClaim     Confidence = 60
	bothClaimSymbol  Confidence = 40
	unsureParse      Confidence = 80 // the most that a parse with errors can show
	throughContainer            = 60 // hundredths of it
	inTests                     = 60
)

// encounter is two works that concern each other. The first is the graver, or the earlier side's.
type encounter struct {
	x, y       work
	px, py     *Party
	confidence Confidence
}

// symbolOverlap finds the symbols that both sides change or claim.
func (m *meeting) symbolOverlap() {
	var met []encounter
	for _, x := range m.a.works {
		met = append(met, m.sameSymbol(x)...)
		met = append(met, m.samePackage(x)...)
		met = append(met, m.around(x, m.a, m.b)...)
		if m.b.hasClaim(SymbolClaim, x.id) {
			met = append(met, m.encounter(x, work{id: x.id, sure: true}, m.a, m.b))
		}
	}
	for _, y := range m.b.works {
		met = append(met, m.around(y, m.b, m.a)...)
		if m.a.hasClaim(SymbolClaim, y.id) {
			met = append(met, m.encounter(work{id: y.id, sure: true}, y, m.a, m.b))
		}
	}
	met = append(met, m.bothClaim()...)
	if len(met) > 0 {
		m.addSymbols(met)
	}
	m.unreadSymbols()
}

// unreadSymbols doubts files that both sides changed and of which one at least could not be read: slow computers
// may meet the time limit where others do not.
func (m *meeting) unreadSymbols() {
	var paths []string
	m.editedByBoth(func(a, b touch) {
		if a.file.Quality >= Failed || b.file.Quality >= Failed {
			paths = append(paths, a.path)
		}
	})
	if len(paths) > 0 {
		m.doubt(SymbolOverlap, fmt.Sprintf("whether both change the same symbols of %s: not all of it could be read as code", list(distinct(paths))),
			m.a.Side.Ref, m.b.Side.Ref)
	}
}

func (m *meeting) sameSymbol(x work) (met []encounter) {
	for _, y := range m.b.on(x.id) {
		if m.sameChange(x, y) {
			continue
		}
		met = append(met, m.encounter(x, y, m.a, m.b))
	}
	return met
}

// samePackage meets a new declaration with one of the same name that the other side adds to another file of the package: both
// cannot be in it if they are built together.
func (m *meeting) samePackage(x work) (met []encounter) {
	if x.how != Added || x.change.Symbol.Package == "" || strings.HasSuffix(x.id, "#main") {
		return nil
	}
	for _, i := range m.b.added[x.change.Symbol.Package] {
		if y := m.b.works[i]; y.id != x.id && builtTogether(symbolPath(x.id), symbolPath(y.id)) && !builtApart(&x.change.Symbol, &y.change.Symbol) {
			met = append(met, m.encounter(x, y, m.a, m.b))
		}
	}
	return met
}

// around meets a member of one side with the container of the other.
func (m *meeting) around(x work, px, py *Party) (met []encounter) {
	c := x.container()
	if c == "" {
		return nil
	}
	for _, y := range py.on(c) {
		if y.how == Added || y.how == Moved {
			continue // then the member is a part of the same addition
		}
		e := m.encounter(x, y, px, py)
		e.confidence = e.confidence.scaled(throughContainer)
		met = append(met, e)
	}
	if len(py.on(x.id)) == 0 && py.hasClaim(SymbolClaim, c) {
		e := m.encounter(x, work{id: c, sure: true}, px, py)
		e.confidence = e.confidence.scaled(throughContainer)
		met = append(met, e)
	}
	return met
}

func (m *meeting) bothClaim() (met []encounter) {
	for _, c := range m.a.claims {
		if c.Kind == SymbolClaim && m.b.hasClaim(SymbolClaim, c.Pattern) {
			w := work{id: c.Pattern, sure: true}
			met = append(met, m.encounter(w, w, m.a, m.b))
		}
	}
	return met
}

// sameChange reports whether both sides did the very same thing, as far as hashes of one set of grammars show.
func (m *meeting) sameChange(x, y work) bool {
	if m.a.Grammars == "" || m.a.Grammars != m.b.Grammars || x.how != y.how {
		return false
	}
	p, q := &x.change.Symbol, &y.change.Symbol
	return x.how == Removed || p.SignatureHash == q.SignatureHash && p.BodyHash == q.BodyHash && p.ID == q.ID
}

func (m *meeting) encounter(x, y work, px, py *Party) encounter {
	e := encounter{x: x, y: y, px: px, py: py}
	if y.how > x.how || y.how == x.how && px == m.b {
		e = encounter{x: y, y: x, px: py, py: px}
	}
	grave := e.x.how >= SignatureChanged
	switch {
	case e.x.how == 0:
		e.confidence = bothClaimSymbol
	case grave && e.y.how == 0:
		e.confidence = graveAndClaim
	case e.y.how == 0:
		e.confidence = editAndClaim
	case grave:
		e.confidence = graveAndEdit
	case e.x.how == Added && e.y.how == Added:
		e.confidence = bothAddSymbol
	default:
		e.confidence = compatibleEdits
	}
	if !x.sure || !y.sure {
		e.confidence = min(e.confidence, unsureParse)
	}
	if x.test() || y.test() {
		e.confidence = e.confidence.scaled(inTests)
	}
	return e
}

// clausesMax is for how many symbols a sentence says who does what.
const clausesMax = 3

func (m *meeting) addSymbols(met []encounter) {
	slices.SortStableFunc(met, func(a, b encounter) int {
		return firstOf(int(b.confidence)-int(a.confidence), strings.Compare(a.x.id, b.x.id), strings.Compare(a.y.id, b.y.id))
	})
	var ids, clauses []string
	var from []Source
	for _, e := range met {
		ids = append(ids, e.x.id)
		if c := e.clause(); len(clauses) < clausesMax && !slices.Contains(clauses, c) {
			clauses = append(clauses, c)
		}
		from = append(from, e.px.symbolSource(e.x)...)
		from = append(from, e.py.symbolSource(e.y)...)
	}
	first := met[0]
	ids = distinct(ids)
	m.add(m.rules.judge(Finding{
		Kind: SymbolOverlap, Confidence: first.confidence, Evidence: first.evidence(),
		Sides: []string{m.a.Side.Ref, m.b.Side.Ref}, About: ids, From: distinctSources(from),
		Sentence: fmt.Sprintf("%s and %s both work on %d symbol(s): %s. %s",
			m.a.Side.Label(), m.b.Side.Label(), len(ids), list(ids), strings.Join(clauses, " ")),
		Suggestion: fmt.Sprintf("Sequence the work: %s rebases after %s merges (conflict_respond will_rebase), split the symbol's work, "+
			"or coordinate via message_send to %s.", first.py.Side.Ref, first.px.Side.Ref, first.px.Side.Ref),
	}, m.loudness(met), m.b.Side.Ref))
}

// loudness is where an overlap on symbols starts. Edits of both that meet in tests or through a container alone, and change
// nobody's signature, only inform: where they touch the same lines the merge of the text warns.
func (m *meeting) loudness(met []encounter) Severity {
	start := m.rules.severity(SymbolOverlap)
	loud := func(e encounter) bool {
		return e.x.how == 0 || e.y.how == 0 || e.x.how >= SignatureChanged || e.confidence >= compatibleEdits
	}
	if start == Warn && !slices.ContainsFunc(met, loud) {
		return Info
	}
	return start
}

func (e encounter) clause() string {
	it := "it"
	if e.y.id != e.x.id {
		it = e.y.id
	}
	return fmt.Sprintf("%s %s %s; %s %s %s.", e.px.Side.Ref, e.x.verb(), e.x.id, e.py.Side.Ref, e.y.verb(), it)
}

func (e encounter) evidence() Evidence {
	if e.x.how == 0 || e.y.how == 0 {
		return Declared
	}
	return Observed
}

// symbolSource is the file that a work was seen in.
func (p *Party) symbolSource(w work) []Source {
	if w.change == nil {
		return nil
	}
	if f := p.files[symbolPath(w.change.Symbol.ID)]; f != nil {
		return []Source{p.source(f)}
	}
	return nil
}

func distinctSources(list []Source) []Source {
	slices.SortFunc(list, func(a, b Source) int {
		return firstOf(CompareRefs(a.Side, b.Side), strings.Compare(a.Path, b.Path), strings.Compare(a.New, b.New))
	})
	return slices.Compact(list)
}
