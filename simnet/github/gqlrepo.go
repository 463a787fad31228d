package github

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

func (*User) isValue() {}
func (u *User) typeName() string {
	if u.Org {
		return "Organization"
	}
	return "User"
}

func (u *User) field(e *execution, name string, _ arguments) (value, error) {
	switch name {
	case "id":
		return word(u.nodeID()), nil
	case "login":
		return word(u.Login), nil
	case "name":
		return word(u.Name), nil
	case "databaseId":
		return number(u.ID), nil
	case "url":
		return word(e.x.site.web + "/" + u.Login), nil
	case "avatarUrl":
		return word(e.x.site.web + "/" + u.Login + ".png"), nil
	case "resourcePath":
		return word("/" + u.Login), nil
	}
	return nil, errUnknownField
}

func (*Repo) isValue()         {}
func (*Repo) typeName() string { return "Repository" }
func (r *Repo) field(e *execution, name string, a arguments) (value, error) {
	if off, ok := repoConstants[name]; ok {
		return off, nil
	}
	return repoFields.field(e, r, name, a)
}

// repoConstants are the same for every repository of the stand-in.
var repoConstants = map[string]value{
	"isArchived": truth(false), "isDisabled": truth(false), "isTemplate": truth(false),
	"isMirror": truth(false), "isEmpty": truth(false), "isLocked": truth(false), "hasWikiEnabled": truth(false),
	"hasProjectsEnabled": truth(false), "hasDiscussionsEnabled": truth(false), "hasIssuesEnabled": truth(true),
	"deleteBranchOnMerge": truth(false), "autoMergeAllowed": truth(false), "forkingAllowed": truth(true),
	"viewerDefaultMergeMethod": word("MERGE"), "description": nil, "homepageUrl": nil, "mirrorUrl": nil, "templateRepository": nil,
	"archivedAt": nil,
}

var repoFields = resolvers[*Repo]{
	"id":            func(_ *execution, r *Repo, _ arguments) (value, error) { return word(r.nodeID()), nil },
	"databaseId":    func(_ *execution, r *Repo, _ arguments) (value, error) { return number(r.ID), nil },
	"name":          func(_ *execution, r *Repo, _ arguments) (value, error) { return word(r.Name), nil },
	"nameWithOwner": func(_ *execution, r *Repo, _ arguments) (value, error) { return word(r.FullName()), nil },
	"owner":         func(_ *execution, r *Repo, _ arguments) (value, error) { return r.Owner, nil },
	"parent":        func(_ *execution, r *Repo, _ arguments) (value, error) { return orNoRepo(r.parent), nil },
	"url":           func(e *execution, r *Repo, _ arguments) (value, error) { return word(e.x.htmlURL(r)), nil },
	"resourcePath":  func(_ *execution, r *Repo, _ arguments) (value, error) { return word("/" + r.FullName()), nil },
	"sshUrl": func(_ *execution, r *Repo, _ arguments) (value, error) {
		return word("git@github.com:" + r.FullName() + ".git"), nil
	},
	"createdAt":        func(_ *execution, r *Repo, _ arguments) (value, error) { return moment(r.settings.Created), nil },
	"isPrivate":        func(_ *execution, r *Repo, _ arguments) (value, error) { return truth(r.settings.Private), nil },
	"isFork":           func(_ *execution, r *Repo, _ arguments) (value, error) { return truth(r.parent != nil), nil },
	"isInOrganization": func(_ *execution, r *Repo, _ arguments) (value, error) { return truth(r.Owner.Org), nil },
	"visibility": func(_ *execution, r *Repo, _ arguments) (value, error) {
		return word(strings.ToUpper(r.visibility())), nil
	},
	"mergeCommitAllowed": func(_ *execution, r *Repo, _ arguments) (value, error) { return truth(r.allows(Merge)), nil },
	"squashMergeAllowed": func(_ *execution, r *Repo, _ arguments) (value, error) { return truth(r.allows(Squash)), nil },
	"rebaseMergeAllowed": func(_ *execution, r *Repo, _ arguments) (value, error) { return truth(r.allows(Rebase)), nil },
	"viewerPermission": func(e *execution, r *Repo, _ arguments) (value, error) {
		return orNone(strings.ToUpper(string(r.access(e.x.user)))), nil
	},
	"viewerCanAdminister": func(e *execution, r *Repo, _ arguments) (value, error) {
		return truth(r.access(e.x.user) == AdminAccess), nil
	},
	"defaultBranchRef": func(_ *execution, r *Repo, _ arguments) (value, error) { return r.ref("refs/heads/" + r.Default), nil },
	"ref": func(_ *execution, r *Repo, a arguments) (value, error) {
		name := a.word("qualifiedName")
		if !strings.HasPrefix(name, "refs/") {
			name = "refs/heads/" + name
		}
		return r.ref(name), nil
	},
	"object": func(_ *execution, r *Repo, a arguments) (value, error) {
		return r.object(cmp.Or(a.word("expression"), a.word("oid"))), nil
	},
	"mergeQueue": func(e *execution, r *Repo, a arguments) (value, error) {
		branch := cmp.Or(a.word("branch"), r.Default)
		if !r.settings.Rules[branch].MergeQueue {
			return nil, nil
		}
		return record{fields: map[string]value{"id": word("MQ_" + branch), "url": word(e.x.htmlURL(r) + "/queue/" + branch)}}, nil
	},
	"pullRequest": func(_ *execution, r *Repo, a arguments) (value, error) {
		p := r.pull(a.number("number"))
		if p == nil {
			return nil, unresolved("Could not resolve to a PullRequest with the number of %s.", fmt.Sprint(a.number("number")))
		}
		return p, nil
	},
	"pullRequests":    func(_ *execution, r *Repo, a arguments) (value, error) { return page(r.matching(a), a) },
	"issues":          emptyPage[*Repo],
	"labels":          emptyPage[*Repo],
	"assignableUsers": emptyPage[*Repo],
}

// emptyPage is a list of what the stand-in never has.
func emptyPage[T object](_ *execution, _ T, a arguments) (value, error) { return page(values{}, a) }

// matching lists the pull requests the arguments ask for, the oldest first unless they say otherwise. Creation order is number order.
func (r *Repo) matching(a arguments) values {
	states, base, head := a.words("states"), a.word("baseRefName"), a.word("headRefName")
	all := values{}
	for _, p := range r.pulls {
		if (len(states) == 0 || slices.Contains(states, p.state())) && (base == "" || base == p.now.BaseRef) && (head == "" || head == p.now.HeadRef) {
			all = append(all, p)
		}
	}
	if a.input("orderBy").word("direction") == "DESC" {
		slices.Reverse(all)
	}
	return all
}

// gitRef is a branch, tag or other ref that exists.
type gitRef struct {
	repo *Repo
	name string
}

func (r *Repo) ref(name string) value {
	if r.bare().resolve(name) == "" {
		return nil
	}
	return gitRef{r, name}
}

func (gitRef) isValue()         {}
func (gitRef) typeName() string { return "Ref" }
func (g gitRef) field(_ *execution, name string, a arguments) (value, error) {
	branch, isBranch := strings.CutPrefix(g.name, "refs/heads/")
	switch name {
	case "id":
		return word("REF_" + g.repo.nodeID() + ":" + g.name), nil
	case "name":
		return word(branch), nil
	case "prefix":
		return word(strings.TrimSuffix(g.name, strings.TrimPrefix(branch, "refs/"))), nil
	case "repository":
		return g.repo, nil
	case "target":
		return g.repo.object(g.name), nil
	case "associatedPullRequests":
		a["headRefName"] = branch
		return page(g.repo.matching(a), a)
	case "branchProtectionRule":
		rule, protected := g.repo.settings.Rules[branch]
		if !isBranch || !protected {
			return nil, nil
		}
		return record{fields: map[string]value{
			"pattern": word(branch), "requiredApprovingReviewCount": number(rule.Reviews),
			"requiresApprovingReviews": truth(rule.Reviews > 0), "restrictsPushes": truth(rule.PullsOnly),
			"requiresStrictStatusChecks": truth(false), "requiresStatusChecks": truth(false), "requiresLinearHistory": truth(false),
		}}, nil
	}
	return nil, errUnknownField
}
