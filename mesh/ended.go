package mesh

import (
	"errors"
	"slices"
	"time"

	"github.com/libp2p/go-libp2p/core/network"

	"github.com/parley-mesh/parley/ledger"
)

// How long a code that has ended is answered with what became of it, and how many are remembered. Nothing
// of it outlives the process.
const (
	lingerFor = 10 * time.Minute
	endedMax  = 8
)

// ended is a code that serves no more.
type ended struct {
	code  ledger.InviteCode
	why   error // ErrSpentCode, ErrExpired or ErrRefused
	until time.Time
}

// proven is an error that a joiner may be told, since it has proved that it knows the code's secret.
type proven struct{ error }

func (p proven) Unwrap() error { return p.error }

// byeFor is the word for a joiner that is not let in. Who has proved nothing learns nothing.
func byeFor(err error) uint64 {
	if _, ok := errors.AsType[proven](err); !ok {
		return ledger.ByeRefused
	}
	switch {
	case errors.Is(err, ErrSpentCode):
		return ledger.ByeUsed
	case errors.Is(err, ErrExpired):
		return ledger.ByeExpired
	}
	return ledger.ByeDeclined
}

// toldBy is the joiner's error for the inviter's word.
func toldBy(code uint64, otherwise error) error {
	switch code {
	case ledger.ByeUsed:
		return ErrSpentCode
	case ledger.ByeExpired:
		return ErrExpired
	case ledger.ByeDeclined:
		return ErrRefused
	}
	return otherwise
}

// remember keeps what became of an invitation, for those who come too late. The caller holds the lock.
func (m *Mesh) remember(i *Invitation) {
	why := ErrRefused
	if i.err == nil || errors.Is(i.err, ErrSpentCode) || errors.Is(i.err, ErrWrongCode) { // wrong ones burnt it
		why = ErrSpentCode
	} else if errors.Is(i.err, ErrExpired) {
		why = ErrExpired
	}
	m.past = append(m.past, ended{i.code, why, time.Now().Add(lingerFor)})
	m.past = m.past[max(0, len(m.past)-endedMax):]
}

// tooLate is the answer to a joiner that proves a code that has ended; nil for any other joiner.
func (m *Mesh) tooLate(join plea, d ledger.Device, n ledger.Nonces) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := time.Now()
	m.past = slices.DeleteFunc(m.past, func(e ended) bool { return now.After(e.until) })
	for _, e := range m.past {
		if join.proves(e.code, d, n) {
			return proven{e.why}
		}
	}
	return nil
}

// turnAway answers a joiner while no invitation is open and the last one is remembered.
func (m *Mesh) turnAway(p *pairing, d ledger.Device) error {
	join, n, err := p.hear()
	if err != nil {
		return err
	}
	if err := m.tooLate(join, d, n); err != nil {
		return err
	}
	return ErrWrongCode
}

// linger keeps the door open for latecomers until an ended invitation is forgotten, and closes it then,
// unless another invitation has taken its place.
func (m *Mesh) linger(i *Invitation) {
	_ = m.pause(lingerFor) // or until the mesh ends
	var guests []network.Conn
	m.mu.Lock()
	if m.invite == nil && m.last == i {
		m.last = nil
		for _, p := range m.gate.closeToGuests() {
			guests = append(guests, m.host.Network().ConnsToPeer(p)...)
		}
	}
	m.mu.Unlock()
	for _, c := range guests {
		_ = c.Close() // it may have gone
	}
}

// promote ends the connections of guests who are members by now. They connect anew: gossip does not look
// twice at who was none when it came.
func (m *Mesh) promote() {
	for _, p := range m.gate.promoted() {
		_ = m.host.Network().ClosePeer(p) // it may have gone
	}
}
