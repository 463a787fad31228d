package ledger

import (
	"bytes"
	"errors"
	"reflect"
	"testing"
)

// writtenAgain reads a header with the library, writes it again and compares: the slow way, which refuses
// whatever a field does not hold. Key 17 is unknown outside a roster.
func writtenAgain(body []byte) (h Header, critical bool, err error) {
	if body[0]>>5 != majorMap {
		return h, false, errors.New("no map")
	}
	var kind struct {
		Kind Kind `cbor:"2,keyasint"`
	}
	if err := decode.Unmarshal(body, &kind); err != nil {
		return h, false, err
	}
	known, critical := sift(body, headerKeys(kind.Kind.Family()))
	if err := decode.Unmarshal(known, &h); err != nil {
		return h, false, err
	}
	if again, err := encode.Marshal(h); err != nil || !bytes.Equal(again, known) {
		return h, false, errors.New("it is written otherwise")
	}
	return h, critical, nil
}

// sameVerdict compares the two ways of reading, for any canonical bytes.
func sameVerdict(t *testing.T, body []byte) {
	t.Helper()
	if !Canonical(body) {
		return
	}
	want, wantCritical, wantErr := writtenAgain(body)
	got, critical, err := readHeader(body)
	if (err == nil) != (wantErr == nil) {
		// The library looks into the body and is told later that it is none: an unknown kind's is bounded there.
		if err == nil && !limited(got.Body) {
			return
		}
		t.Fatalf("%x: read with %v, the slow way with %v", body, err, wantErr)
	}
	if err == nil && (critical != wantCritical || !reflect.DeepEqual(got, want)) {
		t.Fatalf("%x: read as %+v (critical %v), the slow way %+v (critical %v)", body, got, critical, want, wantCritical)
	}
}

func headerSeeds(t testing.TB) [][]byte {
	t.Helper()
	var out [][]byte
	for _, s := range samples() {
		if s.content != nil {
			body, _, err := split(sealed(t, s).Wire)
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, body)
		}
	}
	for _, s := range []string{"a0", "80", "f4", "a102636b6579", "a10262ff", "a1184000", "a161610f", "a1184081a10000"} {
		out = append(out, unhexed(t, s))
	}
	return out
}

func TestAHeaderIsReadAsIfItWereWrittenAgain(t *testing.T) { // P25, case 2
	for _, body := range headerSeeds(t) {
		sameVerdict(t, body)
		for at := range body {
			for bit := range 8 {
				changed := bytes.Clone(body)
				changed[at] ^= 1 << bit
				sameVerdict(t, changed)
			}
		}
		for at := range body { // a value of zeros, or one less key
			changed := bytes.Clone(body)
			for i := at; i < min(at+32, len(body)); i++ {
				changed[i] = 0
			}
			sameVerdict(t, changed)
		}
	}
}

func TestListsAndMapsOfUnknownKeysAreBounded(t *testing.T) { // P25, case 3
	for _, key := range []byte{64, 20} {
		body, _, err := split(goldenRecord(t).Wire)
		if err != nil {
			t.Fatal(err)
		}
		for entries, fine := range map[int]bool{entriesMax: true, entriesMax + 1: false} {
			b := append([]byte{body[0] + 1}, body[1:]...)
			b = appendHead(b, majorUint, uint64(key))
			b = append(appendHead(b, majorArray, uint64(entries)), make([]byte, entries)...)
			if !Canonical(b) {
				t.Fatal("the test's bytes are not canonical")
			}
			if _, _, err := readHeader(b); (err == nil) != fine {
				t.Errorf("%d entries under key %d: %v", entries, key, err)
			}
			sameVerdict(t, b)
		}
	}
}

func FuzzHeader(f *testing.F) { // case 10
	for _, body := range headerSeeds(f) {
		f.Add(body)
	}
	f.Fuzz(sameVerdict)
}
