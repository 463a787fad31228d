package disk

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/dgraph-io/badger/v4"

	"github.com/parley-mesh/parley/ledger"
)

// tables are the files of a closed store's tree.
func tables(t *testing.T, dir string) []string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "*.sst"))
	if err != nil || len(names) == 0 {
		t.Fatalf("no tables: %v", err)
	}
	return names
}

func flip(t *testing.T, name string, at int64) {
	t.Helper()
	f, err := os.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	b := make([]byte, 1)
	_, err = f.ReadAt(b, at)
	b[0] ^= 0xff
	_, err2 := f.WriteAt(b, at)
	if err := errors.Join(err, err2); err != nil {
		t.Fatal(err)
	}
}

func TestADamagedTableIsNeverTakenForAShorterLedger(t *testing.T) { // case 43
	for _, at := range []int64{10, 20_000, 60_000} {
		dir := filepath.Join(t.TempDir(), "ledger")
		s := open(t, Options{Dir: dir})
		r := writer(t, ledger.TID{1}, 1, 400)
		apply(t, s, r...)
		closed(t, s)
		flip(t, tables(t, dir)[0], at)

		if look, err := OpenReadOnly(dir); err == nil {
			t.Errorf("at %d: looking shows a damaged ledger", at)
			closed(t, look)
		}
		s = open(t, Options{Dir: dir})
		if s.Salvaged() == "" {
			t.Errorf("at %d: the damaged ledger is used", at)
		} else if _, err := os.Stat(filepath.Join(s.Salvaged(), filepath.Base(tables(t, s.Salvaged())[0]))); err != nil {
			t.Error(err)
		}
		apply(t, s, r...)
		closed(t, s)
	}
}

func TestRecordsThatAreMissingAreAnError(t *testing.T) { // case 43
	s := open(t, Options{InMemory: true})
	defer closed(t, s)
	r := writer(t, ledger.TID{1}, 1, 5)
	apply(t, s, r...)
	spoil(t, s, func(txn *badger.Txn) error { return txn.Delete(recordKey(r[3])) })
	if _, err := s.Records(ledger.TID{1}); !errors.Is(err, errDamaged) {
		t.Errorf("%v", err)
	}
}

func TestTheMachinesTroublesSalvageNothing(t *testing.T) {
	for text, want := range map[string]bool{
		"while opening memtables err: open x: too many open files": true,
		"cannot read x: input/output error":                        true,
		"open MANIFEST: permission denied":                         true,
		"manifest has bad magic":                                   false,
		"file does not exist for table 3":                          false,
	} {
		if ofSystem(errors.New(text)) != want {
			t.Errorf("%q: want %v", text, want)
		}
	}
}

func TestACheckNeverShowsAChainShorterThanItIs(t *testing.T) {
	s := open(t, Options{InMemory: true})
	defer closed(t, s)
	var last []*ledger.Record
	for l := range 40 {
		r := writer(t, ledger.TID{byte(l)}, 1, 20)
		apply(t, s, r...)
		last = append(last, r[19])
	}
	digest := s.Digest()
	stop := make(chan struct{})
	var readers sync.WaitGroup
	readers.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
			}
			for _, r := range last {
				if h, ok, err := s.Head(r.Ledger, r.Chain()); !ok || err != nil || h.ID != r.ID {
					t.Errorf("held up to %d, %v", h.Next, err)
					return
				}
			}
			if s.Digest() != digest {
				t.Error("another digest")
				return
			}
		}
	})
	for range 20 {
		if r, err := s.Check(); err != nil || r.Records != 800 {
			t.Errorf("%+v, %v", r, err)
		}
	}
	close(stop)
	readers.Wait()
}

func TestALayoutOfALaterVersionIsRefusedAndLeftAlone(t *testing.T) {
	dir := t.TempDir()
	s := open(t, Options{Dir: dir})
	wb := s.db.NewWriteBatch()
	if err := errors.Join(wb.Set(metaKey(schemaName), []byte{schema + 1}), wb.Flush()); err != nil {
		t.Fatal(err)
	}
	closed(t, s)
	_, err := Open(Options{Dir: dir, MinFree: 1})
	if err == nil || !strings.Contains(err.Error(), "update parley") {
		t.Errorf("%v", err)
	}
	beside, err := os.ReadDir(filepath.Dir(dir))
	if err != nil || slices.ContainsFunc(beside, func(e os.DirEntry) bool { return strings.Contains(e.Name(), "unreadable") }) {
		t.Errorf("it was moved: %v, %v", beside, err)
	}
}
