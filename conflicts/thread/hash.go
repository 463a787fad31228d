package thread

import (
	"crypto/sha256"
	"encoding/binary"

	"github.com/parley-mesh/parley/ledger"
)

// Hash is SHA-256 over the canonical encoding of what the state says: two computers that hold the same
// records have the same one. What is not followed is not in it.
func (s *State) Hash() [32]byte { return sha256.Sum256(s.canonical()) }

// canonical is the state as one array of the CBOR subset that records are written in.
func (s *State) canonical() []byte {
	var b cbor
	b.array(18)
	b.bytes(s.Ledger[:])
	b.uint(uint64(s.Phase))
	b.ids(s.Spine)
	b.uint(s.Term)
	b.uints(s.Pick)
	b.bool(s.Decided)
	b.uint(uint64(s.Responsible))
	b.bytes(s.Assign[:])
	b.bytes(s.Renewed[:])
	b.uint(s.Round)
	ready, final := ledger.ID{}, ledger.ID{}
	if s.Ready != nil {
		ready = s.Ready.ID
	}
	if s.Final != nil {
		final = s.Final.ID
	}
	b.ids([]ledger.ID{ready, final})
	b.array(uint64(len(s.Statements)))
	for _, st := range s.Statements {
		b.array(2)
		b.bytes(st.ID[:])
		b.bool(st.Agreed())
	}
	b.ids(s.Adopted)
	b.array(uint64(len(s.Gone)))
	for _, gone := range s.Gone {
		b.bool(gone)
	}
	b.uint(s.ClosedWhy)
	b.uints(s.Skipped)
	b.array(uint64(len(s.Forked)))
	for _, d := range s.Forked {
		b.bytes(d[:])
	}
	b.array(2)
	b.bool(s.Opaque)
	b.bool(s.ContestedSpine)
	return b
}

// cbor is the part of the subset that a state needs: unsigned integers, byte strings, arrays, booleans,
// each in its shortest form.
type cbor []byte

func (b *cbor) head(major byte, n uint64) {
	major <<= 5
	switch {
	case n < 24:
		*b = append(*b, major|byte(n))
	case n < 1<<8:
		*b = append(*b, major|24, byte(n))
	case n < 1<<16:
		*b = binary.BigEndian.AppendUint16(append(*b, major|25), uint16(n))
	case n < 1<<32:
		*b = binary.BigEndian.AppendUint32(append(*b, major|26), uint32(n))
	default:
		*b = binary.BigEndian.AppendUint64(append(*b, major|27), n)
	}
}

func (b *cbor) uint(n uint64)  { b.head(0, n) }
func (b *cbor) array(n uint64) { b.head(4, n) }

func (b *cbor) bytes(v []byte) {
	b.head(2, uint64(len(v)))
	*b = append(*b, v...)
}

func (b *cbor) bool(v bool) {
	octet := byte(0xf4)
	if v {
		octet = 0xf5
	}
	*b = append(*b, octet)
}

func (b *cbor) uints(all []uint64) {
	b.array(uint64(len(all)))
	for _, n := range all {
		b.uint(n)
	}
}

func (b *cbor) ids(all []ledger.ID) {
	b.array(uint64(len(all)))
	for _, id := range all {
		b.bytes(id[:])
	}
}
