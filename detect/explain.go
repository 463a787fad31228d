package detect

import (
	"fmt"
	"slices"
	"strings"
)

// Explain says what the policy does about one path, or glob, that a person is about to change.
func (r *Rules) Explain(path, user string) (lines []string) {
	p, err := newPattern(path)
	if err != nil {
		return []string{err.Error()}
	}
	for _, rule := range r.protected {
		switch exact := p.plain.Plain() && rule.match(path, false); {
		case !exact && !rule.overlaps(p, false):
		case rule.owns(user):
			lines = append(lines, fmt.Sprintf("protected by %s, of which %s is an owner", rule.plain, user))
		case exact && r.severity(ProtectedPath) == Block && exactProtected >= r.policy.BlockMinConfidence:
			lines = append(lines, fmt.Sprintf("protected by %s (owners: %s): blocks", rule.plain, rule.ownerList()))
		default:
			lines = append(lines, fmt.Sprintf("protected by %s (owners: %s): %s", rule.plain, rule.ownerList(), min(r.severity(ProtectedPath), Warn)))
		}
	}
	for i, q := range r.ignore {
		if q.overlaps(p, false) {
			lines = append(lines, "ignored by "+r.policy.IgnorePaths[i])
		}
	}
	for i, q := range r.exclusive {
		if q.overlaps(p, false) {
			lines = append(lines, fmt.Sprintf("exclusive by %s: whoever touches it first holds it", r.policy.ExclusiveByDefault[i]))
		}
	}
	if len(lines) == 0 {
		lines = append(lines, "no rule is about it")
	}
	return lines
}

// Line is one setting of a policy, for people.
type Line struct{ Key, Value, Means string }

// Lines is the whole policy, in the order of its keys.
func (p *Policy) Lines() (all []Line) {
	for _, k := range Kinds {
		s := p.Severity[k]
		if s == 0 {
			s = DefaultPolicy().Severity[k]
		}
		means := kindMeans[k]
		if s == Block && surest[k] < p.BlockMinConfidence {
			means += fmt.Sprintf("; never sure enough to block: at most %s", surest[k])
		}
		all = append(all, Line{"severity." + string(k), s.String(), means})
	}
	all = append(all, Line{"block_min_confidence", p.BlockMinConfidence.String(), "what is less sure warns instead of blocking"})
	for _, r := range p.ProtectedPaths {
		all = append(all, Line{"protected_paths", r.Path, "owners: " + protection{owners: r.Owners}.ownerList()})
	}
	if p.kept() {
		all = append(all, Line{"protected_paths", PolicyPath, "always; owners: " + protection{owners: p.keepers()}.ownerList()})
	}
	for _, l := range []struct{ key, means string }{
		{"ignore_paths", "nothing is told about them"},
		{"exclusive_by_default", "whoever touches them first holds them"},
	} {
		list := p.IgnorePaths
		if l.key == "exclusive_by_default" {
			list = p.ExclusiveByDefault
		}
		for _, g := range list {
			all = append(all, Line{l.key, g, l.means})
		}
	}
	return append(all, p.lastLines()...)
}

// NeverBlock are settings that ask for a block which no finding is sure enough for, as sentences.
func (p *Policy) NeverBlock() (all []string) {
	for _, k := range Kinds {
		if p.Severity[k] == Block && surest[k] < p.BlockMinConfidence {
			all = append(all, fmt.Sprintf("severity.%s: block never blocks: its findings are at most %s sure, and block_min_confidence is %s", k, surest[k], p.BlockMinConfidence))
		}
	}
	return all
}

// surest is the most that a finding of a kind can be sure.
var surest = map[Kind]Confidence{
	ProtectedPath: exactProtected, ContractBreak: sureUse, TextualMerge: gitSays, SymbolOverlap: graveAndEdit,
	PathOverlap: bothEdited, DependencyOrder: 100, DuplicateWork: 100,
}

var kindMeans = map[Kind]string{
	ProtectedPath:   "somebody who is not an owner touches a protected path",
	ContractBreak:   "what one side breaks the other uses",
	TextualMerge:    "git cannot merge the two",
	SymbolOverlap:   "both change one function, class, method or type",
	PathOverlap:     "both touch a file",
	DependencyOrder: "a dependency that will not come, or a cycle",
	DuplicateWork:   "both seem to do the same; never blocks",
}

func (p *Policy) lastLines() (all []Line) {
	all = append(
		all,
		Line{"exclusive_max_files", fmt.Sprint(p.ExclusiveMaxFiles), "an exclusive claim on more files blocks nobody"},
		Line{"block_contract_break_when_criticality", strings.Join(p.BlockContractBreakWhenCriticality, ", "), "such contracts block when they break"},
	)
	for _, c := range p.Criticality {
		all = append(all, Line{"criticality", c.Contract, c.Level})
	}
	all = append(
		all,
		Line{"override.allowed_roles", strings.Join(p.Override.AllowedRoles, ", "), "may let both sides go on"},
		Line{"override.require_reason", fmt.Sprint(p.Override.RequireReason), "an override needs a reason"},
		Line{"cross_repo_contracts", fmt.Sprint(p.CrossRepoContracts), "linked repositories know each other's contracts"},
	)
	for _, g := range p.Projects {
		all = append(all, Line{"projects." + g.Name, strings.Join(slices.Sorted(slices.Values(g.Repos)), ", "), "linked"})
	}
	for _, m := range p.Members {
		all = append(all, Line{"members", m.User, m.Role})
	}
	return all
}
