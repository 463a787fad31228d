package ledger

import (
	"crypto/ed25519"
	"encoding/binary"
	"errors"
	"slices"
	"testing"
)

// weakKeys are the encodings of the eight points of small order, each with either sign bit, and those of
// them that are not in their one form.
func weakKeys(t testing.TB) map[string]Device {
	t.Helper()
	out := map[string]Device{}
	for _, text := range []string{
		"0000000000000000000000000000000000000000000000000000000000000000",
		"0100000000000000000000000000000000000000000000000000000000000000",
		"26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
		"c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
		"ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
		"edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
		"eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
	} {
		d := Device(unhexed(t, text))
		out[text] = d
		d[31] |= 0x80
		out[d.String()] = d
	}
	return out
}

// forged is a message and a signature that verifies under a key of small order without any secret: the
// neutral point and zero. It does for one message in eight.
func forged(d Device) bool {
	signature := make([]byte, 64)
	signature[0] = 1
	for n := range uint64(200) {
		if ed25519.Verify(d[:], binary.BigEndian.AppendUint64(nil, n), signature) {
			return true
		}
	}
	return false
}

func TestKeysThatAnybodyCanSignForAreRefused(t *testing.T) {
	for name, d := range weakKeys(t) {
		if !forged(d) {
			t.Errorf("%s: nothing is forged, the test's key is none of them", name)
		}
		if err := d.Check(); !errors.Is(err, ErrWeakKey) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for first := byte(0xed); first != 0; first++ { // y from 2^255-19 to 2^255-1
		d := Device(yOf(first, 0xff, 0x7f))
		if !errors.Is(d.Check(), ErrWeakKey) {
			t.Errorf("%s is taken in a second form", d)
		}
	}
	for first := range byte(64) {
		if d := device(first); d.Check() != nil || forged(d) {
			t.Errorf("%s is an ordinary key", d)
		}
	}
}

func TestARosterNamesNoKeyThatAnybodyCanSignFor(t *testing.T) { // P25, case 2
	for name, weak := range weakKeys(t) {
		sig := Signature{1}
		for _, content := range []Body{
			&Add{Device: weak, Invite: Invite{4}, Accept: sig}, &Rekey{Old: device(0), New: weak, Accept: sig},
		} {
			if _, err := Seal(testKey(0), rosterHeader(), content); !errors.Is(err, ErrMalformed) {
				t.Errorf("%s of %s: %v", content.Kind(), name, err)
			}
		}
		i := slices.IndexFunc(samples(), func(s sample) bool { return s.name == "genesis" })
		h := samples()[i].header
		if _, err := Seal(testKey(0), h, &Genesis{Recovery: weak, Nonce: [16]byte{7}}); !errors.Is(err, ErrMalformed) && weak != (Device{}) {
			t.Errorf("genesis with %s for its recovery: %v", name, err)
		}
	}
}
