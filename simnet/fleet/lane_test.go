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
	"github.com/parley-mesh/parley/simnet/memnet"
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
		p.Until("the conversation is heard of everywhere", time.Hour, 10*time.Second, func() bool {
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

// begun lets the teammate's pull request conflict and start, and waits until both ends know of it, for two scans
// at most.
func (p *teamed) begun(scans time.Duration) {
	p.t.Helper()
	p.paired()
	p.desktop.teammates(true)
	p.Collide()
	p.desktop.TakeMain()
	p.Until("the conversation is heard of everywhere", 2*scans+time.Minute, scans/90, func() bool {
		return p.desktop.Phase(p.ref) != "" && p.mill.Phase(p.ref) != "" && p.barn.Phase(p.ref) != ""
	})
}

func TestALaneThatGoesOffInTheMiddleIsAwayAndGetsWhatItMissed(t *testing.T) { // P4, P5, P24, L8
	if testing.Short() {
		t.Skip("three virtual hours of four computers")
	}
	teams(t, calm(), func(t *testing.T, p *teamed) {
		p.tablet.Close() // it never agrees, so that only silence can settle the interim
		p.begun(15 * time.Minute)
		p.mill.switchLane(false)
		p.Until("nobody of the two fleets is connected", time.Minute, time.Second, func() bool {
			return !p.desktop.lane().Connected && !p.barn.lane().Here
		})
		p.Until("the interim holds by silence", time.Hour, time.Minute, func() bool { return p.desktop.Phase(p.ref) == "interim" })
		<-time.After(20 * time.Minute)
		for _, c := range []*Computer{p.mill, p.barn} {
			if at := c.Phase(p.ref); at != "open" {
				t.Errorf("%s heard through a lane that is off: %s", c.Name, at)
			}
		}
		if s := p.desktop.lane().State; s != "on, and none of their computers is connected" {
			t.Errorf("the lane's state is %q", s)
		}
		if err := p.Untouched(p.mill.Checkout); err != nil {
			t.Error(err)
		}
		if writes := p.Writes(); writes != "" {
			t.Errorf("GitHub was written: %s", writes)
		}

		p.tablet.Open()
		p.mill.switchLane(true)
		p.Until("the lane brings what was missed", 10*time.Minute, time.Second, func() bool {
			return p.mill.Phase(p.ref) == "interim" && p.barn.Phase(p.ref) == "interim"
		})
		p.Until("the conversation is over", 3*time.Hour, time.Minute, p.approved)
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

func TestAFinalThatIsOverdueIsToldToTheOtherDeveloperOnce(t *testing.T) { // P22, D-17
	if testing.Short() {
		t.Skip("a virtual day")
	}
	teams(t, slow(), func(t *testing.T, p *teamed) {
		p.begun(12 * time.Hour)
		p.Until("the final is overdue", 30*time.Hour, 10*time.Minute, func() bool { return p.desktop.Card("C7") })
		p.Until("both of the other developer's computers are told", time.Hour, 5*time.Minute, func() bool {
			return p.mill.Card("C20") && p.barn.Card("C20")
		})
		p.barn.Close()
		p.barn.Open()
		<-time.After(time.Hour)

		for _, c := range []*Computer{p.mill, p.barn} {
			cards, err := c.client.Inbox()
			if err != nil {
				t.Fatal(err)
			}
			n := 0
			for _, card := range cards {
				if card.Code == "C20" {
					n++
				}
			}
			if told := c.told("note"); n != 1 || told != 1 {
				t.Errorf("%s: %d cards and %d messages", c.Name, n, told)
			}
		}
	})
}

// told is how often the computer's timeline says something of a kind, whoever said it.
func (c *Computer) told(kind string) (n int) {
	c.f.t.Helper()
	lines, err := c.client.Log(0, logLines)
	if err != nil {
		c.f.t.Fatal(err)
	}
	for _, l := range lines {
		if l.Kind == kind {
			n++
		}
	}
	return n
}

func TestWithoutASwitchNothingCrossesBetweenTwoDevelopersNodes(t *testing.T) { // P13, S12, L1, L2
	teams(t, calm(), func(t *testing.T, p *teamed) {
		if err := p.desktop.PairLane(p.mill); err != nil {
			t.Fatal(err)
		}
		<-time.After(time.Minute)
		quiet := p.crossed()
		p.Collide()
		p.desktop.TakeMain()
		p.desktop.teammates(true)
		<-time.After(20 * time.Minute)
		if now := p.crossed(); now != quiet {
			t.Errorf("while the lane is off there were %+v, and then %+v", quiet, now)
		}

		p.desktop.teammates(false)
		p.desktop.switchLane(true)
		p.mill.switchLane(true)
		p.Until("the lane is connected", 5*time.Minute, time.Second, func() bool { return p.desktop.lane().Connected && p.mill.lane().Connected })
		<-time.After(20 * time.Minute)
		for _, c := range p.Computers {
			if c.lane().Account != "" || c.told("open") > 0 || c.Phase(p.ref) != "" {
				t.Errorf("%s: account %q, %d opens: the switch is off", c.Name, c.lane().Account, c.told("open"))
			}
		}
	})
}

// crossed is what went between the two developers' computers so far.
func (p *teamed) crossed() (out [2]int64) {
	for _, a := range []*Computer{p.desktop, p.tablet} {
		for _, b := range []*Computer{p.mill, p.barn} {
			for _, t := range []memnet.Traffic{p.Net.From(a.Host, b.Host), p.Net.From(b.Host, a.Host)} {
				out[0], out[1] = out[0]+int64(t.Dials), out[1]+t.Bytes
			}
		}
	}
	return out
}
