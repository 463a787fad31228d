package page

import (
	"bytes"
	"context"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/parley-mesh/parley/node/api"
)

// A stream looks again when the node's bell rings, at most every settle, and after pulse in any case: some of what is
// shown, such as who is connected, rings no bell.
const (
	settle = 60 * time.Millisecond
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
	select {
	case s.streams <- struct{}{}:
		defer func() { <-s.streams }()
	default:
		http.Error(w, "too many open pages", http.StatusServiceUnavailable)
		return
	}
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("X-Accel-Buffering", "no")
	out := stream{w: w, c: http.NewResponseController(w), until: r.Context()}
	cookie, _ := r.Cookie(s.cookieName())
	for {
		changed := s.Changed.Changed()
		if _, in := s.Doors.session(cookie.Value); !in || !out.look(s, v, at.Query()) {
			return
		}
		if !wait(r.Context(), changed) {
			return
		}
	}
}

// wait waits for news, and then until no burst of it is cut into pieces.
func wait(ctx context.Context, changed <-chan struct{}) bool {
	most := time.NewTimer(pulse)
	defer most.Stop()
	select {
	case <-changed:
		calm := time.NewTimer(settle)
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
	w     http.ResponseWriter
	c     *http.ResponseController
	until context.Context
	last  []byte
	at    time.Time
}

// look sends the view if it has changed; false: nobody listens any more.
func (o *stream) look(s *Server, v view, q url.Values) bool {
	var now bytes.Buffer
	if err := s.live(o.until, &now, v, q); err != nil {
		now.Reset()
		_ = trouble(api.Explain(err)).Render(o.until, &now) // it is written to memory
	}
	switch {
	case o.last == nil: // the page was made a moment ago; what happened since comes with the first difference
		o.last = now.Bytes()
		return o.send("event: view\n" + data(now.String()))
	case !bytes.Equal(now.Bytes(), o.last):
		o.last = now.Bytes()
		return o.send("event: view\n" + data(now.String()))
	case time.Since(o.at) >= beat:
		return o.send(": here\n\n")
	}
	return true
}

func (o *stream) send(text string) bool {
	o.at = time.Now()
	_ = o.c.SetWriteDeadline(time.Now().Add(beat)) // where it cannot be set, none was
	_, err := o.w.Write([]byte(text))
	return err == nil && o.c.Flush() == nil
}

func (s *Server) live(ctx context.Context, to *bytes.Buffer, v view, q url.Values) error {
	out, err := v.make(s, ctx, q)
	if err != nil {
		return err
	}
	cards, err := s.Reader.Inbox()
	if err != nil {
		return err
	}
	return region(out, len(cards)).Render(ctx, to)
}

// data is text as one event's lines.
func data(text string) string {
	return "data: " + strings.ReplaceAll(strings.ReplaceAll(text, "\r", ""), "\n", "\ndata: ") + "\n\n"
}
