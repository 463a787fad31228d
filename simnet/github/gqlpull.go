package github

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
)

func (*Pull) isValue()         {}
func (*Pull) typeName() string { return "PullRequest" }
func (p *Pull) field(e *execution, name string, a arguments) (value, error) {
	if v, ok := p.plain()[name]; ok {
		return v, nil
	}
	return pullFields.field(e, p, name, a)
}

func (p *Pull) state() string {
	switch {
	case p.now.Merged:
		return "MERGED"
	case p.now.Closed:
		return "CLOSED"
	}
	return "OPEN"
}

// plain is what a pull request says of itself without asking git.
func (p *Pull) plain() map[string]value {
	return map[string]value{
		"id": word(p.nodeID()), "databaseId": number(p.ID), "fullDatabaseId": word(strconv.FormatInt(p.ID, 10)),
		"number": number(p.Number), "title": word(p.now.Title), "body": word(p.now.Body), "bodyText": word(p.now.Body),
		"state": word(p.state()), "isDraft": truth(p.now.Draft), "closed": truth(p.now.Closed), "merged": truth(p.now.Merged),
		"createdAt": moment(p.now.CreatedAt), "updatedAt": moment(p.now.UpdatedAt), "closedAt": moment(p.now.ClosedAt),
		"mergedAt": moment(p.now.MergedAt), "author": p.Author, "authorAssociation": word(p.association()), "locked": truth(false),
		"baseRefName": word(p.now.BaseRef), "headRefName": word(p.now.HeadRef), "baseRefOid": word(p.now.BaseOID),
		"headRefOid": word(p.now.HeadOID), "headRepository": orNoRepo(p.head), "baseRepository": p.base, "repository": p.base,
		"isCrossRepository": truth(p.now.CrossRepository), "maintainerCanModify": truth(p.now.MaintainerCanModify),
		"isMergeQueueEnabled": truth(p.rule().MergeQueue), "isInMergeQueue": truth(false), "mergeQueueEntry": nil,
		"viewerCanMergeAsAdmin": truth(false), "viewerCanEnableAutoMerge": truth(false), "reviewDecision": p.reviewDecision(),
		"milestone": nil, "autoMergeRequest": nil, "statusCheckRollup": nil, "activeLockReason": nil, "reactionGroups": values{},
		"totalCommentsCount": number(0),
	}
}

// reviewDecision is null where no review is asked for.
func (p *Pull) reviewDecision() value {
	switch need := p.rule().Reviews; {
	case need == 0:
		return nil
	case need > p.now.Approvals:
		return word("REVIEW_REQUIRED")
	}
	return word("APPROVED")
}

var pullFields = resolvers[*Pull]{
	"url": func(e *execution, p *Pull, _ arguments) (value, error) { return word(e.x.pullURL(p)), nil },
	"resourcePath": func(_ *execution, p *Pull, _ arguments) (value, error) {
		return word(fmt.Sprintf("/%s/pull/%d", p.base.FullName(), p.Number)), nil
	},
	"mergedBy": func(e *execution, p *Pull, _ arguments) (value, error) {
		return orNobody(e.s.user(p.now.MergedBy)), nil
	},
	"baseRef": func(_ *execution, p *Pull, _ arguments) (value, error) {
		return p.base.ref("refs/heads/" + p.now.BaseRef), nil
	},
	"headRef": func(_ *execution, p *Pull, _ arguments) (value, error) {
		if p.head == nil {
			return nil, nil
		}
		return p.head.ref("refs/heads/" + p.now.HeadRef), nil
	},
	"headRepositoryOwner": func(_ *execution, p *Pull, _ arguments) (value, error) {
		if p.head == nil {
			return nil, nil
		}
		return p.head.Owner, nil
	},
	"mergeable":        mergeable,
	"mergeStateStatus": mergeStateStatus,
	"potentialMergeCommit": func(_ *execution, p *Pull, _ arguments) (value, error) {
		if p.now.Closed || !p.trial.clean {
			return nil, nil
		}
		return p.base.object(p.trial.commit), nil
	},
	"mergeCommit": func(_ *execution, p *Pull, _ arguments) (value, error) {
		if !p.now.Merged {
			return nil, nil
		}
		return p.base.object(p.now.MergeOID), nil
	},
	"additions":    sizeField(func(s pullSize) int { return s.additions }),
	"deletions":    sizeField(func(s pullSize) int { return s.deletions }),
	"changedFiles": sizeField(func(s pullSize) int { return s.files }),
	"files":        filesField,
	"commits":      commitsField,

	"labels": emptyPage[*Pull], "assignees": emptyPage[*Pull], "reviews": emptyPage[*Pull], "reviewRequests": emptyPage[*Pull],
	"latestReviews": emptyPage[*Pull], "latestOpinionatedReviews": emptyPage[*Pull], "projectCards": emptyPage[*Pull],
	"projectItems": emptyPage[*Pull], "comments": emptyPage[*Pull], "participants": emptyPage[*Pull],
	"closingIssuesReferences": emptyPage[*Pull],
}

// mergeable starts the trial merge where its answer is not known, and waits for it only with [Server.GraphQLWaits].
func mergeable(e *execution, p *Pull, _ arguments) (value, error) {
	if p.now.Closed {
		return word("UNKNOWN"), nil
	}
	t, err := e.s.tryMerge(p, e.s.GraphQLWaits)
	switch {
	case err != nil:
		return nil, err
	case t == nil:
		return word("UNKNOWN"), nil
	case t.clean:
		return word("MERGEABLE"), nil
	}
	return word("CONFLICTING"), nil
}

// mergeStateStatus does not start the trial merge: asked alone it stays UNKNOWN.
func mergeStateStatus(e *execution, p *Pull, _ arguments) (value, error) {
	if !p.trial.done || p.trial.head != p.now.HeadOID || p.trial.base != p.baseTip() {
		return word("UNKNOWN"), nil
	}
	_, state, err := e.s.mergeState(p)
	return word(strings.ToUpper(state)), err
}

func sizeField(pick func(pullSize) int) func(*execution, *Pull, arguments) (value, error) {
	return func(_ *execution, p *Pull, _ arguments) (value, error) {
		size, err := p.size()
		return number(pick(size)), err
	}
}

func filesField(_ *execution, p *Pull, a arguments) (value, error) {
	files, err := p.changedFiles()
	if err != nil {
		return nil, err
	}
	all := values{}
	for _, f := range files {
		all = append(all, record{fields: map[string]value{"path": word(f.path), "additions": number(f.additions), "deletions": number(f.deletions)}})
	}
	return page(all, a)
}

func commitsField(_ *execution, p *Pull, a arguments) (value, error) {
	from := p.forkPoint()
	if from == "" {
		return page(values{}, a)
	}
	out, err := p.base.bare().git("rev-list", "--reverse", from+".."+p.now.HeadOID)
	if err != nil {
		return nil, err
	}
	all := values{}
	for oid := range strings.FieldsSeq(out) {
		all = append(all, record{fields: map[string]value{"commit": gitObject{p.base, oid, "commit"}, "pullRequest": p}})
	}
	return page(all, a)
}

// gitObject is a commit, tree, blob or tag of a repository.
type gitObject struct {
	repo *Repo
	oid  string
	kind string
}

// object finds what a revision names, null when there is nothing.
func (r *Repo) object(revision string) value {
	oid := r.bare().resolve(revision)
	kind := r.bare().objectType(oid)
	if oid == "" || kind == "" {
		return nil
	}
	return gitObject{r, oid, kind}
}

func (gitObject) isValue() {}
func (g gitObject) typeName() string {
	return map[string]string{"commit": "Commit", "tree": "Tree", "blob": "Blob", "tag": "Tag"}[g.kind]
}

func (g gitObject) field(e *execution, name string, a arguments) (value, error) {
	switch name {
	case "oid":
		return word(g.oid), nil
	case "id":
		return word(g.typeName() + "_" + g.oid), nil
	case "abbreviatedOid":
		return word(g.oid[:7]), nil
	case "repository":
		return g.repo, nil
	}
	switch g.kind {
	case "commit":
		return g.commitField(e, name, a)
	case "blob":
		return g.blobField(name)
	}
	return nil, errUnknownField
}

func (g gitObject) commitField(e *execution, name string, a arguments) (value, error) {
	c, err := g.repo.bare().readCommit(g.oid)
	if err != nil {
		return nil, err
	}
	switch name {
	case "tree":
		return gitObject{g.repo, c.tree, "tree"}, nil
	case "message":
		return word(c.message), nil
	case "messageHeadline":
		return word(c.headline()), nil
	case "messageBody":
		return word(c.body()), nil
	case "committedDate":
		return word(c.committer.date), nil
	case "authoredDate":
		return word(c.author.date), nil
	case "author":
		return c.author.actor(), nil
	case "committer":
		return c.committer.actor(), nil
	case "authors":
		return page(values{c.author.actor()}, a)
	case "statusCheckRollup":
		return nil, nil
	case "url", "commitUrl":
		return word(e.x.htmlURL(g.repo) + "/commit/" + g.oid), nil
	case "parents":
		all := values{}
		for _, oid := range c.parents {
			all = append(all, gitObject{g.repo, oid, "commit"})
		}
		return page(all, a)
	}
	return nil, errUnknownField
}

func (s signature) actor() value {
	return record{fields: map[string]value{"name": word(s.name), "email": word(s.email), "date": word(s.date), "user": nil}}
}

func (g gitObject) blobField(name string) (value, error) {
	content, err := g.repo.bare().readBlob(g.oid)
	if err != nil {
		return nil, err
	}
	// git takes a file for binary when its first octets hold a zero, and GitHub follows it.
	binary := bytes.IndexByte(content[:min(len(content), 8000)], 0) >= 0
	switch name {
	case "byteSize":
		return number(len(content)), nil
	case "isTruncated":
		return truth(false), nil
	case "isBinary":
		return truth(binary), nil
	case "text":
		if binary {
			return nil, nil
		}
		return word(content), nil
	}
	return nil, errUnknownField
}
