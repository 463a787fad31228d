package github

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// newRoutes is the REST API, by GitHub's paths.
func (s *Server) newRoutes() *http.ServeMux {
	mux := http.NewServeMux()
	handle := func(pattern string, h func(*exchange, *http.Request)) {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, req *http.Request) { h(w.(*exchange), req) })
	}
	inRepo := func(pattern string, h func(*exchange, *http.Request, *Repo)) {
		handle(pattern, func(x *exchange, req *http.Request) {
			owner, name := req.PathValue("owner"), req.PathValue("repo")
			r := s.repo(owner, name)
			if r == nil {
				s.inRepo(x, s.movedRepo(owner, name), func(r *Repo) { x.sendOn(req, r) })
				return
			}
			s.inRepo(x, r, func(r *Repo) { h(x, req, r) })
		})
	}
	onPull := func(pattern string, h func(*exchange, *Pull)) {
		inRepo(pattern, func(x *exchange, req *http.Request, r *Repo) { onPull(x, req, r, h) })
	}
	handle("/", func(x *exchange, _ *http.Request) { x.notFound() })
	handle("POST /graphql", func(x *exchange, _ *http.Request) { s.graphql(x) })
	handle("GET /{$}", func(x *exchange, _ *http.Request) {
		x.reply(http.StatusOK, doc{"current_user_url": x.site.api + "/user"})
	})
	handle("GET /meta", func(x *exchange, _ *http.Request) {
		x.reply(http.StatusOK, doc{"verifiable_password_authentication": false, "installed_version": "3.19.0"})
	})
	handle("GET /rate_limit", s.getRateLimit)
	handle("GET /user", s.getCaller)
	handle("GET /users/{login}", s.getUser)
	handle("/repositories/{id}", s.byNumber)
	handle("/repositories/{id}/{rest...}", s.byNumber)

	const repo = "/repos/{owner}/{repo}"
	inRepo("GET "+repo, s.getRepo)
	inRepo("GET "+repo+"/branches/{branch...}", s.getBranch)
	inRepo("GET "+repo+"/git/ref/{ref...}", s.getRef)
	inRepo("GET "+repo+"/git/trees/{tree}", s.getTree)
	inRepo("GET "+repo+"/git/blobs/{blob}", s.getBlob)
	inRepo("GET "+repo+"/commits/{ref...}", s.getCommit)
	inRepo("GET "+repo+"/compare/{range...}", s.compare)
	inRepo("GET "+repo+"/pulls", s.listPulls)
	inRepo("POST "+repo+"/pulls", s.createPull)
	onPull("GET "+repo+"/pulls/{number}", s.getPull)
	onPull("PATCH "+repo+"/pulls/{number}", s.editPull)
	onPull("GET "+repo+"/pulls/{number}/merge", s.getMerge)
	onPull("PUT "+repo+"/pulls/{number}/merge", s.putMerge)
	onPull("PUT "+repo+"/pulls/{number}/update-branch", s.putUpdateBranch)
	return mux
}

// inRepo goes on with a repository the caller may see. Of any other he learns nothing.
func (s *Server) inRepo(x *exchange, r *Repo, h func(*Repo)) {
	if r == nil || r.access(x.user) == NoAccess {
		x.notFound()
		return
	}
	h(r)
}

func onPull(x *exchange, req *http.Request, r *Repo, h func(*exchange, *Pull)) {
	n, err := strconv.Atoi(req.PathValue("number"))
	p := r.pull(n)
	if err != nil || p == nil {
		x.notFound()
		return
	}
	h(x, p)
}

// decode reads a JSON body, and answers 400 for one that is none.
func decode[T any](x *exchange) (in T, ok bool) {
	if len(x.body) == 0 {
		return in, true
	}
	if err := json.Unmarshal(x.body, &in); err != nil {
		x.fail(http.StatusBadRequest, "Problems parsing JSON")
		return in, false
	}
	return in, true
}

// error answers with GitHub's no, or with 500 for what is the stand-in's own fault.
func (x *exchange) error(err error) {
	if no, ok := errors.AsType[*refusal](err); ok {
		x.fail(no.status, no.message)
		return
	}
	x.fail(http.StatusInternalServerError, err.Error())
}

// invalid is GitHub's 422 with a list of what is wrong.
func (x *exchange) invalid(problem doc) {
	x.reply(http.StatusUnprocessableEntity, doc{
		"message": "Validation Failed", "errors": list{problem},
		"documentation_url": "https://docs.github.com/rest/pulls/pulls#create-a-pull-request", "status": "422",
	})
}

func (s *Server) getCaller(x *exchange, _ *http.Request) {
	if x.user == nil {
		x.fail(http.StatusUnauthorized, "Requires authentication")
		return
	}
	x.reply(http.StatusOK, x.fullUser(x.user))
}

func (s *Server) getUser(x *exchange, req *http.Request) {
	u := s.user(req.PathValue("login"))
	if u == nil {
		x.notFound()
		return
	}
	x.reply(http.StatusOK, x.fullUser(u))
}

func (s *Server) getRateLimit(x *exchange, _ *http.Request) {
	used := s.used[x.user.login()]
	core := doc{"limit": hourly, "used": used, "remaining": hourly - used, "reset": s.Now().Add(time.Hour).Unix()}
	search := doc{"limit": 30, "used": 0, "remaining": 30, "reset": s.Now().Add(time.Minute).Unix()}
	x.reply(http.StatusOK, doc{"rate": core, "resources": doc{"core": core, "graphql": core, "search": search}})
}

func (s *Server) getRepo(x *exchange, _ *http.Request, r *Repo) {
	d := x.repo(r)
	d["network_count"], d["subscribers_count"] = 0, 0
	if r.parent != nil {
		d["parent"], d["source"] = x.repo(r.parent), x.repo(r.parent)
	}
	x.reply(http.StatusOK, d)
}

// byNumber answers for a repository by the number that survives a new name, with all that lies below it.
func (s *Server) byNumber(x *exchange, req *http.Request) {
	id, err := strconv.ParseInt(req.PathValue("id"), 10, 64)
	if err != nil {
		x.notFound()
		return
	}
	s.inRepo(x, s.repoByID(id), func(r *Repo) {
		named := req.Clone(req.Context())
		named.URL.Path = strings.TrimSuffix("/repos/"+r.FullName()+"/"+req.PathValue("rest"), "/")
		s.routes.ServeHTTP(x, named)
	})
}

// sendOn answers a request for the name a repository had with its number. Other methods than GET keep their body on the way.
func (x *exchange) sendOn(req *http.Request, r *Repo) {
	status, message := http.StatusMovedPermanently, "Moved Permanently"
	if req.Method != http.MethodGet {
		status, message = http.StatusTemporaryRedirect, "Temporary Redirect"
	}
	rest := strings.SplitN(req.URL.Path, "/", 5)[4:]
	url := strings.Join(append([]string{fmt.Sprintf("%s/repositories/%d", x.site.api, r.ID)}, rest...), "/")
	x.header.Set("Location", url)
	x.reply(status, doc{"message": message, "url": url, "documentation_url": "https://docs.github.com/rest"})
}

// page answers with the part of a list the query asks for, and links to the others.
func (x *exchange) page(req *http.Request, all list) {
	q := req.URL.Query()
	number, _ := strconv.Atoi(q.Get("page"))
	number = max(number, 1)
	size, _ := strconv.Atoi(q.Get("per_page"))
	if size <= 0 {
		size = 30
	}
	size = min(size, 100)
	last := (len(all) + size - 1) / size
	var links []string
	link := func(n int, rel string) {
		links = append(links, fmt.Sprintf(`<%s%s?%s>; rel="%s"`, x.site.api, req.URL.Path, withPage(q, n), rel))
	}
	if number < last {
		link(number+1, "next")
		link(last, "last")
	}
	if number > 1 {
		link(number-1, "prev")
		link(1, "first")
	}
	if len(links) > 0 {
		x.header.Set("Link", strings.Join(links, ", "))
	}
	from := min((number-1)*size, len(all))
	answerJSON(x, http.StatusOK, all[from:min(from+size, len(all))])
}

func withPage(q url.Values, n int) string {
	q.Set("page", strconv.Itoa(n))
	return q.Encode()
}
