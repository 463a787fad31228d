package github

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// refusal is GitHub's no: a REST status, its words, and the type a GraphQL error has.
type refusal struct {
	status  int
	message string
	kind    string
}

func (r *refusal) Error() string { return r.message }

func refuse(status int, message string) *refusal {
	return &refusal{status: status, message: message, kind: "UNPROCESSABLE"}
}

func forbid() *refusal {
	return &refusal{status: http.StatusForbidden, message: "Resource not accessible by personal access token", kind: "FORBIDDEN"}
}

// notAllowed names a merge method that the repository's settings exclude.
var notAllowed = map[Method]string{
	Merge:  "Merge commits are not allowed on this repository.",
	Squash: "Squash merges are not allowed on this repository.",
	Rebase: "Rebase merges are not allowed on this repository.",
}

// order is what a press of the merge button asks for. An empty head guards nothing, an empty method is [Merge].
type order struct {
	method      Method
	head        string
	title, body string
}

// merge is the merge button. It returns what the base became; a no of GitHub's is a *refusal.
func (s *Server) merge(u *User, p *Pull, o order) (string, error) {
	if o.method == "" {
		o.method = Merge
	}
	if err := mayMerge(u, p, o); err != nil {
		return "", err
	}
	base := p.baseTip()
	result, err := writeMerge(u, p, o, base)
	if err != nil {
		return "", err
	}
	move := invocation{
		args: []string{"update-ref", "-m", "merge", "refs/heads/" + p.now.BaseRef, result, base},
		env:  s.mark(KindMerge, u, p.Number),
	}
	if _, err := p.base.bare().run(move); err != nil {
		return "", refuse(http.StatusMethodNotAllowed, "Base branch was modified. Review and try the merge again.")
	}
	s.takeIn()
	if !p.now.Merged {
		return "", fmt.Errorf("merge %s#%d: git left no note of it", p.base.FullName(), p.Number)
	}
	return result, nil
}

// mayMerge goes through GitHub's reasons to refuse in the order GitHub does.
func mayMerge(u *User, p *Pull, o order) error {
	rule := p.rule()
	switch {
	case !p.base.access(u).writes():
		return forbid()
	case p.now.Closed:
		return refuse(http.StatusMethodNotAllowed, "Pull Request is not mergeable")
	case p.now.Draft:
		return refuse(http.StatusMethodNotAllowed, "Pull Request is still a draft")
	case o.head != "" && o.head != p.now.HeadOID:
		return refuse(http.StatusConflict, "Head branch was modified. Review and try the merge again.")
	case rule.MergeQueue:
		return refuse(http.StatusMethodNotAllowed, "Changes must be made through the merge queue")
	case rule.Reviews > p.now.Approvals:
		return refuse(http.StatusMethodNotAllowed,
			fmt.Sprintf("At least %d approving review is required by reviewers with write access.", rule.Reviews))
	case notAllowed[o.method] == "":
		return refuse(http.StatusUnprocessableEntity, "Invalid merge_method")
	case !slices.Contains(p.base.settings.Methods, o.method):
		return refuse(http.StatusMethodNotAllowed, notAllowed[o.method])
	}
	return nil
}

// writeMerge writes what the base shall become, without moving it.
func writeMerge(u *User, p *Pull, o order, base string) (string, error) {
	b := p.base.bare()
	tree, clean, err := b.mergeTree(base, p.now.HeadOID)
	if err != nil {
		return "", err
	}
	if !clean {
		return "", refuse(http.StatusMethodNotAllowed, "Pull Request is not mergeable")
	}
	c := commit{tree: tree, message: o.message(p), parents: []string{base}, author: u}
	switch o.method {
	case Merge:
		c.parents = append(c.parents, p.now.HeadOID)
	case Squash:
		c.author = p.Author
	case Rebase:
		tip, err := b.rebase(base, p.now.HeadOID)
		if err != nil {
			return "", refuse(http.StatusMethodNotAllowed, "This branch can't be rebased")
		}
		return tip, nil
	}
	return b.commitTree(c)
}

func (o order) message(p *Pull) string {
	title, body := o.title, o.body
	if title == "" && o.method == Squash {
		title = fmt.Sprintf("%s (#%d)", p.now.Title, p.Number)
	}
	if title == "" {
		title = fmt.Sprintf("Merge pull request #%d from %s/%s", p.Number, p.headOwner().Login, p.now.HeadRef)
		if body == "" {
			body = p.now.Title
		}
	}
	return strings.TrimSpace(title+"\n\n"+body) + "\n"
}

// mark names the author of a move for git's note.
func (s *Server) mark(kind Kind, u *User, pull int) []string {
	return []string{
		"STANDIN_AT=" + s.Now().UTC().Format(time.RFC3339Nano), "STANDIN_KIND=" + string(kind),
		"STANDIN_LOGIN=" + u.login(), "STANDIN_PULL=" + strconv.Itoa(pull),
	}
}

// updateBranch merges the base into the head, unless the head is no longer expected (empty guards nothing).
func (s *Server) updateBranch(u *User, p *Pull, expected string) error {
	switch {
	case p.now.Closed || p.head == nil:
		return refuse(http.StatusUnprocessableEntity, "Pull request is closed")
	case !s.mayPush(u, p.head, p.now.HeadRef):
		return forbid()
	case expected != "" && expected != p.now.HeadOID:
		return refuse(http.StatusUnprocessableEntity, "expected head sha didn’t match current head ref.")
	}
	base, b := p.baseTip(), p.base.bare()
	if b.contains(p.now.HeadOID, base) {
		return refuse(http.StatusUnprocessableEntity, "There are no new commits on the base branch.")
	}
	tree, clean, err := b.mergeTree(p.now.HeadOID, base)
	if err != nil {
		return err
	}
	if !clean {
		return refuse(http.StatusUnprocessableEntity, "merge conflict between base and head")
	}
	message := fmt.Sprintf("Merge branch '%s' into %s", p.now.BaseRef, p.now.HeadRef)
	tip, err := b.commitTree(commit{tree: tree, message: message, parents: []string{p.now.HeadOID, base}, author: u})
	if err != nil {
		return err
	}
	if p.head != p.base {
		if err := p.head.bare().seed(p.base.Dir, tip); err != nil {
			return err
		}
	}
	move := invocation{args: []string{"update-ref", "refs/heads/" + p.now.HeadRef, tip, p.now.HeadOID}, env: s.mark(KindPush, u, 0)}
	if _, err := p.head.bare().run(move); err != nil {
		return err
	}
	s.takeIn()
	return s.broken
}
