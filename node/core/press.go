package core

import (
	"fmt"
	"slices"
	"time"

	"github.com/parley-mesh/parley/conflicts/thread"
	"github.com/parley-mesh/parley/lanes"
	"github.com/parley-mesh/parley/ledger"
)

// pressesMax bounds what is kept of a thread's presses; the oldest goes first.
const pressesMax = 16

// Press is what a person asked of a conversation: another round, its end, another side for the final, or to
// go on in spite of two histories. It is kept until the records show it.
type Press struct {
	Binds thread.Binds
	At    time.Time
	Proof string        // by which the person was known; "" when another computer passed it on
	By    ledger.Device // where it was pressed
}

// onGitHub reports whether an act is a write on GitHub, which is approved once, for this computer alone.
func onGitHub(b thread.Binds) bool { return b.Action == "push" || b.Action == "merge" }

// press keeps a press and lets the thread act on it.
func (c *Core) press(t *Conversation, p Press, now time.Time) []Effect {
	if !slices.ContainsFunc(t.Local.Pressed, func(have Press) bool { return have.Binds == p.Binds }) {
		t.Local.Pressed = append(t.Local.Pressed, p)
		if n := len(t.Local.Pressed); n > pressesMax {
			t.Local.Pressed = slices.Clone(t.Local.Pressed[n-pressesMax:])
		}
		c.keep(t)
		c.note(t, "do", c.roster.Name(p.By), "pressed", "a person asks for "+PressText(p.Binds, c.names(&t.State)))
	}
	return c.settled(now)
}

// PressText says what a press asks for. names are those of the parties.
func PressText(b thread.Binds, names []string) string {
	switch b.Action {
	case "round":
		return fmt.Sprintf("another round of agent turns after round %d", b.Round+1)
	case "close":
		return "the end of the conversation"
	case "assign":
		if b.Party >= 0 && b.Party < len(names) {
			return "the final to be built by " + names[b.Party]
		}
		return "the final to be built by another side"
	case "keep":
		return "keeping this computer's copies until the final"
	case "fork":
		return "going on in spite of two histories of " + b.Devices
	}
	return "the " + b.Action
}

// Ask takes a press that no card offers: the end of a conversation, or another side for its final. The
// caller has checked the proof. Errors: [ErrNoCard], [ErrEnded].
func (c *Core) Ask(tid ledger.TID, b thread.Binds, proof string, now time.Time) ([]Effect, error) {
	t, err := c.askable(tid, b)
	if err != nil {
		return nil, err
	}
	return c.press(t, Press{Binds: b, At: now, Proof: proof, By: c.cfg.Device}, now), nil
}

// Relay takes a press that another computer of the fleet passes on to the main computer. Errors:
// [ErrNotMain], [ErrNoCard], [ErrEnded].
func (c *Core) Relay(tid ledger.TID, b thread.Binds, from ledger.Device, now time.Time) ([]Effect, error) {
	if _, main := c.acting(now); !main {
		return nil, fmt.Errorf("take the press of %s: %w", c.roster.Name(from), ErrNotMain)
	}
	if b.Action != "round" && b.Action != "close" && b.Action != "assign" {
		// Two histories are looked at by the person of each computer; an approval is used where it was given.
		return nil, fmt.Errorf("take the press of %s: %s: %w", c.roster.Name(from), PressText(b, nil), ErrNoCard)
	}
	t, err := c.askable(tid, b)
	if err != nil {
		return nil, err
	}
	return c.press(t, Press{Binds: b, At: now, By: from}, now), nil
}

// askable finds the running conversation that a press is about.
func (c *Core) askable(tid ledger.TID, b thread.Binds) (*Conversation, error) {
	t := c.threads[tid]
	switch {
	case t == nil || t.State.Open == nil || onGitHub(b):
		return nil, fmt.Errorf("%s: %w", PressText(b, nil), ErrNoCard)
	case t.State.Phase == thread.Closed:
		return nil, fmt.Errorf("%s: %w", t.State.Ref(), ErrEnded)
	case b.Action == "assign" && (t.State.Phase == thread.Final || b.Party == t.State.Responsible || !t.State.MayBuild(b.Party)):
		return nil, fmt.Errorf("%s: %w", PressText(b, c.names(&t.State)), ErrNotNow)
	}
	return t, nil
}

// StillWants reports whether a thread still wants a file replaced as it did in a state: neither the thread nor a
// person here has decided otherwise since.
func (c *Core) StillWants(tid ledger.TID, s *thread.State) bool {
	t := c.threads[tid]
	return t != nil && t.State.Head() == s.Head() && (t.State.Final != nil || !t.presses().Keep)
}

// presses is what persons asked for that the records do not show yet.
func (t *Conversation) presses() thread.Presses {
	var out thread.Presses
	for _, p := range t.Local.Pressed {
		switch b := p.Binds; b.Action {
		case "round":
			out.Another = out.Another || b.Round == t.State.Round
		case "close":
			out.Close = true
		case "assign":
			if b.Round == t.State.Round && b.Party != t.State.Responsible {
				out.Assign = &b.Party
			}
		case "fork":
			out.Fork = b.Devices
		case "keep":
			out.Keep = true
		}
	}
	return out
}

// told ends the passing on of a press. It is repeated from time to time until the records show it.
func (c *Core) told(in Told, now time.Time) {
	key := flightKey(in.Thread, thread.Tell{Binds: in.Binds})
	t := c.landed(in.Thread, key)
	if t == nil {
		return
	}
	if in.Err != "" {
		c.failed(key, now)
		c.note(t, "warn", c.roster.Name(c.cfg.Device), "press", "the main computer did not take "+PressText(in.Binds, c.names(&t.State))+": "+in.Err)
		return
	}
	c.retry[key] = backoff{until: now.Add(c.cfg.Every.Look)}
}

// mainComputer is who has the role, if it is live and not this computer.
func (c *Core) mainComputer() (ledger.Device, bool) {
	role, claim := c.roster.Main()
	return claim.Device, role == lanes.RoleMain && claim.Device != c.cfg.Device
}
