package ledger

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
)

// ID names one record: SHA-256 over its body, never over its signature.
type ID [32]byte

// TID names one ledger. It is derived from what the ledger is about, so two computers that open the
// same subject without knowing of each other write into the same ledger.
type TID [32]byte

// Device is the Ed25519 public key of one computer; libp2p's peer id is made of the same key.
type Device [32]byte

// Incarnation is drawn afresh at every process start. A restored backup or a copied disk therefore
// never continues an old chain.
type Incarnation [8]byte

// Invite names one pairing invitation.
type Invite [16]byte

// Digest is a shortened SHA-256 over a ledger's heads; equal digests mean equal ledgers.
type Digest [16]byte

// Party is who takes part in a thread: 0x00 and a device key, or 0x01 and another developer's fleet.
type Party [33]byte

// OID is a git object id in raw bytes: 20 (SHA-1) or 32 (SHA-256). The empty value means absent.
type OID string

// Path is a repository path as git stores it: bytes, never normalised.
type Path string

// Less orders identifiers bytewise.
func (id ID) Less(other ID) bool { return bytes.Compare(id[:], other[:]) < 0 }

// String is the full lower-case hexadecimal form.
func (id ID) String() string { return hex.EncodeToString(id[:]) }

// Short is the first eight hexadecimal digits, for people.
func (id ID) Short() string { return hex.EncodeToString(id[:4]) }

// Less orders ledgers bytewise.
func (t TID) Less(other TID) bool { return bytes.Compare(t[:], other[:]) < 0 }

// String is the full lower-case hexadecimal form.
func (t TID) String() string { return hex.EncodeToString(t[:]) }

// Short is the first eight hexadecimal digits, for people.
func (t TID) Short() string { return hex.EncodeToString(t[:4]) }

// Less orders devices bytewise.
func (d Device) Less(other Device) bool { return bytes.Compare(d[:], other[:]) < 0 }

// String is the full lower-case hexadecimal form.
func (d Device) String() string { return hex.EncodeToString(d[:]) }

// Short is the first eight hexadecimal digits, for people.
func (d Device) Short() string { return hex.EncodeToString(d[:4]) }

// String is the full lower-case hexadecimal form.
func (i Incarnation) String() string { return hex.EncodeToString(i[:]) }

// DeviceParty is the party of one computer of the thread's own fleet.
func DeviceParty(d Device) Party {
	var p Party
	copy(p[1:], d[:])
	return p
}

// LaneParty is the party of another developer's fleet.
func LaneParty(fleet TID) Party {
	p := Party{0: 1}
	copy(p[1:], fleet[:])
	return p
}

// Device returns the computer that the party is, if it is one.
func (p Party) Device() (Device, bool) { return Device(p[1:]), p[0] == 0 }

// Fleet returns the developer's fleet that the party is, if it is a lane.
func (p Party) Fleet() (TID, bool) { return TID(p[1:]), p[0] == 1 }

// Less orders parties bytewise.
func (p Party) Less(other Party) bool { return bytes.Compare(p[:], other[:]) < 0 }

// String prints a lane as the document writes it, and a computer by its key.
func (p Party) String() string {
	if p[0] == 1 {
		return "lane:" + hex.EncodeToString(p[1:9])
	}
	return "computer:" + hex.EncodeToString(p[1:9])
}

// ParseOID reads a git object id written in hexadecimal; "" is the absent one.
func ParseOID(s string) (OID, error) {
	b, err := hex.DecodeString(s)
	if err != nil || len(b) != 0 && len(b) != 20 && len(b) != 32 {
		return "", fmt.Errorf("object id %q: want 40 or 64 hexadecimal digits", s)
	}
	return OID(b), nil
}

// String is the hexadecimal form that git prints.
func (o OID) String() string { return hex.EncodeToString([]byte(o)) }

// Short is the first eight hexadecimal digits, for people.
func (o OID) Short() string { return hex.EncodeToString([]byte(o[:min(4, len(o))])) }

var errOIDLength = errors.New("object id: want 20 or 32 bytes")

// MarshalCBOR writes the raw bytes.
func (o OID) MarshalCBOR() ([]byte, error) { return appendBytes(nil, []byte(o)), nil }

// UnmarshalCBOR reads 20 or 32 raw bytes.
func (o *OID) UnmarshalCBOR(b []byte) error {
	v, ok := bytesOf(b)
	if !ok || len(v) != 20 && len(v) != 32 {
		return errOIDLength
	}
	*o = OID(v)
	return nil
}

// MarshalCBOR writes the path's bytes as a byte string, since git paths are bytes.
func (p Path) MarshalCBOR() ([]byte, error) { return appendBytes(nil, []byte(p)), nil }

// UnmarshalCBOR reads a byte string; [Path.Validate] judges it.
func (p *Path) UnmarshalCBOR(b []byte) error {
	v, ok := bytesOf(b)
	if !ok {
		return errors.New("path: want a byte string")
	}
	*p = Path(v)
	return nil
}

// Validate applies the static path rule, the same on every system (D-7): 1 to [PathBytesMax] bytes
// without NUL, not absolute, no empty, "." or ".." component. What may be written to disk is judged
// more strictly where it is written.
func (p Path) Validate() error {
	if len(p) == 0 || len(p) > PathBytesMax {
		return fmt.Errorf("path: length %d, want 1 to %d bytes", len(p), PathBytesMax)
	}
	for rest := []byte(p); ; {
		part, more, found := bytes.Cut(rest, []byte("/"))
		if len(part) == 0 || string(part) == "." || string(part) == ".." || bytes.IndexByte(part, 0) >= 0 {
			return fmt.Errorf("path %q: empty, . or .. component, or NUL", string(p))
		}
		if !found {
			return nil
		}
		rest = more
	}
}

func hashed(prefix string, parts ...[]byte) [32]byte {
	h := sha256.New()
	h.Write([]byte(prefix))
	for _, p := range parts {
		h.Write(p)
	}
	return [32]byte(h.Sum(nil))
}

// ConflictKey is what a conversation is about: one episode of one pull request of one repository.
type ConflictKey struct {
	_       struct{} `cbor:",toarray"`
	Host    string
	Repo    uint64 // GitHub's numeric repository id
	Pull    uint64 // pull request number
	Episode uint64 // 0 first; +1 when a pull request conflicts again after its thread has closed
}

// Thread is the ledger of this conversation.
func (k ConflictKey) Thread() TID {
	b, err := encode.Marshal(k)
	if err != nil {
		panic("ledger: a conflict key always encodes: " + err.Error())
	}
	return hashed("parley-thread/1\x00", b)
}

// FleetID is the roster's ledger and the fleet's name, from its founder's key and nonce (D-1).
func FleetID(founder Device, nonce [16]byte) TID {
	return hashed("parley-fleet/1\x00", founder[:], nonce[:])
}

// LaneID is the control ledger of the lane between two fleets, the same from both ends (D-1).
func LaneID(a, b TID) TID {
	if b.Less(a) {
		a, b = b, a
	}
	return hashed("parley-lane/1\x00", a[:], b[:])
}
