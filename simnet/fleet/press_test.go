package fleet

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/parley-mesh/parley/node/api"
)

// end presses the end of a conversation at a computer, and returns what the computer says about it.
func (p *story) end(c *Computer) string {
	p.t.Helper()
	out, err := c.client.End(p.t.Context(), p.thread(c).ThreadLine, api.DemoProver())
	if err != nil {
		p.t.Fatal(err)
	}
	return out.Text
}

func TestAPersonHandsOnAndEndsAConversationFromAnyComputer(t *testing.T) { // P23, P24, D-24
	play(t, calm(), func(t *testing.T, p *story) {
		p.begin()
		p.Until("the laptop asks for its push", time.Hour, time.Second, func() bool { return p.laptop.Card("C2") })
		p.handedOn(t)

		p.desktop.Unplug()
		if said := p.end(p.tablet); !strings.Contains(said, "the main computer carries it out") {
			t.Errorf("the tablet says %q", said)
		}
		<-time.After(30 * time.Minute)
		for _, c := range []*Computer{p.laptop, p.tablet} {
			if c.Phase(p.ref) == "closed" {
				t.Errorf("%s: closed without the main computer", c.Name)
			}
		}
		if w := p.tablet.why(p.ref); !slices.ContainsFunc(w.Facts, func(f api.Fact) bool {
			return strings.Contains(f.Text, "close the conversation, as a person asked")
		}) {
			t.Errorf("why says nothing of the press: %+v", w)
		}
		ended := p.thread(p.tablet).ThreadLine
		p.desktop.Plug()
		p.Until("the main computer ends it", time.Hour, time.Second, func() bool { return p.closedThread(p.desktop, ended.ID) })
		p.Until("everybody knows", 10*time.Minute, time.Second, func() bool {
			return p.closedThread(p.laptop, ended.ID) && p.closedThread(p.tablet, ended.ID)
		})
		if _, err := p.tablet.client.End(t.Context(), ended, api.DemoProver()); api.Explain(err).Code != api.Explain(api.ErrClosed).Code {
			t.Errorf("the end of what has ended says %v", err)
		}

		p.endedAgain(t, ended.ID)
		if writes := p.Writes(); writes != "" {
			t.Errorf("GitHub was written without an approval: %s", writes)
		}
	})
}

// closedThread reports whether a conversation is closed at a computer.
func (p *story) closedThread(c *Computer, id string) bool { return c.Thread(id).Phase == "closed" }

// handedOn lets the tablet build what the laptop has built.
func (p *story) handedOn(t *testing.T) {
	t.Helper()
	at := p.thread(p.laptop).ThreadLine
	_, err := p.laptop.client.Assign(t.Context(), at, "cellar", api.DemoProver())
	if api.Explain(err).Code != api.Explain(api.ErrNoParty).Code {
		t.Errorf("a computer that takes no part: %v", err)
	}
	if _, err := p.laptop.client.Assign(t.Context(), at, "tablet", api.DemoProver()); err != nil {
		t.Fatal(err)
	}
	p.Until("the tablet asks for its push", time.Hour, time.Second, func() bool { return p.tablet.Card("C2") })
	if p.laptop.Card("C2") {
		t.Error("the laptop still asks for its push")
	}
	for _, c := range p.Computers[:3] {
		if got := p.thread(c).Responsible; got != "tablet" {
			t.Errorf("%s: %s builds the final", c.Name, got)
		}
	}
}

// endedAgain lets the conflict, which is still there, be opened again, and ends that conversation from the
// laptop.
func (p *story) endedAgain(t *testing.T, before string) {
	t.Helper()
	again := p.ref + "/2"
	p.Until("the next scan opens it again", time.Hour, 10*time.Second, func() bool { return p.laptop.Phase(again) == "interim" })
	if w := p.laptop.why(p.ref); w.Thread != before || !slices.Contains(w.Facts, api.Fact{About: "followed by", Text: again + ", interim"}) {
		t.Errorf("why says of the conversation that has ended %+v", w)
	}
	if _, err := p.laptop.client.End(t.Context(), p.laptop.Thread(again).ThreadLine, api.DemoProver()); err != nil {
		t.Fatal(err)
	}
	p.Until("it ends everywhere", 2*time.Minute, time.Second, func() bool { return p.All(again, "closed") })
	if err := errors.Join(p.Untouched(p.laptop.Checkout), p.Holds(p.tablet.Checkout)); err != nil {
		t.Error(err)
	}
}
