package ledger

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding"
	"slices"
	"strings"
	"testing"
)

// digest joins its parts as FORMAT.md says and hashes them.
func digest(parts ...any) [32]byte {
	var all []byte
	for _, p := range parts {
		switch p := p.(type) {
		case string:
			all = append(all, p...)
		case []byte:
			all = append(all, p...)
		}
	}
	return sha256.Sum256(all)
}

func TestNamesAreDerivedAsThePageSays(t *testing.T) {
	a, b, nonce := device(0), device(9), [16]byte{7}
	small, large := TID{1}, TID{2}
	code := sampleCode()
	invite := digest("parley-invite/1\x00", code.Secret[:])
	key := slices.Concat([]byte{0x84, 0x6a}, []byte("github.com"), []byte{0x1a, 0x07, 0x5b, 0xcd, 0x15, 0x18, 42, 0})
	for name, c := range map[string]struct{ got, want [32]byte }{
		"thread":       {sampleKey.Thread(), digest("parley-thread/1\x00", key)},
		"fleet":        {FleetID(a, nonce), digest("parley-fleet/1\x00", a[:], nonce[:])},
		"lane":         {LaneID(large, small), digest("parley-lane/1\x00", small[:], large[:])},
		"lane, turned": {LaneID(small, large), digest("parley-lane/1\x00", small[:], large[:])},
	} {
		if c.got != c.want {
			t.Errorf("%s: %x, want %x", name, c.got, c.want)
		}
	}
	if id := code.ID(); !bytes.Equal(id[:], invite[:16]) {
		t.Errorf("invitation %x, want %x", id, invite[:16])
	}
	if got, want := string(JoinStatement(small, code.ID(), a)), "parley/join/1\x00"+string(small[:])+string(invite[:16])+string(a[:]); got != want {
		t.Errorf("join statement %x, want %x", got, want)
	}
	if got, want := string(RekeyStatement(small, a, b)), "parley/rekey/1\x00"+string(small[:])+string(a[:])+string(b[:]); got != want {
		t.Errorf("rekey statement %x, want %x", got, want)
	}
}

func TestTheProofAndTheWordsAreMadeAsThePageSays(t *testing.T) {
	c, joiner := sampleCode(), device(9)
	n := Nonces{Challenge: [16]byte{1}, Join: [16]byte{2}}
	met := slices.Concat(c.Inviter[:], joiner[:], n.Challenge[:], n.Join[:])
	mac := hmac.New(sha256.New, c.Secret[:])
	mac.Write(slices.Concat([]byte("parley-join/1\x00"), met, []byte("laptop")))
	if got := c.JoinMAC(joiner, n, "laptop"); !bytes.Equal(got[:], mac.Sum(nil)) {
		t.Errorf("proof %x", got)
	}
	checkWords(t, c.WordBits(joiner, n), digest("parley-words/1\x00", met))
	a, b := TID(id("a")), TID(id("b"))
	mac.Reset()
	mac.Write(slices.Concat([]byte("parley-lane-join/1\x00"), met, b[:], []byte("kim")))
	if got := c.LaneMAC(joiner, n, b, "kim"); !bytes.Equal(got[:], mac.Sum(nil)) {
		t.Errorf("proof for a lane %x", got)
	}
	checkWords(t, c.LaneWordBits(joiner, n, a, b), digest("parley-lane-words/1\x00", met, a[:], b[:]))
	lane, invite := LaneID(a, b), c.ID()
	if got, want := string(LaneStatement(lane, invite, c.Inviter)), "parley/join/1\x00"+string(lane[:])+string(invite[:])+string(c.Inviter[:]); got != want {
		t.Errorf("lane statement %x, want %x", got, want)
	}
	if got := crc16([]byte("123456789")); got != 0x29b1 {
		t.Errorf("checksum %x, want that of CRC-16/CCITT-FALSE", got)
	}
}

// checkWords holds the numbers of four words against the first 44 bits of a hash.
func checkWords(t *testing.T, words [4]uint16, h [32]byte) {
	t.Helper()
	var bits strings.Builder
	for _, octet := range h[:6] {
		for shift := 7; shift >= 0; shift-- {
			bits.WriteByte('0' + octet>>shift&1)
		}
	}
	for i, got := range words {
		want := uint16(0)
		for _, bit := range bits.String()[11*i : 11*i+11] {
			want = want<<1 | uint16(bit-'0')
		}
		if got != want {
			t.Errorf("word %d is %d, want %d", i, got, want)
		}
	}
}

// text is a name with a text form.
type text interface {
	encoding.TextMarshaler
	String() string
}

func TestTextFormsAreReadBack(t *testing.T) {
	var i ID
	var l TID
	var d Device
	var o, none OID
	for _, c := range []struct {
		from text
		into encoding.TextUnmarshaler
		same func() bool
	}{
		{id("x"), &i, func() bool { return i == id("x") }},
		{TID(id("y")), &l, func() bool { return l == TID(id("y")) }},
		{device(3), &d, func() bool { return d == device(3) }},
		{oid("z"), &o, func() bool { return o == oid("z") }},
		{OID(""), &none, func() bool { return none == "" }},
	} {
		b, err := c.from.MarshalText()
		if err != nil || string(b) != c.from.String() {
			t.Fatalf("%T: %q, %v", c.from, b, err)
		}
		if err := c.into.UnmarshalText(b); err != nil || !c.same() {
			t.Errorf("%T: %q is read as another, %v", c.from, b, err)
		}
		for _, wrong := range []string{"0", "zz", strings.Repeat("zz", 32), strings.Repeat("00", 33)} {
			if c.into.UnmarshalText([]byte(wrong)) == nil {
				t.Errorf("%T reads %q", c.from, wrong)
			}
		}
	}
}

func TestShortFormsStartTheLongOnes(t *testing.T) {
	for _, c := range []struct{ short, long string }{
		{id("x").Short(), id("x").String()},
		{TID(id("x")).Short(), TID(id("x")).String()},
		{device(0).Short(), device(0).String()},
		{oid("x").Short(), oid("x").String()},
	} {
		if len(c.short) != 8 || !strings.HasPrefix(c.long, c.short) {
			t.Errorf("%q does not start %q", c.short, c.long)
		}
	}
	if OID("").Short() != "" {
		t.Error("the absent object has a short form")
	}
}

func TestAPartyIsAComputerOrALane(t *testing.T) {
	p, lane := DeviceParty(device(0)), LaneParty(TID(id("fleet")))
	if d, ok := p.Device(); !ok || d != device(0) {
		t.Error("the computer is lost")
	}
	if f, ok := lane.Fleet(); !ok || f != TID(id("fleet")) {
		t.Error("the fleet is lost")
	}
	if _, ok := lane.Device(); ok {
		t.Error("a lane is a computer")
	}
	if _, ok := p.Fleet(); ok {
		t.Error("a computer is a lane")
	}
	if !p.Less(lane) || !strings.HasPrefix(p.String(), "computer:") || !strings.HasPrefix(lane.String(), "lane:") {
		t.Errorf("%s, %s", p, lane)
	}
}

func TestTheSpineIsTheMainComputers(t *testing.T) { // P25
	var spine []Kind
	for _, f := range forms {
		if f.kind.Spine() {
			spine = append(spine, f.kind)
		}
	}
	if !slices.Equal(spine, []Kind{KindOpen, KindInterim, KindFinal, KindReassign, KindClosed}) {
		t.Errorf("the spine is %v", spine)
	}
}

func TestHeadsAreInShortestForm(t *testing.T) {
	for _, arg := range []uint64{0, 23, 24, 255, 256, 65535, 65536, 1<<32 - 1, 1 << 32, 1<<64 - 1} {
		want, err := encode.Marshal(arg)
		if err != nil {
			t.Fatal(err)
		}
		if got := appendHead(nil, majorUint, arg); !bytes.Equal(got, want) {
			t.Errorf("%d: %x, want %x", arg, got, want)
		}
	}
}
