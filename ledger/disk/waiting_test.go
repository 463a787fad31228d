package disk

import (
	"testing"
	"time"

	"github.com/parley-mesh/parley/ledger"
)

// came is a record as the room sees it.
func came(author byte, tid int, seq uint64) *ledger.Record {
	r := &ledger.Record{ID: ledger.ID{author, byte(tid), byte(tid >> 8), byte(seq), byte(seq >> 8)}}
	r.Device, r.Ledger, r.Seq = ledger.Device{author}, ledger.TID{author, byte(tid), byte(tid >> 8)}, seq
	return r
}

func count(q *room, meant func(early) bool) (n int) {
	for _, r := range q.records {
		if meant(r) {
			n++
		}
	}
	return n
}

func TestNobodyFillsTheWaitingRoomAlone(t *testing.T) { // D-4
	var q room
	now := time.Now()
	for i := range 10 {
		q.add(came(1, i, 5), now)
	}
	for i := range 5000 { // another writes early records into ever new ledgers
		q.add(came(2, i, 5), now)
	}

	if n := count(&q, func(r early) bool { return r.Device == ledger.Device{1} }); n != 10 {
		t.Errorf("%d of 10 records of the first author still wait", n)
	}
	if n := count(&q, func(r early) bool { return r.Device == ledger.Device{2} }); n != waitingPerAuthor {
		t.Errorf("%d records of the other wait, want %d", n, waitingPerAuthor)
	}
	for author := range byte(20) {
		for i := range 300 {
			q.add(came(author+10, i, 5), now)
		}
	}
	if len(q.records) > waitingInAll {
		t.Errorf("%d records wait, want at most %d", len(q.records), waitingInAll)
	}
}

func TestOneLedgerKeepsWhatIsNearestToItsGap(t *testing.T) { // D-4
	var q room
	for seq := uint64(200); seq > 0; seq-- {
		q.add(came(1, 0, seq), time.Now())
	}
	if n := count(&q, func(r early) bool { return r.Seq <= waitingPerLedger }); n != waitingPerLedger || len(q.records) != n {
		t.Errorf("%d records wait, %d of the nearest", len(q.records), n)
	}
}

func TestWhatHasWaitedAWeekLeaves(t *testing.T) { // D-4
	s := Store{books: map[ledger.TID]*book{}, stale: map[ledger.TID]bool{}}
	now := time.Now()
	s.waiting.add(came(1, 1, 5), now.Add(-waitingFor-time.Minute))
	s.waiting.add(came(1, 2, 5), now.Add(-waitingFor+time.Minute))
	if got := s.Waiting(); len(got) != 1 || got[0] != came(1, 2, 5).Ledger {
		t.Errorf("waiting: %v", got)
	}

	s.waiting.add(came(1, 3, 5), now)

	if len(s.waiting.records) != 2 {
		t.Errorf("%d records wait, want 2", len(s.waiting.records))
	}
}
