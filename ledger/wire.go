package ledger

import (
	"bytes"
	"crypto/ed25519"
	"errors"
	"fmt"
)

// A record's errors. Callers branch on whose fault it is: ErrMalformed and ErrSignature are a
// sender's, ErrTooLarge is a writer's.
var (
	ErrMalformed = errors.New("malformed record")
	ErrSignature = errors.New("bad signature")
	ErrTooLarge  = fmt.Errorf("record over %d bytes", RecordBytesMax)
)

// wirePrefix starts every record: COSE_Sign1 (RFC 9052) with the protected header {1: -8}, EdDSA, and
// an empty unprotected header. Nothing in it is negotiable, so nothing unsigned carries meaning.
var wirePrefix = []byte{0xd2, 0x84, 0x43, 0xa1, 0x01, 0x27, 0xa0}

// signatureBytes is a byte string head for 64 bytes and the signature.
const signatureBytes = 2 + ed25519.SignatureSize

// Family says which kind of ledger a record belongs to. Each has its own signature context, so that a
// record can never be taken for one of another family.
type Family uint8

// The families. FamilyUnknown is that of a kind this version does not know.
const (
	FamilyUnknown Family = iota
	Conversation
	Roster
	Lane
	Work
)

var contexts = [...]string{
	Conversation: "parley/record/1",
	Roster:       "parley/roster/1",
	Lane:         "parley/lane/1",
	Work:         "parley/work/1",
}

// String is the family's signature context.
func (f Family) String() string {
	if f == FamilyUnknown || int(f) >= len(contexts) {
		return "unknown"
	}
	return contexts[f]
}

// toBeSigned is COSE's Sig_structure: ["Signature1", protected, external_aad, payload].
func toBeSigned(f Family, body []byte) []byte {
	b := make([]byte, 0, len(body)+48)
	b = append(b, 0x84, 0x6a)
	b = append(b, "Signature1"...)
	b = append(b, 0x43, 0xa1, 0x01, 0x27)
	b = appendBytes(b, []byte(f.String()))
	return appendBytes(b, body)
}

func sign(key ed25519.PrivateKey, f Family, body []byte) []byte {
	wire := make([]byte, 0, len(body)+len(wirePrefix)+signatureBytes+5)
	wire = append(wire, wirePrefix...)
	wire = appendBytes(wire, body)
	return appendBytes(wire, ed25519.Sign(key, toBeSigned(f, body)))
}

// split takes a wire apart and checks its shape: the exact prefix, shortest heads, a canonical body, a
// signature of the right length and nothing after it.
func split(wire []byte) (body, signature []byte, err error) {
	if len(wire) > RecordBytesMax {
		return nil, nil, ErrTooLarge
	}
	if !bytes.HasPrefix(wire, wirePrefix) {
		return nil, nil, fmt.Errorf("%w: not the one COSE_Sign1 prefix", ErrMalformed)
	}
	major, length, at := head(wire, len(wirePrefix))
	if at < 0 || major != majorBytes || length > uint64(len(wire)-at) {
		return nil, nil, fmt.Errorf("%w: payload is no byte string", ErrMalformed)
	}
	body, rest := wire[at:at+int(length)], wire[at+int(length):]
	if len(rest) != signatureBytes || rest[0] != 0x58 || rest[1] != ed25519.SignatureSize {
		return nil, nil, fmt.Errorf("%w: signature is not 64 bytes at the end", ErrMalformed)
	}
	if !Canonical(body) {
		return nil, nil, fmt.Errorf("%w: body is not canonical", ErrMalformed)
	}
	return body, rest[2:], nil
}

func idOf(body []byte) ID { return hashed("parley-record-id/1\x00", body) }
