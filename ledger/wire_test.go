package ledger

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha512"
	"encoding/hex"
	"errors"
	"math/big"
	"slices"
	"strings"
	"testing"

	"github.com/veraison/go-cose"
)

// oracle is another implementation's verdict over a wire: whether it reads it, and whether it verifies it.
func oracle(wire []byte, d Device, context string) (read, verified bool) {
	var m cose.Sign1Message
	if m.UnmarshalCBOR(wire) != nil {
		return false, false
	}
	v, err := cose.NewVerifier(cose.AlgorithmEdDSA, ed25519.PublicKey(d[:]))
	return true, err == nil && m.Verify([]byte(context), v) == nil
}

func TestAnotherImplementationReadsEveryRecord(t *testing.T) { // RFC 9052
	for _, s := range samples() {
		if s.content == nil {
			continue
		}
		r := sealed(t, s)
		for f := Conversation; f <= Work; f++ {
			read, verified := oracle(r.Wire, r.Device, f.String())
			if own := r.Verify(f) == nil; !read || verified != (f == r.Family()) || own != verified {
				t.Errorf("%s under %s: read %v, verified %v, here %v", s.name, f, read, verified, own)
			}
		}
	}
}

// taken takes a wire apart at the places where the golden record has them.
func taken(w []byte) (body, sig []byte) { return w[9 : len(w)-66], w[len(w)-64:] }

func TestABodyHasOneWireForm(t *testing.T) { // case 2
	r := goldenRecord(t)
	w := r.Wire
	body, sig := taken(w)
	for _, c := range []struct {
		name     string
		accepted bool // by the other implementation, with a signature that verifies
		wire     []byte
	}{
		{"itself", true, w},
		{"an unprotected header", true, slices.Concat(w[:6], []byte{0xa1, 0x04, 0x41, 0x61}, w[7:])},
		{"a longer length of the payload", true, slices.Concat(w[:7], []byte{0x59, 0, byte(len(body))}, body, []byte{0x58, 64}, sig)},
		{"a longer length of the signature", true, slices.Concat(w[:len(w)-66], []byte{0x59, 0, 64}, sig)},
		{"a longer length of the message", false, slices.Concat([]byte{0xd2, 0x98, 4}, w[2:])},
		{"a longer length of the protected header", true, slices.Concat(w[:2], []byte{0x58, 3}, w[3:])},
		{"a longer key in the protected header", false, slices.Concat(w[:2], []byte{0x44, 0xa1, 0x18, 0x01, 0x27}, w[6:])},
		{"a trailing byte", false, slices.Concat(w, []byte{0})},
		{"a missing byte", false, w[:len(w)-1]},
		{"a signature of 65 bytes", false, slices.Concat(w[:len(w)-66], []byte{0x58, 65}, sig, []byte{0})},
		{"no tag", false, w[1:]},
		{"twice", false, slices.Concat(w, w)},
		{"nothing", false, nil},
	} {
		_, accepted := oracle(c.wire, r.Device, Conversation.String())
		if accepted != c.accepted {
			t.Errorf("%s: the other implementation accepts it: %v", c.name, accepted)
		}
		got, err := Parse(c.wire)
		if c.name == "itself" {
			if err != nil {
				t.Error(err)
			}
		} else if !errors.Is(err, ErrMalformed) {
			t.Errorf("%s is read as %v, %v", c.name, got, err)
		}
	}
}

// signedAgain makes another valid signature over a message than [ed25519.Sign] does: the key's holder is
// free to choose the nonce, here the secret scalar of a second key, whose public half is the point R.
func signedAgain(key, nonce ed25519.PrivateKey, message []byte) []byte {
	scalar := func(k ed25519.PrivateKey) *big.Int {
		sum := sha512.Sum512(k.Seed())
		sum[0] &= 248
		sum[31] = sum[31]&63 | 64
		return littleEndian(sum[:32])
	}
	order, _ := new(big.Int).SetString("27742317777372353535851937790883648493", 10)
	order.Add(order, new(big.Int).Lsh(big.NewInt(1), 252))
	challenge := sha512.Sum512(slices.Concat(nonce[32:], key[32:], message))
	s := littleEndian(challenge[:])
	s.Mul(s, scalar(key)).Add(s, scalar(nonce)).Mod(s, order)
	out := s.FillBytes(make([]byte, 32))
	slices.Reverse(out)
	return slices.Concat(nonce[32:], out)
}

func littleEndian(b []byte) *big.Int {
	b = bytes.Clone(b)
	slices.Reverse(b)
	return new(big.Int).SetBytes(b)
}

func TestASecondSignatureOverOneBodyIsTheSameRecord(t *testing.T) { // case 3
	r := goldenRecord(t)
	body, sig := taken(r.Wire)
	second := signedAgain(testKey(0), testKey(50), toBeSigned(Conversation, body))
	if bytes.Equal(second, sig) {
		t.Fatal("the signatures do not differ")
	}
	other, err := Parse(slices.Concat(r.Wire[:len(r.Wire)-64], second))
	if err != nil {
		t.Fatal(err)
	}
	if err := other.Verify(Conversation); err != nil {
		t.Error(err)
	}
	if other.ID != r.ID {
		t.Errorf("id %s, want %s", other.ID, r.ID)
	}
}

func TestARecordIsOfOneFamilyAlone(t *testing.T) { // case 4
	body, _ := taken(goldenRecord(t).Wire)
	for f := Conversation; f <= Work; f++ {
		r, err := Parse(sign(testKey(0), f, body))
		if err != nil {
			t.Fatal(err)
		}
		for in := Conversation; in <= Work; in++ {
			err := r.Verify(in)
			if good := f == Conversation && in == Conversation; good != (err == nil) || !good && !errors.Is(err, ErrSignature) {
				t.Errorf("signed as %s, arrived as %s: %v", f, in, err)
			}
		}
	}
	other, err := Parse(sign(testKey(1), Conversation, body))
	if err != nil {
		t.Fatal(err)
	}
	if err := other.Verify(Conversation); !errors.Is(err, ErrSignature) {
		t.Errorf("signed by another key than its author's: %v", err)
	}
}

func TestAFullOpenFitsAndALargerOneIsRefused(t *testing.T) { // P17, case 57
	full := func(pathBytes int) (*Record, error) {
		s := sampleOf(t, KindOpen)
		open := sampleOpen()
		open.Files = nil
		for i := range FilesMax {
			path := strings.Repeat("p", pathBytes-2) + string([]byte{'a' + byte(i/26), 'a' + byte(i%26)})
			open.Files = append(open.Files, File{Path: Path(path), Base: oid("1"), Master: oid("2"), Pull: oid("3"), Mode: ModePlain})
		}
		return Seal(testKey(0), s.header, open)
	}
	if _, err := full(120); err != nil {
		t.Errorf("25 files with paths of 120 bytes: %v", err)
	}
	if _, err := full(300); !errors.Is(err, ErrTooLarge) {
		t.Errorf("25 files with paths of 300 bytes: %v", err)
	}
	if _, err := Parse(make([]byte, RecordBytesMax+1)); !errors.Is(err, ErrTooLarge) {
		t.Errorf("8,001 bytes: %v", err)
	}
}

func TestCheckingAllocatesNothing(t *testing.T) { // case 9
	body, _ := taken(goldenRecord(t).Wire)
	deepest := append(bytes.Repeat([]byte{0x81}, DepthMax), 0xf5)
	for _, c := range []struct {
		name string
		b    []byte
		want bool
	}{
		{"a record", body, true},
		{"eight levels", deepest, true},
		{"nine levels", append([]byte{0x81}, deepest...), false},
		{"endless nesting", bytes.Repeat([]byte{0x81}, 10000), false},
		{"a huge list", unhexed(t, "9b7fffffffffffffff"), false},
		{"a huge map", unhexed(t, "bbffffffffffffffff"), false},
		{"a huge text", unhexed(t, "7bffffffffffffffff61"), false},
		{"nothing", nil, false},
	} {
		got := false
		if n := testing.AllocsPerRun(20, func() { got = Canonical(c.b) }); n != 0 || got != c.want {
			t.Errorf("%s: canonical %v, %v allocations", c.name, got, n)
		}
	}
}

func unhexed(t testing.TB, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(s)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestTheSubsetIsClosed(t *testing.T) { // case 1
	for name, s := range map[string]string{
		"a float": "f93c00", "null": "f6", "undefined": "f7", "a simple value": "e0", "a long simple value": "f820", "a tag": "c000",
		"a break": "ff", "endless bytes": "5f4101ff", "endless text": "7f6161ff", "an endless list": "9f01ff", "an endless map": "bf0101ff",
		"a number in two forms": "1817", "a number in four": "190017", "a number in eight": "1b0000000000000017", "a reserved head": "1c",
		"a length in two forms": "580161", "a key twice": "a201010101", "keys out of order": "a202010101", "text before a number": "a26161010101",
		"a negative key": "a12001", "a key of bytes": "a1410101", "a key that is a list": "a18001", "no UTF-8": "61ff", "two items": "0101",
		"a cut list": "8201", "a cut map": "a101", "a cut number": "19ff", "a number below 64 bits": "3b8000000000000000",
	} {
		if Canonical(unhexed(t, s)) {
			t.Errorf("%s is canonical", name)
		}
	}
	for _, s := range []string{"00", "17", "1818", "1bffffffffffffffff", "20", "3b7fffffffffffffff", "40", "60", "62c3a4", "80", "a0", "a2010061 6100", "f4", "f5"} {
		if !Canonical(unhexed(t, strings.ReplaceAll(s, " ", ""))) {
			t.Errorf("%s is not canonical", s)
		}
	}
}
