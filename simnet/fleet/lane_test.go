package fleet

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/parley-mesh/parley/node"
	"github.com/parley-mesh/parley/node/api"
	"github.com/parley-mesh/parley/simnet/github"
)

// teamed is a story of two developers: kim's computers, of which the desktop is the main one, and maya's, on which
// maya's own gh is signed in. The pull request is maya's.
type teamed struct {
	*Fleet
	desktop, tablet *Computer // kim's
	mill, barn      *Computer // maya's
	ref             string
}

const mayasToken = "another-token-of-no-value"

// teams sets the scene for two developers. Both fleets run; nobody is paired with anybody else yet.
func teams(t *testing.T, timers node.Timers, tell func(t *testing.T, p *teamed)) {
	t.Helper()
	t.Parallel()
	s := NewScene(t)
	names := []string{"desktop", "tablet", "mill", "barn"}
	for _, name := range names {
		s.Clone(name)
	}
	maya := s.GitHub.AddUser("maya", mayasToken)
	s.GitHub.Invite(s.Repo, maya, github.WriteAccess)
	file := filepath.Join(s.dir, "mayas-token")
	if err := os.WriteFile(file, []byte(mayasToken+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s.Clone(elsewhere)
	mill := s.checkout("mill")
	s.git(mill, "checkout", "-q", "-b", head)
	s.write(mill, onPull)
	s.commit(mill, "Refund a part")
	s.push(mill, head)
	pull, err := s.GitHub.OpenPull(maya, s.Repo, base, s.Repo, head, "Refund a part", false)
	if err != nil {
		t.Fatal(err)
	}
	s.Play(func(t *testing.T, f *Fleet) {
		p := &teamed{Fleet: f, ref: fmt.Sprintf("%s#%d", slug, pull.Number)}
		hers := func(c *node.Config) { c.GitHub.TokenFile = file }
		p.desktop, p.tablet = f.Add("desktop", timers), f.Add("tablet", timers)
		p.mill, p.barn = f.Add("mill", timers, hers), f.Add("barn", timers, hers)
		for _, pair := range [][2]*Computer{{p.desktop, p.tablet}, {p.mill, p.barn}} {
			pair[0].Open()
			pair[0].Admit(pair[1])
			pair[1].Open()
		}
		tell(t, p)
	})
}

// PairLane pairs two developers by a code and words that both see, at these two computers.
func (c *Computer) PairLane(other *Computer) error {
	ctx, cancel := context.WithTimeout(c.f.t.Context(), time.Minute)
	defer cancel()
	person := api.DemoProver()
	given, err := c.client.InviteLane(ctx, c.Name, person)
	if err != nil {
		return err
	}
	taken, err := other.client.AcceptLane(ctx, given.Code, other.Name, person)
	if err != nil {
		return err
	}
	var words [2][4]string
	sides := []struct {
		c  *Computer
		id string
	}{{c, given.ID}, {other, taken.ID}}
	for i, side := range sides {
		s, err := side.c.client.AwaitInvite(ctx, side.id, api.InviteWaiting)
		if err != nil || s.State != api.InviteAsking || !s.Lane {
			return errors.Join(err, fmt.Errorf("%s: the pairing is %s: %s", side.c.Name, s.State, s.Text))
		}
		if words[i] = s.Words; words[i] != words[0] {
			return fmt.Errorf("the words differ: %v", words)
		}
		if _, err := side.c.client.ConfirmInvite(ctx, side.id, s, person); err != nil {
			return err
		}
	}
	for _, side := range sides {
		if s, err := side.c.client.AwaitInvite(ctx, side.id, api.InviteAsking); err != nil || s.State != api.InviteJoined {
			return errors.Join(err, fmt.Errorf("%s: the pairing is %s: %s", side.c.Name, s.State, s.Text))
		}
	}
	return nil
}

// lane is the computer's one lane.
func (c *Computer) lane() api.Lane {
	c.f.t.Helper()
	all, err := c.client.Lanes()
	if err != nil || len(all) != 1 {
		c.f.t.Fatalf("%s has %d lanes (%v)", c.Name, len(all), err)
	}
	return all[0]
}

// switchLane switches the computer's one lane, by its person.
func (c *Computer) switchLane(on bool) {
	c.f.t.Helper()
	var repositories []string
	if on {
		repositories = []string{slug}
	}
	if _, err := c.client.SwitchLane(c.f.t.Context(), c.lane(), repositories, on, api.DemoProver()); err != nil {
		c.f.t.Fatal(err)
	}
}

// teammates is the switch of P12 at the computer, by its person.
func (c *Computer) teammates(on bool) {
	c.f.t.Helper()
	if _, err := c.client.SetTeammates(c.f.t.Context(), on, api.DemoProver()); err != nil {
		c.f.t.Fatal(err)
	}
}

// paired pairs the two fleets at the desktop and the mill, and switches the lane on at both ends.
func (p *teamed) paired() {
	p.t.Helper()
	if err := p.desktop.PairLane(p.mill); err != nil {
		p.t.Fatal(err)
	}
	p.desktop.switchLane(true)
	p.mill.switchLane(true)
	p.Until("the lane is on and connected", 5*time.Minute, time.Second, func() bool {
		a, b := p.desktop.lane(), p.mill.lane()
		return a.Connected && b.Connected && a.There && b.There && len(a.Common) == 1
	})
}

// approved approves what waits anywhere, and reports whether the conversation is over at every computer.
func (p *teamed) approved() bool {
	p.Approve()
	return p.All(p.ref, "closed")
}

func TestATeammatesConflictIsSettledThroughTheLane(t *testing.T) { // P3, P5, P12, P13, P14, P20
	teams(t, node.Timers{}, func(t *testing.T, p *teamed) {
		p.paired()
		p.Collide()
		p.desktop.TakeMain()
		<-time.After(20 * time.Minute)
		if at := p.desktop.Phase(p.ref); at != "" {
			t.Fatalf("a teammate's conflict is %s although the switch is off", at)
		}
		p.desktop.teammates(true)
		p.Until("the conversation is heard of everywhere", time.Hour, time.Second, func() bool {
			return p.desktop.Phase(p.ref) != "" && p.mill.Phase(p.ref) != "" && p.barn.Phase(p.ref) != ""
		})
		lane := p.desktop.lane()
		if lane.Account != "maya" {
			t.Errorf("the lane's account is %q", lane.Account)
		}
		if got := p.desktop.Thread(p.ref).Responsible; got != lane.Party && got != lane.Name {
			t.Errorf("the responsible side is %q, want %s", got, lane.Party)
		}
		p.Until("the interim holds at kim's tablet", time.Hour, 10*time.Second, func() bool { return p.Holds(p.tablet.Checkout) == nil })

		p.Until("the conversation is over", 3*time.Hour, 10*time.Second, p.approved)

		for _, c := range []*Computer{p.desktop, p.tablet, p.barn} {
			if err := p.Adopted(c.Checkout); err != nil {
				t.Error(err)
			}
		}
		if err := p.Published(); err != nil {
			t.Error(err)
		}
	})
}
