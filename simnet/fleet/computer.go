package fleet

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"time"

	"github.com/parley-mesh/parley/node"
	"github.com/parley-mesh/parley/node/api"
)

// Computer is one computer: its folders, and its node while that runs.
type Computer struct {
	Name     string
	Host     netip.Addr
	Home     node.Home
	Checkout string
	Trying   func(pull uint64) // if set, hears of each trial merge before it begins

	f      *Fleet
	client *api.Client // nil while it does not run
	cancel context.CancelFunc
	ended  chan error
}

// Open starts the computer's node and waits until it answers.
func (c *Computer) Open() {
	t := c.f.t
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	callers, ready := newPipes(), make(chan struct{})
	c.cancel, c.ended = cancel, make(chan error, 1)
	go func() {
		c.ended <- node.Run(ctx, node.RunConfig{
			Home: c.Home, Demo: true, HostOptions: c.f.Net.At(c.Host), Ready: func() { close(ready) },
			Listen: func() (net.Listener, error) { return callers, nil }, Trying: c.Trying,
		})
	}()
	select {
	case <-ready:
		c.client = api.NewClientOver(c.Name, callers.dial)
	case err := <-c.ended:
		cancel()
		t.Fatalf("start %s: %v", c.Name, err)
	}
}

// Close stops the computer's node and waits for its end. One that does not run is left as it is.
func (c *Computer) Close() {
	t := c.f.t
	t.Helper()
	if c.client == nil {
		return
	}
	c.cancel()
	if err := errors.Join(c.client.Close(), <-c.ended); err != nil {
		t.Errorf("stop %s: %v", c.Name, err)
	}
	c.client = nil
}

// Unplug lets nothing through to or from the computer: neither the others nor GitHub are there for it.
func (c *Computer) Unplug() {
	c.f.Net.Unplug(c.Host)
	c.f.scene.ways[c.Name].cut.Store(true)
}

// Plug undoes [Computer.Unplug].
func (c *Computer) Plug() {
	c.f.scene.ways[c.Name].cut.Store(false)
	c.f.Net.Plug(c.Host)
}

// Running reports whether the computer's node runs.
func (c *Computer) Running() bool { return c.client != nil }

// TakeMain gives the computer the main computer's role, by its person.
func (c *Computer) TakeMain() {
	c.f.t.Helper()
	if _, err := c.client.SetMain(c.f.t.Context(), true, api.DemoProver()); err != nil {
		c.f.t.Fatal(err)
	}
}

// Admit lets another computer, whose node does not run, join by an invitation and words that both see.
func (c *Computer) Admit(other *Computer) {
	c.f.t.Helper()
	if err := c.admit(other); err != nil {
		c.f.t.Fatalf("let %s join: %v", other.Name, err)
	}
}

func (c *Computer) admit(other *Computer) error {
	ctx, cancel := context.WithTimeout(c.f.t.Context(), time.Minute)
	defer cancel()
	person := api.DemoProver()
	given, err := c.client.Invite(ctx, person)
	if err != nil {
		return err
	}
	words, joined := make(chan [4]string, 1), make(chan error, 1)
	go func() {
		joined <- node.JoinOver(ctx, c.f.Net.At(other.Host), other.Home, given.Code, other.Name, func(w [4]string, _ string) { words <- w })
	}()
	confirm := func() error {
		s, err := c.client.AwaitInvite(ctx, given.ID, api.InviteWaiting)
		if err != nil {
			return err
		}
		if s.State != api.InviteAsking {
			return fmt.Errorf("the invitation is %s: %s", s.State, s.Text)
		}
		if there := <-words; there != s.Words {
			return fmt.Errorf("the words differ: %v and %v", s.Words, there)
		}
		_, err = c.client.ConfirmInvite(ctx, given.ID, s, person)
		return err
	}
	err = confirm()
	if err != nil {
		cancel()
	}
	return errors.Join(err, <-joined)
}

// Approve presses every approval that waits at this computer, as its person.
func (c *Computer) Approve() {
	t := c.f.t
	t.Helper()
	if c.client == nil {
		return
	}
	cards, err := c.client.Inbox()
	if err != nil {
		t.Fatal(err)
	}
	for _, card := range cards {
		if card.Verb != "approve" {
			continue
		}
		if _, err := c.client.Approve(t.Context(), card, api.DemoProver()); err != nil {
			t.Fatalf("approve %s at %s: %v", card.Key, c.Name, err)
		}
	}
}

// Phase is how far a pull request's conversation has come at this computer; "" knows of none.
func (c *Computer) Phase(ref string) string {
	t := c.f.t
	t.Helper()
	threads, err := c.client.Threads()
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range threads {
		if l.Ref == ref {
			return l.Phase
		}
	}
	return ""
}

// connections counts the computers that this one is connected with.
func (c *Computer) connections() (n int) {
	c.f.t.Helper()
	s, err := c.client.Status()
	if err != nil {
		c.f.t.Fatal(err)
	}
	for _, p := range s.Peers {
		if p.Connected {
			n++
		}
	}
	return n
}

// Thread is a pull request's conversation as the computer shows it.
func (c *Computer) Thread(ref string) api.Thread {
	c.f.t.Helper()
	th, err := c.client.Thread(ref)
	if err != nil {
		c.f.t.Fatal(err)
	}
	return th
}

// Card reports whether a card of a code waits in the computer's inbox.
func (c *Computer) Card(code string) bool {
	c.f.t.Helper()
	cards, err := c.client.Inbox()
	if err != nil {
		c.f.t.Fatal(err)
	}
	return slices.ContainsFunc(cards, func(card api.Card) bool { return card.Code == code })
}

// Log is how often the computer said something of a kind about itself.
func (c *Computer) Log(kind string) (n int) {
	c.f.t.Helper()
	lines, err := c.client.Log(0, logLines)
	if err != nil {
		c.f.t.Fatal(err)
	}
	for _, l := range lines {
		if l.Kind == kind && l.Who == c.Name {
			n++
		}
	}
	return n
}

// logLines is how much of a computer's log is told.
const logLines = 500

func (c *Computer) tell() {
	if c.client == nil {
		return
	}
	lines, err := c.client.Log(0, logLines)
	if err != nil {
		c.f.t.Logf("%s does not answer: %v", c.Name, err)
	}
	for _, l := range lines {
		c.f.t.Logf("%s  %-8s %-8s %-10s %s", l.At.Format("02T15:04:05"), c.Name, l.Who, l.Kind, l.Text)
	}
	threads, err := c.client.Threads()
	if err != nil {
		c.f.t.Logf("%s does not answer: %v", c.Name, err)
	}
	for _, l := range threads {
		c.f.t.Logf("%s: %s %s waits for %q", c.Name, l.Ref, l.Phase, l.Waiting)
	}
}
