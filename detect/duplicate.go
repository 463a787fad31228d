package detect

import (
	"fmt"
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
	wordsAtSpot = 40
	codeAtSpot  = 15
)

// unknownFamily is the likeness of what is not known.
const unknownFamily = -1

// likeness is how similar two sides' work is, in hundredths by family.
type likeness struct {
	words, symbols, code, files int
	spot                        int // the same declarations changed
	issues, names, changed      []string
}

// duplicates finds pairs of sides that seem to do the same work; with one, only its own pairs.
func duplicates(r *Report, all []*Party, one *Party) {
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
			if f, ok := duplicate(p, q, words.similar(i, j)); ok {
				pair := Report{Findings: []Finding{f}}
				pair.plain(&p.Side, &q.Side)
				r.add(pair.Findings...)
			}
		}
	}
}

func duplicate(p, q *Party, words int) (Finding, bool) {
	first, newcomer := p, q
	if d, _ := earlier(p.Digest, q.Digest); d != p.Digest {
		first, newcomer = q, p
	}
	l := compareWork(first, newcomer)
	l.words = words
	families, score := l.families(), l.score()
	if len(families) < 2 || score < duplicateMin {
		return Finding{}, false
	}
	a, b := first.Side, newcomer.Side
	return first.Rules.judge(Finding{
		Kind: DuplicateWork, Confidence: score, Evidence: Inferred,
		Sides: []string{a.Ref, b.Ref}, About: distinct(slices.Concat(l.issues, l.names, l.changed)),
		Sentence: fmt.Sprintf("%s and %s seem to do the same work: %s.", a.Label(), b.Label(), strings.Join(families, "; ")),
		Suggestion: fmt.Sprintf("Agree via message_send between %s and %s which of the two goes on; %s arrived second and can take over another part.",
			a.Ref, b.Ref, b.Ref),
	}, min(first.Rules.severity(DuplicateWork), Warn), b.Ref), true
}

// compareWork is everything but the words. Tests, lock files and generated files say nothing about whose work it is.
func compareWork(p, q *Party) (l likeness) {
	l.issues = common(p.Side.Issues, q.Side.Issues)
	newP, newQ := p.newNames, q.newNames
	l.names = common(newP, newQ)
	l.symbols, l.code = unknownFamily, unknownFamily
	if len(newP) > 0 && len(newQ) > 0 {
		l.symbols = jaccard(len(l.names), len(newP), len(newQ))
	}
	if p.Grammars == q.Grammars && len(p.Prints) >= printsMin && len(q.Prints) >= printsMin {
		l.code = jaccard(countCommon(p.Prints, q.Prints), len(p.Prints), len(q.Prints))
	}
	l.changed = common(p.changedIDs, q.changedIDs)
	l.spot = jaccard(len(l.changed), len(p.changedIDs), len(q.changedIDs))
	filesP, filesQ := p.ownFiles, q.ownFiles
	l.files = jaccard(len(common(filesP, filesQ)), len(filesP), len(filesQ))
	return l
}

// families says in words which kinds of evidence speak for a duplicate. The same files alone are none.
func (l likeness) families() (said []string) {
	if len(l.issues) > 0 {
		said = append(said, "both name "+list(l.issues))
	}
	if l.words >= wordsMin {
		said = append(said, fmt.Sprintf("their tasks are described alike (%d %%)", l.words))
	}
	if l.symbols >= symbolsMin {
		said = append(said, fmt.Sprintf("both add %d symbol(s): %s", len(l.names), list(l.names)))
	}
	if l.spot >= spotMin {
		said = append(said, fmt.Sprintf("both change %d symbol(s): %s", len(l.changed), list(l.changed)))
	}
	if l.code >= codeMin || l.oneSpot() && l.code >= codeAtSpot {
		said = append(said, fmt.Sprintf("their new code is alike (%d %%)", l.code))
	}
	if l.oneFix() {
		said = append(said, fmt.Sprintf("they change the same files (%d %%)", l.files))
	}
	return said
}

// oneFix reports whether both name one issue and mend it in the same files: then it is one work, however different the code.
func (l likeness) oneFix() bool { return len(l.issues) > 0 && l.files >= filesMin }

// oneSpot reports whether both change, or add, mostly the same declarations, in like words or by like code.
func (l likeness) oneSpot() bool {
	return max(l.spot, l.symbols) >= spotMin && (l.words >= wordsAtSpot || l.code >= codeAtSpot)
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
	if l.oneFix() || l.oneSpot() {
		return max(score, duplicateMin)
	}
	return score
}

// listNewNames is the names, without their files, of what a party adds, ascending: two people who write the same thing
// rarely choose the same file.
func (p *Party) listNewNames() (names []string) {
	for _, w := range p.works {
		if w.how == Added && !w.test() {
			_, name, _ := strings.Cut(nameOf(w.id), "#")
			names = append(names, name)
		}
	}
	return distinct(names)
}

// listChangedIDs is the symbols that a party changes, ascending.
func (p *Party) listChangedIDs() (ids []string) {
	for _, w := range p.works {
		if w.how != Added && !w.test() {
			ids = append(ids, w.id)
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
