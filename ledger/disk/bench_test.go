package disk

import (
	"encoding/binary"
	"sync"
	"testing"

	"github.com/dgraph-io/badger/v4"

	"github.com/parley-mesh/parley/ledger"
)

// BenchmarkAppendAlone is one durable record after another.
func BenchmarkAppendAlone(b *testing.B) {
	s := open(b, Options{Compactors: 2})
	defer closed(b, s)
	records := writer(b, ledger.TID{1}, 1, 2000)
	i := 0
	for b.Loop() {
		if i == len(records) {
			b.StopTimer()
			records, i = writer(b, ledger.TID{byte(b.N)}, byte(b.N), 2000), 0
			b.StartTimer()
		}
		apply(b, s, records[i])
		i++
	}
}

// BenchmarkAppendGrouped is durable records by 128 callers at once.
func BenchmarkAppendGrouped(b *testing.B) {
	const callers, each = 128, 100
	s := open(b, Options{Compactors: 2})
	defer closed(b, s)
	round := byte(0)
	for b.Loop() {
		b.StopTimer()
		round++
		var work [callers][]*ledger.Record
		for c := range work {
			work[c] = writer(b, ledger.TID{byte(c), round}, round, each)
		}
		b.StartTimer()
		var all sync.WaitGroup
		for c := range work {
			all.Go(func() {
				for _, r := range work[c] {
					apply(b, s, r)
				}
			})
		}
		all.Wait()
	}
	b.ReportMetric(float64(callers*each*b.N)/b.Elapsed().Seconds(), "records/s")
}

// baseline is Badger alone, with the store's options: transactions of 128 values of 254 bytes.
func baseline(b *testing.B, sync bool) {
	s := &Store{o: Options{Dir: b.TempDir(), Compactors: 2}}
	db, err := badger.Open(s.badger().WithSyncWrites(sync))
	if err != nil {
		b.Fatal(err)
	}
	defer db.Close()
	value := writer(b, ledger.TID{1}, 1, 1)[0].Wire
	n := uint64(0)
	for b.Loop() {
		err := db.Update(func(txn *badger.Txn) error {
			for range 128 {
				n++
				if err := txn.Set(binary.BigEndian.AppendUint64(make([]byte, 73), n), value); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "records/s")
}

// BenchmarkBadgerSynced is the baseline for grouped appends.
func BenchmarkBadgerSynced(b *testing.B) { baseline(b, true) }

// BenchmarkBadgerUnsynced says what the syncs cost.
func BenchmarkBadgerUnsynced(b *testing.B) { baseline(b, false) }
