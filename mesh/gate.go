package mesh

import (
	"bytes"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/libp2p/go-libp2p/core/control"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	ma "github.com/multiformats/go-multiaddr"

	"github.com/parley-mesh/parley/ledger"
)

// guestsMax bounds the strangers that an open invitation lets in.
const guestsMax = 256

// gate admits members, by key. While an invitation is open, a stranger may connect; every protocol but
// pairing refuses it still.
type gate struct {
	mu      sync.RWMutex
	allowed map[peer.ID]bool
	dialled map[peer.ID]int        // dials of this package that run
	guests  guestbook              // came in as strangers for an invitation that is open here
	passers guestbook              // for one of a computer to which this one is the way
	hosts   map[peer.ID]int        // strangers whose invitation this computer follows
	lanes   map[peer.ID]ledger.TID // computers of other developers whose lane is on here, with their fleet
	all     bool                   // a joiner knows nobody yet and dials by the key in its code
	refused *Counters

	here    map[peer.ID]bool        // who is connected, strangers included
	relays  map[peer.ID]bool        // may be dialled at any time; those that are no members get nothing else
	probing func() bool             // whether a member was asked to dial back; nil: never
	cut     func(ma.Multiaddr) bool // addresses that lead nowhere, for tests on one machine; nil: none
}

func newGate() *gate {
	return &gate{
		guests: newGuestbook(guestsMax), passers: newGuestbook(passGuests),
		allowed: map[peer.ID]bool{}, dialled: map[peer.ID]int{}, hosts: map[peer.ID]int{},
		lanes: map[peer.ID]ledger.TID{}, here: map[peer.ID]bool{}, relays: map[peer.ID]bool{},
	}
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
	return g.guests.has(p) || g.hosts[p] > 0
}

// passer reports whether a stranger came in by the door of another computer.
func (g *gate) passer(p peer.ID) bool {
	g.mu.RLock()
	defer g.mu.RUnlock()
	return g.passers.has(p)
}

// admitPassers opens the gate to strangers who want to be let through.
func (g *gate) admitPassers() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.passers.open = true
}

// closeToPassers closes it again, and returns who came meanwhile and is no guest here.
func (g *gate) closeToPassers() []peer.ID {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.DeleteFunc(g.passers.shut(), g.guests.has)
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
	g.guests.open = true
}

// closeToGuests closes it again, and returns who came in meanwhile and is on no way to another computer: some may be
// members by now.
func (g *gate) closeToGuests() []peer.ID {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.DeleteFunc(g.guests.shut(), g.passers.has)
}

// promoted returns the guests who are members by now; they count as guests no more.
func (g *gate) promoted() []peer.ID {
	g.mu.Lock()
	defer g.mu.Unlock()
	var out []peer.ID
	for p := range g.guests.came {
		if g.knows(p) {
			out = append(out, p)
		}
	}
	for _, p := range out {
		delete(g.guests.came, p)
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

// setRelays says who may be dialled as a relay.
func (g *gate) setRelays(ids []peer.ID) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.relays = map[peer.ID]bool{}
	for _, id := range ids {
		g.relays[id] = true
	}
}

func (g *gate) relay(p peer.ID) bool {
	g.mu.RLock()
	defer g.mu.RUnlock()
	return g.relays[p]
}

// allowProbes lets strangers in whenever the function says that a member was asked to dial back.
func (g *gate) allowProbes(asked func() bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.probing = asked
}

// cutOff lets addresses lead nowhere from now on, but those of relays.
func (g *gate) cutOff(which func(ma.Multiaddr) bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.cut = which
}

// probed reports whether somebody may be dialling back now.
func (g *gate) probed() bool {
	g.mu.RLock()
	asked := g.probing
	g.mu.RUnlock()
	return asked != nil && asked()
}

// connected notes whether a peer is there.
func (g *gate) connected(p peer.ID, here bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if here {
		g.here[p] = true
		g.guests.arrived(p)
		g.passers.arrived(p)
	} else {
		delete(g.here, p)
		delete(g.guests.came, p)
		delete(g.passers.came, p)
	}
}

// members are those who belong, in the order of their names.
func (g *gate) members() []peer.ID {
	g.mu.RLock()
	defer g.mu.RUnlock()
	return slices.Sorted(maps.Keys(g.allowed))
}

// InterceptPeerDial refuses to dial strangers, and lets nobody but this package dial. libp2p and gossip
// dial whoever they want to open a stream to: with a peer that lets nobody in, each refused connection
// would be the cause of the next, without a pause. Who is connected already is dialled a second time only to
// find a better way: past a relay, or to test its addresses for it.
func (g *gate) InterceptPeerDial(p peer.ID) bool {
	g.mu.RLock()
	defer g.mu.RUnlock()
	return g.all || g.relays[p] || g.hosts[p] > 0 || g.knows(p) && (g.dialled[p] > 0 || g.here[p])
}

// InterceptAddrDial refuses to dial strangers.
func (g *gate) InterceptAddrDial(p peer.ID, a ma.Multiaddr) bool {
	g.mu.RLock()
	defer g.mu.RUnlock()
	if g.cut != nil && !g.relays[p] && g.cut(a) {
		return false
	}
	return g.all || g.relays[p] || g.hosts[p] > 0 || g.knows(p)
}

// InterceptAccept knows no peer yet.
func (g *gate) InterceptAccept(network.ConnMultiaddrs) bool { return true }

// InterceptSecured refuses strangers once their key is proven.
func (g *gate) InterceptSecured(dir network.Direction, p peer.ID, at network.ConnMultiaddrs) bool {
	probed := dir == network.DirInbound && !g.member(p) && g.probed() // looks at the connections, so it comes before the lock
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.all || g.knows(p) || dir == network.DirOutbound && (g.relays[p] || g.hosts[p] > 0) {
		return true
	}
	if dir == network.DirInbound && g.admit(p, at) {
		return true
	}
	if probed {
		return true // it dials back with a key of its own, as AutoNAT does; every protocol of ours refuses it
	}
	g.refused.Count(RefusedStranger)
	return false
}

// admit lets a stranger in for whatever is open. The caller holds the lock.
func (g *gate) admit(p peer.ID, at network.ConnMultiaddrs) bool {
	var from ma.Multiaddr
	if at != nil {
		from = at.RemoteMultiaddr()
	}
	guest, passer := g.guests.admit(p, from, time.Now()), g.passers.admit(p, from, time.Now())
	return guest || passer
}

// InterceptUpgraded has nothing to add.
func (g *gate) InterceptUpgraded(network.Conn) (bool, control.DisconnectReason) { return true, 0 }

// sorted orders peers by key.
func sorted(s []PeerStatus) []PeerStatus {
	slices.SortFunc(s, func(a, b PeerStatus) int { return bytes.Compare(a.Device[:], b.Device[:]) })
	return s
}

// unheard are the peers that gossip neither tells anything nor listens to: all but the members and those of a
// lane that is on. Guests are among them; they may know the topic.
type unheard struct {
	g  *gate
	me peer.ID
}

// Add has nothing to do: the members say it all.
func (u unheard) Add(peer.ID) bool { return true }

// Contains reports whether a peer is kept out. Messages name no author, whom the library asks about too.
func (u unheard) Contains(p peer.ID) bool { return p != "" && p != u.me && !u.g.known(p) }
