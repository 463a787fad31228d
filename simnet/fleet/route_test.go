package fleet

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/parley-mesh/parley/node"
	"github.com/parley-mesh/parley/node/api"
)

// route says where the conversation goes on a computer, as its person does.
func (c *Computer) route(r node.Route) {
	c.f.t.Helper()
	if err := c.Home.SetRoute(r); err != nil {
		c.f.t.Fatal(err)
	}
	if _, err := c.client.Reroute(c.f.t.Context()); err != nil {
		c.f.t.Fatal(err)
	}
}

// card is the computer's card of a code.
func (c *Computer) card(code string) api.Card {
	c.f.t.Helper()
	cards, err := c.client.Inbox()
	if err != nil {
		c.f.t.Fatal(err)
	}
	i := slices.IndexFunc(cards, func(card api.Card) bool { return card.Code == code })
	if i < 0 {
		c.f.t.Fatalf("%s has no card %s among %+v", c.Name, code, cards)
	}
	return cards[i]
}

// signIn replaces the token of every computer.
func (p *story) signIn(with string) {
	p.t.Helper()
	if err := os.WriteFile(filepath.Join(p.scene.dir, "token"), []byte(with), 0o600); err != nil {
		p.t.Fatal(err)
	}
}

func TestWhatIsMissingIsOneCardUntilItIsThere(t *testing.T) { // P1, P10
	play(t, calm(), func(t *testing.T, p *story) {
		p.unrouted(t)
		p.desktop.route(node.Route{})
		p.Until("the conversation is opened", time.Minute, time.Second, func() bool { return p.All(p.ref, "interim") })
		if p.desktop.Card("C1") {
			t.Error("the card stays although nothing is missing")
		}
	})
}

// unrouted lets everything be missing on the main computer: nothing is opened, and one card names it all.
func (p *story) unrouted(t *testing.T) {
	t.Helper()
	p.desktop.route(node.Route{Off: true})
	p.signIn("\n")
	p.begin()
	p.Until("the desktop says what is missing", time.Hour, time.Second, func() bool { return p.desktop.Card("C1") })
	<-time.After(time.Hour)
	card := p.desktop.card("C1")
	for _, part := range []string{"switched off on this computer", "not signed in"} {
		if !strings.Contains(card.What, part) {
			t.Errorf("the card says %q, want %q too", card.What, part)
		}
	}
	for _, part := range []string{"parley route sync-conflicts on", "gh auth login"} {
		if !strings.Contains(card.Command, part) {
			t.Errorf("the card's fix is %q, want %q too", card.Command, part)
		}
	}
	if s, err := p.desktop.client.Status(); err != nil || s.Cards != 1 || s.ThreadsOpen != 0 {
		t.Errorf("status %+v (%v), want one card and nothing opened", s, err)
	}
	p.signIn(token + "\n")
}
