package api

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"time"
)

// Pause says that a computer rests: it opens, wakes and writes nothing.
type Pause struct {
	Since time.Time `json:"since"`
	Until time.Time `json:"until,omitzero"` // absent: until it is ended
}

// UntilForm is how the end of a pause is written: with its date, as it may be weeks away.
const UntilForm = "Mon 2006-01-02 15:04"

// pauseMax is how long a pause with an end may be.
const pauseMax = 90 * 24 * time.Hour

// pauseVerbs are the rows of the table about pauses.
var pauseVerbs = []Verb{
	{
		Name: "pause", Summary: "let this computer rest", Who: Agent, Where: Node, Method: "POST", Path: "/v1/pause",
		Help: "parley pause 2h rests for two hours, parley pause until parley resume. Meanwhile nothing is opened here, no\n" +
			"agent is woken, no file and nothing on GitHub is changed, and this computer says nothing. What others say is\n" +
			"still heard and passed on, and what had begun is finished. Deadlines of the conversations go on. It is kept\n" +
			"when the node is started again.",
	},
	{
		Name: "resume", Summary: "let this computer go on", Who: Agent, Where: Node, Method: "POST", Path: "/v1/resume",
	},
}

// withPause puts the verbs about pauses at the end.
func withPause(verbs []Verb) []Verb { return append(verbs, pauseVerbs...) }

// pauseAnswers are those about pauses.
func (s *Server) pauseAnswers(verb string) answer {
	switch verb {
	case "pause":
		return func(r *http.Request) (reply, error) {
			length, err := time.ParseDuration(r.URL.Query().Get("for"))
			if err != nil || length < 0 || length > pauseMax {
				return nil, fmt.Errorf("pause: %w: want a duration of at most 90 days, such as 2h", ErrUsage)
			}
			return s.Actor.Pause(r.Context(), length)
		}
	case "resume":
		return func(r *http.Request) (reply, error) { return s.Actor.Resume(r.Context()) }
	}
	return nil
}

// Pause lets the computer rest for a time; 0 is until [Client.Resume].
func (c *Client) Pause(ctx context.Context, length time.Duration) (Outcome, error) {
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	return call[Outcome](ctx, c, request{verb: "pause", query: url.Values{"for": {length.String()}}})
}

// Resume ends a pause.
func (c *Client) Resume(ctx context.Context) (Outcome, error) {
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	return call[Outcome](ctx, c, request{verb: "resume"})
}
