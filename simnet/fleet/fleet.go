package fleet

import (
	"fmt"
	"net/netip"
	"testing"
	"time"

	"github.com/parley-mesh/parley/node"
	"github.com/parley-mesh/parley/simnet/memnet"
	"github.com/parley-mesh/parley/simnet/virtual"
)

// Latency is how long everything takes between two computers, one way.
const Latency = 10 * time.Millisecond

// ahead is how much later than the real clock virtual time begins.
const ahead = time.Hour

// port is where each computer listens.
const port = 4001

// Fleet is one developer's computers in a bubble.
type Fleet struct {
	Net       *memnet.Net
	Computers []*Computer

	t     *testing.T
	scene *Scene
	begun int // writes on GitHub before the conflict
}

// Play runs a story in a bubble. Computers that still run at its end are stopped.
func (s *Scene) Play(story func(t *testing.T, f *Fleet)) {
	s.t.Helper()
	begin := time.Now().Add(ahead).Round(0)
	virtual.Test(s.t, func(t *testing.T) {
		<-time.After(time.Until(begin))
		f := &Fleet{Net: memnet.New(Latency), t: t, scene: s}
		t.Cleanup(func() {
			for _, c := range f.Computers {
				c.Close()
			}
		})
		story(t, f)
	})
}

// Add sets a computer up whose checkout was made with [Scene.Clone]. It does not run yet, and is in no fleet but its own.
// changes are made to its settings before.
func (f *Fleet) Add(name string, timers node.Timers, changes ...func(*node.Config)) *Computer {
	f.t.Helper()
	i := len(f.Computers) + 1
	c := &Computer{Name: name, Host: netip.AddrFrom4([4]byte{10, 0, byte(i >> 8), byte(i)}), f: f}
	c.Home, c.Checkout = f.scene.home(name), f.scene.checkout(name)
	cfg := f.scene.config(name)
	cfg.Listen, cfg.Timers = []string{fmt.Sprintf("/ip4/%s/tcp/%d", c.Host, port)}, timers
	for _, change := range changes {
		change(&cfg)
	}
	if err := c.Home.Init(node.Setup{Config: cfg}); err != nil {
		f.t.Fatal(err)
	}
	f.Computers = append(f.Computers, c)
	return c
}

// Approve presses every approval that waits at a computer that runs, as its person.
func (f *Fleet) Approve() {
	f.t.Helper()
	for _, c := range f.Computers {
		c.Approve()
	}
}

// All reports whether a pull request's conversation is in a phase at every computer that runs.
func (f *Fleet) All(ref, phase string) bool {
	f.t.Helper()
	for _, c := range f.Computers {
		if c.Running() && c.Phase(ref) != phase {
			return false
		}
	}
	return true
}

// Met reports whether all computers that run are connected with each other.
func (f *Fleet) Met() bool {
	f.t.Helper()
	running := 0
	for _, c := range f.Computers {
		if c.Running() {
			running++
		}
	}
	for _, c := range f.Computers {
		if c.Running() && c.connections() != running-1 {
			return false
		}
	}
	return true
}

// Until lets virtual time pass until something holds, at most for a while, and returns how long it took. It
// looks every step.
func (f *Fleet) Until(what string, most, step time.Duration, holds func() bool) time.Duration {
	f.t.Helper()
	began := time.Now()
	for !holds() {
		if time.Since(began) > most {
			f.Tell()
			f.t.Fatalf("not within %v: %s", most, what)
		}
		<-time.After(step)
	}
	return time.Since(began)
}

// Tell logs what every computer that runs has to say.
func (f *Fleet) Tell() {
	f.t.Helper()
	for _, c := range f.Computers {
		c.tell()
	}
}
