package detect

import "slices"

// Meeting is what is known of two sides together, beyond their digests.
type Meeting struct {
	// Base is the pair's merge base. FilesA and FilesB are the two sides' changes since then; where both digests
	// have that Base they may be left out. An empty Base says that the pair's is not known.
	Base           string
	FilesA, FilesB []File
	Git            *Merge // git's own answer, where both sides' contents are at hand
}

// meeting is the work on one pair. a arrived first.
type meeting struct {
	Report
	rules *Rules
	a, b  *Party
	folds bool
	with  Meeting
}

// Meet finds everything between two sides, except what concerns more than two.
func Meet(a, b *Party, with Meeting) Report {
	if first, _ := earlier(a.Digest, b.Digest); first != a.Digest {
		a, b = b, a
		with.FilesA, with.FilesB = with.FilesB, with.FilesA
		with.Git = with.Git.swapped()
	}
	m := &meeting{rules: a.Rules, a: a, b: b, folds: a.Side.Folds || b.Side.Folds, with: with}
	if a.Side.Repo == b.Side.Repo && a.Side.live() && b.Side.live() {
		m.pathOverlap()
		m.exclusive(a, b)
		m.exclusive(b, a)
		m.symbolOverlap()
		if !shareCheckout(a, b) { // they write into the same files: there is nothing to merge
			m.textualMerge()
		}
	}
	m.contractBreaks(a, b)
	m.contractBreaks(b, a)
	m.plain(&a.Side, &b.Side)
	m.Sort()
	return m.Report
}

// shareCheckout reports whether two sides work in one working copy, where each has the other's work already.
func shareCheckout(a, b *Party) bool {
	return a.Side.Checkout != "" && a.Side.Checkout == b.Side.Checkout
}

// Alone finds what one side does by itself: what falls under a protected path.
func Alone(p *Party) Report {
	var r Report
	if p.Side.live() {
		r.add(p.protectedPaths()...)
		r.plain(&p.Side)
	}
	r.Doubts = append(r.Doubts, p.doubts...)
	r.Sort()
	return r
}

// Together finds what concerns any number of sides: the order of dependencies, and work that is done twice.
func Together(all []*Party) Report { return new(Comparisons).Together(all) }

// Together is [Together] of parties of which it may know some.
func (c *Comparisons) Together(all []*Party) Report {
	var r Report
	dependencies(&r, all)
	duplicates(&r, all, nil, c)
	c.keep(all)
	r.Sort()
	return r
}

// All is everything about a set of sides whose digests have one base.
func All(all []*Party) Report {
	r := Together(all)
	for i, p := range all {
		r.Add(Alone(p))
		for _, q := range all[:i] {
			r.Add(Meet(p, q, Meeting{Base: commonBase(p, q)}))
		}
	}
	r.Sort()
	return r
}

// Around is what [All] finds that concerns one of the sides, for the moment after it changed.
func Around(p *Party, others []*Party) Report {
	var r Report
	all := append([]*Party{p}, others...)
	dependencies(&r, all)
	r.Findings = slices.DeleteFunc(r.Findings, func(f Finding) bool { return !slices.Contains(f.Sides, p.Side.Ref) })
	r.Doubts = slices.DeleteFunc(r.Doubts, func(d Doubt) bool { return !slices.Contains(d.Sides, p.Side.Ref) })
	duplicates(&r, all, p, new(Comparisons))
	r.Add(Alone(p))
	for _, q := range others {
		r.Add(Meet(p, q, Meeting{Base: commonBase(p, q)}))
	}
	r.Sort()
	return r
}

// commonBase is the base of both, "" when they have none in common.
func commonBase(a, b *Party) string {
	if a.Base == b.Base {
		return a.Base
	}
	return ""
}

// Add joins another report; [Report.Sort] puts the whole in order.
func (r *Report) Add(other Report) {
	r.Findings = append(r.Findings, other.Findings...)
	r.Doubts = append(r.Doubts, other.Doubts...)
}
