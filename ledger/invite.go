package ledger

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base32"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
)

// What an invitation is for.
const (
	InviteComputer = 1
	InviteLane     = 2
)

// inviteAddrsMax is how many addresses a code can carry.
const inviteAddrsMax = 3

// Errors of a code that a person typed.
var (
	ErrNoCode      = errors.New("this is no invitation code")
	ErrCodeDamaged = errors.New("the invitation code has a typing mistake or is cut off")
	ErrCodeVersion = errors.New("the invitation code is from another version of parley")
)

// InviteCode is what a person carries from one computer to the other: the inviter's key, a secret that
// serves once, and where the inviter may be reached. Whoever reads it within its ten minutes can ask to
// join; the inviter's person still has to say yes.
type InviteCode struct {
	Kind    byte
	Inviter Device
	Secret  [16]byte
	Addrs   [][]byte // binary multiaddresses, at most three of at most 255 bytes
}

const codePrefix = "P1-"

var codeText = base32.StdEncoding.WithPadding(base32.NoPadding)

// Encode is the code as it is typed.
func (c InviteCode) Encode() string {
	b := append([]byte{1, c.Kind}, c.Inviter[:]...)
	b = append(b, c.Secret[:]...)
	var addrs [][]byte
	for _, a := range c.Addrs {
		if len(a) <= 255 && len(addrs) < inviteAddrsMax {
			addrs = append(addrs, a)
		}
	}
	b = append(b, byte(len(addrs)))
	for _, a := range addrs {
		b = append(append(b, byte(len(a))), a...)
	}
	return codePrefix + codeText.EncodeToString(binary.BigEndian.AppendUint16(b, crc16(b)))
}

// ParseInviteCode reads a code. Capitals, spaces and hyphens do not matter.
func ParseInviteCode(text string) (InviteCode, error) {
	var c InviteCode
	text = strings.ToUpper(strings.TrimSpace(text))
	rest, ok := strings.CutPrefix(text, codePrefix)
	if !ok {
		if len(text) > 3 && text[0] == 'P' && text[2] == '-' {
			return c, ErrCodeVersion
		}
		return c, ErrNoCode
	}
	b, err := codeText.DecodeString(strings.NewReplacer("-", "", " ", "", "\n", "", "\t", "").Replace(rest))
	if err != nil || len(b) < 53 {
		return c, ErrCodeDamaged
	}
	b, sum := b[:len(b)-2], binary.BigEndian.Uint16(b[len(b)-2:])
	if crc16(b) != sum {
		return c, ErrCodeDamaged
	}
	if b[0] != 1 {
		return c, ErrCodeVersion
	}
	c.Kind = b[1]
	copy(c.Inviter[:], b[2:34])
	copy(c.Secret[:], b[34:50])
	return c, c.readAddrs(b[50:])
}

func (c *InviteCode) readAddrs(b []byte) error {
	count := int(b[0])
	b = b[1:]
	if count > inviteAddrsMax || c.Kind != InviteComputer && c.Kind != InviteLane {
		return ErrCodeDamaged
	}
	for range count {
		if len(b) == 0 || len(b) < 1+int(b[0]) {
			return ErrCodeDamaged
		}
		c.Addrs = append(c.Addrs, b[1:1+int(b[0])])
		b = b[1+int(b[0]):]
	}
	if len(b) > 0 {
		return ErrCodeDamaged
	}
	return nil
}

// ID names the invitation without giving its secret away.
func (c InviteCode) ID() Invite {
	h := hashed("parley-invite/1\x00", c.Secret[:])
	return Invite(h[:16])
}

// Pass is what a relay is shown by who holds the code. The inviter tells the relay the same beforehand; the secret
// does not follow from it.
func (c InviteCode) Pass() [16]byte {
	h := hashed("parley-pass/1\x00", c.Secret[:])
	return [16]byte(h[:16])
}

// Nonces are the two sides' contributions to one run of pairing.
type Nonces struct{ Challenge, Join [16]byte }

// JoinMAC proves the secret, bound to both transport keys, both nonces and the joiner's name, so that it
// can be neither relayed nor replayed.
func (c InviteCode) JoinMAC(joiner Device, n Nonces, name string) [32]byte {
	h := hmac.New(sha256.New, c.Secret[:])
	for _, part := range [][]byte{[]byte("parley-join/1\x00"), c.Inviter[:], joiner[:], n.Challenge[:], n.Join[:], []byte(name)} {
		h.Write(part)
	}
	return [32]byte(h.Sum(nil))
}

// WordBits are the four numbers of eleven bits that both screens show as words.
func (c InviteCode) WordBits(joiner Device, n Nonces) [4]uint16 {
	return wordBits(hashed("parley-words/1\x00", c.Inviter[:], joiner[:], n.Challenge[:], n.Join[:]))
}

func wordBits(h [32]byte) [4]uint16 {
	bits := binary.BigEndian.Uint64(h[:8])
	var out [4]uint16
	for i := range out {
		out[i] = uint16(bits >> (64 - 11*(i+1)) & 0x7ff)
	}
	return out
}

// crc16 is CRC-16/CCITT-FALSE. It finds slips of the finger; the secret does the rest.
func crc16(b []byte) uint16 {
	crc := uint16(0xffff)
	for _, octet := range b {
		crc ^= uint16(octet) << 8
		for range 8 {
			if crc&0x8000 != 0 {
				crc = crc<<1 ^ 0x1021
			} else {
				crc <<= 1
			}
		}
	}
	return crc
}

// String is for logs: it never shows the secret.
func (c InviteCode) String() string { return fmt.Sprintf("invitation %x", c.ID()) }
