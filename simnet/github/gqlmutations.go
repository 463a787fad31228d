package github

import (
	"net/http"
)

// mutationRoot is where a mutation starts.
type mutationRoot struct{}

func (mutationRoot) isValue()         {}
func (mutationRoot) typeName() string { return "Mutation" }

// field carries one mutation out; the answer of each is the pull request and who acted.
func (mutationRoot) field(e *execution, name string, a arguments) (value, error) {
	in := a.input("input")
	if name == "createPullRequest" {
		return e.createPull(in)
	}
	change := mutations[name]
	if change == nil {
		return nil, errUnknownField
	}
	v, err := e.node(in.word("pullRequestId"))
	if err != nil {
		return nil, err
	}
	p, ok := v.(*Pull)
	if !ok {
		return nil, unresolved("Could not resolve to PullRequest node with the global id of '%s'", in.word("pullRequestId"))
	}
	entry, err := change(e, p, in)
	if err != nil {
		return nil, err
	}
	return record{fields: map[string]value{
		"clientMutationId": orNone(in.word("clientMutationId")), "actor": e.x.user, "pullRequest": p,
		"mergeQueueEntry": entry,
	}}, nil
}

// mutations change a pull request; the value is a place in the merge queue, where there is one.
var mutations = map[string]func(*execution, *Pull, arguments) (value, error){
	"mergePullRequest":              mergeMutation,
	"enqueuePullRequest":            enqueue,
	"updatePullRequestBranch":       updateBranchMutation,
	"updatePullRequest":             editMutation,
	"closePullRequest":              closeMutation,
	"markPullRequestReadyForReview": readyMutation,
	"enablePullRequestAutoMerge": func(*execution, *Pull, arguments) (value, error) {
		return nil, refuse(http.StatusUnprocessableEntity, "Auto merge is not allowed for this repository")
	},
}

func mergeMutation(e *execution, p *Pull, in arguments) (value, error) {
	_, err := e.s.merge(e.x.user, p, order{
		method: Method(in.word("mergeMethod")), head: in.word("expectedHeadOid"),
		title: in.word("commitHeadline"), body: in.word("commitBody"),
	})
	return nil, err
}

func enqueue(_ *execution, p *Pull, in arguments) (value, error) {
	switch want := in.word("expectedHeadOid"); {
	case !p.rule().MergeQueue:
		return nil, refuse(http.StatusUnprocessableEntity, "The base branch does not use a merge queue")
	case want != "" && want != p.now.HeadOID:
		return nil, refuse(http.StatusUnprocessableEntity, "Head branch was modified. Review and try the merge again.")
	}
	return record{fields: map[string]value{"id": word("MQE_" + p.nodeID()), "position": number(1), "state": word("QUEUED")}}, nil
}

func updateBranchMutation(e *execution, p *Pull, in arguments) (value, error) {
	return nil, e.s.updateBranch(e.x.user, p, in.word("expectedHeadOid"))
}

// mayEdit lets the author and everybody who may push change a pull request's words and state.
func (e *execution) mayEdit(p *Pull) error {
	if p.base.access(e.x.user).writes() || e.x.user == p.Author {
		return nil
	}
	return forbid()
}

func editMutation(e *execution, p *Pull, in arguments) (value, error) {
	if err := e.mayEdit(p); err != nil {
		return nil, err
	}
	for name, field := range map[string]*string{"title": &p.now.Title, "body": &p.now.Body, "baseRefName": &p.now.BaseRef} {
		if text, ok := in[name].(string); ok {
			*field = text
		}
	}
	e.s.edited(p, e.x.user)
	return nil, nil
}

func closeMutation(e *execution, p *Pull, _ arguments) (value, error) {
	if err := e.mayEdit(p); err != nil {
		return nil, err
	}
	e.s.close(p)
	e.s.edited(p, e.x.user)
	return nil, nil
}

func readyMutation(e *execution, p *Pull, _ arguments) (value, error) {
	if err := e.mayEdit(p); err != nil {
		return nil, err
	}
	p.now.Draft = false
	e.s.edited(p, e.x.user)
	return nil, nil
}

func (e *execution) createPull(in arguments) (value, error) {
	v, err := e.node(in.word("repositoryId"))
	if err != nil {
		return nil, err
	}
	base, ok := v.(*Repo)
	if !ok {
		return nil, unresolved("Could not resolve to Repository node with the global id of '%s'", in.word("repositoryId"))
	}
	head, ref := e.s.headRepo(base, in.word("headRefName"))
	if head == nil {
		return nil, refuse(http.StatusUnprocessableEntity, "Head ref must be a branch")
	}
	p, err := e.s.openPull(e.x.user, base, in.word("baseRefName"), head, ref, in.word("title"), in.truth("draft"))
	if err != nil {
		return nil, refuse(http.StatusUnprocessableEntity, "Base ref must be a branch")
	}
	p.now.Body = in.word("body")
	e.s.edited(p, e.x.user)
	return record{fields: map[string]value{"clientMutationId": orNone(in.word("clientMutationId")), "pullRequest": p}}, nil
}
