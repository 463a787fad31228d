package page

import (
	"bytes"
	"context"
	"maps"
	"net/http"
	"net/url"
	"strconv"

	"github.com/a-h/templ"

	"github.com/parley-mesh/parley/node/api"
)

// frame is what stands around a view.
type frame struct {
	Title  string
	Path   string // of the tab
	Live   string // what the stream is asked for; "" does not change
	Mark   string // of the view as it stands in it
	Status api.Status
	CSRF   string
	Demo   bool
}

// shown is a view as it stands now.
type shown struct {
	title string
	body  templ.Component
	say   string // what a screen reader is told when it has changed
}

// view is one tab of the panel, or a page below one.
type view struct {
	tab  string // path of the tab that it belongs to
	make func(*Server, context.Context, url.Values) (shown, error)
}

var views map[string]view

// tab is one tab of the panel "Dev Pipeline".
type tab struct{ Path, Name string }

var tabs = []tab{
	{"/", "Inbox"},
	{"/conflicts", "Conflicts"},
	{"/threads", "Threads"},
	{"/intents", "Intents"},
	{"/computers", "Computers"},
	{"/setup", "Setup"},
	{"/audit", "Audit"},
	{"/saved", "Est. time saved"},
	{"/help", "Help"},
}

func init() {
	views = map[string]view{
		"/":          {"/", (*Server).inbox},
		"/conflicts": {"/conflicts", (*Server).conflicts},
		"/conflict":  {"/conflicts", (*Server).conflict},
		"/intents":   {"/intents", (*Server).intents},
		"/saved":     {"/saved", (*Server).saved},
		"/threads":   {"/threads", (*Server).threads},
		"/thread":    {"/threads", (*Server).thread},
		"/computers": {"/computers", (*Server).computers},
		"/setup":     {"/setup", (*Server).setup},
		"/audit":     {"/audit", (*Server).audit},
		"/kept":      {"/audit", (*Server).kept},
		"/help":      {"/help", (*Server).help},
	}
}

// show answers with a whole view.
func (s *Server) show(w http.ResponseWriter, r *http.Request) {
	v := views[r.URL.Path]
	out, err := v.make(s, r.Context(), r.URL.Query())
	if err != nil {
		s.fail(w, r, v.tab, err)
		return
	}
	text, err := s.region(r.Context(), out)
	if err != nil {
		s.fail(w, r, v.tab, err)
		return
	}
	s.write(w, r, frame{Title: out.title, Path: v.tab, Live: r.URL.RequestURI(), Mark: markOf(text)}, templ.Raw(text))
}

// fail shows an error as the commands do: what, and what to do about it.
func (s *Server) fail(w http.ResponseWriter, r *http.Request, tab string, err error) {
	f := api.Explain(err)
	w.WriteHeader(f.Status)
	s.write(w, r, frame{Title: "Something is wrong", Path: tab}, trouble(f))
}

func (s *Server) write(w http.ResponseWriter, r *http.Request, f frame, body templ.Component) {
	f.CSRF, f.Demo = sessionOf(r).csrf, s.Demo
	f.Status, _ = s.Reader.Status() // without it the page says less
	var out bytes.Buffer
	if err := layout(f, body).Render(r.Context(), &out); err != nil {
		http.Error(w, "the page cannot be written: "+err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Write(out.Bytes()) //nolint:errcheck // a browser that has gone is no error
}

// Lists are shown in pages of this many rows, so that a long story is as quick as a short one.
const (
	rowsMax  = 50
	cardsMax = 25
)

// pager is one page of a list.
type pager struct {
	Path         string
	Query        url.Values
	Page, Pages  int // from 1
	First, Total int
}

// cut is the wanted page of all.
func cut[T any](all []T, q url.Values, path string, size int) ([]T, pager) {
	pages := max(1, (len(all)+size-1)/size)
	n, _ := strconv.Atoi(q.Get("page"))
	n = min(max(n, 1), pages)
	from := (n - 1) * size
	return all[from:min(len(all), from+size)], pager{Path: path, Query: q, Page: n, Pages: pages, First: from + 1, Total: len(all)}
}

// To is the address of another page of the same list.
func (p pager) To(n int) templ.SafeURL {
	q := url.Values{}
	maps.Copy(q, p.Query)
	q.Set("page", strconv.Itoa(n))
	q.Del("open")
	return templ.SafeURL(p.Path + "?" + q.Encode())
}
