package ledger

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"slices"
)

// Chain names one chain of a ledger: what one process of one device wrote in it.
type Chain struct {
	Device Device
	Inc    Incarnation
}

// Compare orders chains bytewise, by device, then incarnation.
func (c Chain) Compare(other Chain) int {
	return cmp.Or(bytes.Compare(c.Device[:], other.Device[:]), bytes.Compare(c.Inc[:], other.Inc[:]))
}

// Head is how far a chain is held without a gap.
type Head struct {
	Chain
	Next uint64 // sequence number that comes next
	ID   ID     // the record at Next-1
	Lam  uint64 // its logical time
}

// DigestOf sums up a ledger's heads: equal digests mean equal ledgers. The order given is irrelevant.
func DigestOf(heads []Head) Digest {
	sorted := slices.Clone(heads)
	slices.SortFunc(sorted, func(a, b Head) int { return a.Compare(b.Chain) })
	h := sha256.New()
	for _, c := range sorted {
		var next [8]byte
		binary.BigEndian.PutUint64(next[:], c.Next)
		h.Write(c.Device[:])
		h.Write(c.Inc[:])
		h.Write(next[:])
		h.Write(c.ID[:])
	}
	return Digest(h.Sum(nil)[:16])
}

// Listing is one ledger and its digest.
type Listing struct {
	_      struct{} `cbor:",toarray"`
	Ledger TID
	Digest Digest
}

// DigestAll sums up a set of ledgers. The order given is irrelevant.
func DigestAll(all []Listing) Digest {
	sorted := slices.Clone(all)
	slices.SortFunc(sorted, func(a, b Listing) int { return bytes.Compare(a.Ledger[:], b.Ledger[:]) })
	h := sha256.New()
	for _, l := range sorted {
		h.Write(l.Ledger[:])
		h.Write(l.Digest[:])
	}
	return Digest(h.Sum(nil)[:16])
}

// Extends reports whether r is the record that a chain at head is continued by: next in sequence, named
// as predecessor, and with a logical time that moves forward by at most [LamportJumpMax].
func (h Head) Extends(r *Record) bool {
	return r.Chain() == h.Chain && r.Seq == h.Next && r.Prev == h.ID &&
		(r.Seq == 0 || r.Lam > h.Lam && r.Lam-h.Lam <= LamportJumpMax)
}

// After is the head once r has been appended.
func (h Head) After(r *Record) Head {
	return Head{Chain: h.Chain, Next: r.Seq + 1, ID: r.ID, Lam: r.Lam}
}
