package ledger

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
)

// NamesKey is the key by which one end of a lane hides the names in the live work that it shares ([LaneOn.Names]); zero:
// it shows them.
type NamesKey = [32]byte

// HideName is a path, an id of a symbol or contract, or a pattern as a hidden one is written. Two are equal where the
// names are, and nothing else can be read from them without trying names with the key.
func HideName(key NamesKey, name string) string {
	sum := hidden(key, []byte(name))
	return "~" + hex.EncodeToString(sum[:16])
}

// HideOID is a git id as a hidden one is written; the absent one stays absent.
func HideOID(key NamesKey, o OID) OID {
	sum := hidden(key, []byte(o))
	return OID(sum[:min(len(o), len(sum))])
}

// HideHash is the hash of a hunk's lines as a hidden one is written.
func HideHash(key NamesKey, n uint64) uint64 {
	sum := hidden(key, binary.BigEndian.AppendUint64(nil, n))
	return binary.BigEndian.Uint64(sum[:8])
}

func hidden(key NamesKey, what []byte) [32]byte {
	h := hmac.New(sha256.New, key[:])
	h.Write([]byte("parley-hidden/1\x00"))
	h.Write(what)
	return [32]byte(h.Sum(nil))
}
