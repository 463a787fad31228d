package thread

import (
	"testing"

	"github.com/parley-mesh/parley/ledger"
)

// longThread is a thread of n records, as hesitating computers would write it.
func longThread(b *testing.B, n int) (*world, []*ledger.Record) {
	b.Helper()
	w := newWorld(b)
	for i := len(w.records); i < n; i++ {
		c := w.people[i%3]
		classes := []ledger.Class{ledger.HasMaster, ledger.Class(1 + i%3)}
		w.say(c, ledger.Header{Ledger: w.open.Key().Thread(), Open: w.records[0].ID, Re: []ledger.ID{w.records[0].ID}}, &ledger.Ack{Classes: classes})
	}
	return w, w.records
}

func BenchmarkFold500Records(b *testing.B) {
	w, records := longThread(b, 500)
	rosters := w.rosters()
	for b.Loop() {
		if s := Fold(records, rosters); s.Phase != Opened {
			b.Fatal(s.Phase)
		}
	}
}

// BenchmarkParse500Records is the baseline: what reading the same records costs before any of them means
// something.
func BenchmarkParse500Records(b *testing.B) {
	_, records := longThread(b, 500)
	for b.Loop() {
		for _, r := range records {
			if _, err := ledger.Parse(r.Wire); err != nil {
				b.Fatal(err)
			}
		}
	}
}
