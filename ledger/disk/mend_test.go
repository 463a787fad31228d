package disk

import (
	"slices"
	"testing"

	"github.com/dgraph-io/badger/v4"

	"github.com/parley-mesh/parley/ledger"
)

// breakByte changes one byte of a stored record, counted from its end when at is negative.
func breakByte(t *testing.T, s *Store, r *ledger.Record, at int) {
	t.Helper()
	wire := slices.Clone(r.Wire)
	if at < 0 {
		at += len(wire)
	}
	wire[at] ^= 1
	err := s.db.Update(func(txn *badger.Txn) error { return txn.Set(recordKey(r), wire) })
	if err != nil {
		t.Fatal(err)
	}
}

func TestABrokenByteIsFoundAndTheRecordComesBackFromAPeer(t *testing.T) { // case 43
	for name, at := range map[string]int{"tag": 0, "body": 40, "signature": -1} {
		t.Run(name, func(t *testing.T) {
			here, peer := open(t, Options{}), open(t, Options{})
			defer closed(t, here)
			defer closed(t, peer)
			records := writer(t, ledger.TID{1}, 1, 20)
			apply(t, here, records...)
			apply(t, peer, records...)
			breakByte(t, here, records[7], at)

			found, err := here.check(true)
			if err != nil || found.Unreadable != 1 || found.Records != 19 || found.Gaps != 1 {
				t.Fatalf("%+v %v", found, err)
			}
			head, _, err := here.Head(records[0].Ledger, records[0].Chain())
			if err != nil || head.Next != 7 || len(here.Waiting()) != 1 {
				t.Fatalf("it says that it holds %d records (%v) and asks for %v", head.Next, err, here.Waiting())
			}
			wires, err := peer.From(records[0].Ledger, head.Chain, head.Next, 100)
			if err != nil {
				t.Fatal(err)
			}
			for _, wire := range wires {
				r, err := ledger.Parse(wire)
				if err != nil {
					t.Fatal(err)
				}
				apply(t, here, r)
			}
			if whole, err := here.check(true); err != nil || whole != (Report{Ledgers: 1, Records: 20}) {
				t.Errorf("after the catch-up: %+v %v", whole, err)
			}
			if here.Digest() != peer.Digest() {
				t.Error("the two computers hold different ledgers")
			}
		})
	}
}
