package page

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/parley-mesh/parley/node/api"
)

//go:embed static
var static embed.FS

// Times of the server. Answers that stream end by themselves, since their session does.
const (
	headerTimeout    = 5 * time.Second
	readTimeout      = 15 * time.Second
	idleTimeout      = 2 * time.Minute
	shutdownPatience = time.Second
	logins           = 10 // that failed, at once; one more every loginEvery
	loginEvery       = 6 * time.Second
	tries            = 10 // of passphrases, likewise
	tryEvery         = 20 * time.Second
)

// Node is what the page shows and does. Every field without a word about it is needed.
type Node struct {
	Reader  api.Reader
	Actor   api.Actor
	Laner   api.Laner
	Fleet   api.Fleet
	Pages   api.Pages
	Live    api.Live
	Keys    Keys
	Changed *api.Bell // rung whenever something may look otherwise
	// Unlock opens the approval key for one act.
	Unlock func(passphrase string) (api.Prover, error)
	// Demo says that nobody is asked for a passphrase (D-24).
	Demo bool
	// Routes are where conversations go on this computer.
	Routes func() ([]Route, error)
	// SwitchRoute switches a conversation on or off on this computer.
	SwitchRoute func(ctx context.Context, conversation string, on bool) (api.Outcome, error)
	// Settings are what the Setup tab shows beside the status.
	Settings func(context.Context) (Settings, error)
	// SetNotices changes whether and when this desktop is told of the inbox; [api.ErrUsage].
	SetNotices func(context.Context, Notices) (api.Outcome, error)
}

// Route is where one standing conversation goes on this computer (P1).
type Route struct {
	Conversation string
	Command      []string // empty: no session is routed
	On           bool
}

// Keys are the passkeys, as the page needs them. Options and answers are JSON of browsers.
type Keys interface {
	// Creation asks for a new passkey.
	Creation() ([]byte, error)
	// Add takes a browser's answer to Creation, once the approval key has agreed to it.
	Add(ctx context.Context, answer []byte, name string, by api.Prover) (api.Outcome, error)
	// Request asks for an answer to a challenge.
	Request(challenge []byte) ([]byte, error)
}

// Server is the page of one node.
type Server struct {
	Node
	Listeners Listeners
	Doors     *Doors
	// Now is the wall clock; nil is the machine's.
	Now func() time.Time

	once    sync.Once
	handler http.Handler
	logins  bucket
	tries   bucket
	unlocks chan struct{} // one passphrase at a time: each costs a second and much memory
	streams shares
	crowd   crowd
}

// Serve answers until ctx ends, and gives the port back.
func (s *Server) Serve(ctx context.Context) error {
	requests, stop := context.WithCancel(ctx)
	defer stop()
	server := &http.Server{
		Handler: s.Handler(), ReadHeaderTimeout: headerTimeout, ReadTimeout: readTimeout, IdleTimeout: idleTimeout,
		MaxHeaderBytes: requestBytesMax, BaseContext: func(net.Listener) context.Context { return requests },
		ConnContext: s.crowd.came, ConnState: s.crowd.state,
	}
	ended := make(chan error, len(s.Listeners.all))
	for _, l := range s.Listeners.all {
		go func() { ended <- server.Serve(l) }()
	}
	var failed error
	left := len(s.Listeners.all)
	select {
	case failed = <-ended:
		left--
		stop()
	case <-ctx.Done():
	}
	patience, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownPatience)
	defer cancel()
	err := server.Shutdown(patience)
	if errors.Is(err, context.DeadlineExceeded) {
		err = server.Close()
	}
	for range left {
		<-ended
	}
	if failed != nil && !errors.Is(failed, http.ErrServerClosed) {
		err = errors.Join(fmt.Errorf("serve the page: %w", failed), err)
	}
	return err
}

// Close gives the port of a page back that is not served. No page has none.
func (s *Server) Close() error {
	if s == nil {
		return nil
	}
	return s.Listeners.Close()
}

// Link makes a link that logs in once.
func (s *Server) Link() api.PageLink {
	text, until := s.Doors.link()
	return api.PageLink{URL: s.Listeners.Origin() + "/login?t=" + text, Expires: until}
}

// Handler is the page behind its guard.
func (s *Server) Handler() http.Handler {
	s.once.Do(s.assemble)
	return s.handler
}

func (s *Server) assemble() {
	if s.Now == nil {
		s.Now = time.Now
	}
	s.logins = bucket{size: logins, every: loginEvery, now: s.Now}
	s.tries = bucket{size: tries, every: tryEvery, now: s.Now}
	s.unlocks, s.streams = make(chan struct{}, 1), shares{each: streamsEach, all: streamsMax}
	mux := http.NewServeMux()
	files, err := fs.Sub(static, "static")
	if err != nil {
		panic(err) // the folder is in the program
	}
	mux.Handle("GET /static/", http.StripPrefix("/static/", cached(http.FileServerFS(files))))
	mux.HandleFunc("GET /login", s.login)
	mux.HandleFunc("POST /logout", s.known(s.logout))
	mux.HandleFunc("GET /events", s.known(s.events))
	mux.HandleFunc("GET /press", s.known(s.ask))
	mux.HandleFunc("POST /press", s.known(s.press))
	mux.HandleFunc("POST /press/challenge", s.known(s.challenge))
	mux.HandleFunc("POST /passkey/new", s.known(s.newPasskey))
	mux.HandleFunc("POST /do", s.known(s.do))
	for path := range views {
		if path == "/" {
			path = "/{$}"
		}
		mux.HandleFunc("GET "+path, s.known(s.show))
	}
	mux.HandleFunc("/", s.known(func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusNotFound)
		s.write(w, r, frame{Title: "Not here"}, empty("There is no such page", "The tabs above lead to what there is."))
	}))
	s.handler = s.guard(mux)
}

// asset is the address of one of the page's own files. It holds what is in the file, so that a browser may keep it for
// good, and never shows the page with those of another version.
func asset(name string) string { return "/static/" + name + "?" + assets()[name] }

var assets = sync.OnceValue(func() map[string]string {
	out := map[string]string{}
	entries, err := static.ReadDir("static")
	if err != nil {
		panic(err) // the folder is in the program
	}
	for _, e := range entries {
		text, err := static.ReadFile("static/" + e.Name())
		if err != nil {
			panic(err)
		}
		out[e.Name()] = markOf(string(text))
	}
	return out
})

// cached lets the page's own files be kept where their address says what is in them.
func cached(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if filepath.Ext(r.URL.Path) == "" {
			http.NotFound(w, r) // no listings
			return
		}
		if r.URL.RawQuery == assets()[strings.TrimPrefix(r.URL.Path, "/")] {
			w.Header().Set("Cache-Control", "private, max-age=31536000, immutable")
		}
		next.ServeHTTP(w, r)
	})
}

// login uses a link up. Its answer is a page that leads on: a cookie of this strictness would not be sent by a
// redirect that another site began, and the link is not left in the window's history.
func (s *Server) login(w http.ResponseWriter, r *http.Request) {
	cookie, ok := s.Doors.enter(r.URL.Query().Get("t"))
	if !ok && !s.logins.take() { // who tries links that are none keeps nobody else out
		http.Error(w, "too many tries; wait a minute, then run parley open", http.StatusTooManyRequests)
		return
	}
	if !ok {
		s.stranger(w, r)
		return
	}
	http.SetCookie(w, &http.Cookie{
		Name: s.cookieName(), Value: cookie, Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode,
		MaxAge: int(sessionMax / time.Second),
	})
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_ = welcome().Render(r.Context(), w) // a browser that has gone is no error
}

func (s *Server) logout(w http.ResponseWriter, r *http.Request) {
	if c, err := r.Cookie(s.cookieName()); err == nil {
		s.Doors.leave(c.Value)
	}
	http.SetCookie(w, &http.Cookie{Name: s.cookieName(), Path: "/", MaxAge: -1, HttpOnly: true, SameSite: http.SameSiteStrictMode})
	w.Header().Set("HX-Redirect", "/")
	w.WriteHeader(http.StatusNoContent)
}

// stranger answers whoever is not logged in.
func (s *Server) stranger(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(http.StatusUnauthorized)
	_ = locked().Render(r.Context(), w)
}
