package mesh

import (
	"maps"
	"slices"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"
	ma "github.com/multiformats/go-multiaddr"
	manet "github.com/multiformats/go-multiaddr/net"
)

const (
	// guestShare is which part of the room the guests from one address may take.
	guestShare = 4
	// handshakeTime is how long who has proven a key may take until the connection is there.
	handshakeTime = 15 * time.Second
)

// guestbook are the strangers who came in while it was open. Who has gone is not in it any more, and neither is who
// never quite came.
type guestbook struct {
	open bool
	room int
	came map[peer.ID]*visitor
}

type visitor struct {
	from string // the address, or the household of an IPv6 one
	at   time.Time
	here bool
}

func newGuestbook(room int) guestbook { return guestbook{room: room, came: map[peer.ID]*visitor{}} }

// admit lets a stranger in, if there is room for one more and for one more from there.
func (b *guestbook) admit(p peer.ID, at ma.Multiaddr, now time.Time) bool {
	if !b.open {
		return false
	}
	if b.came[p] != nil {
		return true
	}
	from, same := household(at), 0
	for q, v := range b.came {
		switch {
		case !v.here && now.Sub(v.at) > handshakeTime:
			delete(b.came, q)
		case v.from == from:
			same++
		}
	}
	if len(b.came) >= b.room || same >= max(1, b.room/guestShare) {
		return false
	}
	b.came[p] = &visitor{from: from, at: now}
	return true
}

// has reports whether a guest came in and may still be here.
func (b *guestbook) has(p peer.ID) bool { return b.open && b.came[p] != nil }

// arrived notes that a guest's connection is there.
func (b *guestbook) arrived(p peer.ID) {
	if v := b.came[p]; v != nil {
		v.here = true
	}
}

// shut lets nobody in any more, and returns who came.
func (b *guestbook) shut() []peer.ID {
	b.open = false
	came := slices.Sorted(maps.Keys(b.came))
	clear(b.came)
	return came
}

// household is where an address is: itself, or what a household has of IPv6. Everybody who comes by one relay is from
// one place; the relay has limits of its own.
func household(a ma.Multiaddr) string {
	if a == nil {
		return ""
	}
	ip, err := manet.ToIP(a)
	if err != nil {
		return a.String()
	}
	if ip.To4() == nil && len(ip) == 16 {
		return string(ip[:7]) // a /56
	}
	return ip.String()
}
