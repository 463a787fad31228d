package mesh

import (
	"maps"
	"slices"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"
	ma "github.com/multiformats/go-multiaddr"
)

const (
	// relayForget is how long a relay that was learnt may fail before it is forgotten. A computer that is away from
	// every network for longer learns it again from the first member that it meets.
	relayForget = 6 * time.Hour
	// relayYield is how long it may fail before another one may take its place.
	relayYield = 10 * time.Minute
	// droppedMax bounds the relays that are remembered as forgotten; those beyond may be learnt, and fail, again.
	droppedMax = 64
)

// learnFrom takes the relays that a member is reached by as relays for this computer too: that is how one
// that is set on one computer comes to all. Another developer's is left alone: a relay is told every key of the
// fleet (rule L1).
func (m *Mesh) learnFrom(p peer.ID, addrs []ma.Multiaddr) {
	if !m.c.Reach.Circuits || !m.gate.member(p) {
		return
	}
	for _, a := range addrs {
		if info, ok := relayIn(a); ok {
			m.learnRelay(p, info)
		}
	}
}

// learnAgain does so with addresses that are only remembered: a relay that was forgotten since is not learnt of them.
func (m *Mesh) learnAgain(p peer.ID, addrs []ma.Multiaddr) {
	m.mu.Lock()
	addrs = slices.DeleteFunc(slices.Clone(addrs), func(a ma.Multiaddr) bool {
		info, ok := relayIn(a)
		return !ok || m.dropped[info.ID]
	})
	m.mu.Unlock()
	m.learnFrom(p, addrs)
}

// learnRelay adds a relay that is not known yet, as long as there is room; by is the member that is reached by it, ""
// for one that the configuration names.
func (m *Mesh) learnRelay(by peer.ID, info peer.AddrInfo) {
	m.mu.Lock()
	news := m.takeRelay(by, info)
	m.allowRelays()
	m.mu.Unlock()
	if news {
		m.reserveNow()
	}
}

// takeRelay reports whether there is something new. The caller holds the lock.
func (m *Mesh) takeRelay(by peer.ID, info peer.AddrInfo) (news bool) {
	if info.ID == m.host.ID() || m.shut[info.ID] {
		return false
	}
	i := slices.IndexFunc(m.stations, func(s *station) bool { return s.info.ID == info.ID })
	if i < 0 {
		if !m.roomForRelay() {
			return false
		}
		m.stations = append(m.stations, &station{info: info, set: by == "", by: map[peer.ID]bool{by: true}})
		return true
	}
	s := m.stations[i]
	s.by[by] = true
	for _, a := range info.Addrs {
		if len(s.info.Addrs) < relaysMax && !slices.ContainsFunc(s.info.Addrs, a.Equal) {
			s.info.Addrs = append(s.info.Addrs, a)
			news = true
		}
	}
	return news
}

// roomForRelay makes room for one more relay if one fails. The caller holds the lock.
func (m *Mesh) roomForRelay() bool {
	if len(m.stations) < relaysMax {
		return true
	}
	i := slices.IndexFunc(m.stations, func(s *station) bool { return s.fails(relayYield) })
	if i >= 0 {
		m.stations = slices.Delete(m.stations, i, i+1)
	}
	return i >= 0
}

// fails reports whether nothing could be reserved for so long at a relay that was learnt.
func (s *station) fails(long time.Duration) bool {
	return !s.set && !s.failing.IsZero() && time.Since(s.failing) >= long
}

// unlearn forgets relays that were learnt and have failed for long. The caller holds the lock.
func (m *Mesh) unlearn() {
	before := len(m.stations)
	m.stations = slices.DeleteFunc(m.stations, func(s *station) bool {
		gone := s.fails(relayForget)
		if gone && len(m.dropped) < droppedMax {
			m.dropped[s.info.ID] = true
		}
		return gone
	})
	if len(m.stations) < before {
		m.allowRelays()
	}
}

// allowRelays lets the relays be dialled that are known, or borrowed and not waited for, and no others. The caller holds the lock.
func (m *Mesh) allowRelays() {
	var ids []peer.ID
	for _, s := range m.stations {
		ids = append(ids, s.info.ID)
	}
	for relay := range m.borrowed {
		if !time.Now().Before(m.spurns[relay].until) {
			ids = append(ids, relay)
		}
	}
	m.gate.setRelays(ids)
}

// leaveRelays gives up the places at computers that were removed from the fleet, and at relays that only those were
// reached by: a relay is told who belongs to the fleet, and it is dialled although it is no member.
func (m *Mesh) leaveRelays(removed []peer.ID, members map[peer.ID]bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, p := range removed {
		m.shut[p] = true
	}
	maps.DeleteFunc(m.shut, func(p peer.ID, _ bool) bool { return members[p] })
	m.stations = slices.DeleteFunc(m.stations, func(s *station) bool {
		maps.DeleteFunc(s.by, func(p peer.ID, _ bool) bool { return m.shut[p] })
		return m.shut[s.info.ID] || !s.set && len(s.by) == 0
	})
	m.allowRelays()
}

// spurn is a computer that ends each connection before it has said a word.
type spurn struct {
	times int
	until time.Time // it is not dialled before
}

// spurnMost is how seldom such a computer is dialled at last. Where it cannot dial itself when its end is switched on,
// the two meet after this time at the most, and after no longer than it was off.
const spurnMost = 5 * time.Minute

// spurn notes that a computer of a lane ended a connection of this one without a word, as one does whose end of the
// lane is off. It could not refuse sooner: nobody's key is known before the handshake. So it is asked ever more
// seldom; when its end is on, it dials.
func (m *Mesh) spurn(p peer.ID) {
	if _, ok := m.gate.lane(p); ok {
		m.waitFor(p)
	}
}

// waitFor lets a peer not be dialled for a while, twice as long each time.
func (m *Mesh) waitFor(p peer.ID) {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := m.spurns[p]
	wait := min(redialEvery<<min(s.times, 10), spurnMost)
	m.spurns[p] = spurn{times: s.times + 1, until: time.Now().Add(wait)}
}

func (m *Mesh) spurned(p peer.ID) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return time.Now().Before(m.spurns[p].until)
}
