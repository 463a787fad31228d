package detect

import (
	"fmt"
	"slices"
	"strings"
)

// How sure it is that a side enters a protected path (C8).
const (
	exactProtected    Confidence = 100
	overlapsProtected Confidence = 50
)

// entry is one path or pattern with which a side enters protected ground.
type entry struct {
	path       string
	verb       string
	confidence Confidence
	evidence   Evidence
	from       []Source
}

// protectedPaths finds what a side touches, or says it will, without being an owner.
func (p *Party) protectedPaths() (found []Finding) {
	for _, rule := range p.Rules.protected {
		if rule.owns(p.Side.User) {
			continue
		}
		for _, e := range p.entries(rule) {
			found = append(found, p.Rules.judge(Finding{
				Kind: ProtectedPath, Confidence: e.confidence, Evidence: e.evidence,
				Sides: []string{p.Side.Ref}, About: []string{e.path}, From: e.from,
				Sentence: fmt.Sprintf("%s (%s) by %s falls under protected path %s (owners: %s); the user is not an owner.",
					e.path, e.verb, p.Side.Label(), rule.plain, rule.ownerList()),
				Suggestion: fmt.Sprintf("Ask an owner (%s) or an admin to approve (conflict_respond request_override), or move the change outside %s.",
					rule.ownerList(), rule.plain),
			}, p.Rules.severity(ProtectedPath), p.Side.Ref))
		}
	}
	return found
}

func (r protection) owns(user string) bool {
	return user != "" && slices.ContainsFunc(r.owners, func(o string) bool { return strings.EqualFold(o, "user:"+user) })
}

func (r protection) ownerList() string {
	if len(r.owners) == 0 {
		return "none"
	}
	return strings.Join(r.owners, ", ")
}

// entries lists what a party does under a rule, each path once: what it did before what it is about to do and
// what it declared. A rename counts where it comes from and where it goes to. Ignored paths stay protected.
func (p *Party) entries(rule protection) (all []entry) {
	folds := p.Side.Folds
	add := func(e entry) {
		if !slices.ContainsFunc(all, func(o entry) bool { return o.path == e.path }) {
			all = append(all, e)
		}
	}
	for i := range p.Files {
		f := &p.Files[i]
		for _, path := range f.paths() {
			if rule.match(path, folds) {
				add(entry{path, f.Op.verb(), exactProtected, Observed, []Source{p.source(f)}})
			}
		}
	}
	for _, u := range p.Upcoming {
		if rule.match(u.Path, folds) {
			add(entry{u.Path, u.Op.verb(), exactProtected, Observed, nil})
		}
	}
	for _, c := range p.claims {
		switch {
		case c.Kind != PathClaim:
		case rule.match(c.Pattern, folds) && c.plain.Plain():
			add(entry{c.Pattern, "claim", exactProtected, Declared, nil})
		case rule.overlaps(c.pattern, folds):
			add(entry{c.Pattern, "claim", overlapsProtected, Declared, nil})
		}
	}
	return all
}

// verb is what a person would say was done; a new file is an edit too.
func (o Op) verb() string {
	switch o {
	case Delete:
		return "delete"
	case Rename:
		return "rename"
	}
	return "edit"
}
