package page

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"sync"
	"time"
)

// How long secrets of the page count, and how many there are at once. They stand in memory alone, and only their
// hashes: what leaks from there opens nothing.
const (
	linkLifetime = time.Minute
	linksMax     = 8
	sessionIdle  = 12 * time.Hour
	sessionMax   = 7 * 24 * time.Hour
	sessionsMax  = 16
	secretBytes  = 32
)

// Doors are the links that log in, each once, and the sessions that came of them. They outlive a node that starts
// over in the same process.
type Doors struct {
	now func() time.Time

	mu       sync.Mutex
	links    map[secret]time.Time // until when
	sessions map[secret]*session
}

type secret [sha256.Size]byte

// session is one browser.
type session struct {
	csrf  string
	began time.Time
	used  time.Time
}

// NewDoors are closed doors. now is the wall clock; nil is the machine's.
func NewDoors(now func() time.Time) *Doors {
	if now == nil {
		now = time.Now
	}
	return &Doors{now: now, links: map[secret]time.Time{}, sessions: map[secret]*session{}}
}

// link makes the secret of a new login link. Of too many that nobody followed the oldest ends.
func (d *Doors) link() (text string, until time.Time) {
	text, key := draw()
	d.mu.Lock()
	defer d.mu.Unlock()
	d.forget()
	if len(d.links) >= linksMax {
		delete(d.links, oldest(d.links, func(t time.Time) time.Time { return t }))
	}
	until = d.now().Add(linkLifetime)
	d.links[key] = until
	return text, until
}

// enter uses a login link up and begins a session.
func (d *Doors) enter(link string) (cookie string, ok bool) {
	key := sha256.Sum256([]byte(link))
	d.mu.Lock()
	defer d.mu.Unlock()
	d.forget()
	if _, ok := d.links[key]; !ok {
		return "", false
	}
	delete(d.links, key)
	if len(d.sessions) >= sessionsMax {
		delete(d.sessions, oldest(d.sessions, func(s *session) time.Time { return s.used }))
	}
	cookie, name := draw()
	csrf, _ := draw()
	d.sessions[name] = &session{csrf: csrf, began: d.now(), used: d.now()}
	return cookie, true
}

// session is the one of a cookie; its csrf never changes.
func (d *Doors) session(cookie string) (session, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.forget()
	s, ok := d.sessions[sha256.Sum256([]byte(cookie))]
	if !ok {
		return session{}, false
	}
	s.used = d.now()
	return *s, true
}

// leave ends a session.
func (d *Doors) leave(cookie string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.sessions, sha256.Sum256([]byte(cookie)))
}

func (d *Doors) forget() {
	now := d.now()
	for key, until := range d.links {
		if !now.Before(until) {
			delete(d.links, key)
		}
	}
	for key, s := range d.sessions {
		if now.Sub(s.used) >= sessionIdle || now.Sub(s.began) >= sessionMax {
			delete(d.sessions, key)
		}
	}
}

func oldest[T any](all map[secret]T, when func(T) time.Time) (key secret) {
	var at time.Time
	for k, v := range all {
		if t := when(v); at.IsZero() || t.Before(at) {
			key, at = k, t
		}
	}
	return key
}

// draw makes a secret and what it is known by.
func draw() (text string, key secret) {
	raw := make([]byte, secretBytes)
	rand.Read(raw) //nolint:errcheck // it never fails
	text = hex.EncodeToString(raw)
	return text, sha256.Sum256([]byte(text))
}
