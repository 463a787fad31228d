package fleet

import (
	"fmt"
	"testing"
	"time"

	"github.com/parley-mesh/parley/node"
)

func TestMain(m *testing.M) { Main(m) }

// trio is a fleet of three: the main computer, the author's and another one, paired, with a conflict.
type trio struct {
	*Fleet
	desktop, laptop, tablet *Computer
	ref                     string
}

// playTrio sets a scene for three computers and plays a story on it.
func playTrio(t *testing.T, timers node.Timers, story func(t *testing.T, f *trio)) {
	t.Helper()
	s := NewScene(t)
	for _, name := range []string{"desktop", "laptop", "tablet"} {
		s.Clone(name)
	}
	pull := s.Conflict(s.checkout("laptop"), s.checkout("desktop"))
	s.Play(func(t *testing.T, f *Fleet) {
		three := &trio{Fleet: f, ref: fmt.Sprintf("%s#%d", slug, pull)}
		three.desktop, three.laptop, three.tablet = f.Add("desktop", timers), f.Add("laptop", timers), f.Add("tablet", timers)
		three.desktop.Open()
		for _, c := range f.Computers[1:] {
			three.desktop.Admit(c)
			c.Open()
		}
		three.desktop.TakeMain()
		story(t, three)
	})
}

// closed reports whether the conversation is over at every computer that runs. Persons approve meanwhile.
func (f *trio) closed() bool {
	for _, c := range f.Computers {
		c.Approve()
	}
	for _, c := range f.Computers {
		if c.Running() && c.Phase(f.ref) != "closed" {
			return false
		}
	}
	return true
}

// check checks what is promised at the end.
func (f *trio) check(t *testing.T) {
	t.Helper()
	for _, err := range []error{f.Adopted(f.desktop.Checkout), f.Adopted(f.tablet.Checkout), f.Untouched(f.laptop.Checkout), f.Published()} {
		if err != nil {
			t.Error(err)
		}
	}
}

func TestThreeComputersSettleAConflictInVirtualTime(t *testing.T) { // P1, P15, P18
	playTrio(t, node.Timers{}, func(t *testing.T, f *trio) {
		took := f.Until("the conversation is over", 3*time.Hour, 10*time.Second, f.closed)
		f.check(t)
		t.Logf("settled after %v", took)
	})
}
