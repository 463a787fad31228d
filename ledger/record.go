package ledger

import (
	"bytes"
	"crypto/ed25519"
	"errors"
	"fmt"
	"slices"

	"github.com/fxamacker/cbor/v2"
)

// Version is the only body version; it is bound to the protocol and topic names.
const Version = 1

// Kind names what a record says.
type Kind string

// Header is what every record carries, whatever its kind. Zero values of the optional fields mean
// absent and are never encoded.
type Header struct {
	V      uint64      `cbor:"1,keyasint"`
	Kind   Kind        `cbor:"2,keyasint"`
	Ledger TID         `cbor:"3,keyasint"`
	Device Device      `cbor:"4,keyasint"`            // author
	Inc    Incarnation `cbor:"5,keyasint"`            // the author's process
	Seq    uint64      `cbor:"6,keyasint"`            // place in the chain (Ledger, Device, Inc), from 0
	Prev   ID          `cbor:"7,keyasint,omitzero"`   // the record at Seq-1; absent iff Seq is 0
	Spine  ID          `cbor:"8,keyasint,omitzero"`   // spine records but open: the spine record this follows
	Open   ID          `cbor:"9,keyasint,omitzero"`   // the open that this record belongs to
	Re     []ID        `cbor:"10,keyasint,omitempty"` // what this record answers
	Claim  ID          `cbor:"11,keyasint,omitzero"`  // spine records: the main-claim it is made under
	Lam    uint64      `cbor:"12,keyasint"`           // logical time; orders one party's own statements
	At     uint64      `cbor:"13,keyasint"`           // author's wall clock, Unix milliseconds; display and deadline origin
	Turns  uint64      `cbor:"14,keyasint,omitempty"` // agent turns spent by this device in this thread and round
	Body   Raw         `cbor:"15,keyasint"`           // the kind's own map
	Deps   []ID        `cbor:"17,keyasint,omitempty"` // roster only: heads known to the author
	Scope  Scope       `cbor:"18,keyasint,omitzero"`  // live work only: what the ledger is about, exactly in a chain's first record
	Share  ID          `cbor:"19,keyasint,omitzero"`  // live work for a lane: the on that shares it, exactly in a chain's first record
	For    Place       `cbor:"20,keyasint,omitzero"`  // live work for a lane: the record at home in whose place this one stands
}

// Body is the part of a record that is particular to its kind. The set is sealed: only the types of
// this package implement it.
type Body interface {
	// Kind is the record kind that the body belongs to.
	Kind() Kind
	// check applies the static rules: those that look at this record alone, with the same verdict on
	// every computer for ever.
	check(h *Header) error
}

// Raw is one item of parley's CBOR subset as it was read.
type Raw []byte

// MarshalCBOR is the item itself; the absent one is null, which no reader takes.
func (r Raw) MarshalCBOR() ([]byte, error) {
	if len(r) == 0 {
		return []byte{simpleNull}, nil
	}
	return r, nil
}

// UnmarshalCBOR keeps a copy of the item.
func (r *Raw) UnmarshalCBOR(b []byte) error {
	*r = bytes.Clone(b)
	return nil
}

// Record is one record that has been taken apart.
type Record struct {
	Header
	ID      ID
	Wire    []byte // exactly as signed and sent
	Content Body   // nil for a kind that this version does not know
	// Opaque is set when the record holds something this version must not act around: an unknown kind
	// or a critical unknown key (16 to 63). It is stored and passed on all the same.
	Opaque bool
}

var (
	encode = mustEncode()
	decode = mustDecode()
)

func mustEncode() cbor.EncMode {
	o := cbor.CoreDetEncOptions()
	o.NaNConvert = cbor.NaNConvertReject
	o.InfConvert = cbor.InfConvertReject
	o.TagsMd = cbor.TagsForbidden
	o.BigIntConvert = cbor.BigIntConvertReject
	m, err := o.EncMode()
	if err != nil {
		panic("ledger: encoding options: " + err.Error())
	}
	return m
}

func mustDecode() cbor.DecMode {
	m, err := cbor.DecOptions{
		DupMapKey:        cbor.DupMapKeyEnforcedAPF,
		IndefLength:      cbor.IndefLengthForbidden,
		TagsMd:           cbor.TagsForbidden,
		MaxNestedLevels:  DepthMax + 8,
		MaxArrayElements: entriesMax,
		MaxMapPairs:      pairsMax,
		UTF8:             cbor.UTF8RejectInvalid,
		IntDec:           cbor.IntDecConvertSignedOrFail,
		BignumTag:        cbor.BignumTagForbidden,
		NaN:              cbor.NaNDecodeForbidden,
		Inf:              cbor.InfDecodeForbidden,
	}.DecMode()
	if err != nil {
		panic("ledger: decoding options: " + err.Error())
	}
	return m
}

// Family is the family that the record's kind belongs to.
func (r *Record) Family() Family { return r.Kind.Family() }

// Chain names the chain that the record is part of.
func (r *Record) Chain() Chain { return Chain{r.Device, r.Inc} }

// Verify checks the signature under the context of the family that the record arrived in. Nothing verifies
// under [FamilyUnknown], which has no context. Errors are [ErrSignature], and those of [Parse].
func (r *Record) Verify(f Family) error {
	if f == FamilyUnknown || int(f) >= len(contexts) {
		return fmt.Errorf("%w: family %d has no context", ErrSignature, f)
	}
	if own := r.Family(); own != FamilyUnknown && own != f {
		return fmt.Errorf("%w: a %s record in a ledger of %s", ErrSignature, r.Kind, f)
	}
	body, signature, err := split(r.Wire)
	if err != nil {
		return err
	}
	if !ed25519.Verify(r.Device[:], toBeSigned(f, body), signature) {
		return ErrSignature
	}
	return nil
}

// Parse takes the bytes of one record apart and applies every static rule but the signature's. The
// result aliases wire, which must not change afterwards. Errors are [ErrTooLarge] or [ErrMalformed].
func Parse(wire []byte) (*Record, error) {
	body, _, err := split(wire)
	if err != nil {
		return nil, err
	}
	r := &Record{ID: idOf(body), Wire: wire}
	if r.Header, r.Opaque, err = readHeader(body); err != nil {
		return nil, fmt.Errorf("%w: header: %v", ErrMalformed, err)
	}
	if err := r.Header.check(); err != nil {
		return nil, fmt.Errorf("%w: %v", ErrMalformed, err)
	}
	if err := r.parseContent(); err != nil {
		return nil, fmt.Errorf("%w: %s: %v", ErrMalformed, r.Kind, err)
	}
	return r, nil
}

func (r *Record) parseContent() error {
	content, keys := newBody(r.Kind)
	if content == nil {
		r.Opaque = true
		if !limited(r.Header.Body) {
			return fmt.Errorf("a map of over %d pairs or a list of over %d entries", pairsMax, entriesMax)
		}
		return nil
	}
	if err := decode.Unmarshal(r.Header.Body, content); err != nil {
		return err
	}
	known, critical := sift(r.Header.Body, keys, lateKeys(r.Kind)...)
	if critical {
		r.Opaque = true
	}
	if again, err := encode.Marshal(content); err != nil || !bytes.Equal(again, known) {
		return errors.New("a field is absent and written out, or a nested map has an unknown key")
	}
	r.Content = content
	return content.check(&r.Header)
}

func (h *Header) check() error {
	switch {
	case h.V != Version:
		return fmt.Errorf("version %d, want %d", h.V, Version)
	case !h.Kind.wellFormed():
		return fmt.Errorf("kind %q, want 1 to 16 of a-z and -", string(h.Kind))
	case (h.Seq == 0) != (h.Prev == ID{}):
		return errors.New("prev is absent exactly in the first record of a chain")
	case len(h.Re) > AnswersMax:
		return fmt.Errorf("answers %d records, at most %d", len(h.Re), AnswersMax)
	case len(h.Deps) > DepsMax:
		return fmt.Errorf("names %d roster heads, at most %d", len(h.Deps), DepsMax)
	case h.Lam > LamportMax:
		return errors.New("logical time out of range")
	case len(h.Body) == 0 || h.Body[0]>>5 != majorMap:
		return errors.New("body is no map")
	}
	return nil
}

func (k Kind) wellFormed() bool {
	for _, c := range []byte(k) {
		if (c < 'a' || c > 'z') && c != '-' {
			return false
		}
	}
	return len(k) >= 1 && len(k) <= 16
}

// Seal makes the record that says content, written by the holder of key. The header's V, Kind,
// Device and Body are filled in; everything else is the caller's. A record is sealed once and never
// rebuilt, re-timed or signed again. Errors are [ErrTooLarge], and the writer's own mistakes.
func Seal(key ed25519.PrivateKey, h Header, content Body) (*Record, error) {
	raw, err := encode.Marshal(content)
	if err != nil {
		return nil, fmt.Errorf("seal %s: %v", content.Kind(), err)
	}
	h.V, h.Kind, h.Body = Version, content.Kind(), raw
	h.Device = Device(key.Public().(ed25519.PublicKey))
	body, err := encode.Marshal(h)
	if err != nil {
		return nil, fmt.Errorf("seal %s: %v", content.Kind(), err)
	}
	r, err := Parse(sign(key, h.Kind.Family(), body))
	if err != nil {
		return nil, fmt.Errorf("seal %s: %w", content.Kind(), err)
	}
	if r.Opaque {
		return nil, fmt.Errorf("seal %s: roster heads belong to rosters", content.Kind())
	}
	return r, nil
}

// sift returns a map without its unknown keys, re-encoded, and whether one of those was critical:
// 16 to 63 are, 64 and above may be passed over. Unknown keys below 16 cannot occur, since every
// version shares them; they count as critical. b is canonical.
func sift(b []byte, keys uint64, also ...uint64) (known []byte, critical bool) {
	_, count, at := head(b, 0)
	if at < 0 || b[0]>>5 != majorMap {
		return nil, true
	}
	kept := make([]byte, 0, len(b))
	var n uint64
	for range count {
		start := at
		major, key, _ := head(b, at)
		at = item(b, item(b, at, 0), 0)
		switch {
		case major == majorUint && (key < 64 && keys&(1<<key) != 0 || slices.Contains(also, key)):
			kept = append(kept, b[start:at]...)
			n++
		case major != majorUint || key < 64:
			critical = true
		}
	}
	return append(appendHead(nil, majorMap, n), kept...), critical
}

// lateKeys are the keys of a kind's body that those who do not know them pass over.
func lateKeys(k Kind) []uint64 {
	if k == KindEdit {
		return []uint64{64}
	}
	return nil
}

// headerKeys is the set of header keys known for a family, as bits.
func headerKeys(f Family) uint64 {
	const common = 0xfffe // 1 to 15
	switch f {
	case Roster:
		return common | 1<<17
	case Work:
		return common | 1<<18 | 1<<19 | 1<<20
	}
	return common
}
