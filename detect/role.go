package detect

import (
	"slices"
	"strings"
)

// Policy is the policy that the rules were made of. Nobody changes it.
func (r *Rules) Policy() *Policy { return r.policy }

// Overrides reports whether a person may let both sides go on despite a conflict (C14): one whose role is allowed to.
// Where a policy names no members nobody has a role: then owners of protected paths may, and where there are none
// either, whoever takes part, since else nobody could.
func (p *Policy) Overrides(email string, participant bool) bool {
	if len(p.Members) > 0 {
		role := p.Role(email)
		return role != "" && slices.Contains(p.Override.AllowedRoles, role)
	}
	owners := p.keepers()
	if len(owners) == 0 {
		return participant
	}
	return email != "" && slices.ContainsFunc(owners, func(o string) bool { return strings.EqualFold(o, "user:"+email) })
}

// Manages reports whether a person may act on conflicts of others (C11): an owner or admin.
func (p *Policy) Manages(email string) bool {
	role := p.Role(email)
	return email != "" && (role == "owner" || role == "admin")
}
