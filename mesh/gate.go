package mesh

import (
	"bytes"
	"maps"
	"slices"
	"sync"

	"github.com/libp2p/go-libp2p/core/control"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	ma "github.com/multiformats/go-multiaddr"
)

// gate admits members, by key. While an invitation is open, a stranger may connect; every protocol but
// pairing refuses it still.
type gate struct {
	mu      sync.RWMutex
	allowed map[peer.ID]bool
	dialled map[peer.ID]int // dials of this package that run
	open    bool            // an invitation is open
	all     bool            // a joiner knows nobody yet and dials by the key in its code
}

func newGate() *gate { return &gate{allowed: map[peer.ID]bool{}, dialled: map[peer.ID]int{}} }

// set replaces the members and reports whether anything changed.
func (g *gate) set(members map[peer.ID]bool) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if maps.Equal(g.allowed, members) {
		return false
	}
	g.allowed = members
	return true
}

func (g *gate) member(p peer.ID) bool {
	g.mu.RLock()
	defer g.mu.RUnlock()
	return g.allowed[p]
}

func (g *gate) guests() bool {
	g.mu.RLock()
	defer g.mu.RUnlock()
	return g.open
}

func (g *gate) admitGuests(yes bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.open = yes
}

// dial allows to dial a member until done is called.
func (g *gate) dial(p peer.ID) (done func()) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.dialled[p]++
	return func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		if g.dialled[p]--; g.dialled[p] == 0 {
			delete(g.dialled, p)
		}
	}
}

// InterceptPeerDial refuses to dial strangers, and lets nobody but this package dial. libp2p and gossip
// dial whoever they want to open a stream to: with a peer that lets nobody in, each refused connection
// would be the cause of the next, without a pause.
func (g *gate) InterceptPeerDial(p peer.ID) bool {
	g.mu.RLock()
	defer g.mu.RUnlock()
	return g.all || g.allowed[p] && g.dialled[p] > 0
}

// InterceptAddrDial refuses to dial strangers.
func (g *gate) InterceptAddrDial(p peer.ID, _ ma.Multiaddr) bool { return g.all || g.member(p) }

// InterceptAccept knows no peer yet.
func (g *gate) InterceptAccept(network.ConnMultiaddrs) bool { return true }

// InterceptSecured refuses strangers once their key is proven.
func (g *gate) InterceptSecured(dir network.Direction, p peer.ID, _ network.ConnMultiaddrs) bool {
	return g.all || g.member(p) || dir == network.DirInbound && g.guests()
}

// InterceptUpgraded has nothing to add.
func (g *gate) InterceptUpgraded(network.Conn) (bool, control.DisconnectReason) { return true, 0 }

// sorted orders peers by key.
func sorted(s []PeerStatus) []PeerStatus {
	slices.SortFunc(s, func(a, b PeerStatus) int { return bytes.Compare(a.Device[:], b.Device[:]) })
	return s
}
