package mcp

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/parley-mesh/parley/node/api"
)

// The resources: what a program around an agent can show or attach by itself. They say what the tools of the same
// subject say.
const (
	briefingURI  = "parley://briefing"
	conflictsURI = "parley://conflicts"
	threadsURI   = "parley://threads"
	jsonType     = "application/json"
)

// refForm is a conflict as a URI may name it.
var refForm = regexp.MustCompile(`^(CF-)?[0-9]{1,20}$`)

// threadLine is one conversation of a list.
type threadLine struct {
	Ref   string `json:"ref"`
	Phase string `json:"phase"`
}

// resources offers what can be read without a tool.
func (s *Server) resources() {
	fixed := func(uri, name, title, about string, read func(context.Context) (any, error)) {
		s.tool.AddResource(&sdk.Resource{URI: uri, Name: name, Title: title, Description: about, MIMEType: jsonType},
			func(ctx context.Context, r *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
				out, err := read(ctx)
				return s.content(r.Params.URI, out, err)
			})
	}
	fixed(briefingURI, "briefing", "Briefing", "Conflicts that concern this session, who else works here, and new messages. Reading it marks nothing as told.",
		func(ctx context.Context) (any, error) {
			who := s.o.Caller
			who.Peek = true
			return s.briefFor(ctx, who)
		})
	fixed(conflictsURI, "conflicts", "Live conflicts", "Live conflicts between agents, branches and pull requests, the loudest first.",
		func(ctx context.Context) (any, error) { return s.list(ctx, listIn{}) })
	fixed(threadsURI, "threads", "Conversations about pull requests", "The conversations in which computers settle conflicting pull requests.",
		func(context.Context) (any, error) { return s.threads() })
	s.template(conflictsURI+"/{ref}", "conflict", "One conflict", "One conflict by its name: parley://conflicts/CF-1234567.",
		func(ctx context.Context, ref string) (any, error) {
			if !refForm.MatchString(ref) {
				return nil, api.ErrNoConflict
			}
			return s.show(ctx, refIn{ref})
		})
	s.template(threadsURI+"/{+ref}", "thread", "One conversation", "The conversation of one pull request: parley://threads/acme/shop#42.",
		func(ctx context.Context, ref string) (any, error) { return s.thread(ctx, threadIn{Ref: ref}) })
}

// template offers the resources whose URIs differ in their end.
func (s *Server) template(form, name, title, about string, read func(ctx context.Context, ref string) (any, error)) {
	begin, _, _ := strings.Cut(form, "{")
	s.tool.AddResourceTemplate(&sdk.ResourceTemplate{URITemplate: form, Name: name, Title: title, Description: about, MIMEType: jsonType},
		func(ctx context.Context, r *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
			ref, err := url.PathUnescape(strings.TrimPrefix(r.Params.URI, begin))
			if err != nil {
				return nil, sdk.ResourceNotFoundError(r.Params.URI)
			}
			out, err := read(ctx, ref)
			return s.content(r.Params.URI, out, err)
		})
}

// content is what a resource holds.
func (s *Server) content(uri string, out any, err error) (*sdk.ReadResourceResult, error) {
	if err != nil {
		if f := api.Explain(err); f.Status == http.StatusNotFound && (f.Code == "no-such-conflict" || f.Code == "no-such-thread") {
			return nil, sdk.ResourceNotFoundError(uri)
		}
		return nil, s.failed(err)
	}
	text, err := json.Marshal(out)
	if err != nil {
		return nil, err
	}
	return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{{URI: uri, MIMEType: jsonType, Text: string(text)}}}, nil
}

func (s *Server) threads() (page[threadLine], error) {
	all, err := s.o.Client.Threads()
	out := []threadLine{}
	for _, t := range all {
		out = append(out, threadLine{t.Ref, t.Phase})
	}
	return paged(out, 0, ""), err
}

// subscribe and unsubscribe keep count of who wants to hear of changes.
func (s *Server) subscribe(context.Context, *sdk.SubscribeRequest) error {
	s.subscribers.Add(1)
	select {
	case s.subscribed <- struct{}{}:
	default: // one signal is enough
	}
	return nil
}

func (s *Server) unsubscribe(context.Context, *sdk.UnsubscribeRequest) error {
	s.subscribers.Add(-1)
	return nil
}

// followEvery is how long it is waited where there was nothing to follow, or no node.
const followEvery = 2 * time.Second

// follow tells subscribers of what changed, until ctx ends. Nobody is asked while nobody has subscribed.
func (s *Server) follow(ctx context.Context) {
	var after uint64
	for ctx.Err() == nil {
		if s.subscribers.Load() <= 0 {
			select {
			case <-s.subscribed:
			case <-ctx.Done():
			}
			continue
		}
		events, err := s.o.Client.Watch(ctx, after)
		if err != nil {
			after = 0 // it counts anew when it has started again
		}
		s.changed(ctx, events)
		if n := len(events); n > 0 {
			after = events[n-1].Seq
		} else if after == 0 {
			t := time.NewTimer(followEvery)
			select {
			case <-t.C:
			case <-ctx.Done():
			}
			t.Stop()
		}
	}
}

// changed tells of the resources that some events are about.
func (s *Server) changed(ctx context.Context, events []api.LiveEvent) {
	told := map[string]bool{}
	tell := func(uri string) {
		if !told[uri] {
			told[uri] = true
			_ = s.tool.ResourceUpdated(ctx, &sdk.ResourceUpdatedNotificationParams{URI: uri}) // one who has gone need not know
		}
	}
	for _, e := range events {
		switch e.Kind {
		case "conflict", "act":
			tell(conflictsURI)
			tell(conflictsURI + "/" + e.Ref)
			tell(briefingURI)
		case "message", "intent", "session":
			tell(briefingURI)
		}
	}
}
