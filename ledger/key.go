package ledger

import (
	"bytes"
	"errors"
	"slices"
)

// ErrWeakKey means a key that is nobody's: anybody can make signatures that verify under it, or it is a
// second way of writing another key.
var ErrWeakKey = errors.New("the key is of small order or not in its one form")

// A key is a point of Ed25519 as RFC 8032, section 5.1.2, writes it: y, little-endian, below 2^255-19, and
// the sign of x in the top bit.
var (
	keyPrime = yOf(0xed, 0xff, 0x7f)
	// keySmall is y of the eight points whose order divides 8: y = 1 (order 1), -1 (2), 0 (4), and two values
	// with either sign of x (8).
	keySmall = [][32]byte{
		yOf(1, 0, 0), yOf(0xec, 0xff, 0x7f),
		{},
		{
			0x26, 0xe8, 0x95, 0x8f, 0xc2, 0xb2, 0x27, 0xb0, 0x45, 0xc3, 0xf4, 0x89, 0xf2, 0xef, 0x98, 0xf0,
			0xd5, 0xdf, 0xac, 0x05, 0xd3, 0xc6, 0x33, 0x39, 0xb1, 0x38, 0x02, 0x88, 0x6d, 0x53, 0xfc, 0x05,
		},
		{
			0xc7, 0x17, 0x6a, 0x70, 0x3d, 0x4d, 0xd8, 0x4f, 0xba, 0x3c, 0x0b, 0x76, 0x0d, 0x10, 0x67, 0x0f,
			0x2a, 0x20, 0x53, 0xfa, 0x2c, 0x39, 0xcc, 0xc6, 0x4e, 0xc7, 0xfd, 0x77, 0x92, 0xac, 0x03, 0x7a,
		},
	}
)

func yOf(first, middle, last byte) [32]byte {
	y := [32]byte{0: first, 31: last}
	for i := 1; i < 31; i++ {
		y[i] = middle
	}
	return y
}

// Check refuses the keys of small order and those that are not written in their one form, with
// [ErrWeakKey]. The signature of an invitation's acceptance or of a replaced key proves nothing under such
// a key. A key that is no point of the curve at all is not looked for: nothing verifies under it.
func (d Device) Check() error {
	y := [32]byte(d)
	y[31] &= 0x7f
	big := func(v [32]byte) []byte { slices.Reverse(v[:]); return v[:] }
	if bytes.Compare(big(y), big(keyPrime)) >= 0 || slices.Contains(keySmall, y) {
		return ErrWeakKey
	}
	return nil
}
