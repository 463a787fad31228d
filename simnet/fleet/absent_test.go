package fleet

import (
	"slices"
	"testing"
	"time"

	"github.com/parley-mesh/parley/node"
)

// interimMost is the contract's deadline, and stepMost what the nodes may take to act on it: their loops look
// at the clock every 15 seconds at most.
const (
	interimMost = 30 * time.Minute
	stepMost    = time.Minute
)

// silence waits until the interim holds at a computer whose main computer cannot be heard.
func (p *story) silence(t *testing.T, c *Computer) {
	t.Helper()
	opened := p.thread(c).Since
	if err := p.Holds(c.Checkout); err == nil {
		t.Fatal("the checkout holds the interim before the deadline")
	}
	p.Until("the interim holds by silence", time.Hour, 5*time.Second, func() bool { return p.Holds(c.Checkout) == nil })
	if took := time.Since(opened); took < interimMost || took > interimMost+stepMost {
		t.Errorf("the interim held %v after the open", took)
	}
}

func TestAMainComputerThatIsCutOffDelaysNoInterim(t *testing.T) { // P18, P24, L3
	play(t, calm(), func(t *testing.T, p *story) {
		p.join(p.cellar)
		p.cellar.Close() // it never agrees, so that only silence can settle the interim
		p.begin()
		p.Until("the conversation is heard of", time.Hour, time.Second, func() bool { return p.All(p.ref, "open") })
		p.desktop.Unplug()

		p.silence(t, p.tablet)

		if err := p.Untouched(p.laptop.Checkout); err != nil {
			t.Error(err)
		}
		p.desktop.Plug()
		p.Until("the conversation goes on", time.Hour, 10*time.Second, func() bool {
			p.Approve()
			return p.All(p.ref, "final")
		})
		p.cellar.Open()
		p.Until("the conversation is over", time.Hour, 10*time.Second, p.closed)
		p.check(t)
		if err := p.Adopted(p.cellar.Checkout); err != nil {
			t.Error(err)
		}
	})
}

func TestAMainComputerThatNeverReturnsStopsAtTheInterimUntilAPersonTakesOver(t *testing.T) { // P15, P18, P24, L2, L3, case 21
	if testing.Short() {
		t.Skip("a virtual day")
	}
	play(t, slow(), func(t *testing.T, p *story) {
		p.join(p.cellar)
		p.cellar.Close() // it never agrees, so that only silence can settle the interim
		p.begin()
		p.Until("the conversation is heard of", time.Hour, time.Second, func() bool { return p.All(p.ref, "open") })
		p.desktop.Close()

		p.silence(t, p.tablet)
		for _, c := range []*Computer{p.laptop, p.tablet} {
			p.restart(t, c)
		}
		<-time.After(26 * time.Hour)

		for _, err := range []error{p.Holds(p.tablet.Checkout), p.Untouched(p.laptop.Checkout)} {
			if err != nil {
				t.Error(err)
			}
		}
		if writes := p.Writes(); writes != "" {
			t.Errorf("GitHub was written without an approval: %s", writes)
		}
		p.tablet.TakeMain()
		p.Until("the tablet publishes", 3*time.Hour, 10*time.Second, func() bool {
			p.Approve()
			return p.All(p.ref, "final")
		})
		p.Until("the tablet adopts", time.Hour, time.Minute, func() bool { return p.Adopted(p.tablet.Checkout) == nil })
		if err := p.Published(); err != nil {
			t.Error(err)
		}
	})
}

// restart stops a computer and starts it again. It must show what it showed before.
func (p *story) restart(t *testing.T, c *Computer) {
	t.Helper()
	before := p.records(c)
	c.Close()
	c.Open()
	if after := p.records(c); !slices.Equal(before, after) {
		t.Errorf("%s shows %d records, and %d after its restart", c.Name, len(before), len(after))
	}
}

func TestRestartsInTheMiddleChangeNothing(t *testing.T) { // P15, P21, case 40
	if testing.Short() {
		t.Skip("nine restarts")
	}
	play(t, node.Timers{}, func(t *testing.T, p *story) {
		restart := func() {
			for _, c := range p.Computers[:3] {
				p.restart(t, c)
			}
		}
		p.begin()
		p.agreed()
		restart()
		p.Until("the author's person is asked", time.Hour, time.Second, func() bool { return p.laptop.Card("C2") })
		restart()
		p.Until("the author's person is asked again", time.Minute, time.Second, func() bool { return p.laptop.Card("C2") })
		p.laptop.Approve()
		p.Until("the main computer's person is asked", time.Hour, time.Second, func() bool { return p.desktop.Card("C3") })
		restart()

		p.Until("the conversation is over", 3*time.Hour, 10*time.Second, p.closed)

		p.check(t)
		if n := p.laptop.Log("woken"); n != 1 {
			t.Errorf("the desk was woken %d times", n)
		}
	})
}
