package detect

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Policy is what a repository's people decided, in the terms of .parley/policy.yaml.
type Policy struct {
	Severity           map[Kind]Severity
	BlockMinConfidence Confidence
	ProtectedPaths     []Protected
	IgnorePaths        []string
	ExclusiveByDefault []string
	ExclusiveMaxFiles  int
	// BlockContractBreakWhenCriticality lists the criticalities that make a contract break block.
	BlockContractBreakWhenCriticality []string
	Override                          Override
	CrossRepoContracts                bool
	Projects                          []Project     // repositories that know each other's contracts, ascending by name
	Members                           []Member      // ascending by user
	Criticality                       []Criticality // the first that matches a contract counts
}

// Protected is one rule of protected_paths (C8).
type Protected struct {
	Path   string   // a glob
	Owners []string // user:<email> each, in the order of the file
}

// Override is who may let both sides go on despite a conflict (C14).
type Override struct {
	AllowedRoles  []string
	RequireReason bool
}

// Project is one set of linked repositories (C6).
type Project struct {
	Name  string
	Repos []string // owner/name
}

// Member is one person of the repository (D-25).
type Member struct {
	User string // user:<email>
	Role string // owner, admin or member
}

// Criticality is how much a contract matters.
type Criticality struct {
	Contract string // a glob over contract ids
	Level    string // low, normal, high or frozen
}

// PolicyPath is where the policy stands in a repository; it is itself protected (D-25).
const PolicyPath = ".parley/policy.yaml"

// Levels are the criticalities that a contract can have; Normal is that of a contract that no line names.
var Levels = []string{"low", Normal, "high", "frozen"}

// Normal is the criticality of a contract that the policy does not name.
const Normal = "normal"

// Roles are what a member can be.
var Roles = []string{"owner", "admin", "member"}

// DefaultPolicy holds in a repository without a policy of its own.
func DefaultPolicy() *Policy {
	return &Policy{
		Severity: map[Kind]Severity{
			ProtectedPath: Block, ContractBreak: Warn, TextualMerge: Warn, SymbolOverlap: Warn,
			PathOverlap: Info, DependencyOrder: Warn, DuplicateWork: Warn,
		},
		BlockMinConfidence:                85,
		ExclusiveMaxFiles:                 20,
		BlockContractBreakWhenCriticality: []string{"high", "frozen"},
		Override:                          Override{AllowedRoles: []string{"owner", "admin"}, RequireReason: true},
		CrossRepoContracts:                true,
	}
}

// Problem is one thing in a policy that cannot hold. Key is where it stands: "protected_paths[2].owners[0]".
type Problem struct {
	Key  string
	Text string
}

// Error is both.
func (p Problem) Error() string { return p.Key + ": " + p.Text }

// Validate lists what is wrong with a policy, in the order of its keys.
func (p *Policy) Validate() (all []Problem) {
	bad := func(key, format string, args ...any) {
		all = append(all, Problem{key, fmt.Sprintf(format, args...)})
	}
	for _, k := range slices.SortedFunc(mapKeys(p.Severity), cmp.Compare) {
		if !slices.Contains(Kinds, k) {
			bad("severity."+string(k), "there is no such kind of conflict")
		}
		if k == DuplicateWork && p.Severity[k] == Block {
			bad("severity."+string(k), "it is info or warn: that two sides do the same is only inferred, which never blocks")
		}
	}
	if p.BlockMinConfidence > 100 {
		bad("block_min_confidence", "it lies between 0 and 1")
	}
	if p.ExclusiveMaxFiles < 0 {
		bad("exclusive_max_files", "it is not negative")
	}
	all = append(all, p.validatePaths()...)
	all = append(all, p.validatePeople()...)
	return all
}

func mapKeys(m map[Kind]Severity) func(func(Kind) bool) {
	return func(yield func(Kind) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

func (p *Policy) validatePaths() (all []Problem) {
	glob := func(key, pattern string) {
		if _, err := ParseGlob(pattern); err != nil {
			all = append(all, Problem{key, err.Error()})
		}
	}
	for i, r := range p.ProtectedPaths {
		key := fmt.Sprintf("protected_paths[%d]", i)
		glob(key+".path", r.Path)
		for j, o := range r.Owners {
			if text := ownerFault(o); text != "" {
				all = append(all, Problem{fmt.Sprintf("%s.owners[%d]", key, j), text})
			}
		}
	}
	for i, g := range p.IgnorePaths {
		glob(fmt.Sprintf("ignore_paths[%d]", i), g)
	}
	for i, g := range p.ExclusiveByDefault {
		glob(fmt.Sprintf("exclusive_by_default[%d]", i), g)
	}
	for i, c := range p.Criticality {
		key := fmt.Sprintf("criticality[%d]", i)
		glob(key+".contract", c.Contract)
		if !slices.Contains(Levels, c.Level) {
			all = append(all, Problem{key + ".is", fmt.Sprintf("%q is none of %s", c.Level, strings.Join(Levels, ", "))})
		}
	}
	return all
}

func (p *Policy) validatePeople() (all []Problem) {
	bad := func(key, format string, args ...any) {
		all = append(all, Problem{key, fmt.Sprintf(format, args...)})
	}
	for i, c := range p.BlockContractBreakWhenCriticality {
		if !slices.Contains(Levels, c) {
			bad(fmt.Sprintf("block_contract_break_when_criticality[%d]", i), "%q is none of %s", c, strings.Join(Levels, ", "))
		}
	}
	for i, r := range p.Override.AllowedRoles {
		if !slices.Contains(Roles, r) {
			bad(fmt.Sprintf("override.allowed_roles[%d]", i), "%q is none of %s", r, strings.Join(Roles, ", "))
		}
	}
	for _, g := range p.Projects {
		for i, r := range g.Repos {
			if owner, name, ok := strings.Cut(r, "/"); !ok || owner == "" || name == "" || strings.Contains(name, "/") {
				bad(fmt.Sprintf("projects.%s[%d]", g.Name, i), "%q is not owner/name", r)
			}
		}
	}
	for _, m := range p.Members {
		if text := ownerFault(m.User); text != "" {
			bad("members."+m.User, "%s", text)
		}
		if !slices.Contains(Roles, m.Role) {
			bad("members."+m.User, "%q is none of %s", m.Role, strings.Join(Roles, ", "))
		}
	}
	return all
}

// ownerFault says why somebody cannot be named so: there are no teams (C8).
func ownerFault(owner string) string {
	email, ok := strings.CutPrefix(owner, "user:")
	name, host, at := strings.Cut(email, "@")
	switch {
	case !ok:
		return fmt.Sprintf("owner %q is not of the form user:<email>", owner)
	case !at, name == "", host == "", strings.ContainsAny(email, " \t\r\n,<>") || strings.Contains(host, "@"):
		return fmt.Sprintf("owner %q names no email address", owner)
	}
	return ""
}

// Role is a person's role, "" for somebody who is no member. Addresses are compared without regard to case.
func (p *Policy) Role(email string) string {
	for _, m := range p.Members {
		if strings.EqualFold(m.User, "user:"+email) {
			return m.Role
		}
	}
	return ""
}
