package mesh

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"io"
	"strings"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/zeroconf/v2"
	ma "github.com/multiformats/go-multiaddr"
	manet "github.com/multiformats/go-multiaddr/net"

	"github.com/parley-mesh/parley/ledger"
)

// lanService is what is shouted on the local network. It is the same for every fleet; who answers is told by
// key, and only members are dialled.
const (
	lanService = "_parley._udp"
	lanDomain  = "local"
	lanPrefix  = "dnsaddr=" // of each address, as libp2p has it
)

// How the local network is asked: for a moment at the start and whenever this computer's addresses change, and
// then ever more seldom as long as a member is away. Whoever comes asks itself, and everybody answers at any
// time; were all to ask for ever, a full office would hear nothing else.
const (
	lanAskFor   = 3 * time.Second
	lanAskFirst = time.Minute
	lanAskMost  = time.Hour
)

// textMax is what one string of a DNS record holds; nearMax bounds the addresses that one answer may bring.
const (
	textMax = 255
	nearMax = 16
)

// lan is this computer on the local network.
type lan struct {
	m      *Mesh
	server *zeroconf.Server
	cancel context.CancelFunc
	done   chan struct{}
}

// startLAN answers and asks on the local network, on the interfaces that there are now.
func (m *Mesh) startLAN() {
	m.mu.Lock()
	before := m.lan
	m.lan = nil
	m.mu.Unlock()
	if before != nil {
		_ = before.Close() // its interfaces may be gone
	}
	l, err := m.newLAN()
	if err != nil {
		m.c.Logger.Debug("local network", "error", err)
		return
	}
	m.mu.Lock()
	ended := m.ctx.Err() != nil
	if !ended {
		m.lan = l
	}
	m.mu.Unlock()
	if ended {
		_ = l.Close() // nobody would
	}
}

func (m *Mesh) newLAN() (io.Closer, error) {
	var name [16]byte
	if _, err := rand.Read(name[:]); err != nil {
		return nil, err
	}
	texts, ips, err := m.lanTexts()
	if err != nil || len(texts) == 0 {
		return noLAN{}, err
	}
	instance := hex.EncodeToString(name[:])
	server, err := zeroconf.RegisterProxy(instance, lanService, lanDomain, 1, instance, ips, texts, nil) // nobody reads the port
	if err != nil {
		return nil, err
	}
	l := &lan{m: m, server: server, done: make(chan struct{})}
	var ctx context.Context
	ctx, l.cancel = context.WithCancel(m.ctx)
	go func() {
		defer close(l.done)
		l.ask(ctx)
	}()
	return l, nil
}

// noLAN stands in where there is nothing to tell.
type noLAN struct{}

// Close has nothing to end.
func (noLAN) Close() error { return nil }

// Close takes the answers back and ends.
func (l *lan) Close() error {
	l.cancel()
	<-l.done
	l.server.Shutdown()
	return nil
}

// lanTexts are this computer's addresses as the local network is told them.
func (m *Mesh) lanTexts() (texts, ips []string, err error) {
	addrs, err := m.host.Network().InterfaceListenAddresses()
	if err != nil {
		return nil, nil, err
	}
	tail := "/p2p/" + m.host.ID().String()
	for _, a := range addrs {
		ip, err := manet.ToIP(a)
		text := lanPrefix + a.String() + tail
		if err != nil || ip.IsLoopback() || circuit(a) || len(text) > textMax || len(texts) == nearMax {
			continue
		}
		texts, ips = append(texts, text), append(ips, ip.String())
	}
	return texts, ips, nil
}

// ask asks again and again, as long as somebody is away.
func (l *lan) ask(ctx context.Context) {
	every := lanAskFirst
	for first := true; ctx.Err() == nil; first = false {
		if first || l.m.someAway() {
			l.askOnce(ctx)
		}
		timer := time.NewTimer(every)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return
		}
		every = min(2*every, lanAskMost)
	}
}

func (l *lan) askOnce(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, lanAskFor)
	defer cancel()
	found := make(chan *zeroconf.ServiceEntry, eventsMax)
	browsed := make(chan struct{})
	go func() {
		defer close(browsed)
		if err := zeroconf.Browse(ctx, lanService, lanDomain, found); err != nil {
			l.m.c.Logger.Debug("local network", "error", err)
		}
	}()
	for {
		select {
		case e, ok := <-found:
			if !ok {
				<-browsed
				return
			}
			l.m.neighbour(e.Text)
		case <-browsed: // it did not even begin, or has ended
			return
		}
	}
}

// someAway reports whether a member is not connected.
func (m *Mesh) someAway() bool {
	there := 0
	for _, s := range m.Peers() {
		if s.Connected && s.Lane == (ledger.TID{}) {
			there++
		}
	}
	return there+1 < len(m.gate.members())
}

// neighbour takes who answers, and dials a member that is away. Nobody else's answer has any effect.
func (m *Mesh) neighbour(texts []string) {
	var addrs []ma.Multiaddr
	for _, t := range texts[:min(len(texts), nearMax)] {
		if a, err := ma.NewMultiaddr(strings.TrimPrefix(t, lanPrefix)); err == nil {
			addrs = append(addrs, a)
		}
	}
	infos, err := peer.AddrInfosFromP2pAddrs(addrs...)
	if err != nil {
		return
	}
	for _, info := range infos {
		d, ok := deviceOf(info.ID)
		if !ok || !m.gate.member(info.ID) || info.ID == m.host.ID() {
			continue
		}
		m.mu.Lock()
		s := m.status[d]
		away := s == nil || !s.Connected
		if away {
			m.near[d] = info.Addrs
		}
		m.mu.Unlock()
		if away {
			m.dialNow()
		}
	}
}
