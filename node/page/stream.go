package page

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/parley-mesh/parley/node/api"
)

// A stream looks again as soon as the node's bell rings, but not twice within settle, and after pulse in any case: some
// of what is shown, such as who is connected, rings no bell.
const (
	settle = 40 * time.Millisecond
	pulse  = 3 * time.Second
	beat   = 15 * time.Second
)

// events pushes a view whenever it looks otherwise than last time.
func (s *Server) events(w http.ResponseWriter, r *http.Request) {
	at, err := url.Parse(r.URL.Query().Get("view"))
	v, ok := view{}, false
	if err == nil {
		v, ok = views[at.Path]
	}
	if !ok {
		http.Error(w, "there is no such view", http.StatusNotFound)
		return
	}
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("X-Accel-Buffering", "no")
	give, ok := s.streams.take(sessionOf(r).csrf)
	if !ok { // as an event: a window is not shown what a refused stream says
		_, _ = w.Write([]byte("event: full\ndata: too many windows of this page are open; close some\n\n"))
		return
	}
	defer give()
	// The browser says which view it shows, so that it is not given the same one again.
	has := cmp.Or(r.Header.Get("Last-Event-ID"), r.URL.Query().Get("have"))
	out := stream{w: w, c: http.NewResponseController(w), until: r.Context(), last: has}
	cookie, _ := r.Cookie(s.cookieName())
	for {
		changed := s.Changed.Changed()
		if _, in := s.Doors.session(cookie.Value); !in || !out.look(s, v, at.Query()) {
			return
		}
		if !wait(r.Context(), changed, out.looked.Add(settle)) {
			return
		}
	}
}

// wait waits for news, and no shorter than until soonest, so that a burst of it is not told piece by piece.
func wait(ctx context.Context, changed <-chan struct{}, soonest time.Time) bool {
	most := time.NewTimer(pulse)
	defer most.Stop()
	select {
	case <-changed:
		calm := time.NewTimer(time.Until(soonest))
		defer calm.Stop()
		select {
		case <-calm.C:
		case <-ctx.Done():
		}
	case <-most.C:
	case <-ctx.Done():
	}
	return ctx.Err() == nil
}

// stream is one browser that watches one view.
type stream struct {
	w      http.ResponseWriter
	c      *http.ResponseController
	until  context.Context
	last   string // mark of the view that it shows
	told   bool   // something was sent
	looked time.Time
	at     time.Time // of the last sending
}

// look sends the view if it has changed; false: nobody listens any more.
func (o *stream) look(s *Server, v view, q url.Values) bool {
	now, err := s.live(o.until, v, q)
	o.looked = time.Now()
	if err != nil {
		var sorry bytes.Buffer
		_ = trouble(api.Explain(err)).Render(o.until, &sorry) // it is written to memory
		now = sorry.String()
	}
	mark, first := markOf(now), !o.told
	o.told = true
	switch {
	case mark != o.last:
		o.last = mark
		return o.send("event: view\nid: " + mark + "\n" + data(now))
	case first:
		return o.send("event: same\nid: " + mark + "\ndata:\n\n")
	case time.Since(o.at) >= beat:
		return o.send(": here\n\n")
	}
	return true
}

// markOf tells one view from another.
func markOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:8])
}

func (o *stream) send(text string) bool {
	o.at = time.Now()
	_ = o.c.SetWriteDeadline(time.Now().Add(beat)) // where it cannot be set, none was
	_, err := o.w.Write([]byte(text))
	return err == nil && o.c.Flush() == nil
}

// live is a view as the stream brings it.
func (s *Server) live(ctx context.Context, v view, q url.Values) (string, error) {
	out, err := v.make(s, ctx, q)
	if err != nil {
		return "", err
	}
	return s.region(ctx, out)
}

func (s *Server) region(ctx context.Context, v shown) (string, error) {
	cards, err := s.Reader.Inbox()
	if err != nil {
		return "", err
	}
	status, err := s.Reader.Status()
	if err != nil {
		return "", err
	}
	var out bytes.Buffer
	err = region(v, len(cards), status.Paused).Render(ctx, &out)
	return out.String(), err
}

// data is text as one event's lines.
func data(text string) string {
	return "data: " + strings.ReplaceAll(strings.ReplaceAll(text, "\r", ""), "\n", "\ndata: ") + "\n\n"
}
