package ledger

import (
	"bytes"
	"crypto/sha256"
	"testing"

	"github.com/fxamacker/cbor/v2"
)

// strictMode is the library at its strictest: what it reads and writes back unchanged is deterministic.
func strictMode(t testing.TB) cbor.DecMode {
	t.Helper()
	m, err := cbor.DecOptions{
		DupMapKey: cbor.DupMapKeyEnforcedAPF, IndefLength: cbor.IndefLengthForbidden, TagsMd: cbor.TagsForbidden,
		UTF8: cbor.UTF8RejectInvalid, NaN: cbor.NaNDecodeForbidden, Inf: cbor.InfDecodeForbidden, MaxNestedLevels: 64,
		MaxArrayElements: 1 << 20, MaxMapPairs: 1 << 20,
	}.DecMode()
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// within reports whether a value of the library is of parley's subset. It names every known difference:
// null, undefined, floats and simple values; integers below -2^63; keys other than unsigned integers and
// text; more than [DepthMax] levels.
func within(v any, depth int) bool {
	if depth > DepthMax {
		return false
	}
	switch v := v.(type) {
	case uint64, int64, bool, string, []byte:
		return true
	case []any:
		for _, e := range v {
			if !within(e, depth+1) {
				return false
			}
		}
		return true
	case map[any]any:
		for key, e := range v {
			switch key.(type) {
			case uint64, string:
			default:
				return false
			}
			if depth == DepthMax || !within(e, depth+1) {
				return false
			}
		}
		return true
	}
	return false
}

func FuzzCanonical(f *testing.F) { // case 1
	for _, s := range []string{
		"", "a0", "8101", "a20102030405", "f4", "1818", "f97e00", "c001", "5f42aabb41ccff", "a1f90000f5", "a101a101f6", "a2020103f4",
		"3bffffffffffffffff", "a12001", "a1410101", "818181818181818100", "81818181818181818100", "818181818181818181a0", "a10061ff", "e0", "f820",
	} {
		f.Add(unhexed(f, s))
	}
	for _, s := range samples() {
		if s.content != nil {
			body, _, err := split(sealed(f, s).Wire)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(body)
		}
	}
	strict := strictMode(f)
	f.Fuzz(func(t *testing.T, b []byte) {
		var v any
		want := strict.Unmarshal(b, &v) == nil
		if want {
			again, err := encode.Marshal(v)
			want = err == nil && bytes.Equal(again, b) && within(v, 0)
		}
		if got := Canonical(b); got != want {
			t.Fatalf("%x: canonical %v, by the library %v", b, got, want)
		}
	})
}

func FuzzParse(f *testing.F) { // case 10
	for _, s := range samples() {
		if s.content != nil {
			f.Add(sealed(f, s).Wire)
		}
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := Parse(b)
		if err != nil {
			return
		}
		body, signature, err := split(b)
		if err != nil {
			t.Fatal(err)
		}
		again := appendBytes(appendBytes(bytes.Clone(wirePrefix), body), signature)
		if !bytes.Equal(again, b) {
			t.Fatalf("%x is read, and written %x", b, again)
		}
		if r.ID != sha256.Sum256(append([]byte("parley-record-id/1\x00"), body...)) {
			t.Fatal("the id is not over the body")
		}
		if r.Content == nil && !r.Opaque || r.Content != nil && r.Content.Kind() != r.Kind {
			t.Fatalf("a %s with content %T, opaque %v", r.Kind, r.Content, r.Opaque)
		}
		for family := range Work + 2 {
			_ = r.Verify(family) // any verdict, no panic
		}
		if _, err := Parse(append(bytes.Clone(b), 0)); err == nil {
			t.Fatal("a trailing byte is passed over")
		}
	})
}

func FuzzFrame(f *testing.F) { // case 10
	for _, s := range frames() {
		b, err := EncodeFrame(s.frame)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Add([]byte{0xa3, 1, 9, 2, 4, 0x18, 64, 0xf5})
	f.Fuzz(func(t *testing.T, b []byte) {
		frame, err := DecodeFrame(b)
		if err != nil {
			return
		}
		again, err := EncodeFrame(frame)
		if err != nil {
			t.Fatalf("%x is read and cannot be written: %v", b, err)
		}
		if known, _ := sift(b, through(15), extraKeys(frame)...); !bytes.Equal(again, known) {
			t.Fatalf("%x is read, and written %x", b, again)
		}
	})
}

func FuzzInviteCode(f *testing.F) { // case 54
	f.Add(sampleCode().Encode())
	f.Add("p1-")
	f.Fuzz(func(t *testing.T, text string) {
		c, err := ParseInviteCode(text)
		if err != nil {
			return
		}
		if again, err := ParseInviteCode(c.Encode()); err != nil || again.ID() != c.ID() {
			t.Fatalf("%q is read once and not twice: %v", text, err)
		}
	})
}
