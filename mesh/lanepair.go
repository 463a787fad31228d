package mesh

import (
	"bufio"
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"time"

	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/parley-mesh/parley/ledger"
)

// laneRosterMax bounds the records of another developer's roster that pairing takes: as many as are kept of it.
const laneRosterMax = 1_000

// LaneOptions is what pairing with another developer needs of the node, at either end.
type LaneOptions struct {
	TTL  time.Duration // of an invitation; 0 is ten minutes
	Name string        // what the other side is told that this developer is called, 1 to 64 bytes
	// Spend is of an invitation alone; see [InviteOptions].
	Spend func(ledger.Invite) error
	// Confirm asks the person here whether the words are those on the other developer's screen.
	Confirm func(ctx context.Context, name string, words [4]string) (bool, error)
	// Roster is what a lane may see of this fleet's roster.
	Roster func() ([]*ledger.Record, error)
	// Bind keeps what both persons agreed to, durably.
	Bind func(ctx context.Context, l LanePaired) error
}

// LanePaired is another developer whom this one paired with. The records are verified; what they mean is
// the fold's business.
type LanePaired struct {
	Fleet  ledger.TID
	Device ledger.Device // the computer at the other end
	Name   string        // as the other side calls itself
	Invite ledger.Invite
	Accept ledger.Signature // its computer's, over [ledger.LaneStatement]
	Roster []*ledger.Record
	Addrs  []string // where it was reached
}

// InviteLane opens an invitation for another developer. It takes the place of any other invitation.
func (m *Mesh) InviteLane(o LaneOptions) (*Invitation, error) {
	return m.open(&Invitation{lane: &o, o: InviteOptions{TTL: o.TTL, Name: o.Name, Spend: o.Spend}}, ledger.InviteLane)
}

// AcceptLane follows another developer's invitation from this running computer, up to the yes of both persons.
// Nobody but the computer that the code names is dialled, and nothing but the pairing is spoken with it.
func (m *Mesh) AcceptLane(ctx context.Context, text string, o LaneOptions) (LanePaired, error) {
	code, err := ledger.ParseInviteCode(text)
	if err != nil {
		return LanePaired{}, err
	}
	if code.Kind != ledger.InviteLane {
		return LanePaired{}, fmt.Errorf("%w: for a computer of the same developer to join", ErrOtherKind)
	}
	inviter, err := peerOf(code.Inviter)
	if err != nil {
		return LanePaired{}, fmt.Errorf("%w: %v", ErrWrongCode, err)
	}
	if inviter == m.host.ID() || m.gate.member(inviter) {
		return LanePaired{}, ErrOwnFleet
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(m.ctx, cancel)()
	defer m.leave(inviter)
	defer m.gate.visit(inviter)()
	s, leave, err := m.callOn(ctx, inviter, code)
	if err != nil {
		return LanePaired{}, err
	}
	defer leave()
	stop := context.AfterFunc(ctx, func() { _ = s.Reset() })
	defer stop()
	p := pairing{s: s, r: bufio.NewReader(s)}
	out, err := m.acceptOn(ctx, &p, code, o)
	if err == nil {
		_ = s.CloseWrite() // the other side closes when it has read everything
	}
	p.end(err)
	if err != nil {
		return LanePaired{}, errors.Join(err, ctx.Err())
	}
	return out, nil
}

// leave ends the connection with a stranger, unless it belongs here by now.
func (m *Mesh) leave(p peer.ID) {
	if !m.gate.member(p) && !m.gate.guest(p) && !m.gate.relay(p) {
		_ = m.host.Network().ClosePeer(p) // it may have gone
	}
}

// callOn opens a stream to the computer that a code names; leave ends what was needed for it.
func (m *Mesh) callOn(ctx context.Context, inviter peer.ID, code ledger.InviteCode) (s network.Stream, leave func(), err error) {
	k := knocker{h: m.host, code: code, inviter: inviter, visit: func(relay peer.ID) func() {
		done := m.gate.visit(relay)
		return func() {
			done()
			m.leave(relay)
		}
	}}
	if leave, err = k.connect(ctx); err != nil {
		return nil, nil, err
	}
	if s, err = m.host.NewStream(reachable(ctx), inviter, pairProtocol); err != nil {
		leave()
		return nil, nil, fmt.Errorf("%w: no invitation is open there (used, expired or cancelled): %v", ErrUnreachable, err)
	}
	return s, leave, nil
}

func (m *Mesh) acceptOn(ctx context.Context, p *pairing, code ledger.InviteCode, o LaneOptions) (LanePaired, error) {
	me := m.c.Identity.Device()
	n, err := p.challenged()
	if err != nil {
		return LanePaired{}, err
	}
	proof := &ledger.LaneJoin{
		Version: 1, Invite: code.ID(), Name: o.Name, Nonce: n.Join, Fleet: m.c.Fleet, MAC: code.LaneMAC(me, n, m.c.Fleet, o.Name),
	}
	welcome, err := p.plead(proof)
	if err != nil {
		return LanePaired{}, err
	}
	l := LanePaired{Fleet: welcome.Fleet, Device: code.Inviter, Name: welcome.Name, Invite: code.ID()}
	if l.Fleet == m.c.Fleet {
		return l, ErrOwnFleet
	}
	words := wordsOf(code.LaneWordBits(me, n, l.Fleet, m.c.Fleet))
	err = m.agree(ctx, p, &l, words, o)
	return l, err
}

// meetLane is the inviter's side after the proof.
func (i *Invitation) meetLane(p *pairing, d ledger.Device, join plea, n ledger.Nonces) (Paired, error) {
	l := LanePaired{Fleet: join.fleet, Device: d, Name: join.name, Invite: i.code.ID()}
	if l.Fleet == i.m.c.Fleet || i.m.gate.member(p.s.Conn().RemotePeer()) {
		return Paired{}, ErrOwnFleet
	}
	if err := p.write(&ledger.Welcome{Fleet: i.m.c.Fleet, Name: i.lane.Name}); err != nil {
		return Paired{}, err
	}
	words := wordsOf(i.code.LaneWordBits(d, n, i.m.c.Fleet, l.Fleet))
	if err := i.m.agree(i.ctx, p, &l, words, *i.lane); err != nil {
		return Paired{}, err
	}
	return Paired{Device: d, Name: l.Name, Fleet: l.Fleet}, nil
}

// agree is the same at both ends: each asks its person and says the yes, and hears the other's meanwhile.
// Neither end waits for the other's person before it asks its own. What both said is bound last, so that a
// no at either end, or a connection that breaks off, leaves at most one end with a lane that nobody answers.
func (m *Mesh) agree(ctx context.Context, p *pairing, l *LanePaired, words [4]string, o LaneOptions) error {
	ctx, cancel := context.WithTimeout(ctx, personMax)
	defer cancel()
	lane := ledger.LaneID(m.c.Fleet, l.Fleet)
	said := make(chan error, 1)
	asking := m.run(func() {
		err := m.sayYes(ctx, p, l.Name, words, ledger.LaneStatement(lane, l.Invite, l.Device), o)
		if err != nil {
			_ = p.s.CloseRead() // there is nothing to wait for any more
		}
		said <- err
	})
	if !asking {
		return errors.New("the mesh has ended")
	}
	heard := p.hearYes(l, ledger.LaneStatement(lane, l.Invite, m.c.Identity.Device()))
	if heard != nil {
		cancel() // nobody needs to answer any more
	}
	if err := <-said; err != nil && (heard == nil || errors.Is(err, ErrRefused)) {
		return err
	}
	if heard != nil {
		return heard
	}
	_ = identified(ctx, m.host, p.s.Conn()) // what was agreed holds without the addresses too
	for _, a := range m.host.Peerstore().Addrs(p.s.Conn().RemotePeer()) {
		l.Addrs = append(l.Addrs, a.String())
	}
	return o.Bind(ctx, *l)
}

// sayYes asks the person here, and sends the yes with what a lane may see of this fleet.
func (m *Mesh) sayYes(ctx context.Context, p *pairing, name string, words [4]string, statement []byte, o LaneOptions) error {
	yes, err := o.Confirm(ctx, name, words)
	if ctx.Err() != nil { // a yes that came too late is none
		return ctx.Err()
	}
	if err != nil || !yes {
		return errors.Join(ErrRefused, err)
	}
	roster, err := o.Roster()
	if err != nil {
		return err
	}
	out := &ledger.LaneYes{}
	copy(out.Accept[:], ed25519.Sign(m.c.Identity.Key(), statement))
	if err := p.write(out); err != nil {
		return err
	}
	if err := p.writeRoster(m.c.Fleet, roster); err != nil {
		return err
	}
	return p.write(&ledger.Bye{})
}

// hearYes reads the other end's yes and what it shows of its fleet.
func (p *pairing) hearYes(l *LanePaired, statement []byte) error {
	f, err := p.read(personMax)
	if err != nil {
		return fmt.Errorf("%w: %v", ErrRefused, err)
	}
	switch f := f.(type) {
	case *ledger.LaneYes:
		if !ed25519.Verify(l.Device[:], statement, f.Accept[:]) {
			return fmt.Errorf("%w: the signature of its yes is not its own", errPeer)
		}
		l.Accept = f.Accept
	case *ledger.Bye:
		return toldBy(f.Code, ErrRefused)
	default:
		return errPeer
	}
	l.Roster, err = p.roster(l.Fleet, laneRosterMax, ioTimeout)
	return err
}
