package disk

import (
	"bytes"
	"cmp"
	"encoding/binary"

	"github.com/parley-mesh/parley/ledger"
)

// The key space, binary and big-endian, so that iteration gives chain order and, at a contended place,
// the lowest id first.
//
//	m name                               → the store's own
//	r ledger32 device32 inc8 seq8 id32   → wire
//	i id32                               → ledger32 device32 inc8 seq8
//	h ledger32 device32 inc8             → next8 id32 lam8 top8
//	f ledger32                           → family
//	n key                                → a node's own value
//	t ledger32                           → kept1 digest16 frame of a tomb
//	x key of a record                    → bytes that Check could not read as that record
const (
	prefixMeta   = 'm'
	prefixRecord = 'r'
	prefixID     = 'i'
	prefixHead   = 'h'
	prefixFamily = 'f'
	prefixOwn    = 'n'
	prefixGrave  = 't'
	prefixAside  = 'x'
)

const (
	chainBytes  = 1 + 32 + 32 + 8
	placeBytes  = chainBytes + 8
	recordBytes = placeBytes + 32
	headBytes   = 8 + 32 + 8 + 8
)

// line names one chain of one ledger.
type line struct {
	tid ledger.TID
	ledger.Chain
}

func (l line) compare(o line) int {
	return cmp.Or(compare(l.tid, o.tid), l.Chain.Compare(o.Chain))
}

func compare(a, b ledger.TID) int { return bytes.Compare(a[:], b[:]) }

func lineOf(r *ledger.Record) line { return line{r.Ledger, r.Chain()} }

func ledgerKey(prefix byte, tid ledger.TID) []byte { return append([]byte{prefix}, tid[:]...) }

func lineKey(prefix byte, l line) []byte {
	b := append(make([]byte, 0, recordBytes), prefix)
	b = append(b, l.tid[:]...)
	b = append(b, l.Device[:]...)
	return append(b, l.Inc[:]...)
}

// placeKey is the prefix of the records that contend for one place.
func placeKey(l line, seq uint64) []byte {
	return binary.BigEndian.AppendUint64(lineKey(prefixRecord, l), seq)
}

func recordKey(r *ledger.Record) []byte { return append(placeKey(lineOf(r), r.Seq), r.ID[:]...) }

// recordPlace reads a record's key; ok is false when it is not of the right form.
func recordPlace(key []byte) (l line, seq uint64, id ledger.ID, ok bool) {
	if len(key) != recordBytes || key[0] != prefixRecord {
		return l, 0, id, false
	}
	return lineAt(key), binary.BigEndian.Uint64(key[chainBytes:]), ledger.ID(key[placeBytes:]), true
}

// lineAt reads the chain after a key's prefix. The key is long enough.
func lineAt(key []byte) line {
	return line{ledger.TID(key[1:33]), ledger.Chain{Device: ledger.Device(key[33:65]), Inc: ledger.Incarnation(key[65:73])}}
}

func idKey(id ledger.ID) []byte { return append([]byte{prefixID}, id[:]...) }

func ownKey(key []byte) []byte { return append([]byte{prefixOwn}, key...) }

func metaKey(name string) []byte { return append([]byte{prefixMeta}, name...) }

// chain is how far one chain is held.
type chain struct {
	head ledger.Head
	top  uint64 // one past the highest place where a record is stored
	gap  bool   // a record is stored beyond head.Next, and none at it
}

func (c chain) value() []byte {
	b := binary.BigEndian.AppendUint64(make([]byte, 0, headBytes), c.head.Next)
	b = append(b, c.head.ID[:]...)
	b = binary.BigEndian.AppendUint64(b, c.head.Lam)
	return binary.BigEndian.AppendUint64(b, c.top)
}

// chainOf reads a head's key and value; ok is false when they are not of the right form.
func chainOf(key, value []byte) (l line, c chain, ok bool) {
	if len(key) != chainBytes || len(value) != headBytes {
		return l, c, false
	}
	l = lineAt(key)
	c.head = ledger.Head{
		Chain: l.Chain, Next: binary.BigEndian.Uint64(value), ID: ledger.ID(value[8:40]),
		Lam: binary.BigEndian.Uint64(value[40:]),
	}
	c.top = binary.BigEndian.Uint64(value[48:])
	return l, c, true
}
