package disk

import (
	"testing"

	"github.com/parley-mesh/parley/ledger"
)

func TestADroppedLedgerLeavesNothingAndMayComeAgain(t *testing.T) { // D-5
	dir := t.TempDir()
	s := open(t, Options{Dir: dir})
	tid, other := ledger.TID{9}, ledger.TID{8}
	r := writer(t, tid, 1, 5)
	apply(t, s, r[0], r[1], r[3]) // the last waits
	apply(t, s, writer(t, other, 1, 3)...)
	if _, err := s.Apply(Batch{Drop: []ledger.TID{tid}}); err != nil {
		t.Fatal(err)
	}
	for _, when := range []string{"at once", "after a restart"} {
		all, err := s.Ledgers()
		records, errRecords := s.Records(tid)
		byID, errID := s.Record(r[1].ID)
		_, held := s.Family(tid)
		if err != nil || errRecords != nil || errID != nil || len(all) != 1 || len(records) != 0 || byID != nil || held || len(s.Waiting()) != 0 {
			t.Errorf("%s: %d ledgers, %d records, %v, held %v, waiting %d, %v %v %v", when, len(all), len(records), byID, held, len(s.Waiting()), err, errRecords, errID)
		}
		closed(t, s)
		s = open(t, Options{Dir: dir})
	}
	if out := apply(t, s, r[0], r[1]); out[0] != Stored || out[1] != Stored {
		t.Errorf("its records are taken as %v", out)
	}
	if _, n := entryOf(t, s, tid); n != 2 {
		t.Errorf("%d ledgers are listed, want 2", n)
	}
	// In one group with its own end, a new beginning stands.
	if _, err := s.transact([]job{{batch: Batch{Drop: []ledger.TID{tid}}}, {batch: Batch{Records: r[:1]}}}); err != nil {
		t.Fatal(err)
	}
	if head, _, err := s.Head(tid, r[0].Chain()); err != nil || head.Next != 1 {
		t.Errorf("the new beginning is held up to %d, %v", head.Next, err)
	}
	if report, err := s.Check(); err != nil || report.Mended != 0 || report.Unreadable != 0 {
		t.Errorf("a check finds %+v, %v", report, err)
	}
	closed(t, s)
}
