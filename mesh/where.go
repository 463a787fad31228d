package mesh

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"slices"
	"time"

	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/peerstore"
	"github.com/libp2p/go-libp2p/core/protocol"
	"github.com/libp2p/go-libp2p/core/record"

	"github.com/parley-mesh/parley/ledger"
)

// Two computers that joined by a third have never met. On this protocol a computer says where it listens, and
// another one of the fleet answers where itself and the rest do. What is said are the address records that each
// of them signed itself, as libp2p has them, every one with its length in front as an unsigned varint.
const whereProtocol protocol.ID = "/parley/where/1"

const (
	whereTimeout = 5 * time.Second
	whereMax     = 256     // records in one answer
	placeMax     = 8 << 10 // bytes of one record
)

// place is where a member listens, in its own words.
type place struct {
	seq    uint64 // grows with every change
	signed []byte
}

// ownPlace is the address record of this computer, nil before it has one.
func (m *Mesh) ownPlace() []byte {
	book, ok := peerstore.GetCertifiedAddrBook(m.host.Peerstore())
	if !ok {
		return nil
	}
	e := book.GetPeerRecord(m.host.ID())
	if e == nil {
		return nil
	}
	signed, err := e.Marshal()
	if err != nil {
		return nil
	}
	return signed
}

// takePlace keeps an address record if its member signed it, and it says something new. It reports whether
// there is somebody new to dial.
func (m *Mesh) takePlace(from ledger.Device, signed []byte) bool {
	var r peer.PeerRecord
	e, err := record.ConsumeTypedEnvelope(signed, &r)
	if err != nil || !r.PeerID.MatchesPublicKey(e.PublicKey) || r.PeerID == m.host.ID() || !m.mayTell(from, r.PeerID) {
		return false
	}
	d, ok := deviceOf(r.PeerID)
	if !ok || len(r.Addrs) == 0 {
		return false
	}
	m.mu.Lock()
	have, ok := m.places[d]
	news := !ok || have.seq < r.Seq
	if news {
		m.places[d] = place{seq: r.Seq, signed: bytes.Clone(signed)}
		m.addrs[d] = r.Addrs
	}
	s := m.status[d]
	away := s == nil || !s.Connected
	m.mu.Unlock()
	if !news {
		return false
	}
	m.learnFrom(r.PeerID, r.Addrs)
	if !away {
		m.tellMoved(d, r.Addrs)
	}
	return away
}

// askWhere learns from a member where the others listen, and lets those be dialled who are away.
func (m *Mesh) askWhere(d ledger.Device) {
	id, err := peerOf(d)
	if err != nil {
		return
	}
	ctx, cancel := context.WithTimeout(m.ctx, whereTimeout)
	defer cancel()
	s, err := m.host.NewStream(reachable(ctx), id, whereProtocol)
	if err != nil {
		return
	}
	told, err := m.exchangePlaces(s)
	if err != nil {
		_ = s.Reset() // nothing more comes of it
		return
	}
	_ = s.Close() // the answer is here
	news := false
	for _, signed := range told {
		news = m.takePlace(d, signed) || news
	}
	if news {
		m.dialNow()
	}
}

func (m *Mesh) exchangePlaces(s network.Stream) ([][]byte, error) {
	if err := s.SetDeadline(time.Now().Add(whereTimeout)); err != nil {
		return nil, err
	}
	if _, err := s.Write(appendPlace(nil, m.ownPlace())); err != nil {
		return nil, err
	}
	if err := s.CloseWrite(); err != nil {
		return nil, err
	}
	return readPlaces(s)
}

func appendPlace(out, signed []byte) []byte {
	if len(signed) == 0 || len(signed) > placeMax {
		return out
	}
	return append(binary.AppendUvarint(out, uint64(len(signed))), signed...)
}

func readPlaces(s io.Reader) (out [][]byte, err error) {
	r := bufio.NewReader(s)
	for {
		n, err := binary.ReadUvarint(r)
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil || n > placeMax || len(out) == whereMax {
			return nil, errors.Join(errPeer, err)
		}
		signed := make([]byte, n)
		if _, err := io.ReadFull(r, signed); err != nil {
			return nil, err
		}
		out = append(out, signed)
	}
}

// answerWhere hears where a member listens, and tells what this computer and the others that are still members
// said of themselves.
func (m *Mesh) answerWhere(s network.Stream, asker ledger.Device) {
	err := func() error {
		if err := s.SetDeadline(time.Now().Add(whereTimeout)); err != nil {
			return err
		}
		said, err := readPlaces(s)
		if err != nil {
			return err
		}
		for _, signed := range said {
			m.takePlace(asker, signed)
		}
		_, err = s.Write(m.placesFor(asker))
		return err
	}()
	if err != nil {
		_ = s.Reset() // nothing more comes of it
		return
	}
	_ = s.Close() // the answer is on its way
}

func (m *Mesh) placesFor(asker ledger.Device) []byte {
	out := appendPlace(nil, m.ownPlace())
	m.mu.Lock()
	defer m.mu.Unlock()
	var devices []ledger.Device
	for d := range m.places {
		if id, err := peerOf(d); err == nil && d != asker && m.mayHear(asker, id) {
			devices = append(devices, d)
		}
	}
	slices.SortFunc(devices, func(a, b ledger.Device) int { return bytes.Compare(a[:], b[:]) })
	for _, d := range devices[:min(len(devices), whereMax-1)] {
		out = appendPlace(out, m.places[d].signed)
	}
	return out
}

// mayTell reports whether a peer's word about where another one listens is taken: members speak of everybody who is
// known here, another developer's computers of their own fleet.
func (m *Mesh) mayTell(from ledger.Device, about peer.ID) bool {
	p, err := peerOf(from)
	if err != nil {
		return false
	}
	if fleet, ok := m.gate.lane(p); ok {
		theirs, ok := m.gate.lane(about)
		return ok && theirs == fleet
	}
	return m.gate.member(p) && m.gate.known(about)
}

// mayHear reports whether a peer is told where another one listens: members of everybody, another developer's
// computers of this fleet's alone, so that any of theirs finds any of these.
func (m *Mesh) mayHear(asker ledger.Device, about peer.ID) bool {
	p, err := peerOf(asker)
	if err != nil {
		return false
	}
	if _, ok := m.gate.lane(p); ok {
		return m.gate.member(about)
	}
	return m.gate.member(p) && m.gate.known(about)
}
