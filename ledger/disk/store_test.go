package disk

import (
	"bufio"
	"bytes"
	"crypto/ed25519"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-mesh/parley/ledger"
)

func open(t testing.TB, o Options) *Store {
	t.Helper()
	if o.Dir == "" && !o.InMemory {
		o.Dir = t.TempDir()
	}
	if o.MinFree == 0 {
		o.MinFree = 1
	}
	s, err := Open(o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func apply(t testing.TB, s *Store, records ...*ledger.Record) []Outcome {
	t.Helper()
	out, err := s.Apply(Batch{Records: records})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func closed(t testing.TB, s *Store) {
	t.Helper()
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// modes are the two kinds of stores; what holds for one holds for the other.
var modes = map[string]Options{"disk": {}, "memory": {InMemory: true}}

func TestRecordsComeBackInOrderAndOnce(t *testing.T) {
	for name, o := range modes {
		t.Run(name, func(t *testing.T) {
			s := open(t, o)
			defer closed(t, s)
			tid := ledger.TID{1}
			a, b := writer(t, tid, 1, 3), writer(t, tid, 2, 2)
			apply(t, s, b[0], a[0], a[1], b[1], a[2])

			if got := apply(t, s, a[1], b[0]); got[0] != Known || got[1] != Known {
				t.Errorf("stored again: %v", got)
			}
			all, err := s.Records(tid)
			if err != nil || len(all) != 5 {
				t.Fatalf("%d records, %v", len(all), err)
			}
			for i, want := range append(a, b...) {
				if all[i].ID != want.ID || !bytes.Equal(all[i].Wire, want.Wire) {
					t.Errorf("record %d is another", i)
				}
			}
			if r, err := s.Record(a[2].ID); err != nil || r == nil || r.ID != a[2].ID {
				t.Errorf("by id: %v, %v", r, err)
			}
			if wires, err := s.From(tid, a[0].Chain(), 1, 1); err != nil || len(wires) != 1 || !bytes.Equal(wires[0], a[1].Wire) {
				t.Errorf("from 1: %d wires, %v", len(wires), err)
			}
			heads, err := s.Heads(tid)
			if err != nil || len(heads) != 2 || s.Digest() == (ledger.Digest{}) {
				t.Errorf("heads %v, %v", heads, err)
			}
			if f, ok := s.Family(tid); !ok || f != ledger.Conversation {
				t.Errorf("family %v", f)
			}
		})
	}
}

// fork is two records at one place of a chain, which only a copied key can make.
func fork(t testing.TB, tid ledger.TID) (first, left, right *ledger.Record) {
	t.Helper()
	r := writer(t, tid, 1, 2)
	key := ed25519.NewKeyFromSeed(make([]byte, 32))
	h := r[1].Header
	h.Turns = 3
	other, err := ledger.Seal(key, h, r[1].Content)
	if err != nil {
		t.Fatal(err)
	}
	return r[0], r[1], other
}

func TestBothSidesOfAForkAreKept(t *testing.T) { // case 12
	s := open(t, Options{})
	defer closed(t, s)
	tid := ledger.TID{1}
	first, left, right := fork(t, tid)
	apply(t, s, first, left)

	if got := apply(t, s, right); got[0] != Forked {
		t.Errorf("outcome %v", got)
	}
	all, err := s.Records(tid)
	if err != nil || len(all) != 3 {
		t.Fatalf("%d records, %v", len(all), err)
	}
	followed, forked := ledger.Follow(all)
	low := left
	if right.ID.Less(left.ID) {
		low = right
	}
	if len(followed) != 2 || followed[1].ID != low.ID || len(forked) != 1 {
		t.Errorf("followed %d, forked %v", len(followed), forked)
	}
}

func TestEverythingSurvivesAReopening(t *testing.T) {
	dir := t.TempDir()
	s := open(t, Options{Dir: dir})
	tid := ledger.TID{1}
	apply(t, s, writer(t, tid, 1, 20)...)
	if _, err := s.Apply(Batch{Put: []Pair{{[]byte("a/1"), []byte("x")}, {[]byte("a/2"), []byte("y")}, {[]byte("b"), []byte("z")}}}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Apply(Batch{Delete: [][]byte{[]byte("a/2")}}); err != nil {
		t.Fatal(err)
	}
	digest := s.Digest()
	closed(t, s)

	s = open(t, Options{Dir: dir})
	defer closed(t, s)

	if s.Digest() != digest {
		t.Error("the digest is another")
	}
	var keys []string
	for k := range s.Scan([]byte("a/")) {
		keys = append(keys, string(k))
	}
	if v, err := s.Get([]byte("b")); err != nil || string(v) != "z" || len(keys) != 1 || keys[0] != "a/1" {
		t.Errorf("b is %q, %v; below a/ are %q", v, err, keys)
	}
	if f, ok := s.Family(tid); !ok || f != ledger.Conversation {
		t.Error("the family is forgotten")
	}
}

func TestManyAtOnceAreAllStored(t *testing.T) {
	s := open(t, Options{})
	defer closed(t, s)
	var all sync.WaitGroup
	for i := range 64 {
		all.Go(func() {
			for _, r := range writer(t, ledger.TID{byte(i)}, byte(i), 10) {
				if out, err := s.Apply(Batch{Records: []*ledger.Record{r}}); err != nil || out[0] != Stored {
					t.Errorf("%v, %v", out, err)
				}
			}
		})
	}
	all.Wait()
	entries, err := s.Ledgers()
	if err != nil || len(entries) != 64 {
		t.Errorf("%d ledgers, %v", len(entries), err)
	}
}

func TestASecondProcessIsRefused(t *testing.T) {
	dir := t.TempDir()
	s := open(t, Options{Dir: dir})
	defer closed(t, s)

	if _, err := Open(Options{Dir: dir, MinFree: 1}); !errors.Is(err, ErrLocked) {
		t.Errorf("%v", err)
	}
}

func TestALowDiskStopsWritingBeforeAnythingIsTouched(t *testing.T) { // case 42
	dir := t.TempDir()
	s := open(t, Options{Dir: dir})
	tid := ledger.TID{1}
	r := writer(t, tid, 1, 2)
	apply(t, s, r[0])
	s.o.MinFree = 1 << 62

	if _, err := s.Apply(Batch{Records: r[1:], Put: []Pair{{[]byte("k"), []byte("v")}}}); !errors.Is(err, ErrDiskLow) {
		t.Fatalf("%v", err)
	}
	if all, err := s.Records(tid); err != nil || len(all) != 1 {
		t.Errorf("%d records, %v", len(all), err)
	}
	if v, err := s.Get([]byte("k")); err != nil || v != nil {
		t.Errorf("half of the batch was stored: %q", v)
	}
	s.o.MinFree = 1
	apply(t, s, r[1])
	closed(t, s)
}

func TestFilesThatACrashLeftEmptyDoNotStopTheStart(t *testing.T) { // badger#2207
	dir := t.TempDir()
	s := open(t, Options{Dir: dir})
	apply(t, s, writer(t, ledger.TID{1}, 1, 5)...)
	closed(t, s)
	for _, name := range []string{"00099.mem", "000099.vlog"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}

	s = open(t, Options{Dir: dir})
	defer closed(t, s)

	if all, err := s.Records(ledger.TID{1}); err != nil || len(all) != 5 || s.Salvaged() != "" {
		t.Errorf("%d records, %v, salvaged %q", len(all), err, s.Salvaged())
	}
}

func TestAnUnreadableLedgerIsMovedAsideAndNeverDeleted(t *testing.T) { // case 43
	dir := filepath.Join(t.TempDir(), "ledger")
	s := open(t, Options{Dir: dir})
	apply(t, s, writer(t, ledger.TID{1}, 1, 5)...)
	closed(t, s)
	if err := os.WriteFile(filepath.Join(dir, "MANIFEST"), []byte("spoiled, and long enough to be read"), 0o600); err != nil {
		t.Fatal(err)
	}

	s = open(t, Options{Dir: dir})
	defer closed(t, s)

	if s.Salvaged() == "" {
		t.Fatal("a spoiled ledger was opened")
	}
	if _, err := os.Stat(filepath.Join(s.Salvaged(), "MANIFEST")); err != nil {
		t.Error(err)
	}
	apply(t, s, writer(t, ledger.TID{1}, 1, 5)...)
}

func TestLookingChangesNothing(t *testing.T) {
	dir := t.TempDir()
	s := open(t, Options{Dir: dir})
	apply(t, s, writer(t, ledger.TID{1}, 1, 5)...)
	closed(t, s)
	before := contents(t, dir)

	r, err := OpenReadOnly(dir)
	if err != nil {
		t.Fatal(err)
	}
	all, err := r.Records(ledger.TID{1})
	if err != nil || len(all) != 5 {
		t.Errorf("%d records, %v", len(all), err)
	}
	tmp := r.temporary
	closed(t, r)

	if after := contents(t, dir); after != before {
		t.Errorf("before\n%s\nafter\n%s", before, after)
	}
	if _, err := os.Stat(tmp); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the copy stays: %v", err)
	}
}

func contents(t *testing.T, dir string) string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, e := range entries {
		text, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "%s %d %x\n", e.Name(), len(text), ledger.DigestOf([]ledger.Head{{ID: ledger.ID(sum(text))}}))
	}
	return b.String()
}

func sum(b []byte) (out [32]byte) {
	for i, c := range b {
		out[i%32] = out[i%32]*31 + c
	}
	return out
}

func TestTheStoreWorksInVirtualTime(t *testing.T) {
	for name, o := range modes {
		t.Run(name, func(t *testing.T) {
			if !o.InMemory {
				o.Dir = t.TempDir()
			}
			synctest.Test(t, func(t *testing.T) {
				s := open(t, o)
				apply(t, s, writer(t, ledger.TID{1}, 1, 5)...)
				<-time.After(time.Hour)
				apply(t, s, writer(t, ledger.TID{2}, 1, 5)...)
				closed(t, s)
			})
		})
	}
}

// TestMain lets the test program play a process that is killed.
func TestMain(m *testing.M) {
	if dir := os.Getenv("PARLEY_TEST_STORE"); dir != "" {
		os.Exit(writeForEver(dir))
	}
	os.Exit(m.Run())
}

// writeForEver appends to four ledgers at once and prints what was acknowledged.
func writeForEver(dir string) int {
	s, err := Open(Options{Dir: dir, Compactors: 2, MinFree: 1})
	if err != nil {
		fmt.Println("error", err)
		return 1
	}
	var all sync.WaitGroup
	var print sync.Mutex
	for l := range 4 {
		all.Go(func() {
			tid := ledger.TID{byte(l)}
			key := ed25519.NewKeyFromSeed(make([]byte, 32))
			head := ledger.Head{Chain: ledger.Chain{Device: ledger.Device(key[32:]), Inc: ledger.Incarnation{byte(os.Getpid()), byte(os.Getpid() >> 8)}}}
			for {
				open := ledger.ID{1}
				r, err := ledger.Seal(key, ledger.Header{Ledger: tid, Inc: head.Inc, Seq: head.Next, Prev: head.ID, Open: open, Re: []ledger.ID{open}, Lam: head.Lam + 1, At: 1},
					&ledger.Ack{Classes: []ledger.Class{ledger.HasMaster}})
				if err != nil {
					return
				}
				head = head.After(r)
				if _, err := s.Apply(Batch{Records: []*ledger.Record{r}}); err != nil {
					return
				}
				print.Lock()
				fmt.Println("acknowledged", l, head.Inc, r.Seq)
				print.Unlock()
			}
		})
	}
	all.Wait()
	return 0
}

func TestWhatWasAcknowledgedSurvivesAKill(t *testing.T) {
	dir := t.TempDir()
	for round := range 5 {
		acknowledged := map[string]uint64{}
		c := exec.CommandContext(t.Context(), os.Args[0])
		c.Env = append(os.Environ(), "PARLEY_TEST_STORE="+dir)
		out, err := c.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(out)
		for n := 0; lines.Scan(); n++ {
			f := strings.Fields(lines.Text())
			if len(f) != 4 || f[0] != "acknowledged" {
				t.Fatalf("the writer says %q", lines.Text())
			}
			seq, err := strconv.ParseUint(f[3], 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			acknowledged[f[1]+" "+f[2]] = seq
			if n == 100+70*round {
				if err := c.Process.Kill(); err != nil {
					t.Fatal(err)
				}
			}
		}
		_ = c.Wait() // it was killed

		s := open(t, Options{Dir: dir})
		for l := range 4 {
			heads, err := s.Heads(ledger.TID{byte(l)})
			if err != nil {
				t.Fatal(err)
			}
			for _, h := range heads {
				if last, ok := acknowledged[fmt.Sprintf("%d %s", l, h.Inc)]; ok && h.Next <= last {
					t.Errorf("round %d: record %d of ledger %d was acknowledged, and %d are held", round, last, l, h.Next)
				}
				wires, err := s.From(ledger.TID{byte(l)}, h.Chain, 0, 1<<20)
				if err != nil || uint64(len(wires)) != h.Next {
					t.Errorf("round %d: the chain of %d has %d records, %v", round, h.Next, len(wires), err)
				}
			}
		}
		closed(t, s)
	}
}
