package mesh

import (
	"context"
	"net"
	"net/netip"
	"time"
)

// A relay answers on two UDP ports with the address that a packet came from. A router that gives one socket
// two ports in front of two ports is one that no hole can be punched through. Every packet is answered with a
// shorter one, and only so many in a second, so that nobody can be flooded by way of it.
const (
	echoPorts = 2
	echoBytes = 64 // of a question; an answer is shorter
	echoEvery = 5 * time.Millisecond
)

// startEcho opens the ports. A relay that cannot have them does without.
func (r *Relay) startEcho() {
	for range echoPorts {
		c, err := net.ListenUDP("udp", &net.UDPAddr{})
		if err != nil {
			return
		}
		r.echo = append(r.echo, c)
		r.work.Go(func() { r.answerEcho(c) })
	}
}

func (r *Relay) answerEcho(c *net.UDPConn) {
	var b [echoBytes + 1]byte
	for {
		n, from, err := c.ReadFromUDPAddrPort(b[:])
		if err != nil {
			return
		}
		if n != echoBytes {
			continue
		}
		text := netip.AddrPortFrom(from.Addr().Unmap(), from.Port()).String()
		if len(text) < echoBytes {
			_, _ = c.WriteToUDPAddrPort([]byte(text), from) // whoever hears nothing asks again
		}
		select {
		case <-time.After(echoEvery):
		case <-r.ctx.Done():
			return
		}
	}
}

// echoed asks a relay's ports from one socket where each sees it. Ports that do not answer are left out.
func echoed(ctx context.Context, host netip.Addr, ports []int) []netip.AddrPort {
	c, err := net.ListenUDP("udp", &net.UDPAddr{})
	if err != nil {
		return nil
	}
	defer c.Close()
	stop := context.AfterFunc(ctx, func() { _ = c.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	var out []netip.AddrPort
	for _, port := range ports[:min(len(ports), echoPorts)] {
		to := netip.AddrPortFrom(host, uint16(port))
		for range 3 {
			if _, err := c.WriteToUDPAddrPort(make([]byte, echoBytes), to); err != nil {
				break
			}
			if at, ok := hearEcho(c, to); ok {
				out = append(out, at)
				break
			}
		}
	}
	return out
}

// hearEcho waits a moment for the answer of one port.
func hearEcho(c *net.UDPConn, from netip.AddrPort) (netip.AddrPort, bool) {
	if c.SetReadDeadline(time.Now().Add(700*time.Millisecond)) != nil {
		return netip.AddrPort{}, false
	}
	var b [echoBytes]byte
	for {
		n, at, err := c.ReadFromUDPAddrPort(b[:])
		if err != nil {
			return netip.AddrPort{}, false
		}
		if at.Addr().Unmap() == from.Addr() && at.Port() == from.Port() {
			seen, err := netip.ParseAddrPort(string(b[:n]))
			return seen, err == nil
		}
	}
}
