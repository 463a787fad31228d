package ledger

import (
	"crypto/hmac"
	"crypto/sha256"
)

// LaneJoin proves the secret of an invitation to a lane. It is a frame of its own, and what it proves with has
// a context of its own, so that no code serves for what it was not made for.
type LaneJoin struct {
	Type    FrameType `cbor:"1,keyasint"`
	Version uint64    `cbor:"2,keyasint"`
	Invite  Invite    `cbor:"3,keyasint"`
	Name    string    `cbor:"4,keyasint"` // what the other side may call this developer, 1 to 64 bytes
	Nonce   [16]byte  `cbor:"5,keyasint"`
	MAC     [32]byte  `cbor:"6,keyasint"` // [InviteCode.LaneMAC]
	Fleet   TID       `cbor:"7,keyasint"` // the joiner's own
}

// LaneYes is a person's yes to a lane: the signature that stands in the other side's lane-bind.
type LaneYes struct {
	Type   FrameType `cbor:"1,keyasint"`
	Accept Signature `cbor:"2,keyasint"` // over [LaneStatement]
}

func (*LaneJoin) frame() FrameType { return FrameLaneJoin }
func (*LaneYes) frame() FrameType  { return FrameLaneYes }

func (f *LaneJoin) bounded() bool { return len(f.Name) >= 1 && len(f.Name) <= 64 && f.Fleet != TID{} }
func (*LaneYes) bounded() bool    { return true }

// LaneMAC is [InviteCode.JoinMAC] for a lane. It binds the joiner's fleet too.
func (c InviteCode) LaneMAC(joiner Device, n Nonces, fleet TID, name string) [32]byte {
	h := hmac.New(sha256.New, c.Secret[:])
	for _, part := range [][]byte{[]byte("parley-lane-join/1\x00"), c.Inviter[:], joiner[:], n.Challenge[:], n.Join[:], fleet[:], []byte(name)} {
		h.Write(part)
	}
	return [32]byte(h.Sum(nil))
}

// LaneWordBits are [InviteCode.WordBits] for a lane. They name both fleets as well, so that the two persons
// compare all that they agree to.
func (c InviteCode) LaneWordBits(joiner Device, n Nonces, inviters, joiners TID) [4]uint16 {
	return wordBits(hashed("parley-lane-words/1\x00", c.Inviter[:], joiner[:], n.Challenge[:], n.Join[:], inviters[:], joiners[:]))
}

// LaneStatement is what a computer of one side signs for the lane-bind that a computer of the other side, the
// binder, writes. The lane's ledger stands where the statement of an added computer has a fleet; so neither
// signature can serve as the other.
func LaneStatement(lane TID, invite Invite, binder Device) []byte {
	return JoinStatement(lane, invite, binder)
}
