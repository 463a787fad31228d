package fleet

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/parley-mesh/parley/node"
	"github.com/parley-mesh/parley/node/api"
)

func TestMain(m *testing.M) { Main(m) }

// story is a fleet with a conflicting pull request: the main computer to be, the author's, a third, and one
// more that is set up and in no fleet but its own.
type story struct {
	*Fleet
	desktop, laptop, tablet, cellar *Computer
	ref                             string
}

// calm lets an hour pass with fewer looks at what does not change. The deadlines are the contract's.
func calm() node.Timers {
	d := func(d time.Duration) node.Duration { return node.Duration{Duration: d} }
	return node.Timers{Look: d(10 * time.Minute), Master: d(20 * time.Minute)}
}

// slow lets a day pass with few looks at what does not change. The deadlines are the contract's.
func slow() node.Timers {
	d := func(d time.Duration) node.Duration { return node.Duration{Duration: d} }
	return node.Timers{Scan: d(12 * time.Hour), Look: d(12 * time.Hour), Idle: d(2 * time.Hour), Master: d(12 * time.Hour), SyncEvery: d(5 * time.Minute)}
}

// play sets the scene and tells a story on it. The three run and are paired.
func play(t *testing.T, timers node.Timers, tell func(t *testing.T, f *story)) {
	t.Helper()
	t.Parallel()
	s := NewScene(t)
	names := []string{"desktop", "laptop", "tablet", "cellar"}
	for _, name := range names {
		s.Clone(name)
	}
	pull := s.Propose(s.checkout("laptop"))
	s.Play(func(t *testing.T, f *Fleet) {
		for _, name := range names {
			f.Add(name, timers)
		}
		all := f.Computers
		p := &story{Fleet: f, desktop: all[0], laptop: all[1], tablet: all[2], cellar: all[3], ref: fmt.Sprintf("%s#%d", slug, pull)}
		p.desktop.Open()
		p.join(p.laptop)
		p.join(p.tablet)
		p.Until("the laptop and the tablet meet, which only the desktop knows both", time.Minute, time.Second, p.Met)
		tell(t, p)
	})
}

// join lets a computer join the fleet, and starts it.
func (p *story) join(c *Computer) {
	p.desktop.Admit(c)
	c.Open()
}

// begin lets the pull request conflict, and makes the desktop the main computer, which finds it.
func (p *story) begin() {
	p.Collide()
	p.desktop.TakeMain()
}

// agreed waits until every computer that runs knows that the interim is settled.
func (p *story) agreed() {
	p.Until("everybody knows of the interim", time.Hour, time.Second, func() bool { return p.All(p.ref, "interim") })
}

// closed approves what waits, and reports whether the conversation is over at every computer that runs.
func (p *story) closed() bool {
	p.Approve()
	return p.All(p.ref, "closed")
}

// check checks what is promised at the end.
func (p *story) check(t *testing.T) {
	t.Helper()
	for _, err := range []error{p.Adopted(p.desktop.Checkout), p.Adopted(p.tablet.Checkout), p.Untouched(p.laptop.Checkout), p.Published()} {
		if err != nil {
			t.Error(err)
		}
	}
}

func TestThreeComputersSettleAConflictInVirtualTime(t *testing.T) { // P1, P15, P18, P20
	play(t, node.Timers{}, func(t *testing.T, p *story) {
		p.begin()

		took := p.Until("the conversation is over", 3*time.Hour, 10*time.Second, p.closed)

		p.check(t)
		t.Logf("settled after %v", took)
	})
}

func TestALidClosedForADayCatchesUpAndAdopts(t *testing.T) { // P20, P24
	if testing.Short() {
		t.Skip("a virtual day")
	}
	play(t, slow(), func(t *testing.T, p *story) {
		p.begin()
		p.agreed()
		p.tablet.Unplug()

		p.Until("the others publish", time.Hour, 10*time.Second, func() bool {
			p.Approve()
			return p.desktop.Phase(p.ref) == "final" && p.laptop.Phase(p.ref) == "final"
		})
		<-time.After(24 * time.Hour)
		if at := p.tablet.Phase(p.ref); at != "interim" {
			t.Errorf("news came through a closed lid: %s", at)
		}
		if at := p.desktop.Phase(p.ref); at != "final" {
			t.Errorf("the conversation is %s without the tablet", at)
		}
		if p.Adopted(p.desktop.Checkout) != nil || p.Adopted(p.tablet.Checkout) == nil {
			t.Errorf("desktop: %v; the tablet cannot hold the final", p.Adopted(p.desktop.Checkout))
		}
		p.tablet.Plug()

		took := p.Until("the tablet adopts and the conversation is over", 3*time.Hour, 10*time.Second, p.closed)
		p.check(t)
		t.Logf("over %v after the lid was opened", took)
	})
}

func TestAComputerThatJoinsSeesTheRunningConversation(t *testing.T) { // P16, P20
	play(t, node.Timers{}, func(t *testing.T, p *story) {
		p.begin()
		p.agreed()
		if p.cellar.Running() {
			t.Fatal("the fourth computer is there already")
		}

		p.join(p.cellar)

		p.Until("the fourth computer sees it", time.Minute, time.Second, func() bool { return p.cellar.Phase(p.ref) == "interim" })
		if here, there := p.records(p.cellar), p.records(p.desktop); !slices.Equal(here, there) {
			t.Errorf("it sees %d records of %d", len(here), len(there))
		}
		p.Until("the conversation is over", 3*time.Hour, 10*time.Second, p.closed)
		p.check(t)
		p.Until("the fourth computer holds the result", time.Hour, time.Minute, func() bool { return p.Adopted(p.cellar.Checkout) == nil })
	})
}

// records lists the records of the conversation that a computer shows.
func (p *story) records(c *Computer) []string {
	var out []string
	for _, r := range p.thread(c).Records {
		out = append(out, r.ID)
	}
	slices.Sort(out)
	return out
}

func (p *story) thread(c *Computer) api.Thread { return c.Thread(p.ref) }
