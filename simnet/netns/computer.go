package netns

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/parley-mesh/parley/mesh"
)

// Setup is what a computer of a [World] runs.
type Setup struct {
	// Seed is the computer's key, and its name among the others.
	Seed byte
	// Relay lets it be a relay for Fleet in place of one of its computers.
	Relay bool
	// Portal lets it be the web server of a network that asks for a sign-in, on port 8080.
	Portal bool
	// Line lets it be a line between two others.
	Line *Line
	// Code lets it be a computer that belongs to nobody and follows an invitation.
	Code   string
	Fleet  []byte   // seeds of the fleet's computers
	Listen []string // multiaddresses
	Reach  mesh.Reach
	// Knows are addresses of others, by seed.
	Knows map[byte][]string
	Dir   string // for its ledger
	// Look is how often the computer looks at its connections to tell of them; 0 is 20 ms.
	Look time.Duration
	// SyncEvery is the mean time between two comparisons without news; 0 is the mesh's own.
	SyncEvery time.Duration
}

// Fact is something that a computer tells.
type Fact struct {
	What  string         `json:"what"` // "ready", "way", "have", "check", "code", "paired" or "trouble"
	At    time.Time      `json:"at"`
	Who   byte           `json:"who,omitempty"`   // way: to whom
	Way   Way            `json:"way"`             // way: by which
	N     int            `json:"n,omitempty"`     // have: records in all
	Addrs []string       `json:"addrs,omitempty"` // ready: where it listens
	Check *mesh.Netcheck `json:"check,omitempty"`
	Text  string         `json:"text,omitempty"`
}

// Way is how two computers are connected.
type Way struct {
	Connected bool   `json:"connected"`
	Path      string `json:"path"`
	Transport string `json:"transport"`
	Addr      string `json:"addr"`
}

// Computer is a process in a namespace.
type Computer struct {
	t     testing.TB
	seed  byte
	in    io.WriteCloser
	facts chan Fact
	pid   int

	mu    sync.Mutex
	Addrs []string
	ways  map[byte]Way
	have  int
	said  map[string]string // "code" and "paired"
}

// factsMax is how many facts wait for the test.
const factsMax = 4096

// patience is how long is waited for what comes at once on a machine that has nothing else to do.
const patience = 2 * time.Minute

// childEnv tells the test's own program to be a computer.
const childEnv = "PARLEY_NETNS_COMPUTER"

// Start lets a computer run in a namespace, and waits until it listens.
func (s *Space) Start(setup Setup) *Computer {
	t := s.w.t
	t.Helper()
	text, err := json.Marshal(setup)
	if err != nil {
		t.Fatal(err)
	}
	cmd := s.Command("/proc/self/exe")
	if self, err := os.Executable(); err == nil {
		cmd = s.Command(self)
	}
	cmd.Env = append(os.Environ(), childEnv+"="+string(text))
	cmd.Stderr = os.Stderr
	c := &Computer{t: t, seed: setup.Seed, facts: make(chan Fact, factsMax), ways: map[byte]Way{}, said: map[string]string{}}
	if c.in, err = cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	c.pid = cmd.Process.Pid // ip becomes what it starts
	read := make(chan struct{})
	go func() {
		defer close(read)
		defer close(c.facts)
		lines := bufio.NewScanner(out)
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			var f Fact
			if json.Unmarshal(lines.Bytes(), &f) == nil {
				c.facts <- f
			}
		}
	}()
	t.Cleanup(func() {
		_ = c.in.Close()                                                                    // its sign to end
		end := time.AfterFunc(patience, func() { _ = cmd.Process.Signal(syscall.SIGQUIT) }) // it tells where it hangs
		defer end.Stop()
		for range c.facts { // until it has ended
		}
		<-read
		if err := cmd.Wait(); err != nil && !t.Failed() {
			t.Errorf("computer %d: %v", setup.Seed, err)
		}
	})
	c.Await(patience, "it listens", func() bool { return c.Addrs != nil })
	return c
}

// take keeps what a fact says.
func (c *Computer) take(f Fact) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch f.What {
	case "ready":
		c.Addrs = f.Addrs
	case "way":
		c.ways[f.Who] = f.Way
	case "have":
		c.have = f.N
	case "code", "paired":
		c.said[f.What] = f.Text
	}
}

// Await takes facts until something holds, and returns when the last one was told; it fails the test when that takes longer than most.
func (c *Computer) Await(most time.Duration, what string, holds func() bool) time.Time {
	c.t.Helper()
	at := time.Now()
	end := time.NewTimer(most)
	defer end.Stop()
	for !holds() {
		select {
		case f, ok := <-c.facts:
			if !ok {
				c.t.Fatalf("computer %d ended before %s", c.seed, what)
			}
			if f.What == "trouble" {
				c.t.Fatalf("computer %d: %s", c.seed, f.Text)
			}
			c.take(f)
			at = f.At
		case <-end.C:
			c.t.Fatalf("computer %d: not within %v: %s; its ways: %+v", c.seed, most, what, c.ways)
		}
	}
	return at
}

// Connected waits until the computer is connected to another by a path; "" is any.
func (c *Computer) Connected(most time.Duration, who byte, path string) (Way, time.Time) {
	c.t.Helper()
	at := c.Await(most, fmt.Sprintf("a %s connection to %d", path, who), func() bool {
		w := c.ways[who]
		return w.Connected && (path == "" || w.Path == path)
	})
	return c.ways[who], at
}

// Moved waits until the computer is connected to another at an address with this in it.
func (c *Computer) Moved(most time.Duration, who byte, address string) (Way, time.Time) {
	c.t.Helper()
	at := c.Await(most, fmt.Sprintf("a connection to %d at %s", who, address), func() bool {
		w := c.ways[who]
		return w.Connected && strings.Contains(w.Addr, address)
	})
	return c.ways[who], at
}

// Learns waits until the computer keeps a place at a relay.
func (c *Computer) Learns(most time.Duration, relay string) {
	c.t.Helper()
	for end := time.Now().Add(most); time.Now().Before(end); {
		for _, r := range c.Check().Relays {
			if r.Peer == relay && r.Reserved {
				return
			}
		}
	}
	c.t.Fatalf("computer %d: it does not learn of the relay", c.seed)
}

// Listens waits until the computer tells others that it is reached at an address.
func (c *Computer) Listens(most time.Duration, address string) {
	c.t.Helper()
	c.Finds(most, "that it is reached at "+address, func(n mesh.Netcheck) bool { return slices.Contains(n.Listen, address) })
}

// PID is the computer's process.
func (c *Computer) PID() int { return c.pid }

// Ways are the others that the computer has been connected to.
func (c *Computer) Ways() map[byte]Way {
	c.mu.Lock()
	defer c.mu.Unlock()
	return maps.Clone(c.ways)
}

// Has waits until the computer holds n records.
func (c *Computer) Has(most time.Duration, n int) time.Time {
	c.t.Helper()
	return c.Await(most, fmt.Sprintf("%d records", n), func() bool { return c.have >= n })
}

// Invite lets the computer open an invitation, and returns its code.
func (c *Computer) Invite() string {
	c.t.Helper()
	c.order("invite")
	c.Await(patience, "a code", func() bool { return c.said["code"] != "" })
	return c.said["code"]
}

// Paired waits for the end of a pairing, and returns what the other side is called.
func (c *Computer) Paired(most time.Duration) (string, time.Time) {
	c.t.Helper()
	at := c.Await(most, "a pairing", func() bool { return c.said["paired"] != "" })
	return c.said["paired"], at
}

// Say lets the computer write a record and tell the others.
func (c *Computer) Say() time.Time {
	c.t.Helper()
	now := time.Now()
	c.order("say")
	return now
}

// Finds lets the computer look at its network again and again until it finds something out; a look has seconds for each
// try, which a busy machine may not keep.
func (c *Computer) Finds(most time.Duration, what string, holds func(mesh.Netcheck) bool) {
	c.t.Helper()
	var last mesh.Netcheck
	for end := time.Now().Add(most); time.Now().Before(end); {
		if last = c.Check(); holds(last) {
			return
		}
	}
	c.t.Errorf("computer %d: not within %v: %s; it finds %+v", c.seed, most, what, last)
}

// Check lets the computer find out what works from where it is.
func (c *Computer) Check() mesh.Netcheck {
	c.t.Helper()
	c.order("check")
	var got *mesh.Netcheck
	end := time.NewTimer(patience)
	defer end.Stop()
	for got == nil {
		select {
		case f, ok := <-c.facts:
			if !ok {
				c.t.Fatalf("computer %d ended while it was asked", c.seed)
			}
			c.take(f)
			got = f.Check
		case <-end.C:
			c.t.Fatalf("computer %d does not answer", c.seed)
		}
	}
	return *got
}

func (c *Computer) order(what string) {
	c.t.Helper()
	if _, err := io.WriteString(c.in, what+"\n"); err != nil {
		c.t.Fatal(err)
	}
}
