package api

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"time"

	"github.com/parley-mesh/parley/node/internal/hooks"
	"github.com/parley-mesh/parley/node/internal/presence"
)

// Limits of the server. A caller is on the same computer and trusted to read, not to be correct.
const (
	requestBytesMax  = 64 << 10
	requestsMax      = 64 // at once, those that wait included; more are answered 503
	personsMax       = 16 // of persons' acts beside those, so that no agent's waiting keeps a person waiting
	waitMax          = 25 * time.Second
	logLinesMax      = 1000
	headerTimeout    = 5 * time.Second
	requestTimeout   = 10 * time.Second
	answerTimeout    = waitMax + 35*time.Second
	shutdownPatience = time.Second // requests end at once; a connection without one need not be waited for
)

// Server answers for a node. Every field but Live, Pages, Judge and Refused is needed.
type Server struct {
	Reader  Reader
	Actor   Actor
	Inviter Inviter
	Laner   Laner
	Fleet   Fleet
	Network Network
	Live    Live  // nil: verbs about live work answer [ErrAgentsOff]
	Pages   Pages // nil: the verbs about the page answer [ErrNoPage]
	Logged  *Bell // rung whenever the log has grown
	// Judge, if set, decides about what agents are about to do; without one their hooks have no opinion.
	Judge hooks.Judge
	// Span, if set, begins a trace's span about a verb; end takes what the verb came to.
	Span func(ctx context.Context, verb string) (within context.Context, end func(error))
	// Refused, if set, is told of each person's verb that was refused, and why.
	Refused func(verb string, err error)
}

// Serve answers on l until ctx ends. The requests' own contexts end with it; what has not come to an end a
// second later is cut off.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	requests, stop := context.WithCancel(ctx)
	defer stop()
	server := &http.Server{
		Handler:           s.Handler(),
		ReadHeaderTimeout: headerTimeout,
		ReadTimeout:       requestTimeout,
		WriteTimeout:      answerTimeout,
		IdleTimeout:       answerTimeout,
		MaxHeaderBytes:    requestBytesMax,
		BaseContext:       func(net.Listener) context.Context { return requests },
	}
	hookLines(server)
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(l) }()
	select {
	case err := <-ended:
		return fmt.Errorf("serve %s: %w", l.Addr(), err)
	case <-ctx.Done():
	}
	patience, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownPatience)
	defer cancel()
	err := server.Shutdown(patience)
	if errors.Is(err, context.DeadlineExceeded) {
		err = server.Close()
	}
	<-ended
	return err
}

// answer carries one request out; what it returns is sent as JSON.
type answer func(r *http.Request) (reply, error)

// Handler answers the Node verbs of the table.
func (s *Server) Handler() http.Handler {
	mux := http.NewServeMux()
	others, persons := make(chan struct{}, requestsMax), make(chan struct{}, personsMax)
	for _, v := range Verbs {
		switch {
		case v.Name == "hook":
			mux.Handle(v.Method+" "+v.Path, within(others, s.hook()))
		case v.Where == Node:
			slots := others
			if v.Who == Person || v.Name == "challenge" {
				slots = persons
			}
			mux.Handle(v.Method+" "+v.Path, within(slots, s.handle(v, s.answers(v.Name))))
		}
	}
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		fail(w, fmt.Errorf("%s %s: %w", r.Method, r.URL.Path, ErrUsage))
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Body = http.MaxBytesReader(w, r.Body, bodyMax(r))
		mux.ServeHTTP(w, r)
	})
}

// within turns away what finds no slot.
func within(slots chan struct{}, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		select {
		case slots <- struct{}{}:
			defer func() { <-slots }()
			next.ServeHTTP(w, r)
		default:
			fail(w, ErrBusy)
		}
	})
}

// handle sends what an answer returns. Invariant: no answer to a person's verb runs without a proof in the
// request, whoever wrote the answer.
func (s *Server) handle(v Verb, a answer) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		out, err := func() (reply, error) {
			if v.Who == Person {
				if err := needProof(r); err != nil {
					return nil, err
				}
			}
			within, end := s.span(r.Context(), v.Name)
			out, err := a(r.WithContext(within))
			end(err)
			return out, err
		}()
		if err != nil {
			if v.Who == Person && s.Refused != nil {
				s.Refused(v.Name, err)
			}
			fail(w, err)
			return
		}
		send(w, http.StatusOK, out)
	})
}

func (s *Server) span(ctx context.Context, verb string) (within context.Context, end func(error)) {
	if s.Span == nil {
		return ctx, func(error) {}
	}
	return s.Span(ctx, verb)
}

// personRequest is the body of every person's verb.
type personRequest struct {
	Card   string    `json:"card,omitempty"`   // approve: key of the card
	Ref    string    `json:"ref,omitempty"`    // close, assign: the conversation
	Party  string    `json:"party,omitempty"`  // assign: name of the computer
	ID     string    `json:"id,omitempty"`     // kept restore, op undo; computers rename: the present name
	Name   string    `json:"name,omitempty"`   // revoke, computers rename
	Why    RevokeWhy `json:"why,omitempty"`    // revoke
	Code   string    `json:"code,omitempty"`   // lane accept
	As     string    `json:"as,omitempty"`     // lane invite, lane accept: what the other developer is told
	Lane   string    `json:"lane,omitempty"`   // lane on, lane off: id
	On     bool      `json:"on,omitempty"`     // lane conflicts
	Reason string    `json:"reason,omitempty"` // override
	Email  string    `json:"email,omitempty"`
	// Repositories are those of lane on and lane work on, owner/name.
	Repositories []string       `json:"repositories,omitempty"`
	Repository   string         `json:"repository,omitempty"` // agents on, agents off, agents lines on, agents lines off
	HideNames    bool           `json:"hide_names,omitempty"` // lane work on
	Proof        presence.Proof `json:"proof"`
}

// needProof looks into the body and leaves it to be read again.
func needProof(r *http.Request) error {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return fmt.Errorf("read request: %w: %v", ErrUsage, err)
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	var in personRequest
	if len(body) > 0 {
		if err := json.Unmarshal(body, &in); err != nil {
			return fmt.Errorf("read request: %w: %v", ErrUsage, err)
		}
	}
	if in.Proof.Kind == "" || in.Proof.Nonce == "" {
		return presence.ErrNeeded
	}
	return nil
}

// read decodes a request whose fields are all known.
func read[T any](r *http.Request) (T, error) {
	var in T
	d := json.NewDecoder(r.Body)
	d.DisallowUnknownFields()
	err := d.Decode(&in)
	if err == nil && d.More() {
		err = errors.New("more than one value")
	}
	if err != nil {
		err = fmt.Errorf("read request: %w: %v", ErrUsage, err)
	}
	return in, err
}

// number reads a whole number from the query; absent is zero.
func number(r *http.Request, name string) (uint64, error) {
	text := r.URL.Query().Get(name)
	if text == "" {
		return 0, nil
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%s=%q: %w: want a whole number", name, text, ErrUsage)
	}
	return n, nil
}

// waiting bounds a request by how long its caller wants to wait for news.
func waiting(r *http.Request) (context.Context, context.CancelFunc, error) {
	text := r.URL.Query().Get("wait")
	if text == "" {
		text = "0s"
	}
	wait, err := time.ParseDuration(text)
	if err != nil || wait < 0 {
		return nil, nil, fmt.Errorf("wait=%q: %w: want a duration such as 25s", text, ErrUsage)
	}
	ctx, cancel := context.WithTimeout(r.Context(), min(wait, waitMax))
	return ctx, cancel, nil
}

// reply is what an answer sends. The set is sealed: the views of this package.
type reply interface{ reply() }

func (Status) reply()      {}
func (Thread) reply()      {}
func (Outcome) reply()     {}
func (Invitation) reply()  {}
func (InviteState) reply() {}
func (nonceReply) reply()  {}
func (List[T]) reply()     {}
func (Why) reply()         {}
func (LedgerPart) reply()  {}
func (KeptContent) reply() {}
func (faultReply) reply()  {}

type nonceReply struct {
	Nonce string `json:"nonce"`
}

type faultReply struct {
	Error *Fault `json:"error"`
}

func send(w http.ResponseWriter, status int, out reply) {
	body, err := json.Marshal(out)
	if err != nil {
		status, body = http.StatusInternalServerError, []byte(`{"error":{"code":"internal","text":"encode answer"}}`)
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	w.Write(append(body, '\n')) // a caller that has gone is no error
}

func fail(w http.ResponseWriter, err error) {
	f := Explain(err)
	send(w, f.Status, faultReply{Error: &f})
}
