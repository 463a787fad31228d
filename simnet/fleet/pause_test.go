package fleet

import (
	"testing"
	"time"

	"github.com/parley-mesh/parley/node/api"
)

func TestAPausedComputerStaysSilentOverARestartAndThenGoesOn(t *testing.T) {
	play(t, calm(), func(t *testing.T, p *story) {
		p.pauseAll(t)
		p.begin()
		p.desktop.Close()
		p.desktop.Open()
		if _, err := p.desktop.client.Scan(t.Context()); api.Explain(err).Code != "paused" {
			t.Errorf("a scan while it is paused: %v", err)
		}
		<-time.After(2 * time.Hour)
		p.silentStatus(t)
		if _, err := p.desktop.client.Resume(t.Context()); err != nil {
			t.Fatal(err)
		}
		p.Until("the desktop opens the conversation, and the paused ones hear of it", 10*time.Minute, time.Second, func() bool { return p.All(p.ref, "open") })
		<-time.After(10 * time.Minute)
		for _, party := range p.thread(p.laptop).Parties {
			if party.Name != p.desktop.Name && party.Statement != "" {
				t.Errorf("%s is paused and %s", party.Name, party.Statement)
			}
		}
		for _, c := range []*Computer{p.laptop, p.tablet} {
			if _, err := c.client.Resume(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		p.Until("they agree", 10*time.Minute, time.Second, func() bool { return p.All(p.ref, "interim") })
	})
}

func (p *story) pauseAll(t *testing.T) {
	t.Helper()
	for _, c := range []*Computer{p.desktop, p.laptop, p.tablet} {
		if _, err := c.client.Pause(t.Context(), 0); err != nil {
			t.Fatal(err)
		}
	}
}

func (p *story) silentStatus(t *testing.T) {
	t.Helper()
	s, err := p.desktop.client.Status()
	if err != nil || s.Paused == nil || !s.Paused.Until.IsZero() || s.ThreadsOpen != 0 || !s.Main.Me {
		t.Errorf("status %+v, %v", s, err)
	}
}
