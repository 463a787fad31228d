package disk

import (
	"errors"
	"fmt"
	"runtime"
	"sync"
	"testing"

	"github.com/parley-mesh/parley/ledger"
)

// held keeps the writer busy until the batches wait for it, and gives what became of them.
func held(t *testing.T, s *Store, batches []Batch) []error {
	t.Helper()
	errs := make([]error, len(batches))
	begun := make(chan struct{})
	s.tasks <- func() {
		close(begun)
		for deadline := t.Context(); len(s.jobs) < len(batches); {
			if deadline.Err() != nil {
				return
			}
			runtime.Gosched()
		}
	}
	<-begun
	var all sync.WaitGroup
	for i, b := range batches {
		all.Go(func() { _, errs[i] = s.Apply(b) })
	}
	all.Wait()
	return errs
}

func TestCallersAtTheSameTimeShareOneSync(t *testing.T) { // D-22
	s := open(t, Options{})
	defer closed(t, s)
	var batches []Batch
	for i := range 64 {
		batches = append(batches, Batch{Records: writer(t, ledger.TID{byte(i)}, 1, 1)})
	}
	before := s.db.MaxVersion()

	errs := held(t, s, batches)

	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	if n := s.db.MaxVersion() - before; n != 1 {
		t.Errorf("64 callers took %d transactions", n)
	}
	if e, err := s.Ledgers(); err != nil || len(e) != 64 {
		t.Errorf("%d ledgers, %v", len(e), err)
	}
}

func TestABatchThatCannotBeStoredFailsAlone(t *testing.T) {
	for name, o := range modes {
		t.Run(name, func(t *testing.T) {
			s := open(t, o)
			defer closed(t, s)
			var batches []Batch
			for i := range 20 {
				key := fmt.Append(nil, i)
				if i == 7 {
					key = make([]byte, 1<<17)
				}
				batches = append(batches, Batch{
					Records: writer(t, ledger.TID{byte(i)}, 1, 1), Put: []Pair{{key, []byte("v")}},
				})
			}

			for i, err := range held(t, s, batches) {
				stored, err2 := s.Records(ledger.TID{byte(i)})
				if want := i != 7; want != (err == nil) || want != (len(stored) == 1) || err2 != nil {
					t.Errorf("batch %d: %d records, %v, %v", i, len(stored), err, err2)
				}
			}
		})
	}
}

func TestAGroupThatIsTooLargeForOneTransactionIsStoredAllTheSame(t *testing.T) {
	s := open(t, Options{})
	defer closed(t, s)
	var batches []Batch
	for i := range 12 {
		batches = append(batches, Batch{Put: []Pair{{[]byte{byte(i)}, make([]byte, 700<<10)}}})
	}
	if err := errors.Join(held(t, s, batches)...); err != nil {
		t.Error(err)
	}
}

func TestClosingKeepsWhatWasAcknowledgedAndRefusesTheRest(t *testing.T) { // D-22
	dir := t.TempDir()
	s := open(t, Options{Dir: dir})
	var mu sync.Mutex
	acknowledged := 0
	enough := make(chan struct{})
	var all sync.WaitGroup
	for c := range 16 {
		records := writer(t, ledger.TID{byte(c)}, byte(c), 300)
		all.Go(func() {
			for _, r := range records {
				_, err := s.Apply(Batch{Records: []*ledger.Record{r}})
				if errors.Is(err, ErrClosed) {
					return
				}
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				if acknowledged++; acknowledged == 200 {
					close(enough)
				}
				mu.Unlock()
			}
		})
	}
	<-enough
	closed(t, s)
	all.Wait()
	if _, err := s.Records(ledger.TID{1}); !errors.Is(err, ErrClosed) {
		t.Errorf("reading: %v", err)
	}
	if _, err := s.Check(); !errors.Is(err, ErrClosed) {
		t.Errorf("checking: %v", err)
	}
	closed(t, s)

	s = open(t, Options{Dir: dir})
	defer closed(t, s)
	if r, err := s.Check(); err != nil || r.Records != acknowledged || r.Mended != 0 {
		t.Errorf("%d were acknowledged: %+v, %v", acknowledged, r, err)
	}
}

func TestClosingWaitsForReadersThatBegan(t *testing.T) {
	s := open(t, Options{InMemory: true})
	for i := range 100 {
		if _, err := s.Apply(Batch{Put: []Pair{{[]byte{byte(i)}, []byte("v")}}}); err != nil {
			t.Fatal(err)
		}
	}
	seen := 0
	ended := make(chan error, 1)
	for range s.Scan(nil) {
		if seen++; seen == 1 {
			go func() { ended <- s.Close() }()
			<-s.done
		}
	}
	if err := <-ended; err != nil || seen != 100 {
		t.Errorf("seen %d, %v", seen, err)
	}
}
