package disk

import (
	"encoding/binary"

	"github.com/parley-mesh/parley/ledger"
)

// The key space, binary and big-endian, so that iteration gives chain order.
//
//	r ledger32 device32 inc8 seq8        → wire
//	e ledger32 device32 inc8 seq8 id32   → wire of another record at a place that is taken
//	i id32                               → key of the record
//	h ledger32 device32 inc8             → next8 id32 lam8
//	f ledger32                           → family
//	n key                                → a node's own value
const (
	prefixRecord = 'r'
	prefixFork   = 'e'
	prefixID     = 'i'
	prefixHead   = 'h'
	prefixFamily = 'f'
	prefixOwn    = 'n'
)

const (
	chainBytes  = 1 + 32 + 32 + 8
	recordBytes = chainBytes + 8
	headBytes   = 8 + 32 + 8
)

func ledgerPrefix(prefix byte, tid ledger.TID) []byte {
	return append([]byte{prefix}, tid[:]...)
}

func chainPrefix(prefix byte, tid ledger.TID, c ledger.Chain) []byte {
	b := append(make([]byte, 0, recordBytes), prefix)
	b = append(b, tid[:]...)
	b = append(b, c.Device[:]...)
	return append(b, c.Inc[:]...)
}

func recordKey(tid ledger.TID, c ledger.Chain, seq uint64) []byte {
	return binary.BigEndian.AppendUint64(chainPrefix(prefixRecord, tid, c), seq)
}

func forkKey(r *ledger.Record) []byte {
	b := binary.BigEndian.AppendUint64(chainPrefix(prefixFork, r.Ledger, r.Chain()), r.Seq)
	return append(b, r.ID[:]...)
}

func idKey(id ledger.ID) []byte { return append([]byte{prefixID}, id[:]...) }

func ownKey(key []byte) []byte { return append([]byte{prefixOwn}, key...) }

func headValue(h ledger.Head) []byte {
	b := binary.BigEndian.AppendUint64(make([]byte, 0, headBytes), h.Next)
	b = append(b, h.ID[:]...)
	return binary.BigEndian.AppendUint64(b, h.Lam)
}

// headOf reads a head from its key and value; ok is false when they are not of the right form.
func headOf(key, value []byte) (tid ledger.TID, h ledger.Head, ok bool) {
	if len(key) != chainBytes || len(value) != headBytes {
		return tid, h, false
	}
	copy(tid[:], key[1:33])
	copy(h.Device[:], key[33:65])
	copy(h.Inc[:], key[65:73])
	h.Next = binary.BigEndian.Uint64(value)
	copy(h.ID[:], value[8:40])
	h.Lam = binary.BigEndian.Uint64(value[40:])
	return tid, h, true
}
