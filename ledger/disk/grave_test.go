package disk

import (
	"testing"

	"github.com/parley-mesh/parley/ledger"
)

func entryOf(t *testing.T, s *Store, tid ledger.TID) (Entry, int) {
	t.Helper()
	all, err := s.Ledgers()
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range all {
		if e.Listing.Ledger == tid {
			return e, len(all)
		}
	}
	return Entry{}, len(all)
}

func TestAPrunedThreadKeepsItsEndAndTakesNothingBack(t *testing.T) { // P24, S9
	for _, keep := range []bool{false, true} {
		dir := t.TempDir()
		s := open(t, Options{Dir: dir})
		tid, other := ledger.TID{9}, ledger.TID{8}
		r := writer(t, tid, 1, 5)
		apply(t, s, r[0], r[1], r[2], r[4]) // the last waits
		apply(t, s, writer(t, other, 1, 3)...)
		tomb := ledger.Tomb{Ledger: tid, Open: r[0].Wire, Spine: [][]byte{r[2].Wire}, Digest: ledger.TombDigest(r[2].ID)}

		if _, err := s.Apply(Batch{Bury: []Grave{{Tomb: tomb, Keep: keep}}}); err != nil {
			t.Fatal(err)
		}

		for _, when := range []string{"at once", "after a restart", "after a check"} {
			e, n := entryOf(t, s, tid)
			records, err := s.Records(tid)
			want := 0
			if keep {
				want = 3
			}
			if n != 2 || e.Listing.Digest != tomb.Digest || e.Pruned == keep || e.Family != ledger.Conversation || err != nil || len(records) != want || s.Pruned(tid) == keep {
				t.Errorf("keep %v, %s: %d ledgers, %+v, %d records, %v", keep, when, n, e, len(records), err)
			}
			if got, ok, err := s.Tomb(tid); !ok || err != nil || got.Digest != tomb.Digest || len(got.Spine) != 1 {
				t.Errorf("keep %v, %s: the tomb is %+v, %v", keep, when, got, err)
			}
			switch when {
			case "at once":
				closed(t, s)
				s = open(t, Options{Dir: dir})
			case "after a restart":
				if report, err := s.Check(); err != nil || report.Mended != 0 || report.Unreadable != 0 {
					t.Errorf("keep %v: a check finds %+v, %v", keep, report, err)
				}
			}
		}
		out := apply(t, s, r[0], r[3])
		if want := [2]Outcome{Forgotten, Forgotten}; !keep && [2]Outcome(out) != want || keep && (out[0] != Known || out[1] != Stored) {
			t.Errorf("keep %v: replayed records are %v", keep, out)
		}
		if rec, err := s.Record(r[1].ID); err != nil || (rec != nil) != keep {
			t.Errorf("keep %v: a record is found by its id: %v, %v", keep, rec != nil, err)
		}
		if w := s.Waiting(); !keep && len(w) != 0 {
			t.Errorf("something waits still in %v", w)
		}
		if _, ok, err := s.Tomb(other); ok || err != nil {
			t.Errorf("another thread has a tomb: %v", err)
		}
		closed(t, s)
	}
}
