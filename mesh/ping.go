package mesh

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/protocol"

	"github.com/parley-mesh/parley/ledger"
)

// On this protocol a member answers each 32 bytes with the same 32 and its clock, in milliseconds of Unix
// time, as eight more.
const pingProtocol protocol.ID = "/parley/ping/1"

const (
	pingBytes   = 32
	pingsMax    = 64 // round trips on one stream
	pingTimeout = 10 * time.Second
)

// ErrAway says that a computer is not connected.
var ErrAway = errors.New("it is not connected")

// Trip is one round trip to another computer.
type Trip struct {
	Took time.Duration
	Skew time.Duration // how far its clock is ahead of this one's, give or take half of Took
	Peer PeerStatus
}

// Ping measures a round trip. A computer that is not connected is dialled first; [ErrAway] when that does not
// help in time.
func (m *Mesh) Ping(ctx context.Context, d ledger.Device) (Trip, error) {
	id, err := peerOf(d)
	if err != nil {
		return Trip{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, pingTimeout)
	defer cancel()
	if err := m.bring(ctx, d); err != nil {
		return Trip{}, err
	}
	s, err := m.host.NewStream(reachable(ctx), id, pingProtocol)
	if err != nil {
		return Trip{}, fmt.Errorf("%w: %v", ErrAway, err)
	}
	t, err := m.trip(s)
	if err != nil {
		_ = s.Reset() // nothing more comes of it
		return Trip{}, fmt.Errorf("%w: %v", ErrAway, err)
	}
	_ = s.Close() // the answer is here
	for _, p := range m.Peers() {
		if p.Device == d {
			t.Peer = p
		}
	}
	return t, nil
}

// bring dials an absent member and waits for it.
func (m *Mesh) bring(ctx context.Context, d ledger.Device) error {
	there := func() bool {
		m.mu.Lock()
		defer m.mu.Unlock()
		s := m.status[d]
		return s != nil && s.Connected
	}
	if there() {
		return nil
	}
	m.dialNow()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for !there() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return ErrAway
		}
	}
	return nil
}

// trip is one round trip on a stream. Opening the stream is settled by a first one that is not counted.
func (m *Mesh) trip(s network.Stream) (t Trip, err error) {
	if err := s.SetDeadline(time.Now().Add(pingTimeout)); err != nil {
		return t, err
	}
	var sent [pingBytes]byte
	var back [pingBytes + 8]byte
	for range 2 {
		if _, err := rand.Read(sent[:]); err != nil {
			return t, err
		}
		began, wall := time.Now(), m.c.Wall()
		if _, err := s.Write(sent[:]); err != nil {
			return t, err
		}
		if _, err := io.ReadFull(s, back[:]); err != nil {
			return t, err
		}
		if [pingBytes]byte(back[:]) != sent {
			return t, errPeer
		}
		t.Took = time.Since(began)
		t.Skew = time.UnixMilli(int64(binary.BigEndian.Uint64(back[pingBytes:]))).Sub(wall.Add(t.Took / 2))
	}
	return t, nil
}

// answerPing answers a few round trips.
func (m *Mesh) answerPing(s network.Stream, _ ledger.Device) {
	var b [pingBytes + 8]byte
	for range pingsMax {
		if s.SetDeadline(time.Now().Add(pingTimeout)) != nil {
			break
		}
		if _, err := io.ReadFull(s, b[:pingBytes]); err != nil {
			break
		}
		binary.BigEndian.PutUint64(b[pingBytes:], uint64(m.c.Wall().UnixMilli()))
		if _, err := s.Write(b[:]); err != nil {
			break
		}
	}
	_ = s.Close() // whoever asked has its answers
}
