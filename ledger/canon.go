package ledger

import (
	"bytes"
	"math"
	"unicode/utf8"
)

// The seven major types of CBOR (RFC 8949, section 3.1) and its simple values; null is not allowed.
const (
	majorUint  = 0
	majorNint  = 1
	majorBytes = 2
	majorText  = 3
	majorArray = 4
	majorMap   = 5
	majorOther = 7

	simpleFalse = 0xf4
	simpleTrue  = 0xf5
	simpleNull  = 0xf6
)

// Canonical reports whether b is exactly one item of parley's CBOR subset: core deterministic
// encoding (RFC 8949, section 4.2.1) without tags, floats, null, undefined and other simple values,
// map keys unsigned integers or text, at most [DepthMax] deep. It reads once and allocates nothing,
// and every length is checked against the bytes that are there.
func Canonical(b []byte) bool { return item(b, 0, 0) == len(b) && len(b) > 0 }

// head reads the initial bytes of an item: its major type, its argument in shortest form, and where
// its content starts (-1 when malformed).
func head(b []byte, at int) (major byte, arg uint64, next int) {
	if at >= len(b) {
		return 0, 0, -1
	}
	major, info := b[at]>>5, b[at]&31
	at++
	if info < 24 {
		return major, uint64(info), at
	}
	if info > 27 {
		return 0, 0, -1
	}
	size := 1 << (info - 24)
	if size > len(b)-at {
		return 0, 0, -1
	}
	for _, octet := range b[at : at+size] {
		arg = arg<<8 | uint64(octet)
	}
	if arg < shortest[info-24] {
		return 0, 0, -1
	}
	return major, arg, at + size
}

// shortest is the least argument that needs 1, 2, 4 and 8 bytes.
var shortest = [4]uint64{24, 1 << 8, 1 << 16, 1 << 32}

// item checks one item at an offset and returns where the next one starts, or -1.
func item(b []byte, at, depth int) int {
	if depth > DepthMax {
		return -1
	}
	start := at
	major, arg, at := head(b, at)
	if at < 0 {
		return -1
	}
	left := uint64(len(b) - at)
	switch major {
	case majorUint:
		return at
	case majorNint:
		if arg > math.MaxInt64 {
			return -1 // below the least integer of 64 bits
		}
		return at
	case majorBytes, majorText:
		if arg > left || major == majorText && !utf8.Valid(b[at:at+int(arg)]) {
			return -1
		}
		return at + int(arg)
	case majorArray:
		if arg > left {
			return -1
		}
		for range arg {
			if at = item(b, at, depth+1); at < 0 {
				return -1
			}
		}
		return at
	case majorMap:
		if arg > left/2 {
			return -1
		}
		return entries(b, at, arg, depth)
	case majorOther:
		if b[start] == simpleFalse || b[start] == simpleTrue {
			return at
		}
	}
	return -1
}

// entries checks the pairs of a map: keys of an allowed type, strictly ascending.
func entries(b []byte, at int, count uint64, depth int) int {
	var before []byte
	for range count {
		start := at
		if at >= len(b) || b[at]>>5 != majorUint && b[at]>>5 != majorText {
			return -1
		}
		if at = item(b, at, depth+1); at < 0 {
			return -1
		}
		key := b[start:at]
		if before != nil && bytes.Compare(before, key) >= 0 {
			return -1
		}
		before = key
		if at = item(b, at, depth+1); at < 0 {
			return -1
		}
	}
	return at
}

func appendHead(b []byte, major byte, arg uint64) []byte {
	major <<= 5
	switch {
	case arg < shortest[0]:
		return append(b, major|byte(arg))
	case arg < shortest[1]:
		return append(b, major|24, byte(arg))
	case arg < shortest[2]:
		return append(b, major|25, byte(arg>>8), byte(arg))
	case arg < shortest[3]:
		return append(b, major|26, byte(arg>>24), byte(arg>>16), byte(arg>>8), byte(arg))
	}
	b = append(b, major|27)
	for shift := 56; shift >= 0; shift -= 8 {
		b = append(b, byte(arg>>shift))
	}
	return b
}

func appendBytes(b, value []byte) []byte {
	return append(appendHead(b, majorBytes, uint64(len(value))), value...)
}

// bytesOf returns the content of an item that is one byte string.
func bytesOf(b []byte) ([]byte, bool) {
	major, arg, at := head(b, 0)
	if at < 0 || major != majorBytes || arg != uint64(len(b)-at) {
		return nil, false
	}
	return b[at:], true
}
