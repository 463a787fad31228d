package mesh

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math/big"
	"net"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/libp2p/go-libp2p"
	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	relayv2 "github.com/libp2p/go-libp2p/p2p/protocol/circuitv2/relay"
	libp2pquic "github.com/libp2p/go-libp2p/p2p/transport/quic"
	"github.com/libp2p/go-libp2p/p2p/transport/tcp"
	"github.com/libp2p/go-libp2p/p2p/transport/websocket"
	ma "github.com/multiformats/go-multiaddr"

	"github.com/parley-mesh/parley/ledger"
)

// RelayConfig is what a relay without a fleet is started with.
type RelayConfig struct {
	Identity Identity
	Listen   []string // multiaddresses; /tls/ws has a certificate made that nobody checks
	// For are the computers for which it stands. Each of them may name more of its own fleet, which may come
	// as long as it names them.
	For []ledger.Device
	// Announce are addresses under which it is reached from elsewhere, where its own are not those.
	Announce []string
	Version  string
	Logger   *slog.Logger
	// HostOptions replaces the transports; it is the simulator's seam.
	HostOptions HostOptions
}

// Relay carries the connections of some fleets' computers and can read nothing of what it carries. It holds
// no ledger and no roster, and forgets at its end who was named.
type Relay struct {
	host    host.Host
	gate    *gate
	service *relayv2.Relay
	refused Counters
	echo    []*net.UDPConn
	ctx     context.Context
	cancel  context.CancelFunc
	work    sync.WaitGroup

	mu     sync.Mutex
	named  map[peer.ID][]peer.ID // by whom
	lanes  map[peer.ID][]peer.ID // other developers' computers, by whom they are named
	circle map[peer.ID][]peer.ID // who stands for each that may be reached here
	caller map[peer.ID][]peer.ID // into whose circles each computer of another developer may call
	porch  *porch
}

// RelayView is how a relay is doing.
type RelayView struct {
	Addrs     []string // to be set on the computers, /p2p/ID included
	May       int      // computers that may come
	Connected int
	Refused   []Refused // by reason, since it started
}

// StartRelay listens and carries.
func StartRelay(ctx context.Context, c RelayConfig) (*Relay, error) {
	if len(c.For) == 0 {
		return nil, errors.New("relay: want at least one computer to stand for")
	}
	r := &Relay{gate: newGate(), named: map[peer.ID][]peer.ID{}, lanes: map[peer.ID][]peer.ID{}}
	r.gate.refused = &r.refused
	r.ctx, r.cancel = context.WithCancel(context.WithoutCancel(ctx))
	r.porch = &porch{gate: r.gate, refused: &r.refused, ctx: r.ctx, run: r.run, doors: map[peer.ID]*door{}}
	for _, d := range c.For {
		p, err := peerOf(d)
		if err != nil {
			return nil, fmt.Errorf("relay: %s: %w", d, err)
		}
		r.named[p] = nil
	}
	r.regroup()
	if err := r.open(c); err != nil {
		r.cancel()
		return nil, err
	}
	return r, nil
}

// options are libp2p's for this relay.
func (r *Relay) options(c RelayConfig) ([]libp2p.Option, error) {
	announce, err := multiaddrs(c.Announce)
	if err != nil {
		return nil, fmt.Errorf("relay: announce: %w", err)
	}
	out := []libp2p.Option{
		libp2p.DisableRelay(), libp2p.UserAgent(agentPrefix + c.Version),
		libp2p.AddrsFactory(func(own []ma.Multiaddr) []ma.Multiaddr { return ma.Unique(append(slices.Clone(own), announce...)) }),
	}
	if c.HostOptions != nil {
		return append(out, c.HostOptions()...), nil
	}
	limits, err := bounded(&r.refused)
	if err != nil {
		return nil, err
	}
	certificate, err := anyCertificate()
	if err != nil {
		return nil, fmt.Errorf("relay: %w", err)
	}
	return append(out,
		libp2p.Transport(libp2pquic.NewTransport), libp2p.Transport(tcp.NewTCPTransport),
		libp2p.Transport(websocket.New, websocket.WithTLSConfig(&tls.Config{Certificates: []tls.Certificate{certificate}})),
		libp2p.EnableAutoNATv2(), libp2p.ForceReachabilityPublic(), libp2p.ResourceManager(limits)), nil
}

// open makes the host and everything on it.
func (r *Relay) open(c RelayConfig) error {
	options, err := r.options(c)
	if err != nil {
		return err
	}
	if r.host, err = newHost(c.Identity, c.Listen, r.gate, options...); err != nil {
		return err
	}
	if r.service, err = relayService(metered{r.host, r.porch}, circle{r}); err != nil {
		return errors.Join(err, r.host.Close())
	}
	r.host.SetStreamHandler(relayProtocol, r.answer)
	r.porch.serve(r.host)
	r.host.Network().Notify(&network.NotifyBundle{
		ConnectedF:    func(_ network.Network, conn network.Conn) { r.connected(conn) },
		DisconnectedF: func(n network.Network, conn network.Conn) { r.disconnected(n, conn.RemotePeer()) },
	})
	if c.HostOptions == nil {
		r.startEcho()
	}
	return nil
}

// run begins a goroutine that Close waits for, unless the relay ends already.
func (r *Relay) run(f func()) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ctx.Err() != nil {
		return false
	}
	r.work.Go(f)
	return true
}

func (r *Relay) connected(conn network.Conn) {
	r.gate.connected(conn.RemotePeer(), true)
	if !r.gate.member(conn.RemotePeer()) {
		r.run(func() { r.porch.attend(conn) })
	}
}

func (r *Relay) disconnected(n network.Network, p peer.ID) {
	here := n.Connectedness(p) == network.Connected
	r.gate.connected(p, here)
	if !here {
		r.porch.forget(p)
	}
}

// Close ends every connection.
func (r *Relay) Close() error {
	r.cancel()
	errs := []error{r.service.Close(), r.host.Close()}
	for _, c := range r.echo {
		errs = append(errs, c.Close())
	}
	r.work.Wait()
	return errors.Join(errs...)
}

// View tells how the relay is doing.
func (r *Relay) View() RelayView {
	v := RelayView{May: len(r.gate.members()), Connected: len(r.host.Network().Peers()), Refused: r.refused.All()}
	tail := "/p2p/" + r.host.ID().String()
	for _, a := range r.host.Addrs() {
		v.Addrs = append(v.Addrs, a.String()+tail)
	}
	slices.Sort(v.Addrs)
	return v
}

// regroup works out who may come and with whom. Whoever may no more is cut off.
func (r *Relay) regroup() {
	r.mu.Lock()
	circles, callers, may := map[peer.ID][]peer.ID{}, map[peer.ID][]peer.ID{}, map[peer.ID]bool{}
	for sponsor, named := range r.named {
		for _, p := range append([]peer.ID{sponsor}, named...) {
			circles[p], may[p] = append(circles[p], sponsor), true
		}
	}
	for sponsor, named := range r.lanes {
		for _, p := range named {
			callers[p], may[p] = append(callers[p], sponsor), true
		}
	}
	r.circle, r.caller = circles, callers
	r.mu.Unlock()
	removed, _ := r.gate.set(may)
	for _, p := range removed {
		if r.host != nil {
			r.porch.shutDoor(p, nil)
			_ = r.host.Network().ClosePeer(p) // it is refused from now on anyway
		}
	}
}

// answer hears whom a computer names, if this relay stands for it, and tells what it asked for.
func (r *Relay) answer(s network.Stream) {
	s = r.refused.watch(s)
	p := s.Conn().RemotePeer()
	err := func() error {
		if !r.carries(p) {
			return errPeer
		}
		if err := s.SetDeadline(time.Now().Add(relayTimeout)); err != nil {
			return err
		}
		var ask relayAsk
		if err := hearJSON(s, &ask); err != nil {
			return err
		}
		r.name(p, ask.May, ask.Lanes)
		r.porch.tellDoor(p, ask)
		word := relayWord{Version: 1, Passes: true, Now: time.Now().UnixMilli(), Seen: remoteOf(s.Conn()).String()}
		for _, c := range r.echo {
			word.Echo = append(word.Echo, c.LocalAddr().(*net.UDPAddr).Port)
		}
		return json.NewEncoder(s).Encode(word)
	}()
	if err != nil {
		_ = s.Reset() // nothing more comes of it
		return
	}
	_ = s.Close() // the answer is on its way
}

// name notes whom a computer names. Only those for whom the relay stands may.
func (r *Relay) name(by peer.ID, fleet, lanes []string) {
	named, callers := peersOf(fleet, relayGuests, by), peersOf(lanes, relayCallers, by)
	r.mu.Lock()
	_, stands := r.named[by]
	if stands {
		r.named[by], r.lanes[by] = named, callers
	}
	r.mu.Unlock()
	if stands {
		r.regroup()
	}
}

// peersOf reads so many device keys at most, and leaves out one peer's own.
func peersOf(keys []string, most int, but peer.ID) (out []peer.ID) {
	for _, text := range keys[:min(len(keys), most)] {
		var d ledger.Device
		if d.UnmarshalText([]byte(text)) != nil {
			continue
		}
		if p, err := peerOf(d); err == nil && p != but {
			out = append(out, p)
		}
	}
	return out
}

// carries reports whether a peer may be reached here: somebody for whom this relay stands named it as its own.
func (r *Relay) carries(p peer.ID) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.circle[p]) > 0
}

// circle lets those meet for whom somebody stands in common. Another developer's computers may call into the circles
// of those who name them, and be called by nobody.
type circle struct{ r *Relay }

// AllowReserve reports whether a peer may be reached here.
func (c circle) AllowReserve(p peer.ID, _ ma.Multiaddr) bool { return c.r.carries(p) }

// AllowConnect reports whether one peer may reach another.
func (c circle) AllowConnect(from peer.ID, _ ma.Multiaddr, to peer.ID) bool {
	if !c.r.gate.member(from) {
		return c.r.porch.mayCall(from, to)
	}
	c.r.mu.Lock()
	defer c.r.mu.Unlock()
	shared := func(p peer.ID) bool { return slices.Contains(c.r.circle[to], p) }
	return slices.ContainsFunc(c.r.circle[from], shared) || slices.ContainsFunc(c.r.caller[from], shared)
}

// multiaddrs reads addresses.
func multiaddrs(texts []string) ([]ma.Multiaddr, error) {
	var out []ma.Multiaddr
	for _, text := range texts {
		a, err := ma.NewMultiaddr(strings.TrimSpace(text))
		if err != nil {
			return nil, fmt.Errorf("%q: not a multiaddress", text)
		}
		out = append(out, a)
	}
	return out, nil
}

// anyCertificate is a certificate for WebSocket over TLS. Nobody checks it: TLS is there for networks that let
// nothing else pass, and noise inside of it proves the keys.
func anyCertificate() (tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, err
	}
	form := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: time.Unix(0, 0), NotAfter: time.Unix(1<<33, 0), DNSNames: []string{"localhost"}}
	der, err := x509.CreateCertificate(rand.Reader, form, form, key.Public(), key)
	if err != nil {
		return tls.Certificate{}, err
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, nil
}
