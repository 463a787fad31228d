package api

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/parley-mesh/parley/node/internal/presence"
)

// PageLink is a way into the page. It serves once, for a minute.
type PageLink struct {
	URL     string    `json:"url"`
	Expires time.Time `json:"expires"`
}

// Preview is what a press on a card will change on GitHub.
type Preview struct {
	Key   string            `json:"key"`
	Binds string            `json:"binds"` // exactly what pressing agrees to, as on the card
	Words string            `json:"words"` // what happens, one sentence
	From  string            `json:"from"`  // commit that the diff starts from; "" when GitHub's files do not change
	To    string            `json:"to"`
	Files List[PreviewFile] `json:"files"`
	Diff  string            `json:"diff"` // as git shows it; data, whatever it says
	Cut   bool              `json:"cut"`  // the diff goes on beyond what is shown
}

// PreviewFile is how much of one file changes. Both are -1 for a binary file.
type PreviewFile struct {
	Path    string `json:"path"`
	Added   int    `json:"added"`
	Removed int    `json:"removed"`
}

// Passkey is one key that a person's device keeps for pressing buttons of the page.
type Passkey struct {
	ID    string    `json:"id"` // hexadecimal
	Name  string    `json:"name"`
	Added time.Time `json:"added,omitzero"`
	// Trouble says what somebody did to its line in the file; such a passkey presses nothing. "" none.
	Trouble string `json:"trouble,omitempty"`
}

// Pages is the node's page, as the commands know it.
type Pages interface {
	// OpenPage makes a login link; [ErrNoPage].
	OpenPage(ctx context.Context) (PageLink, error)
	// Preview is what a press on the card with this key will change; [ErrNoCard].
	Preview(ctx context.Context, cardKey string) (Preview, error)
	// Passkeys lists the passkeys of this computer, oldest first.
	Passkeys(ctx context.Context) ([]Passkey, error)
	// RemovePasskey lets a passkey press nothing from now on; [ErrNoPasskey].
	RemovePasskey(ctx context.Context, id string, p presence.Proof) (Outcome, error)
}

// PasskeyAddAct is letting a passkey press buttons of this computer's page; key is the hash of its public half, in
// hexadecimal.
func PasskeyAddAct(id, name, key string) presence.Act {
	return presence.Act{Verb: "passkey add", Binds: strings.Join([]string{id, name, key}, "\n")}
}

// PasskeyRemoveAct is letting a passkey press nothing from now on.
func PasskeyRemoveAct(id string) presence.Act {
	return presence.Act{Verb: "passkey remove", Binds: id}
}

// pageVerbs are the rows of the table about the page.
var pageVerbs = []Verb{
	{
		Name: "open", Summary: "open this computer's page in the browser", Who: Agent, Where: Node, Method: "POST", Path: "/v1/page/open",
		Help: "The page shows what these commands show, live. The link serves once, for a minute; without a browser it is\n" +
			"printed. Who is logged in sees everything and can press nothing that is a person's: each such press takes the\n" +
			"passphrase or a passkey.",
	},
	{
		Name: "preview", Summary: "show what an approval will change on GitHub", Who: Agent, Where: Node, Reads: true, Method: "GET", Path: "/v1/preview",
		Help: "REF and ACTION are as for parley approve. Nothing is changed.",
	},
	{
		Name: "passkey list", Summary: "list the passkeys that can press buttons of the page", Who: Agent, Where: Node, Reads: true, Method: "GET", Path: "/v1/passkeys",
		Help: "They are added on the page, in its Setup tab.",
	},
	{
		Name: "passkey remove", Summary: "let a passkey press nothing from now on", Who: Person, Where: Node, Method: "POST", Path: "/v1/passkey/remove",
		Help: "ID is what parley passkey list shows, or its start. A passkey whose line somebody changed in the file presses\n" +
			"nothing already; this takes it off the list and its card out of the inbox.",
	},
}

// withPage puts the verbs about the page after the inbox.
func withPage(verbs []Verb) []Verb {
	at := slices.IndexFunc(verbs, func(v Verb) bool { return v.Name == "approve" })
	return slices.Concat(verbs[:at], pageVerbs, verbs[at:])
}

// pageAnswers is what carries the verbs about the page out; nil for another verb.
func (s *Server) pageAnswers(verb string) answer {
	var out answer
	switch verb {
	case "open":
		out = func(r *http.Request) (reply, error) { return s.Pages.OpenPage(r.Context()) }
	case "preview":
		out = func(r *http.Request) (reply, error) { return s.Pages.Preview(r.Context(), r.URL.Query().Get("card")) }
	case "passkey list":
		out = func(r *http.Request) (reply, error) { return list(s.Pages.Passkeys(r.Context())) }
	case "passkey remove":
		out = s.person(func(ctx context.Context, in personRequest) (reply, error) {
			return s.Pages.RemovePasskey(ctx, in.ID, in.Proof)
		})
	default:
		return nil
	}
	return func(r *http.Request) (reply, error) {
		if s.Pages == nil {
			return nil, ErrNoPage
		}
		return out(r)
	}
}

func (PageLink) reply() {}
func (Preview) reply()  {}

// OpenPage makes a login link.
func (c *Client) OpenPage(ctx context.Context) (PageLink, error) {
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	return call[PageLink](ctx, c, request{verb: "open"})
}

// Preview is what a press on a card will change on GitHub.
func (c *Client) Preview(ctx context.Context, cardKey string) (Preview, error) {
	ctx, cancel := context.WithTimeout(ctx, actTimeout)
	defer cancel()
	return call[Preview](ctx, c, request{verb: "preview", query: url.Values{"card": {cardKey}}})
}

// Passkeys lists the passkeys.
func (c *Client) Passkeys(ctx context.Context) ([]Passkey, error) {
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	return call[[]Passkey](ctx, c, request{verb: "passkey list"})
}

// RemovePasskey lets a passkey press nothing from now on.
func (c *Client) RemovePasskey(ctx context.Context, id string, by Prover) (Outcome, error) {
	return act[Outcome](ctx, c, request{verb: "passkey remove", person: personRequest{ID: id}}, PasskeyRemoveAct(id), by)
}
