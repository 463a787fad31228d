package ledger

import (
	"bytes"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"strings"
	"testing"

	"github.com/fxamacker/cbor/v2"
	"github.com/veraison/go-cose"
	"pgregory.net/rapid"
)

func TestOthersReadOurRecords(t *testing.T) { // RFC 9052, by a second implementation
	r := goldenRecord(t)
	var m cose.Sign1Message
	if err := m.UnmarshalCBOR(r.Wire); err != nil {
		t.Fatal(err)
	}
	v, err := cose.NewVerifier(cose.AlgorithmEdDSA, ed25519.PublicKey(r.Device[:]))
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Verify([]byte("parley/record/1"), v); err != nil {
		t.Error(err)
	}
	if err := m.Verify([]byte("parley/roster/1"), v); err == nil {
		t.Error("the context is not signed")
	}
}

func TestABodyHasOneForm(t *testing.T) { // case 2
	w := goldenRecord(t).Wire
	body := w[9 : len(w)-66]
	sig := w[len(w)-64:]
	join := func(parts ...[]byte) []byte { return bytes.Join(parts, nil) }
	for name, forged := range map[string][]byte{
		"a trailing byte":                join(w, []byte{0}),
		"a missing byte":                 w[:len(w)-1],
		"an unprotected header":          join([]byte{0xd2, 0x84, 0x43, 0xa1, 0x01, 0x27, 0xa1, 0x04, 0x41, 0x61}, w[7:]),
		"a longer length of the payload": join(w[:7], []byte{0x59, 0x00, byte(len(body))}, body, []byte{0x58, 0x40}, sig),
		"a longer protected map":         join([]byte{0xd2, 0x84, 0x44, 0xa1, 0x18, 0x01, 0x27, 0xa0}, w[7:]),
		"no tag":                         w[1:],
		"twice":                          join(w, w),
	} {
		if r, err := Parse(forged); err == nil {
			t.Errorf("%s is read as %s", name, r.ID)
		}
	}
}

func TestASecondSignatureOverOneBodyIsTheSameRecord(t *testing.T) { // case 3
	r := goldenRecord(t)
	body := r.Wire[9 : len(r.Wire)-66]
	// Any nonce makes another valid signature; a key holder can make as many as it likes. Signing with the
	// pre-hash context option of another message is not needed to show that the id ignores the signature.
	forged := append(bytes.Clone(r.Wire[:len(r.Wire)-64]), make([]byte, 64)...)
	if _, err := rand.Read(forged[len(forged)-64:]); err != nil {
		t.Fatal(err)
	}
	other, err := Parse(forged)
	if err != nil || other.ID != r.ID {
		t.Fatalf("id %v, %v", other, err)
	}
	if err := other.Verify(Conversation); !errors.Is(err, ErrSignature) {
		t.Errorf("a random signature verifies: %v", err)
	}
	if idOf(body) != r.ID {
		t.Error("the id is not over the body")
	}
}

// edit changes a sample's body map before it is signed.
func edit(t *testing.T, s sample, change func(map[uint64]any)) error {
	t.Helper()
	raw, err := encode.Marshal(s.content)
	if err != nil {
		t.Fatal(err)
	}
	body := map[uint64]any{}
	if err := cbor.Unmarshal(raw, &body); err != nil {
		t.Fatal(err)
	}
	change(body)
	return seal(t, s.header, s.content.Kind(), body)
}

func seal(t *testing.T, h Header, k Kind, body map[uint64]any) error {
	t.Helper()
	raw, err := encode.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	h.V, h.Kind, h.Body, h.Device = Version, k, raw, device(0)
	whole, err := encode.Marshal(h)
	if err != nil {
		t.Fatal(err)
	}
	_, err = Parse(sign(testKey(0), k.Family(), whole))
	return err
}

func sampleOf(t *testing.T, k Kind) sample {
	t.Helper()
	for _, s := range samples() {
		if s.content != nil && s.content.Kind() == k {
			return s
		}
	}
	t.Fatalf("no sample of %s", k)
	return sample{}
}

func TestEveryStaticRuleRefuses(t *testing.T) {
	drop := func(key uint64) func(map[uint64]any) { return func(m map[uint64]any) { delete(m, key) } }
	set := func(key uint64, v any) func(map[uint64]any) { return func(m map[uint64]any) { m[key] = v } }
	for _, c := range []struct {
		kind   Kind
		rule   string
		change func(map[uint64]any)
	}{
		{KindOpen, "another pull request than its ledger's", set(4, 43)},
		{KindOpen, "pull request zero", set(4, 0)},
		{KindOpen, "no host", set(1, "")},
		{KindOpen, "a long base", set(6, strings.Repeat("x", 256))},
		{KindOpen, "an unknown algorithm", set(7, 3)},
		{KindOpen, "ids of the other length", set(7, 2)},
		{KindOpen, "no files", set(11, []any{})},
		{KindOpen, "no parties", set(12, []any{})},
		{KindOpen, "a responsible side that is no party", set(13, 3)},
		{KindOpen, "an author's computer that is no party", set(14, 3)},
		{KindOpen, "no merge base", drop(10)},
		{KindInterim, "an unknown reason", set(1, 4)},
		{KindInterim, "a pick without a decision", set(1, 1)},
		{KindInterim, "picks out of order", set(2, []any{1, 0})},
		{KindInterim, "an empty pick written out", set(2, []any{})},
		{KindReassign, "an unknown reason", set(2, 6)},
		{KindReassign, "no such party index", set(1, 50)},
		{KindFinal, "an unknown way", set(1, 3)},
		{KindFinal, "a file twice", set(4, []any{map[uint64]any{1: 0}, map[uint64]any{1: 0}})},
		{KindFinal, "an unknown key in a file", set(4, []any{map[uint64]any{1: 0, 9: 1}})},
		{KindFinal, "no files", set(4, []any{})},
		{KindClosed, "an unknown reason", set(1, 7)},
		{KindClosed, "skipped out of order", set(2, []any{2, 1})},
		{KindAck, "no classes", set(1, []any{})},
		{KindAck, "an unknown class", set(1, []any{7})},
		{KindAck, "a wait of two", set(2, 2)},
		{KindAck, "a wait of zero written out", set(2, 0)},
		{KindObject, "an unknown reason", set(1, 4)},
		{KindObject, "files out of order", set(2, []any{map[uint64]any{1: 1, 2: 1}, map[uint64]any{1: 0, 2: 1}})},
		{KindFinalReady, "unknown tests", set(4, 4)},
		{KindAdopted, "no results", set(2, []any{})},
		{KindAdopted, "an unknown result", set(2, []any{6})},
		{KindGenesis, "another nonce than its ledger's", set(2, make([]byte, 16))},
		{KindName, "no name", set(2, "")},
		{KindName, "a long name", set(2, strings.Repeat("x", 65))},
		{KindRevoke, "an unknown reason", set(2, 4)},
		{KindMainClaim, "term zero", set(1, 0)},
		{KindLaneOn, "no repositories", set(1, []any{})},
		{KindLaneOn, "repositories out of order", set(1, []any{7, 1})},
		{KindAm, "no login", set(4, "")},
		{KindNote, "an unknown cause", set(2, 4)},
	} {
		t.Run(string(c.kind)+": "+c.rule, func(t *testing.T) {
			s := sampleOf(t, c.kind)
			if err := edit(t, s, func(map[uint64]any) {}); err != nil {
				t.Fatalf("unchanged: %v", err)
			}
			if err := edit(t, s, c.change); !errors.Is(err, ErrMalformed) {
				t.Errorf("it is read: %v", err)
			}
		})
	}
}

func TestEveryHeaderRuleRefuses(t *testing.T) {
	ack := sampleOf(t, KindAck)
	for rule, change := range map[string]func(*Header){
		"a first record with a previous one":    func(h *Header) { h.Seq = 0 },
		"a later record without a previous one": func(h *Header) { h.Prev = ID{} },
		"a leaf without an open":                func(h *Header) { h.Open = ID{} },
		"a leaf with a spine":                   func(h *Header) { h.Spine = id("x") },
		"a leaf that answers two":               func(h *Header) { h.Re = []ID{id("x"), id("y")} },
		"a logical time out of range":           func(h *Header) { h.Lam = LamportMax + 1 },
	} {
		h := ack.header
		change(&h)
		if _, err := Seal(testKey(0), h, ack.content); !errors.Is(err, ErrMalformed) {
			t.Errorf("%s is sealed: %v", rule, err)
		}
	}
	interim := sampleOf(t, KindInterim)
	h := interim.header
	h.Claim = ID{}
	if _, err := Seal(testKey(0), h, interim.content); err == nil {
		t.Error("a spine record without a claim is sealed")
	}
}

func TestUnknownKeysAndKindsAreKept(t *testing.T) { // case 11
	s := sampleOf(t, KindAck)
	parse := func(k Kind, extra map[uint64]any) *Record {
		t.Helper()
		body := map[uint64]any{1: []any{1}}
		for key, v := range extra {
			body[key] = v
		}
		raw, err := encode.Marshal(body)
		if err != nil {
			t.Fatal(err)
		}
		h := s.header
		h.V, h.Kind, h.Body, h.Device = Version, k, raw, device(0)
		whole, err := encode.Marshal(h)
		if err != nil {
			t.Fatal(err)
		}
		r, err := Parse(sign(testKey(0), Conversation, whole))
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	if r := parse(KindAck, map[uint64]any{64: 1}); r.Opaque {
		t.Error("a key that may be passed over makes the thread opaque")
	}
	if r := parse(KindAck, map[uint64]any{20: 1}); !r.Opaque || r.Content == nil {
		t.Error("a critical key is passed over")
	}
	r := parse("yodel", nil)
	if !r.Opaque || r.Content != nil || r.Verify(Conversation) != nil || r.Family() != FamilyUnknown {
		t.Errorf("an unknown kind is not kept as it is: %+v", r)
	}
}

func TestAFullOpenFitsAndALargerOneIsRefused(t *testing.T) { // P17, case 57
	open := sampleOpen()
	full := func(pathBytes int) error {
		open.Files = nil
		for i := range FilesMax {
			path := strings.Repeat("p", pathBytes-2) + string([]byte{'a' + byte(i/26), 'a' + byte(i%26)})
			open.Files = append(open.Files, File{Path: Path(path), Base: oid("1"), Master: oid("2"), Pull: oid("3"), Mode: ModePlain})
		}
		_, err := Seal(testKey(0), sampleOf(t, KindOpen).header, open)
		return err
	}
	if err := full(120); err != nil {
		t.Errorf("25 files with paths of 120 bytes: %v", err)
	}
	if err := full(300); !errors.Is(err, ErrTooLarge) {
		t.Errorf("25 files with paths of 300 bytes: %v", err)
	}
}

func TestCheckingAllocatesNothing(t *testing.T) { // case 9
	body := goldenRecord(t).Wire[9:]
	body = body[:len(body)-66]
	deep := bytes.Repeat([]byte{0x81}, 10000)
	huge, _ := hex.DecodeString("9b7fffffffffffffff")
	for name, b := range map[string][]byte{"a record": body, "deep nesting": deep, "a huge count": huge} {
		if n := testing.AllocsPerRun(100, func() { Canonical(b) }); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
	if Canonical(deep) || Canonical(huge) || !Canonical(body) || Canonical(nil) {
		t.Error("wrong verdicts")
	}
}

func TestFollowingDependsOnTheSetAlone(t *testing.T) { // cases 7, 8, 12
	h := leaf("open")
	h.Seq, h.Prev, h.Lam = 0, ID{}, 1
	chain := []*Record{}
	write := func(prev *Record, turns uint64) *Record {
		n := h
		n.Turns = turns
		if prev != nil {
			n.Seq, n.Prev, n.Lam = prev.Seq+1, prev.ID, prev.Lam+1
		}
		r, err := Seal(testKey(0), n, &Ack{Classes: []Class{HasMaster}})
		if err != nil {
			t.Fatal(err)
		}
		chain = append(chain, r)
		return r
	}
	first := write(nil, 0)
	left, right := write(first, 1), write(first, 2)
	write(left, 0)
	write(right, 0)
	low := left
	if right.ID.Less(left.ID) {
		low = right
	}
	rapid.Check(t, func(rt *rapid.T) {
		some := rapid.Permutation(chain).Draw(rt, "order")
		followed, forked := Follow(append(some, some[0]))
		if len(followed) != 3 || followed[1].ID != low.ID || followed[2].Prev != low.ID || len(forked) != 1 {
			rt.Fatalf("followed %d, forked %v", len(followed), forked)
		}
		gap, _ := Follow([]*Record{chain[0], chain[3], chain[4]})
		if len(gap) != 1 {
			rt.Fatalf("followed %d records over a gap", len(gap))
		}
	})
}

func TestAnInviteCodeSurvivesTypingAndFindsSlips(t *testing.T) { // cases 53, 54
	c := InviteCode{Kind: InviteComputer, Inviter: device(0), Secret: [16]byte{1, 2}, Addrs: [][]byte{{4, 127, 0, 0, 1}}}
	code := c.Encode()
	for _, typed := range []string{code, strings.ToLower(code), " " + code[:20] + "- " + code[20:] + "\n"} {
		got, err := ParseInviteCode(typed)
		if err != nil || got.ID() != c.ID() || got.Inviter != c.Inviter || len(got.Addrs) != 1 {
			t.Errorf("%q: %v", typed, err)
		}
	}
	for i := 3; i < len(code); i++ {
		slip := []byte(code)
		slip[i] = map[bool]byte{true: 'B', false: 'A'}[slip[i] == 'A']
		if got, err := ParseInviteCode(string(slip)); err == nil && got.Encode() != code {
			t.Errorf("a slip at %d is read", i)
		}
	}
	for typed, want := range map[string]error{"hello": ErrNoCode, "P2-AAAA": ErrCodeVersion, code[:len(code)-4]: ErrCodeDamaged, "P1-": ErrCodeDamaged} {
		if _, err := ParseInviteCode(typed); !errors.Is(err, want) {
			t.Errorf("%q: %v, want %v", typed, err, want)
		}
	}
	if strings.Contains(c.String(), code[10:30]) {
		t.Error("a log line shows the secret")
	}
}

func FuzzCanonical(f *testing.F) {
	for _, s := range []string{"a0", "8101", "a20102030405", "f4", "1818", "f97e00", "c001", "5f42aabb41ccff", "a1f90000f5", "a101a101f6", "a2020103f4"} {
		b, _ := hex.DecodeString(s)
		f.Add(b)
	}
	strict, err := cbor.DecOptions{
		DupMapKey: cbor.DupMapKeyEnforcedAPF, IndefLength: cbor.IndefLengthForbidden, TagsMd: cbor.TagsForbidden,
		UTF8: cbor.UTF8RejectInvalid, NaN: cbor.NaNDecodeForbidden, Inf: cbor.InfDecodeForbidden, MaxNestedLevels: 16,
		MaxArrayElements: 1 << 20, MaxMapPairs: 1 << 20,
	}.DecMode()
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if !Canonical(b) {
			return // we refuse more than the library: null, floats, simple values, other keys, depth
		}
		var v any
		if err := strict.Unmarshal(b, &v); err != nil {
			t.Fatalf("%x is canonical here, and the library says %v", b, err)
		}
		again, err := encode.Marshal(v)
		if err != nil || !bytes.Equal(again, b) {
			t.Fatalf("%x is canonical here, and the library writes %x, %v", b, again, err)
		}
	})
}

func FuzzParse(f *testing.F) {
	for _, s := range samples() {
		if s.content != nil {
			if r, err := Seal(testKey(0), s.header, s.content); err == nil {
				f.Add(r.Wire)
			}
		}
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := Parse(b)
		if err != nil {
			return
		}
		if r.Content != nil && r.Kind != r.Content.Kind() {
			t.Fatalf("a %s with the content of a %s", r.Kind, r.Content.Kind())
		}
		_ = r.Verify(Conversation) // must not panic
	})
}

func FuzzFrame(f *testing.F) {
	for _, s := range frames() {
		if b, err := EncodeFrame(s.frame); err == nil {
			f.Add(b)
		}
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		frame, err := DecodeFrame(b)
		if err != nil {
			return
		}
		again, err := EncodeFrame(frame)
		if err != nil {
			t.Fatalf("%x is read and cannot be written: %v", b, err)
		}
		if second, err := DecodeFrame(again); err != nil || second.frame() != frame.frame() {
			t.Fatalf("%x is read once and not twice: %v", b, err)
		}
	})
}

func BenchmarkCanonical(b *testing.B) {
	body := goldenRecord(b).Wire[9:]
	body = body[:len(body)-66]
	b.SetBytes(int64(len(body)))
	for b.Loop() {
		Canonical(body)
	}
}

func BenchmarkParseAndVerify(b *testing.B) {
	wire := goldenRecord(b).Wire
	for b.Loop() {
		r, err := Parse(wire)
		if err != nil || r.Verify(Conversation) != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkVerifyAlone(b *testing.B) { // the baseline: Ed25519 over the same bytes
	r := goldenRecord(b)
	body := r.Wire[9 : len(r.Wire)-66]
	message, sig := toBeSigned(Conversation, body), r.Wire[len(r.Wire)-64:]
	for b.Loop() {
		if !ed25519.Verify(r.Device[:], message, sig) {
			b.Fatal("it does not verify")
		}
	}
}

func BenchmarkSeal(b *testing.B) {
	s := samples()[1]
	for b.Loop() {
		if _, err := Seal(testKey(0), s.header, s.content); err != nil {
			b.Fatal(err)
		}
	}
}
