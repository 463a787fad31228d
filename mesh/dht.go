package mesh

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/ipfs/go-cid"
	"github.com/libp2p/go-libp2p"
	dht "github.com/libp2p/go-libp2p-kad-dht"
	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/p2p/transport/quic"
	"github.com/libp2p/go-libp2p/p2p/transport/tcp"
	ma "github.com/multiformats/go-multiaddr"
	manet "github.com/multiformats/go-multiaddr/net"
	"github.com/multiformats/go-multihash"

	"github.com/parley-mesh/parley/ledger"
)

// How the DHT is used: what it is told lives there for two days; who is away is looked for ever more seldom.
const (
	dhtTellEvery = 12 * time.Hour
	dhtAskFirst  = 5 * time.Second
	dhtAskMost   = 30 * time.Minute
	dhtPatience  = 90 * time.Second // for one question
	dhtAnswers   = 4                // for one key: a restarted computer answers under several names
)

// wide is this computer's part in a public DHT. It has a host and a key of its own, made anew at each start, so that
// the strangers there neither see this computer's key nor speak with its mesh. What they keep for it are addresses
// under a name that only those can work out who know the fleet.
type wide struct {
	m    *Mesh
	host host.Host
	kad  *dht.IpfsDHT
	now  chan struct{} // tell again: the addresses have changed
}

// dhtKey is what a computer's addresses are called on a day.
func dhtKey(fleet ledger.TID, d ledger.Device, day int64) (cid.Cid, error) {
	text := append([]byte("parley-dht/1\x00"), fleet[:]...)
	text = binary.BigEndian.AppendUint64(append(text, d[:]...), uint64(day))
	sum, err := multihash.Sum(text, multihash.SHA2_256, -1)
	if err != nil {
		return cid.Undef, err
	}
	return cid.NewCidV1(cid.Raw, sum), nil
}

// startDHT begins to tell and to ask.
func (m *Mesh) startDHT() error {
	known, err := dhtDoors(m.c.Reach.DHTPeers)
	if err != nil {
		return err
	}
	w := &wide{m: m, now: make(chan struct{}, 1)}
	w.host, err = libp2p.New(libp2p.NoListenAddrs, libp2p.AddrsFactory(w.addrs), libp2p.DisableRelay(), libp2p.DisableMetrics(),
		libp2p.Transport(libp2pquic.NewTransport), libp2p.Transport(tcp.NewTCPTransport), libp2p.UserAgent("parley"))
	if err != nil {
		return fmt.Errorf("open the DHT: %w", err)
	}
	if w.kad, err = dht.New(w.host, dht.Mode(dht.ModeClient), dht.BootstrapPeers(known...)); err != nil {
		return errors.Join(fmt.Errorf("open the DHT: %w", err), w.host.Close())
	}
	if err := w.kad.Bootstrap(m.ctx); err != nil {
		return errors.Join(fmt.Errorf("open the DHT: %w", err), w.Close())
	}
	m.wide = w
	m.work.Go(w.tell)
	m.work.Go(w.ask)
	return nil
}

// dhtDoors are the nodes by which the DHT is entered, the public ones where none are named.
func dhtDoors(texts []string) ([]peer.AddrInfo, error) {
	if len(texts) == 0 {
		return dht.GetDefaultBootstrapPeerAddrInfos(), nil
	}
	var out []peer.AddrInfo
	for _, text := range texts {
		info, err := peer.AddrInfoFromString(text)
		if err != nil {
			return nil, fmt.Errorf("DHT node %q: want an address with /p2p/ID at its end", text)
		}
		out = append(out, *info)
	}
	return out, nil
}

// CheckDHTPeer reports what is wrong with the address of a node of the DHT.
func CheckDHTPeer(text string) error {
	_, err := dhtDoors([]string{text})
	return err
}

// Close leaves the DHT.
func (w *wide) Close() error { return errors.Join(w.kad.Close(), w.host.Close()) }

// addrs are the mesh's own addresses, as far as others could use them: public ones and those over relays, and every
// one where the DHT is a private one.
func (w *wide) addrs([]ma.Multiaddr) []ma.Multiaddr { return w.useful(w.m.host.Addrs()) }

// useful are the addresses that can be told to others, or tried when others tell them; a few of them.
func (w *wide) useful(addrs []ma.Multiaddr) []ma.Multiaddr {
	var out []ma.Multiaddr
	for _, a := range ma.Unique(slices.Clone(addrs)) {
		if len(out) < nearMax && (len(w.m.c.Reach.DHTPeers) > 0 || manet.IsPublicAddr(a) || circuit(a)) {
			out = append(out, a)
		}
	}
	return out
}

// tell says where this computer is, when it starts or moves and twice a day, for the day and the next.
func (w *wide) tell() {
	wait := dhtAskFirst
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-timer.C:
		case <-w.now:
		case <-w.m.ctx.Done():
			return
		}
		if err := w.tellOnce(); err != nil {
			w.m.c.Logger.Debug("tell the DHT", "error", err)
			timer.Reset(wait)
			wait = min(2*wait, dhtAskMost)
			continue
		}
		wait = dhtAskFirst
		timer.Reset(dhtTellEvery)
	}
}

func (w *wide) tellOnce() error {
	if len(w.addrs(nil)) == 0 {
		return errors.New("no address that others could use")
	}
	own, day := w.m.c.Identity.Device(), dayOf(w.m.c.Wall())
	for d := day; d <= day+1; d++ {
		key, err := dhtKey(w.m.c.Fleet, own, d)
		if err != nil {
			return err
		}
		ctx, cancel := context.WithTimeout(w.m.ctx, dhtPatience)
		err = w.kad.Provide(ctx, key, true)
		cancel()
		if err != nil {
			return err
		}
	}
	return nil
}

// again tells anew, soon.
func (w *wide) again() {
	select {
	case w.now <- struct{}{}:
	default: // it is asked for already
	}
}

// ask looks for who is away.
func (w *wide) ask() {
	wait := dhtAskFirst
	for first := true; first || w.m.pause(wait) == nil; first = false {
		if !first {
			wait = min(2*wait, dhtAskMost)
		}
		found := 0
		for _, p := range w.m.c.Peers() {
			found += w.find(p.Device)
		}
		if found > 0 {
			w.m.dialNow()
		}
	}
}

// find asks where a computer is that is not connected, and returns how many addresses came.
func (w *wide) find(d ledger.Device) int {
	id, err := peerOf(d)
	if err != nil || !w.m.gate.known(id) || len(w.m.host.Network().ConnsToPeer(id)) > 0 {
		return 0
	}
	fleet, lane := w.m.gate.lane(id)
	if !lane {
		fleet = w.m.c.Fleet
	}
	key, err := dhtKey(fleet, d, dayOf(w.m.c.Wall()))
	if err != nil {
		return 0
	}
	ctx, cancel := context.WithTimeout(w.m.ctx, dhtPatience)
	defer cancel()
	var addrs []ma.Multiaddr
	for info := range w.kad.FindProvidersAsync(ctx, key, dhtAnswers) {
		addrs = append(addrs, info.Addrs...)
	}
	if addrs = w.useful(addrs); len(addrs) > 0 {
		w.m.mu.Lock()
		w.m.far[d] = addrs
		w.m.mu.Unlock()
	}
	return len(addrs)
}

func dayOf(t time.Time) int64 { return t.Unix() / (24 * 60 * 60) }
