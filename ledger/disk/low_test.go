package disk

import (
	"errors"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/dgraph-io/badger/v4"

	"github.com/parley-mesh/parley/ledger"
)

// space is a disk whose free bytes a test sets.
type space struct{ free atomic.Uint64 }

func (d *space) options(dir string, free uint64) Options {
	d.free.Store(free)
	return Options{Dir: dir, MinFree: minFreeBytes, Free: func(string) (uint64, bool) { return d.free.Load(), true }}
}

const (
	roomy  = 1 << 30
	narrow = 100 << 20 // enough to open and not to write
	full   = 1 << 20
)

func TestALowDiskLetsTheStoreOpenAndBeRead(t *testing.T) { // case 42
	for name, spoil := range map[string]func(*testing.T, *Store){
		"closed in order": func(*testing.T, *Store) {},
		"ended uncleanly, with a wrong head": func(t *testing.T, s *Store) {
			if err := s.db.Update(func(txn *badger.Txn) error {
				return errors.Join(txn.Delete(metaKey(cleanName)), txn.Delete(lineKey(prefixHead, line{ledger.TID{2}, ledger.Chain{Device: writer(t, ledger.TID{2}, 1, 1)[0].Device, Inc: ledger.Incarnation{1}}})))
			}); err != nil {
				t.Fatal(err)
			}
			s.owed = true // no mark of a clean end
		},
	} {
		t.Run(name, func(t *testing.T) {
			var d space
			dir := filepath.Join(t.TempDir(), "ledger")
			tid := ledger.TID{1}
			r, other := writer(t, tid, 1, 3), writer(t, ledger.TID{2}, 1, 1)
			s := open(t, d.options(dir, roomy))
			if _, err := s.Apply(Batch{Records: append(r[:2:2], other...), Put: []Pair{{[]byte("k"), []byte("v")}}}); err != nil {
				t.Fatal(err)
			}
			spoil(t, s)
			closed(t, s)

			s = open(t, d.options(dir, narrow))
			if !s.Low() || s.Salvaged() != "" {
				t.Errorf("low %v, salvaged %q", s.Low(), s.Salvaged())
			}
			if all, err := s.Records(tid); err != nil || len(all) != 2 {
				t.Errorf("%d records, %v", len(all), err)
			}
			if v, err := s.Get([]byte("k")); err != nil || string(v) != "v" {
				t.Errorf("own value %q, %v", v, err)
			}
			n := 0
			for range s.Scan([]byte("k")) {
				n++
			}
			if n != 1 {
				t.Errorf("%d own values, want 1", n)
			}
			if _, err := s.Apply(Batch{Records: r[2:]}); !errors.Is(err, ErrDiskLow) {
				t.Errorf("writing says %v", err)
			}
			closed(t, s) // and once more, as the next start would
			s = open(t, d.options(dir, narrow))

			d.free.Store(roomy)

			if s.Low() {
				t.Error("it is low though there is space")
			}
			apply(t, s, r[2])
			if all, err := s.Records(tid); err != nil || len(all) != 3 {
				t.Errorf("%d records, %v", len(all), err)
			}
			if report, err := s.Check(); err != nil || report.Mended != 0 {
				t.Errorf("something was left to mend: %+v, %v", report, err)
			}
			if h, err := s.Heads(ledger.TID{2}); err != nil || len(h) != 1 {
				t.Errorf("heads %v, %v", h, err)
			}
			closed(t, s)
		})
	}
}

func TestAFullDiskIsNotOpenedAndNothingIsBegunOnALowOne(t *testing.T) { // case 42
	var d space
	dir := filepath.Join(t.TempDir(), "ledger")
	if _, err := Open(d.options(dir, narrow)); !errors.Is(err, ErrDiskLow) {
		t.Errorf("a new store: %v", err)
	}
	s := open(t, d.options(dir, roomy))
	apply(t, s, writer(t, ledger.TID{1}, 1, 2)...)
	closed(t, s)
	if _, err := Open(d.options(dir, full)); !errors.Is(err, ErrDiskLow) {
		t.Errorf("a full disk: %v", err)
	}
	s = open(t, d.options(dir, roomy))
	defer closed(t, s)
	if all, err := s.Records(ledger.TID{1}); err != nil || len(all) != 2 {
		t.Errorf("%d records, %v", len(all), err)
	}
}

func TestAFullDiskLeavesTheStoreAsACrashWould(t *testing.T) { // case 42
	var d space
	dir := filepath.Join(t.TempDir(), "ledger")
	s := open(t, d.options(dir, roomy))
	apply(t, s, writer(t, ledger.TID{1}, 1, 2)...)

	d.free.Store(full)
	for range 2 {
		if err := s.Close(); !errors.Is(err, ErrDiskLow) {
			t.Errorf("closing says %v", err)
		}
	}

	if _, err := s.Records(ledger.TID{1}); !errors.Is(err, ErrClosed) {
		t.Errorf("reading says %v", err)
	}
	if _, err := Open(d.options(dir, roomy)); ownLock && !errors.Is(err, ErrLocked) {
		t.Errorf("opening beside it says %v", err)
	}
	if err := s.db.Close(); err != nil { // what the end of the process does
		t.Error(err)
	}
	s.unlock()
	s = open(t, d.options(dir, roomy))
	defer closed(t, s)
	if all, err := s.Records(ledger.TID{1}); err != nil || len(all) != 2 {
		t.Errorf("%d records, %v", len(all), err)
	}
}
