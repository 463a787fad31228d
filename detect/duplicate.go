package detect

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Work is done twice when two families of evidence say so (C16). The weights are hundredths of the score.
const (
	weightCode    = 35
	weightWords   = 25
	weightSymbols = 25
	weightFiles   = 15

	duplicateMin Confidence = 55 // the score from which a finding is made

	// How similar a family has to be to count as evidence of its own.
	wordsMin   = 35
	symbolsMin = 30
	codeMin    = 25
	filesMin   = 34 // beside an issue that both name; files alone show nothing
	printsMin  = 12 // fewer fingerprints show nothing

	// Who changes the same declarations, or adds the same ones, need not say so in the same words.
	spotMin     = 50
	restMin     = 32 // of the words that do not name the declarations, where no code can be compared
	restAndCode = 40 // of these words and twice the code
	nearSpotMin = 25 // fewer declarations in common,
	nearAndCode = 55 // and more words and code
	codeAtSpot  = 15 // beside new names
	editsMin    = 50 // of the same lines in the same files, which are enough
	manyEdits   = 3  // places, or beside words that are somewhat alike
)

// unknownFamily is the likeness of what is not known.
const unknownFamily = -1

// likeness is how similar two sides' work is, in hundredths by family.
type likeness struct {
	words, symbols, code, files int
	spot                        int // the same declarations changed
	rest                        int // how alike the words are, those of new names among them, that do not name these
	edits, sameEdits            int // the same lines written in the same files, and how many such places
	issues, names, changed      []string
	paths                       []string // of the files that both change
}

// Comparisons remembers how alike the work of pairs is, so that [Comparisons.Together] costs what changed since the last time. The zero
// value is ready.
type Comparisons struct {
	pairs map[*Party]map[*Party]likeness
}

// work is compareWork, which depends on both parties alone.
func (c *Comparisons) work(p, q *Party) likeness {
	l, ok := c.pairs[p][q]
	if !ok {
		l = compareWork(p, q)
		if c.pairs == nil {
			c.pairs = map[*Party]map[*Party]likeness{}
		}
		if c.pairs[p] == nil {
			c.pairs[p] = map[*Party]likeness{}
		}
		c.pairs[p][q] = l
	}
	return l
}

// keep forgets all parties but these.
func (c *Comparisons) keep(parties []*Party) {
	there := make(map[*Party]bool, len(parties))
	for _, p := range parties {
		there[p] = true
	}
	gone := func(p *Party, _ likeness) bool { return !there[p] }
	for p, with := range c.pairs {
		if !there[p] {
			delete(c.pairs, p)
		} else {
			maps.DeleteFunc(with, gone)
		}
	}
}

// duplicates finds pairs of sides that seem to do the same work; with one, only its own pairs.
func duplicates(r *Report, all []*Party, one *Party, known *Comparisons) {
	var live []*Party
	for _, p := range all {
		if p.Side.live() {
			live = append(live, p)
		}
	}
	words := newCorpus(live)
	for i, p := range live {
		for j, q := range live[:i] {
			if one != nil && p != one && q != one || p.Side.Repo != q.Side.Repo || shareCheckout(p, q) {
				continue
			}
			first, newcomer := p, q
			if d, _ := earlier(p.Digest, q.Digest); d != p.Digest {
				first, newcomer = q, p
			}
			l := known.work(first, newcomer)
			if !l.promising() {
				continue
			}
			if f, ok := duplicate(first, newcomer, l, words.like(i, j)); ok && !shareCommits(p, q) {
				pair := Report{Findings: []Finding{f}}
				pair.plain(&p.Side, &q.Side)
				r.add(pair.Findings...)
			}
		}
	}
}

// shareCommits reports whether half of the files that a side changes, and three at least, are octet by octet what the other made of
// them: then both stand on the work of a third, which nobody does twice.
func shareCommits(p, q *Party) bool {
	same := 0
	for _, f := range p.Files {
		if g := q.files[f.Path]; g != nil && f.Blob != "" && g.Blob == f.Blob {
			same++
		}
	}
	return same >= 3 && 2*same >= min(len(p.Files), len(q.Files))
}

// promising reports whether there is anything but words in which two sides are alike; words alone are never enough.
func (l likeness) promising() bool {
	return len(l.issues) > 0 || len(l.names) > 0 || len(l.changed) > 0 || l.code > 0 || l.sameEdits > 0
}

func duplicate(first, newcomer *Party, l likeness, words func(names []string) (all, rest int)) (Finding, bool) {
	var names []string
	for _, id := range l.changed {
		_, name, _ := strings.Cut(id, "#")
		names = append(names, name)
	}
	l.words, l.rest = words(names)
	families, score := l.families(), l.score()
	if len(families) < 2 || score < duplicateMin {
		return Finding{}, false
	}
	a, b := first.Side, newcomer.Side
	return first.Rules.judge(Finding{
		Kind: DuplicateWork, Confidence: score, Evidence: Inferred,
		Sides: []string{a.Ref, b.Ref}, About: l.about(),
		Sentence: fmt.Sprintf("%s and %s seem to do the same work: %s.", a.Label(), b.Label(), strings.Join(families, "; ")),
		Suggestion: fmt.Sprintf("Agree via message_send between %s and %s which of the two goes on; %s arrived second and can take over another part.",
			a.Ref, b.Ref, b.Ref),
	}, first.Rules.severity(DuplicateWork), b.Ref), true
}

// about is what both do: the issues and symbols, or else the files.
func (l likeness) about() []string {
	if all := slices.Concat(l.issues, l.names, l.changed); len(all) > 0 {
		return distinct(all)
	}
	return l.paths
}

// compareWork is everything but the words. Tests, lock files and generated files say nothing about whose work it is.
func compareWork(p, q *Party) (l likeness) {
	l.issues = common(p.Side.Issues, q.Side.Issues)
	newP, newQ := p.newNames, q.newNames
	l.symbols, l.code = unknownFamily, unknownFamily
	if len(newP) > 0 && len(newQ) > 0 {
		l.names = alike(newP, newQ)
		l.symbols = jaccard(len(l.names), len(newP), len(newQ))
	}
	if p.Grammars == q.Grammars && len(p.Prints) >= printsMin && len(q.Prints) >= printsMin && min(len(p.Prints), len(q.Prints)) < PrintsMax {
		l.code = jaccard(countCommon(p.Prints, q.Prints), len(p.Prints), len(q.Prints))
	}
	l.changed = common(p.changedIDs, q.changedIDs)
	l.spot = jaccard(len(l.changed), len(p.changedIDs), len(q.changedIDs))
	l.sameEdits = countCommon(p.ownEdits, q.ownEdits)
	l.edits = jaccard(l.sameEdits, len(p.ownEdits), len(q.ownEdits))
	l.paths = common(p.ownFiles, q.ownFiles)
	l.files = jaccard(len(l.paths), len(p.ownFiles), len(q.ownFiles))
	return l
}

// families says in words which kinds of evidence speak for a duplicate. The same files alone are none.
func (l likeness) families() (said []string) {
	if len(l.issues) > 0 {
		said = append(said, "both name "+list(l.issues))
	}
	if l.words >= wordsMin || l.oneSpot() && l.rest >= restMin/2 {
		said = append(said, fmt.Sprintf("their tasks are described alike (%d %%)", max(l.words, l.rest)))
	}
	if l.symbols >= symbolsMin {
		said = append(said, fmt.Sprintf("both add %d symbol(s): %s", len(l.names), list(l.names)))
	}
	if l.spot >= spotMin || l.spot >= nearSpotMin && l.oneSpot() {
		said = append(said, fmt.Sprintf("both change %d symbol(s): %s", len(l.changed), list(l.changed)))
	}
	if l.code >= codeMin || l.oneSpot() && l.code >= (restAndCode-restMin/2)/2 {
		said = append(said, fmt.Sprintf("their new code is alike (%d %%)", l.code))
	}
	if l.sameLines() {
		said = append(said, "they change the same files", fmt.Sprintf("they write the same lines there (%d %%)", l.edits))
	}
	if l.oneFix() {
		said = append(said, fmt.Sprintf("they change the same files (%d %%)", l.files))
	}
	return said
}

// oneFix reports whether both name one issue and mend it in the same files: then it is one work, however different the code.
func (l likeness) oneFix() bool { return len(l.issues) > 0 && l.files >= filesMin }

// sameLines reports whether both write mostly the same lines in the same files, and more than a line that any work begins with.
func (l likeness) sameLines() bool {
	return l.edits >= editsMin && (l.sameEdits >= manyEdits || l.words >= wordsMin/2)
}

// oneSpot reports whether both change, or add, mostly the same declarations, in like words or by like code.
func (l likeness) oneSpot() bool {
	known := l.code != unknownFamily
	switch {
	case l.spot >= spotMin && known && max(0, l.rest)+2*l.code >= restAndCode, l.spot >= spotMin && !known && l.rest >= restMin:
		return true
	case l.spot >= nearSpotMin && known && max(0, l.rest)+2*l.code >= nearAndCode:
		return true
	}
	return l.symbols >= spotMin && (l.words >= wordsMin || l.code >= codeAtSpot)
}

// score joins the families. One issue named by both is as good as a task in the same words. A family about which
// nothing is known on some side is left out, and the others carry its weight.
func (l likeness) score() Confidence {
	if len(l.issues) > 0 {
		l.words = 100
	}
	sum, whole := 0, 0
	for _, f := range []struct{ alike, weight int }{
		{l.code, weightCode}, {l.words, weightWords}, {l.symbols, weightSymbols}, {l.files, weightFiles},
	} {
		if f.alike != unknownFamily {
			sum += f.alike * f.weight
			whole += f.weight
		}
	}
	score := Confidence(min(100, sum/max(whole, 1)))
	if l.oneFix() || l.oneSpot() || l.sameLines() {
		return max(score, duplicateMin)
	}
	return score
}

// newName is a name that a party adds, without its file, and its words.
type newName struct {
	name  string
	words []string // ascending
}

// namesMax bounds how many new names of each side are compared in other words.
const namesMax = 64

// alike is the names of p that q has too, in the same words or, of the first ones, most of them: rateCache and CachedRates.
func alike(p, q []newName) (names []string) {
	var restP, restQ []newName
	for i, j := 0, 0; i < len(p) || j < len(q); {
		switch {
		case j == len(q) || i < len(p) && p[i].name < q[j].name:
			restP, i = append(restP, p[i]), i+1
		case i == len(p) || q[j].name < p[i].name:
			restQ, j = append(restQ, q[j]), j+1
		default:
			names, i, j = append(names, p[i].name), i+1, j+1
		}
	}
	restQ = restQ[:min(len(restQ), namesMax)]
	for _, a := range restP[:min(len(restP), namesMax)] {
		if j := slices.IndexFunc(restQ, func(b newName) bool { return sameWords(a.words, b.words) }); j >= 0 {
			names, restQ = append(names, a.name), slices.Delete(restQ, j, j+1)
		}
	}
	return distinct(names)
}

// sameWords reports whether two names share at least two words, and these are two thirds of all.
func sameWords(a, b []string) bool {
	both := len(common(a, b))
	return both >= 2 && jaccard(both, len(a), len(b)) >= 66
}

// listNewNames is what a party adds, ascending and without files: two people who write the same thing rarely choose the
// same file.
func (p *Party) listNewNames() (list []newName) {
	var names []string
	for _, w := range p.works {
		if w.how == Added && !w.test() {
			_, name, _ := strings.Cut(nameOf(w.id), "#")
			names = append(names, name)
		}
	}
	for _, name := range distinct(names) {
		list = append(list, newName{name, slices.Sorted(maps.Keys(wordCounts(name)))})
	}
	return list
}

// wordiestNames is how many new names are read as words of the task; more are too much to be one.
const wordiestNames = 12

// listAbout is the words of a party's task, and those of the names that it adds.
func (p *Party) listAbout() map[string]uint64 {
	about := maps.Clone(p.words)
	if len(p.newNames) > wordiestNames {
		return about
	}
	for _, n := range p.newNames {
		for _, w := range n.words {
			about[w] = max(about[w], 1)
		}
	}
	return about
}

// listChangedIDs is the symbols that a party changes or claims, ascending.
func (p *Party) listChangedIDs() (ids []string) {
	for _, w := range p.works {
		if w.how != Added && !w.test() {
			ids = append(ids, w.id)
		}
	}
	for _, c := range p.claims {
		if c.Kind == SymbolClaim {
			ids = append(ids, c.Pattern)
		}
	}
	return distinct(ids)
}

func (p *Party) listOwnFiles() (paths []string) {
	for _, t := range p.touched {
		if t.file.Made == ByHand {
			paths = append(paths, t.path)
		}
	}
	return distinct(paths)
}

// listOwnEdits is the lines that a party writes into files made by hand, as hashes of them and of their place, ascending.
func (p *Party) listOwnEdits() (edits []uint64) {
	for _, t := range p.touched {
		if t.file.Made != ByHand {
			continue
		}
		place := uint64(14695981039346656037)
		for _, b := range []byte(t.path) {
			place = mix(place ^ uint64(b))
		}
		for _, h := range t.file.Hunks {
			if h.NewLen > 0 {
				edits = append(edits, mix(place^h.Hash))
			}
		}
	}
	slices.Sort(edits)
	return slices.Compact(edits)
}

// common is what two ascending lists share.
func common(a, b []string) (both []string) {
	for i, j := 0, 0; i < len(a) && j < len(b); {
		switch strings.Compare(a[i], b[j]) {
		case -1:
			i++
		case 1:
			j++
		default:
			both = append(both, a[i])
			i, j = i+1, j+1
		}
	}
	return both
}

func countCommon(a, b []uint64) (n int) {
	for i, j := 0, 0; i < len(a) && j < len(b); {
		switch {
		case a[i] < b[j]:
			i++
		case a[i] > b[j]:
			j++
		default:
			n, i, j = n+1, i+1, j+1
		}
	}
	return n
}

// jaccard is the size of an intersection against that of the union, in hundredths.
func jaccard(both, a, b int) int {
	if both == 0 {
		return 0
	}
	return 100 * both / (a + b - both)
}
