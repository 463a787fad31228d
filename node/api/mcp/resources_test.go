package mcp_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/parley-mesh/parley/node/api"
	"github.com/parley-mesh/parley/node/api/mcp"
)

// reads is what a resource holds.
func reads(t *testing.T, s *sdk.ClientSession, uri string) (string, error) {
	t.Helper()
	r, err := s.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: uri})
	if err != nil {
		return "", err
	}
	if len(r.Contents) != 1 || r.Contents[0].URI != uri || r.Contents[0].MIMEType != "application/json" || !json.Valid([]byte(r.Contents[0].Text)) {
		t.Fatalf("%s: %+v", uri, r.Contents)
	}
	return r.Contents[0].Text, nil
}

func TestResourcesSayWhatTheToolsSay(t *testing.T) { // C17
	n := newCounter(t)
	n.answer("GET /v1/conflicts", []api.Conflict{overlap})
	n.answer("GET /v1/conflicts/CF-1234567", api.ConflictShown{Conflict: overlap})
	n.answer("GET /v1/conflicts/c0ffee/explain", api.Explanation{Conflict: overlap, Rule: "an exclusive claim", CanTell: true})
	n.answer("GET /v1/threads", []api.ThreadLine{{Ref: "acme/shop#42", Phase: "open"}})
	n.answer("GET /v1/thread", api.Thread{ThreadLine: api.ThreadLine{Ref: "acme/shop#42", Phase: "open"}})
	n.answer("GET /v1/briefing", api.Briefing{Session: "S-1", Text: "maya edits a.ts", Conflicts: []api.Conflict{overlap}})
	s := connect(t, mcp.Options{Client: n.client, Caller: api.Caller{Session: "mine"}})
	for uri, c := range map[string]struct{ tool, ref string }{
		"parley://conflicts": {"conflicts_list", ""}, "parley://conflicts/CF-1234567": {"conflict_show", "CF-1234567"},
		"parley://threads/acme/shop#42": {"thread_read", "acme/shop#42"}, "parley://threads/acme/shop%2342": {"thread_read", "acme/shop#42"},
		"parley://briefing": {"briefing", ""},
	} {
		got, err := reads(t, s, uri)
		args := map[string]any{}
		switch c.tool {
		case "conflict_show":
			args["conflict"] = c.ref
		case "thread_read":
			args["ref"] = c.ref
			if n.query.Get("ref") != c.ref {
				t.Errorf("%s: the node was asked for %q", uri, n.query.Get("ref"))
			}
		case "briefing":
			if n.query.Get("peek") != "1" || n.query.Get("session") != "mine" {
				t.Errorf("%s: the node was asked %v, which marks as told what no agent has read", uri, n.query)
			}
		}
		if want, failed := call(t, s, c.tool, args); err != nil || failed || got != want {
			t.Errorf("%s: %v\n%s\nand %s says\n%s", uri, err, got, c.tool, want)
		}
	}
	if got, err := reads(t, s, "parley://threads"); err != nil || !strings.Contains(got, `"ref":"acme/shop#42"`) {
		t.Errorf("%s %v", got, err)
	}
	for _, uri := range []string{"parley://conflicts/CF-999", "parley://conflicts/..%2Fstatus", "parley://cards", "file:///etc/passwd"} {
		if got, err := reads(t, s, uri); err == nil || strings.Contains(err.Error(), "status") && !strings.Contains(err.Error(), uri) {
			t.Errorf("%s: %s %v", uri, got, err)
		}
	}
}

func TestResourcesAreListedWithTheirTemplates(t *testing.T) {
	s := connect(t, mcp.Options{Client: newCounter(t).client})
	list, err := s.ListResources(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range list.Resources {
		got = append(got, r.URI)
	}
	forms, err := s.ListResourceTemplates(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range forms.ResourceTemplates {
		got = append(got, r.URITemplate)
	}
	slices.Sort(got)
	want := []string{"parley://briefing", "parley://conflicts", "parley://conflicts/{ref}", "parley://threads", "parley://threads/{+ref}"}
	if !slices.Equal(got, want) {
		t.Errorf("%v", got)
	}
	if c := s.InitializeResult().Capabilities.Resources; c == nil || !c.Subscribe || c.ListChanged {
		t.Errorf("%+v", c)
	}
	if c := s.InitializeResult().Capabilities.Tools; c == nil || c.ListChanged {
		t.Errorf("tools that never change: %+v", c)
	}
}

func TestWhoSubscribedHearsOfAChange(t *testing.T) { // C17
	n := newCounter(t)
	n.answer("GET /v1/watch", []api.LiveEvent{{Seq: 7, Kind: "edit", Ref: "S-1"}, {Seq: 8, Kind: "conflict", Ref: "CF-1234567"}})
	heard := make(chan string, 64)
	client := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, &sdk.ClientOptions{
		ResourceUpdatedHandler: func(_ context.Context, r *sdk.ResourceUpdatedNotificationRequest) {
			select {
			case heard <- r.Params.URI:
			default:
			}
		},
	})
	s := connectAs(t, client, mcp.Options{Client: n.client})
	if err := s.Subscribe(t.Context(), &sdk.SubscribeParams{URI: "parley://conflicts/CF-1234567"}); err != nil {
		t.Fatal(err)
	}
	select {
	case uri := <-heard:
		if uri != "parley://conflicts/CF-1234567" {
			t.Errorf("%s has changed", uri)
		}
	case <-time.After(2 * time.Minute):
		t.Fatal("nothing is heard")
	}
}

func TestAListThatIsCutSaysHowManyAreLeft(t *testing.T) {
	n := newCounter(t)
	many := make([]api.Conflict, 33)
	holders, acts, messages := make([]api.Holder, 14), make([]api.ConflictAct, 25), make([]api.Message, 6)
	for i := range many {
		many[i] = overlap
	}
	for i := range messages {
		messages[i] = api.Message{ID: "m", At: noon.Add(time.Duration(i) * time.Minute), Text: "hello"}
	}
	n.answer("GET /v1/briefing", api.Briefing{Session: "S-1", Conflicts: many})
	n.answer("GET /v1/claims", []api.ClaimsAnswer{{What: "a.ts", Holders: holders}})
	n.answer("GET /v1/conflicts/CF-1", api.ConflictShown{Conflict: overlap, Acts: acts})
	n.answer("GET /v1/conflicts/c0ffee/explain", api.Explanation{Conflict: overlap, CanTell: true})
	n.answer("GET /v1/messages", messages)
	s := connect(t, mcp.Options{Client: n.client})
	for _, c := range []struct {
		tool, want string
		args       map[string]any
	}{
		{"briefing", `"more_conflicts":3`, nil},
		{"claims_check", `"held_by_more":2`, map[string]any{"paths": []string{"a.ts"}}},
		{"conflict_show", `"done_earlier":5`, map[string]any{"conflict": "CF-1"}},
		{"message_list", `There are older ones: ask with last up to 100.`, map[string]any{"last": 5}},
	} {
		if text, failed := call(t, s, c.tool, c.args); failed || !strings.Contains(text, c.want) {
			t.Errorf("%s: %v %s", c.tool, failed, text)
		}
	}
	if text, _ := call(t, s, "message_list", map[string]any{"last": 6}); strings.Contains(text, "older") {
		t.Errorf("all are there: %s", text)
	}
}
