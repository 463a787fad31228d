package page

import (
	"context"
	"crypto/subtle"
	"net/http"
	"strconv"
	"sync"
	"time"
)

// csrfHeader carries the session's second secret on everything that changes something: a cookie alone does not tell
// the page from another one on this computer, since cookies ignore ports.
const csrfHeader = "X-Parley-Page"

// policy lets the page be made of its own files and nothing else, and be framed by nobody.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
	"form-action 'none'; base-uri 'none'; frame-ancestors 'none'"

// Limits of what one page may cost. Answers that stream are counted on their own, too.
const (
	requestsMax     = 32
	requestsEach    = 16 // of one session, beside its streams
	strangersMax    = 16 // requests without a session: any user of this computer can make them
	streamsMax      = 24
	streamsEach     = 8 // of one session
	requestBytesMax = 64 << 10
)

// guard is what every request passes, in this order: the name it was asked under (a name that was bent to this
// address, as by DNS rebinding, is not ours), where it comes from, and how many there are.
func (s *Server) guard(next http.Handler) http.Handler {
	host := s.Listeners.Host()
	cross := http.NewCrossOriginProtection()
	own := shares{each: requestsEach + streamsEach, all: requestsMax + streamsMax}
	others := shares{each: strangersMax, all: strangersMax}
	inner := cross.Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if foreign(r) {
			http.Error(w, "only the page itself may ask this", http.StatusForbidden)
			return
		}
		have, in := s.sessionFor(r) // whose csrf is its name here
		slots := &others
		if in {
			slots = &own
		}
		if !s.crowd.belongs(r, have.csrf) {
			w.Header().Set("Connection", "close")
			http.Error(w, "too many connections of one session; close some windows of this page", http.StatusServiceUnavailable)
			return
		}
		give, ok := slots.take(have.csrf)
		if !ok {
			http.Error(w, "too many requests at once; try again in a moment", http.StatusServiceUnavailable)
			return
		}
		defer give()
		r.Body = http.MaxBytesReader(w, r.Body, requestBytesMax)
		next.ServeHTTP(w, r)
	}))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Frame-Options", "DENY")
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Permissions-Policy", "publickey-credentials-get=(self), publickey-credentials-create=(self), camera=(), microphone=(), geolocation=()")
		h.Set("Cache-Control", "no-store")
		if r.Host != host {
			http.Error(w, "this is the page of parley; it answers as http://"+host+" alone", http.StatusForbidden)
			return
		}
		inner.ServeHTTP(w, r)
	})
}

// foreign reports whether another site, or another port of this computer, asks for more than to be shown the page
// in a window of its own.
func foreign(r *http.Request) bool {
	switch r.Header.Get("Sec-Fetch-Site") {
	case "", "same-origin":
		return false
	}
	return r.Header.Get("Sec-Fetch-Mode") != "navigate" || r.Header.Get("Sec-Fetch-Dest") != "document"
}

type sessionKey struct{}

// known lets whoever is logged in through. A change also needs the header.
func (s *Server) known(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		have, ok := s.sessionFor(r)
		if !ok {
			s.stranger(w, r)
			return
		}
		safe := r.Method == http.MethodGet || r.Method == http.MethodHead
		if !safe && subtle.ConstantTimeCompare([]byte(r.Header.Get(csrfHeader)), []byte(have.csrf)) != 1 {
			http.Error(w, "the page's own header is missing", http.StatusForbidden)
			return
		}
		next(w, r.WithContext(context.WithValue(r.Context(), sessionKey{}, have)))
	}
}

// sessionFor is the session of a request's cookie.
func (s *Server) sessionFor(r *http.Request) (session, bool) {
	cookie, err := r.Cookie(s.cookieName())
	if err != nil {
		return session{}, false
	}
	return s.Doors.session(cookie.Value)
}

func sessionOf(r *http.Request) session {
	s, _ := r.Context().Value(sessionKey{}).(session)
	return s
}

// cookieName holds the port: two nodes on one computer do not log each other out.
func (s *Server) cookieName() string { return "parley-" + strconv.Itoa(s.Listeners.Port) }

// bucket lets so many through at once, and one more each time that every has passed.
type bucket struct {
	size  int
	every time.Duration
	now   func() time.Time

	mu   sync.Mutex
	used int
	at   time.Time
}

func (b *bucket) take() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := b.now()
	if back := int(now.Sub(b.at) / b.every); back > 0 {
		b.used = max(0, b.used-back)
		b.at = now
	}
	if b.used >= b.size {
		return false
	}
	b.used++
	return true
}
