package github

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"strconv"
	"strings"
)

func (s *Server) getBranch(x *exchange, req *http.Request, r *Repo) {
	branch := req.PathValue("branch")
	tip := r.bare().tip(branch)
	if tip == "" {
		x.notFound()
		return
	}
	c, err := r.bare().readCommit(tip)
	if err != nil {
		x.error(err)
		return
	}
	_, protected := r.settings.Rules[branch]
	self := x.repoURL(r) + "/branches/" + branch
	x.reply(http.StatusOK, doc{
		"name": branch, "commit": x.commit(r, c), "protected": protected, "protection": doc{"enabled": protected},
		"protection_url": self + "/protection", "_links": doc{"self": self, "html": x.htmlURL(r) + "/tree/" + branch},
	})
}

func (s *Server) getRef(x *exchange, req *http.Request, r *Repo) {
	ref := "refs/" + req.PathValue("ref")
	oid := r.bare().resolve(ref)
	if oid == "" {
		x.notFound()
		return
	}
	kind := r.bare().objectType(oid)
	x.reply(http.StatusOK, doc{
		"ref": ref, "node_id": "REF_" + ref, "url": x.repoURL(r) + "/git/" + ref,
		"object": doc{"type": kind, "sha": oid, "url": x.objectURL(r, kind, oid)},
	})
}

func (s *Server) getTree(x *exchange, req *http.Request, r *Repo) {
	root := r.bare().resolve(req.PathValue("tree") + "^{tree}")
	if root == "" {
		x.notFound()
		return
	}
	args := []string{"ls-tree", "-z", "-l"}
	if req.URL.Query().Get("recursive") != "" {
		args = append(args, "-r", "-t")
	}
	out, err := r.bare().git(append(args, root)...)
	if err != nil {
		x.error(err)
		return
	}
	entries := list{}
	for entry := range strings.SplitSeq(strings.TrimSuffix(out, "\x00"), "\x00") {
		about, path, _ := strings.Cut(entry, "\t")
		f := strings.Fields(about)
		if len(f) != 4 {
			continue
		}
		e := doc{"path": path, "mode": f[0], "type": f[1], "sha": f[2], "url": x.objectURL(r, f[1], f[2])}
		if size, err := strconv.Atoi(f[3]); err == nil {
			e["size"] = size
		}
		entries = append(entries, e)
	}
	x.reply(http.StatusOK, doc{"sha": root, "url": x.objectURL(r, "tree", root), "tree": entries, "truncated": false})
}

func (s *Server) getBlob(x *exchange, req *http.Request, r *Repo) {
	oid := r.bare().resolve(req.PathValue("blob") + "^{blob}")
	if oid == "" {
		x.notFound()
		return
	}
	content, err := r.bare().readBlob(oid)
	if err != nil {
		x.error(err)
		return
	}
	x.reply(http.StatusOK, doc{
		"sha": oid, "node_id": "B_" + oid, "size": len(content), "url": x.objectURL(r, "blob", oid),
		"content": base64.StdEncoding.EncodeToString(content), "encoding": "base64",
	})
}

func (s *Server) getCommit(x *exchange, req *http.Request, r *Repo) {
	ref := req.PathValue("ref")
	oid := s.networkCommit(r, ref)
	if oid == "" {
		x.fail(http.StatusUnprocessableEntity, "No commit found for SHA: "+ref)
		return
	}
	c, err := s.readNetworkCommit(r, oid)
	if err != nil {
		x.error(err)
		return
	}
	x.reply(http.StatusOK, x.commit(r, c))
}

// networkCommit finds a commit as GitHub does: a full object id is known in a repository when any repository of its fork network has it.
func (s *Server) networkCommit(r *Repo, ref string) string {
	if oid := r.bare().resolve(ref + "^{commit}"); oid != "" || len(ref) != 40 {
		return oid
	}
	for _, other := range s.repos {
		if other.root() == r.root() && other.bare().objectType(ref) == "commit" {
			return ref
		}
	}
	return ""
}

func (s *Server) readNetworkCommit(r *Repo, oid string) (commitFacts, error) {
	c, err := r.bare().readCommit(oid)
	for _, other := range s.repos {
		if err == nil {
			break
		}
		if other.root() == r.root() {
			c, err = other.bare().readCommit(oid)
		}
	}
	return c, err
}

// root is the repository all forks of this one come from.
func (r *Repo) root() *Repo {
	for r.parent != nil {
		r = r.parent
	}
	return r
}

// compare answers how two commits, "base...head", stand to each other.
func (s *Server) compare(x *exchange, req *http.Request, r *Repo) {
	from, to, ok := strings.Cut(req.PathValue("range"), "...")
	b := r.bare()
	base, head := b.resolve(from+"^{commit}"), b.resolve(to+"^{commit}")
	if !ok || base == "" || head == "" {
		x.notFound()
		return
	}
	fork, err := b.git("merge-base", base, head)
	if err != nil {
		x.notFound()
		return
	}
	counts, err := b.git("rev-list", "--left-right", "--count", base+"..."+head)
	if err != nil {
		x.error(err)
		return
	}
	var behind, ahead int
	if _, err := fmt.Sscan(counts, &behind, &ahead); err != nil {
		x.error(fmt.Errorf("compare %s: read %q: %w", r.FullName(), counts, err))
		return
	}
	commits, err := x.commitsBetween(r, base, head)
	if err != nil {
		x.error(err)
		return
	}
	baseFacts, err := b.readCommit(base)
	if err != nil {
		x.error(err)
		return
	}
	forkFacts, err := b.readCommit(fork)
	if err != nil {
		x.error(err)
		return
	}
	x.reply(http.StatusOK, doc{
		"status": standing(ahead, behind), "ahead_by": ahead, "behind_by": behind, "total_commits": ahead,
		"base_commit": x.commit(r, baseFacts), "merge_base_commit": x.commit(r, forkFacts), "commits": commits,
	})
}

func standing(ahead, behind int) string {
	switch {
	case ahead > 0 && behind > 0:
		return "diverged"
	case ahead > 0:
		return "ahead"
	case behind > 0:
		return "behind"
	}
	return "identical"
}

func (x *exchange) commitsBetween(r *Repo, base, head string) (list, error) {
	out, err := r.bare().git("rev-list", "--reverse", "--max-count=250", base+".."+head)
	if err != nil {
		return nil, err
	}
	commits := list{}
	for oid := range strings.FieldsSeq(out) {
		c, err := r.bare().readCommit(oid)
		if err != nil {
			return nil, err
		}
		commits = append(commits, x.commit(r, c))
	}
	return commits, nil
}
