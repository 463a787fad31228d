package github

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// timestamp is null for a time that has not come.
func timestamp(t time.Time) *string {
	if t.IsZero() {
		return nil
	}
	text := t.UTC().Format(time.RFC3339)
	return &text
}

// orNull turns an empty string into null.
func orNull(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

func (x *exchange) repoURL(r *Repo) string { return x.site.api + "/repos/" + r.FullName() }
func (x *exchange) htmlURL(r *Repo) string { return x.site.web + "/" + r.FullName() }
func (x *exchange) pullURL(p *Pull) string {
	return fmt.Sprintf("%s/pull/%d", x.htmlURL(p.base), p.Number)
}

func (x *exchange) objectURL(r *Repo, kind, oid string) string {
	return fmt.Sprintf("%s/git/%ss/%s", x.repoURL(r), kind, oid)
}

// userLinks are the templates below a user's own address.
var userLinks = map[string]string{
	"followers": "/followers", "following": "/following{/other_user}", "gists": "/gists{/gist_id}",
	"starred": "/starred{/owner}{/repo}", "subscriptions": "/subscriptions", "organizations": "/orgs", "repos": "/repos",
	"events": "/events{/privacy}", "received_events": "/received_events",
}

func (x *exchange) userDoc(u *User) doc {
	self := x.site.api + "/users/" + u.Login
	kind := "User"
	if u.Org {
		kind = "Organization"
	}
	d := doc{
		"login": u.Login, "id": u.ID, "node_id": u.nodeID(), "avatar_url": x.site.web + "/" + u.Login + ".png", "gravatar_id": "",
		"url": self, "html_url": x.site.web + "/" + u.Login, "type": kind, "site_admin": false, "user_view_type": "public",
	}
	for name, path := range userLinks {
		d[name+"_url"] = self + path
	}
	return d
}

// optionalUser is null for nobody.
func (x *exchange) optionalUser(u *User) doc {
	if u == nil {
		return nil
	}
	return x.userDoc(u)
}

func (x *exchange) fullUser(u *User) doc {
	d := x.userDoc(u)
	maps.Copy(d, doc{
		"name": u.Name, "company": nil, "blog": "", "location": nil, "email": nil, "hireable": nil, "bio": nil,
		"twitter_username": nil, "public_repos": 1, "public_gists": 0, "followers": 0, "following": 0,
		"created_at": "2020-01-01T00:00:00Z", "updated_at": "2020-01-01T00:00:00Z",
	})
	return d
}

// repoLinks are the templates below a repository's own address.
var repoLinks = map[string]string{
	"archive": "/{archive_format}{/ref}", "assignees": "/assignees{/user}", "blobs": "/git/blobs{/sha}",
	"branches": "/branches{/branch}", "collaborators": "/collaborators{/collaborator}", "comments": "/comments{/number}",
	"commits": "/commits{/sha}", "compare": "/compare/{base}...{head}", "contents": "/contents/{+path}", "contributors": "/contributors",
	"deployments": "/deployments", "downloads": "/downloads", "events": "/events", "forks": "/forks", "git_commits": "/git/commits{/sha}",
	"git_refs": "/git/refs{/sha}", "git_tags": "/git/tags{/sha}", "hooks": "/hooks", "issue_comment": "/issues/comments{/number}",
	"issue_events": "/issues/events{/number}", "issues": "/issues{/number}", "keys": "/keys{/key_id}", "labels": "/labels{/name}",
	"languages": "/languages", "merges": "/merges", "milestones": "/milestones{/number}",
	"notifications": "/notifications{?since,all,participating}", "pulls": "/pulls{/number}", "releases": "/releases{/id}",
	"stargazers": "/stargazers", "statuses": "/statuses/{sha}", "subscribers": "/subscribers", "subscription": "/subscription",
	"tags": "/tags", "teams": "/teams", "trees": "/git/trees{/sha}",
}

func (x *exchange) repo(r *Repo) doc {
	self, html, open := x.repoURL(r), x.htmlURL(r), 0
	for _, p := range r.pulls {
		if !p.now.Closed {
			open++
		}
	}
	_, host, _ := strings.Cut(html, "://")
	d := doc{
		"id": r.ID, "node_id": r.nodeID(), "name": r.Name, "full_name": r.FullName(), "owner": x.userDoc(r.Owner), "fork": r.parent != nil,
		"url": self, "html_url": html, "clone_url": html + ".git", "svn_url": html, "git_url": "git://" + host + ".git",
		"ssh_url": "git@github.com:" + r.FullName() + ".git", "mirror_url": nil, "homepage": nil, "description": nil, "language": nil,
		"license": nil, "topics": []string{}, "default_branch": r.Default, "size": 0, "forks": 0, "forks_count": 0, "stargazers_count": 0,
		"watchers": 0, "watchers_count": 0, "open_issues": open, "open_issues_count": open, "has_issues": true, "has_projects": false,
		"has_wiki": false, "has_pages": false, "has_downloads": false, "has_discussions": false, "archived": false, "disabled": false,
		"private": r.settings.Private, "visibility": r.visibility(), "permissions": r.permissions(r.access(x.user)),
		"allow_merge_commit": r.allows(Merge), "allow_squash_merge": r.allows(Squash), "allow_rebase_merge": r.allows(Rebase),
		"allow_forking": true, "pushed_at": timestamp(r.settings.Created), "created_at": timestamp(r.settings.Created),
		"updated_at": timestamp(r.settings.Created),
	}
	for name, path := range repoLinks {
		d[name+"_url"] = self + path
	}
	return d
}

func (r *Repo) allows(m Method) bool { return slices.Contains(r.settings.Methods, m) }

func (r *Repo) visibility() string {
	if r.settings.Private {
		return "private"
	}
	return "public"
}

func (r *Repo) permissions(a Access) doc {
	return doc{
		"admin": a == AdminAccess, "maintain": a == AdminAccess || a == MaintainAccess, "push": a.writes(), "triage": a.writes(),
		"pull": a != NoAccess,
	}
}

// side is the head or base of a pull request; the repository is null once it is deleted.
func (x *exchange) side(r *Repo, ref, oid string) doc {
	if r == nil {
		return doc{"label": "unknown repository", "ref": ref, "sha": oid, "user": nil, "repo": nil}
	}
	return doc{"label": r.Owner.Login + ":" + ref, "ref": ref, "sha": oid, "user": x.userDoc(r.Owner), "repo": x.repo(r)}
}

func (p *Pull) association() string {
	switch {
	case p.Author == p.base.Owner:
		return "OWNER"
	case p.base.access(p.Author).writes():
		return "COLLABORATOR"
	}
	return "CONTRIBUTOR"
}

// mergeCommit is merge_commit_sha: of the merge, else of the last clean trial, which may be of commits long gone.
func (p *Pull) mergeCommit() string {
	if p.now.Merged {
		return p.now.MergeOID
	}
	return p.trial.commit
}

func (x *exchange) pull(p *Pull) doc {
	self, html := fmt.Sprintf("%s/pulls/%d", x.repoURL(p.base), p.Number), x.pullURL(p)
	issue := fmt.Sprintf("%s/issues/%d", x.repoURL(p.base), p.Number)
	comment, statuses := x.repoURL(p.base)+"/pulls/comments{/number}", x.repoURL(p.base)+"/statuses/"+p.now.HeadOID
	state := "open"
	if p.now.Closed {
		state = "closed"
	}
	link := func(href string) doc { return doc{"href": href} }
	return doc{
		"id": p.ID, "node_id": p.nodeID(), "number": p.Number, "state": state, "locked": false, "title": p.now.Title,
		"body": orNull(p.now.Body), "user": x.userDoc(p.Author), "draft": p.now.Draft, "url": self, "html_url": html,
		"diff_url": html + ".diff", "patch_url": html + ".patch", "issue_url": issue, "commits_url": self + "/commits",
		"review_comments_url": self + "/comments", "review_comment_url": comment, "comments_url": issue + "/comments",
		"statuses_url": statuses, "created_at": timestamp(p.now.CreatedAt), "updated_at": timestamp(p.now.UpdatedAt),
		"closed_at": timestamp(p.now.ClosedAt), "merged_at": timestamp(p.now.MergedAt), "merge_commit_sha": orNull(p.mergeCommit()),
		"assignee": nil, "assignees": list{}, "requested_reviewers": list{}, "requested_teams": list{}, "labels": list{}, "milestone": nil,
		"head": x.side(p.head, p.now.HeadRef, p.now.HeadOID), "base": x.side(p.base, p.now.BaseRef, p.now.BaseOID),
		"author_association": p.association(), "auto_merge": nil,
		"_links": doc{
			"self": link(self), "html": link(html), "issue": link(issue), "comments": link(issue + "/comments"),
			"review_comments": link(self + "/comments"), "review_comment": link(comment), "commits": link(self + "/commits"),
			"statuses": link(statuses),
		},
	}
}

func (x *exchange) commit(r *Repo, c commitFacts) doc {
	self := x.repoURL(r) + "/commits/" + c.oid
	parents := list{}
	for _, oid := range c.parents {
		parents = append(parents, doc{"sha": oid, "url": x.repoURL(r) + "/commits/" + oid, "html_url": x.htmlURL(r) + "/commit/" + oid})
	}
	who := func(s signature) doc { return doc{"name": s.name, "email": s.email, "date": s.date} }
	return doc{
		"sha": c.oid, "node_id": "C_" + c.oid, "url": self, "html_url": x.htmlURL(r) + "/commit/" + c.oid,
		"comments_url": self + "/comments", "author": nil, "committer": nil, "parents": parents,
		"stats": doc{"total": 0, "additions": 0, "deletions": 0}, "files": list{},
		"commit": doc{
			"url": x.objectURL(r, "commit", c.oid), "author": who(c.author), "committer": who(c.committer), "message": c.message,
			"tree": doc{"sha": c.tree, "url": x.objectURL(r, "tree", c.tree)}, "comment_count": 0,
			"verification": doc{"verified": false, "reason": "unsigned", "signature": nil, "payload": nil, "verified_at": nil},
		},
	}
}
