package mesh

import (
	"bufio"
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"github.com/libp2p/go-libp2p"
	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/peer"
	ma "github.com/multiformats/go-multiaddr"

	"github.com/parley-mesh/parley/ledger"
)

// rosterMax bounds the records that an inviter may send.
const rosterMax = 100_000

// JoinOptions is what joining needs.
type JoinOptions struct {
	Identity    Identity
	Code        string
	Name        string // of this computer, 1 to 64 bytes
	Listen      []string
	HostOptions HostOptions
	// Show tells the person the four words to compare, and who invited.
	Show func(words [4]string, inviter string)
}

// Joined is the fleet that this computer now belongs to.
type Joined struct {
	Fleet       ledger.TID
	Inviter     ledger.Device
	InviterName string
	Roster      []*ledger.Record // verified; what they mean is the fold's business
	Addrs       []string         // where the inviter was reached
}

// Join asks the computer that made a code to let this one in. The code names that computer's key, so
// nobody can stand between the two.
func Join(ctx context.Context, o JoinOptions) (Joined, error) {
	code, err := ledger.ParseInviteCode(o.Code)
	if err != nil {
		return Joined{}, err
	}
	if code.Kind != ledger.InviteComputer {
		return Joined{}, fmt.Errorf("%w: for a lane to another developer", ErrOtherKind)
	}
	inviter, err := peerOf(code.Inviter)
	if err != nil {
		return Joined{}, fmt.Errorf("%w: %v", ErrWrongCode, err)
	}
	g := newGate()
	g.all = true
	over := o.HostOptions
	if over == nil {
		over = func() []libp2p.Option { return transports() }
	}
	h, err := newHost(o.Identity, o.Listen, g, append([]libp2p.Option{libp2p.UserAgent(agentPrefix), libp2p.EnableRelay()}, over()...)...)
	if err != nil {
		return Joined{}, err
	}
	joined, err := ask(ctx, h, inviter, code, o)
	return joined, errors.Join(err, h.Close())
}

func ask(ctx context.Context, h host.Host, inviter peer.ID, code ledger.InviteCode, o JoinOptions) (Joined, error) {
	k := knocker{h: h, code: code, inviter: inviter, visit: func(peer.ID) func() { return func() {} }}
	leave, err := k.connect(ctx)
	if err != nil {
		return Joined{}, err
	}
	defer leave()
	s, err := h.NewStream(ctx, inviter, pairProtocol)
	if err != nil {
		return Joined{}, fmt.Errorf("%w: no invitation is open there (used, expired or cancelled): %v", ErrUnreachable, err)
	}
	stop := context.AfterFunc(ctx, func() { _ = s.Reset() })
	defer stop()
	j := joining{p: pairing{s: s, r: bufio.NewReader(s)}, code: code, o: o}
	out, err := j.run()
	if err != nil {
		_ = s.Reset() // nothing more comes of it
		return Joined{}, err
	}
	_ = s.Close()                    // all was read
	_ = identified(ctx, h, s.Conn()) // what was agreed holds without the addresses too
	for _, a := range h.Peerstore().Addrs(inviter) {
		out.Addrs = append(out.Addrs, a.String())
	}
	return out, nil
}

// addrsOf is where a code says that the inviter listens.
func addrsOf(code ledger.InviteCode) ([]ma.Multiaddr, error) {
	var out []ma.Multiaddr
	for _, b := range code.Addrs {
		a, err := ma.NewMultiaddrBytes(b)
		if err != nil {
			return nil, fmt.Errorf("%w: an address in it cannot be read", ErrWrongCode)
		}
		out = append(out, a)
	}
	return out, nil
}

// joining is the joiner's side of the protocol.
type joining struct {
	p    pairing
	code ledger.InviteCode
	o    JoinOptions
}

func (j *joining) run() (Joined, error) {
	me := j.o.Identity.Device()
	n, err := j.p.challenged()
	if err != nil {
		return Joined{}, err
	}
	join := &ledger.Join{Version: 1, Invite: j.code.ID(), Name: j.o.Name, Nonce: n.Join, MAC: j.code.JoinMAC(me, n, j.o.Name)}
	welcome, err := j.p.plead(join)
	if err != nil {
		return Joined{}, err
	}
	accept := &ledger.Accept{}
	statement := ledger.JoinStatement(welcome.Fleet, j.code.ID(), j.code.Inviter)
	copy(accept.Accept[:], ed25519.Sign(j.o.Identity.Key(), statement))
	if err := j.p.write(accept); err != nil {
		return Joined{}, err
	}
	if j.o.Show != nil {
		j.o.Show(wordsOf(j.code.WordBits(me, n)), welcome.Name)
	}
	out := Joined{Fleet: welcome.Fleet, Inviter: j.code.Inviter, InviterName: welcome.Name}
	out.Roster, err = j.p.roster(welcome.Fleet, rosterMax, personMax)
	return out, err
}

// challenged reads the inviter's nonce and draws this side's.
func (p *pairing) challenged() (ledger.Nonces, error) {
	f, err := p.read(ioTimeout)
	if err != nil {
		return ledger.Nonces{}, fmt.Errorf("%w: no invitation is open there (used, expired or cancelled)", ErrSpentCode)
	}
	challenge, ok := f.(*ledger.Challenge)
	if !ok {
		return ledger.Nonces{}, errPeer
	}
	n := ledger.Nonces{Challenge: challenge.Nonce}
	_, err = rand.Read(n.Join[:])
	return n, err
}

// plead sends the proof and reads the inviter's welcome.
func (p *pairing) plead(proof ledger.Frame) (*ledger.Welcome, error) {
	if err := p.write(proof); err != nil {
		return nil, err
	}
	f, err := p.read(ioTimeout)
	if err != nil {
		return nil, err
	}
	switch f := f.(type) {
	case *ledger.Welcome:
		return f, nil
	case *ledger.Bye:
		return nil, toldBy(f.Code, ErrWrongCode)
	}
	return nil, errPeer
}

// roster reads records of a roster up to the other side's bye.
func (p *pairing) roster(fleet ledger.TID, most int, patience time.Duration) ([]*ledger.Record, error) {
	var out []*ledger.Record
	for {
		f, err := p.read(patience)
		if err != nil {
			return nil, fmt.Errorf("%w: %v", ErrRefused, err)
		}
		switch f := f.(type) {
		case *ledger.Records:
			if f.Ledger != fleet || f.Family != ledger.Roster || len(out)+len(f.Wires) > most {
				return nil, errPeer
			}
			records, err := verified(f)
			if err != nil {
				return nil, err
			}
			out = append(out, records...)
		case *ledger.Bye:
			if f.Code != ledger.ByeDone {
				return nil, toldBy(f.Code, ErrRefused)
			}
			return out, nil
		default:
			return nil, errPeer
		}
	}
}
