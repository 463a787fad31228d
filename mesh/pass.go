package mesh

import (
	"context"
	"crypto/hmac"
	"encoding/hex"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/protocol"
	"github.com/libp2p/go-libp2p/p2p/protocol/circuitv2/proto"

	"github.com/parley-mesh/parley/ledger"
)

// On this protocol a stranger shows a relay the pass of an invitation, and is let through to the one who invited and
// to nobody else: one JSON object each way. The inviter told the relay the pass beforehand.
const passProtocol protocol.ID = "/parley/pass/1"

// What strangers may have at a relay. See DESIGN.md for the reasons.
const (
	passWordMax  = 1 << 10                 // bytes of one object
	passGuests   = 16                      // strangers who are connected at once
	passEach     = 4                       // strangers who may come for one invitation at once
	passKeys     = 16                      // and in all
	passCircuits = 4                       // times that one of them may call the inviter, however often it comes
	passBytes    = 1 << 20                 // that are carried for one of them, both ways together
	passKnock    = 10 * time.Second        // to show a pass
	passStay     = personMax + time.Minute // of one of them, from its coming
	passMost     = inviteTTL + personMax   // that a door stands open for one telling
)

// passAsk is what a stranger shows.
type passAsk struct {
	Version int    `json:"v"`
	To      string `json:"to"`   // the inviter's key, hexadecimal
	Pass    string `json:"pass"` // hexadecimal
}

// passWord is what the relay answers.
type passWord struct {
	Version int  `json:"v"`
	Through bool `json:"through"`
}

// porch lets strangers through to the computers that have invited, at a bare relay and at a computer that carries.
type porch struct {
	host    host.Host
	gate    *gate
	refused *Counters
	ctx     context.Context
	run     func(func()) bool // begins a goroutine that the end waits for

	mu    sync.Mutex
	doors map[peer.ID]*door // by who invited
}

// serve lets the porch answer at its host, once there is one.
func (r *porch) serve(h host.Host) {
	r.host = h
	h.SetStreamHandler(passProtocol, r.answerPass)
}

// door is what a relay knows of an open invitation.
type door struct {
	pass   []byte
	until  time.Time
	guests map[peer.ID]*guest // who showed the pass, those included who have gone
}

// guest is a stranger whom a relay lets through.
type guest struct {
	here  bool
	calls int
	left  atomic.Int64 // bytes
}

// tellDoor notes that a computer has an invitation open, or has none any more.
func (r *porch) tellDoor(by peer.ID, ask relayAsk) {
	pass, err := hex.DecodeString(ask.Pass)
	open := err == nil && len(pass) == len(ledger.InviteCode{}.Pass()) && ask.PassMS > 0
	if !open {
		r.shutDoor(by, nil)
		return
	}
	until := time.Now().Add(min(time.Duration(min(ask.PassMS, passMost.Milliseconds()))*time.Millisecond, passMost))
	r.mu.Lock()
	d := r.doors[by]
	same := d != nil && hmac.Equal(d.pass, pass)
	if same {
		d.until = until
	}
	r.mu.Unlock()
	if same {
		return
	}
	r.shutDoor(by, nil)
	d = &door{pass: pass, until: until, guests: map[peer.ID]*guest{}}
	r.mu.Lock()
	r.doors[by] = d
	r.mu.Unlock()
	r.gate.admitPassers()
	r.run(func() { r.watchDoor(by, d) })
}

// watchDoor shuts a door when its time is over.
func (r *porch) watchDoor(by peer.ID, d *door) {
	for {
		r.mu.Lock()
		left := time.Until(d.until)
		mine := r.doors[by] == d
		r.mu.Unlock()
		if !mine {
			return
		}
		if left <= 0 {
			r.shutDoor(by, d)
			return
		}
		timer := time.NewTimer(left)
		select {
		case <-timer.C:
		case <-r.ctx.Done():
			timer.Stop()
			return
		}
	}
}

// shutDoor lets nobody through to a computer any more, and ends the connections of those who came. It does nothing if
// another door than the one given stands there by now; nil is any.
func (r *porch) shutDoor(by peer.ID, which *door) {
	r.mu.Lock()
	d := r.doors[by]
	if d == nil || which != nil && d != which {
		r.mu.Unlock()
		return
	}
	delete(r.doors, by)
	came := slices.Sorted(maps.Keys(d.guests))
	if len(r.doors) == 0 {
		came = append(came, r.gate.closeToPassers()...)
	}
	r.mu.Unlock()
	for _, p := range came {
		if !r.stays(p) {
			_ = r.host.Network().ClosePeer(p) // it may have gone
		}
	}
}

// attend lets a stranger stay for a moment, and for longer once it has shown a pass.
func (r *porch) attend(conn network.Conn) {
	p := conn.RemotePeer()
	for _, stay := range []time.Duration{passKnock, passStay - passKnock} {
		timer := time.NewTimer(stay)
		select {
		case <-timer.C:
		case <-r.ctx.Done():
			timer.Stop()
			return
		}
		if r.gate.known(p) {
			return // it was let into the fleet
		}
		if r.guestOf(p) == nil {
			break
		}
	}
	if !r.stays(p) {
		_ = conn.Close() // it may have gone
	}
}

// stays reports whether a peer is here for more than to be let through.
func (r *porch) stays(p peer.ID) bool { return r.gate.known(p) || r.gate.guest(p) }

// guestOf is what a stranger may still do, nil for one that has shown no pass.
func (r *porch) guestOf(p peer.ID) *guest {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, d := range r.doors {
		if g := d.guests[p]; g != nil && g.here {
			return g
		}
	}
	return nil
}

// forget makes room for another stranger. What this one had stays counted: it may come again.
func (r *porch) forget(p peer.ID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, d := range r.doors {
		if g := d.guests[p]; g != nil {
			g.here = false
		}
	}
}

// answerPass looks at what a stranger shows.
func (r *porch) answerPass(s network.Stream) {
	s = r.refused.watch(s)
	err := func() error {
		if err := s.SetDeadline(time.Now().Add(relayTimeout)); err != nil {
			return err
		}
		var ask passAsk
		if err := hearMost(s, passWordMax, &ask); err != nil {
			return err
		}
		through := r.letThrough(s.Conn().RemotePeer(), ask)
		if !through {
			r.refused.Count(RefusedStranger)
		}
		return json.NewEncoder(s).Encode(passWord{Version: 1, Through: through})
	}()
	if err != nil {
		_ = s.Reset() // nothing more comes of it
		return
	}
	_ = s.Close() // the answer is on its way
}

func (r *porch) letThrough(p peer.ID, ask passAsk) bool {
	pass, err := hex.DecodeString(ask.Pass)
	var to ledger.Device
	if err = errors.Join(err, to.UnmarshalText([]byte(ask.To))); err != nil {
		return false
	}
	by, err := peerOf(to)
	if err != nil {
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	d := r.doors[by]
	if d == nil || !hmac.Equal(d.pass, pass) || time.Now().After(d.until) {
		return false
	}
	g, here := d.guests[p], 0
	for _, other := range d.guests {
		if other != g && other.here {
			here++
		}
	}
	if here >= passEach || g == nil && len(d.guests) >= passKeys {
		return false
	}
	if g == nil {
		g = &guest{}
		g.left.Store(passBytes)
		d.guests[p] = g
	}
	g.here = true
	return true
}

// mayCall reports whether a stranger may call a computer now.
func (r *porch) mayCall(from, to peer.ID) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	d := r.doors[to]
	if d == nil || d.guests[from] == nil || !d.guests[from].here || d.guests[from].calls >= passCircuits {
		return false
	}
	d.guests[from].calls++
	return true
}

// metered is a relay's host that counts what is carried for strangers: libp2p knows one limit for everybody.
type metered struct {
	host.Host
	r *porch
}

// SetStreamHandler takes libp2p's own handler for what it carries.
func (m metered) SetStreamHandler(id protocol.ID, handle network.StreamHandler) {
	if id != proto.ProtoIDv2Hop {
		m.Host.SetStreamHandler(id, handle)
		return
	}
	m.Host.SetStreamHandler(id, func(s network.Stream) {
		if p := s.Conn().RemotePeer(); !m.r.gate.known(p) {
			g := m.r.guestOf(p)
			if g == nil {
				_ = s.Reset()
				return
			}
			s = &meter{Stream: s, g: g}
		}
		handle(s)
	})
}

// meter is a stream that ends when what its opener may have carried is used up.
type meter struct {
	network.Stream
	g *guest
}

func (s *meter) use(n int, err error) (int, error) {
	if s.g.left.Add(-int64(n)) < 0 {
		_ = s.Reset() // it has had what it may
		return n, errPeer
	}
	return n, err
}

// Read reads what the stranger says.
func (s *meter) Read(b []byte) (int, error) { return s.use(s.Stream.Read(b)) }

// Write writes what it is told.
func (s *meter) Write(b []byte) (int, error) { return s.use(s.Stream.Write(b)) }
