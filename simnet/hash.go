package simnet

import (
	"encoding/binary"

	"github.com/parley-mesh/parley/conflicts/thread"
	"github.com/parley-mesh/parley/ledger"
)

// mixer sums up values in order.
type mixer uint64

func (m *mixer) word(v uint64) {
	x := (uint64(*m) ^ v) * 0x9e3779b97f4a7c15
	*m = mixer(x ^ x>>29)
}

func (m *mixer) id(id ledger.ID) {
	m.word(binary.BigEndian.Uint64(id[:8]))
}

func (m *mixer) flag(b bool) {
	if b {
		m.word(1)
	} else {
		m.word(2)
	}
}

// stateHash sums up everything that a fold computed, which is more than the state's own hash covers. It is cheap,
// since it is taken after every fold, and never leaves the simulator.
func stateHash(s *thread.State) uint64 {
	m := mixer(1)
	m.word(uint64(s.Phase))
	for _, id := range s.Spine {
		m.id(id)
	}
	m.word(s.Term)
	for _, p := range s.Pick {
		m.word(p)
	}
	m.flag(s.Decided)
	m.word(uint64(s.Responsible))
	m.id(s.Assign)
	m.id(s.Renewed)
	m.word(s.Round)
	m.word(uint64(s.Reassigns))
	for _, i := range s.Successors {
		m.word(uint64(i))
	}
	for _, st := range s.Statements {
		m.id(st.ID)
	}
	if s.Ready != nil {
		m.id(s.Ready.ID)
	}
	if s.Final != nil {
		m.id(s.Final.ID)
	}
	for i, id := range s.Adopted {
		m.id(id)
		for _, r := range s.Results[i] {
			m.word(uint64(r))
		}
	}
	for _, gone := range s.Gone {
		m.flag(gone)
	}
	m.word(s.ClosedWhy)
	for _, i := range s.Skipped {
		m.word(i)
	}
	m.flag(s.Opaque)
	for _, d := range s.Forked {
		m.word(binary.BigEndian.Uint64(d[:8]))
	}
	m.flag(s.ContestedSpine)
	m.word(uint64(len(s.Refused)))
	for _, r := range s.Refused {
		m.id(r.Record.ID)
	}
	return uint64(m)
}
