package mesh

import (
	"bufio"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"
	ma "github.com/multiformats/go-multiaddr"
	manet "github.com/multiformats/go-multiaddr/net"
)

// tried is what came of trying one relay.
type tried struct {
	udp, tcp, ws Verdict
	intercepted  bool
	echoes       []netip.AddrPort
}

// tryRelays tries every relay that is known by every transport that it offers.
func (m *Mesh) tryRelays(ctx context.Context) []tried {
	m.mu.Lock()
	var infos []peer.AddrInfo
	var words []relayWord
	for _, s := range m.stations {
		infos, words = append(infos, peer.AddrInfo{ID: s.info.ID, Addrs: slices.Clone(s.info.Addrs)}), append(words, s.word)
	}
	m.mu.Unlock()
	out := make([]tried, len(infos))
	var work sync.WaitGroup
	for i, info := range infos {
		work.Go(func() { out[i] = tryRelay(ctx, append(info.Addrs, m.host.Peerstore().Addrs(info.ID)...), words[i]) })
	}
	work.Wait()
	return out
}

func tryRelay(ctx context.Context, addrs []ma.Multiaddr, word relayWord) tried {
	t := tried{udp: Unknown, tcp: Unknown, ws: Unknown}
	for _, a := range addrs {
		text := a.String()
		web := strings.Contains(text, "/ws")
		at := &t.tcp
		if web {
			at = &t.ws
		}
		if !strings.Contains(text, "/tcp/") || *at == Works || circuit(a) {
			continue
		}
		var intercepted bool
		*at, intercepted = tryStream(ctx, a, web)
		t.intercepted = t.intercepted || intercepted
	}
	if len(word.Echo) == 0 {
		return t
	}
	for _, host := range hostsOf(addrs) {
		if got := echoed(ctx, host, word.Echo); len(got) > 0 {
			t.udp, t.echoes = Works, got
			return t
		}
		t.udp = Fails
	}
	return t
}

// hostsOf are the IP addresses in front.
func hostsOf(addrs []ma.Multiaddr) []netip.Addr {
	var out []netip.Addr
	for _, a := range addrs {
		if ip, err := manet.ToIP(a); err == nil {
			if at, ok := netip.AddrFromSlice(ip); ok && !slices.Contains(out, at.Unmap()) {
				out = append(out, at.Unmap())
			}
		}
	}
	return out[:min(len(out), relaysMax)]
}

const streamTime = 2 * time.Second

// tryStream opens a connection and reads the first words of the other side. Whoever says something else than
// libp2p would stands in its place.
func tryStream(ctx context.Context, a ma.Multiaddr, web bool) (v Verdict, intercepted bool) {
	_, to, err := manet.DialArgs(a)
	if err != nil {
		return Unknown, false
	}
	ctx, cancel := context.WithTimeout(ctx, streamTime)
	defer cancel()
	c, err := new(net.Dialer).DialContext(ctx, "tcp", to)
	if err != nil {
		return Fails, false
	}
	defer c.Close()
	if c.SetDeadline(time.Now().Add(streamTime)) != nil {
		return Fails, false
	}
	if web {
		return tryWeb(c, to, strings.Contains(a.String(), "/tls/") || strings.Contains(a.String(), "/wss"))
	}
	const hello = "\x13/multistream/1.0.0\n"
	if _, err := io.WriteString(c, hello); err != nil {
		return Fails, false
	}
	b := make([]byte, len(hello))
	n, err := io.ReadFull(c, b)
	if err != nil || string(b) != hello {
		return Fails, n > 0
	}
	return Works, false
}

func tryWeb(c net.Conn, host string, secret bool) (v Verdict, intercepted bool) {
	if secret {
		c = tls.Client(c, &tls.Config{InsecureSkipVerify: true})
	}
	_, err := fmt.Fprintf(c, "GET / HTTP/1.1\r\nHost: %s\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"+
		"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: cGFybGV5IG5ldGNoZWNrIQ==\r\n\r\n", host)
	if err != nil {
		return Fails, false
	}
	line, err := bufio.NewReader(io.LimitReader(c, 1024)).ReadString('\n')
	if err != nil || !strings.Contains(line, " 101 ") {
		return Fails, line != ""
	}
	return Works, false
}
