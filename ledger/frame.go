package ledger

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// ErrFrame is a malformed frame: the peer's fault, and the end of the exchange.
var ErrFrame = errors.New("malformed frame")

// FrameType names what a frame of the catch-up or pairing protocol says. Frames are written as an
// unsigned varint length and one map of parley's CBOR subset, whose key 1 is the type.
type FrameType uint64

// The frames of /parley/sync/1, /parley/made/1, /parley/press/1, /parley/lines/1 and /parley/pair/1.
const (
	FrameHello      FrameType = 1
	FrameDetail     FrameType = 2
	FrameList       FrameType = 3
	FrameBuckets    FrameType = 4
	FrameBucket     FrameType = 5
	FrameHave       FrameType = 6
	FrameRecords    FrameType = 7
	FrameTomb       FrameType = 8
	FrameBye        FrameType = 9
	FrameMade       FrameType = 10
	FrameMadeReply  FrameType = 11
	FramePress      FrameType = 12
	FramePressReply FrameType = 13
	FrameLines      FrameType = 14
	FrameLinesReply FrameType = 15
	FrameChallenge  FrameType = 16
	FrameJoin       FrameType = 17
	FrameWelcome    FrameType = 18
	FrameAccept     FrameType = 19
	FrameLaneJoin   FrameType = 20
	FrameLaneYes    FrameType = 21
)

// Frame is one message of the catch-up or pairing protocol. The set is sealed.
type Frame interface {
	frame() FrameType
	bounded() bool
}

// Hello opens an exchange in both directions. Equal digests end it at once (D-6).
type Hello struct {
	Type    FrameType   `cbor:"1,keyasint"`
	Version uint64      `cbor:"2,keyasint"`
	Inc     Incarnation `cbor:"3,keyasint"`
	Now     uint64      `cbor:"4,keyasint"` // sender's wall clock, Unix milliseconds
	Digest  Digest      `cbor:"5,keyasint"` // [DigestAll] over every visible ledger
	// Features is what the sender knows beyond the first protocol, as bits. Who does not know the key
	// passes over it.
	Features uint64 `cbor:"64,keyasint,omitempty"`
}

// FeatureStages says in a [Hello] that its sender compares open threads and groups of ledgers before it
// lists anything.
const FeatureStages = 1

// FeatureTombs says that its sender takes a [Tomb] in place of a closed thread's records.
const FeatureTombs = 2

// frameExtra is the key from 64 on that a greeting and a have know.
const frameExtra = 64

// Detail follows a difference: which part differs, and what own computers share beyond records.
type Detail struct {
	Type     FrameType   `cbor:"1,keyasint"`
	Fleet    TID         `cbor:"2,keyasint"`
	Roster   Digest      `cbor:"3,keyasint"`
	Open     Digest      `cbor:"4,keyasint"` // over the threads that are not closed
	Root     Digest      `cbor:"5,keyasint"`
	Features uint64      `cbor:"6,keyasint,omitempty"`
	Authored [][2]uint64 `cbor:"7,keyasint,omitempty"` // own fleet: pull requests authored there, [repository, number]
}

// List names ledgers and their digests.
type List struct {
	Type    FrameType `cbor:"1,keyasint"`
	Scope   uint64    `cbor:"2,keyasint"` // ListOpen or ListAll
	Entries []Listing `cbor:"3,keyasint,omitempty"`
	More    bool      `cbor:"4,keyasint,omitempty"` // another list frame of the scope follows
}

// Scopes of a [List].
const (
	ListOpen = 1
	ListAll  = 2
)

// Buckets sums up every visible ledger in 256 groups by the first byte of its id.
type Buckets struct {
	Type    FrameType `cbor:"1,keyasint"`
	Digests []byte    `cbor:"2,keyasint"` // 256 digests in order, 4,096 bytes
}

// Bucket lists the ledgers of one group.
type Bucket struct {
	Type    FrameType `cbor:"1,keyasint"`
	Index   uint64    `cbor:"2,keyasint"`
	Entries []Listing `cbor:"3,keyasint,omitempty"`
	More    bool      `cbor:"4,keyasint,omitempty"`
}

// Position is how far a sender holds one chain.
type Position struct {
	_      struct{} `cbor:",toarray"`
	Device Device
	Inc    Incarnation
	Next   uint64
}

// Have says how far the sender holds a ledger, read from disk at that moment.
type Have struct {
	Type      FrameType  `cbor:"1,keyasint"`
	Ledger    TID        `cbor:"2,keyasint"`
	Positions []Position `cbor:"3,keyasint,omitempty"`
	More      bool       `cbor:"4,keyasint,omitempty"`
	// Digest is [DigestOf] over what the sender held at that moment, in the last part of a ledger's. It tells
	// two that became equal meanwhile from two that hold branches of one length. Who does not know the key
	// passes over it.
	Digest Digest `cbor:"64,keyasint,omitzero"`
}

// Records carries records of one ledger in chain order.
type Records struct {
	Type   FrameType `cbor:"1,keyasint"`
	Ledger TID       `cbor:"2,keyasint"`
	Family Family    `cbor:"3,keyasint"`
	Wires  [][]byte  `cbor:"4,keyasint"`
}

// Tomb stands for a closed thread whose leaves were pruned.
type Tomb struct {
	Type   FrameType `cbor:"1,keyasint"`
	Ledger TID       `cbor:"2,keyasint"`
	Open   []byte    `cbor:"3,keyasint"`
	Spine  [][]byte  `cbor:"4,keyasint"`
	Digest Digest    `cbor:"5,keyasint"`
}

// Bye ends the sender's half of an exchange.
type Bye struct {
	Type FrameType `cbor:"1,keyasint"`
	Code uint64    `cbor:"2,keyasint"`
}

// Codes of a [Bye].
const (
	ByeDone       = 0
	ByeBusy       = 1
	ByeNotAllowed = 2
	ByeVersion    = 3
	ByeRefused    = 4 // pairing: nothing was proved
	ByeUsed       = 5 // pairing, to who proved the secret: the code was used or burnt already
	ByeExpired    = 6 // likewise: its time is over
	ByeDeclined   = 7 // likewise: the person said no, or cancelled the invitation
)

// Made asks another computer of the fleet whether its clone made the head of a pull request (D-11).
type Made struct {
	Type FrameType `cbor:"1,keyasint"`
	Repo uint64    `cbor:"2,keyasint"`
	Pull uint64    `cbor:"3,keyasint"`
	Head OID       `cbor:"4,keyasint"`
}

// MadeReply answers [Made].
type MadeReply struct {
	Type FrameType `cbor:"1,keyasint"`
	Yes  bool      `cbor:"2,keyasint"`
}

// Challenge opens pairing: the inviter's nonce.
type Challenge struct {
	Type  FrameType `cbor:"1,keyasint"`
	Nonce [16]byte  `cbor:"2,keyasint"`
}

// Join proves the invitation's secret, bound to both authenticated transport keys and both nonces.
type Join struct {
	Type    FrameType `cbor:"1,keyasint"`
	Version uint64    `cbor:"2,keyasint"`
	Invite  Invite    `cbor:"3,keyasint"`
	Name    string    `cbor:"4,keyasint"`
	Nonce   [16]byte  `cbor:"5,keyasint"`
	MAC     [32]byte  `cbor:"6,keyasint"`
}

// Welcome names the fleet after the secret has proved right; both sides now show the same words.
type Welcome struct {
	Type  FrameType `cbor:"1,keyasint"`
	Fleet TID       `cbor:"2,keyasint"`
	Name  string    `cbor:"3,keyasint"` // the inviter's
}

// Accept carries the joiner's countersignature over [JoinStatement].
type Accept struct {
	Type   FrameType `cbor:"1,keyasint"`
	Accept Signature `cbor:"2,keyasint"`
}

func (*Hello) frame() FrameType     { return FrameHello }
func (*Detail) frame() FrameType    { return FrameDetail }
func (*List) frame() FrameType      { return FrameList }
func (*Buckets) frame() FrameType   { return FrameBuckets }
func (*Bucket) frame() FrameType    { return FrameBucket }
func (*Have) frame() FrameType      { return FrameHave }
func (*Records) frame() FrameType   { return FrameRecords }
func (*Tomb) frame() FrameType      { return FrameTomb }
func (*Bye) frame() FrameType       { return FrameBye }
func (*Made) frame() FrameType      { return FrameMade }
func (*MadeReply) frame() FrameType { return FrameMadeReply }
func (*Challenge) frame() FrameType { return FrameChallenge }
func (*Join) frame() FrameType      { return FrameJoin }
func (*Welcome) frame() FrameType   { return FrameWelcome }
func (*Accept) frame() FrameType    { return FrameAccept }

func (*Hello) bounded() bool     { return true }
func (f *Detail) bounded() bool  { return len(f.Authored) <= ListingsMax }
func (f *List) bounded() bool    { return len(f.Entries) <= ListingsMax }
func (f *Buckets) bounded() bool { return len(f.Digests) == 256*16 }
func (f *Bucket) bounded() bool  { return f.Index < 256 && len(f.Entries) <= ListingsMax }
func (f *Have) bounded() bool    { return len(f.Positions) <= HaveMax }
func (f *Records) bounded() bool {
	return len(f.Wires) > 0 && f.Family >= Conversation && f.Family <= Work
}
func (*Tomb) bounded() bool      { return true }
func (*Bye) bounded() bool       { return true }
func (f *Made) bounded() bool    { return f.Head != "" }
func (*MadeReply) bounded() bool { return true }
func (*Challenge) bounded() bool { return true }
func (f *Join) bounded() bool    { return len(f.Name) >= 1 && len(f.Name) <= 64 }
func (f *Welcome) bounded() bool { return len(f.Name) <= 64 }
func (*Accept) bounded() bool    { return true }

// WriteFrame writes one frame with its type and length.
func WriteFrame(w io.Writer, f Frame) error {
	body, err := EncodeFrame(f)
	if err != nil {
		return err
	}
	_, err = w.Write(append(binary.AppendUvarint(make([]byte, 0, len(body)+4), uint64(len(body))), body...))
	return err
}

// EncodeFrame is a frame's map, without the length before it.
func EncodeFrame(f Frame) ([]byte, error) {
	body, err := encode.Marshal(typed(f))
	if err != nil {
		return nil, fmt.Errorf("frame %d: %v", f.frame(), err)
	}
	if len(body) > FrameBytesMax || !f.bounded() {
		return nil, fmt.Errorf("frame %d: %d bytes or too many entries", f.frame(), len(body))
	}
	if !Canonical(body) {
		return nil, fmt.Errorf("frame %d: a list is nil or a text is no UTF-8", f.frame())
	}
	return body, nil
}

// typed fills the type in, so that a caller cannot forget it.
func typed(f Frame) Frame {
	switch f := f.(type) {
	case *Hello:
		f.Type = FrameHello
	case *Detail:
		f.Type = FrameDetail
	case *List:
		f.Type = FrameList
	case *Buckets:
		f.Type = FrameBuckets
	case *Bucket:
		f.Type = FrameBucket
	case *Have:
		f.Type = FrameHave
	case *Records:
		f.Type = FrameRecords
	case *Tomb:
		f.Type = FrameTomb
	case *Bye:
		f.Type = FrameBye
	case *Made:
		f.Type = FrameMade
	case *MadeReply:
		f.Type = FrameMadeReply
	case *Press:
		f.Type = FramePress
	case *PressReply:
		f.Type = FramePressReply
	case *Lines:
		f.Type = FrameLines
	case *LinesReply:
		f.Type = FrameLinesReply
	case *Challenge:
		f.Type = FrameChallenge
	case *Join:
		f.Type = FrameJoin
	case *Welcome:
		f.Type = FrameWelcome
	case *Accept:
		f.Type = FrameAccept
	case *LaneJoin:
		f.Type = FrameLaneJoin
	case *LaneYes:
		f.Type = FrameLaneYes
	}
	return f
}

// ReadFrame reads one frame. It returns [io.EOF] at a clean end, [io.ErrUnexpectedEOF] at one inside a
// frame, and [ErrFrame] for bytes that are no frame.
func ReadFrame(r *bufio.Reader) (Frame, error) {
	length, err := readLength(r)
	if err != nil {
		return nil, err
	}
	body := make([]byte, length)
	if _, err := io.ReadFull(r, body); err != nil {
		return nil, cutOff(err)
	}
	return DecodeFrame(body)
}

// readLength reads the length before a frame, in its shortest form.
func readLength(r *bufio.Reader) (int, error) {
	length := 0
	for at := range binary.MaxVarintLen16 {
		octet, err := r.ReadByte()
		switch {
		case err != nil && at == 0:
			return 0, err
		case err != nil:
			return 0, cutOff(err)
		}
		length |= int(octet&0x7f) << (7 * at)
		if octet >= 0x80 {
			continue
		}
		if octet == 0 || length > FrameBytesMax {
			return 0, fmt.Errorf("%w: %d bytes long, or its length is not in shortest form", ErrFrame, length)
		}
		return length, nil
	}
	return 0, fmt.Errorf("%w: over %d bytes long", ErrFrame, FrameBytesMax)
}

// cutOff is what the end of the input means inside a frame.
func cutOff(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// DecodeFrame reads a frame's map. Keys of 64 and above may be passed over; any other unknown key, an
// unknown type and anything not canonical is [ErrFrame].
func DecodeFrame(body []byte) (Frame, error) {
	if !Canonical(body) || body[0]>>5 != majorMap || len(body) < 3 || body[1] != 1 {
		return nil, fmt.Errorf("%w: no canonical map with a type", ErrFrame)
	}
	_, kind, at := head(body, 2)
	if at < 0 || body[2]>>5 != majorUint {
		return nil, fmt.Errorf("%w: type is no number", ErrFrame)
	}
	f := freshFrame(FrameType(kind))
	if f == nil {
		return nil, fmt.Errorf("%w: type %d is unknown", ErrFrame, kind)
	}
	if err := decode.Unmarshal(body, f); err != nil {
		return nil, fmt.Errorf("%w: type %d: %v", ErrFrame, kind, err)
	}
	known, critical := sift(body, through(15), extraKeys(f)...)
	if again, err := encode.Marshal(f); err != nil || critical || !bytes.Equal(again, known) || !f.bounded() {
		return nil, fmt.Errorf("%w: type %d: unknown key, absent value written out or too many entries", ErrFrame, kind)
	}
	return f, nil
}

// extraKeys are the keys from 64 on that a frame knows.
func extraKeys(f Frame) []uint64 {
	switch f.(type) {
	case *Hello, *Have:
		return []uint64{frameExtra}
	}
	return nil
}

func freshFrame(t FrameType) Frame {
	switch t {
	case FrameHello:
		return new(Hello)
	case FrameDetail:
		return new(Detail)
	case FrameList:
		return new(List)
	case FrameBuckets:
		return new(Buckets)
	case FrameBucket:
		return new(Bucket)
	case FrameHave:
		return new(Have)
	case FrameRecords:
		return new(Records)
	case FrameTomb:
		return new(Tomb)
	case FrameBye:
		return new(Bye)
	case FrameMade:
		return new(Made)
	case FrameMadeReply:
		return new(MadeReply)
	case FramePress:
		return new(Press)
	case FramePressReply:
		return new(PressReply)
	case FrameLines:
		return new(Lines)
	case FrameLinesReply:
		return new(LinesReply)
	case FrameChallenge:
		return new(Challenge)
	case FrameJoin:
		return new(Join)
	case FrameWelcome:
		return new(Welcome)
	case FrameAccept:
		return new(Accept)
	case FrameLaneJoin:
		return new(LaneJoin)
	case FrameLaneYes:
		return new(LaneYes)
	}
	return nil
}
