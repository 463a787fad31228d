package netns

import (
	"io"
	"math/rand/v2"
	"net"
	"os"
	"sync"
	"time"
)

// Line is a slow and lossy line for UDP, in user space, since many kernels cannot make one.
type Line struct {
	From, To string        // where it listens, and where what comes goes
	Delay    time.Duration // each way
	Lose     int           // of a hundred packets, each way
}

const (
	callersMax = 64   // whom a line tells apart
	packetMax  = 2048 // bytes
)

// carry is the line until its input ends.
func (l Line) carry() error {
	from, err := net.ResolveUDPAddr("udp", l.From)
	if err != nil {
		return err
	}
	to, err := net.ResolveUDPAddr("udp", l.To)
	if err != nil {
		return err
	}
	c, err := net.ListenUDP("udp", from)
	if err != nil {
		return err
	}
	var work sync.WaitGroup
	work.Go(func() { l.forth(c, to, &work) })
	tell(Fact{What: "ready", Addrs: []string{l.From}})
	_, _ = io.Copy(io.Discard, os.Stdin)
	err = c.Close()
	work.Wait()
	return err
}

// forth carries what comes, and lets each caller's answers go back.
func (l Line) forth(c *net.UDPConn, to *net.UDPAddr, work *sync.WaitGroup) {
	callers := map[string]*net.UDPConn{}
	defer func() {
		for _, leg := range callers {
			_ = leg.Close() // its reader ends by that
		}
	}()
	for {
		b := make([]byte, packetMax)
		n, caller, err := c.ReadFromUDP(b)
		if err != nil {
			return
		}
		leg := callers[caller.String()]
		if leg == nil && len(callers) < callersMax {
			if leg, err = net.DialUDP("udp", nil, to); err != nil {
				continue
			}
			callers[caller.String()] = leg
			work.Go(func() { l.back(leg, c, caller) })
		}
		if leg != nil {
			l.later(func() { _, _ = leg.Write(b[:n]) })
		}
	}
}

func (l Line) back(leg, c *net.UDPConn, caller *net.UDPAddr) {
	for {
		b := make([]byte, packetMax)
		n, err := leg.Read(b)
		if err != nil {
			return
		}
		l.later(func() { _, _ = c.WriteToUDP(b[:n], caller) })
	}
}

// later does it after the delay, or never.
func (l Line) later(do func()) {
	if rand.IntN(100) >= l.Lose {
		time.AfterFunc(l.Delay, do)
	}
}
