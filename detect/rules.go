package detect

import (
	"fmt"
	"slices"
	"strings"
)

// Rules is a policy made ready to judge. It is read only.
type Rules struct {
	policy      *Policy
	protected   []protection
	ignore      []pattern
	exclusive   []pattern
	criticality []pattern
}

type protection struct {
	pattern
	owners []string
}

// pattern is a glob for both kinds of file systems. Everything that it matches begins with its head, or is the head
// without the slash that it ends in.
type pattern struct {
	plain, folded         Glob
	plainHead, foldedHead string
}

func newPattern(s string) (p pattern, err error) {
	if p.plain, err = ParseGlob(s); err != nil {
		return p, err
	}
	p.plainHead = s
	if meta := strings.IndexAny(s, `*?[{\`); meta >= 0 {
		p.plainHead = s[:meta]
	}
	p.foldedHead = Fold(p.plainHead)
	p.folded, err = ParseFoldedGlob(s)
	return p, err
}

// head is what everything begins with that the pattern matches.
func (p *pattern) head(folds bool) string {
	if folds {
		return p.foldedHead
	}
	return p.plainHead
}

// apart reports whether two patterns, or a pattern and a path, surely match nothing in common: neither's head begins
// with the other's.
func apart(a, b string) bool {
	n := min(len(a), len(b))
	return a[:n] != b[:n]
}

// match reports whether a path of a side is matched, as that side's file system would have it.
func (p pattern) match(path string, folds bool) bool {
	if folds {
		return p.folded.Match(Fold(path))
	}
	return p.plain.Match(path)
}

// matches is as match, for a touch whose key is folded if folds says so.
func (p pattern) matches(t touch, folds bool) bool {
	if folds {
		return !apart(p.foldedHead, t.key) && p.folded.matchParts(t.parts)
	}
	return !apart(p.plainHead, t.key) && p.plain.matchParts(t.parts)
}

func (p pattern) overlaps(q pattern, folds bool) bool {
	if folds {
		return !apart(p.foldedHead, q.foldedHead) && Overlaps(p.folded, q.folded)
	}
	return !apart(p.plainHead, q.plainHead) && Overlaps(p.plain, q.plain)
}

// NewRules makes a policy ready. The error is the first [Problem] of one that does not hold.
func NewRules(p *Policy) (*Rules, error) {
	if faults := p.Validate(); len(faults) > 0 {
		return nil, fmt.Errorf("policy: %w", faults[0])
	}
	r := &Rules{policy: p}
	for _, rule := range p.ProtectedPaths {
		r.protected = append(r.protected, protection{mustPattern(rule.Path), rule.Owners})
	}
	if p.kept() {
		r.protected = append(r.protected, protection{mustPattern(PolicyPath), p.keepers()})
	}
	for _, g := range p.IgnorePaths {
		r.ignore = append(r.ignore, mustPattern(g))
	}
	for _, g := range p.ExclusiveByDefault {
		r.exclusive = append(r.exclusive, mustPattern(g))
	}
	for _, c := range p.Criticality {
		r.criticality = append(r.criticality, mustPattern(c.Contract))
	}
	return r, nil
}

// mustPattern is of a pattern that [Policy.Validate] has read.
func mustPattern(s string) pattern {
	p, err := newPattern(s)
	if err != nil {
		panic("detect: validated pattern: " + err.Error())
	}
	return p
}

// kept reports whether the policy names anybody who could keep it; else nobody could change it any more.
func (p *Policy) kept() bool { return len(p.Members) > 0 || len(p.keepers()) > 0 }

// keepers may change the policy: the owners and admins among the members, or the owners of protected paths where no
// members are named.
func (p *Policy) keepers() (users []string) {
	if len(p.Members) == 0 {
		for _, rule := range p.ProtectedPaths {
			users = append(users, rule.Owners...)
		}
		return distinct(users)
	}
	for _, m := range p.Members {
		if m.Role != "member" {
			users = append(users, m.User)
		}
	}
	return users
}

// severity is where a kind starts.
func (r *Rules) severity(k Kind) Severity {
	if s := r.policy.Severity[k]; s != 0 {
		return s
	}
	return DefaultPolicy().Severity[k]
}

// judge gives a finding its severity: what would block does so only when it is declared or observed, and sure
// enough; then it blocks the side that has to wait (C9).
func (r *Rules) judge(f Finding, start Severity, waits string) Finding {
	f.Severity = start
	if start != Block {
		return f
	}
	if f.Evidence == Inferred || f.Confidence < r.policy.BlockMinConfidence {
		f.Severity = Warn
		return f
	}
	f.Blocking, f.Blocked = true, waits
	return f
}

// ignores reports whether the policy keeps silent about a path (C13).
func (r *Rules) ignores(path string, folds bool) bool {
	return slices.ContainsFunc(r.ignore, func(p pattern) bool { return p.match(path, folds) })
}

// criticalityOf is how much a contract matters.
func (r *Rules) criticalityOf(contract string) string {
	for i, p := range r.criticality {
		if p.plain.Match(contract) || p.plain.text == contract {
			return r.policy.Criticality[i].Level
		}
	}
	return Normal
}

// linked reports whether two repositories know each other's contracts (C6).
func (r *Rules) linked(a, b string) bool {
	return r.policy.CrossRepoContracts && slices.ContainsFunc(r.policy.Projects, func(p Project) bool {
		has := func(repo string) bool {
			return slices.ContainsFunc(p.Repos, func(s string) bool { return strings.EqualFold(s, repo) })
		}
		return has(a) && has(b)
	})
}

// Party is a digest made ready to be held against others. It is read only.
type Party struct {
	*Digest
	touched    []touch // by path, the ignored ones left out
	folded     []touch // the same by folded path
	claims     []claim
	byHead     [2][]*claim // claims on paths by their heads, as they are and folded
	works      []work      // on symbols, by id
	promised   []promise
	files      map[string]*File
	targets    map[string][]*Reference
	at         map[string]int    // where the works on a symbol start
	added      map[string][]int  // the works that add a name to a package
	index      fileIndex         // of all files that are not ignored
	words      map[string]uint64 // of the task
	requests   []*Reference      // those over HTTP
	about      map[string]uint64 // words of the task and of what it adds
	newNames   []newName         // of what it adds
	changedIDs []string          // of the declarations that it changes or claims
	ownFiles   []string          // those made by hand
	ownEdits   []uint64          // what it writes into these
	doubts     []Doubt
	Rules      *Rules
}

// touch is one path that a file has or had.
type touch struct {
	key   string // the path as it is compared
	path  string
	file  *File
	parts [][]rune // of key
}

type claim struct {
	Claim
	pattern
}

// Party makes a digest ready.
func (r *Rules) Party(d *Digest) *Party {
	p := &Party{Digest: d, Rules: r, files: map[string]*File{}}
	for i := range d.Files {
		f := &d.Files[i]
		p.files[f.Path] = f
		for _, path := range f.paths() {
			if !r.ignores(path, d.Side.Folds) {
				folded := Fold(path)
				p.touched = append(p.touched, touch{path, path, f, splitRunes(path)})
				p.folded = append(p.folded, touch{folded, path, f, splitRunes(folded)})
			}
		}
	}
	byKey := func(a, b touch) int {
		return firstOf(strings.Compare(a.key, b.key), strings.Compare(a.path, b.path))
	}
	slices.SortFunc(p.touched, byKey)
	slices.SortFunc(p.folded, byKey)
	for _, c := range d.Claims {
		pattern, err := newPattern(c.Pattern)
		if err != nil {
			p.doubts = append(p.doubts, Doubt{PathOverlap, []string{d.Side.Ref}, err.Error()})
			continue
		}
		p.claims = append(p.claims, claim{c, pattern})
	}
	p.listHeads()
	for _, path := range d.Unreadable {
		p.doubts = append(p.doubts, Doubt{PathOverlap, []string{d.Side.Ref}, path + " cannot be read"})
	}
	p.listWorks()
	p.promised = p.promises()
	p.listReferences()
	p.words = taskWords(d.Side.Task)
	p.index = newFileIndex(p.pick(d.Files))
	p.newNames, p.changedIDs, p.ownFiles = p.listNewNames(), p.listChangedIDs(), p.listOwnFiles()
	p.ownEdits, p.about = p.listOwnEdits(), p.listAbout()
	return p
}

// listHeads puts the claims on paths in order by what everything begins with that they match.
func (p *Party) listHeads() {
	for i := range p.claims {
		if c := &p.claims[i]; c.Kind == PathClaim {
			p.byHead[0], p.byHead[1] = append(p.byHead[0], c), append(p.byHead[1], c)
		}
	}
	slices.SortStableFunc(p.byHead[0], func(a, b *claim) int { return strings.Compare(a.plainHead, b.plainHead) })
	slices.SortStableFunc(p.byHead[1], func(a, b *claim) int { return strings.Compare(a.foldedHead, b.foldedHead) })
}

// heads are the claims on paths in order of their heads.
func (p *Party) heads(folds bool) []*claim {
	if folds {
		return p.byHead[1]
	}
	return p.byHead[0]
}

// paths is where a file is and was.
func (f *File) paths() []string {
	if f.From != "" && f.From != f.Path {
		return []string{f.Path, f.From}
	}
	return []string{f.Path}
}

// touches is the paths of a party, as two sides compare them.
func (p *Party) touches(folds bool) []touch {
	if folds {
		return p.folded
	}
	return p.touched
}

// touchesFrom is those of them that may begin with a head.
func (p *Party) touchesFrom(head string, folds bool) []touch {
	all := p.touches(folds)
	head = strings.TrimSuffix(head, "/")
	from, _ := slices.BinarySearchFunc(all, head, func(t touch, head string) int { return strings.Compare(t.key, head) })
	to := from
	for to < len(all) && strings.HasPrefix(all[to].key, head) {
		to++
	}
	return all[from:to]
}

// key is how a path is compared between two sides.
func key(path string, folds bool) string {
	if folds {
		return Fold(path)
	}
	return path
}

// source names the contents that a finding about a file rests on.
func (p *Party) source(f *File) Source {
	return Source{Side: p.Side.Ref, Base: p.Base, Path: f.Path, Old: f.BaseBlob, New: f.Blob}
}
