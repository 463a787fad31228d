package ledger

import (
	"encoding/hex"
	"fmt"
)

// The text forms below are hexadecimal; they serve views and node-local state, never the wire.

// MarshalText is the hexadecimal form.
func (id ID) MarshalText() ([]byte, error) { return hexText(id[:]), nil }

// UnmarshalText reads the hexadecimal form.
func (id *ID) UnmarshalText(b []byte) error { return unhex(id[:], b) }

// MarshalText is the hexadecimal form.
func (t TID) MarshalText() ([]byte, error) { return hexText(t[:]), nil }

// UnmarshalText reads the hexadecimal form.
func (t *TID) UnmarshalText(b []byte) error { return unhex(t[:], b) }

// MarshalText is the hexadecimal form.
func (d Device) MarshalText() ([]byte, error) { return hexText(d[:]), nil }

// UnmarshalText reads the hexadecimal form.
func (d *Device) UnmarshalText(b []byte) error { return unhex(d[:], b) }

// MarshalText is the hexadecimal form, "" for the absent id.
func (o OID) MarshalText() ([]byte, error) { return hexText([]byte(o)), nil }

// UnmarshalText reads the hexadecimal form.
func (o *OID) UnmarshalText(b []byte) error {
	v, err := ParseOID(string(b))
	*o = v
	return err
}

func hexText(b []byte) []byte { return hex.AppendEncode(nil, b) }

func unhex(into, text []byte) error {
	if len(text) != hex.EncodedLen(len(into)) {
		return fmt.Errorf("%q: want %d hexadecimal digits", text, hex.EncodedLen(len(into)))
	}
	_, err := hex.Decode(into, text)
	return err
}
