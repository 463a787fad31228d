package node

import (
	"crypto/ed25519"
	"testing"
	"time"

	"github.com/parley-mesh/parley/ledger"
)

// saidBy are n records of one author's chain.
func saidBy(t *testing.T, seed byte, n int) []*ledger.Record {
	t.Helper()
	key := ed25519.NewKeyFromSeed(append(make([]byte, 31), seed))
	head := ledger.Head{Chain: ledger.Chain{Device: ledger.Device(key.Public().(ed25519.PublicKey)), Inc: ledger.Incarnation{1}}}
	var out []*ledger.Record
	for range n {
		r, err := ledger.Seal(key, ledger.Header{
			Ledger: ledger.TID{7}, Inc: head.Inc, Seq: head.Next, Prev: head.ID, Open: ledger.ID{1}, Re: []ledger.ID{{1}}, Lam: head.Lam + 1, At: 1,
		}, &ledger.Ack{Classes: []ledger.Class{ledger.HasMaster}})
		if err != nil {
			t.Fatal(err)
		}
		head, out = head.After(r), append(out, r)
	}
	return out
}

func TestRecordsOfUnknownAuthorsWaitInBoundedRoom(t *testing.T) { // S18
	var s strangers
	now := time.Unix(1764500000, 0)
	flood := saidBy(t, 1, strangersPerPeer+10)
	if n := s.put(ledger.Device{1}, flood, now); n != 10 {
		t.Errorf("%d of a flood are refused", n)
	}
	if n := s.put(ledger.Device{1}, flood[:5], now); n != 0 || len(s.all) != strangersPerPeer {
		t.Errorf("again: %d refused, %d wait", n, len(s.all))
	}
	honest := saidBy(t, 2, 3)
	if n := s.put(ledger.Device{2}, honest, now.Add(time.Minute)); n != 0 {
		t.Errorf("another peer's are refused: %d", n)
	}
	for peer := range strangersInAll/strangersPerPeer + 1 {
		s.put(ledger.Device{9, byte(peer)}, saidBy(t, byte(10+peer), strangersPerPeer), now.Add(time.Minute))
	}
	if len(s.all) != strangersInAll {
		t.Errorf("%d wait in all", len(s.all))
	}

	got := s.known(func(d ledger.Device) bool { return d == honest[0].Device })
	if len(got) != 3 || got[0] != honest[0] || got[2] != honest[2] {
		t.Errorf("%d records of the known author", len(got))
	}
	if n := s.expire(now.Add(strangersFor + time.Second)); n != strangersPerPeer {
		t.Errorf("%d have waited too long", n)
	}
}

func TestAnUnknownAuthorsRecordCountsOnceTheRosterNamesIt(t *testing.T) { // D-4
	n, err := start(t.Context(), RunConfig{Home: demoHome(t), Demo: true})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := n.close(); err != nil {
			t.Error(err)
		}
	}()
	early := saidBy(t, 5, 2)
	friend := ed25519.NewKeyFromSeed(append(make([]byte, 31), 5))
	receive := func(f ledger.Family, records ...*ledger.Record) {
		t.Helper()
		if err := (book{n}).Receive(t.Context(), ledger.Device{8}, f, records); err != nil {
			t.Fatal(err)
		}
	}
	held := func() int {
		t.Helper()
		all, err := n.store.Records(ledger.TID{7})
		if err != nil {
			t.Fatal(err)
		}
		return len(all)
	}
	receive(ledger.Conversation, early...)
	if held() != 0 {
		t.Fatal("a stranger's records are stored")
	}

	add := &ledger.Add{Device: early[0].Device, Invite: ledger.Invite{1}}
	copy(add.Accept[:], ed25519.Sign(friend, ledger.JoinStatement(n.fleet, add.Invite, n.id.Device())))
	r, err := ledger.Seal(n.id.Key(), ledger.Header{Ledger: n.fleet, Inc: ledger.Incarnation{77}, Lam: 9, At: 1, Deps: n.deps()}, add)
	if err != nil {
		t.Fatal(err)
	}
	receive(ledger.Roster, r)

	if held() != 2 || len(n.strangers.all) != 0 {
		t.Errorf("%d of 2 records count, %d wait still", held(), len(n.strangers.all))
	}
	for peer := range 2 {
		receive(ledger.Conversation, saidBy(t, byte(20+peer), strangersPerPeer)...)
	}
	for _, c := range n.mesh.Refused() {
		if c.Why == "unknown-author" && c.Times != strangersPerPeer {
			t.Errorf("%d are counted as refused", c.Times)
		}
	}
}
