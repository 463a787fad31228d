package ledger

import (
	"slices"
	"strings"
	"testing"
)

func TestEveryLimitIsReached(t *testing.T) { // P25
	x := func(n int) string { return strings.Repeat("x", n) }
	versions := many(25, func(i int) any { return fields{1: i} })
	ones := many(25, func(int) any { return 1 })
	ids := func(n int) any {
		return many(n, func(i int) any { return slices.Concat([]byte{0, byte(i)}, make([]byte, 30)) })
	}
	for _, c := range []rule{
		{KindOpen, "a host of 100 bytes", "", func(h, b fields) {
			led := ConflictKey{Host: x(100), Repo: sampleKey.Repo, Pull: sampleKey.Pull}.Thread()
			b[1], h[3] = x(100), led[:]
		}},
		{KindOpen, "a slug of 140 bytes", "", body(3, x(140))},
		{KindOpen, "a base of 255 bytes", "", body(6, x(255))},
		{KindOpen, "50 parties", "", body(12, many(50, func(i int) any { return slices.Concat([]byte{0, byte(i)}, make([]byte, 31)) }))},
		{KindOpen, "a path of 1,024 bytes", "", file(1, 1, []byte(x(1024)))},
		{KindOpen, "a path with dots", "", file(0, 1, []byte(".../..a/.b"))},
		{KindOpen, "a path that is no UTF-8", "", file(1, 1, []byte{0xff, '\\', '\n'})},
		{KindInterim, "the last file picked", "", body(2, []any{0, 24})},
		{KindInterim, "why 2", "", func(_, b fields) { b[1] = 2; delete(b, 2) }},
		{KindReassign, "the last party", "", body(1, 49)},
		{KindReassign, "the last reason", "", body(2, 5)},
		{KindFinal, "a base of 255 bytes", "", body(3, x(255))},
		{KindFinal, "25 files", "", body(4, versions)},
		{KindFinal, "elsewhere", "", func(h, b fields) { b[1] = 2; delete(h, 10) }},
		{KindClosed, "the last reason", "", body(1, 6)},
		{KindClosed, "the last party", "", body(2, []any{0, 49})},
		{KindClosed, "64 confirmations", "", header(10, make([]ID, 64))},
		{KindAck, "25 classes", "", body(1, ones)},
		{KindAck, "the last class", "", body(1, []any{6})},
		{KindAck, "the last logical time", "", header(12, uint64(LamportMax))},
		{KindObject, "the last reason", "", body(1, 3)},
		{KindObject, "25 files", "", body(2, many(25, func(i int) any { return fields{1: i, 2: 0} }))},
		{KindFinalReady, "the last test", "", body(4, 3)},
		{KindAdopted, "25 results", "", body(2, ones)},
		{KindAdopted, "the last result", "", body(2, []any{5})},
		{KindName, "64 bytes", "", body(2, x(64))},
		{KindName, "16 heads", "", header(17, make([]ID, 16))},
		{KindRevoke, "the last reason", "", body(2, 3)},
		{KindMainClaim, "the last term", "", body(1, 1<<40)},
		{KindMainClaim, "64 claims", "", body(2, ids(64))},
		{KindLaneOn, "200 repositories", "", body(1, many(200, func(i int) any { return i }))},
		{KindLaneOn, "live work of both repositories", "", body(17, []any{1, 7})},
		{KindAddress, "an address of 254 bytes", "", body(2, x(245)+"@acme.com")},
		{KindAm, "a host of 100 bytes", "", body(2, x(100))},
		{KindAm, "a login of 64 bytes", "", body(4, x(64))},
		{KindNote, "the last cause", "", body(2, 3)},
	} {
		if r, err := Parse(edited(t, sampleOf(t, c.kind), c.change)); err != nil || r.Opaque {
			t.Errorf("%s: %s: %v", c.kind, c.name, err)
		}
	}
	for _, c := range workLimits() {
		if r, err := Parse(edited(t, sampleOf(t, c.kind), c.change)); err != nil || r.Opaque {
			t.Errorf("%s: %s: %v", c.kind, c.name, err)
		}
	}
	unknown := edited(t, sampleOf(t, KindAck), header(2, strings.Repeat("z", 16)))
	if _, err := Parse(unknown); err != nil {
		t.Errorf("a kind of 16 letters: %v", err)
	}
}

func TestEveryFrameLimitIsReached(t *testing.T) {
	for _, f := range []Frame{
		&List{Scope: ListAll, Entries: make([]Listing, ListingsMax)},
		&Bucket{Index: 255, Entries: make([]Listing, ListingsMax)},
		&Have{Positions: make([]Position, HaveMax)},
		&Detail{Authored: make([][2]uint64, ListingsMax)},
		&Join{Version: 1, Name: strings.Repeat("x", 64)},
		&Welcome{Name: strings.Repeat("x", 64)},
		&Records{Family: Work, Wires: [][]byte{make([]byte, FrameBytesMax-46)}},
	} {
		b, err := EncodeFrame(f)
		if err != nil {
			t.Errorf("%T: %v", f, err)
			continue
		}
		if _, err := DecodeFrame(b); err != nil {
			t.Errorf("%T of %d bytes: %v", f, len(b), err)
		}
	}
}

func TestARecordOf8000BytesFits(t *testing.T) { // P25
	s := sampleOf(t, KindAck)
	size := len(edited(t, s, body(64, strings.Repeat("x", 5000))))
	most := 5000 + RecordBytesMax - size
	if wire := edited(t, s, body(64, strings.Repeat("x", most))); len(wire) != RecordBytesMax {
		t.Fatalf("the test makes %d bytes", len(wire))
	} else if _, err := Parse(wire); err != nil {
		t.Error(err)
	}
	if _, err := Parse(edited(t, s, body(64, strings.Repeat("x", most+1)))); err != ErrTooLarge {
		t.Errorf("8,001 bytes: %v", err)
	}
}
