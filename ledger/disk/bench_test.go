package disk

import (
	"bytes"
	"crypto/ed25519"
	"encoding/binary"
	"sync"
	"testing"

	"github.com/dgraph-io/badger/v4"

	"github.com/parley-mesh/parley/ledger"
)

// chainOf500 is a chain of records of about 500 bytes.
func chainOf500(b *testing.B, tid ledger.TID, inc uint64, count int) []*ledger.Record {
	b.Helper()
	key := ed25519.NewKeyFromSeed(make([]byte, 32))
	head := ledger.Head{Chain: ledger.Chain{Device: ledger.Device(key[32:])}}
	binary.BigEndian.PutUint64(head.Inc[:], inc)
	some := ledger.ID{1}
	out := make([]*ledger.Record, 0, count)
	for range count {
		r, err := ledger.Seal(key, ledger.Header{
			Ledger: tid, Inc: head.Inc, Seq: head.Next, Prev: head.ID, Open: some, Spine: some, Claim: some,
			Re: []ledger.ID{{1}, {2}, {3}, {4}, {5}}, Lam: head.Lam + 1, At: 1764500000000,
		}, &ledger.Closed{Why: ledger.ClosedConfirmed})
		if err != nil {
			b.Fatal(err)
		}
		head = head.After(r)
		out = append(out, r)
	}
	return out
}

// BenchmarkAppendAlone is one durable record after another, by one caller.
func BenchmarkAppendAlone(b *testing.B) {
	s := open(b, Options{Compactors: 2})
	defer closed(b, s)
	var records []*ledger.Record
	round := uint64(0)
	for b.Loop() {
		if len(records) == 0 {
			b.StopTimer()
			round++
			records = chainOf500(b, ledger.TID{1}, round, 2000)
			b.StartTimer()
		}
		apply(b, s, records[0])
		records = records[1:]
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "records/s")
}

// BenchmarkAppendGrouped is 12,800 durable records by 128 callers at once, each after the other.
func BenchmarkAppendGrouped(b *testing.B) {
	const callers, each = 128, 100
	s := open(b, Options{Compactors: 2})
	defer closed(b, s)
	round := uint64(0)
	for b.Loop() {
		b.StopTimer()
		round++
		var work [callers][]*ledger.Record
		for c := range work {
			work[c] = chainOf500(b, ledger.TID{byte(c)}, round, each)
		}
		b.StartTimer()
		var all sync.WaitGroup
		for _, records := range work {
			all.Go(func() {
				for _, r := range records {
					apply(b, s, r)
				}
			})
		}
		all.Wait()
	}
	b.ReportMetric(float64(callers*each*b.N)/b.Elapsed().Seconds(), "records/s")
}

// BenchmarkAppendBatches is durable records in batches of 128, as a catch-up brings them.
func BenchmarkAppendBatches(b *testing.B) {
	s := open(b, Options{Compactors: 2})
	defer closed(b, s)
	round := uint64(0)
	for b.Loop() {
		b.StopTimer()
		round++
		records := chainOf500(b, ledger.TID{1}, round, 128)
		b.StartTimer()
		apply(b, s, records...)
	}
	b.ReportMetric(float64(128*b.N)/b.Elapsed().Seconds(), "records/s")
}

// baseline is Badger alone with the store's options: transactions of 128 records, with as many keys for
// each as given.
func baseline(b *testing.B, sync bool, keys int) {
	s := &Store{o: Options{Dir: b.TempDir(), Compactors: 2}}
	db, err := badger.Open(s.badger().WithNumCompactors(2).WithSyncWrites(sync))
	if err != nil {
		b.Fatal(err)
	}
	defer db.Close()
	wire := chainOf500(b, ledger.TID{1}, 1, 1)[0].Wire
	n := uint64(0)
	for b.Loop() {
		err := db.Update(func(txn *badger.Txn) error {
			for range 128 {
				n++
				value := wire
				for k := range keys {
					key := binary.BigEndian.AppendUint64(append(make([]byte, 0, recordBytes), make([]byte, chainBytes)...), n)
					key[0] = byte(k)
					if err := txn.Set(key, value); err != nil {
						return err
					}
					value = wire[:headBytes]
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

// BenchmarkBadger is what appending cannot beat: bare transactions of 128 records.
func BenchmarkBadger(b *testing.B) {
	b.Run("synced", func(b *testing.B) { baseline(b, true, 1) })
	b.Run("synced/3keys", func(b *testing.B) { baseline(b, true, 3) })
	b.Run("unsynced", func(b *testing.B) { baseline(b, false, 1) })
}

// filled is the directory of a closed store of 100,000 records in 5,000 ledgers.
func filled(b *testing.B) string {
	b.Helper()
	dir := b.TempDir()
	s := open(b, Options{Dir: dir, Compactors: 2})
	var all sync.WaitGroup
	for c := range 8 {
		all.Go(func() {
			for i := c; i < 5000; i += 8 {
				apply(b, s, chainOf500(b, ledger.TID{byte(i), byte(i >> 8)}, 1, 20)...)
			}
		})
	}
	all.Wait()
	closed(b, s)
	return dir
}

// BenchmarkWith100k is what a store of 100,000 records in 5,000 ledgers costs.
func BenchmarkWith100k(b *testing.B) {
	dir := filled(b)
	b.Run("open", func(b *testing.B) {
		for b.Loop() {
			s := open(b, Options{Dir: dir, Compactors: 2})
			b.StopTimer()
			closed(b, s)
			b.StartTimer()
		}
	})
	s := open(b, Options{Dir: dir, Compactors: 2})
	defer closed(b, s)
	b.Run("check", func(b *testing.B) {
		for b.Loop() {
			if r, err := s.Check(); err != nil || r.Records != 100_000 || r.Mended != 0 {
				b.Fatalf("%+v, %v", r, err)
			}
		}
	})
	b.Run("sound", func(b *testing.B) {
		for b.Loop() {
			if !s.sound() {
				b.Fatal("it is not")
			}
		}
	})
	b.Run("records", func(b *testing.B) {
		n := 0
		for b.Loop() {
			n = (n + 37) % 5000
			if r, err := s.Records(ledger.TID{byte(n), byte(n >> 8)}); err != nil || len(r) != 20 {
				b.Fatalf("%d records, %v", len(r), err)
			}
		}
	})
	b.Run("digest", func(b *testing.B) {
		before := s.Digest()
		for b.Loop() {
			s.mu.Lock()
			s.stale[ledger.TID{1}], s.digest = true, nil // as after an append
			s.mu.Unlock()
			if d := s.Digest(); !bytes.Equal(d[:], before[:]) {
				b.Fatal("another digest")
			}
		}
	})
}
