package github

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// listPulls lists pull requests, the newest first, without what only a single one tells (mergeable and the counts).
func (s *Server) listPulls(x *exchange, req *http.Request, r *Repo) {
	q := req.URL.Query()
	state, base, head := q.Get("state"), q.Get("base"), q.Get("head")
	all := list{}
	for _, p := range slices.Backward(r.pulls) {
		switch {
		case state == "closed" && !p.now.Closed, state != "closed" && state != "all" && p.now.Closed:
		case base != "" && base != p.now.BaseRef:
		case head != "" && head != p.headOwner().Login+":"+p.now.HeadRef:
		default:
			all = append(all, x.pull(p))
		}
	}
	if q.Get("direction") == "asc" {
		slices.Reverse(all)
	}
	x.page(req, all)
}

func (s *Server) createPull(x *exchange, _ *http.Request, r *Repo) {
	in, ok := decode[struct {
		Title, Head, Base, Body string
		Draft                   bool
		MaintainerCanModify     *bool `json:"maintainer_can_modify"`
	}](x)
	if !ok {
		return
	}
	if x.user == nil {
		x.error(forbid())
		return
	}
	head, ref := s.headRepo(r, in.Head)
	if head == nil {
		x.invalid(doc{"resource": "PullRequest", "field": "head", "code": "invalid"})
		return
	}
	if slices.ContainsFunc(r.pulls, func(p *Pull) bool {
		return !p.now.Closed && p.head == head && p.now.HeadRef == ref && p.now.BaseRef == in.Base
	}) {
		x.invalid(doc{
			"resource": "PullRequest", "code": "custom",
			"message": "A pull request already exists for " + head.Owner.Login + ":" + ref + ".",
		})
		return
	}
	p, err := s.openPull(x.user, r, in.Base, head, ref, in.Title, in.Draft)
	if err != nil {
		x.invalid(doc{"resource": "PullRequest", "field": "base", "code": "invalid"})
		return
	}
	p.now.Body = in.Body
	if in.MaintainerCanModify != nil {
		p.now.MaintainerCanModify = *in.MaintainerCanModify && head != r
	}
	s.edited(p, x.user)
	s.replyPull(x, http.StatusCreated, p)
}

// headRepo reads "branch" or "owner:branch"; nil when there is no such branch in r or a fork of it.
func (s *Server) headRepo(r *Repo, head string) (*Repo, string) {
	owner, ref, cross := strings.Cut(head, ":")
	if !cross {
		owner, ref = r.Owner.Login, head
	}
	found := s.repoWhere(func(f *Repo) bool { return strings.EqualFold(f.Owner.Login, owner) && (f == r || f.parent == r) })
	if found == nil || found.bare().tip(ref) == "" {
		return nil, ref
	}
	return found, ref
}

func (s *Server) getPull(x *exchange, p *Pull) { s.replyPull(x, http.StatusOK, p) }

// replyPull is a whole pull request; asking for one starts the work on whether it merges.
func (s *Server) replyPull(x *exchange, status int, p *Pull) {
	mergeable, state, err := s.mergeState(p)
	if err != nil {
		x.error(err)
		return
	}
	size, err := p.size()
	if err != nil {
		x.error(err)
		return
	}
	d := x.pull(p)
	d["mergeable"], d["rebaseable"], d["mergeable_state"] = mergeable, mergeable, state
	d["merged"], d["merged_by"] = p.now.Merged, x.optionalUser(s.user(p.now.MergedBy))
	d["comments"], d["review_comments"], d["maintainer_can_modify"] = 0, 0, p.now.MaintainerCanModify
	d["additions"], d["deletions"], d["changed_files"], d["commits"] = size.additions, size.deletions, size.files, size.commits
	x.reply(status, d)
}

func (s *Server) editPull(x *exchange, p *Pull) {
	in, ok := decode[struct{ Title, Body, Base, State *string }](x)
	if !ok {
		return
	}
	if !p.base.access(x.user).writes() && (x.user == nil || x.user != p.Author) {
		x.error(forbid())
		return
	}
	set(&p.now.Title, in.Title)
	set(&p.now.Body, in.Body)
	set(&p.now.BaseRef, in.Base)
	if in.State != nil && !p.now.Merged {
		p.now.Closed, p.now.ClosedAt = *in.State == "closed", time.Time{}
		if p.now.Closed {
			p.now.ClosedAt = s.Now()
		}
	}
	s.edited(p, x.user)
	s.replyPull(x, http.StatusOK, p)
}

// set changes what the caller named.
func set(field, value *string) {
	if value != nil {
		*field = *value
	}
}

func (s *Server) getMerge(x *exchange, p *Pull) {
	if !p.now.Merged {
		x.notFound()
		return
	}
	x.status = http.StatusNoContent
}

func (s *Server) putMerge(x *exchange, p *Pull) {
	in, ok := decode[struct {
		SHA           string `json:"sha"`
		Method        string `json:"merge_method"`
		CommitTitle   string `json:"commit_title"`
		CommitMessage string `json:"commit_message"`
	}](x)
	if !ok {
		return
	}
	oid, err := s.merge(x.user, p, order{method: Method(strings.ToUpper(in.Method)), head: in.SHA, title: in.CommitTitle, body: in.CommitMessage})
	if err != nil {
		x.error(err)
		return
	}
	x.reply(http.StatusOK, doc{"sha": oid, "merged": true, "message": "Pull Request successfully merged"})
}

func (s *Server) putUpdateBranch(x *exchange, p *Pull) {
	in, ok := decode[struct {
		Expected string `json:"expected_head_sha"`
	}](x)
	if !ok {
		return
	}
	if err := s.updateBranch(x.user, p, in.Expected); err != nil {
		x.error(err)
		return
	}
	x.reply(http.StatusAccepted, doc{"message": "Updating pull request branch.", "url": x.repoURL(p.base) + "/pulls/" + strconv.Itoa(p.Number)})
}
