package disk

import (
	"crypto/ed25519"
	"testing"

	"github.com/parley-mesh/parley/ledger"
)

func writer(t testing.TB, tid ledger.TID, inc byte, n int) []*ledger.Record {
	t.Helper()
	key := ed25519.NewKeyFromSeed(make([]byte, 32))
	head := ledger.Head{Chain: ledger.Chain{Device: ledger.Device(key.Public().(ed25519.PublicKey)), Inc: ledger.Incarnation{inc}}}
	var out []*ledger.Record
	for range n {
		op := ledger.ID{1}
		r, err := ledger.Seal(key, ledger.Header{Ledger: tid, Inc: head.Inc, Seq: head.Next, Prev: head.ID, Open: op, Re: []ledger.ID{op}, Lam: head.Lam + 1, At: 1},
			&ledger.Ack{Classes: []ledger.Class{ledger.HasMaster}})
		if err != nil {
			t.Fatal(err)
		}
		head = head.After(r)
		out = append(out, r)
	}
	return out
}

func TestARecordThatComesEarlyIsAppendedOnceItsPredecessorIsThere(t *testing.T) { // D-4
	s, err := Open(Options{Dir: t.TempDir(), MinFree: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	tid := ledger.TID{9}
	r := writer(t, tid, 1, 3)

	got, err := s.Apply(Batch{Records: []*ledger.Record{r[2], r[1]}})
	if err != nil || got[0] != Waiting || got[1] != Waiting {
		t.Fatalf("outcomes %v, %v", got, err)
	}
	if got, err = s.Apply(Batch{Records: []*ledger.Record{r[0]}}); err != nil || got[0] != Stored {
		t.Fatalf("outcomes %v, %v", got, err)
	}

	all, err := s.Records(tid)
	if err != nil || len(all) != 3 || len(s.Waiting()) != 0 {
		t.Fatalf("%d records, waiting %v, %v", len(all), s.Waiting(), err)
	}
}
