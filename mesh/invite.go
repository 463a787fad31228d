package mesh

import (
	"bufio"
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/protocol"
	ma "github.com/multiformats/go-multiaddr"

	"github.com/parley-mesh/parley/ledger"
)

const pairProtocol protocol.ID = "/parley/pair/1"

// How long a code serves by default, how often a wrong secret may be tried, and how long a person may
// take to compare the words.
const (
	inviteTTL = 10 * time.Minute
	wrongMax  = 3
	personMax = 5 * time.Minute
)

// Errors of pairing, one for each way in which it can end.
var (
	ErrWrongCode   = errors.New("the code is wrong")
	ErrSpentCode   = errors.New("the code was used already")
	ErrExpired     = errors.New("the code has expired")
	ErrRefused     = errors.New("the other side refused")
	ErrUnreachable = errors.New("the computer that invited cannot be reached")
	ErrOwnFleet    = errors.New("the code is of this developer's own computers")
	ErrOtherKind   = errors.New("the code is for something else")
)

// InviteOptions is what an invitation needs of the node.
type InviteOptions struct {
	TTL  time.Duration // 0 is ten minutes
	Name string        // of this computer
	// Spend marks the code as used, durably, before anything is answered; an error refuses.
	Spend func(ledger.Invite) error
	// Confirm asks the person here whether the name and words are those on the other screen.
	Confirm func(ctx context.Context, name string, words [4]string) (bool, error)
	// Add makes the computer one of the fleet and returns the whole roster.
	Add func(ctx context.Context, d ledger.Device, id ledger.Invite, accept ledger.Signature, name string) ([]*ledger.Record, error)
}

// Paired is the computer that joined, or the one of another developer.
type Paired struct {
	Device ledger.Device
	Name   string
	Fleet  ledger.TID // of a lane: the other developer's
}

// Invitation is one open code.
type Invitation struct {
	m      *Mesh
	o      InviteOptions
	lane   *LaneOptions // of an invitation to a lane
	code   ledger.InviteCode
	ctx    context.Context
	cancel context.CancelFunc

	mu     sync.Mutex
	wrong  int
	taken  bool           // one joiner proved the secret
	talks  sync.WaitGroup // runs of the protocol that have not ended
	ended  chan struct{}
	once   sync.Once
	paired Paired
	err    error
}

// Invite opens an invitation. There is one at a time; an earlier one is cancelled.
func (m *Mesh) Invite(o InviteOptions) (*Invitation, error) {
	return m.open(&Invitation{o: o}, ledger.InviteComputer)
}

// open gives an invitation its code and lets strangers come for it.
func (m *Mesh) open(i *Invitation, kind byte) (*Invitation, error) {
	i.m, i.ended, i.code = m, make(chan struct{}), ledger.InviteCode{Kind: kind, Inviter: m.c.Identity.Device()}
	if _, err := rand.Read(i.code.Secret[:]); err != nil {
		return nil, fmt.Errorf("invite: %w", err)
	}
	i.code.Addrs = hints(m.host.Addrs(), m.doorways())
	i.ctx, i.cancel = context.WithTimeout(m.ctx, cmp.Or(i.o.TTL, inviteTTL))
	m.mu.Lock()
	before := m.invite
	m.invite, m.shown = i, i
	m.gate.admitGuests()
	m.mu.Unlock()
	m.retellRelays()
	if before != nil {
		before.Cancel()
	}
	open := m.run(func() {
		select {
		case <-i.ctx.Done():
			i.end(Paired{}, ErrExpired)
		case <-i.ended:
		}
		i.close()
	})
	if !open {
		i.cancel()
		return nil, errors.New("invite: the mesh has ended")
	}
	return i, nil
}

// hints are the three addresses that most likely reach this computer: those of the network before those of this
// machine alone, and one over a relay that lets in who shows the code's pass.
func hints(addrs, doorways []ma.Multiaddr) [][]byte {
	sorted := slices.DeleteFunc(slices.Clone(addrs), circuit)
	slices.SortStableFunc(sorted, func(a, b ma.Multiaddr) int { return near(a) - near(b) })
	over := doorways[:min(1, len(doorways))]
	var out [][]byte
	for _, a := range append(sorted[:min(3-len(over), len(sorted))], over...) {
		out = append(out, a.Bytes())
	}
	return out
}

// pass is what relays are told of the invitation that is open, and for how many milliseconds it serves: up to the
// person's yes to who comes last.
func (m *Mesh) pass() (pass string, ms int64) {
	m.mu.Lock()
	i := m.shown
	m.mu.Unlock()
	if i == nil {
		return "", 0
	}
	p := i.code.Pass()
	end, _ := i.ctx.Deadline()
	return hex.EncodeToString(p[:]), (time.Until(end) + personMax).Milliseconds()
}

func near(a ma.Multiaddr) int {
	rank := 0
	if ip, err := a.ValueForProtocol(ma.P_IP4); err == nil && len(ip) >= 4 && ip[:4] == "127." {
		rank += 2
	}
	if _, err := a.ValueForProtocol(ma.P_IP6); err == nil {
		rank++
	}
	return rank
}

// Code is what the person types on the other computer.
func (i *Invitation) Code() string { return i.code.Encode() }

// Cancel lets nobody in by this code.
func (i *Invitation) Cancel() { i.end(Paired{}, ErrRefused) }

// Wait waits for the invitation's end.
func (i *Invitation) Wait(ctx context.Context) (Paired, error) {
	select {
	case <-i.ended:
		return i.paired, i.err
	case <-ctx.Done():
		return Paired{}, ctx.Err()
	}
}

func (i *Invitation) end(p Paired, err error) {
	i.once.Do(func() {
		i.paired, i.err = p, err
		close(i.ended)
	})
}

// close ends the invitation once each run has read what was said last. Latecomers are told for a while
// what became of it.
func (i *Invitation) close() {
	i.cancel()
	i.m.mu.Lock()
	mine := i.m.invite == i
	if mine {
		i.m.invite, i.m.last = nil, i
	}
	i.m.remember(i)
	i.m.farewells++
	i.m.mu.Unlock()
	i.talks.Wait()
	i.m.mu.Lock()
	i.m.farewells--
	shown := i.m.shown == i
	if shown {
		i.m.shown = nil
	}
	i.m.mu.Unlock()
	if shown {
		i.m.retellRelays()
	}
	if mine {
		i.m.promote()
		i.m.linger(i)
	}
}

// answerPair is the inviter's side. It runs for strangers too, while an invitation is open or was lately.
func (m *Mesh) answerPair(s network.Stream) {
	d, ok := deviceOf(s.Conn().RemotePeer())
	m.mu.Lock()
	i, late := m.invite, m.last != nil
	if i != nil && ok {
		i.talks.Add(1)
	}
	m.mu.Unlock()
	if i == nil && !late || !ok {
		_ = s.Reset() // nobody is invited
		return
	}
	talking := m.run(func() {
		p := pairing{s: s, r: bufio.NewReader(s)}
		if i != nil {
			defer i.talks.Done()
			p.end(i.admit(&p, d))
			return
		}
		p.end(m.turnAway(&p, d))
		if m.gate.guest(s.Conn().RemotePeer()) {
			_ = s.Conn().Close() // all was said
		}
	})
	if !talking {
		if i != nil {
			i.talks.Done()
		}
		_ = s.Reset() // nobody is here any more
	}
}

// pairing is one run of the protocol on one side.
type pairing struct {
	s network.Stream
	r *bufio.Reader
}

func (p *pairing) write(f ledger.Frame) error {
	if err := p.s.SetWriteDeadline(time.Now().Add(ioTimeout)); err != nil {
		return err
	}
	return ledger.WriteFrame(p.s, f)
}

func (p *pairing) read(within time.Duration) (ledger.Frame, error) {
	if err := p.s.SetReadDeadline(time.Now().Add(within)); err != nil {
		return nil, err
	}
	return ledger.ReadFrame(p.r)
}

// drain waits for the other side to have read everything and to close, but not for ever: a guest could
// go on talking.
func (p *pairing) drain() {
	if p.s.SetReadDeadline(time.Now().Add(ioTimeout)) != nil {
		return
	}
	for {
		if _, err := ledger.ReadFrame(p.r); err != nil {
			return
		}
	}
}

// end says the last word and lets the other side read it.
func (p *pairing) end(err error) {
	if err != nil {
		_ = p.write(&ledger.Bye{Code: byeFor(err)}) // it may be gone
		_ = p.s.CloseWrite()
	}
	p.drain()
	if err == nil {
		_ = p.s.Close() // all was said
	}
}

// plea is what a joiner says of itself and proves, whatever it wants to join.
type plea struct {
	kind   byte // of the code that it holds
	invite ledger.Invite
	name   string
	fleet  ledger.TID // its own, where two developers pair
	mac    [32]byte
}

// proves reports whether the joiner knows the secret of a code that was made for what it asks.
func (p plea) proves(code ledger.InviteCode, d ledger.Device, n ledger.Nonces) bool {
	want := code.JoinMAC(d, n, p.name)
	if p.kind == ledger.InviteLane {
		want = code.LaneMAC(d, n, p.fleet, p.name)
	}
	return hmac.Equal(want[:], p.mac[:]) && p.invite == code.ID() && p.kind == code.Kind
}

// hear challenges a joiner and reads what it proves.
func (p *pairing) hear() (plea, ledger.Nonces, error) {
	var n ledger.Nonces
	if _, err := rand.Read(n.Challenge[:]); err != nil {
		return plea{}, n, err
	}
	if err := p.write(&ledger.Challenge{Nonce: n.Challenge}); err != nil {
		return plea{}, n, err
	}
	f, err := p.read(ioTimeout)
	if err != nil {
		return plea{}, n, err
	}
	switch f := f.(type) {
	case *ledger.Join:
		if n.Join = f.Nonce; f.Version == 1 {
			return plea{kind: ledger.InviteComputer, invite: f.Invite, name: f.Name, mac: f.MAC}, n, nil
		}
	case *ledger.LaneJoin:
		if n.Join = f.Nonce; f.Version == 1 {
			return plea{kind: ledger.InviteLane, invite: f.Invite, name: f.Name, fleet: f.Fleet, mac: f.MAC}, n, nil
		}
	}
	return plea{}, n, errPeer
}

// admit lets one joiner prove the secret, asks the person, and sends the roster.
func (i *Invitation) admit(p *pairing, d ledger.Device) error {
	join, n, err := p.hear()
	if err != nil {
		return err
	}
	if err := i.m.tooLate(join, d, n); err != nil {
		return err // an earlier code; it is no wrong try at this one
	}
	if err := i.prove(join, d, n); err != nil {
		return err
	}
	if err := i.o.Spend(i.code.ID()); err != nil {
		i.end(Paired{}, ErrSpentCode)
		return proven{err}
	}
	paired, err := i.meet(p, d, join, n)
	i.end(paired, err)
	if err != nil {
		return proven{err}
	}
	return nil
}

// meet is what follows the proof.
func (i *Invitation) meet(p *pairing, d ledger.Device, join plea, n ledger.Nonces) (Paired, error) {
	if i.lane != nil {
		return i.meetLane(p, d, join, n)
	}
	return i.welcome(p, d, join.name, wordsOf(i.code.WordBits(d, n)))
}

// prove checks the secret. A code is burnt after three wrong tries, and by the first right one; no run of
// the protocol that began before outlives it.
func (i *Invitation) prove(join plea, d ledger.Device, n ledger.Nonces) error {
	right := join.proves(i.code, d, n)
	i.mu.Lock()
	defer i.mu.Unlock()
	switch spent := i.taken || i.wrong >= wrongMax; {
	case right && spent:
		return proven{ErrSpentCode}
	case right && i.ctx.Err() != nil:
		return proven{ErrExpired}
	case !right && !spent && i.ctx.Err() == nil:
		if i.wrong++; i.wrong >= wrongMax {
			i.end(Paired{}, ErrWrongCode)
		}
		return ErrWrongCode
	case !right:
		return ErrWrongCode
	}
	i.taken = true
	return nil
}

func (i *Invitation) welcome(p *pairing, d ledger.Device, name string, words [4]string) (Paired, error) {
	if err := p.write(&ledger.Welcome{Fleet: i.m.c.Fleet, Name: i.o.Name}); err != nil {
		return Paired{}, err
	}
	f, err := p.read(ioTimeout)
	if err != nil {
		return Paired{}, err
	}
	accept, ok := f.(*ledger.Accept)
	if !ok {
		return Paired{}, errPeer
	}
	ctx, cancel := context.WithTimeout(i.ctx, personMax)
	defer cancel()
	yes, err := i.o.Confirm(ctx, name, words)
	if err = errors.Join(err, ctx.Err()); err != nil || !yes { // a yes that came too late is none
		return Paired{}, errors.Join(ErrRefused, err)
	}
	roster, err := i.o.Add(ctx, d, i.code.ID(), accept.Accept, name)
	if err != nil {
		return Paired{}, err
	}
	if err := p.writeRoster(i.m.c.Fleet, roster); err != nil {
		return Paired{}, err
	}
	return Paired{Device: d, Name: name}, p.write(&ledger.Bye{})
}

// writeRoster sends records of a roster, as many in a frame as it holds.
func (p *pairing) writeRoster(fleet ledger.TID, roster []*ledger.Record) error {
	for start := 0; start < len(roster); {
		out := ledger.Records{Ledger: fleet, Family: ledger.Roster}
		for size := 0; start < len(roster) && size+len(roster[start].Wire)+3 <= frameRoom; start++ {
			out.Wires = append(out.Wires, roster[start].Wire)
			size += len(roster[start].Wire) + 3
		}
		if err := p.write(&out); err != nil {
			return err
		}
	}
	return nil
}
