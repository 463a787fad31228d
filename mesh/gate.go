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

// guestsMax bounds the strangers that an open invitation lets in.
const guestsMax = 256

// gate admits members, by key. While an invitation is open, a stranger may connect; every protocol but
// pairing refuses it still.
type gate struct {
	mu      sync.RWMutex
	allowed map[peer.ID]bool
	dialled map[peer.ID]int  // dials of this package that run
	guests  map[peer.ID]bool // came in as strangers since the invitation was opened
	hosts   map[peer.ID]int  // strangers whose invitation this computer follows
	open    bool             // an invitation is open
	all     bool             // a joiner knows nobody yet and dials by the key in its code
	refused *Counters
}

func newGate() *gate {
	return &gate{allowed: map[peer.ID]bool{}, dialled: map[peer.ID]int{}, guests: map[peer.ID]bool{}, hosts: map[peer.ID]int{}}
}

// set replaces the members and reports who was removed, and whether anything changed.
func (g *gate) set(members map[peer.ID]bool) (removed []peer.ID, changed bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for p := range g.allowed {
		if !members[p] {
			removed = append(removed, p)
		}
	}
	changed = !maps.Equal(g.allowed, members)
	g.allowed = members
	return removed, changed
}

func (g *gate) member(p peer.ID) bool {
	g.mu.RLock()
	defer g.mu.RUnlock()
	return g.allowed[p]
}

// guest reports whether a stranger came in by an invitation that is still open, or is the one who invited here.
func (g *gate) guest(p peer.ID) bool {
	g.mu.RLock()
	defer g.mu.RUnlock()
	return g.open && g.guests[p] || g.hosts[p] > 0
}

// visit allows to dial a stranger who invited, until done is called.
func (g *gate) visit(p peer.ID) (done func()) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.hosts[p]++
	return func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		if g.hosts[p]--; g.hosts[p] == 0 {
			delete(g.hosts, p)
		}
	}
}

// admitGuests opens the gate to strangers.
func (g *gate) admitGuests() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.open = true
}

// closeToGuests closes it again, and returns who came in meanwhile: some may be members by now.
func (g *gate) closeToGuests() []peer.ID {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.open = false
	came := slices.Sorted(maps.Keys(g.guests))
	clear(g.guests)
	return came
}

// promoted returns the guests who are members by now; they count as guests no more.
func (g *gate) promoted() []peer.ID {
	g.mu.Lock()
	defer g.mu.Unlock()
	var out []peer.ID
	for p := range g.guests {
		if g.allowed[p] {
			out = append(out, p)
		}
	}
	for _, p := range out {
		delete(g.guests, p)
	}
	slices.Sort(out)
	return out
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
	return g.all || g.allowed[p] && g.dialled[p] > 0 || g.hosts[p] > 0
}

// InterceptAddrDial refuses to dial strangers.
func (g *gate) InterceptAddrDial(p peer.ID, _ ma.Multiaddr) bool {
	g.mu.RLock()
	defer g.mu.RUnlock()
	return g.all || g.allowed[p] || g.hosts[p] > 0
}

// InterceptAccept knows no peer yet.
func (g *gate) InterceptAccept(network.ConnMultiaddrs) bool { return true }

// InterceptSecured refuses strangers once their key is proven.
func (g *gate) InterceptSecured(dir network.Direction, p peer.ID, _ network.ConnMultiaddrs) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.all || g.allowed[p] || dir == network.DirOutbound && g.hosts[p] > 0 {
		return true
	}
	if dir != network.DirInbound || !g.open || len(g.guests) >= guestsMax && !g.guests[p] {
		g.refused.Count(RefusedStranger)
		return false
	}
	g.guests[p] = true
	return true
}

// InterceptUpgraded has nothing to add.
func (g *gate) InterceptUpgraded(network.Conn) (bool, control.DisconnectReason) { return true, 0 }

// sorted orders peers by key.
func sorted(s []PeerStatus) []PeerStatus {
	slices.SortFunc(s, func(a, b PeerStatus) int { return bytes.Compare(a.Device[:], b.Device[:]) })
	return s
}

// unheard are the peers that gossip neither tells anything nor listens to: all but the members. Guests
// are among them; they may know the topic.
type unheard struct {
	g  *gate
	me peer.ID
}

// Add has nothing to do: the members say it all.
func (u unheard) Add(peer.ID) bool { return true }

// Contains reports whether a peer is kept out. Messages name no author, whom the library asks about too.
func (u unheard) Contains(p peer.ID) bool { return p != "" && p != u.me && !u.g.member(p) }
